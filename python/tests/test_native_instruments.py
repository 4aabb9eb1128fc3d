"""The built-in instruments: timing, printing, dumps, the verifier."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import passdock
from passdock import (
    Function,
    Module,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    function_pass,
    get_instrument,
    get_pass,
)
from passdock.diagnostics import Diagnostic, DiagnosticLevel
from passdock.instrument import (
    DumpIR,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    WellFormedInstrument,
)
from passdock.transform import PrintIR
from support import model, one_function, raiser, recorder, run_three


def test_r129_timing_is_a_tree() -> None:
    timing = PassTimingInstrument()
    assert isinstance(timing, PassInstrument)
    with PassContext(instruments=[timing]):
        Sequential([recorder([], "A"), recorder([], "B")])(model())
        lines = timing.render().splitlines()
    assert [re.sub(r"[\d.]+", "#", line) for line in lines] == [
        "sequential: #us [#us] (#%; #%)",
        "\tA: #us [#us] (#%; #%)",
        "\tB: #us [#us] (#%; #%)",
    ]


def test_r132_timing_continues_after_a_failure() -> None:
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        with pytest.raises(ValueError, match="no"):
            raiser(ValueError("no"), "Fails")(model())
        recorder([], "Next")(model())
        lines = timing.render().splitlines()
    assert [line.split(":")[0] for line in lines] == ["Fails", "Next"]
    assert "failed" in lines[0]


def test_r133_each_timing_instrument_has_its_own_record() -> None:
    outer, inner = PassTimingInstrument(), PassTimingInstrument()
    with PassContext(instruments=[outer]):
        recorder([], "A")(model())
        with PassContext(instruments=[inner]):
            recorder([], "B")(model())
            assert [line.split(":")[0] for line in inner.render().splitlines()] == ["B"]
        assert [line.split(":")[0] for line in outer.render().splitlines()] == ["A"]


def test_r135_printing_before_and_after_all(capsys: pytest.CaptureFixture[str]) -> None:
    mod = one_function()
    with PassContext(instruments=[PrintBeforeAll(), PrintAfterAll()]):
        recorder([], "A")(mod)
    info = PassInfo(0, "A")
    assert capsys.readouterr().out == f"Before Running Pass: {info}\n{mod}\nAfter Running Pass: {info}\n{mod}\n"


def test_r136_printing_named_passes(capsys: pytest.CaptureFixture[str]) -> None:
    mod = one_function()
    with PassContext(instruments=[PassPrintingInstrument(["A"], ["AB"])]):
        recorder([], "A")(mod)
        recorder([], "AB")(mod)
    assert capsys.readouterr().out == f"Print IR before: A\n{mod}\n\nPrint IR after: AB\n{mod}\n\n"
    with pytest.raises(TypeError, match=r"expected a list of names, got a string; did you mean \['A'\]\?"):
        PassPrintingInstrument("A")


def test_output_goes_to_python_streams() -> None:
    """Instruments of the host, in and outside of a pipeline, `PrintIR` and diagnostics."""

    @function_pass(opt_level=0, name="Says")
    def says(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.emit(Diagnostic(DiagnosticLevel.WARNING, None, "Look here."))
        return func

    mod = one_function()
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        with PassContext(instruments=[get_instrument("print-before")]):
            recorder([], "A")(mod)
        passdock.run(mod, {"passes": ["InferType"], "instruments": [{"name": "print-after"}]})
        PrintIR("shown")(mod)
        says(mod)
    assert f"Before Running Pass: {PassInfo(0, 'A')}\nmodule {{" in out.getvalue()
    assert "After Running Pass: The meta data of the pass - pass name: relax.transform.InferType" in out.getvalue()
    assert "PrintIR(shown):\nmodule {" in err.getvalue()
    assert "warning: Look here.\n" in err.getvalue()


def test_printed_passes_are_matched_by_alias(capsys: pytest.CaptureFixture[str]) -> None:
    mod = one_function()
    with PassContext(instruments=[PassPrintingInstrument(["FoldConstant"], ["relay.transform.FoldConstant"])]):
        get_pass("FoldConstant")(mod)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Print")] == [
        "Print IR before: relax.transform.FoldConstant",
        "Print IR after: relax.transform.FoldConstant",
    ]
    with (
        pytest.raises(passdock.UnknownNameError, match="FoldConstnat.*relax.transform.FoldConstant"),
        PassContext(instruments=[PassPrintingInstrument(["FoldConstnat"])]),
    ):
        get_pass("FoldConstant")(mod)


def test_r137_and_138_dumps(tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    with PassContext(instruments=[DumpIR(dumps)]):
        recorder([], "A")(one_function())
        with pytest.raises(ValueError, match="no"):
            raiser(ValueError("no"))(one_function())
        recorder([], "B:C")(one_function())
    names = sorted(path.name for path in dumps.iterdir())
    assert names == ["000_A.ir", "002_B_C.ir"]
    assert (dumps / "000_A.ir").read_text() == str(one_function())
    with PassContext(instruments=[DumpIR(str(dumps), refresh=True)]):
        recorder([], "D")(one_function())
    assert [path.name for path in dumps.iterdir()] == ["000_D.ir"]
    # A context that isn't entered has a directory, too.
    recorder([], "E")(one_function(), PassContext(instruments=[DumpIR(tmp_path / "others")]))
    assert [path.name for path in (tmp_path / "others").iterdir()] == ["000_E.ir"]


def test_r139_verifier_instrument() -> None:
    instrument = WellFormedInstrument(validate_before_transform=False)
    assert instrument.name == "verify"
    with PassContext(instruments=[instrument]):
        run_three(model())
    with pytest.raises(ValueError, match="types are always verified"):
        WellFormedInstrument(check_ty=False)


def test_instruments_by_name() -> None:
    counts = get_instrument("op-count")
    with PassContext(instruments=[counts]) as ctx:
        get_pass("FoldConstant")(model())
        assert [each.name for each in ctx.instruments] == ["op-count"]
    report = counts.report()
    assert report is None or isinstance(report, str)
    with pytest.raises(passdock.UnknownNameError, match="op-counts.*op-count"):
        get_instrument("op-counts")
    with pytest.raises(passdock.UnknownNameError, match=r"PassTimeInstrument.*did you mean `PassTimingInstrument`\?"):
        get_instrument("PassTimeInstrument")
    # Instruments created by an alias have the full name.
    for alias, name in {"PrintIRBefore": "print-before", "PrintAfterAll": "print-after"}.items():
        result = get_instrument(alias)
        assert (result.name, repr(result)) == (name, f"<passdock instrument {name}>")
        assert get_instrument(result.name).name == name
    with pytest.raises(passdock.ConfigError, match="colour"):
        get_instrument("dump", dir="x", colour=1)


def test_context_returns_the_given_instrument_objects() -> None:
    count, timing = get_instrument("op-count"), PassTimingInstrument()
    for ctx in (PassContext(instruments=[count, timing]), PassContext()):
        ctx.override_instruments([count, timing])
        assert count in ctx.instruments
        assert [own is given for own, given in zip(ctx.instruments, [count, timing], strict=True)] == [True, True]
    copied = PassContext(instruments=ctx.instruments)
    assert copied.instruments == (count, timing)
    # If the program dropped the object, the instrument is found by its behavior.
    ctx = PassContext(instruments=[get_instrument("op-count")])
    assert ctx.instruments[0].name == "op-count" and ctx.instruments[0] != count
