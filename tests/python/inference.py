#!/usr/bin/env python3
"""Compares InferType's results for a model's values with those of onnx.shape_inference with data propagation.

    inference.py --passdock EXE --work-dir DIR [--models DIR] [--update] [MODEL...]

The models are those of onnx's wheel, crafted ones, the example and real ones, each without declared types of
intermediate values. The counts cover the results of ops in all graphs and function bodies:

- `rank`: values of known rank;
- `dims`: values whose dims are all known: sizes, the model's symbols, or expressions of them;
- `symbols`: dims for which onnx infers a symbol of the model, and the tool infers the same or its size;
- `equal`: dims that onnx infers to be equal to another by a symbol, and that the tool infers to be equal.

The model also runs with every value of the main graph as an output: a size that contradicts the run is wrong. No type
may be wrong, and no count may be lower than in docs/inference.md (`--update` writes the table).
"""

import argparse
import collections
import re
import subprocess
import sys
import warnings
from pathlib import Path

import onnx

import crafted_shapes
import ir_text
import outputs

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/inference.md"
WHEEL = Path(onnx.__file__).parent / "backend" / "test" / "data"
COUNTS = ("rank", "dims", "symbols", "equal")
# A symbol that onnx or passdock generated for an unnamed size.
INVENTED = re.compile(r"unk__\d+|(?<!\w)_[1-9]\d*(?!\w)")


# --- models -------------------------------------------------------------------------


def stripped(model):
    """Removes the declared types of intermediate values."""
    pending = [model.graph]
    while pending:
        graph = pending.pop()
        del graph.value_info[:]
        for node in graph.node:
            pending.extend(subgraphs(node).values())
    for function in model.functions:
        del function.value_info[:]
    return model


def subgraphs(node):
    found = {a.name: a.g for a in node.attribute if a.HasField("g")}
    found.update((f"{a.name}", g) for a in node.attribute for g in a.graphs)
    return found


def results(model):
    """Returns all results of nodes, with the graph's declared types: {key as in ir_text: type}."""
    found, pending = {}, [("main", (), model.graph.node, model.graph)]
    for function in model.functions:
        name = ".".join(filter(None, (function.domain, function.name)))
        pending.append((name, (), function.node, None))
    while pending:
        function, path, nodes, graph = pending.pop()
        infos = {} if graph is None else {v.name: v.type for v in [*graph.value_info, *graph.output]}
        for node in nodes:
            for name in filter(None, node.output):
                found[function, path, name] = infos.get(name)
            for name, inner in subgraphs(node).items():
                step = (node.output[0] if node.output else "", name)
                pending.append((function, path + (step,), inner.node, inner))
    return found


def dims_of(ty):
    """Returns the dims of a TypeProto as text, like ir_text; None if the rank is unknown."""
    if ty is None or not ty.HasField("tensor_type") or not ty.tensor_type.HasField("shape"):
        return None
    dims = ty.tensor_type.shape.dim
    return [str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in dims]


# --- what is known -------------------------------------------------------------------


def theirs(model):
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
    return {key: dims_of(ty) for key, ty in results(inferred).items()}


def ours(passdock, path, out, keys):
    command = [passdock.resolve(), "run", path, "--passes", "relax.transform.InferType", "-o", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-2000:])
    known = ir_text.values(out.read_text())
    found = {}
    for key in keys:
        ty = known.get(key)
        dims = ty.dims if ty else None
        found[key] = dims and [ir_text.unquote(dim) for dim in dims] if dims else dims
    return found


def counts(model, known, reference):
    """Counts the results of one tool; `reference` are onnx's."""
    declared = symbols_of(model)
    tally = dict.fromkeys(COUNTS, 0)
    for dims in known.values():
        tally["rank"] += dims is not None
        tally["dims"] += dims is not None and all(d != "?" and not INVENTED.search(d) for d in dims)
    groups = collections.defaultdict(list)
    for key, dims in reference.items():
        for at, dim in enumerate(dims or ()):
            if dim != "?" and not dim.lstrip("-").isdigit():
                own = known[key]
                groups[key[0], dim].append(own[at] if own and at < len(own) else "?")
    for (_, symbol), symbols in groups.items():
        if symbol in declared:
            tally["symbols"] += sum(each == symbol or each.isdigit() for each in symbols)
        if len(symbols) > 1:
            most = collections.Counter(each for each in symbols if each != "?").most_common(1)
            tally["equal"] += most[0][1] if most and most[0][1] > 1 else 0
    return tally


def symbols_of(model):
    return {d.dim_param for v in [*model.graph.input, *model.graph.output]
            for d in v.type.tensor_type.shape.dim if d.dim_param}


# --- what is true --------------------------------------------------------------------


