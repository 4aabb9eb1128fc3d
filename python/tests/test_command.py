"""The command of the package, started by ``python -m passdock``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from passdock import __main__ as command

pytestmark = pytest.mark.skipif(not command.COMMAND.exists(), reason="the package came without its command")


@pytest.mark.parametrize("closed", ["", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_command_runs_with_closed_streams(closed: str) -> None:
    """As in cron jobs and daemons."""
    script = f'exec "{sys.executable}" -m passdock --version {closed}'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("passdock ") != (">&-" in closed.split())


def test_command_that_cannot_be_executed_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "passdock"
    foreign.write_bytes(b"\x7fnothing")
    monkeypatch.setattr(command, "COMMAND", foreign)
    for mode, why in ((0o644, "Permission denied"), (0o755, "Exec format error")):
        foreign.chmod(mode)
        assert command.main() == 1
        assert capsys.readouterr().err == f"error: could not run {foreign}: {why}\n"
