"""Values of config keys in a context.

The host creates them without running Python code, which isn't possible during interpreter shutdown.
"""

from __future__ import annotations

from typing import Any

from . import _passdock
from ._checks import _near


class Config(dict[str, Any]):
    """The config values that a context was given, by the keys' full names.

    ``config[key]`` returns the default for a key that wasn't given, and accepts aliases. As in any dict, ``in``,
    ``get`` and iteration only include given keys.
    """

    def __missing__(self, key: str) -> Any:
        try:
            own = _passdock.config_schema(key)["key"]
        except AttributeError as unknown:
            raise KeyError(str(unknown)) from unknown
        return self[own] if own in self else _passdock.PassContext().get_config(own)


class Fields(dict[str, Any]):
    """The value of a config key with fields, which are attributes, too. Fields that weren't given have their
    defaults.
    """

    _key: str

    def __missing__(self, name: str) -> Any:
        defaults = dict(_passdock.PassContext().get_config(self._key))
        if name not in defaults:
            raise KeyError(f"config option `{self._key}` has no field `{name}`{_near(name, defaults)}")
        return defaults[name]

    def __getattr__(self, name: str) -> Any:
        # `copy` and `pickle` look up special names before there is a key.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as unknown:
            raise AttributeError(*unknown.args, name=name, obj=self) from None


def listed(
    configs: list[tuple[dict[str, Any], str | None, Any]], aliases: list[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Returns the result of ``list_configs()``, from the schema, plugin and default of each key."""
    all_: dict[str, dict[str, Any]] = {}
    for schema, plugin, default in configs:
        fields = schema["fields"]
        is_scalar = len(fields) == 1 and not fields[0].get("name")
        all_[schema["key"]] = {
            "doc": schema.get("doc", ""),
            "plugin": plugin,
            "type": fields[0]["type"] if is_scalar else "dict",
            "default": default,
            "fields": fields,
        }
    for alias, own in aliases:
        if own in all_:
            all_[alias] = {**all_[own], "alias_of": own}
    return all_
