"""Export of workloads to load generators: the job that issues the same requests to real hardware.

A canonical workload is written as a fio job file, or as a command line or XML profile of DiskSpd. What a tool
cannot express is an error that names it; what it expresses only nearly is a note.
"""
