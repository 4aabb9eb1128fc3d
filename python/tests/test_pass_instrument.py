"""Instruments: the cases of TVM's ``test_pass_instrument.py``, and further ones."""

from __future__ import annotations

from typing import Any

import pytest

import passdock
from passdock import (
    Module,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    get_pass,
    module_pass,
    pass_instrument,
)
from passdock.instrument import (
    PassTimingInstrument,
)
from support import Watch, model, one_function, raiser, recorder, run_three


def test_pass_timing_instrument() -> None:
    """TVM's case of this name (rules 122, 123, 130): the instrument observes the thread's own context until None
    replaces it.
    """
    timing = PassTimingInstrument()
    PassContext.current().override_instruments([timing])
    run_three(model())
    profiles = timing.render()
    assert all(name in profiles for name in ("CanonicalizeBindings", "ToANormalForm", "InferType"))

    PassContext.current().override_instruments(None)
    run_three(model())
    with pytest.warns(UserWarning, match="no pass was timed"):
        assert timing.render() == ""


class BaseTest:
    """An instrument without the base class."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def enter_pass_ctx(self) -> None:
        self.events.append("enter ctx")

    def exit_pass_ctx(self) -> None:
        self.events.append("exit ctx")

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        self.events.append("run before " + info.name)

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        self.events.append("run after " + info.name)


class BySubclass(BaseTest, PassInstrument):
    pass


@pytest.mark.parametrize("kind", [pass_instrument(BaseTest), pass_instrument()(BaseTest), BySubclass])
def test_custom_instrument(kind: Any) -> None:
    """TVM's case of this name, for a decorated class and a subclass."""
    mine = kind()
    with PassContext(instruments=[mine]):
        get_pass("InferType")(model())
    name = "relax.transform.InferType"
    assert mine.events == ["enter ctx", f"run before {name}", f"run after {name}", "exit ctx"]


def test_disable_pass() -> None:
    """TVM's case of this name: an instrument vetoes passes."""

    @pass_instrument
    class CustomPI:
        def __init__(self) -> None:
            self.events: list[str] = []

        def should_run(self, mod: Module, info: PassInfo) -> bool:
            return "InferType" in info.name

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            self.events.append(info.name)

    custom = CustomPI()
    with PassContext(instruments=[custom]):
        run_three(model())
    assert custom.events == ["relax.transform.InferType"]


def test_multiple_instrument() -> None:
    """TVM's case of this name (rule 100): each instrument may veto passes; all are called."""
    asked: list[str] = []

    @pass_instrument
    class SkipPass:
        def __init__(self, skip: str) -> None:
            self.skip = skip

        def should_run(self, mod: Module, info: PassInfo) -> bool:
            asked.append(self.skip)
            return self.skip not in info.name

    @pass_instrument
    class PrintPassName:
        def __init__(self) -> None:
            self.events: list[str] = []

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            self.events.append(info.name)

    names = PrintPassName()
    with PassContext(instruments=[SkipPass("CanonicalizeBindings"), SkipPass("ToANormalForm"), names]):
        mod = model()
        run_three(mod)
        assert get_pass("ToANormalForm")(mod) is mod
    assert names.events == ["relax.transform.InferType"]
    assert asked == ["CanonicalizeBindings", "ToANormalForm"] * 4


def test_instrument_pass_counts() -> None:
    """TVM's case of this name: the numbers of started and finished passes are equal."""

    @pass_instrument
    class PassesCounter:
        def __init__(self) -> None:
            self.__clear()

        def __clear(self) -> None:
            self.before = 0
            self.after = 0

        def enter_pass_ctx(self) -> None:
            self.__clear()

        def exit_pass_ctx(self) -> None:
            self.__clear()

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            self.before += 1

        def run_after_pass(self, mod: Module, info: PassInfo) -> None:
            self.after += 1

    counter = PassesCounter()
    with PassContext(instruments=[counter]):
        Sequential([get_pass("SimplifyExpr"), get_pass("FoldScaleAxis")])(model())
        assert counter.after == counter.before > 3
    assert (counter.before, counter.after) == (0, 0)


