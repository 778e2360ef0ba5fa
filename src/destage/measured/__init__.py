"""Measured figures: the results of load tests and the logs of running systems, as one table.

`line` is one line, `basis` where its figures come from; `sets` stores lines as named sets in a store.
"""
