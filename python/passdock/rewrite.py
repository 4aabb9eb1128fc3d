"""Rewriting: patterns of ops, and what stands in their place.

A rule is a text, the same as in ``.rules`` files and in plugins, or a pattern with a function behind it::

    gelu = Rules('''
    rule double_relu { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }
    ''')

    @rule("onnx.Pow(%x, 2)")
    def square(rewriter, match):
        return rewriter.op("onnx.Mul", [match["x"], match["x"]])

    simplify = rules_pass("acme.transform.Simplify", gelu + square, opt_level=1)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ._passdock import Function, Match, Module, PassContext, Rewriter, Rules
from .transform import FunctionPass, Required, function_pass

__all__ = ["Match", "Rewriter", "Rules", "rule", "rules_pass"]


def rule(pattern: str, name: str | None = None) -> Callable[[Callable[[Rewriter, Match], Any]], Rules]:
    """Makes a rule of a function ``(rewriter, match)``, which answers what stands in the place of the pattern's last op:
    a value, a list of one for each result, or None if nothing is to be done here after all.

    Args:
        pattern: what is looked for, with conditions: ``"onnx.Pow(%x, 2) where float(%x)"``.
        name: the rule's name, which reports count it by; the function's if none is given.

    Raises:
        PipelineError: the pattern isn't one; the message says where.
        TypeError: the function takes other arguments.
    """

    def decorate(code: Callable[[Rewriter, Match], Any]) -> Rules:
        try:
            inspect.signature(code).bind(None, None)
        except TypeError:
            message = (
                f"the code of a rule takes (rewriter, match), and this one is declared as {inspect.signature(code)}"
            )
            raise TypeError(message) from None
        return Rules.with_code(name or code.__name__, pattern, code)

    return decorate


def rules_pass(name: str, rules: Rules | str, opt_level: int = 0, required: Required = None) -> FunctionPass:
    """The pass that rewrites each graph function by rules until none applies.

    Args:
        name: the pass's name.
        rules: the rules, or a text of some.
        opt_level, required: as of ``function_pass``.
    """
    own = Rules(rules) if isinstance(rules, str) else rules

    def rewrite(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.rewrite(func, own)
        return func

    return function_pass(rewrite, opt_level=opt_level, name=name, required=required)