def test_list_pass_configs() -> None:
    """TVM's case of this name (rule 42)."""
    configs = PassContext.list_configs()
    assert configs["testing.immutable_module"]["type"] == "bool"
    assert configs == passdock.list_configs()


def labeled(events: list[str], broken: str = "", hook: str = "") -> list[Watch]:
    """Returns three instruments, one of which fails in a callback."""
    error = RuntimeError("Just a dummy error")
    return [Watch(events, name, {hook: error} if name == broken else None) for name in ("%1", "%2", "%3")]


def test_enter_pass_ctx_exception() -> None:
    """TVM's case of this name (rule 111)."""
    events: list[str] = []
    ctx = PassContext(instruments=labeled(events, "%2", "enter"))
    with pytest.raises(RuntimeError, match="Just a dummy error"), ctx:
        raise AssertionError("the context isn't entered")
    assert events == ["%1 enter", "%2 enter", "%1 exit"]
    assert PassContext.current() != ctx
    assert not PassContext.current().instruments
    assert ctx.instruments == ()


def test_enter_pass_ctx_exception_global() -> None:
    """TVM's case of this name (rule 125)."""
    events: list[str] = []
    current = PassContext.current()
    with pytest.raises(RuntimeError, match="Just a dummy error"):
        current.override_instruments(labeled(events, "%2", "enter"))
    assert not current.instruments
    assert events == ["%1 enter", "%2 enter", "%1 exit"]


def test_exit_pass_ctx_exception() -> None:
    """TVM's case of this name (rule 113)."""
    events: list[str] = []
    ctx = PassContext(instruments=labeled(events, "%2", "exit"))
    with pytest.raises(RuntimeError, match="Just a dummy error"), ctx:
        events.clear()
    assert events == ["%1 exit", "%2 exit"]
    assert PassContext.current() != ctx
    assert not PassContext.current().instruments
    assert ctx.instruments == ()


def test_exit_pass_ctx_exception_global() -> None:
    """TVM's case of this name (rule 124)."""
    events: list[str] = []
    current = PassContext.current()
    current.override_instruments(labeled(events, "%2", "exit"))
    events.clear()
    with pytest.raises(RuntimeError, match="Just a dummy error"):
        current.override_instruments(labeled(events))
    assert not current.instruments
    assert events == ["%1 exit", "%2 exit"]


def test_pass_exception() -> None:
    """TVM's case of this name (rule 107): ``pass_failed`` is called instead of ``run_after_pass``."""
    events: list[str] = []
    with pytest.raises(RuntimeError, match="Just a dummy error"), PassContext(instruments=[Watch(events)]):
        raiser(RuntimeError("Just a dummy error"), "transform")(model())
    assert events == ["enter", "should_run transform", "before transform", "failed transform", "exit"]


def test_should_run_exception() -> None:
    """TVM's case of this name (rule 108)."""
    events: list[str] = []
    with (
        pytest.raises(RuntimeError, match="Just a dummy error"),
        PassContext(instruments=labeled(events, "%2", "should_run")),
    ):
        events.clear()
        recorder(events, "transform")(model())
    assert events == ["%1 should_run transform", "%2 should_run transform", "%1 exit", "%2 exit", "%3 exit"]


def test_run_before_exception() -> None:
    """TVM's case of this name (rule 108): ``pass_failed`` of the instruments whose ``run_before_pass`` was called is
    called.
    """
    events: list[str] = []
    with (
        pytest.raises(RuntimeError, match="Just a dummy error"),
        PassContext(instruments=labeled(events, "%2", "before")),
    ):
        recorder(events, "transform")(model())
    assert [event for event in events if "should_run" not in event and "enter" not in event] == [
        "%1 before transform",
        "%2 before transform",
        "%1 failed transform",
        "%1 exit",
        "%2 exit",
        "%3 exit",
    ]


