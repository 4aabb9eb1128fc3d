"""Rewriting: patterns of ops and their replacements.

A rule is text, as in ``.rules`` files and plugins, or a pattern with a function::

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
    """Creates a rule from a function ``(rewriter, match)``.

    The function returns the replacement of the results of the pattern's last op: a value, a list with a value per
    result, or None to reject the match.

    Args:
        pattern: The pattern, with conditions: ``"onnx.Pow(%x, 2) where float(%x)"``.
        name: The name of the rule for reports; by default that of the function.

    Raises:
        PipelineError: The pattern is invalid; the message has the position.
        TypeError: The function takes other arguments.
    """

    def decorate(code: Callable[[Rewriter, Match], Any]) -> Rules:
        try:
            inspect.signature(code).bind(None, None)
        except TypeError:
            message = f"the code of a rule must accept (rewriter, match), but is declared as {inspect.signature(code)}"
            raise TypeError(message) from None
        return Rules.with_code(name or code.__name__, pattern, code)

    return decorate


def rules_pass(name: str, rules: Rules | str, opt_level: int = 0, required: Required = None) -> FunctionPass:
    """Returns a pass that rewrites each graph function by rules until a fixed point.

    Args:
        name: The name of the pass.
        rules: The rules, or their text.
        opt_level, required: As for ``function_pass``.
    """
    own = Rules(rules) if isinstance(rules, str) else rules

    def rewrite(func: Function, mod: Module, ctx: PassContext) -> Function:
        ctx.rewrite(func, own)
        return func

    return function_pass(rewrite, opt_level=opt_level, name=name, required=required)
