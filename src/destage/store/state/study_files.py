"""The study of a sweep as stored: YAML whose values have the types that readers of the store rely on.

`destage.sweeps` has the whole schema, for planning. A store may come from elsewhere, so the types of all
values that queries and reports read are checked here.
"""

from collections.abc import Mapping
from typing import Any

from destage.errors import ConfigError
from destage.objects import Location
from destage.spec.documents import parse_document
from destage.store.files.digests import invalid, read_checked
from destage.store.files.regular_files import MOST_STUDY

_ANY = "*"
"""In a shape the key of all other values of a table."""
_NUMBER = (int, float)
_NAMES = {_ANY: object}
_SHAPE: Mapping[str, object] = {
    "name": str,
    "question": str,
    "scenario": {"workload": _NAMES},
    "axes": _NAMES,
    "zip": [_NAMES],
    "when": {_ANY: str},
    "derived": {_ANY: str},
    "design": {"method": str},
    "search": {"objectives": [{_ANY: str}]},
    "refine": _NAMES,
    "points": [_NAMES],
    "where": str,
    "calibrate": _NAMES,
    "seek": {"maximize": str, "minimize": str, "subject_to": [str], "limits": {_ANY: [str]}},
    "prices": {"currency": str},
    "replicates": (int, dict),
    "sensitivity": _NAMES,
    "published": [{"figure": str, "source": str, "kind": str, "value": (*_NUMBER, str), "given": [str]}],
    "answer": [(str, dict)],
    "assumptions": [str],
    "tried": [str],
    "fitted": [{"parameter": str, "value": object, "on": str}],
    "places": {_ANY: _NAMES},
    "paper": {"title": str, "number": str, "page": str},
    "charts": [{"title": str, "x": str}],
}
"""The types of a study's values: a table by key, a list of one kind of item, or a type."""
_REQUIRED = {
    "published": ("figure", "source", "kind", "value"),
    "fitted": ("parameter", "value", "on"),
    "paper": ("title", "number"),
    "charts": ("title", "x", "y"),
}


def read_study_text(place: Location) -> str:
    """Return the text of a stored study.

    Raises:
        StoreError: It is damaged, or no text.
    """
    try:
        return read_checked(place, MOST_STUDY).decode()
    except UnicodeDecodeError as error:
        raise invalid(place, f"byte {error.start} is not UTF-8") from error


def parse_stored_study(text: str, place: Location) -> dict[str, Any]:
    """Return a stored study.

    Raises:
        StoreError: The YAML is invalid, or a value has a type that no study has.
    """
    try:
        document = parse_document(text, str(place), "study")
    except ConfigError as error:
        raise invalid(place, f"no study ({error.message})") from error
    if not isinstance(document, dict):
        raise invalid(place, "no study: must be a table")
    wrong = _find_wrong(document, _SHAPE, "") or _find_wrong_answer(document)
    if wrong is not None:
        raise invalid(place, f"no study: {wrong} has another type, or lacks a value")
    return document


def _find_wrong_answer(document: Mapping[str, Any]) -> str | None:
    """Return the path of the first answer that is a table without a sentence."""
    for number, entry in enumerate(document.get("answer", ())):
        if isinstance(entry, dict) and not isinstance(entry.get("say"), str):
            return f"answer[{number}].say"
    return None


def _find_wrong(value: object, shape: object, path: str) -> str | None:
    """Return the path of the first value that does not fit its shape."""
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            return path
        lacking = [key for key in _REQUIRED.get(path.partition("[")[0], ()) if key not in value]
        kinds = {key: shape.get(key, shape.get(_ANY)) for key in value}
        parts = [(f"{path}.{key}".lstrip("."), item, kinds[key]) for key, item in value.items()]
        if lacking:
            return f"{path}.{lacking[0]}"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            return path
        parts = [(f"{path}[{number}]", item, shape[0]) for number, item in enumerate(value)]
    else:
        is_bool = isinstance(value, bool) and shape is not object
        return path if is_bool or not isinstance(value, shape) else None  # type: ignore[arg-type]
    wrong_paths = (_find_wrong(item, kind, place) for place, item, kind in parts if kind is not None)
    return next((wrong for wrong in wrong_paths if wrong is not None), None)
