"""The engine with mutations equals the installed engine, except for the mutations."""

import pytest
from golden.cases import CASES
from golden.rows import ROOT, exact
from validation.mutations import ENGINE, simulate_mutants, simulate_unchanged

from destage.engine import simulate
from destage.engine.configuration import find_replays, normalise

pytestmark = pytest.mark.skipif(ENGINE is None, reason="make validation builds the engine with mutations")

SYNTHETIC = sorted(name for name, case in CASES.items() if not find_replays(normalise(case)))


@pytest.mark.parametrize("name", SYNTHETIC)
def test_without_a_mutation_both_engines_give_the_same_bits(name: str) -> None:
    ours, other = simulate(CASES[name], folder=ROOT), simulate_unchanged(CASES[name])
    assert {key: exact(value) for key, value in ours.items()} == {
        key: exact(value) for key, value in other.items()
    }


def test_a_mutation_changes_results() -> None:
    name = SYNTHETIC[0]
    (wrong,) = simulate_mutants([CASES[name]], "unmeasured_request")
    right = simulate(CASES[name], folder=ROOT)
    assert wrong["reads"] + wrong["writes"] < right["reads"] + right["writes"]
    with pytest.raises(ValueError, match="mutation"):
        simulate_mutants([CASES[name]], "no_such")
