"""A plugin's pass requires one that a Python program registers."""

from __future__ import annotations

import pytest

import passdock
from passdock import Module, PassContext, PassError, Sequential, UnknownNameError, get_pass, module_pass
from support import built_plugin, one_function


def test_plugin_pass_requires_python_pass() -> None:
    passdock.load_plugin(built_plugin("passdock_conformance"))
    needs = get_pass("t.transform.NeedsMissing")
    with pytest.raises(UnknownNameError, match=r"t\.transform\.Leafs"):
        Sequential([needs])(one_function())
    ran: list[str] = []

    @module_pass(opt_level=0, name="t.transform.Leafs")
    def leafs(mod: Module, ctx: PassContext) -> Module:
        ran.append("leafs")
        mod["main"].set_function_attr("Leafs", 1)
        return mod

    leafs.register()
    result = Sequential([needs])(one_function())
    assert ran == ["leafs"]
    assert result["main"].attrs["Leafs"] == 1
    # Also in a pipeline that names the plugin's pass.
    assert passdock.run(one_function(), passes=["t.transform.NeedsMissing"])["ok"]
    assert ran == ["leafs"] * 2
    disabled = PassContext(disabled_pass=["t.transform.Leafs"])
    with (
        disabled,
        pytest.raises(PassError, match=r"`t\.transform\.Leafs` is disabled, but `t\.transform\.NeedsMissing`"),
    ):
        Sequential([needs])(one_function())
