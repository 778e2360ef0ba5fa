"""Workers: batches of runs, their execution, and the rows that are committed together."""
