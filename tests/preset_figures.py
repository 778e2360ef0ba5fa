"""Sizes, shares and reads that the sources of presets state."""

CRYSTAL = {
    "crystaldiskmark_seq_q32": (32, "128KiB", "sequential"),
    "crystaldiskmark_seq_q1": (1, "1MiB", "sequential"),
    "crystaldiskmark_seq_q8": (8, "1MiB", "sequential"),
    "crystaldiskmark_random_512k": (1, "512KiB", "uniform"),
    "crystaldiskmark_random_4k_q1": (1, "4KiB", "uniform"),
    "crystaldiskmark_random_4k_q32": (32, "4KiB", "uniform"),
}
FILE_SERVER = {512: 10, 1024: 5, 2048: 5, 4096: 60, 8192: 2, 16384: 4, 32768: 4, 65536: 10}
WEB = {
    512: 22,
    1024: 15,
    2048: 8,
    4096: 23,
    8192: 15,
    16384: 2,
    32768: 6,
    65536: 7,
    131072: 1,
    524288: 1,
}
SMIX = {4096: 40, 8192: 24, 16384: 20, 32768: 8, 65536: 8}
JESD219 = {
    512: 4,
    1024: 1,
    1536: 1,
    2048: 1,
    2560: 1,
    3072: 1,
    3584: 1,
    4096: 67,
    8192: 10,
    16384: 7,
    32768: 3,
    65536: 3,
}
SPC1 = {
    "asu1_1": (0.035, 0.5),
    "asu1_2": (0.281, 0.5),
    "asu1_3": (0.070, 1.0),
    "asu1_4": (0.210, 0.5),
    "asu2_1": (0.018, 0.3),
    "asu2_2": (0.070, 0.3),
    "asu2_3": (0.035, 1.0),
    "asu3_1": (0.281, 0.0),
}
"""Share of the 50 I/Os per second and share of reads of each stream, from the generator's source."""
REUSE_WALK = {
    "leaf": "32KiB",
    "block": "4KiB",
    "levels": 6,
    "climb_probability": 0.44,
    "write_spacing": 8,
    "last_read_fraction": 0.5,
    "repeat_fraction": 0.15,
}
"""The walk of SPC-1's hot spots, from the second version in NetApp's generator."""
