"""Tools of other people: their tests as workloads, their results as measured lines, workloads as their jobs.

A folder per tool; `registry` lists them.
"""
