"""The tables of a calibration: draws, unknowns, predictions, odds, what to measure next.

The columns of draws are the unknowns and the figures, with their units.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from destage.spec.axis_names import name_axes
from destage.store.schemas.analysis_schema import (
    CALIBRATION,
    DRAWS,
    MISSED,
    NEXT,
    ODDS,
    PREDICTIVE,
    UNIT_OF,
    UNKNOWNS,
    WORTH,
    analysis_column,
)
from destage.sweeps.calibration.judgement import (
    Judgement,
    find_nearest,
    find_needed_discrepancy,
    is_hopeless,
    judge,
    widen,
)
from destage.sweeps.calibration.knowledge import share_of_figure, share_of_unknown
from destage.sweeps.calibration.next_measurement import list_narrowings
from destage.sweeps.calibration.sample import (
    Mixture,
    Sample,
    crps_uniform,
    effective_size,
    normalise,
    odds_interval,
    predict,
    weighted_quantiles,
)
from destage.sweeps.keys.calibrate_settings import Calibration, Figure, Reference
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.space.axes import find_type, fit, kind_of
from destage.sweeps.space.parameters import find_parameter


def posterior_schema(calibration: Calibration, kinds: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of the draws.

    Args:
        kinds: The type of each unknown.
    """
    names = name_unknowns(calibration)
    unknowns = [
        analysis_column(
            names[name], kinds[name], f"The unknown {name}.", f"{UNIT_OF}{name}" if "." in name else None
        )
        for name in calibration.unknowns
    ]
    figures = []
    for name, figure in calibration.figures.items():
        unit = find_unit(figure)
        figures += [
            analysis_column(f"{name}: {figure.of}", pa.float64(), "The figure, mean over replicates.", unit),
            analysis_column(f"{name}: error", pa.float64(), "Its standard error.", unit),
        ]
    return pa.schema([*DRAWS, *unknowns, *figures], metadata=DRAWS.metadata)


def find_unit(figure: Figure) -> str | None:
    """Return the base unit of a figure; None if it is a number without one."""
    if figure.column is None:
        return figure.of.removesuffix("_supported") if figure.of.endswith("_supported") else None
    return metric_columns()[figure.of].unit or None


def find_unknown_unit(calibration: Calibration, name: str) -> str | None:
    """Return the base unit of an unknown, by itself or where a figure refers to it."""
    uses = [
        path
        for figure in calibration.figures.values()
        for path, value in figure.set.items()
        if isinstance(value, Reference) and value.unknown == name
    ]
    paths = [name] if "." in name else uses
    return find_parameter(paths[0]).unit if paths else None


def name_unknowns(calibration: Calibration) -> dict[str, str]:
    """Return the column of each unknown: short, as axes are named in SQL."""
    paths = [name for name in calibration.unknowns if "." in name]
    others = {name: name for name in calibration.unknowns if "." not in name}
    taken = [*others, *DRAWS.names]
    columns = name_axes(paths, taken) | others
    return {name: columns[name] for name in calibration.unknowns}


_SHARE = "fraction"
"""The unit of a figure that is at most 1."""
_LEVELS = np.array([0.05, 0.5, 0.95])


def make_tables(calibration: Calibration, sample: Sample) -> dict[str, pa.Table]:
    """Return the tables of a calibration by name, from all its draws."""
    fits = {name: judge(calibration, sample, fitted) for name, fitted in calibration.fits.items()}
    leading = next(iter(fits.values())).weights
    reports = [_Fit(calibration, sample, name, judgement) for name, judgement in fits.items()]
    return {
        "calibration": _collect(CALIBRATION, [report.summary() for report in reports]),
        "missed_figures": _collect(MISSED, [row for report in reports for row in report.missed()]),
        "posterior": _make_posterior(calibration, sample, fits),
        "unknowns": _collect(UNKNOWNS, [row for report in reports for row in report.unknowns()]),
        "predictive": _collect(PREDICTIVE, [row for report in reports for row in report.predictive()]),
        "odds": _collect(ODDS, [row for report in reports for row in report.odds()]),
        "worth_knowing": _collect(WORTH, [row for report in reports for row in report.worth()]),
        "next_measurements": _collect(NEXT, [row for report in reports for row in report.next(leading)]),
    }


def _collect(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=schema)


