"""Settings of the face's property tests."""

from hypothesis import settings

# The same examples everywhere, and no limit on a busy machine's time.
settings.register_profile("face", deadline=None, derandomize=True)
settings.load_profile("face")