def test_run_after_exception() -> None:
    """TVM's case of this name (rule 109)."""
    events: list[str] = []
    with (
        pytest.raises(RuntimeError, match="Just a dummy error"),
        PassContext(instruments=labeled(events, "%2", "after")),
    ):
        recorder(events, "transform")(model())
    after = events[events.index("transform") :]
    assert after[:3] == ["transform", "%1 after transform", "%2 after transform"]
    assert "%3 after transform" not in after
    assert after[-3:] == ["%1 exit", "%2 exit", "%3 exit"]


def test_instrument_call_sequence() -> None:
    """TVM's case of this name (rules 97, 98): in the order of the list, even when the context is left."""
    events: list[str] = []
    with PassContext(instruments=[Watch(events, "%1"), Watch(events, "%2")]):
        recorder(events, "transform1")(model())
        recorder(events, "transform2")(model())
    each = ["%1 should_run", "%2 should_run", "%1 before", "%2 before", "", "%1 after", "%2 after"]
    expected = ["%1 enter", "%2 enter"]
    for name in ("transform1", "transform2"):
        expected += [f"{hook} {name}".strip() for hook in each]
    assert events == [*expected, "%1 exit", "%2 exit"]


def test_r099_callbacks_get_module_before_and_after() -> None:
    seen: list[int] = []

    @pass_instrument
    class Counts:
        def should_run(self, mod: Module, info: PassInfo) -> bool:
            seen.append(mod.op_count)
            return True

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            seen.append(mod.op_count)

        def run_after_pass(self, mod: Module, info: PassInfo) -> None:
            seen.append(mod.op_count)

    @module_pass(opt_level=0)
    def one_more(mod: Module, ctx: PassContext) -> Module:
        mod["main"].create_op("onnx.Relu", [mod["main"].params[0]])
        return mod

    with PassContext(instruments=[Counts()]):
        one_more(one_function())
    assert seen == [1, 1, 2]


def test_r101_required_passes_are_not_vetoed() -> None:
    events: list[str] = []

    @pass_instrument
    class Never:
        def should_run(self, mod: Module, info: PassInfo) -> bool:
            events.append(f"asked {info.name}")
            return False

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            events.append(f"before {info.name}")

    with PassContext(instruments=[Never()], required_pass=["A"]):
        recorder(events, "A")(model())
        recorder(events, "B")(model())
    assert events == ["before A", "A", "asked B"]


def test_r103_nested_passes_are_instrumented() -> None:
    events: list[str] = []
    inner = recorder(events, "Inner")

    @module_pass(opt_level=0, name="Outer")
    def outer(mod: Module, ctx: PassContext) -> Module:
        return inner(mod)

    with PassContext(instruments=[Watch(events)]):
        outer(model())
    assert [event for event in events if "should_run" not in event][1:-1] == [
        "before Outer",
        "before Inner",
        "Inner",
        "after Inner",
        "after Outer",
    ]


def test_r104_callbacks_are_optional() -> None:
    @pass_instrument
    class Nothing:
        pass

    mod = model()
    with PassContext(instruments=[Nothing(), PassInstrument()]):
        assert recorder([], "A")(mod) is mod


@pytest.mark.parametrize(("value", "runs"), [(True, True), (False, False), (1, True), (0, False)])
def test_r105_should_run_must_return_a_bool(value: Any, runs: bool) -> None:
    """0 and 1 are accepted as bools; anything else is a TypeError that names the instrument."""
    events: list[str] = []

    @pass_instrument
    class Filter:
        def __init__(self, value: Any) -> None:
            self.value = value

        def should_run(self, mod: Module, info: PassInfo) -> Any:
            return self.value

    with PassContext(instruments=[Filter(value)]):
        recorder(events, "A")(model())
    assert events == (["A"] if runs else [])

    for wrong, kind in ((None, "NoneType"), ("yes", "str"), (2, "int"), (1.0, "float"), ([], "list")):
        message = f"should_run of instrument `Filter` must return a bool, not .*{kind}"
        with PassContext(instruments=[Filter(wrong)]), pytest.raises(TypeError, match=message):
            recorder(events, "A")(model())


def test_r105_should_run_accepts_numpy_bool() -> None:
    import numpy as np

    @pass_instrument
    class Filter:
        def should_run(self, mod: Module, info: PassInfo) -> Any:
            return np.bool_(False)

    events: list[str] = []
    with PassContext(instruments=[Filter()]):
        recorder(events, "A")(model())
    assert events == []


