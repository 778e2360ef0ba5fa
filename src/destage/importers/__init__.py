"""Workloads from the files of other tools: fio jobs and Iometer configurations."""
