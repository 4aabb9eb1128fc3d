"""Errors: exceptions of programs keep their type, object and traceback; those of the host have location and cause."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import passdock
from passdock import (
    EditError,
    Function,
    Module,
    PassContext,
    PassError,
    Sequential,
    StaleError,
    function_pass,
    get_pass,
    module_pass,
)
from passdock.transform import ApplyPassToFunction, FunctionPass, Pass
from support import Watch, module, on_functions, one_function, raiser, recorder, two_functions


class Custom(Exception):
    """An exception of a program, with state."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Silent(Exception):
    """An exception with an empty message."""

    def __str__(self) -> str:
        return ""


class Unwilling(Exception):
    """An exception whose `__str__` raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


EXCEPTIONS = [
    Custom(7),
    Silent(),
    Unwilling(),
    ValueError("two\nlines"),
    KeyError("key"),
    StopIteration("stop"),
    KeyboardInterrupt(),
    SystemExit(3),
    GeneratorExit(),
    AssertionError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    ExceptionGroup("several", [ValueError("one"), TypeError("two")]),
    PassError("an error of the package's own", code="mine"),
    EditError("an edit of the program's own"),
]


def ways() -> dict[str, Callable[[Callable[[], None]], Callable[[], object]]]:
    """Returns the paths on which an exception of a program may pass through the host."""

    def as_module_pass(fail: Callable[[], None]) -> Pass:
        @module_pass(opt_level=0)
        def fails(mod: Module, ctx: PassContext) -> Module:
            fail()
            return mod

        created: Pass = fails
        return created

    def as_function_pass(fail: Callable[[], None]) -> Pass:
        @function_pass(opt_level=0)
        class Fails(FunctionPass):
            def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
                fail()
                return func

        return Fails()

    def inside(inner: Pass) -> Pass:
        @module_pass(opt_level=0)
        def outer(mod: Module, ctx: PassContext) -> Module:
            return inner(mod)

        created: Pass = outer
        return created

    def by_run_pass(inner: Pass) -> Pass:
        @module_pass(opt_level=0)
        def outer(mod: Module, ctx: PassContext) -> Module:
            ctx.run_pass(mod, inner.info.name)
            return mod

        created: Pass = outer
        return created

    count = 0

    def registered(fail: Callable[[], None], required: list[str] | None = None) -> Pass:
        nonlocal count
        count += 1

        @module_pass(opt_level=0, name=f"tests.errors.{count}", required=required)
        def fails(mod: Module, ctx: PassContext) -> Module:
            fail()
            return mod

        created: Pass = fails.register()
        return created

    def instrument(where: str, fail: Callable[[], None]) -> Callable[[], object]:
        class Fails(Watch):
            def _record(self, hook: str, of: str = "") -> None:
                if hook == where:
                    fail()

        def run() -> None:
            with PassContext(instruments=[Fails([])]):
                Sequential([recorder([], "Fine")])(one_function())

        return run

    def watched_run_pass(fail: Callable[[], None]) -> Callable[[], object]:
        inner = registered(lambda: None)

        class Fails(Watch):
            def _record(self, hook: str, of: str = "") -> None:
                if hook == "before" and of == inner.info.name:
                    fail()

        def run() -> None:
            with PassContext(instruments=[Fails([])]):
                by_run_pass(inner)(one_function())

        return run

    def under_context(pass_: Pass) -> Callable[[], object]:
        def run() -> None:
            with PassContext(instruments=[Watch([])]), PassContext(), PassContext(instruments=[Watch([])]):
                pass_(one_function())

        return run

    def as_progress_of_run(fail: Callable[[], None]) -> Callable[[], object]:
        created = registered(fail)
        return lambda: passdock.run(one_function(), passes=[created.info.name])

    return {
        "a module pass": lambda fail: lambda: as_module_pass(fail)(one_function()),
        "a function pass": lambda fail: lambda: as_function_pass(fail)(one_function()),
        "a Sequential": lambda fail: lambda: Sequential([recorder([], "A"), as_module_pass(fail)])(one_function()),
        "nested Sequentials": lambda fail: (
            lambda: Sequential([Sequential([Sequential([as_function_pass(fail)])])])(one_function())
        ),
        "a pass in a pass": lambda fail: lambda: inside(as_module_pass(fail))(one_function()),
        "passes in passes": lambda fail: lambda: inside(inside(Sequential([as_function_pass(fail)])))(one_function()),
        "run_pass": lambda fail: lambda: by_run_pass(registered(fail))(one_function()),
        "run_pass twice": lambda fail: (
            lambda: (
                by_run_pass(registered(lambda: None))(one_function()) and by_run_pass(registered(fail))(one_function())
            )
        ),
        "a required pass": lambda fail: (
            lambda: Sequential([registered(lambda: None, [registered(fail).info.name])])(one_function())
        ),
        "ApplyPassToFunction": lambda fail: lambda: ApplyPassToFunction(as_function_pass(fail), "main")(one_function()),
        "contexts": lambda fail: under_context(Sequential([as_module_pass(fail)])),
        "enter_pass_ctx": lambda fail: instrument("enter", fail),
        "exit_pass_ctx": lambda fail: instrument("exit", fail),
        "should_run": lambda fail: instrument("should_run", fail),
        "run_before_pass": lambda fail: instrument("before", fail),
        "run_after_pass": lambda fail: instrument("after", fail),
        "run_before_pass of a pass that a pass runs": watched_run_pass,
        "a pipeline": as_progress_of_run,
    }


WAYS = ways()


@pytest.mark.parametrize("error", EXCEPTIONS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", WAYS)
def test_r117_exceptions_keep_type_object_and_traceback(way: str, error: BaseException) -> None:
    """For any class of exception, and any path through the host."""

    def fail() -> None:
        raise error

    error.__traceback__ = None
    if hasattr(error, "__notes__"):
        del error.__notes__
    run = WAYS[way](fail)
    with pytest.raises(type(error)) as raised:
        run()
    assert raised.value is error
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert frames[-1] == "fail"
    assert frames.count("fail") == 1
    assert error.__cause__ is None


def test_r155_error_names_the_pass_once() -> None:
    """Also through Sequentials; with function, op and line, if there are any."""

    @function_pass(opt_level=0, name="Erases")
    def erases(func: Function, mod: Module, ctx: PassContext) -> Function:
        func.erase_op(func.ops[0])
        return func

    chain = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %a = onnx.Relu(%x) : f32[2] loc("first")
            %y = onnx.Abs(%a) : f32[2]
            return %y
          }
        }
    """)
    with pytest.raises(EditError, match="its result %a is used by op1") as raised:
        Sequential([Sequential([erases])])(chain)
    line = raised.traceback[-1].lineno + 1
    assert raised.value.__notes__ == [
        f"Error in pass Erases, function @main, op0 (onnx.Relu), at first ({__file__}:{line})"
    ]
    shown = "".join(traceback.format_exception(raised.value))
    assert "func.erase_op(func.ops[0])" in shown
    assert shown.count("Error in pass") == 1


