"""Write the parts of the chart that follow from the settings: values, their schema, the README, the board.

`--check` writes nothing and fails when a file differs from what it should be.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from destage.cluster.monitoring import dashboard
from destage.cluster.settings import Settings
from destage.cluster.settings_schema import (
    OPERATOR,
    as_values,
    camel,
    chart_schema,
    default_of,
    entries,
    item_of,
)

CHART = Path(__file__).parents[1] / "helm" / "destage"
WRITTEN = "Written by scripts/generate_chart.py from cluster/settings.py; edit those."
BRINGS = "Whether the KubeRay operator is installed along with the sweep."
_README = """\
# The chart `destage`

<!-- {written} -->

One release is one sweep as a RayJob (`mode: job`), or a Ray cluster that stands until it is deleted
(`mode: cluster`). It needs KubeRay 1.7 on the cluster, the image (`make image`), and a place for the results:
a volume that all pods can mount, or an object store.

```
helm dependency build helm/destage
helm install demo helm/destage --set sweep.study=call_center --set image.repository=example.com/destage
destage cluster watch demo
```

A study of your own: `--set-file sweep.spec=study.yaml`. Results in an object store: `--set
store.url=s3://bucket/prefix`, with credentials in a Secret (`store.secret`) or by workload identity
(`accounts.annotations`), never in the URL. The claim, or what is in the bucket, stays when the release is
uninstalled, upgraded or rolled back; another study in the same release is another RayJob on the same store,
and runs that are there are not executed again. `helm test demo` runs a tiny sweep in the same image and
writes to the store. `docs/cluster.md` tells the whole way from nothing to a report.

## Values

| value | type | default | allowed | meaning |
|---|---|---|---|---|
{rows}
| `{operator}.enabled` | true or false | `false` | | {brings} |
"""


def main() -> int:
    """Write or check the files, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="fail when a file is out of date")
    is_check = parser.parse_args().check
    stale = [path for path, text in files().items() if not path.is_file() or path.read_text() != text]
    for path in stale:
        if is_check:
            print(f"{path} is out of date: run `make chart`", file=sys.stderr)
        else:
            path.write_text(files()[path])
    return 1 if is_check and stale else 0


def files() -> dict[Path, str]:
    """Return what each file should hold."""
    return {
        CHART / "values.yaml": f"# {WRITTEN}\n\n{''.join(_values(Settings, 0))}{_operator()}",
        CHART / "values.schema.json": json.dumps(build_chart_schema(), indent=2) + "\n",
        CHART / "README.md": _README.format(
            written=WRITTEN, rows="\n".join(_rows(Settings, "")), operator=OPERATOR, brings=BRINGS
        ),
        CHART / "files" / "dashboard.json": json.dumps(dashboard(), indent=1) + "\n",
    }


def _values(kind: type, depth: int) -> Iterator[str]:
    """Yield the lines of values.yaml, each setting under its prose."""
    indent = "  " * depth
    for one, type_ in entries(kind):
        yield f"{indent}# -- {one.metadata['prose']}\n"
        if is_dataclass(type_):
            yield f"{indent}{camel(one.name)}:\n"
            yield from _values(type_, depth + 1)
            continue
        text = yaml.safe_dump({camel(one.name): default_of(one)}, sort_keys=False, default_flow_style=False)
        yield "".join(f"{indent}{line}\n" for line in text.splitlines())


def _operator() -> str:
    head = "# -- The KubeRay operator's own chart, and its values."
    return f"{head}\n{OPERATOR}:\n  # -- {BRINGS}\n  enabled: false\n"


def _rows(kind: type, prefix: str) -> Iterator[str]:
    for one, type_ in entries(kind):
        path = f"{prefix}{camel(one.name)}"
        if is_dataclass(type_):
            yield from _rows(type_, f"{path}.")
            continue
        default = default_of(one)
        shown = "required" if default is MISSING else f"`{json.dumps(as_values(default))}`"
        item = item_of(type_)
        is_table = isinstance(item, type) and is_dataclass(item)
        yield (
            f"| `{path}` | {_kind(type_)} | {'see values.yaml' if is_table and default else shown} "
            f"| {_allowed(dict(one.metadata['schema']))} | {one.metadata['prose']} |"
        )
        if isinstance(item, type) and is_dataclass(item):
            yield from _rows(item, f"{path}[].")


def _kind(type_: Any) -> str:
    names = {str: "text", int: "whole number", bool: "true or false"}
    return names.get(type_) or ("list" if item_of(type_) is not None else "table")


def _allowed(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "minimum" in schema:
        return f"at least {schema['minimum']}"
    return "as in " + ", ".join(f"`{each}`" for each in schema["examples"]) if "examples" in schema else ""


if __name__ == "__main__":
    sys.exit(main())
