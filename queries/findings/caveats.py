"""What a reader has to know beside an answer: the error of the model, assumed localities, unsteady caches.

The error says how far measured systems of a class of load were from the simulated speed.

A write cache that takes in more dirty data than the disks write back fills up, and response times rise once
it is full. A measurement window that ends earlier shows a load that the array cannot sustain; one in which
the cache empties shows more work for the disks than there is in the long run. In a steady state, as much is
dirty at the end of the window as at its start, apart from the cycle between the water marks.

Without a write cache, the disks serve a sequential stream of reads and writes in one pass over the tracks.
With one, the reads come first, and what was written follows as destages: a second pass over the same tracks,
and seeks between the two. Policies that destage the fullest stripes first lose most, as those are the ones
that are being written. Read-ahead alone does the same: it reads in one pass, also what the host will write
and not read, and the writes follow in a second one.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from destage.engine.configuration import find_replays
from destage.engine.workload_description import describe_assumed_localities
from destage.measured_systems import model_error
from destage.measured_systems.model_error import ModelError, classify_run, is_sequential
from destage.queries.text.presentation import format_count, format_rounded
from destage.spec.objective import DURING_REBUILD, NORMAL

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
_REBUILDING = "During the rebuild, the error of the model is unknown: no measured system was rebuilding."
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


def describe_state_error(state: str, error: ModelError | str | None, *, is_always: bool) -> list[str]:
    """Return sentences on the model's error in a state of an array, as `describe_error` does.

    Args:
        is_always: Whether normal operation, which has its own sentences, is this state.
    """
    if state == NORMAL:
        return describe_error(error)
    if state == DURING_REBUILD:
        return [] if error is None else [_REBUILDING]
    return [] if is_always else [f"Dead battery: {sentence}" for sentence in describe_error(error)]


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


def list_answer_errors(session: "Session") -> dict[str, ModelError | str | None]:
    """Return the model's error at the answer of each point of a seek, by its `point_id`."""
    rows = session.sql_of_named_columns(
        f"SELECT point_id, plan_row, {', '.join(_RESULTS)} FROM certified WHERE throughput_iops IS NOT NULL"  # noqa: S608
    ).to_pylist()
    return {row["point_id"]: _find(session.sweep.configuration(row["plan_row"]), row) for row in rows}


def find_error_of_cheapest(session: "Session") -> ModelError | str | None:
    """Return the model's error at the cheapest answer of a search for the fewest disks, as `find_error`."""
    (first,) = session.sql(
        "SELECT point_id FROM answers ORDER BY price NULLS LAST, passing LIMIT 1"
    ).to_pylist()
    return list_answer_errors(session).get(first["point_id"])


def describe_error(error: ModelError | str | None) -> list[str]:
    """Return the sentence on what `find_error` found; none for disks that are not devices."""
    if error is None:
        return []
    if isinstance(error, str):
        text = f", with an unknown error: no measured system is like this ({error})."
    else:
        low, high = (format_rounded(end, _DIGITS) for end in (error.low, error.high))
        # The state of most SSDs is known to the administrator alone, the number of destages to the maker.
        conditions = ["its SSDs are in the state configured"] if error.load.medium == "flash" else []
        destages = "its cache writes to each disk at the destage_depth configured"
        conditions += [destages] if error.has_destages else []
        condition = f", if {' and '.join(conditions)}" if conditions else ""
        text = (
            f": {format_count(error.systems, 'measured system')} of this class ({error.load}) "
            f"ran at {low} to {high} times the simulated speed (90 %{condition})."
        )
    return [f"Estimated from data sheets{text}"]


def states_stage(session: "Session") -> bool:
    """Return whether the study's own answer states its stage."""
    answers = [entry if isinstance(entry, str) else entry["say"] for entry in session.spec.get("answer", ())]
    return any(answer.lstrip().startswith(_STAGES) for answer in answers)


