"""The files that the build backend adds to maturin's wheel."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "build" / "wheels.py"

ADDS = """
import sys
from pathlib import Path
import wheels

wheel, program, plugin, licenses = map(Path, sys.argv[1:])
wheels.add(wheel, wheels.in_package(program, [plugin]), licenses=licenses)
"""


def test_added_files_are_in_the_record(tmp_path: Path) -> None:
    if not SCRIPT.exists():
        pytest.skip("not in a checkout")
    files = [tmp_path / name for name in ("passdock", "libacme.so", "LICENSES-THIRD-PARTY.txt")]
    for file in files:
        file.write_text(file.name)
    files[0].chmod(0o755)
    wheel = tmp_path / "passdock-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("passdock/__init__.py", "")
        archive.writestr("passdock-1.0.dist-info/RECORD", "passdock/__init__.py,,\n")
    words = [sys.executable, "-B", "-c", ADDS, str(wheel), *map(str, files)]
    subprocess.run(words, cwd=SCRIPT.parent, check=True)

    names = {
        "passdock/__init__.py": "",
        "passdock/_dist/bin/passdock": "passdock",
        "passdock/_dist/lib/passdock/plugins/libacme.so": "libacme.so",
        "passdock-1.0.dist-info/licenses/LICENSES-THIRD-PARTY.txt": "LICENSES-THIRD-PARTY.txt",
    }
    with zipfile.ZipFile(wheel) as archive:
        record = archive.read("passdock-1.0.dist-info/RECORD").decode().splitlines()
        assert {name: archive.read(name).decode() for name in names} == names
        assert set(archive.namelist()) == {*names, "passdock-1.0.dist-info/RECORD"}
        assert archive.getinfo("passdock/_dist/bin/passdock").external_attr >> 16 == 0o100755
    for name, text in names.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        assert f"{name},sha256={digest},{len(text)}" in record
