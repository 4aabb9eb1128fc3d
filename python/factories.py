"""Generates ``passdock/relax/transform.py`` and ``passdock/tir/transform.py``: a function for each standard pass, from
the passes' declarations.

``python -P python/factories.py`` writes them; ``--check`` reports whether they are up to date.
"""

from __future__ import annotations

import keyword
import sys
import textwrap
from pathlib import Path

import passdock
from passdock import _passdock

HERE = Path(__file__).parent / "passdock"
KINDS = {"relax": "graph functions", "tir": "functions of the loop level"}
# The decorator of such passes, which is in the same module as in TVM.
DECORATORS = {"relax": "function_pass", "tir": "prim_func_pass"}
TYPES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "string": "str",
    "strings": "Sequence[str]",
    "rules": "Sequence[str]",
    "ints": "Mapping[str, int]",
    "values": "Mapping[str, Any]",
}
HEAD = '''"""Factories of the standard passes on {kind}, such as ``{family}.transform.{first}()``.

The module also has every other registered pass whose name begins with ``{family}.transform.``, and TVM's names.
``python/factories.py`` generates this file from the declarations of the passes.
"""

from __future__ import annotations

{imports}from .._finding import registered_in
from ..transform import {classes}

__all__ = [
{names}
]

if not TYPE_CHECKING:
    # Other registered passes.
    __getattr__, __dir__ = registered_in(globals(), "{family}.transform.")
'''


def factory(name: str) -> str:
    """Returns the source of the function for a pass."""
    declared = _passdock.declaration(name)
    options = declared["options"]
    short = name.rsplit(".", 1)[1]
    # A Python keyword gets a trailing underscore.
    spelt = {option["name"]: option["name"] + "_" * keyword.iskeyword(option["name"]) for option in options}
    # An omitted option has the context's value, or the pass's default.
    arguments = [f"{spelt[option['name']]}: {TYPES[option['type']]} | None = None" for option in options]
    signature = call(f"def {short}", ["*", *arguments] if options else [], f" -> {result(name)}:", "")
    said = [textwrap.fill(declared["summary"], 112), f"Level {declared['opt_level']}."]
    if declared["required"]:
        said[-1] += f" Requires {', '.join(required.rsplit('.', 1)[1] for required in declared['required'])}."
    if options:
        lines = [
            textwrap.fill(f"{spelt[option['name']]}: {option['doc']}", 112, subsequent_indent="    ")
            for option in options
        ]
        said.append("Args:\n" + textwrap.indent("\n".join(lines), "    "))
    doc = textwrap.indent("\n\n".join(said), "    ").strip()
    given = [f"{option['name']}={spelt[option['name']]}" for option in options if not keyword.iskeyword(option["name"])]
    given += [
        f'**{{"{option["name"]}": {spelt[option["name"]]}}}' for option in options if keyword.iskeyword(option["name"])
    ]
    handle = call("standard", [f'"{name}"', *given], "", "    ", f"return {result(name)}._of(")
    return f'\n\n{signature}\n    """{doc}\n    """\n    return {result(name)}._of({handle})\n'


def result(name: str) -> str:
    """Returns the name of a pass's class."""
    return type(passdock.get_pass(name)).__name__


def call(head: str, arguments: list[str], tail: str, indent: str, before: str = "") -> str:
    """Formats a call or a signature, on several lines if it is too long."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(indent + before + line) + bool(before) <= 120:
        return line
    if before:
        inner = "".join(f"{indent}        {argument},\n" for argument in arguments)
        return f"\n{indent}    {head}(\n{inner}{indent}    ){tail}\n{indent}"
    inner = "".join(f"{indent}    {argument},\n" for argument in arguments)
    return f"{head}(\n{inner}{indent}){tail}"


def module(family: str) -> str:
    """Returns the source of a family's module."""
    prefix = f"{family}.transform."
    names = [name for name in passdock.list_passes() if name.startswith(prefix)]
    body = "".join(factory(name) for name in names)
    used = [word for word in ("Mapping", "Sequence") if word + "[" in body]
    imports = [f"from collections.abc import {', '.join(used)}"] if used else []
    imports += ["from typing import TYPE_CHECKING" + ", Any" * ("Any]" in body)]
    decorator = DECORATORS[family]
    shorts = sorted([decorator, *(name.rsplit(".", 1)[1] for name in names)])
    head = HEAD.format(
        kind=KINDS[family],
        family=family,
        first="FoldConstant" if family == "relax" else shorts[0],
        imports="".join(f"{line}\n" for line in imports) + "\n" * bool(imports),
        classes=", ".join([*sorted({result(name) for name in names}), decorator, "standard"]),
        names="\n".join(f'    "{short}",' for short in shorts),
    )
    return head + body


def main() -> int:
    stale = []
    for family in KINDS:
        path, text = HERE / family / "transform.py", module(family)
        if "--check" in sys.argv:
            if path.read_text(encoding="utf-8") != text:
                stale.append(str(path))
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(
            f"{' and '.join(stale)}: not what the passes declare; run `python -P python/factories.py`.", file=sys.stderr
        )
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