def test_exception_op_sets_the_location() -> None:
    """A program sets `op` of an exception; the report of a pipeline has the op's location."""

    @module_pass(opt_level=0, name="tests.errors.Points")
    def points(mod: Module, ctx: PassContext) -> Module:
        error = EditError("no such thing")
        error.op = mod["other"].ops[0]
        raise error

    points.register()
    with pytest.raises(EditError, match="no such thing") as raised:
        points(two_functions())
    assert raised.value.__notes__[0].startswith("Error in pass tests.errors.Points, function @other, op0 (onnx.Abs)")
    with pytest.raises(EditError):
        passdock.run(two_functions(), passes=["tests.errors.Points"])


def test_notes_name_each_pass_of_a_chain() -> None:
    @module_pass(opt_level=0, name="Outer")
    def outer(mod: Module, ctx: PassContext) -> Module:
        return raiser(ValueError("inner"), "Inner")(mod)

    with pytest.raises(ValueError, match="inner") as raised:
        outer(one_function())
    assert [note.split(" (")[0] for note in raised.value.__notes__] == ["Error in pass Inner", "Error in pass Outer"]


def test_r073_failed_pass_leaves_the_module_unchanged() -> None:
    """Its edits are discarded, and the rest of a Sequential doesn't run."""
    events: list[str] = []

    @module_pass(opt_level=0)
    def edits_and_raises(mod: Module, ctx: PassContext) -> Module:
        main = mod["main"]
        main.create_op("onnx.Abs", [main.params[0]])
        main.set_function_attr("touched", 1)
        mod.remove("other")
        mod.create("new")
        raise Custom(1)

    mod = two_functions()
    before = str(mod)
    main = mod["main"]
    with pytest.raises(Custom):
        Sequential([edits_and_raises, recorder(events, "Next")])(mod)
    assert str(mod) == before
    assert mod["main"] is main
    assert events == []
    assert [op.name for op in main.ops] == ["onnx.Relu"]


