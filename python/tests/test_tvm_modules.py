"""Passes by TVM's modules: ``relax.transform.FoldConstant()``."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

import passdock
from passdock import PassContext, Sequential, get_pass, list_passes, relax, tir
from passdock.transform import FunctionPass, Pass, PassInstrument, PrimFuncPass
from support import one_function, recorder

FAMILIES: list[Any] = [relax, tir]


@pytest.mark.parametrize("family", FAMILIES, ids=["relax", "tir"])
def test_every_pass_is_an_attribute(family: ModuleType) -> None:
    transform: Any = family.transform
    assert importlib.import_module(transform.__name__) is transform
    prefix = f"{family.__name__.removeprefix('passdock.')}.transform."
    names = [name for name in list_passes() if name.startswith(prefix)]
    assert names
    for name in names:
        short = name.removeprefix(prefix)
        result = getattr(transform, short)()
        assert type(result) is type(get_pass(name))
        assert result.info == get_pass(name).info
        assert short in dir(transform)
        assert getattr(family, short) is getattr(transform, short)
        assert pickle.loads(pickle.dumps(result)).info == result.info


def test_passes_of_tvm_tests_run() -> None:
    seq = Sequential([relax.transform.InferType(), passdock.relax.transform.FoldConstant(max_growth=0)])
    with PassContext(opt_level=3):
        assert list(seq(one_function())) == ["main"]
    assert isinstance(relax.transform.FoldConstant(), FunctionPass)
    assert isinstance(tir.transform.UnrollLoop(), PrimFuncPass)
    assert relax.transform.function_pass is passdock.function_pass
    assert tir.transform.prim_func_pass is passdock.prim_func_pass
    assert PassInstrument is passdock.PassInstrument is passdock.transform.PassInstrument


def test_tvm_names_and_later_registered_passes_are_attributes() -> None:
    transform: Any = relax.transform
    assert transform.LegalizeOps().info.name == "relax.transform.Legalize"
    # In a separate process: other tests list the passes by name.
    code = """
from passdock import relax
from support import recorder

assert not hasattr(relax.transform, "Later")
recorder([], "relax.transform.Later").register()
assert relax.transform.Later().info.name == "relax.transform.Later"
assert "Later" in dir(relax.transform)
"""
    here = os.path.dirname(__file__)
    ran = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_misspelled_pass_error_has_a_suggestion() -> None:
    transform: Any = relax.transform
    with pytest.raises(
        AttributeError,
        match=r"^module 'passdock\.relax\.transform' has no pass 'FoldConstnt'; did you mean `FoldConstant`\?$",
    ):
        transform.FoldConstnt()
    with pytest.raises(AttributeError, match="did you mean `UnrollLoop`"):
        tir.transform.UnrolLoop()  # type: ignore[attr-defined, unused-ignore]
    # Names of the other family, and unknown ones.
    for name in ("UnrollLoop", "tir.transform.UnrollLoop", "__path__", "nothing"):
        assert not hasattr(transform, name)


def test_resolve_dependency() -> None:
    """TVM has the name without an implementation: the passes that would run, in order."""
    events: list[str] = []
    first, high = recorder(events, "first"), recorder(events, "high", opt_level=3)
    needs = recorder(events, "needs", required=["InferType"])
    inner = Sequential([high, needs], name="inner")
    fold = get_pass("FoldConstant")
    seq = Sequential([first, inner, fold])

    def names(passes: list[Pass]) -> list[str]:
        return [pass_.info.name for pass_ in passes]

    found = seq.resolve_dependency()
    assert names(found) == ["first", "inner", "relax.transform.InferType", "needs", "relax.transform.FoldConstant"]
    assert [found[0], found[1], found[3], found[4]] == [first, inner, needs, fold]
    assert isinstance(found[2], Pass)
    assert high in seq.resolve_dependency(PassContext(opt_level=3))
    with PassContext(disabled_pass=["FoldConstant"], opt_level=3):
        assert names(seq.resolve_dependency())[-1] == "needs"
    assert Sequential([]).resolve_dependency() == []
    assert names(relax.FoldScaleAxis().resolve_dependency())[0].startswith("relax.transform.")
    assert events == []


def test_unresolvable_dependencies_are_errors() -> None:
    needs = recorder([], "needs", required=["NoSuchPass"])
    with pytest.raises(passdock.UnknownNameError, match="NoSuchPass"):
        Sequential([needs]).resolve_dependency()
    needs = recorder([], "needs", required=["FoldConstant"])
    with pytest.raises(passdock.PassError, match="disabled"):
        Sequential([needs]).resolve_dependency(PassContext(disabled_pass=["FoldConstant"]))
