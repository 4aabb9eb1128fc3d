"""Executes guides as a reader would: writes each file, types each command, and runs each block of code.

- A block ```` ```toml pipeline.toml ```` is a file of that name; so is ```` ```python acme.py ````.
- A ```` ```text ```` block directly after a code block is its output; without one, the code prints nothing.
- In a ```` ```console ```` block, a line ``$ …`` is a shell command, followed by its output. A line that ends with a
  backslash continues on the next one. ``? 1`` in the output is a nonzero exit status.

Times may differ. ``[..]`` matches anything within a line, a line ``...`` matches any lines.

With ``UPDATE_EXPECT=1``, guides are updated instead. `test_guides.py` runs the guides for Python, `.ci/steps/guides.py`
the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Block:
    """A block of a guide: its info string, its lines, and the numbers of its first line and of the line after it."""

    info: str
    lines: list[str]
    start: int
    end: int

    @property
    def language(self) -> str:
        return self.info.split(" ", 1)[0]

    @property
    def file(self) -> str | None:
        _, _, name = self.info.partition(" ")
        return name or None


@dataclass
class Typed:
    """A command of a console block, with the expected output."""

    command: str
    says: list[str] = field(default_factory=list)


def blocks(lines: list[str]) -> list[Block]:
    """Returns the blocks of a guide, in order."""
    found: list[Block] = []
    start = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
        else:
            found.append(Block(lines[start][3:], lines[start + 1 : number], start + 1, number))
            start = None
    assert start is None, "a block isn't closed"
    return found


def output_of(block: Block, others: list[Block], lines: list[str]) -> Block | None:
    """Returns the block directly after another one, if it is its output."""
    for other in others:
        if other.start > block.end and other.info == "text":
            between = lines[block.end + 1 : other.start - 1]
            return other if not any(line.strip() for line in between) else None
    return None


def timeless(line: str) -> str:
    """Returns a line with times and percentages masked, and columns separated by single spaces."""
    line = re.sub(r"\d+(\.\d+)?( ?(ms|µs|us|ns|s)\b|%)", "TIME", line.rstrip())
    indent = line[: len(line) - len(line.lstrip())]
    return indent + re.sub(r"\s+", " ", line.lstrip())


def fits(says: str, printed: str) -> bool:
    """Returns whether a line matches the guide's."""
    parts = map(re.escape, timeless(says).split("[..]"))
    return re.fullmatch(".*".join(parts), timeless(printed)) is not None


def agree(says: list[str], printed: list[str]) -> bool:
    """Returns whether lines match the guide's."""
    if not says:
        return not printed
    if says[0] == "...":
        return any(agree(says[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and fits(says[0], printed[0]) and agree(says[1:], printed[1:])


def unbroken(lines: list[str]) -> list[str]:
    """Joins the lines of a file's list of passes: its line breaks depend on the length of the file's path."""
    whole: list[str] = []
    for line in lines:
        if whole and whole[-1].startswith("from ") and line.startswith("  "):
            whole[-1] += f" {line.lstrip()}"
        else:
            whole.append(line)
    return whole


def shown(text: str, directory: Path) -> list[str]:
    """Returns output as a guide shows it, with the directory replaced by ``.``."""
    lines = [line.rstrip() for line in text.replace(str(directory), ".").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def typed(block: Block) -> list[Typed]:
    """Returns the commands of a console block."""
    found: list[Typed] = []
    for line in block.lines:
        if found and not found[-1].says and found[-1].command.endswith("\\"):
            found[-1].command += f"\n{line}"
        elif line.startswith("$ "):
            found.append(Typed(line[2:]))
        else:
            found[-1].says.append(line)
    for each in found:
        while each.says and not each.says[-1]:
            each.says.pop()
    return found


def write_file(step: dict[str, str], directory: Path) -> None:
    """Writes a file that a guide shows."""
    path = directory / step["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(step["text"], encoding="utf-8")


#: Runs steps (code, commands and files) in a directory; returns the output and exit status of each.
Follow = Callable[[list[dict[str, str]], Path], list[tuple[list[str], int]]]


def read(guide: Path, directory: Path, languages: Collection[str], follow: Follow) -> list[str]:
    """Executes the blocks of a guide in some languages; returns the differences."""
    lines = guide.read_text(encoding="utf-8").splitlines()
    found = blocks(lines)
    code = [block for block in found if block.info in languages]
    steps = []
    for block in found:
        if block.file is not None:
            steps.append({"file": block.file, "text": "\n".join(block.lines) + "\n"})
        elif block not in code:
            continue
        elif block.info == "python":
            steps.append({"code": "\n".join(block.lines) + "\n"})
        else:
            steps += [{"command": each.command} for each in typed(block)]
    printed = (each for step, each in zip(steps, follow(steps, directory), strict=True) if "file" not in step)
    wrong: list[str] = []
    # Corrections of the guide: line ranges with new lines.
    corrections: list[tuple[int, int, list[str]]] = []

    def complain(block: Block, what: str, says: list[str], prints: list[str]) -> None:
        wrong.append("\n".join([f"{guide.name}:{block.start + 1}: {what} says:", *says, "and prints:", *prints]))

    for block in code:
        if block.info == "console":
            text: list[str] = []
            for each in typed(block):
                prints, status = next(printed)
                prints = [*([f"? {status}"] if status else []), *prints]
                is_right = agree(unbroken(each.says), unbroken(prints))
                if not is_right:
                    complain(block, f"`{each.command}`", each.says, prints)
                text += [*([""] if text else []), f"$ {each.command}", *(each.says if is_right else prints)]
            if text != block.lines:
                corrections.append((block.start, block.end, text))
            continue
        output = output_of(block, found, lines)
        says = output.lines if output else []
        prints, status = next(printed)
        if agree(says, prints) and (output is not None or status == 0):
            continue
        complain(block, "the block", says, prints)
        if output is not None:
            corrections.append((output.start, output.end, prints))
        elif status == 0:
            corrections.append((block.end + 1, block.end + 1, ["", "```text", *prints, "```"]))
    if os.environ.get("UPDATE_EXPECT") and corrections:
        # From the end, so that line numbers stay valid.
        for start, end, text in sorted(corrections, reverse=True):
            lines[start:end] = text
        guide.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return wrong
