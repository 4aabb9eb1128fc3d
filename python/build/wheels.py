"""What the package has beside what maturin makes: `passdock/_dist`, with the command and the standard plugins.

`passdock/_dist` is laid out as an installation is, so the command finds its plugins, and `passdock/__init__.py` does.
`backend.py` does this for pip; `cargo xtask wheel`, `python` and `test` run this file:

    wheels.py add WHEEL --program FILE --plugin FILE… [--licences FILE]
    wheels.py assemble DIRECTORY --extension FILE --program FILE --plugin FILE…
    wheels.py link [--extension FILE] --program FILE --plugin FILE…
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

_ROOT = Path(__file__).resolve().parents[2]
_DIST = PurePosixPath("passdock/_dist")
_EXTENSION = PurePosixPath("passdock/_passdock.pyd" if os.name == "nt" else "passdock/_passdock.abi3.so")
# As old as a file of a zip archive can be: the same files are the same wheel.
_TIME = (1980, 1, 1, 0, 0, 0)

Files = Mapping[PurePosixPath, Path]


def in_package(program: Path, plugins: list[Path]) -> Files:
    """Where the command and the plugins are in the package."""
    files = {_DIST / "bin" / program.name: program}
    files |= {_DIST / "lib/passdock/plugins" / plugin.name: plugin for plugin in plugins}
    return files


def add(wheel: Path, files: Files) -> None:
    """Puts files into a wheel, and into its list of files."""
    new = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new, "w") as archive:
        (record,) = (name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        contents = {info: old.read(info) for info in old.infolist() if info.filename != record}
        _write(archive, contents, files, record)
    new.replace(wheel)


def assemble(directory: Path, files: Files) -> Path:
    """A wheel for this machine, of what was built before: maturin writes what is said of the package, and builds nothing."""
    with tempfile.TemporaryDirectory() as place:
        words = ["pep517", "write-dist-info", "--metadata-directory", place, "--interpreter", sys.executable]
        subprocess.run(["maturin", *words], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (info,) = Path(place).iterdir()
        (tag,) = (line[5:] for line in (info / "WHEEL").read_text().splitlines() if line.startswith("Tag: "))
        said = {info.name / PurePosixPath(file.relative_to(info)): file for file in info.rglob("*") if file.is_file()}
        wheel = directory / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
        directory.mkdir(parents=True, exist_ok=True)
        # Whatever was built before would be found by who looks for a wheel.
        for older in directory.glob("*.whl"):
            older.unlink()
        with zipfile.ZipFile(wheel, "w") as archive:
            # What isn't optimised is large, and its wheel is used once.
            _write(archive, {}, {**_sources(), **files, **said}, f"{info.name}/RECORD", level=1)
    return wheel


def link(package: Path, files: Files) -> None:
    """Links files into a checkout's package, which works from there then."""
    for name, file in files.items():
        place = package / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(os.path.relpath(file, place.parent))


def _sources() -> Files:
    """The package's files of Python, and what says of them that they have types."""
    package = _ROOT / "python"
    sources = [file for kind in ("*.py", "*.pyi", "py.typed") for file in (package / "passdock").rglob(kind)]
    return {PurePosixPath(file.relative_to(package)): file for file in sorted(sources)}


def _write(
    archive: zipfile.ZipFile, contents: dict[zipfile.ZipInfo, bytes], files: Files, record: str, level: int = 9
) -> None:
    for name, file in files.items():
        info = zipfile.ZipInfo(str(name), _TIME)
        # pip makes a program of what somebody may run.
        info.external_attr = (0o100755 if os.access(file, os.X_OK) else 0o100644) << 16
        contents[info] = file.read_bytes()
    rows = io.StringIO()
    table = csv.writer(rows, lineterminator="\n")
    for info, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        table.writerow([info.filename, f"sha256={digest}", len(data)])
        archive.writestr(info, data, zipfile.ZIP_DEFLATED, compresslevel=level)
    table.writerow([record, "", ""])
    archive.writestr(zipfile.ZipInfo(record, _TIME), rows.getvalue(), zipfile.ZIP_DEFLATED)


def _main() -> None:
    parser = argparse.ArgumentParser(description="Puts the command and the standard plugins into passdock's package.")
    parser.add_argument("action", choices=["add", "assemble", "link"])
    parser.add_argument("place", type=Path, nargs="?", help="the wheel, or the directory of the wheel that is made")
    parser.add_argument("--extension", type=Path, help="the native module")
    parser.add_argument("--program", type=Path, required=True, help="the command")
    parser.add_argument("--plugin", type=Path, action="append", required=True, help="a standard plugin")
    parser.add_argument("--licences", type=Path, help="the licences of what is linked into all of these")
    said = parser.parse_args()
    files = dict(in_package(said.program, said.plugin))
    if said.extension:
        files[_EXTENSION] = said.extension
    match said.action:
        case "add":
            if said.licences:
                info = "-".join(said.place.name.split("-")[:2]) + ".dist-info"
                files[PurePosixPath(info, "licenses", said.licences.name)] = said.licences
            add(said.place, files)
        case "assemble":
            print(assemble(said.place, files))
        case "link":
            link(_ROOT / "python", files)


if __name__ == "__main__":
    _main()
