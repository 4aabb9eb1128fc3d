"""Validates the --json output of commands with docs/schemas/output.schema.json. It supports the keywords used there."""

import json
from pathlib import Path

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs/schemas/output.schema.json").read_text())
TYPES = {
    "array": list, "boolean": bool, "integer": int, "number": (int, float), "null": type(None), "object": dict, "string": str,
}


def misfit(name, value):
    """Returns the first part of `value` that doesn't match the definition `name`; None if all of it does."""
    return find(SCHEMA["definitions"][name], value, name)


def find(schema, value, path):
    if "$ref" in schema:
        return find(SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], value, path)
    kinds = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_of = lambda kind: isinstance(value, TYPES[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))
    if not any(is_of(kind) for kind in kinds) or value not in schema.get("enum", [value]):
        return f"{path}: {value!r}"
    parts = [(rule, value, path) for rule in schema.get("allOf", [])]
    if "anyOf" in schema and all(find(rule, value, path) for rule in schema["anyOf"]):
        return f"{path}: {value!r}"
    if isinstance(value, list) and "items" in schema:
        parts += [(schema["items"], item, f"{path}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, dict):
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
        missing = [key for key in schema.get("required", []) if key not in value]
        extra = [key for key in value if key not in properties and rest is False]
        if missing or extra:
            return f"{path}: without {missing}, with {extra}"
        parts += [(properties.get(key, rest), item, f"{path}.{key}") for key, item in value.items()]
    return next(filter(None, (find(*part) for part in parts)), None)
