"""Sensitivity of a result to the axes of a sweep: which of them matter, and by how much.

The estimators are functions of arrays: `factorial` for grids, `saltelli` and `morris` for the designs of
these names, `given_data` for any other points. `analysis` computes them within each replicate.
"""
