"""Compares the public API of the SDK with the frozen one, in rustdoc's JSON: `public_api.py FROZEN.json.gz CURRENT.json`.

New items are allowed. `--freeze` writes FROZEN from CURRENT, without documentation.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

ADVICE = """\
The public API of the SDK has changed. `cargo xtask deep semver` finds out whether plugins in the field break.
`cargo xtask deep semver --freeze` freezes the new API: before version 1.0, or if they don't."""


def main() -> None:
    frozen, current = map(Path, sys.argv[-2:])
    document = json.loads(current.read_text())
    if "--freeze" in sys.argv:
        for item in document["index"].values():
            item.update(docs=None, links={}, span=None)
        frozen.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    old, new = Api(json.loads(gzip.decompress(frozen.read_bytes()))).items, Api(document).items
    changes = [f"missing: {path}" for path in old if path not in new]
    differ = (path for path in old if path in new and old[path] != new[path])
    changes += [f"changed: {path}\n  frozen: {old[path]}\n  now:    {new[path]}" for path in differ]
    if changes:
        sys.exit("\n".join([*changes, ADVICE]))
    print(f"{len(old)} frozen items of the SDK are unchanged, {len(new) - len(old)} are new")


class Api:
    """The public items of a crate: their declarations, by path."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.index, self.paths = document["index"], document["paths"]
        self.items: dict[str, str] = {}
        root = self.index[str(document["root"])]
        self.add(root, root["name"])

    def add(self, item: dict[str, Any], path: str) -> None:
        """Adds an item, and the items in it."""
        ((kind, inner),) = item["inner"].items()
        if kind == "use" and (target := self.index.get(str(inner["id"]))):
            # An item of a private module is public where it is reexported.
            return self.add(target, path)
        children: list[int] = []
        declaration = f"{kind} {self.text(inner, children)}"
        if kind != "impl":
            self.items[path] = declaration
        elif inner["trait"]:
            if not inner["blanket_impl"]:
                self.items[f"{path}: {self.text(inner['trait'], [])}"] = declaration
            return None
        for child in (self.index[str(each)] for each in children if str(each) in self.index):
            ((kind, inner),) = child["inner"].items()
            name = inner["name"] if kind == "use" else child["name"]
            self.add(child, path if name is None else f"{path}::{name}")
        return None

    def text(self, value: Any, children: list[int]) -> str:
        """Returns the text of a declaration, with names instead of ids. The ids of items in it are added to a list.

        Names have no modules, because those of private ones may change.
        """
        if isinstance(value, list):
            if any(type(each) is int for each in value):
                children += value
                return "…"
            return f"[{', '.join(self.text(each, children) for each in value)}]"
        if not isinstance(value, dict):
            return str(value)
        fields = {name: self.text(each, children) for name, each in value.items() if each not in (None, [], {}, False)}
        if found := self.paths.get(fields.pop("id", "")):
            fields["path"] = found["path"][-1]
        return f"{{{', '.join(f'{name} {text}' for name, text in fields.items())}}}"


main()
