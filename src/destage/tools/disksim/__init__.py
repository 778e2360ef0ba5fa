"""DiskSim: its files as disks of Destage, and simulated disks against measured service times."""
