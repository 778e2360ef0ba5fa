"""Names of the tests of a file: what distinguishes each from the others."""

from collections import Counter
from collections.abc import Sequence


def name_by_difference(tests: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each test: its options that not all tests have, or its number."""
    counts = Counter(option for options in tests for option in set(options))
    names = [
        " ".join(option for option in dict.fromkeys(options) if counts[option] < len(tests))
        for options in tests
    ]
    return number_repeated([name or str(number) for number, name in enumerate(names, 1)])


def number_repeated(names: Sequence[str]) -> list[str]:
    """Return names with a number behind each repetition."""
    seen = Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique
