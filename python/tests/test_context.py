"""``PassContext``: its settings, and entering and leaving in any order."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import passdock
from passdock import ContextError, Module, PassContext, Sequential, module_pass
from passdock.instrument import PassTimingInstrument
from passdock.transform import build_config
from support import Watch, one_function, raiser, recorder


def test_r016_defaults() -> None:
    ctx = PassContext()
    assert ctx.opt_level == 2
    assert ctx.required_pass == ctx.disabled_pass == ctx.instruments == ()
    assert ctx.config == {}
    assert ctx.diag_ctx is None


def test_r017_and_018_current_context() -> None:
    default = PassContext.current()
    assert PassContext.current() == default
    with PassContext() as outer:
        assert PassContext.current() is outer
        with PassContext() as inner:
            assert PassContext.current() is inner
            assert inner != outer
        assert PassContext.current() is outer
    assert PassContext.current() == default
    assert hash(PassContext.current()) == hash(default)


def test_r020_and_045_nested_context_inherits_nothing() -> None:
    with PassContext(opt_level=3, disabled_pass=["FoldConstant"], config={"testing.immutable_module": True}):
        with PassContext() as inner:
            assert inner.opt_level == 2
            assert inner.disabled_pass == ()
            assert inner.get_config("testing.immutable_module") is False


def test_r021_with_returns_the_context_and_propagates_errors() -> None:
    ctx = PassContext()
    error = RuntimeError("out")
    with pytest.raises(RuntimeError) as raised, ctx as entered:
        assert entered is ctx
        raise error
    assert raised.value is error


def test_r022_leaving_an_outer_context_is_an_error() -> None:
    outer, inner = PassContext(opt_level=1), PassContext(opt_level=3)
    with pytest.raises(ContextError, match="is not entered on this thread"):
        outer.__exit__(None, None, None)
    with outer:
        with inner:
            with pytest.raises(ContextError, match="opt_level 3"):
                outer.__exit__(None, None, None)
            assert PassContext.current() is inner
        assert PassContext.current() is outer


def test_r023_context_can_be_entered_again() -> None:
    events: list[str] = []
    ctx = PassContext(instruments=[Watch(events)])
    with ctx, ctx, PassContext(), ctx:
        assert PassContext.current() is ctx
    assert events == ["enter"] * 3 + ["exit"] * 3


def test_r024_callbacks_see_the_outer_context() -> None:
    seen: list[PassContext] = []

    class Looks(passdock.PassInstrument):
        def enter_pass_ctx(self) -> None:
            seen.append(PassContext.current())

        def exit_pass_ctx(self) -> None:
            seen.append(PassContext.current())

    with PassContext() as outer:
        with PassContext(instruments=[Looks()]):
            pass
        assert seen == [outer, outer]


def test_r025_pass_keeps_the_context_of_its_call() -> None:
    @module_pass(opt_level=0)
    def opens(mod: passdock.Module, ctx: PassContext) -> passdock.Module:
        with PassContext(opt_level=0):
            assert ctx.opt_level == 3
            assert PassContext.current().opt_level == 0
        assert PassContext.current() == ctx
        return mod

    with PassContext(opt_level=3):
        opens(one_function())


def test_context_entered_by_a_pass_stays_entered() -> None:
    """The context stays entered, and isn't mistaken for the surrounding one."""
    kept = PassContext(opt_level=1)

    @module_pass(opt_level=0)
    def enters(mod: passdock.Module, ctx: PassContext) -> passdock.Module:
        kept.__enter__()
        return mod

    with PassContext(opt_level=0) as outer:
        enters(one_function())
        assert PassContext.current() is kept
        kept.__exit__(None, None, None)
        assert PassContext.current() is outer