def test_caught_exception_does_not_propagate() -> None:
    """A pass that catches the exception of a nested pass continues, and its own exception is the one that is raised."""

    @module_pass(opt_level=0)
    def continues(mod: Module, ctx: PassContext) -> Module:
        with pytest.raises(Custom):
            raiser(Custom(1))(mod)
        return mod

    @module_pass(opt_level=0)
    def raises_another(mod: Module, ctx: PassContext) -> Module:
        try:
            return raiser(Custom(1))(mod)
        except Custom as error:
            raise LookupError("another") from error

    mod = one_function()
    assert continues(mod) is mod
    with pytest.raises(LookupError, match="another") as raised:
        raises_another(mod)
    assert isinstance(raised.value.__cause__, Custom)


def test_exceptions_with_equal_messages_are_distinguished() -> None:
    """Errors with equal messages are different objects."""
    first, second = Custom(1), Custom(1)

    @module_pass(opt_level=0)
    def swallows(mod: Module, ctx: PassContext) -> Module:
        try:
            raiser(first)(mod)
        except Custom:
            pass
        raise second

    with pytest.raises(Custom) as raised:
        swallows(one_function())
    assert raised.value is second


KEPT: list[Any] = []


def handles_kept() -> dict[str, Callable[[], object]]:
    """Returns the uses of handles that raise after their pass."""

    def keep(mod: Module, ctx: PassContext) -> Module:
        func = mod["main"]
        op = func.ops[0]
        KEPT[:] = [mod, func, op, op.result, op.parent_region, ctx, func.params[0].type]
        return mod

    module_pass(keep, opt_level=0)(one_function())
    mod, func, op, value, region, ctx, ty = KEPT
    return {
        "the text of a module": lambda: str(mod),
        "a function of a module": lambda: mod["other"],
        "the names of a module": lambda: list(mod),
        "a module for a pass": lambda: get_pass("FoldConstant")(mod),
        "the bytes of a module": lambda: mod.to_onnx(),
        "the ops of a function": lambda: func.ops,
        "the text of a function": lambda: str(func),
        "an edit": lambda: func.erase_op(op),
        "a constant": lambda: func.add_constant(1.0),
        "the name of an op": lambda: op.name,
        "the operands of an op": lambda: op.operands,
        "whether an op is live": lambda: op.is_live,
        "the type of a value": lambda: value.type,
        "the users of a value": lambda: value.users,
        "the ops of a region": lambda: region.ops,
        "the text of a type": lambda: str(ty),
        "an inference": lambda: ctx.infer(op),
        "a diagnostic": lambda: ctx.emit(passdock.diagnostics.Diagnostic(30, None, "late")),
        "a rewrite": lambda: ctx.may_rewrite("rule"),
    }


