"""JSON Schema of a study, which embeds the engine's schema of a configuration, and validation by it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from destage import engine
from destage.errors import Issue
from destage.spec.schema_tree import Node
from destage.spec.typed_tables import table_schema
from destage.spec.validation import validate_document
from destage.sweeps.study.valid_study import Study


@cache
def _own_schema() -> Node:
    """Return the schema of a study's own keys, for which a scenario is any table."""
    schema = table_schema(Study)
    del schema["description"]
    return schema


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study for editors, with the engine's schema of a configuration."""
    own = _own_schema()
    scenario = dict(engine.authoring_schema())
    definitions = scenario.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Destage study",
        **own,
        "properties": {**own["properties"], "scenario": scenario},
        "$defs": definitions,
    }


def study_keys() -> frozenset[str]:
    """Return the keys that a study may have."""
    return frozenset(_own_schema()["properties"])


def find_study_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return every mistake in a study's own keys; the engine validates the scenario, point by point."""
    return validate_document(document, _own_schema(), "study")


def drop_mistaken(document: Mapping[str, Any], issues: Sequence[Issue]) -> dict[str, Any]:
    """Return a study without the keys and axes that have mistakes."""
    mistaken = {issue.place.partition(".")[0] for issue in issues} - {"axes"}
    kept = {"name": "study"} | {key: value for key, value in document.items() if key not in mistaken}
    if isinstance(kept.get("axes"), Mapping):
        places = [f"{issue.place}." for issue in issues if issue.place.startswith("axes")]
        kept["axes"] = {
            path: values
            for path, values in kept["axes"].items()
            if not any(place.startswith((f"axes.{path}.", "axes..")) for place in places)
        }
    elif "axes" in kept:
        del kept["axes"]
    return kept