def test_pass_cannot_leave_the_context_it_runs_in() -> None:
    events: list[str] = []

    @module_pass(opt_level=0)
    def leaves(mod: passdock.Module, ctx: PassContext) -> passdock.Module:
        outer.__exit__(None, None, None)
        return mod

    with PassContext(opt_level=3, instruments=[Watch(events)]) as outer:
        with pytest.raises(ContextError, match="opt_level 3: a pass runs in it"):
            leaves(one_function())
        assert PassContext.current() is outer
        assert "exit" not in events
    assert events[-1] == "exit"


@pytest.mark.parametrize("field", ["opt_level", "required_pass", "disabled_pass", "instruments", "config", "diag_ctx"])
def test_r026_fields_are_read_only(field: str) -> None:
    ctx = PassContext()
    with pytest.raises(AttributeError):
        setattr(ctx, field, None)
    ctx.config["testing.immutable_module"] = True
    assert ctx.config == {}


@pytest.mark.parametrize("names", [["A", "B"], ("A", "B"), {"A": 1, "B": 2}.keys(), None])
def test_r027_names_accept_any_collection(names: Any) -> None:
    ctx = PassContext(required_pass=names, disabled_pass=names)
    assert ctx.required_pass == ctx.disabled_pass == (("A", "B") if names else ())
    assert PassContext(required_pass={"A"}).required_pass == ("A",)
    assert PassContext(disabled_pass=frozenset({"A"})).disabled_pass == ("A",)


@pytest.mark.parametrize("argument", ["required_pass", "disabled_pass"])
def test_r028_string_is_rejected_as_list_of_names(argument: str) -> None:
    message = rf"{argument}: expected a list of names, got a string; did you mean \['FoldConstant'\]\?"
    with pytest.raises(TypeError, match=message):
        PassContext(**{argument: "FoldConstant"})  # type: ignore[arg-type]


def test_r029_misspelled_name_raises_on_exit() -> None:
    with pytest.raises(passdock.PassError, match=r"FoldConstnt.*FoldConstant"):
        with PassContext(disabled_pass=["FoldConstnt"]):
            Sequential([recorder([], "A")])(one_function())
    # An exception in the body is raised instead.
    with pytest.raises(ZeroDivisionError), PassContext(disabled_pass=["FoldConstnt"]):
        raise ZeroDivisionError
    # A pass that ran without being registered is a known name.
    with PassContext(disabled_pass=["A"], required_pass=["FoldConstant"]):
        Sequential([recorder([], "A")])(one_function())


@pytest.mark.parametrize("level", [True, "3", 2.0, [2]])
def test_r030_level_must_be_an_int(level: Any) -> None:
    with pytest.raises(TypeError, match="opt_level must be an int, not"):
        PassContext(opt_level=level)
    with pytest.raises(ValueError, match="opt_level must be at least 0, not -1"):
        PassContext(opt_level=-1)


