"""The columns of the draws of a calibration: its unknowns and figures, with their units."""

from collections.abc import Mapping

import pyarrow as pa

from destage.spec.axis_names import name_axes
from destage.store.schemas.analysis_schema import UNIT_OF, analysis_column
from destage.store.schemas.calibration_schema import DRAWS
from destage.sweeps.keys.calibrate_settings import Calibration, Figure, Reference
from destage.sweeps.keys.objectives import metric_columns
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
    found = name_axes(paths, taken) | others
    return {name: found[name] for name in calibration.unknowns}
