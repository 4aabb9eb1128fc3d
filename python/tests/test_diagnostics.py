"""Diagnostics that passes emit, and their renderers."""

from __future__ import annotations

from typing import Any

import pytest

import passdock
from passdock import (
    DiagnosticError,
    Function,
    Module,
    PassContext,
    Sequential,
    function_pass,
    module_pass,
    prim_func_pass,
)
from passdock.diagnostics import (
    Diagnostic,
    DiagnosticContext,
    DiagnosticLevel,
    DiagnosticRenderer,
    get_renderer,
    override_renderer,
)
from passdock.transform import ModulePass
from support import Watch, module, one_function, recorder, two_functions

BUG, ERROR, WARNING, NOTE, HELP, DEBUG = DiagnosticLevel


def emits(
    *diagnostics: tuple[DiagnosticLevel, str], name: str = "Emits", error: BaseException | None = None
) -> ModulePass:
    """Returns a pass that emits diagnostics, and then may raise."""

    @module_pass(opt_level=0, name=name)
    def emit(mod: Module, ctx: PassContext) -> Module:
        for level, message in diagnostics:
            ctx.emit(Diagnostic(level, None, message))
        if error is not None:
            raise error
        return mod

    result: ModulePass = emit
    return result


@pytest.fixture
def shown() -> list[str]:
    """Returns the list of rendered diagnostics, which replaces standard error."""
    all_: list[str] = []
    override_renderer(
        lambda ctx: all_.append(
            "; ".join(f"{diagnostic.level.name} {diagnostic.message}" for diagnostic in ctx.diagnostics)
        )
    )
    return all_


def test_r141_each_pass_gets_a_new_diagnostic_context() -> None:
    assert PassContext().diag_ctx is None
    assert PassContext.current().diag_ctx is None
    seen: list[DiagnosticContext] = []

    @module_pass(opt_level=0, name="Looks")
    def looks(mod: Module, ctx: PassContext) -> Module:
        assert isinstance(ctx.diag_ctx, DiagnosticContext)
        assert ctx.diag_ctx.pass_name == "Looks"
        assert ctx.diag_ctx.diagnostics == []
        current = PassContext.current().diag_ctx
        assert current == ctx.diag_ctx
        seen.append(ctx.diag_ctx)
        return mod

    looks(one_function())
    looks(one_function())
    assert seen[0] != seen[1]
    # Rule 148.
    assert PassContext.current().diag_ctx is None


def test_r142_levels_and_diagnostics() -> None:
    assert [(level.name, level) for level in DiagnosticLevel] == [
        ("BUG", 10),
        ("ERROR", 20),
        ("WARNING", 30),
        ("NOTE", 40),
        ("HELP", 50),
        ("DEBUG", 60),
    ]
    diagnostic = Diagnostic(WARNING, None, "The weight has no use.", code="unused", help="Remove it.", notes=["one"])
    assert (
        diagnostic.level,
        diagnostic.span,
        diagnostic.message,
        diagnostic.code,
        diagnostic.help,
        diagnostic.notes,
    ) == (
        DiagnosticLevel.WARNING,
        None,
        "The weight has no use.",
        "unused",
        "Remove it.",
        ["one"],
    )
    assert isinstance(diagnostic.level, DiagnosticLevel)
    assert str(diagnostic) == "warning[unused]: The weight has no use.\n |\n = note: one\n = help: Remove it."
    assert repr(diagnostic) == "<passdock.Diagnostic warning: The weight has no use.>"
    with pytest.raises(ValueError, match="15 is not a valid DiagnosticLevel"):
        Diagnostic(15, None, "x")


def test_r143_diagnostics_are_shown_once_and_errors_raise(shown: list[str]) -> None:
    fails = emits((NOTE, "one"), (ERROR, "two"), (WARNING, "three"))
    with pytest.raises(
        DiagnosticError, match="One or more error diagnostics were emitted, please check diagnostic render"
    ):
        Sequential([fails])(one_function())
    assert shown == ["NOTE one; ERROR two; WARNING three"]
    shown.clear()
    recorder([], "Silent")(one_function())
    assert shown == []