def _make_posterior(calibration: Calibration, sample: Sample, fits: Mapping[str, Judgement]) -> pa.Table:
    """Return a row per fit and draw."""
    count = len(sample.waves)
    kinds = {name: find_type(set(map(kind_of, values))) for name, values in sample.values.items()}
    schema = posterior_schema(calibration, kinds)
    unknowns = [
        pa.array([fit(value, kinds[name]) for value in values], kinds[name])
        for name, values in sample.values.items()
    ]
    figures = [
        _numbers(column)
        for name in calibration.figures
        for column in (sample.figures[name], sample.errors[name])
    ]
    parts = []
    for name, judgement in fits.items():
        columns = [
            pa.array([name] * count, pa.string()),
            pa.array(np.arange(count)),
            pa.array(sample.waves),
            pa.array(judgement.weights),
            pa.array(normalise(sample.log_ratios)),
            _numbers(judgement.implausibility),
            pa.array(judgement.implausibility > calibration.waves.cutoff),
            *unknowns,
            *figures,
        ]
        parts.append(pa.table(columns, schema=schema))
    return pa.concat_tables(parts)


def _numbers(values: np.ndarray) -> pa.Array:
    return pa.array(values, mask=~np.isfinite(values))


class _Fit:
    """The rows of one fit."""

    def __init__(self, calibration: Calibration, sample: Sample, name: str, judgement: Judgement) -> None:
        self._sample = sample
        self._name = name
        self._fitted = calibration.fits[name]
        self._found = judgement
        self._calibration = widen(calibration, sample, self._fitted, judgement)
        self._mixtures: dict[str, Mixture | None] = {}
        self._without: dict[str, float] = {}
        for figure in self._calibration.figures.values():
            self._mixtures[figure.name], self._without[figure.name] = predict(
                figure,
                sample,
                judgement.weights,
                is_widened=figure.discrepancy > calibration.figures[figure.name].discrepancy,
            )

    def summary(self) -> dict[str, object]:
        implausibility, sample = self._found.implausibility, self._sample
        nearest = int(implausibility.argmin())
        is_known = bool(np.isfinite(implausibility[nearest]))
        return {
            "fit": self._name,
            "fitted_on": ", ".join(self._fitted),
            "waves": int(sample.waves.max()) + 1,
            "draws": len(sample.waves),
            "not_ruled_out": int((implausibility <= self._calibration.waves.cutoff).sum()),
            "effective_draws": self._found.effective,
            "smallest_implausibility": float(implausibility[nearest]) if is_known else None,
            "is_ruled_out": self._found.is_ruled_out,
            "is_hopeless": int(sample.waves.max()) == 0
            and is_hopeless(self._calibration, sample, self._found),
        }

    def missed(self) -> Iterator[dict[str, object]]:
        """Yield the figures that are not explained, and by how much each is missed."""
        for name in self._found.missed:
            figure, mixture = self._calibration.figures[name], self._mixtures[name]
            row: dict[str, object] = {
                "fit": self._name,
                "figure": name,
                "class": figure.load_class,
                "unit": find_unit(figure),
                "measured": figure.value,
                "nearest": find_nearest(figure, self._sample),
            }
            if mixture is not None:
                described = _describe(mixture, find_unit(figure))
                needed = find_needed_discrepancy(figure, self._sample, self._found.weights)
                row |= {end: described[end] for end in ("low_90", "high_90")} | {"needed_discrepancy": needed}
            yield row

    def unknowns(self) -> Iterator[dict[str, object]]:
        prior = normalise(self._sample.log_ratios)
        names = name_unknowns(self._calibration)
        posterior = self._found.weights
        for name, distribution in self._calibration.unknowns.items():
            values = self._sample.values[name]
            unit = find_unknown_unit(self._calibration, name)
            row = {"fit": self._name, "unknown": name, "column": names[name], "unit": unit}
            if distribution.is_ordered:
                numbers = np.array(values, float)
                yield (
                    row
                    | _name_quantiles("prior", numbers, prior)
                    | _name_quantiles("posterior", numbers, posterior)
                )
                continue
            for value in dict.fromkeys(map(_as_text, distribution.quantiles(np.arange(1024) / 1024))):
                inside = np.array([_as_text(drawn) == value for drawn in values])
                yield row | {
                    "value": value,
                    **_name_share("prior", inside, prior),
                    **_name_share("posterior", inside, posterior),
                }

    def predictive(self) -> Iterator[dict[str, object]]:
        for name, figure in self._calibration.figures.items():
            mixture = self._mixtures[name]
            row: dict[str, object] = {
                "fit": self._name,
                "figure": name,
                "of": figure.of,
                "unit": find_unit(figure),
                "is_fitted": name in self._fitted,
                "without_figure": self._without[name],
                "published": figure.value,
            }
            yield (
                row
                if mixture is None
                else row | _describe(mixture, find_unit(figure)) | _score(mixture, figure)
            )

    def odds(self) -> Iterator[dict[str, object]]:
        for name, figure in self._calibration.figures.items():
            mixture = self._mixtures[name]
            if mixture is None:
                continue
            for statement in figure.odds:
                below = mixture.probability_below(statement.bound)
                share = 1.0 - below if statement.is_above else below
                low, high = odds_interval(share, effective_size(mixture.weights))
                yield {
                    "fit": self._name,
                    "figure": name,
                    "statement": statement.text,
                    "probability": share,
                    "probability_low": low,
                    "probability_high": high,
                }

    def next(self, leading: np.ndarray) -> Iterator[dict[str, object]]:
        """Yield what could be measured next, the best first.

        Args:
            leading: The posterior of the leading fit.
        """
        ranked = list_narrowings(self._calibration, self._sample, self._fitted, self._found.weights, leading)
        for rank, narrowing in enumerate(ranked, start=1):
            yield {
                "fit": self._name,
                "rank": rank,
                "measurement": narrowing.measurement,
                "figure": narrowing.figure,
                "deviation": narrowing.deviation,
                "deviation_after": narrowing.deviation_after,
                "variance_removed": narrowing.variance_removed,
            }

    def worth(self) -> Iterator[dict[str, object]]:
        """Yield what each unknown and each figure that is not fitted tells about the predictions."""
        for name in self._calibration.figures:
            mixture = self._mixtures[name]
            if name in self._fitted or mixture is None:
                continue
            row = {"fit": self._name, "figure": name}
            chosen = np.isfinite(self._sample.figures[name]) & (self._found.weights > 0)
            positions = np.flatnonzero(chosen).tolist()
            for unknown, distribution in self._calibration.unknowns.items():
                values = [self._sample.values[unknown][position] for position in positions]
                share = share_of_unknown(mixture, values, is_ordered=distribution.is_ordered)
                yield row | {"kind": "unknown", "known": unknown, "variance_removed": share}
            for other, figure in self._calibration.figures.items():
                simulated = self._sample.figures[other][positions]
                if other in self._fitted or other == name or not np.isfinite(simulated).all():
                    continue
                deviation = np.hypot(figure.tolerance, figure.discrepancy * np.abs(simulated))
                deviation = np.hypot(deviation, self._sample.errors[other][positions])
                if (deviation > 0).all():
                    share = share_of_figure(mixture, simulated, deviation)
                    yield row | {"kind": "figure", "known": other, "variance_removed": share}
            own = figure_share(mixture)
            yield row | {
                "kind": "model",
                "known": "discrepancy and simulation error",
                "variance_removed": own,
            }


