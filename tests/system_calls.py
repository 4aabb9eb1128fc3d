"""Fault injection: runs the command with failing system calls, and kills it before calls:
`system_calls.py PASSDOCK DIRECTORY`.

Each scenario runs once under `strace`, which lists its system calls on files. Then it runs once for each call, which
fails, and once for each call that changes files, before which the process is killed. Afterwards visible files are
either unchanged or complete, and a run that reported success has succeeded. The next run removes hidden files; old
data may remain if its removal was the call. Everything runs twice: with unnamed temporary files, and as on a file
system without them.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PASSDOCK, PLACE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()

#: The tested calls: those that change something, and others.
CHANGES = (
    "copy_file_range fchmod ftruncate fsync link linkat mkdir rename renameat renameat2 rmdir sendfile "
    "unlink unlinkat write"
).split()
OTHERS = "flock getdents64 lseek mmap newfstatat openat read statx".split()
#: The maximum number of calls per name that change nothing: most of them read a plugin.
READS = 40
#: If these fail, files to be removed may remain.
REMOVES = ["unlink", "unlinkat", "rmdir"]

MODEL = """module {
  fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
    %w = const f32[512] splat(1.0)
    %v = const f32[512] splat(2.0)
    %0 = onnx.Add(%w, %v) : f32[512]
    %1 = onnx.Add(%x, %0) : f32[512]
    %2 = onnx.Mul(%1, %w) : f32[512]
    return %2
  }
}
"""
FOLD = "--passes relax.transform.FoldConstant"
#: In one process, so that all calls are counted.
RUN = "run --in-process --notes"
BAD = "--plugin PLUGINS/libpassdock_misbehaving.so --passes bad.transform"

#: The scenarios run in a directory with `m.ir`, and `d/w.onnx` with `d/w.onnx.data`: name, earlier runs,
#: arguments, and the exit status.
#: The last one's plugin is where `cargo build --workspace --all-targets` writes it, relative to the command.
SCENARIOS = [
    ("a new model", [], "convert m.ir o.onnx", 0),
    (
        "text over a file, with a trace",
        ["convert d/w.onnx o.ir"],
        f"{RUN} m.ir -o o.ir {FOLD} --trace t.json",
        0,
    ),
    ("a model over itself", ["convert m.ir o.onnx"], f"{RUN} o.onnx -o o.onnx {FOLD}", 0),
    ("a model with its data over itself", [], f"{RUN} d/w.onnx -o d/w.onnx {FOLD} --external-data all", 0),
    ("data that goes along", [], "convert d/w.onnx o.onnx", 0),
    (
        "data whose name is taken",
        ["convert d/w.onnx o.ir", "convert m.ir o.onnx --external-data all"],
        f"{RUN} m.ir -o o.onnx {FOLD} --external-data all",
        0,
    ),
    (
        "a failure with a reproducer over another one",
        [f"run m.ir -o o.onnx {BAD}.Fail"],
        f"{RUN} m.ir -o o.onnx {BAD}.Panic",
        1,
    ),
]

#: A directory's files with their bytes, by their paths from it; directories end with a slash, and have none.
Files = dict[str, bytes]


class Fault(NamedTuple):
    """A fault: the nth call of a name fails, or the process is killed before it."""

    call: str
    nth: int
    kill: bool


def read(root: Path) -> Files:
    """Returns all files in a directory."""
    files = {}
    for directory, folders, names in os.walk(root):
        here = Path(directory).relative_to(root)
        files |= {f"{here / folder}/": b"" for folder in folders}
        files |= {str(here / name): (Path(directory) / name).read_bytes() for name in names}
    return files


def write(root: Path, files: Files) -> None:
    """Creates a directory with exactly these files."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def is_hidden(name: str) -> bool:
    return any(part.startswith(".passdock-") for part in name.split("/"))


def is_data(name: str) -> bool:
    return name.endswith(".data")


def is_model(name: str) -> bool:
    return name.endswith((".onnx", ".ir")) and not is_hidden(name) and ".reproducer" not in name


def visible(files: Files) -> Files:
    """Returns the visible files. Omits traces, which failed runs write, too, and the bytes of reproducers, which contain
    times and paths."""
    seen = {name: content for name, content in files.items() if not is_hidden(name) and name != "t.json"}
    return {name: content if is_model(name) or is_data(name) else b"" for name, content in seen.items()}