def list_model_errors(session: "Session") -> list[str]:
    """Return the stage of a study's results: on what they were calibrated, or from what they are estimated.

    The errors of an estimate are those of each class that its points have. How many published figures a
    calibration predicts is said with these. Nothing is said where the study's own answer does.
    """
    if states_stage(session):
        return []
    if fitted := session.spec.get("fitted"):
        parameters = ", ".join(dict.fromkeys(fit["parameter"] for fit in fitted))
        figures = ", ".join(dict.fromkeys(fit["on"] for fit in fitted))
        stage = "Calibrated" if session.spec.get("published") else "Calibrated, not validated"
        return [f"{stage}: fitted on {figures} ({parameters})."]
    rows = _list_rows(session)
    errors = dict.fromkeys(_find(session.sweep.configuration(row["plan_row"]), row) for row in rows)
    # The condition of cached writes includes the error of the same class without it.
    wider = {error for error in errors if isinstance(error, ModelError) and error.has_destages}
    return [
        sentence
        for error in errors
        if not (isinstance(error, ModelError) and replace(error, has_destages=True) in wider - {error})
        for sentence in describe_error(error)
    ]


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


_CACHE = ("controller.cache.", "controller.battery.")
"""Axes of the cache; points that differ in these alone are compared."""
_LEAST = 0.95
"""The ratio of the rates below which a point of one replicate, which has no interval, counts as slower."""
_TWICE = "the disks read the sequence in one pass and write it in a second one, with seeks between"


def list_slower_caches(session: "Session") -> list[str]:
    """Return a sentence if a write cache lowers the rate of a mixed sequential load, one if read-ahead does.

    Points are compared with those without a cache, or else with those that only read ahead.
    """
    from destage.sql import quote  # noqa: PLC0415 - loads Arrow, which `simulate` does without

    alike = [quote(axis) for axis in session.axes if not axis.startswith(_CACHE)]
    kept = ", ".join(alike) or "0"
    rows = session.sql_of_named_columns(
        f"""
        WITH measured AS (
            SELECT plan_row, throughput_iops AS rate, throughput_iops_low AS low,
                throughput_iops_high AS high, row({kept}) AS alike,
                CASE WHEN accepted_sectors > 0 THEN 2 WHEN read_ahead_lines > 0 THEN 1 ELSE 0 END AS cache,
                read_ahead_wasted_lines / nullif(read_ahead_used_lines + read_ahead_wasted_lines, 0) AS wasted
            FROM points WHERE throughput_iops > 0 AND reads > 0 AND writes > 0
        ), bare AS (
            SELECT alike, cache, min(rate) AS rate, min(low) AS low FROM measured WHERE cache < 2
            GROUP BY alike, cache QUALIFY cache = min(cache) OVER (PARTITION BY alike)
        )
        SELECT plan_row, measured.rate / bare.rate AS ratio, measured.cache = 2 AS is_cached,
            coalesce(wasted, 0) AS wasted
        FROM measured JOIN bare ON measured.alike IS NOT DISTINCT FROM bare.alike
        WHERE measured.cache > bare.cache
            AND coalesce(measured.high < bare.low, measured.rate < {_LEAST} * bare.rate)
        ORDER BY plan_row
        """  # noqa: S608 - quoted axes
    ).to_pylist()
    twice, ahead, has_tracks = [], [], False
    for row in rows:
        config = session.sweep.configuration(row["plan_row"])
        if not is_sequential(config["workload"]["streams"]):
            continue
        is_spinning = any(array["disk"]["kind"] == "disk" for array in config["arrays"])
        if not row["is_cached"]:
            ahead.append(row)
            has_tracks |= is_spinning
        elif is_spinning:
            twice.append(row)
    sentences = []
    if twice:
        sentences.append(f"With a write cache, {_count_slower(twice)} without: {_TWICE}.")
    if ahead:
        most = 100 * max(row["wasted"] for row in ahead)
        wasted = f"up to {most:.0f} % of what was read ahead was never read"
        cause = f"{_TWICE}, and {wasted}" if has_tracks else wasted
        sentences.append(
            f"With read-ahead alone, {_count_slower(ahead)} without a cache: {cause}. "
            "controller.cache.read.read_ahead: null turns it off."
        )
    return sentences


def _count_slower(rows: list[dict[str, Any]]) -> str:
    """Return how many points are slower, and by how much at most."""
    most = 100 - 100 * min(row["ratio"] for row in rows)
    return f"{format_count(len(rows), 'point')} served up to {most:.0f} % fewer I/Os than"


