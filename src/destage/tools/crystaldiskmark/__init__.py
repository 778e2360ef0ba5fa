"""CrystalDiskMark: its tests as workloads."""
