"""Adds the files of `passdock/_dist` to a wheel: the command and the standard plugins.

`passdock/_dist` has the layout of an installation, so the command and `passdock/__init__.py` find the plugins.
`backend.py` adds it to maturin's wheel, for pip; `cargo xtask wheel`, `test` and `python` run this file:

    wheels.py --extension FILE --program FILE --plugin FILE… assemble DIRECTORY [--licenses FILE] [--platform NAME]
    wheels.py --extension FILE --program FILE --plugin FILE… link
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
# The earliest time that a zip archive can store: equal files give equal wheels.
_TIME = (1980, 1, 1, 0, 0, 0)

Files = Mapping[PurePosixPath, Path]


def in_package(program: Path, plugins: list[Path]) -> Files:
    """Returns the paths of the command and the plugins in the package."""
    files = {_DIST / "bin" / program.name: program}
    files |= {_DIST / "lib/passdock/plugins" / plugin.name: plugin for plugin in plugins}
    return files


def add(wheel: Path, files: Files, *, licenses: Path | None = None) -> None:
    """Adds files to a wheel and to its RECORD, and licenses next to the package's own."""
    new = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new, "w") as archive:
        (record,) = (name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        if licenses:
            files = {**files, PurePosixPath(record).parent / "licenses" / licenses.name: licenses}
        contents = {info: old.read(info) for info in old.infolist() if info.filename != record}
        _write(archive, contents, files, record)
    new.replace(wheel)


def assemble(directory: Path, files: Files, *, licenses: Path | None, platform: str | None, level: int) -> Path:
    """Builds a wheel of files that cargo built before. maturin only writes the metadata.

    `platform` is the platform tag without the machine: `manylinux_2_28`. Without it, the tag is that of this system.
    """
    with tempfile.TemporaryDirectory() as place:
        words = ["maturin", "pep517", "write-dist-info", "--metadata-directory", place, "--interpreter", sys.executable]
        maturin = subprocess.run(
            words, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if maturin.returncode != 0:
            raise SystemExit(f"error: could not read the package metadata from maturin:\n{maturin.stdout}")
        (info,) = Path(place).iterdir()
        about = info / "WHEEL"
        if platform:
            about.write_text(about.read_text().replace("-linux_", f"-{platform}_"))
        (tag,) = (line.removeprefix("Tag: ") for line in about.read_text().splitlines() if line.startswith("Tag: "))
        said = {info.name / PurePosixPath(file.relative_to(info)): file for file in info.rglob("*") if file.is_file()}
        if licenses:
            said[PurePosixPath(info.name, "licenses", licenses.name)] = licenses
        directory.mkdir(parents=True, exist_ok=True)
        # Remove older wheels, which a search for a wheel would find, too.
        for older in directory.glob("*.whl"):
            older.unlink()
        wheel = directory / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            _write(archive, {}, {**_sources(), **files, **said}, f"{info.name}/RECORD", level)
    return wheel


def link(package: Path, files: Files) -> None:
    """Links files into a checkout's package, which can then be imported from there."""
    for name, file in files.items():
        place = package / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(os.path.relpath(file, place.parent))


def _sources() -> Files:
    """Returns the package's Python files and its `py.typed` marker."""
    package = _ROOT / "python"
    sources = [file for kind in ("*.py", "*.pyi", "py.typed") for file in (package / "passdock").rglob(kind)]
    return {PurePosixPath(file.relative_to(package)): file for file in sorted(sources)}


def _write(
    archive: zipfile.ZipFile, contents: dict[zipfile.ZipInfo, bytes], files: Files, record: str, level: int = 9
) -> None:
    for name, file in files.items():
        info = zipfile.ZipInfo(str(name), _TIME)
        # pip makes files executable by this mode.
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
    parser = argparse.ArgumentParser(description="Puts what cargo has built into passdock's package.")
    parser.add_argument("--extension", type=Path, required=True, help="the native module")
    parser.add_argument("--program", type=Path, required=True, help="the command")
    parser.add_argument("--plugin", type=Path, action="append", required=True, help="a standard plugin")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("link", help="link it into the checkout")
    wheel = actions.add_parser("assemble", help="make a wheel")
    wheel.add_argument("directory", type=Path, help="where the wheel is put; older ones there are removed")
    wheel.add_argument("--licenses", type=Path, help="the licenses of what is linked into all of these")
    wheel.add_argument("--platform", help="the system that the wheel is for, as tags name it: manylinux_2_28")
    wheel.add_argument("--level", type=int, default=9, help="how hard to compress, 1 to 9")
    said = parser.parse_args()
    files = {_EXTENSION: said.extension, **in_package(said.program, said.plugin)}
    if said.action == "link":
        link(_ROOT / "python", files)
    else:
        made = assemble(said.directory, files, licenses=said.licenses, platform=said.platform, level=said.level)
        print(made.relative_to(_ROOT) if made.is_relative_to(_ROOT) else made)


if __name__ == "__main__":
    _main()
