"""Simulated disks against measured ones: demerit figures over recorded service times."""
