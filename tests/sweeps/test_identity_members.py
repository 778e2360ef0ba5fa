"""Members of a document written one by one, which give points their identity."""

import json

from hypothesis import given
from hypothesis import strategies as st

from destage.sweeps.space.identity import canonical_text, list_members

VALUES = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.none(), st.text(), st.dictionaries(st.text(), st.integers())
)


@given(st.text(min_size=1), st.lists(VALUES, max_size=5))
def test_a_member_is_as_in_the_canonical_text(path: str, values: list[object]) -> None:
    assert list_members(path, values) == [canonical_text({path: value})[1:-1] for value in values]


@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_is_its_representation(value: float) -> None:
    assert repr(value) == json.dumps(value)