def wrong(model, path, known):
    """Returns the inferred types that contradict a run of the model; None if it doesn't run."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    there = {v.name for v in shown.graph.output}
    names = [name for (function, where, name) in known if (function, where) == ("main", ()) and name not in there]
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(shown, path)
    try:
        runner = outputs.session(path)
        runs = outputs.runs_of(runner, model, None)
    except Exception:  # onnxruntime has many error classes, and some models need inputs that can't be generated
        return None
    mistakes = []
    for feed, came in runs:
        sizes = bound(model, feed)
        for info, value in zip(runner.get_outputs(), came, strict=True):
            dims = known.get(("main", (), info.name))
            if dims is None or not hasattr(value, "shape"):
                continue
            if len(dims) == value.ndim:
                # A generated symbol gets the first size, and must always have the same one.
                for dim, size in zip(dims, value.shape):
                    if INVENTED.fullmatch(dim):
                        sizes.setdefault(dim, size)
            sized = [ir_text.value_of(quoted(dim), sizes) for dim in dims]
            if len(sized) != value.ndim or any(s not in (None, v) for s, v in zip(sized, value.shape)):
                mistakes.append(f"{info.name} is {list(value.shape)}, not [{', '.join(dims)}] with {sizes}")
    return mistakes


def quoted(dim):
    """Returns a dim as it is in IR text: single symbols with special characters were unquoted for the comparison."""
    return dim if re.fullmatch(r"[\w\s()+*/%?,\"-]*", dim) else '"' + dim + '"'


def bound(model, feed):
    sizes = {}
    for info in model.graph.input:
        if info.name in feed:
            for dim, size in zip(dims_of(info.type) or (), feed[info.name].shape):
                sizes.setdefault(dim, size)
    return sizes


# --- the table -------------------------------------------------------------------------


def compare(passdock, name, data, work, details):
    """Returns a row: the counts of both tools, and the wrong types."""
    model = stripped(onnx.ModelProto.FromString(data))
    path = work / f"{name}.onnx"
    onnx.save(model, path)
    reference = theirs(model)
    known = ours(passdock, path, path.with_suffix(".ir"), reference)
    sides = [counts(model, side, reference) for side in (reference, known)]
    if details:
        for key, dims in reference.items():
            own = known[key]
            if worse(own, dims):
                print(f"  {key[0]} {key[1]} {key[2]}: onnx {dims}, we {own}")
    mistakes = wrong(model, path.with_suffix(".run.onnx"), known)
    return len(reference), sides, mistakes


def worse(own, other):
    if other is None:
        return False
    if own is None or len(own) != len(other):
        return True
    return any(o.isdigit() and s != o or s == "?" and o != "?" for s, o in zip(own, other))


def row(name, values, sides, mistakes):
    pairs = [f"{a[count]} / {b[count]}" for a, b in [sides] for count in COUNTS]
    checked = "not run" if mistakes is None else str(len(mistakes))
    return f"| {name} | {values} | {' | '.join(pairs)} | {checked} |"


def rows_of(text):
    return {line.split("|")[1].strip(): line for line in text.splitlines() if re.match(r"\| [\w.-]+ \| \d", line)}


def fallen(line, before):
    """Returns the passdock counts that are lower in a row than in another."""
    now, then = ([int(pair.split("/")[1]) for pair in each.split("|")[3 : 3 + len(COUNTS)]] for each in (line, before))
    return [f"{count} was {b} and is {a}" for count, a, b in zip(COUNTS, now, then) if a < b]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True)
    p.add_argument("--work-dir", type=Path, required=True)
    p.add_argument("--models", type=Path, help="a directory of real models")
    p.add_argument("--update", action="store_true", help="write docs/inference.md")
    p.add_argument("--details", action="store_true", help="print each value for which onnx infers more")
    p.add_argument("model", nargs="*", type=Path, help="only these")
    args = p.parse_args()
    warnings.filterwarnings("ignore")
    args.work_dir.mkdir(parents=True, exist_ok=True)
    if args.model:
        given = {path.stem: path.read_bytes() for path in args.model}
    else:
        given = {"digits": (ROOT / "examples/models/digits.onnx").read_bytes()}
        given.update((name, model.SerializeToString()) for name, model in crafted_shapes.models())
        given.update((f"wheel.{path.stem}", path.read_bytes()) for path in sorted((WHEEL / "light").glob("*.onnx")))
        if args.models:
            given.update((path.stem, path.read_bytes()) for path in sorted(args.models.glob("*.onnx")))
    table = TABLE.read_text() if TABLE.exists() else ""
    before, complaints, rows = rows_of(table), [], {}
    for name, data in given.items():
        values, sides, mistakes = compare(args.passdock, name, data, args.work_dir, args.details)
        rows[name] = row(name, values, sides, mistakes)
        print(rows[name], flush=True)
        complaints += [f"{name}: {mistake}" for mistake in mistakes or ()]
        if args.model or args.update:
            continue
        if name in before:
            complaints += [f"{name}: {why}" for why in fallen(rows[name], before[name])]
        else:
            complaints.append(f"{name} isn't in docs/inference.md; `--update` writes it")
    for complaint in complaints:
        print(complaint)
    if args.update:
        update(table, {**before, **rows})
    return 1 if complaints else 0


def update(table, rows):
    head = table.split("\n| ")[0].rstrip()
    body = "\n".join(rows.values())
    title = "| model | values | " + " | ".join(COUNTS) + " | wrong |"
    line = "|---" * (3 + len(COUNTS)) + "|"
    TABLE.write_text(f"{head}\n\n{title}\n{line}\n{body}\n")


if __name__ == "__main__":
    sys.exit(main())
