#!/usr/bin/env python3
"""Compares passdock with other tools that simplify models.

    compare.py --passdock EXE --work-dir DIR [--models DIR] [--runs N] [--latency] [--update] [MODEL|DIR...]

Without MODEL the models are the `light` ones of onnx's wheel, those of fusible.py, and those of `--models`. Each tool runs
with its defaults in its own process, `--runs` times, alternating with the other tools. The minimum time and the minimum
peak memory count. verdict.py checks the results. `--update` writes docs/comparison.md and the table of README.md.
`--latency` runs only passdock and prints the latencies of its results in ONNX Runtime.

This script imports no large modules, because a child's peak memory is at least its parent's at the start.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/comparison.md"
README = HERE.parents[1] / "README.md"
LIGHT = "backend/test/data/light"
# The baseline of costs: a Python process that loads and saves.
BASELINE = "load_and_save"
OURS = "passdock"
TOOLS = [OURS, "onnxruntime", "onnxoptimizer", "onnxslim", "onnxsim", "onnxscript"]
# The time limit of a tool in seconds.
LIMIT = 300
# A file may grow by 1 %, and by a few bytes for types.
GROWTH, ALLOWANCE = 1.01, 256
MARKS = {"invalid": "†", "interface": "‡", "different": "≠"}
LARGER, NOTHING = "↑", "—"
# A result is slower if its latency is more than this multiple of the original's.
SLOWER = 1.02


# --- running ------------------------------------------------------------------------


def command(args, tool, given, created):
    if tool == OURS:
        return [args.passdock.resolve(), "run", given, "-o", created]
    return [sys.executable, "-B", HERE / "peers.py", tool, given, created]


def measured(words):
    """Runs a process. Returns (seconds, CPU seconds, peak bytes), or None if it fails or exceeds the limit."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in words], **quiet)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.perf_counter() - start > LIMIT:
            process.kill()
            os.wait4(process.pid, 0)
            status = 1
            break
        time.sleep(0.0005)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    return (seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024) if process.returncode == 0 else None


def check_result(*paths):
    """Returns verdict.py's verdict on the original model and a result."""
    words = [sys.executable, "-B", HERE / "verdict.py", *paths]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"different": lines[-1]}
    return json.loads(done.stdout)


def compared(args, given):
    """Returns the original's data, and the costs and the verdict of each tool; the baseline has only costs."""
    costs, found = {}, {}
    for _ in range(args.runs):
        for tool in args.tools:
            created = args.work_dir / given.stem / tool / "model.onnx"
            created.parent.mkdir(parents=True, exist_ok=True)
            for old in created.parent.iterdir():
                old.unlink()
            costs.setdefault(tool, []).append(measured(command(args, tool, given, created)))
    original = check_result(given)
    for tool, runs in costs.items():
        if None in runs:
            found[tool] = None
            continue
        created = args.work_dir / given.stem / tool / "model.onnx"
        verdict = {} if tool == BASELINE else check_result(given, created)
        seconds, cores, peak = (min(column) for column in zip(*runs))
        found[tool] = {"seconds": seconds, "cores": cores, "peak": peak, **verdict}
    return original, found


def models(args):
    if args.model:
        return [path for each in args.model for path in (sorted(each.glob("*.onnx")) if each.is_dir() else [each])]
    light = Path(find_spec("onnx").origin).parent / LIGHT
    found = {path.stem: path for path in sorted(light.glob("*.onnx"))}
    generated = args.work_dir / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-B", HERE / "fusible.py", generated], check=True)
    found.update((path.stem, path) for path in sorted(generated.glob("*.onnx")))
    if args.models:
        found.update((path.stem, path) for path in sorted(args.models.glob("*.onnx")))
    return list(found.values())


# --- showing ------------------------------------------------------------------------


def faults(original, result):
    """Returns the kinds of errors in a result."""
    kinds = [kind for kind in MARKS if result.get(kind)]
    if result.get("bytes", 0) > original["bytes"] * GROWTH + ALLOWANCE:
        kinds.append("larger")
    return kinds


def ops(original, result):
    if result is None or "ops" not in result:
        return NOTHING
    marks = "".join(MARKS.get(kind, LARGER) for kind in faults(original, result))
    return f"{result['ops']:,}{' ' + marks if marks else ''}"


def row(cells):
    return f"| {' | '.join(map(str, cells))} |"


def table(head, rows):
    return [row(head), "|---" * len(head) + "|", *map(row, rows)]


def ops_table(results):
    lines = [[name, f"{original['ops']:,}", *(ops(original, found[tool]) for tool in TOOLS)]
             for name, (original, found) in results.items()]
    return table(["model", "before", *TOOLS], lines)


def totals_table(results):
    """Returns a table with a row for each tool: totals of the models that all tools accept, and numbers of errors."""
    common = [found for _, found in results.values() if all(found.values())]
    lines = []
    for tool in [BASELINE, *TOOLS]:
        seconds, cores = (sum(found[tool][of] for found in common) for of in ("seconds", "cores"))
        peak = max((found[tool]["peak"] for found in common), default=0)
        cells = [tool.replace("_", " "), f"{seconds:.1f}", f"{cores:.1f}", f"{peak / 1e6:.0f}"]
        if tool == BASELINE:
            lines.append(cells + [""] * 5)
            continue
        pairs = [(original, found[tool]) for original, found in results.values()]
        kinds = [kind for original, result in pairs if result for kind in faults(original, result)]
        cells.append(sum(result is None for _, result in pairs))
        lines.append(cells + [kinds.count(kind) for kind in (*MARKS, "larger")])
    head = ["tool", "seconds", "CPU seconds", "peak, MB", "fails", "invalid", "other interface", "other results", "larger"]
    return len(common), table(head, lines)


