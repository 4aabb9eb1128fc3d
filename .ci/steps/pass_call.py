"""Lists the files of this repository that one call of an unchanged function pass of a plugin executes, with callgrind.

It records a debug build, from the start to the end of `Run::step`, without instruments. Derived functions and those of
the standard library aren't counted. `--update` writes the list to docs/pass-call.md; otherwise the two are compared.
"""

import re
import subprocess
import sys
from pathlib import Path

PACKAGES = "abi benches core crash diagnostic ir loader plugin-api test-plugins".split()
PAGE = Path("docs/pass-call.md")
DERIVED = ("PartialEq>::eq", "Default>::default", "Clone>::clone")


def profile():
    config = [f'profile.dev.package.passdock-{name}.debug="line-tables-only"' for name in PACKAGES]
    subprocess.run(["cargo", "build", *(f"--config={line}" for line in config), "-p", "passdock-benches",
                    "-p", "passdock-test-plugins", "--example", "pass_call", "--example", "passdock_bench"], check=True)
    target = Path("target/debug")
    out = Path("target/pass-call.out")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", f"--callgrind-out-file={out}",
                    "--toggle-collect=passdock_core::run::Run::step", target / "examples/pass_call",
                    target / "examples/libpassdock_bench.so"], check=True)
    return out.read_text()


def files(profile):
    names, found, function, file, is_call = {}, set(), "", "", False
    root = f"{Path.cwd()}/"
    for line in profile.splitlines():
        if match := re.match(r"(c?)(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$", line):
            called, kind, number, name = match.groups()
            key = (kind == "fn", number)
            names.setdefault(key, name)
            if not called and kind == "fn":
                function = names[key]
            elif not called:
                file = names[key].removeprefix(root)
        elif line.startswith("calls="):
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            is_ours = file.startswith(("host/", "plugin-api/")) and re.match(r"<?passdock_", function)
            # Code without a line is attributed to the root of its crate.
            is_root = file.endswith("/lib.rs")
            if is_ours and not is_root and not is_call and not function.endswith(DERIVED):
                found.add(file)
            is_call = False
    return sorted(found)


executed = files(profile())
page = PAGE.read_text()
listed = re.findall(r"^- `(.*)`$", page, re.M)
if "--update" in sys.argv:
    start, end = page.index("- `"), page.rindex("- `")
    end = page.index("\n", end)
    PAGE.write_text(page[:start] + "\n".join(f"- `{file}`" for file in executed) + page[end:])
elif executed != listed:
    sys.exit(f"{PAGE} is out of date; these {len(executed)} files were executed:\n" + "\n".join(executed))
print(len(executed), "files")
