"""Draws of the unknowns, and the points of the sweep that they need: one for each draw and figure."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from destage.errors import ConfigError, Issue, QueryError
from destage.sweeps.calibration.proposals import to_levels
from destage.sweeps.keys.calibrate_settings import LIMIT, Calibration, Candidate, Figure, Reference
from destage.sweeps.points.configurations import Configurations, complete
from destage.sweeps.points.point_blocks import AssignedValues, Block
from destage.sweeps.space.axes import find_type, fit, kind_of
from destage.sweeps.space.distributions import Choice, Continuous
from destage.sweeps.study.valid_study import Study

Draw = dict[str, object]
"""The value of each unknown, by its name [base unit]."""
Request = tuple[str | None, dict[str, object]]
"""The label and the assignments of a point."""
_AT_A_TIME = 100
"""Points built at a time; every mistake in them is reported."""


def read_draws(calibration: Calibration, scores: np.ndarray) -> list[Draw]:
    """Return the values of the unknowns at normal scores, one draw per row."""
    levels = np.clip(to_levels(scores), 0.0, 1 - 1e-12)
    columns = [
        distribution.quantiles(levels[:, index])
        for index, distribution in enumerate(calibration.unknowns.values())
    ]
    return [dict(zip(calibration.unknowns, row, strict=True)) for row in zip(*columns, strict=True)]


def find_allowed(study: Study, calibration: Calibration, draws: Sequence[Draw]) -> np.ndarray:
    """Return which draws meet the condition of the prior.

    Raises:
        ConfigError: It is not a condition over the unknowns.
    """
    if calibration.where is None:
        return np.ones(len(draws), bool)
    from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

    columns = {}
    for name in calibration.unknowns:
        values = [draw[name] for draw in draws]
        kind = find_type({kind_of(value) for value in values})
        columns[name] = pa.array([fit(value, kind) for value in values], kind)
    table = pa.table([*columns.values(), pa.array(range(len(draws)))], names=[*columns, "_point"])
    try:
        kept = sql.filter_rows(table, calibration.where)["_point"].to_numpy()
    except QueryError as error:
        raise study.error([Issue("study.bad-sql", "where", error.message, calibration.where)]) from error
    allowed = np.zeros(len(draws), bool)
    allowed[kept] = True
    return allowed


def assign_figure(draw: Draw, figure: Figure | Candidate) -> Request:
    """Return the label and the assignments of the point of a draw and a figure, measured or not."""
    assigned = {name: value for name, value in draw.items() if "." in name and name not in figure.set}
    for path, value in figure.set.items():
        assigned[path] = draw[value.unknown] if isinstance(value, Reference) else value
    label = draw.get(LIMIT)
    return None if label is None else str(label), assigned


def list_columns(calibration: Calibration) -> list[str]:
    """Return the dotted paths that points assign, in the order of the study."""
    unknowns = [name for name in calibration.unknowns if "." in name]
    figures: list[Figure | Candidate] = [*calibration.figures.values(), *calibration.candidates.values()]
    return list(dict.fromkeys([*unknowns, *(path for figure in figures for path in figure.set)]))


class PointBuilder:
    """Builds the points of draws; each is built once."""

    def __init__(self, study: Study, calibration: Calibration, configurations: Configurations) -> None:
        self._study = study
        self._configurations = configurations
        self._unknowns = calibration.unknowns
        self._known: set[str] = set()

    def build(self, requests: Sequence[Request]) -> tuple[list[str | None], list[Block], list[Issue]]:
        """Build the points of some requests.

        Returns:
            The id of the point of each request, None where it is an invalid configuration; those that are
            new; and the mistakes of the invalid ones.
        """
        ids: list[str | None] = []
        blocks: list[Block] = []
        issues: dict[tuple[str, str], Issue] = {}
        for start in range(0, len(requests), _AT_A_TIME):
            some = requests[start : start + _AT_A_TIME]
            built_ids, block = self._build_some(some, issues)
            ids += built_ids
            blocks += [block] if block is not None else []
        return ids, blocks, list(issues.values())

    def _build_some(
        self, requests: Sequence[Request], issues: dict[tuple[str, str], Issue]
    ) -> tuple[list[str | None], Block | None]:
        invalid: set[int] = set()

        def report(index: int, error: ConfigError) -> None:
            invalid.add(index)
            for issue in _explain(error, requests[index][1], self._unknowns):
                issues.setdefault((issue.place, repr(issue.value)), issue)

        points = AssignedValues.from_points([assigned for _, assigned in requests])
        runs = self._configurations.build(points, report, every=True)
        # The rows of the runs lack the invalid points.
        valid = [index for index in range(len(requests)) if index not in invalid]
        ids = dict(zip(valid, self._identify([requests[index] for index in valid]), strict=True))
        first: dict[str, int] = {}
        for row, index in enumerate(valid):
            if ids[index] not in self._known:
                self._known.add(ids[index])
                first[ids[index]] = row
        every = [ids.get(index) for index in range(len(requests))]
        if not first:
            return every, None
        every_point = self._configurations.make_block(
            pa.nulls(len(valid), pa.string()), runs, points.take(np.array(valid))
        )
        block = every_point.take(np.array(list(first.values())))
        block.ids = pa.array(list(first))
        block.labels = pa.array([requests[valid[row]][0] for row in first.values()], pa.string())
        return every, block

    def _identify(self, requests: Sequence[Request]) -> list[str]:
        points = [
            {**complete(self._study, assigned), **({} if label is None else {"label": label})}
            for label, assigned in requests
        ]
        ids: list[str] = AssignedValues.from_points(points).identify().to_pylist()
        return ids


def make_fields(calibration: Calibration, columns: Sequence[str], blocks: Sequence[Block]) -> list[pa.Field]:
    """Return the Arrow field of each column of points.

    Args:
        blocks: Points of every figure; the types that a prior has beside theirs count as well.
    """
    fields = []
    for path in columns:
        kinds = set[type]().union(*[block.find_kinds(path) for block in blocks])
        fields.append(pa.field(path, find_type(kinds | set(_list_kinds(calibration, path)))))
    return fields


def _list_kinds(calibration: Calibration, path: str) -> Iterator[type]:
    distribution = calibration.unknowns.get(path)
    if isinstance(distribution, Choice):
        yield from (kind_of(value) for value in distribution.values)
    elif isinstance(distribution, Continuous) and not distribution.is_whole:
        yield float


def _explain(error: ConfigError, assigned: dict[str, object], unknowns: Collection[str]) -> Iterator[Issue]:
    """Yield the mistakes of an invalid draw with their place in the study, and how to leave it out."""
    for issue in error.issues:
        path = issue.place
        if path.startswith("arrays.0."):
            path = "array." + path.removeprefix("arrays.0.")
        rest = ", ".join(f"{name}={value}" for name, value in assigned.items() if name != path)
        message = f"{issue.message} (at {rest})"
        if path in unknowns:
            message += "; exclude such draws with `where`"
            yield Issue(issue.code, f"calibrate.unknowns.{path}", message, issue.value)
        else:
            yield Issue(issue.code, f"scenario.{path}".removesuffix("."), message, issue.value)
