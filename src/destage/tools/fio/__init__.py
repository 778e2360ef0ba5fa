"""fio: job files and command lines as workloads, its results, and jobs for it."""
