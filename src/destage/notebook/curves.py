"""The miss ratio curve of a trace."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from destage import engine
from destage.engine import traces
from destage.engine.miss_ratio_curves import load_accesses
from destage.notebook.frames import make_frame
from destage.notebook.html import Figure
from destage.queries.report.charts.miss_ratio_chart import SIDES, build_curves, thin_out
from destage.queries.report.drawing.svg import draw

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class MissRatioCurve:
    """The miss ratio of a cache of each size, for reads, writes and both, under one policy or several.

    Attributes:
        table: One row per policy, side and size: `policy`, `side`, `size_bytes`, `miss_ratio`, and its
            95 % interval if the curve was sampled.
    """

    name: str
    policies: Sequence[str]
    table: pa.Table

    def at(self, size: int | str, side: str = "both", policy: str | None = None) -> float:
        """Return the miss ratio at a size, such as `"256MiB"`: that of the largest size not above it.

        Args:
            policy: One of `policies` (default: the first).
        """
        most = int(engine.quantities.parse(size, "bytes"))
        name = self.policies[0] if policy is None else policy
        if name not in self.policies:
            raise ValueError(f"{name!r}: must be one of {', '.join(self.policies)}")
        rows = [row for row in self._rows(side) if row["policy"] == name and row["size_bytes"] <= most]
        return float(rows[-1]["miss_ratio"]) if rows else 1.0

    def frame(self) -> "pl.DataFrame":
        """Return the curve as a polars DataFrame."""
        return make_frame(self.table)

    def plot(self) -> Figure:
        """Draw the curve."""
        title = f"{self.name}: misses under {', '.join(self.policies)}"
        chart = build_curves(title, {"": thin_out(self.table.to_pylist())})
        return Figure(draw(chart, standalone=True) + "\n")

    def __repr__(self) -> str:
        sides = [side for side in SIDES if any(True for _ in self._rows(side))]
        listed = ", ".join([*self.policies, *sides])
        return f"MissRatioCurve({self.name!r}, {listed}, {self.table.num_rows} rows)"

    def _repr_html_(self) -> str:
        return self.plot().svg

    def _rows(self, side: str) -> Iterator[dict[str, Any]]:
        return (row for row in self.table.to_pylist() if row["side"] == side)


def compute_curve(
    trace: str,
    *,
    policy: str | Sequence[str] = "lru",
    block: int | str = "4KiB",
    rate: float | None = None,
    sizes: Iterable[int | str] | None = None,
) -> MissRatioCurve:
    """Compute the miss ratio curve of a trace file."""
    place = traces.access_places.resolve_place(trace)
    loaded = load_accesses(place, block)
    table = engine.miss_ratio_curve(loaded, block=block, policy=policy, rate=rate, sizes=sizes)
    return MissRatioCurve(place.name, table["policy"].unique().to_pylist(), table)
