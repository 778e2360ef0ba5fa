"""`destage plan`."""

import json

from destage.cli.options import Json, Spec, Store
from destage.cli.output import print_json, print_note, print_pairs
from destage.cli.table import print_table

_FIRST_ROWS = 10


def plan(spec: Spec, store: Store = None, as_json: Json = False) -> None:
    """Show the runs of a study without executing or writing anything."""
    from destage import sweeps
    from destage.engine.scenario_schema import find_unit
    from destage.queries.formats import rows_as_json
    from destage.store.plan import CONFIG_COLUMNS, join_configs

    preview = sweeps.plan(sweeps.load_study(spec), store)
    rows = preview.table.drop_columns(list(CONFIG_COLUMNS))
    if as_json:
        facts = {
            "sweep": str(preview.sweep_path),
            "points": preview.points,
            "runs": preview.runs,
            "present": preview.present,
            "adaptive": preview.adaptive,
        }
        print_json(facts | {"rows": rows_as_json(rows)})
        return
    more = "; later rounds depend on its results" if preview.adaptive else "; no further rounds"
    print_pairs(
        {
            "sweep": preview.sweep_path,
            "points": preview.points,
            "first round": f"{preview.runs} runs, {preview.present} already in the store{more}",
        }
    )
    print_note(f"first {min(_FIRST_ROWS, rows.num_rows)} of {rows.num_rows} rows:")
    config = json.loads(join_configs(preview.table.slice(0, 1))[0].as_py())
    units = {name: find_unit(name, config) for name in rows.column_names if "." in name}
    print_table(rows.slice(0, _FIRST_ROWS), {name: unit for name, unit in units.items() if unit})
