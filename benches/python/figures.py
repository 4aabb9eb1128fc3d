"""Benchmarks of the Python package: the minimum of several times, or a ratio to a reference in the same process.

Run ``python benches/python/figures.py`` with an optimized build of the package. onnx_ir and onnxscript are compared if
they are installed. ``--models DIR`` measures the overhead of ``optimize()`` on the models in DIR.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import passdock
from passdock.rewrite import Rules, rules_pass
from passdock.walk import Visitor

OPS = 100_000
FUNCTIONS = 1_000


def least(of: Callable[[], object], times: int = 7) -> float:
    """Returns the seconds of the fastest of several runs."""

    def one() -> float:
        start = time.perf_counter()
        of()
        return time.perf_counter() - start

    return min(one() for _ in range(times))


def show(what: str, value: float, unit: str, reach: str = "") -> None:
    print(f"{what:66} {value:9.3g} {unit:6} {reach}")


def chain(ops: int) -> passdock.Module:
    """Returns a module with a chain of Relus."""
    body = "".join(f"    %{at} = onnx.Relu(%{at - 1}) : f32[n]\n" for at in range(1, ops))
    head = 'module {\n  fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17) {\n    %0 = onnx.Relu(%x) : f32[n]\n'
    return passdock.Module.from_text(f"{head}{body}    return %{ops - 1}\n  }}\n}}\n")


def functions(count: int) -> passdock.Module:
    """Returns a module with `count` functions of one op."""
    each = '  fn @f{}(%x: f32[n]) -> (%y) opset("" = 17) {{\n    %0 = onnx.Relu(%x) : f32[n]\n    return %0\n  }}\n'
    return passdock.Module.from_text("module {\n" + "".join(each.format(at) for at in range(count)) + "}\n")


def importing() -> None:
    def run(code: str) -> float:
        return least(lambda: subprocess.run([sys.executable, "-c", code], check=True), 15)

    show("import passdock, beyond `python -c pass`", (run("import passdock") - run("pass")) * 1e3, "ms", "<= 30")


def empty_pass() -> None:
    module = functions(FUNCTIONS)

    @passdock.function_pass(opt_level=0)
    def nothing(func: object, mod: object, ctx: object) -> object:
        return func

    show("an empty function pass, per function", least(lambda: nothing(module), 30) / FUNCTIONS * 1e6, "µs", "<= 2")


def reading() -> None:
    function = chain(OPS)["main"]

    def look() -> int:
        total = 0
        for op in function.ops:
            total += len(op.name) + op.operand_count
        return total

    show(f"name and operand count of {OPS} ops", least(look), "s", "<= 0.1")

    class Counter(Visitor):
        count = 0

        def visit_other(self, op: passdock.Op) -> None:
            self.count += 1

    show(f"a class visitor over {OPS} ops", least(lambda: Counter().visit(function)), "s", "<= 0.3")


def optimizing(models: Path | None) -> None:
    """Measures what Python adds to a run of the host, whose own seconds are in the report.

    The runs are in this process, which loads the plugins once.
    """
    if models is None:
        print("optimize() over the host's own run: not measured, no --models")
        return
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "out.onnx"

        def both(model: Path) -> tuple[float, float]:
            start = time.perf_counter()
            report = passdock.optimize(model, out)
            return time.perf_counter() - start, report.seconds

        for model in sorted(models.glob("*.onnx")):
            ours, own = (min(times) for times in zip(*(both(model) for _ in range(9)), strict=True))
            show(f"optimize() over the host's own run: {model.name}", ours / own, "x", "<= 1.05")


def rewriting() -> None:
    """Measures the rewrite of Relu(Relu(x)) to Relu(x) over 10,000 ops in each infrastructure."""
    try:
        import onnx
        import onnx_ir
        from onnxscript.rewriter import RewriteRuleSet
        from onnxscript.rewriter import pattern as script
    except ImportError as missing:
        print(f"the same rewrite in onnx_ir and onnxscript: not measured, {missing}")
        return
    count = 10_000
    nodes = []
    for at in range(0, count, 4):
        x = f"v{at}"
        nodes += [
            onnx.helper.make_node("Relu", [x], [f"a{at}"]),
            onnx.helper.make_node("Relu", [f"a{at}"], [f"b{at}"]),
            onnx.helper.make_node("Neg", [f"b{at}"], [f"c{at}"]),
            onnx.helper.make_node("Abs", [f"c{at}"], [f"v{at + 4}"]),
        ]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [value("v0", 1, ["n"])], [value(f"v{count}", 1, ["n"])])
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    module = passdock.Module.from_onnx(proto.SerializeToString())

    @passdock.function_pass(opt_level=0)
    def by_hand(func: passdock.Function, mod: object, ctx: object) -> passdock.Function:
        for op in func.ops_named("onnx.Relu"):
            inner = op.operand(0).defining_op
            if inner is not None and inner.name == "onnx.Relu":
                func.replace_op_with(op, [inner.result])
        return func

    by_rule = rules_pass("bench.DoubleRelu", Rules("rule a { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }"))

    class IrPass(onnx_ir.passes.InPlacePass):
        def call(self, model: onnx_ir.Model) -> onnx_ir.passes.PassResult:
            changed = False
            for node in model.graph:
                inner = node.inputs[0].producer() if node.op_type == "Relu" else None
                if inner is not None and inner.op_type == "Relu":
                    onnx_ir.convenience.replace_all_uses_with(node.outputs[0], inner.outputs[0])
                    model.graph.remove(node, safe=True)
                    changed = True
            return onnx_ir.passes.PassResult(model, changed)

    rule = script.RewriteRule(lambda op, x: op.Relu(op.Relu(x)), lambda op, x: op.Relu(x))

    def fresh(of: Callable[[object], object]) -> float:
        """Measures `of` on a new model each time, because it edits in place. Building the model isn't measured."""
        times = []
        for _ in range(3):
            model = onnx_ir.from_proto(proto)
            start = time.perf_counter()
            of(model)
            times.append(time.perf_counter() - start)
        return min(times)

    ours = least(lambda: by_hand(module))
    show(f"Relu(Relu(x)) in {count} ops, by hand", ours * 1e3, "ms")
    show("  onnx_ir's pass, over it", fresh(IrPass()) / ours, "x")
    ours = least(lambda: by_rule(module))
    show(f"Relu(Relu(x)) in {count} ops, by a rule", ours * 1e3, "ms")
    show("  onnxscript's rewriter, over it", fresh(RewriteRuleSet([rule]).apply_to_model) / ours, "x")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--models", type=Path)
    models = arguments.parse_args().models
    importing()
    empty_pass()
    reading()
    rewriting()
    optimizing(models)


if __name__ == "__main__":
    main()