LEAST = 0.1
"""The ratio of the change of the dirty data to the new dirty data from which on a cache is not steady."""
CHANGE = "sum(dirty_end_sectors - dirty_start_sectors) / nullif(sum(accepted_sectors - absorbed_sectors), 0)"
"""That ratio as SQL over runs."""
LEAST_WRITES = 0.01
"""The least share of the requests that are writes which the disks did not see, or saw in excess."""
_EXCESS = (
    "abs(sum(dirty_end_sectors - dirty_start_sectors)) / sum(accepted_sectors) * sum(writes) / sum(requests)"
)
_STEADY = {"auto", "requests", "duration"}
"""Windows of a load that goes on; the others measure a case from beginning to end."""
_CASES = ("faults", "workload.phases")
"""Parameters of a load or an array that changes in the course of a run."""


def list_unsteady_caches(session: "Session") -> list[str]:
    """Return a sentence on the points whose write cache was filling, and one on those where it emptied."""
    if not _is_steady(session.spec):
        return []
    row = session.sql(
        f"WITH changes AS (SELECT if({_EXCESS} >= {LEAST_WRITES}, {CHANGE}, 0) AS change "  # noqa: S608
        "FROM replicates GROUP BY point_id) "
        "SELECT count(*) AS points, max(change) AS most, min(change) AS least, "
        f"count(*) FILTER (WHERE change > {LEAST}) AS filling, "
        f"count(*) FILTER (WHERE change < -{LEAST}) AS emptying FROM changes"
    ).to_pylist()[0]
    counts = {key: _count_points(row[key], row["points"]) for key in ("filling", "emptying")}
    return [
        *([_describe(row["most"], session.spec, counts["filling"])] if row["filling"] else []),
        *([_describe(row["least"], session.spec, counts["emptying"])] if row["emptying"] else []),
    ]


def _count_points(some: int, points: int) -> str:
    """Return at how many points; nothing if there is only one."""
    return f" at {some:,} of {format_count(points, 'point')}" if points > 1 else ""


def describe_run(scenario: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Return a sentence if the write cache of one run was not steady, given its configuration and result."""
    taken = (row["accepted_sectors"] or 0) - (row["absorbed_sectors"] or 0)
    if not taken or not _is_steady({"scenario": scenario}):
        return []
    grown = row["dirty_end_sectors"] - row["dirty_start_sectors"]
    excess = abs(grown) / row["accepted_sectors"] * row["writes"] / row["requests"]
    change = grown / taken
    return (
        [_describe(change, {"scenario": scenario})] if abs(change) > LEAST and excess >= LEAST_WRITES else []
    )


def _describe(change: float, spec: Mapping[str, Any], where: str = "") -> str:
    """Return what follows if the dirty data changed by this ratio to the new dirty data."""
    share = f"{'up to ' if where else ''}{abs(change) * 100:.0f} %"
    if change > 0:
        finding, later = f"Not sustained{where}: the write cache was filling", "worse"
        why = f"{share} of the new dirty data was not destaged"
    else:
        finding, later = f"Not steady{where}: the write cache was emptying", "better"
        why = f"the disks destaged {share} more than the new dirty data"
    return f"{finding} during the measurement window; {why}. {_advise(spec, later)}."


def _advise(spec: Mapping[str, Any], later: str) -> str:
    """Return how to measure a steady cache, which shows other results."""
    scenario = spec.get("scenario") or {}
    if find_replays(scenario):
        return "The trace ends before the cache is steady: replay a longer trace, or use a smaller cache"
    run = scenario.get("run") or {}
    if run.get("warm_up", "auto") == run.get("window", "auto") == "auto":
        return f"A longer run shows {later} results: raise run.max_requests"
    # The command makes the study of a measured set.
    place = " in a study that --out writes" if "calibrate" in spec else ""
    return f"A longer window shows {later} results: set run.warm_up and run.window to auto{place}"


def _is_steady(spec: Mapping[str, Any]) -> bool:
    """Return whether a study measures a load that goes on, and not a case such as a power failure."""
    scenario = spec.get("scenario") or {}
    axes = spec.get("axes") or {}
    points = [point for point in spec.get("points") or () if isinstance(point, Mapping)]
    if scenario.get("faults") or (scenario.get("workload") or {}).get("phases"):
        return False
    if any(path.startswith(_CASES) for path in chain(axes, *points)):
        return False
    windows = [
        (scenario.get("run") or {}).get("window", "auto"),
        *(axes["run.window"] if isinstance(axes.get("run.window"), list) else ()),
        *(point["run.window"] for point in points if "run.window" in point),
    ]
    # A window of requests or of time is a table with this one key.
    return all(set(window if isinstance(window, Mapping) else [window]) <= _STEADY for window in windows)
