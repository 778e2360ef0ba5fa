"""Settings of the property tests: the same examples on every machine, and no time limit on a busy one."""

from hypothesis import settings

settings.register_profile("deterministic", deadline=None, derandomize=True)
settings.load_profile("deterministic")