def test_r144_bug_raises(shown: list[str]) -> None:
    with pytest.raises(DiagnosticError):
        emits((BUG, "mine"))(one_function())
    assert shown == ["BUG mine"]


def test_r145_errors_stop_the_sequential(shown: list[str]) -> None:
    events: list[str] = []
    with pytest.raises(DiagnosticError), PassContext(instruments=[Watch(events)]):
        Sequential([emits((ERROR, "no")), recorder(events, "Next")])(one_function())
    assert [event for event in events if "should_run" not in event] == [
        "enter",
        "before sequential",
        "before Emits",
        "failed Emits",
        "failed sequential",
        "exit",
    ]


def test_r146_warnings_do_not_stop_the_run(shown: list[str]) -> None:
    mod = one_function()
    assert emits((WARNING, "w"), (NOTE, "n"), (HELP, "h"), (DEBUG, "d"))(mod) is mod
    assert shown == ["WARNING w; NOTE n; HELP h"]


def test_r147_nested_pass_has_its_own_diagnostics(shown: list[str]) -> None:
    @module_pass(opt_level=0, name="Outer")
    def outer(mod: Module, ctx: PassContext) -> Module:
        ctx.emit(Diagnostic(NOTE, None, "before"))
        emits((NOTE, "inner"), name="Inner")(mod)
        ctx.emit(Diagnostic(NOTE, None, "after"))
        return mod

    outer(one_function())
    assert shown == ["NOTE inner", "NOTE before; NOTE after"]


def test_r149_diagnostics_of_failing_pass_are_shown(shown: list[str]) -> None:
    error = ValueError("itself")
    with pytest.raises(ValueError, match="itself") as raised:
        emits((WARNING, "first"), error=error)(one_function())
    assert raised.value is error
    assert shown == ["WARNING first"]
    assert PassContext.current().diag_ctx is None


