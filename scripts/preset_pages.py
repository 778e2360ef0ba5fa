"""The generated page of the presets: what each claims to be like, stated figures beside drawn ones."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from destage.engine import catalog
from destage.engine.reference_figures import Compared, compare_figures
from destage.spec import quantities

_GENERATED = (
    "<!-- Written by scripts/generate_docs.py from engine/catalog/workloads.toml and the engine; "
    "edit those. -->\n"
)
_INTRODUCTION = """\
What each workload of the [catalogue](catalog.md#workloads) claims to be like, and the figures that its
sources state beside those of the requests that the engine draws from it. A drawn figure agrees if it lies
in the stated range or misses it by at most five standard errors; a test holds that all agree. Closed loads
are drawn on the reference device of `destage catalog show`. A figure that no source states is not here: the
catalogue marks it as assumed, and an answer that rests on an assumed locality says so."""
_SELECTED = {False: "without forced writes", True: "forced writes"}


def presets_page() -> str:
    """Return the page of the presets."""
    compared = {entry.name: compare_figures(entry) for entry in catalog.entries("workloads")}
    lines = ["# Presets beside their sources", "", _GENERATED, _INTRODUCTION, ""]
    lines += ["| preset | figures | agree |", "|---|---|---|"]
    for name, figures in compared.items():
        agreeing = str(sum(each.agrees for each in figures)) if figures else "-"
        lines.append(f"| [`{name}`](#{name}) | {len(figures) or 'none stated'} | {agreeing} |")
    for entry in catalog.entries("workloads"):
        lines += ["", f"## {entry.name}", "", f"{entry.title}. **Claim:** {entry.claim}", ""]
        lines += _table(compared[entry.name]) or ["No source states a figure of the load."]
    return "\n".join([*lines, ""])


def _table(figures: Sequence[Compared]) -> list[str]:
    if not figures:
        return []
    rows = [
        row for _, group in groupby(figures, key=lambda each: id(each.stated)) for row in _rows(list(group))
    ]
    return ["| figure | of | stated | drawn | agrees | source |", "|---|---|---|---|---|---|", *rows]


def _rows(group: Sequence[Compared]) -> Iterator[str]:
    """Yield the row of a figure; sizes by share have one."""
    first = group[0]
    if first.size is None:
        stated = _range(first.low, first.high, first.figure.unit)
        drawn = _range(*first.drawn, first.figure.unit)
    else:
        stated, drawn = (
            ", ".join(
                f"{_size(each.size)} {_number(value, 'fraction')}"
                for each, value in zip(group, values, strict=True)
            )
            for values in ([each.low for each in group], [each.drawn[0] for each in group])
        )
    agrees = "yes" if all(each.agrees for each in group) else "**no**"
    cells = (first.figure.words, _part(first), stated, drawn, agrees, first.stated["source"])
    yield f"| {' | '.join(cells)} |"


def _part(compared: Compared) -> str:
    """Return which requests a figure is of."""
    stated = compared.stated
    words = [f"`{stated['stream']}`"] if "stream" in stated else []
    words += [f"for `{stated['of']}`"] if "of" in stated else []
    words += [f"phase `{stated['phase']}`"] if "phase" in stated else []
    words += [_SELECTED[stated["forced"]]] if "forced" in stated else []
    words += [f"cache of {_size(quantities.parse(stated['cache'], 'bytes'))}"] if "cache" in stated else []
    words += (
        [f"{stated['zone'][0]:.0%} to {stated['zone'][1]:.0%}".replace("%", " %")] if "zone" in stated else []
    )
    return ", ".join(words) or "all"


def _range(low: float, high: float, unit: str) -> str:
    least, most = _number(low, unit), _number(high, unit)
    return least if least == most else f"{least} to {most}"


def _number(value: float, unit: str) -> str:
    if unit == "fraction":
        return f"{100 * value:.4g} %"
    return _size(value) if unit == "bytes" else f"{value:.4g}"


def _size(size: float | None) -> str:
    size = size or 0
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.4g} {unit}"
    return f"{size:.0f} B"
