"""Translation of the host's messages to Python's terms: ``--allow-growth`` becomes ``allow_growth=True``."""

from __future__ import annotations

import re

# Flags whose option has another name.
_NAMES = {
    "plugin": "plugins",
    "plugin-dir": "plugin_dirs",
    "instrument": "instruments",
}
# Options that are lists.
_LISTS = ("plugins", "plugin_dirs", "required_pass", "disabled_pass", "disabled_rule")
# Flags without a value.
_SWITCHES = (
    "allow_growth",
    "allow_outside_data",
    "drop_spans",
    "locked",
    "require_signed",
    "trust",
    "value_info",
)
# Complete phrases.
_PHRASES = {
    "`passdock list passes`": "`passdock.list_passes()`",
    "`passdock list ops`": "`python -m passdock list ops`",
    '`override = ["…"]` in `[plugins.NAME]`': "`register(override=True)`",
    ", or `-` for IR text": "",
    "`--config KEY=VALUE`": "`config={KEY: VALUE}`",
    "`--bind NAME=VALUE`": "`bind={NAME: VALUE}`",
    "`--print-changed`": "the instrument `print-after`",
}
# A flag; at the start of a code span, with the rest of the span: `--verify all`.
_FLAG = re.compile(r"(`)?(?<![^ `(\n])--([a-z][a-z-]*)(?(1)([^`]*)(?=`))")


def in_python(text: str) -> str:
    """Translates a message for Python programs."""
    for phrase, own in _PHRASES.items():
        text = text.replace(phrase, own)
    return _FLAG.sub(_option, text)


def _option(flag: re.Match[str]) -> str:
    tick, name, value = flag[1] or "", flag[2], (flag[3] or "").strip()
    head, is_code, code = flag.string[: flag.start(2)].rpartition("`")
    if is_code and head.count("`") % 2 == 0 and "passdock " in code:
        # A quoted command stays a command.
        return flag[0]
    name = _NAMES.get(name, name.replace("-", "_"))
    if not value:
        return f"{tick}{name}=True" if name in _SWITCHES else tick + name
    if re.fullmatch("[a-z]+", value):
        value = f'"{value}"'
    return f"{tick}{name}=[{value}]" if name in _LISTS else f"{tick}{name}={value}"