def test_r106_instrument_listed_twice_is_called_twice() -> None:
    events: list[str] = []
    watch = Watch(events)
    with PassContext(instruments=[watch, watch]) as ctx:
        assert ctx.instruments == (watch, watch)
    assert events == ["enter", "enter", "exit", "exit"]


def test_r107_pass_failed_gets_the_exception_object() -> None:
    seen: list[BaseException] = []

    @pass_instrument
    class Records:
        def pass_failed(self, mod: Module, info: PassInfo, error: BaseException) -> None:
            seen.append(error)
            # Passes that an instrument runs don't replace the propagating error.
            recorder([], "Inside")(mod)

    error = LookupError("gone")
    with PassContext(instruments=[Records()]), pytest.raises(LookupError) as raised:
        Sequential([raiser(error)])(model())
    assert raised.value is error
    assert seen == [error, error]


def test_r110_context_is_reusable_after_failure() -> None:
    events: list[str] = []
    watch = Watch(events, fails={"before": ValueError("no")})
    with PassContext(instruments=[watch]) as ctx:
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                recorder(events, "A")(model())
        assert ctx.instruments == (watch,)
        watch.fails.clear()
        events.clear()
        recorder(events, "A")(model())
    assert events == ["should_run A", "before A", "A", "after A", "exit"]


def test_r118_instruments_get_a_read_only_module() -> None:
    @pass_instrument
    class Edits:
        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            mod["main"].erase_op(mod["main"].ops[0])

    with PassContext(instruments=[Edits()]), pytest.raises(ValueError, match="is read-only"):
        recorder([], "A")(model())


def test_r119_passes_run_by_an_instrument_are_not_instrumented() -> None:
    events: list[str] = []

    @pass_instrument
    class Runs:
        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            events.append(f"before {info.name}")
            recorder(events, "Inner")(mod)

    with PassContext(instruments=[Runs()]):
        recorder(events, "Outer")(model())
    assert events == ["before Outer", "Inner", "Outer"]


def test_r168_decorator_creates_instrument_classes() -> None:
    """KEEP. `@pass_instrument` works with and without parentheses, and only on classes; a subclass is an
    instrument, too.
    """

    @pass_instrument
    class Plain:
        """What it does."""

    assert issubclass(Plain, PassInstrument)
    assert (Plain.__name__, Plain.__doc__, Plain.__module__) == ("Plain", "What it does.", __name__)
    assert Plain().name == "Plain"  # type: ignore[attr-defined]
    assert Watch([]).name == "watch"
    assert isinstance(pass_instrument()(BaseTest)(), BaseTest)
    with pytest.raises(TypeError, match="pi_cls must be a class"):
        pass_instrument(5)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"int is not an instrument; decorate its class with @pass_instrument"):
        PassContext(instruments=[5])
    with pytest.raises(TypeError, match="expected a list of instruments"):
        PassContext(instruments=5)  # type: ignore[arg-type]


def test_r169_misspelled_callbacks_are_rejected() -> None:
    """FIX. A callback with a similar but wrong name, or with other parameters, is rejected when the class is made.

    TVM: the former is never called, the latter fails when it is called.
    """
    with pytest.raises(TypeError, match=r"Misspelled\.run_befor_pass is never called; did you mean run_before_pass\?"):

        @pass_instrument
        class Misspelled:
            def run_befor_pass(self, mod: Module, info: PassInfo) -> None:
                pass

    with pytest.raises(TypeError, match=r"Wrong\.should_run must accept \(self, mod, info\)"):

        class Wrong(PassInstrument):
            def should_run(self, mod: Module) -> bool:  # type: ignore[override]
                return True