def readme_table(results):
    """Returns README.md's table: each tool's costs, errors and remaining ops, for the models that all tools accept."""
    common = [(original, found) for original, found in results.values() if all(found.values())]
    lines = []
    for tool in TOOLS:
        pairs = [(original, found[tool]) for original, found in results.values()]
        kinds = [kind for original, result in pairs if result for kind in faults(original, result)]
        seconds = sum(found[tool]["seconds"] for _, found in common)
        peak = max(found[tool]["peak"] for _, found in common)
        left = sum(found[tool]["ops"] for _, found in common)
        lines.append([f"**{tool}**" if tool == OURS else f"{tool} {version(tool)}", f"{seconds:.1f}", f"{peak / 1e6:,.0f} MB",
                      sum(result is None for _, result in pairs), *map(kinds.count, MARKS), f"{left:,}"])
    before = sum(original["ops"] for original, _ in common)
    head = [f"{len(common)} models", "seconds", "peak memory", "failed", "invalid", "interface changed", "results changed",
            f"ops left of {before:,}"]
    return [row(head), "|---" + "|---:" * (len(head) - 1) + "|", *map(row, lines)]


def readme(results):
    """Returns README.md with a new table."""
    text = README.read_text()
    start = text.index("\n", text.index("<!-- comparison")) + 1
    return text[:start] + "\n".join(readme_table(results)) + "\n" + text[text.index("<!-- /comparison"):]


def latency_table(results):
    """Returns a table of latencies in ONNX Runtime, for each model and passdock's result."""
    lines = [[name, *costs(found[OURS])[-3:]] for name, (_, found) in results.items()]
    return table(["model", "ms before", "ms after", "ratio"], lines)


def slower(results):
    """Returns the models whose results are slower."""
    ratios = {name: (found[OURS] or {}).get("latency", (0, 0, 0))[2] for name, (_, found) in results.items()}
    return [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio > SLOWER]


def details_table(results):
    lines = []
    for name, (original, found) in results.items():
        lines.append([name, "as given", f"{original['ops']:,}", "", "", f"{original['bytes']:,}", "", "", "", ""])
        lines += [["", tool, ops(original, result), *costs(result)] for tool, result in found.items()
                  if tool != BASELINE]
    head = ["model", "tool", "ops", "seconds", "peak, MB", "bytes", "difference", "ms before", "ms after", "ratio"]
    return table(head, lines)


def costs(result):
    if result is None:
        return [NOTHING] * 7
    before, after, ratio = result.get("latency", (None, None, None))
    show = [("{:.2f}", result["seconds"]), ("{:.0f}", result["peak"] / 1e6), ("{:,}", result.get("bytes")),
            ("{:.0e}", result.get("error")), ("{:.2f}", before), ("{:.2f}", after), ("{:.2f}", ratio)]
    return [NOTHING if value is None else form.format(value) for form, value in show]


def page(results):
    count, totals = totals_table(results)
    intro = PAGE.read_text().split("\n## Ops\n")[0].rstrip() if PAGE.exists() else "# Comparison with other tools"
    return "\n".join([intro, "", "## Ops", "", *ops_table(results), "", "## Costs and errors", "",
                      f"Seconds are sums over the {count} models that every tool accepts; memory is the maximum for one of them.",
                      "", *totals, "", "## Latency", "", *latency_table(results), "", "## Each model", "", *details_table(results), ""])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True)
    p.add_argument("--work-dir", type=Path, required=True)
    p.add_argument("--models", type=Path, help="a directory of real models")
    p.add_argument("--runs", type=int, default=3, help="how often each tool runs over a model")
    p.add_argument("--latency", action="store_true", help="no other tools: print how fast ONNX Runtime runs the results")
    p.add_argument("--update", action="store_true", help="write docs/comparison.md")
    p.add_argument("model", nargs="*", type=Path, help="models, or directories of models")
    args = p.parse_args()
    if args.update and args.model:
        p.error("--update needs the default models")
    if args.update and args.latency:
        p.error("--update needs all tools")
    args.tools = [OURS] if args.latency else [BASELINE, *TOOLS]
    results = {}
    for given in models(args):
        results[given.stem] = original, found = compared(args, given.resolve())
        print(f"\n{given.stem}: {original['ops']:,} ops, {original['bytes']:,} bytes")
        for tool in [tool for tool in args.tools if tool != BASELINE]:
            print(f"  {tool:14} {ops(original, found[tool]):>12} ops  " + "  ".join(costs(found[tool])))
            for kind in MARKS:
                if found[tool] and found[tool].get(kind):
                    print(f"    {MARKS[kind]} {found[tool][kind]}")
        sys.stdout.flush()
    if not args.latency:
        print("", *ops_table(results), "", *totals_table(results)[1], sep="\n")
    print("", *latency_table(results), "", f"slower than {SLOWER}: {', '.join(slower(results)) or 'none'}", sep="\n")
    if args.update:
        PAGE.write_text(page(results))
        README.write_text(readme(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
