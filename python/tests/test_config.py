"""Config: registered keys with fields and defaults, and the values of contexts."""

from __future__ import annotations

import copy
import pickle
from types import MappingProxyType

import pytest

import passdock
from passdock import ConfigError, Module, PassContext, module_pass
from support import one_function


def test_r033_keys_must_be_registered() -> None:
    with pytest.raises(AttributeError, match=r"testing\.immutable_modul\b.*testing\.immutable_module") as raised:
        PassContext(config={"testing.immutable_modul": True})
    assert isinstance(raised.value, ConfigError)
    with pytest.raises(ConfigError, match="nothing"):
        PassContext().get_config("nothing")


def test_r034_to_037_table_options() -> None:
    passdock.register_config_option("tests.r034", {"limit": 8, "name": "all", "deep": False}, "A table.")
    given = {"limit": 3}
    ctx = PassContext(config={"tests.r034": given})
    assert ctx.get_config("tests.r034") == {"limit": 3, "name": "all", "deep": False}
    # Rule 41.
    assert given == {"limit": 3}
    for wrong, message in (
        ({"limt": 3}, "limt.*limit"),
        ({"limit": "x"}, "`limit` of `tests.r034`: expected an int"),
        ({"limit": 2.7}, "`limit` of `tests.r034`: expected an int"),
        (5, "tests.r034"),
    ):
        with pytest.raises(ConfigError, match=message) as raised:
            PassContext(config={"tests.r034": wrong})
        # Rule 35: TVM raises the one or the other.
        assert isinstance(raised.value, AttributeError)
        assert isinstance(raised.value, TypeError)


def test_r038_int_and_bool_are_not_converted() -> None:
    """An int isn't accepted as a bool, nor a bool as an int; NumPy's numbers are accepted."""
    passdock.register_config_option("tests.r038.bool", False)
    passdock.register_config_option("tests.r038.int", 0)
    with pytest.raises(ConfigError, match=r"tests\.r038\.bool"):
        PassContext(config={"tests.r038.bool": 1})
    with pytest.raises(ConfigError, match=r"tests\.r038\.int"):
        PassContext(config={"tests.r038.int": True})
    ctx = PassContext(config={"tests.r038.bool": True, "tests.r038.int": 7})
    assert ctx.get_config("tests.r038.bool") is True
    assert ctx.get_config("tests.r038.int") == 7
    assert ctx.config == {"tests.r038.bool": True, "tests.r038.int": 7}


def test_r039_none_is_rejected_as_value() -> None:
    with pytest.raises(ConfigError, match=r"`testing\.immutable_module` is None"):
        PassContext(config={"testing.immutable_module": None})


def test_r042_keys_are_listed_with_type_default_and_doc() -> None:
    passdock.register_config_option("tests.r042", 8, "How many.")
    listed = passdock.list_configs()["tests.r042"]
    assert (listed["type"], listed["default"], listed["doc"]) == ("int", 8, "How many.")


def test_infinite_and_nan_options_round_trip() -> None:
    inf = float("inf")
    passdock.register_config_option("tests.floats", {"most": inf, "least": -1.5})
    listed = passdock.list_configs()["tests.floats"]
    assert listed["default"] == {"most": inf, "least": -1.5}
    assert {field["name"]: field["default"] for field in listed["fields"]} == {"most": inf, "least": -1.5}
    ctx = PassContext(config={"tests.floats": {"least": float("nan")}})
    assert str(ctx.get_config("tests.floats")) == "{'least': nan, 'most': inf}"


def test_config_accepts_any_mapping() -> None:
    passdock.register_config_option("tests.mapping", {"limit": 8})
    ctx = PassContext(config=MappingProxyType({"tests.mapping": MappingProxyType({"limit": 3})}))
    assert ctx.get_config("tests.mapping") == {"limit": 3}


def test_empty_key_is_rejected() -> None:
    with pytest.raises(ConfigError, match="empty config key"):
        passdock.register_config_option("", 1)


def test_r044_duplicate_key_is_rejected() -> None:
    passdock.register_config_option("tests.r044", "text")
    with pytest.raises(ConfigError, match=r"tests\.r044"):
        passdock.register_config_option("tests.r044", "text")


def test_config_lookup_by_key() -> None:
    """TVM's ``ctx.config["tir.UnrollLoop"].auto_max_step``: the given value, or the default."""
    ctx = PassContext(config={"tirx.UnrollLoop": {"auto_max_step": 16}, "testing.immutable_module": True})
    for key in ("tir.UnrollLoop", "tirx.UnrollLoop", "s_tir.UnrollLoop"):
        unroll = ctx.config[key]
        assert unroll.auto_max_step == unroll["auto_max_step"] == 16
        assert unroll.auto_max_depth == unroll["auto_max_depth"] == 8
        assert ctx.get_config(key).explicit_unroll is True
    assert ctx.config == {"tir.UnrollLoop": {"auto_max_step": 16}, "testing.immutable_module": True}
    assert ctx.config["testing.immutable_module"] is True
    default = PassContext().config
    assert default == {} and "tir.UnrollLoop" not in default and default.get("tir.UnrollLoop") is None
    assert default["tir.UnrollLoop"].auto_max_step == 0
    assert default["relay.fallback_device_type"] == default["relax.fallback_device_type"] == 1
    assert default["testing.immutable_module"] is False


def test_unknown_config_keys_and_fields_are_rejected() -> None:
    ctx = PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}})
    with pytest.raises(KeyError, match=r"Invalid config option `tir\.UnrolLoop`.*did you mean `tir\.UnrollLoop`"):
        ctx.config["tir.UnrolLoop"]
    for unroll in (ctx.config["tir.UnrollLoop"], PassContext().config["tir.UnrollLoop"]):
        with pytest.raises(AttributeError, match="has no field `auto_max_stp`; did you mean `auto_max_step`"):
            _ = unroll.auto_max_stp
        with pytest.raises(KeyError, match="has no field `auto_max_stp`; did you mean `auto_max_step`"):
            unroll["auto_max_stp"]
        assert not hasattr(unroll, "no_such_field")


def test_config_is_kept_in_passes_copies_and_pickles() -> None:
    seen = []

    @module_pass(opt_level=0)
    def looks(mod: Module, ctx: PassContext) -> Module:
        seen.append((ctx.config["tir.UnrollLoop"].auto_max_step, ctx.config["tir.UnrollLoop"].auto_max_depth))
        return mod

    with PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}}) as ctx:
        looks(one_function())
    assert seen == [(16, 8)]
    for again in (
        copy.deepcopy(ctx.config),
        pickle.loads(pickle.dumps(ctx.config)),
        pickle.loads(pickle.dumps(ctx)).config,
    ):
        assert again == ctx.config
        assert again["tir.UnrollLoop"].auto_max_depth == 8


def test_configs_are_listed_by_tvm_keys() -> None:
    configs = PassContext.list_configs()
    assert configs["tirx.UnrollLoop"] == {**configs["tir.UnrollLoop"], "alias_of": "tir.UnrollLoop"}
    assert "alias_of" not in configs["tir.UnrollLoop"]
    for key, entry in configs.items():
        context = PassContext(config={key: entry["default"]})
        assert list(context.config) == [entry.get("alias_of", key)]
        assert context.get_config(key) == entry["default"]