@pytest.mark.parametrize("what", handles_kept())
def test_handles_used_after_the_pass_raise(what: str) -> None:
    with pytest.raises(RuntimeError, match=r"the pass of the (module|function|context) has ended"):
        handles_kept()[what]()


def test_handles_kept_after_the_pass_have_a_repr() -> None:
    """In a debugger, or in the message of a test."""
    handles_kept()
    _mod, _func, op, value, region, ctx, ty = KEPT
    assert repr(op) == "<passdock.Op (no longer valid)>"
    assert repr(value) == "<passdock.Value (no longer valid)>"
    assert repr(region) == "<passdock.Region (no longer valid)>"
    assert repr(ty) == "<passdock.Type (no longer valid)>"
    assert repr(ctx) == "<passdock.PassContext opt_level=2>"
    assert len({op, value, region}) == 3


def test_erased_ops_raise_stale_error() -> None:
    def erases(func: Any, ctx: Any) -> Any:
        op = func.ops[0]
        result = op.result
        func.replace_op_with(op, [func.params[0]])
        assert not op.is_live
        assert not result.is_live
        asks: list[Callable[[], object]] = [lambda: op.name, lambda: result.type, lambda: func.erase_op(op)]
        for ask in asks:
            with pytest.raises(StaleError, match="was erased"):
                ask()
        return func

    on_functions("Erases", erases)(one_function())


def test_host_errors_have_fields() -> None:
    with pytest.raises(passdock.UnknownNameError) as raised:
        get_pass("Nothing")
    error = raised.value
    assert (error.code, error.exit_status, error.pass_name, error.function) == ("unknown-pass", 2, None, None)
    assert error.rendered.startswith("error[unknown-pass]: no pass is named `Nothing`")
    with pytest.raises(passdock.ModelError, match=r"broken\.ir:1") as read:
        Module.from_text("module { fn", "broken.ir")
    assert isinstance(read.value, ValueError)
    assert read.value.location is not None and read.value.location.startswith("broken.ir:1")


def test_errors_can_be_pickled() -> None:
    """For use in multiprocessing."""
    with pytest.raises(PassError) as raised:
        get_pass("Nothing")
    created = pickle.loads(pickle.dumps(raised.value))
    assert type(created) is type(raised.value)
    assert created.args == raised.value.args
    assert (created.code, created.rendered) == (raised.value.code, raised.value.rendered)

    def erases(func: Any, ctx: Any) -> Any:
        func.set_operand(func.ops[0], 0, func.ops[0].result)
        return func

    with pytest.raises(EditError) as edit:
        on_functions("Erases", erases)(one_function())
    assert edit.value.op is not None
    assert pickle.loads(pickle.dumps(edit.value)).args == edit.value.args


def test_ctrl_c_stops_at_the_next_pass() -> None:
    """In a separate process, since it is sent a signal."""
    program = textwrap.dedent("""
        import os, signal
        import passdock
        from passdock import Module, Sequential, module_pass, get_pass

        # A shell may start the tests with the signal ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        class Sends(passdock.PassInstrument):
            def run_after_pass(self, mod, info):
                os.kill(os.getpid(), signal.SIGINT)

        ran = []

        @module_pass(opt_level=0)
        def after(mod, ctx):
            ran.append(1)
            return mod

        mod = Module.from_text("module { fn @f(%x: f32[2]) -> (%y: f32[2]) { %y = onnx.Relu(%x) : f32[2] return %y } }")
        try:
            with passdock.PassContext(instruments=[Sends()]):
                Sequential([get_pass("FoldConstant"), get_pass("InferType"), after])(mod)
        except KeyboardInterrupt:
            print("stopped", len(ran))
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "stopped 0\n", done.stderr
