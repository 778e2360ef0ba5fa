"""DiskSpd: command lines, scripts and profiles as workloads, its results, and jobs for it."""