def test_r170_attributes_and_methods_remain_usable() -> None:
    """KEEP. An instrument's own attributes and methods remain usable, in its context and afterwards."""

    @pass_instrument
    class Collects:
        def __init__(self, limit: int) -> None:
            self.limit = limit
            self.name = "mine"
            self.names: list[str] = []

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            self.names.append(info.name)

        def get_result(self) -> list[str]:
            return self.names[: self.limit]

        def run_stats(self) -> int:
            return len(self.names)

    mine = Collects(2)
    with PassContext(instruments=[mine]) as ctx:
        assert ctx.instruments[0] is mine
        for name in "ABC":
            recorder([], name)(model())
    assert mine.get_result() == ["A", "B"]
    assert mine.run_stats() == 3
    assert mine.name == "mine"


def test_instruments_can_be_called_manually() -> None:
    """TVM's ``InstrumentEnterPassContext`` and similar functions, for programs that run code as a pass."""
    events: list[str] = []
    info = passdock.PassInfo(0, "by_hand")
    first, second = Watch(events, "a"), Watch(events, "b")
    ctx = PassContext(instruments=[first, second], required_pass=["FoldConstant"])
    mod = one_function()
    ctx.instrument_enter_pass_ctx()
    assert PassContext.current() is not ctx
    assert ctx.instrument_before_pass(mod, info) is True
    ctx.instrument_after_pass(mod, info)
    ctx.instrument_exit_pass_ctx()
    assert events == [
        *("a enter", "b enter", "a should_run by_hand", "b should_run by_hand", "a before by_hand", "b before by_hand"),
        *("a after by_hand", "b after by_hand", "a exit", "b exit"),
    ]


def test_manually_called_instruments_may_veto() -> None:
    events: list[str] = []

    class Vetoes(Watch):
        def should_run(self, mod: Module, info: passdock.PassInfo) -> bool:
            super().should_run(mod, info)
            return False

    vetoes = Vetoes(events, "no")
    ctx = PassContext(instruments=[vetoes, Watch(events, "b")], required_pass=["required"])
    mod = one_function()
    assert ctx.instrument_before_pass(mod, passdock.PassInfo(0, "any")) is False
    assert events == ["no should_run any", "b should_run any"]
    events.clear()
    # A pass that the context requires can't be vetoed.
    assert ctx.instrument_before_pass(mod, passdock.PassInfo(0, "required")) is True
    assert events == ["no before required", "b before required"]


@pytest.mark.parametrize("hook", ["enter", "exit"])
def test_failure_in_manual_enter_or_exit(hook: str, capfd: pytest.CaptureFixture[str]) -> None:
    """As for ``with`` (rules 111 and 113): entered instruments are exited, and the context has none afterwards."""
    events: list[str] = []
    fails = Watch(events, "b", fails={hook: ValueError("no")})
    ctx = PassContext(instruments=[Watch(events, "a"), fails, Watch(events, "c")])
    call = ctx.instrument_enter_pass_ctx if hook == "enter" else ctx.instrument_exit_pass_ctx
    with pytest.raises(ValueError, match="no"):
        call()
    assert events == (["a enter", "b enter", "a exit"] if hook == "enter" else ["a exit", "b exit"])
    assert ctx.instruments == ()
    assert "without instruments" in capfd.readouterr().err


def test_failure_in_manual_before_or_after() -> None:
    events: list[str] = []
    error = ValueError("no")
    for hook in ("should_run", "before", "after"):
        ctx = PassContext(instruments=[Watch(events, "a", fails={hook: error})])
        info, mod = passdock.PassInfo(0, "p"), one_function()
        call = ctx.instrument_after_pass if hook == "after" else ctx.instrument_before_pass
        with pytest.raises(ValueError) as raised:
            call(mod, info)
        assert raised.value is error
        assert len(ctx.instruments) == 1


def test_passes_run_by_a_manual_callback_are_not_instrumented() -> None:
    events: list[str] = []

    class Runs(Watch):
        def run_before_pass(self, mod: Module, info: passdock.PassInfo) -> None:
            super().run_before_pass(mod, info)
            recorder(events, "inner")(mod)

    with PassContext(instruments=[Runs(events)]) as ctx:
        assert ctx.instrument_before_pass(one_function(), passdock.PassInfo(0, "outer"))
    assert events == ["enter", "should_run outer", "before outer", "inner", "exit"]
