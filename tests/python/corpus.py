#!/usr/bin/env python3
"""Runs about 4,000 models through passdock and checks the results with the onnx package.

The models are ONNX's own node cases, unchanged and with frozen inputs; the
models in onnx's wheel; crafted models (`crafted`); and real ones.
`passdock-corpus` writes the results for all of them in one process, and this
script compares them. A model keeps its bytes if nothing changes, its fields
when it is re-encoded or converted to text, and every other record when one op
changes. An optimized model keeps its interface. onnx's checker must accept a
result if it accepted the model. Completely folded models must give ONNX's
expected results, and unsupported ops must be unchanged.
"""

import argparse
import collections
import json
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import onnx

import crafted
import folding
import checks
import outputs

# Minimum numbers of models. If there are fewer, this script has lost some.
AT_LEAST = {"case": 1884, "frozen": 1855, "wheel": 149, "crafted": 440, "real": 7}
AT_LEAST_RIGHT = 918
WHEEL = Path(onnx.__file__).parent / "backend" / "test" / "data"
SHOWN = 30


class Corpus:
    """The models as files in a directory, with additional data for some."""

    def __init__(self, directory):
        self.directory = directory
        self.cases, self.unfrozen, self.crafted = {}, [], {}

    def add(self, source, name, data):
        path = self.directory / f"{source}.{name}.onnx"
        path.write_bytes(data)
        return path.stem

    def make(self, real):
        from onnx.backend.test.case.node import collect_testcases  # slow: it computes all expected results

        for case in collect_testcases():
            self.add("case", case.name, case.model.SerializeToString())
            frozen = folding.freeze(case)
            if frozen is None:
                self.unfrozen.append(f"frozen.{case.name}")
            else:
                self.cases[self.add("frozen", case.name, frozen.SerializeToString())] = case
        for path in WHEEL.rglob("*.onnx"):
            name = ".".join(path.relative_to(WHEEL).with_suffix("").parts)
            self.add("wheel", name, path.read_bytes())
        for name, model in crafted.models().items():
            self.crafted[self.add("crafted", name, model.data)] = model
            for file, data in model.files.items():
                (self.directory / file).parent.mkdir(exist_ok=True)
                (self.directory / file).write_bytes(data)
        for path in real:
            self.add("real", path.stem, path.read_bytes())


class Tally:
    """The results of each check for each source, and the errors."""

    def __init__(self):
        self.counts, self.wrong = collections.Counter(), []

    def note(self, model, check, why, word=None):
        self.counts[model.split(".")[0], check, word or ("wrong" if why else "right")] += 1
        if why:
            self.wrong.append((model, check, why))

    def show(self):
        sources = list(dict.fromkeys(source for source, _, _ in self.counts))
        names = list(dict.fromkeys(check for _, check, _ in self.counts))
        print(" " * 20 + "".join(f"{source:>14}" for source in sources))
        for check in names:
            cells = []
            for source in sources:
                words = {word: n for (s, c, word), n in self.counts.items() if (s, c) == (source, check)}
                right, wrong = words.pop("right", 0), words.pop("wrong", 0)
                others = f" ({sum(words.values())} {'/'.join(words)})" if words else ""
                cells.append(f"{right}{f' -{wrong}' if wrong else ''}{others}")
            print(f"{check:20}" + "".join(f"{cell:>14}" for cell in cells))


def check_models(corpus, created, report):
    tally, checker = Tally(), checks.Checker()
    for name, findings in report.items():
        given = corpus.directory / f"{name}.onnx"
        handmade = corpus.crafted.get(name)
        if handmade and handmade.rejected:
            why = findings.get("read") or "it was read"
            tally.note(name, "rejected", None if handmade.rejected in why else why)
            continue
        like = None
        if handmade and handmade.like:
            like = created / f"{name}.like.onnx"
            like.write_bytes(handmade.like)
        files = {kind: created / f"{name}.{kind}.onnx" for kind in checks.CHECKS}
        for check, why in checks.check_all(given, files, findings, checker, like):
            tally.note(name, check, why)
        optimized = files["optimized"]
        if name in corpus.cases and optimized.exists():
            word, why = folding.folded(optimized, corpus.cases[name])
            tally.note(name, "folded", why, word)
        elif handmade and handmade.runs:
            tally.note(name, "same results", outputs.same_outputs(given, optimized)["why"])
    for name in corpus.unfrozen:
        tally.note(name, "folded", None, "left alone")
    return tally


def missing(counts, real):
    """Returns why the corpus is incomplete, or None."""
    for source, least in AT_LEAST.items():
        if source != "real" or real:
            count = sum(n for (s, check, _), n in counts.items() if s == source and check in ("same", "rejected"))
            if count < least:
                yield f"only {count} models of the source {source!r}; there were {least}"
    right = counts["frozen", "folded", "right"]
    if right < AT_LEAST_RIGHT:
        yield f"only {right} cases are folded right; it were {AT_LEAST_RIGHT}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--corpus", type=Path, required=True, help="the executable passdock-corpus")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory, which is emptied first")
    p.add_argument("--models", type=Path, help="a directory of real models")
    args = p.parse_args()
    warnings.filterwarnings("ignore")  # the cases overflow and divide by zero on purpose
    shutil.rmtree(args.work_dir, ignore_errors=True)
    given, created = args.work_dir / "given", args.work_dir / "made"
    given.mkdir(parents=True)
    created.mkdir()
    clock = [time.monotonic()]
    real = sorted(args.models.glob("*.onnx")) if args.models else []
    corpus = Corpus(given)
    corpus.make(real)
    clock.append(time.monotonic())
    subprocess.run([args.corpus, given, created], check=True)
    clock.append(time.monotonic())
    tally = check_models(corpus, created, json.loads((created / "report.json").read_text()))
    clock.append(time.monotonic())

    tally.show()
    for model, check, why in tally.wrong[:SHOWN]:
        print(f"{model}: {check}: {why}")
    if len(tally.wrong) > SHOWN:
        print(f"and {len(tally.wrong) - SHOWN} more")
    gaps = [
        *missing(tally.counts, real),
        *(f"no crafted model sets {field}" for field in crafted.never_set(crafted.models())),
    ]
    print(*gaps, sep="\n", end="\n" if gaps else "")
    steps = [
        f"{b - a:.0f} s {what}" for a, b, what in zip(clock, clock[1:], ("to make models", "in passdock", "to compare"))
    ]
    models = len(list(given.glob("*.onnx")))
    print(f"{models} models, {sum(tally.counts.values())} checks, {len(tally.wrong)} wrong; {', '.join(steps)}")
    return 1 if tally.wrong or gaps else 0


if __name__ == "__main__":
    sys.exit(main())
