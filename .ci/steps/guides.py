"""Runs the commands of the README and of the guides in `docs/guides`, except the Python guides, like a reader would.

`python/tests/guide.py` describes the format. Usage: `guides.py HOME [WORD]`. `HOME` has the layout of an installation;
each guide gets a directory in it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

from guide import read, shown, write_file  # noqa: E402

HOME = Path(sys.argv[1]).resolve()
# Programs that a guide needs and that may be missing. `cargo xtask deep` runs these guides, too.
NEEDS = {"debug-a-plugin": ("gdb", "lldb", "perf", "valgrind")}
# Variables that name the user's own plugins.
PLUGIN_VARIABLES = ("CONDA_PREFIX", "PASSDOCK_PLUGIN_PATH", "VIRTUAL_ENV")
# The path of the SDK in a guide's manifest, and the actual path.
SDK = ('path = "../passdock/plugin-api"', f'path = "{ROOT / "plugin-api"}"')


def follow(steps, directory):
    """Runs commands in a shell and returns their output and exit statuses."""
    environment = {name: value for name, value in os.environ.items() if name not in PLUGIN_VARIABLES} | {
        "PATH": f"{HOME / 'bin'}:{os.environ['PATH']}",
        "CARGO_TARGET_DIR": "target",
        "CARGO_NET_OFFLINE": "true",
        "CARGO_TERM_QUIET": "true",
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "XDG_DATA_HOME": f"{directory}/.local/share",
    }
    printed = []
    for step in steps:
        if "file" in step:
            if step["file"].endswith("Cargo.toml"):
                # The directory is inside this workspace, which the crate isn't a member of.
                step["text"] = step["text"].replace(*SDK) + "\n[workspace]\n"
            write_file(step, directory)
            printed.append(([], 0))
            continue
        # Guides assume a checkout next to the reader's directory.
        command = step["command"].replace("../passdock/", f"{ROOT}/")
        done = subprocess.run(
            ["sh", "-c", f"{{ {command}\n}} 2>&1"],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        printed.append((shown(done.stdout.replace(str(HOME / "lib"), "/usr/lib"), directory), done.returncode))
    return printed


def main():
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    guides = [ROOT / "README.md", *sorted((ROOT / "docs/guides").glob("*.md"))]
    guides = [guide for guide in guides if word in guide.stem and not guide.stem.startswith("python-")]
    if not guides:
        sys.exit(f"no guide's name contains `{word}`")
    wrong = []
    for guide in guides:
        missing = [program for program in NEEDS.get(guide.stem, ()) if shutil.which(program) is None]
        if missing:
            print(f"{guide.relative_to(ROOT)}: skipped, no {', '.join(missing)}")
            continue
        print(guide.relative_to(ROOT), flush=True)
        directory = HOME / guide.stem
        directory.mkdir()
        (directory / "examples").symlink_to(ROOT / "examples")
        wrong += read(guide, directory, ["console"], follow)
    if wrong and not os.environ.get("UPDATE_EXPECT"):
        wrong.append(f"{len(wrong)} commands print something else; UPDATE_EXPECT=1 corrects the guides")
        sys.exit("\n\n".join(wrong))


main()