def test_r030_unknown_fields_are_rejected() -> None:
    with pytest.raises(TypeError, match="required_pass: expected a list of names, got int"):
        PassContext(required_pass=[1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="level"):
        PassContext(level=3)  # type: ignore[call-arg]


def test_r031_name_in_both_lists_is_disabled() -> None:
    events: list[str] = []
    with PassContext(required_pass=["A"], disabled_pass=["A"]):
        Sequential([recorder(events, "A")])(one_function())
    assert events == []


def test_r032_build_config() -> None:
    """KEEP. `build_config` creates a `PassContext` with the argument names of TVM's first documents."""
    ctx = build_config(opt_level=3, required_pass=["A"], disabled_pass={"B"})
    assert isinstance(ctx, PassContext)
    assert (ctx.opt_level, ctx.required_pass, ctx.disabled_pass, ctx.instruments) == (3, ("A",), ("B",), ())
    assert build_config(fallback_device=1).config == {"relax.fallback_device_type": 1}
    assert build_config().opt_level == 2


def test_r018_current_context_is_one_object() -> None:
    own = PassContext.current()
    assert PassContext.current() is own and PassContext().current() is own
    inside: list[PassContext] = []

    @module_pass(opt_level=0)
    def look(mod: Module, ctx: PassContext) -> Module:
        current = PassContext.current()
        assert PassContext.current() is current and current == ctx
        inside.append(current)
        return mod

    look(one_function())
    with PassContext() as ctx:
        assert PassContext.current() is ctx
        look(one_function())
    assert PassContext.current() is own
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(PassContext.current).result()
        assert other is threads.submit(PassContext.current).result()
    assert other is not own and inside[0] is not inside[1]
    assert inside[0] == own and inside[1] == ctx


def test_r112_first_enter_error_propagates() -> None:
    """The error of an exit during the rollback becomes a note."""
    events: list[str] = []
    watches = [
        Watch(events, "1", {"exit": KeyError("exit")}),
        Watch(events, "2"),
        Watch(events, "3", {"enter": ValueError("enter")}),
    ]
    with pytest.raises(ValueError, match="enter") as raised, PassContext(instruments=watches):
        pass
    assert events == ["1 enter", "2 enter", "3 enter", "2 exit", "1 exit"]
    assert any("KeyError" in note for note in raised.value.__notes__)


def test_r114_context_continues_without_instruments(capfd: pytest.CaptureFixture[str]) -> None:
    events: list[str] = []
    ctx = PassContext(instruments=[Watch(events, "1", {"exit": ValueError("exit")})])
    with pytest.raises(ValueError, match="exit"), ctx:
        pass
    events.clear()
    with ctx:
        recorder(events, "A")(one_function())
    assert events == ["A"]
    assert "without instruments" in capfd.readouterr().err


def test_r115_pass_error_takes_precedence_over_exit_error() -> None:
    """The error of an exit becomes a note."""
    events: list[str] = []
    error = ValueError("pass")
    with pytest.raises(ValueError, match="pass") as raised:
        with PassContext(instruments=[Watch(events, "1", {"exit": KeyError("exit")})]):
            raiser(error)(one_function())
    assert raised.value is error
    assert raised.value.__notes__[0].startswith("Error in pass Raises")
    assert raised.value.__notes__[-1] == "could not leave the pass context: KeyError: 'exit'"


def test_r116_error_of_the_body_runs_exit_callbacks() -> None:
    events: list[str] = []
    with pytest.raises(KeyboardInterrupt), PassContext(instruments=[Watch(events, "1"), Watch(events, "2")]):
        raise KeyboardInterrupt
    assert events == ["1 enter", "2 enter", "1 exit", "2 exit"]


def test_r121_to_123_instruments_are_overridden() -> None:
    events: list[str] = []
    with PassContext(instruments=[Watch(events, "old")]) as ctx:
        ctx.override_instruments([Watch(events, "new")])
        ctx.override_instruments(None)
        assert ctx.instruments == ()
        ctx.override_instruments([])
    assert events == ["old enter", "old exit", "new enter", "new exit"]
    PassContext.current().override_instruments([Watch(events, "default")])
    recorder(events, "A")(one_function())
    assert events[4:] == ["default enter", "default should_run A", "default before A", "A", "default after A"]


def test_r126_unentered_instruments_are_not_exited() -> None:
    events: list[str] = []
    ctx = PassContext(instruments=[Watch(events, "old")])
    ctx.override_instruments([Watch(events, "new")])
    assert events == []
    with ctx:
        pass
    assert events == ["new enter", "new exit"]


def test_r127_running_pass_keeps_its_instruments() -> None:
    events: list[str] = []

    @module_pass(opt_level=0, name="Overrides")
    def overrides(mod: passdock.Module, ctx: PassContext) -> passdock.Module:
        PassContext.current().override_instruments([Watch(events, "new")])
        return mod

    with PassContext(instruments=[Watch(events, "old")]):
        overrides(one_function())
        recorder(events, "Next")(one_function())
    assert [event for event in events if "should_run" not in event] == [
        "old enter",
        "old before Overrides",
        "old exit",
        "new enter",
        "old after Overrides",
        "new before Next",
        "Next",
        "new after Next",
        "new exit",
    ]


def test_r128_override_inside_a_callback_is_rejected() -> None:
    class Overrides(passdock.PassInstrument):
        def exit_pass_ctx(self) -> None:
            ctx.override_instruments(None)

    ctx = PassContext(instruments=[Overrides()])
    with pytest.raises(passdock.PassError, match="callback"), ctx:
        pass


def test_r159_printed_context() -> None:
    ctx = PassContext(
        opt_level=3,
        required_pass=["A"],
        disabled_pass=["B", "C"],
        instruments=[Watch([], "watch"), PassTimingInstrument()],
        config={"testing.immutable_module": True},
    )
    assert str(ctx) == (
        "Pass context information:\n"
        "\topt_level: 3\n"
        "\trequired passes: [A]\n"
        "\tdisabled passes: [B, C]\n"
        "\tinstruments: [watch, timing]\n"
        "\tconfig: {testing.immutable_module: true}"
    )
    assert repr(ctx) == "<passdock.PassContext opt_level=3>"


def test_r172_context_manager_protocol_matches_tvm() -> None:
    """KEEP. `__enter__` and `__exit__`, `current`, `override_instruments` and `list_configs` are those of TVM."""
    ctx = PassContext()
    assert ctx.__enter__() is ctx
    assert PassContext.current() is ctx
    assert ctx.__exit__(None, None, None) is False
    assert PassContext.current() != ctx
    assert PassContext.list_configs().keys() == passdock.list_configs().keys()


def test_contexts_can_be_copied_and_pickled() -> None:
    ctx = PassContext(opt_level=3, required_pass=["A"], config={"testing.immutable_module": True})
    for created in (pickle.loads(pickle.dumps(ctx)), copy.copy(ctx), copy.deepcopy(ctx)):
        assert created != ctx
        assert str(created) == str(ctx)


# --- Entering, leaving, overriding and failing in any order, compared with a reference implementation of the
# documentation.


class Broken(Exception):
    """The exception of the instruments in these tests."""


class ModelInstrument:
    def __init__(self, name: str, fails: frozenset[str]) -> None:
        self.name, self.fails = name, fails


class ModelContext:
    def __init__(self, instruments: list[ModelInstrument]) -> None:
        self.instruments = instruments
        self.entered = 0


class Model:
    """A reference implementation of rules 21 to 24, 98 and 107 to 126: a stack of contexts, and calls of
    instruments.
    """

    def __init__(self, contexts: list[ModelContext]) -> None:
        self.contexts = contexts
        self.stack: list[ModelContext] = []
        self.events: list[str] = []

    def _enter_all(self, instruments: list[ModelInstrument]) -> bool:
        for at, instrument in enumerate(instruments):
            self.events.append(f"{instrument.name} enter")
            if "enter" in instrument.fails:
                self.events += [f"{earlier.name} exit" for earlier in reversed(instruments[:at])]
                return False
        return True

    def _exit_all(self, instruments: list[ModelInstrument]) -> bool:
        for instrument in instruments:
            self.events.append(f"{instrument.name} exit")
            if "exit" in instrument.fails:
                return False
        return True

    def enter(self, ctx: ModelContext) -> bool:
        if not self._enter_all(ctx.instruments):
            # Earlier entries of this context lose their instruments, too.
            ctx.instruments = []
            return False
        self.stack.append(ctx)
        ctx.entered += 1
        return True

    def leave(self, ctx: ModelContext) -> bool:
        if not self.stack or self.stack[-1] is not ctx:
            return False
        self.stack.pop()
        ctx.entered -= 1
        if not self._exit_all(ctx.instruments):
            ctx.instruments = []
            return False
        return True

    def override(self, ctx: ModelContext, new: list[ModelInstrument]) -> bool:
        old, ctx.instruments = ctx.instruments, []
        for _ in range(ctx.entered):
            if not self._exit_all(old):
                return False
        for _ in range(ctx.entered):
            if not self._enter_all(new):
                return False
        ctx.instruments = new
        return True

    def run(self) -> bool:
        """Runs a pass under the current context."""
        watching = self.stack[-1].instruments if self.stack else []
        for hook in ("should_run", "before"):
            for at, instrument in enumerate(watching):
                self.events.append(f"{instrument.name} {hook} P")
                if hook in instrument.fails:
                    notified = watching[:at] if hook == "before" else []
                    self.events += [f"{each.name} failed P" for each in notified]
                    return False
        self.events.append("P")
        for at, instrument in enumerate(watching):
            self.events.append(f"{instrument.name} after P")
            if "after" in instrument.fails:
                self.events += [f"{later.name} failed P" for later in watching[at + 1 :]]
                return False
        return True


HOOKS = st.frozensets(st.sampled_from(["enter", "exit", "should_run", "before", "after"]), max_size=1)
INSTRUMENTS = st.lists(HOOKS, max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("enter"), st.integers(0, 2)),
    st.tuples(st.just("leave"), st.integers(0, 2)),
    st.tuples(st.just("override"), st.integers(0, 2), INSTRUMENTS),
    st.tuples(st.just("run")),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.tuples(INSTRUMENTS, INSTRUMENTS, INSTRUMENTS), st.lists(STEPS, max_size=14))
