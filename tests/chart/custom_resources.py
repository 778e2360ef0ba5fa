"""Validation of objects against the OpenAPI schemas of CRDs, without unknown fields."""

from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the CRDs have megabytes


class CustomResources:
    """The kinds that a folder of CRDs defines."""

    def __init__(self, folder: Path) -> None:
        self._schemas: dict[tuple[str, str], dict[str, Any]] = {}
        for path in sorted(folder.glob("*.yaml")):
            spec = yaml.load(path.read_text(), _LOADER)["spec"]  # noqa: S506 - a safe loader
            for version in spec["versions"]:
                api = f"{spec['group']}/{version['name']}"
                schema = version["schema"]["openAPIV3Schema"]
                self._schemas[api, spec["names"]["kind"]] = _close(schema)

    def mistakes(self, manifest: dict[str, Any]) -> list[str] | None:
        """Return what a strict API server would reject in an object; None for an undefined kind."""
        schema = self._schemas.get((manifest["apiVersion"], manifest["kind"]))
        if schema is None:
            return None
        errors = Draft202012Validator(schema).iter_errors(manifest)
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in errors]


def _close(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI schema as a JSON Schema without additional properties."""
    made = {
        name: value
        for name, value in schema.items()
        if name in ("type", "enum", "required", "minimum", "maximum", "pattern")
    }
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
        made["type"] = ["integer", "string"]
    if schema.get("nullable") and "type" in made:
        made["type"] = [made["type"], "null"]
    if "items" in schema:
        made["items"] = _close(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: _close(each) for name, each in schema["properties"].items()}
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        made["additionalProperties"] = _close(more)
    elif "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields") and more is None:
        made["additionalProperties"] = False
    return made
