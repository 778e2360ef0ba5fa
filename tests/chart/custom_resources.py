"""Checking objects against the OpenAPI schemas of custom resource definitions, unknown fields refused."""

from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the definitions are megabytes


class CustomResources:
    """The kinds that some definitions bring."""

    def __init__(self, folder: Path) -> None:
        self._schemas: dict[tuple[str, str], dict[str, Any]] = {}
        for path in sorted(folder.glob("*.yaml")):
            spec = yaml.load(path.read_text(), _LOADER)["spec"]  # noqa: S506 - a safe one
            for version in spec["versions"]:
                api = f"{spec['group']}/{version['name']}"
                schema = version["schema"]["openAPIV3Schema"]
                self._schemas[api, spec["names"]["kind"]] = closed(schema)

    def mistakes(self, manifest: dict[str, Any]) -> list[str] | None:
        """Return what a strict API server would refuse of an object; None for kinds that are not here."""
        schema = self._schemas.get((manifest["apiVersion"], manifest["kind"]))
        if schema is None:
            return None
        errors = Draft202012Validator(schema).iter_errors(manifest)
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in errors]


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI schema as a JSON Schema that knows its fields and no others."""
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
        made["items"] = closed(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: closed(each) for name, each in schema["properties"].items()}
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        made["additionalProperties"] = closed(more)
    elif "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields") and more is None:
        made["additionalProperties"] = False
    return made
