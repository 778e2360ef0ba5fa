"""sysbench: commands and scripts of fileio as workloads, and its results."""