def figure_share(mixture: Mixture) -> float:
    """Return the share of a predictive variance that no knowledge of the unknowns removes."""
    variance = mixture.deviation**2
    return float(mixture.deviations**2 @ mixture.weights) / variance if variance > 0 else 0.0


def _describe(mixture: Mixture, unit: str | None) -> dict[str, object]:
    names = {"low_90": 0.05, "low_50": 0.25, "median": 0.5, "high_50": 0.75, "high_90": 0.95}
    # A wide normal distribution reaches below 0, where there is no figure.
    least = 0.0 if (mixture.means >= 0).all() else -math.inf
    most = 1.0 if unit == _SHARE else math.inf
    quantiles = {name: min(max(mixture.quantile(level), least), most) for name, level in names.items()}
    return {"mean": mixture.mean, "deviation": mixture.deviation, **quantiles}


def _score(mixture: Mixture, figure: Figure) -> dict[str, object]:
    """Return how well a figure with a value was predicted, beside the baseline."""
    value = figure.value
    if value is None:
        return {}
    level = mixture.probability_below(value)
    scores: dict[str, object] = {
        "inside_50": abs(level - 0.5) <= 0.25,  # noqa: PLR2004
        "inside_90": abs(level - 0.5) <= 0.45,  # noqa: PLR2004
        "crps": mixture.crps(value),
    }
    if figure.against is not None:
        low, high = figure.against
        scores |= {"rule_from": low, "rule_to": high, "rule_crps": crps_uniform(low, high, value)}
    return scores


def _name_quantiles(name: str, numbers: np.ndarray, weights: np.ndarray) -> dict[str, object]:
    if not weights.sum() > 0:
        return {}
    low, middle, high = weighted_quantiles(numbers, weights, _LEVELS).tolist()
    return {f"{name}_q05": low, f"{name}_median": middle, f"{name}_q95": high}


def _name_share(name: str, inside: np.ndarray, weights: np.ndarray) -> dict[str, object]:
    if not weights.sum() > 0:
        return {}
    return {f"{name}_share": min(math.fsum(weights[inside].tolist()), 1.0)}


def _as_text(value: object) -> str:
    return str(fit(value, pa.string()))
