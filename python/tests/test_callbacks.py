"""Callbacks of instruments and methods of visitors: which are called, which are rejected, and which are ordinary
methods.
"""

from __future__ import annotations

from typing import Any

import pytest

import passdock
from passdock import Module, PassContext, PassInfo, PassInstrument, pass_instrument
from support import model, recorder


def test_callbacks_in_base_classes_are_checked() -> None:
    """A callback in any base class is called or rejected."""
    typo = type("Typo", (), {"run_befor_pass": lambda self, mod, info: None})
    wrong = type("Wrong", (), {"run_before_pass": lambda self, mod: None})
    right = type("Right", (), {"run_before_pass": lambda self, mod, info: None})
    makes: list[Any] = [
        lambda base: type("Mine", (base, PassInstrument), {}),
        lambda base: pass_instrument(type("Mine", (base,), {})),
    ]
    for make in makes:
        with pytest.raises(TypeError, match=r"Typo\.run_befor_pass is never called; did you mean run_before_pass\?"):
            make(typo)
        with pytest.raises(TypeError, match=r"Mine\.run_before_pass must accept \(self, mod, info\)"):
            make(wrong)
        assert issubclass(make(right), PassInstrument)
    with pytest.raises(TypeError, match=r"Right\.run_before_pass is never called: Mine has the base PassInstrument before"):
        type("Mine", (PassInstrument, right), {})
    with pytest.raises(TypeError, match=r"Mine\.should_run must be a method, not bool"):
        type("Mine", (PassInstrument,), {"should_run": False})


def test_static_and_class_method_callbacks() -> None:
    called: list[str] = []

    @pass_instrument
    class Static:
        @staticmethod
        def run_before_pass(mod: Module, info: PassInfo) -> None:
            called.append(info.name)

        @classmethod
        def run_after_pass(cls, mod: Module, info: PassInfo) -> None:
            called.append(cls.__name__)

    with PassContext(instruments=[Static()]):
        recorder([], "A")(model())
    assert called == ["A", "Static"]
    with pytest.raises(TypeError, match=r"Mine\.should_run must accept \(mod, info\)"):
        type("Mine", (PassInstrument,), {"should_run": classmethod(lambda cls, mod: True)})


def test_callbacks_cannot_be_set_on_an_instance() -> None:
    @pass_instrument
    class Mine:
        def __init__(self) -> None:
            self.run_before_pass = lambda mod, info: None

    with pytest.raises(TypeError, match=r"cannot set Mine\.run_before_pass on an object"):
        Mine()


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("run_after", 3, "run_after_pass"),
        ("enter_ctx", 1, "enter_pass_ctx"),
        ("exit_context_pass", 1, ""),
        ("run_stats", 1, ""),
        ("run_after", 1, ""),
        ("exit_code", 1, ""),
        ("enter_phase", 1, ""),
        ("run_everything_twice_a_day", 3, ""),
        ("_run_after", 3, ""),
    ],
)
def test_misspelled_callbacks_are_rejected(name: str, arguments: int, meant: str) -> None:
    """Misspelled callbacks are recognized by name and arguments; other methods are the program's own."""
    methods = {1: lambda self: None, 3: lambda self, mod, info: None}
    mine = type("Mine", (), {name: methods[arguments], "result": lambda self: None})
    if not meant:
        assert issubclass(passdock.pass_instrument(mine), PassInstrument)
        return
    with pytest.raises(TypeError) as raised:
        passdock.pass_instrument(mine)
    assert str(raised.value) == f"Mine.{name} is never called; did you mean {meant}?"


@pytest.mark.parametrize(
    ("base", "name", "meant"),
    [
        (passdock.walk.Visitor, "visit_ohter", "visit_other"),
        (passdock.walk.Visitor, "enter_op", "visit_op"),
        (passdock.walk.Mutator, "mutate_calls", "mutate_call"),
        (passdock.walk.Functor, "visit_tupel", "visit_tuple"),
    ],
)
def test_misspelled_visit_methods_are_rejected(base: type, name: str, meant: str) -> None:
    mine = {name: lambda self, op: None}
    makes: list[Any] = [
        lambda: type("Mine", (base,), mine),
        lambda: type("Derived", (type("Mine", (), mine), base), {}),
    ]
    for make in makes:
        with pytest.raises(TypeError) as raised:
            make()
        assert f".{name} is never called; did you mean {meant}?" in str(raised.value)


@pytest.mark.parametrize("base", [passdock.walk.Visitor, passdock.walk.Mutator, passdock.walk.Functor])
def test_helper_methods_next_to_visit_methods_are_allowed(base: type) -> None:
    """Helper methods are recognized by name or arguments."""
    names = ["visit_relu", "visit_pool", "visit_conv", "mutate_relu", "enter_scope", "leave_scope", "_visit_ohter"]
    type("Mine", (base,), dict.fromkeys(names, lambda self, op: None))
    type("Mine", (base,), dict.fromkeys(["visit_all", "visit_ohter", "mutate_all"], lambda self: None))


def test_instrument_may_set_its_name() -> None:
    @pass_instrument
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def should_run(self, mod: Module, info: PassInfo) -> Any:
            return "no"

    with PassContext(instruments=[Named("mine")]), pytest.raises(TypeError, match="`mine` must return a bool"):
        recorder([], "A")(model())
    assert Named("mine").name == "mine"
