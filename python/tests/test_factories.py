"""The functions for the standard passes match the passes' declarations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "factories.py"


def test_factories_match_pass_declarations() -> None:
    if not SCRIPT.exists():
        pytest.skip("not in a checkout")
    # With the installed package, not the one next to the script.
    done = subprocess.run([sys.executable, "-P", SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
