"""Quantities: values survive rendering and parsing, and invalid texts are rejected with an example."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.errors import ConfigError
from destage.spec import quantities

WHOLE = [name for name, unit in quantities.UNITS.items() if unit.whole]
REAL = [name for name, unit in quantities.UNITS.items() if not unit.whole]


@given(st.sampled_from(WHOLE), st.integers(0, 2**63))
def test_a_whole_quantity_survives_rendering_and_parsing(unit: str, value: int) -> None:
    text = quantities.render(value, unit)
    parsed = quantities.parse(text, unit)
    assert parsed == value
    assert isinstance(parsed, int)


@given(st.sampled_from(REAL), st.floats(0, 1e15))
def test_a_real_quantity_survives_rendering_and_parsing(unit: str, value: float) -> None:
    assert quantities.parse(quantities.render(value, unit), unit) == value


@given(st.sampled_from(sorted(quantities.UNITS)), st.integers(0, 100), st.integers(0, 100))
def test_parsing_keeps_order_for_every_suffix(unit: str, low: int, high: int) -> None:
    low, high = min(low, high), max(low, high)
    for suffix in quantities.UNITS[unit].suffixes:
        # Eightfold, so that a rate in bits is a whole number of bytes.
        assert quantities.parse(f"{8 * low}{suffix}", unit) <= quantities.parse(f"{8 * high}{suffix}", unit)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("256MiB", "bytes", 256 * 2**20),
        ("256MB", "bytes", 256 * 10**6),
        ("36.4GB", "bytes", 36_400_000_000),
        ("8 KiB", "bytes", 8192),
        ("0", "bytes", 0),
        ("8ms", "ns", 8_000_000),
        ("0.831ms", "ns", 831_000),
        ("4h", "ns", 4 * 3600 * 10**9),
        ("1e3us", "ns", 1_000_000),
        ("15000rpm", "rpm", 15000),
        ("533MB/s", "bytes_per_s", 533_000_000),
        ("1Gb/s", "bytes_per_s", 125_000_000),
        ("0.3", "fraction", 0.3),
        ("30%", "fraction", 0.3),
        ("24000/min", "per_s", 400),
        ("30ms", "us", 30_000),
        ("2min", "s", 120),
        (42, "bytes", 42),
        (0.5, "fraction", 0.5),
    ],
)
def test_known_texts(text: object, unit: str, value: float) -> None:
    assert quantities.parse(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("64MB", "ns"),
        ("8ms", "bytes"),
        ("5m", "ns"),
        ("0.1ns", "ns"),
        ("fast", "rpm"),
        ("", "bytes"),
        ("1e999999999", "bytes"),
        ("1e99", "bytes"),
        ("nan", "fraction"),
        (True, "bytes"),
        (None, "bytes"),
    ],
)
def test_invalid_quantities_are_rejected(text: object, unit: str) -> None:
    with pytest.raises(ConfigError) as caught:
        quantities.parse(text, unit)
    (issue,) = caught.value.issues
    assert (issue.code, issue.value) == ("usage.bad-quantity", str(text))


@pytest.mark.parametrize(
    ("text", "unit", "meant"),
    [
        ("4,2ms", "ns", "'4.2ms'"),
        ("1,25", "fraction", "'1.25'"),
        ("12,000/s", "per_s", "'12000/s' or '12.000/s'"),
    ],
)
def test_a_number_with_a_comma_has_what_it_may_mean(text: str, unit: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        quantities.parse(text, unit)
    (issue,) = caught.value.issues
    assert (issue.code, issue.value) == ("usage.bad-quantity", text)
    assert issue.message.endswith(f"write {meant}")
