"""Measured figures: the results of load tests and the logs of running systems, as one table.

`readers` reads the files of each tool into lines (`line`), `sets` stores them as named sets in a store.
"""