def test_context_operations_match_reference_implementation(
    created: tuple[list[frozenset[str]], ...], steps: list[tuple[Any, ...]]
) -> None:
    """The host and the reference implementation make the same calls."""
    events: list[str] = []
    count = 0

    def instruments(fails_of_each: list[frozenset[str]]) -> tuple[list[ModelInstrument], list[Watch]]:
        nonlocal count
        modeled, real = [], []
        for fails in fails_of_each:
            count += 1
            name = f"i{count}"
            modeled.append(ModelInstrument(name, fails))
            real.append(Watch(events, name, {hook: Broken(name) for hook in fails}))
        return modeled, real

    pairs = [instruments(fails_of_each) for fails_of_each in created]
    model = Model([ModelContext(modeled) for modeled, _ in pairs])
    contexts = [PassContext(instruments=real) for _, real in pairs]
    pass_ = recorder(events, "P")

    def happened(step: Any) -> bool:
        try:
            step()
        except (Broken, ContextError):
            return False
        return True

    try:
        for kind, *arguments in steps:
            if kind == "enter":
                at = arguments[0]
                expected = model.enter(model.contexts[at])
                done = happened(contexts[at].__enter__)
            elif kind == "leave":
                at = arguments[0]
                expected = model.leave(model.contexts[at])
                done = happened(lambda at=at: contexts[at].__exit__(None, None, None))
            elif kind == "override":
                at, fails_of_each = arguments
                modeled, real = instruments(fails_of_each)
                expected = model.override(model.contexts[at], modeled)
                done = happened(lambda at=at, real=real: contexts[at].override_instruments(real))
            else:
                expected = model.run()
                done = happened(lambda: pass_(one_function()))
            assert (done, events) == (expected, model.events), kind
            current = PassContext.current()
            if model.stack:
                assert current is contexts[model.contexts.index(model.stack[-1])]
            for modeled_ctx, ctx in zip(model.contexts, contexts, strict=True):
                assert [each.name for each in ctx.instruments] == [each.name for each in modeled_ctx.instruments]
    finally:
        while model.stack:
            top = model.stack.pop()
            top.instruments = []
            ctx = contexts[model.contexts.index(top)]
            happened(lambda ctx=ctx: ctx.override_instruments(None))
            happened(lambda ctx=ctx: ctx.__exit__(None, None, None))
