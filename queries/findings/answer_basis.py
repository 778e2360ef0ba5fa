"""What an answer rests on: the model's error, and assumed localities.

The error says how far measured systems of a class of load were from the simulated speed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from destage.engine.workload_description import describe_assumed_localities
from destage.measured_systems import model_error
from destage.measured_systems.model_error import ModelError, classify_run
from destage.queries.text.presentation import format_count, format_rounded

if TYPE_CHECKING:
    from destage.queries.opening.session import Session


_USE = "workload.use"


def list_assumed_localities(session: "Session") -> list[str]:
    """Return a sentence for each workload of the catalogue whose assumed locality the points have."""
    spec = session.spec
    axes: Mapping[str, Any] = spec.get("axes") or {}
    points = [point for point in spec.get("points") or () if isinstance(point, Mapping)]
    # What only some points set, others leave as it is in the catalogue.
    in_all = set.intersection(*map(set, points)) if points and not axes else set()
    workload: Mapping[str, Any] = (spec.get("scenario") or {}).get("workload") or {}
    values = axes.get(_USE)
    names = [*(values if isinstance(values, list) else []), *(point.get(_USE) for point in points)]
    if _USE not in axes and _USE not in in_all:
        names.append(workload.get("use"))
    sentences: list[str] = []
    for name in dict.fromkeys(names):
        if isinstance(name, str):
            chosen = {"workload": {**workload, "use": name}}
            sentences += describe_assumed_localities(chosen, {*axes, *in_all})
    return sentences


_RESULTS = ("throughput_iops", "throughput_bytes_per_s", "response_mean_us", "requests", "writes")
_DIGITS = 2
_STAGES = ("Estimated", "Calibrated", "Validated")
"""The first words of a sentence on the stage of an answer."""


def describe_run_error(config: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the model's error in a run; none for disks that are not devices.

    Args:
        config: The canonical configuration.
        row: The results, of the run or as means over replicates.
    """
    return describe_error(_find(config, row))


def find_error(session: "Session") -> ModelError | str | None:
    """Return the model's error at the first point of a study, or why it is unknown; None without devices."""
    for row in _list_rows(session)[:1]:
        return _find(session.sweep.configuration(row["plan_row"]), row)
    return None


def list_point_errors(session: "Session", users: int) -> dict[str, ModelError | str | None]:
    """Return the model's error at each point of a search for the most users, by its `point_id`.

    Args:
        users: The load of interest: the run that counts is the one nearest to it, of those that are carried.
    """
    rows = session.sql_of_named_columns(
        f"SELECT point_id, plan_row, {', '.join(_RESULTS)} FROM points WHERE throughput_iops IS NOT NULL "  # noqa: S608
        "QUALIFY row_number() OVER (PARTITION BY point_id "
        f"ORDER BY n_overloaded, abs({session.probe} - {users}), {session.probe}) = 1"
    ).to_pylist()
    return {row["point_id"]: _find(session.sweep.configuration(row["plan_row"]), row) for row in rows}


def describe_error(error: ModelError | str | None) -> list[str]:
    """Return the sentence on what `find_error` found; none for disks that are not devices."""
    if error is None:
        return []
    if isinstance(error, str):
        text = f", with an unknown error: no measured system is like this ({error})."
    else:
        low, high = (format_rounded(end, _DIGITS) for end in (error.low, error.high))
        # The state of most SSDs is known to the administrator alone.
        condition = ", if its SSDs are in the state configured" if error.load.medium == "flash" else ""
        text = (
            f": {format_count(error.systems, 'measured system')} of this class ({error.load}) "
            f"ran at {low} to {high} times the simulated speed (90 %{condition})."
        )
    return [f"Estimated from data sheets{text}"]


def list_model_errors(session: "Session") -> list[str]:
    """Return the stage of a study's results: on what they were calibrated, or from what they are estimated.

    The errors of an estimate are those of each class that its points have. How many published figures a
    calibration predicts is said with these. Nothing is said where the study's own answer does.
    """
    answers = [entry if isinstance(entry, str) else entry["say"] for entry in session.spec.get("answer", ())]
    if any(answer.lstrip().startswith(_STAGES) for answer in answers):
        return []
    if fitted := session.spec.get("fitted"):
        parameters = ", ".join(dict.fromkeys(fit["parameter"] for fit in fitted))
        figures = ", ".join(dict.fromkeys(fit["on"] for fit in fitted))
        stage = "Calibrated" if session.spec.get("published") else "Calibrated, not validated"
        return [f"{stage}: fitted on {figures} ({parameters})."]
    sentences: list[str] = []
    for row in _list_rows(session):
        sentences += describe_run_error(session.sweep.configuration(row["plan_row"]), row)
    return list(dict.fromkeys(sentences))


def _list_rows(session: "Session") -> list[dict[str, Any]]:
    """Return the results of the first point, the last one and one between; of trials if no point has any."""
    rows: list[dict[str, Any]] = []
    for view in ("points",) if session.metric is None else ("certified", "points"):
        rows = (
            rows
            or session.sql_of_named_columns(
                f"SELECT plan_row, {', '.join(_RESULTS)} FROM {view} WHERE throughput_iops IS NOT NULL "  # noqa: S608
                "QUALIFY row_number() OVER (ORDER BY plan_row) "
                "IN (1, (count(*) OVER () + 1) // 2, count(*) OVER ()) ORDER BY plan_row"
            ).to_pylist()
        )
    return rows


def _find(config: Mapping[str, Any], row: Mapping[str, Any]) -> ModelError | str | None:
    """Return the model's error in a run, or why it is unknown; None for disks that are not devices."""
    is_measured = all(row[name] is not None for name in _RESULTS) and row["requests"] > 0
    if not is_measured or any(array["disk"]["kind"] == "server" for array in config["arrays"]):
        return None
    classified = classify_run(config, row)
    return classified if isinstance(classified, str) else model_error.find_error(classified)
