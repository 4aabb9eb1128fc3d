"""The functions for the standard passes are what the passes declare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "factories.py"


def test_factories_are_as_the_passes_declare() -> None:
    if not SCRIPT.exists():
        pytest.skip("not in a checkout")
    # The package that is installed, not the one beside the script.
    done = subprocess.run([sys.executable, "-P", SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
