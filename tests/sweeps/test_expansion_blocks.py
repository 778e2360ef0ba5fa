"""Points built in blocks equal points built at once, and identities and texts are those of single points."""

import json
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from tests.plain_identities import canonical_text, point_id, run_id

from destage.engine import PARTS
from destage.errors import ConfigError
from destage.store.state.plan import join_configs
from destage.sweeps import Study
from destage.sweeps.points import configurations
from destage.sweeps.reading.expansion import expand

MakeStudy = Callable[..., Study]
STREAM = "workload.streams.0"
AXES: dict[str, list[Any]] = {
    "array.disks": [1, 2, 3, 4, 5],
    "array.raid": ["0", "10"],
    "array.stripe_unit": ["4KiB", "64KiB", 131072],
    "controller.use": ["smart_array_5i", "smart_array_p400i_256"],
    "controller.cache.capacity": ["0B", "64MiB", 2**27],
    "controller.cache.write_fraction": [0, 1e-7, 0.3, "50%", 1],
    "controller.battery.state": ["absent", "present"],
    f"{STREAM}.operations.read_fraction": [1e-05, 0.30000000000000004, 0.5, 1.0],
    f"{STREAM}.arrival.ios": [1, 5],
    "run.window": ["auto", {"requests": 1000}],
    "run.seed": [1, 2**40, 2**64 - 1],
    "faults": [[], [{"kind": "battery_fails", "at": "60s"}]],
}


def _draw(draw: random.Random) -> dict[str, Any]:
    """Return the axes and points of a random study, some of them invalid."""
    paths = draw.sample(list(AXES), draw.randint(1, 4))
    study: dict[str, Any] = {
        "axes": {path: draw.sample(AXES[path], draw.randint(1, len(AXES[path]))) for path in paths},
        "replicates": draw.randint(1, 3),
    }
    if draw.random() < 0.5:
        named = draw.sample(list(AXES), 2)
        labels = [None, "a", "b", "a"]
        study["points"] = [
            {path: draw.choice(AXES[path]) for path in draw.choice([named, paths])}
            | ({"label": label} if label else {})
            for label in labels
        ]
    return study


def _describe(study: Study, block: int) -> object:
    """Return the points of a study, or its mistakes."""
    try:
        expansion = expand(study, block=block)
    except ConfigError as error:
        return [(issue.code, issue.place, repr(issue.value), issue.message) for issue in error.issues]
    table = pa.Table.from_batches(expansion.tabulate())
    texts = join_configs(table).to_pylist()
    assert [json.loads(text) for text in texts]
    return expansion.fields, table.to_pylist(), texts


@pytest.mark.parametrize("seed", range(25))
def test_the_size_of_a_block_changes_nothing(make_study: MakeStudy, seed: int) -> None:
    study = make_study(**_draw(random.Random(seed)))  # noqa: S311 - a test case
    assert _describe(study, 3) == _describe(study, 10_000)


def test_texts_and_ids_are_those_of_python(make_study: MakeStudy, document: dict[str, Any]) -> None:
    """The engine writes numbers and letters as Python's `json`, which the first identities came from."""
    draw = random.Random(7)  # noqa: S311 - test cases
    fractions = [draw.random() * 10.0 ** draw.randint(-12, 0) for _ in range(200)] + [1e-4, 1e-5, 0.1, 1, 0.0]
    scenario = document["scenario"]
    scenario["workload"]["streams"][0]["name"] = 'Aufträge "\\\t\x7f\u2028'
    axes = {f"{STREAM}.operations.read_fraction": fractions, "run.seed": [3, 2**53 - 1]}
    study = make_study(scenario=scenario, axes=axes)
    table = pa.Table.from_batches(expand(study).tabulate())
    for text, identity in zip(join_configs(table).to_pylist(), table["run_id"].to_pylist(), strict=True):
        assert text == canonical_text(json.loads(text))
        assert identity == run_id(text)
    assigned = [dict(zip(study.axes, values, strict=True)) for values in product(*study.axes.values())]
    assert table["point_id"].to_pylist()[::2] == [point_id(one) for one in assigned]


def test_parts_are_all_top_level_fields_in_order(make_study: MakeStudy) -> None:
    table = pa.Table.from_batches(expand(make_study()).tabulate())
    (document,) = set(join_configs(table.slice(0, 1)).to_pylist())
    # `host` is there only if a stream needs processors.
    assert list(json.loads(document)) == [part for part in PARTS if part != "host"]


def test_a_column_has_each_text_once(make_study: MakeStudy) -> None:
    """Without a write cache all destage depths are one controller; Parquet gives up on repeated texts."""
    axes = {
        "controller.cache.write.policy": ["write_through", "write_back"],
        "controller.cache.write.destage_depth": [1, 2, 4, 8],
        "controller.cache.capacity": ["64MiB"],
    }
    for batch in expand(make_study(axes=axes)).tabulate():
        texts = batch["config.controller"].dictionary.to_pylist()
        assert len(texts) == len(set(texts)) < batch.num_rows


def test_of_many_invalid_points_each_mistake_is_reported(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {
        "array.disks": [2, 3, 0],
        "array.raid": ["0", "10", "11"],
        "controller.cache.capacity": ["64MiB", "-1B"],
        "run.seed": [1, 2, 3],
    }
    study = make_study(axes=axes)
    every = _describe(study, 10)
    monkeypatch.setattr(configurations, "_MOST_REBUILT", 0)
    few = _describe(study, 10)
    assert isinstance(every, list)
    assert few == every
    assert {place for _, place, _, _ in every} >= {"axes.array.disks", "axes.array.raid"}