def test_r150_function_passes_emit_diagnostics(shown: list[str]) -> None:
    @function_pass(opt_level=0)
    def says(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.emit(Diagnostic(NOTE, func.ops[0], func.name))
        return func

    @prim_func_pass(opt_level=0)
    def prim_says(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.emit(Diagnostic(NOTE, None, func.name))
        return func

    mod = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2]
            return %y
          }
          prim @loop(%a: buffer<f32[4]>) {
          }
        }
    """)
    says(mod)
    prim_says(mod)
    assert shown == ["NOTE main", "NOTE loop"]


def test_r151_fatal_diagnostic_ends_the_pass(shown: list[str]) -> None:
    events: list[str] = []

    @module_pass(opt_level=0)
    def fatal(mod: Module, ctx: PassContext) -> Module:
        assert ctx.diag_ctx is not None
        ctx.diag_ctx.emit(Diagnostic(NOTE, None, "first"))
        ctx.diag_ctx.emit_fatal(Diagnostic(ERROR, None, "last"))
        events.append("not reached")
        return mod

    with pytest.raises(DiagnosticError) as raised:
        fatal(one_function())
    assert shown == ["NOTE first; ERROR last"]
    assert events == []
    # The same exception object is propagated, with the pass's line in its traceback.
    assert [entry.name for entry in raised.traceback][-2:] == ["fatal", "emit_fatal"]


def test_r152_default_renderer_writes_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    @function_pass(opt_level=0, name="Says")
    def says(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.emit(Diagnostic(WARNING, func.ops[0], "This Relu does nothing.", help="Remove it."))
        return func

    says(
        Module.from_text(
            "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) {\n    %y = onnx.Relu(%x) : f32[2]\n    return %y\n  }\n}\n",
            "model.ir",
        )
    )
    assert capfd.readouterr().err == (
        "warning: This Relu does nothing.\n"
        " --> model.ir:3:5\n"
        "  |\n"
        "3 |     %y = onnx.Relu(%x) : f32[2]\n"
        "  |     ^^^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "  = in pass Says, function @main, op0 (onnx.Relu)\n"
        "  = help: Remove it.\n"
    )


def test_r154_renderer_can_be_replaced(shown: list[str]) -> None:
    """A global renderer and one per context; existing contexts keep theirs."""
    mine: list[str] = []
    own = PassContext(renderer=lambda ctx: mine.extend(diagnostic.message for diagnostic in ctx.diagnostics))
    renderer = get_renderer()
    assert isinstance(renderer, DiagnosticRenderer)
    with own:
        emits((NOTE, "one"))(one_function())
    emits((NOTE, "two"))(one_function())
    assert (mine, shown) == (["one"], ["NOTE two"])

    other: list[str] = []

    @module_pass(opt_level=0)
    def overrides(mod: Module, ctx: PassContext) -> Module:
        ctx.emit(Diagnostic(NOTE, None, "before"))
        override_renderer(
            DiagnosticRenderer(lambda ctx: other.extend(diagnostic.message for diagnostic in ctx.diagnostics))
        )
        ctx.emit(Diagnostic(NOTE, None, "still"))
        return mod

    overrides(one_function())
    emits((NOTE, "next"))(one_function())
    assert (shown, other) == (["NOTE two", "NOTE before; NOTE still"], ["next"])
    override_renderer(None)
    assert get_renderer() not in (renderer,)
    with pytest.raises(TypeError, match="a renderer must be a function of a DiagnosticContext, not int"):
        override_renderer(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a renderer must be a function"):
        PassContext(renderer=5)  # type: ignore[arg-type]


def test_diagnostics_have_pass_function_and_op() -> None:
    seen: list[Any] = []
    override_renderer(lambda ctx: seen.extend(ctx.diagnostics))

    @function_pass(opt_level=0, name="Says")
    def says(func: Function, mod: Module, ctx: PassContext) -> Function:
        if func.name == "other":
            ctx.emit(Diagnostic(NOTE, func.ops[0], "here", code="here"))
        return func

    Sequential([says])(two_functions())
    (diagnostic,) = seen
    assert (diagnostic.pass_name, diagnostic.function, diagnostic.op_name, diagnostic.code) == (
        "Says",
        "other",
        "op0 (onnx.Abs)",
        "here",
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_renderer_errors_do_not_mask_other_errors() -> None:
    def breaks(ctx: DiagnosticContext) -> None:
        raise RuntimeError("renderer")

    override_renderer(breaks)
    mod = one_function()
    assert emits((NOTE, "n"))(mod) is mod
    with pytest.raises(ValueError, match="itself"):
        emits((NOTE, "n"), error=ValueError("itself"))(mod)


def test_standalone_diagnostic_context() -> None:
    """The API of `tvm.ir.diagnostics`: a module, a renderer, `emit` and `render`."""
    mod = one_function()
    shown: list[list[str]] = []
    renderer = DiagnosticRenderer(lambda ctx: shown.append([diagnostic.message for diagnostic in ctx.diagnostics]))
    ctx = DiagnosticContext(mod, renderer)
    assert ctx.module is mod
    ctx.emit(Diagnostic(NOTE, None, "one"))
    ctx.render()
    ctx.render()
    assert shown == [["one"]]
    ctx.emit(Diagnostic(ERROR, None, "two"))
    assert [diagnostic.message for diagnostic in ctx.diagnostics] == ["two"]
    with pytest.raises(DiagnosticError):
        ctx.render()
    with pytest.raises(DiagnosticError):
        ctx.emit_fatal(Diagnostic(WARNING, None, "three"))
    assert shown == [["one"], ["two"], ["three"]]
    assert ctx.diagnostics == []


def test_pipeline_diagnostics_become_warnings_and_log_records(caplog: pytest.LogCaptureFixture) -> None:
    emits((WARNING, "careful"), (NOTE, "by the way"), name="tests.diagnostics.Says").register()
    with (
        caplog.at_level("INFO", logger="passdock"),
        pytest.warns(passdock.PassWarning, match=r"tests\.diagnostics\.Says: careful"),
    ):
        report = passdock.run(one_function(), passes=["tests.diagnostics.Says"])
    assert [diagnostic["severity"] for diagnostic in report["diagnostics"]] == ["warning", "note"]
    assert "by the way" in caplog.text