def run(arguments: str, directory: Path, *before: str) -> subprocess.CompletedProcess[str]:
    plugins = str(PASSDOCK.parent / "examples")
    command = [*before, str(PASSDOCK), *arguments.replace("PLUGINS", plugins).split()]
    return subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Scenario:
    """A scenario that can be run repeatedly."""

    def __init__(self, scenario: tuple[str, list[str], str, int], nameless: bool) -> None:
        self.name, befores, self.arguments, self.status = scenario
        self.strace = ["strace", "-f", "-qq", "--signal=none"]
        if not nameless:
            self.name += ", named files"
            self.strace += ["-e", "inject=open:error=EOPNOTSUPP"]
        directory, log = PLACE / "first", PLACE / "log"
        write(directory, {"d/": b"", "m.ir": MODEL.encode()})
        for before in ["convert m.ir d/w.onnx --external-data all", *befores]:
            run(before, directory)
        self.before = read(directory)
        calls = ",".join(["open", *CHANGES, *OTHERS])
        ran = run(self.arguments, directory, *self.strace, "-o", str(log), "-e", f"trace={calls}")
        assert ran.returncode == self.status, f"{self.arguments} ends with {ran.returncode}: {ran.stderr}"
        # The files that may be visible in the end: after one run, and after a second run.
        first = read(directory)
        run(self.arguments, directory)
        self.done = [first, read(directory)]
        assert not any(map(is_hidden, first)), f"{self.arguments} leaves {sorted(first)}"
        self.faults = faults(log.read_text(), nameless)
        assert self.faults, f"{self.name}: no system call is about a file"

    def problem(self, fault: Fault, directory: Path) -> str | None:
        """Runs the scenario with a fault, and returns a description of the error, if any."""
        write(directory, self.before)
        what = "signal=KILL" if fault.kill else "error=EIO"
        inject = ["-e", f"trace=open,{fault.call}", "-e", f"inject={fault.call}:{what}:when={fault.nth}"]
        ran = run(self.arguments, directory, *self.strace, "-o", "/dev/null", *inject)
        after = read(directory)
        wrong = self.judge(fault, ran, after)
        if wrong is None:
            again = run(self.arguments, directory)
            after = read(directory)
            if again.returncode != self.status:
                wrong = "the next run fails"
            elif not any(self.without(fault, done) == self.without(fault, after) for done in self.done):
                wrong = "the next run leaves something"
        if wrong is None:
            return None
        how = "is the last call" if fault.kill else "fails"
        printed = f"status {ran.returncode}, {ran.stderr.strip()}"
        return f"{fault.call} {fault.nth} {how}: {wrong} ({printed}): {self.files(after)}"

    def judge(self, fault: Fault, ran: subprocess.CompletedProcess[str], after: Files) -> str | None:
        """Checks the files after a run, and returns a description of the error, if any."""
        seen = visible(after)
        is_before = visible(self.before) == seen
        is_done = any(visible(done) == seen for done in self.done)
        if fault.call not in CHANGES:
            is_done |= any(
                visible(done).items() <= seen.items()
                and self.without(fault, visible(done)) == self.without(fault, seen)
                for done in self.done
            )
        # A pass that can't read a constant keeps the op, and reports it.
        is_reported = is_before and "os error 5" in ran.stderr
        hidden = [name for name in after if is_hidden(name)]
        removes = fault.call in REMOVES
        if ran.returncode == 0 and not (is_done or is_reported or removes):
            return "it reported success"
        # Removing a directory takes many calls.
        is_excused = fault.kill or removes
        if any(".part/" not in name for name in hidden) and not is_excused:
            return "something hidden is left"
        if not (is_done or is_before or is_excused):
            return "files are neither as before nor as they should be"
        # The model is one of the two, with its data.
        for files in [*self.done, self.before]:
            names = [name for name in files if is_model(name) or (is_data(name) and not is_hidden(name))]
            if all(after.get(name) == files.get(name) for name in [*names, *filter(is_model, after)]):
                return None
        return "a file isn't whole"

    def without(self, fault: Fault, files: Files) -> set[str]:
        """Returns the names of files without old data that may remain: it wasn't removed, or may still be in use."""
        stays = fault.kill or fault.call not in CHANGES or fault.call in REMOVES
        return {name for name in files if not (stays and is_data(name) and name in self.before)}

    def files(self, files: Files) -> list[str]:
        """Returns the names of files, each with whether it is old, new, the same or another file."""
        states = {(True, True): "same", (True, False): "old", (False, True): "new", (False, False): "other"}
        return [
            f"{name} {states[self.before.get(name) == content, self.done[0].get(name) == content]}"
            for name, content in sorted(files.items())
        ]


def faults(log: str, nameless: bool) -> list[Fault]:
    """Returns the calls of the main thread, starting with the first on a file of the directory. Reading is the same with
    named files, and isn't repeated."""
    nth, tried, found = Counter(), Counter(), []
    main = log.split(None, 1)[0]
    has_begun = False
    for thread, call, rest in re.findall(r"^(\d+) +(\w+)\((.*)", log, flags=re.M):
        if thread != main or call not in CHANGES + OTHERS:
            continue
        nth[call] += 1
        has_begun |= '.onnx"' in rest or '.ir"' in rest
        changes = call in CHANGES
        if has_begun and (changes or (nameless and tried[call] < READS)):
            tried[call] += 1
            found += [Fault(call, nth[call], kill) for kill in ([False, True] if changes else [False])]
    return found


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    cores = len(os.sched_getaffinity(0))
    wrong = 0
    for scenario in SCENARIOS:
        for nameless in (True, False):
            prepared = Scenario(scenario, nameless)
            print(f"{len(prepared.faults):5} faults: {prepared.name}", flush=True)

            def try_share(core: int) -> list[str]:
                share = prepared.faults[core::cores]
                return [problem for fault in share if (problem := prepared.problem(fault, PLACE / str(core)))]

            with ThreadPoolExecutor(cores) as pool:
                for problem in (each for share in pool.map(try_share, range(cores)) for each in share):
                    print(f"  {problem}")
                    wrong += 1
    shutil.rmtree(PLACE)
    if wrong:
        sys.exit(f"{wrong} problems")


main()
