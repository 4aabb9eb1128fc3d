"""passdock: a host for compiler passes that ship as shared libraries.

Optimize a model::

    import passdock

    report = passdock.optimize("model.onnx", "out.onnx")
    print(report)

Run passes under a context, as in TVM::

    from passdock import PassContext, Sequential, function_pass, relax

    @function_pass(opt_level=1)
    def drop_double_relu(func, mod, ctx):
        for op in func.ops_named("onnx.Relu"):
            inner = op.operand(0).defining_op
            if inner is not None and inner.name == "onnx.Relu":
                func.replace_op_with(op, [inner.result])
        return func

    mod = passdock.Module.read("model.onnx")
    with PassContext(opt_level=3):
        mod = Sequential([relax.FoldConstant(), drop_double_relu])(mod)
    mod.write("out.onnx")
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _config, _environment, _finding, _passdock, diagnostics, instrument, transform
from ._info import PassInfo
from ._optimize import optimize
from ._passdock import (
    Constant,
    Function,
    Module,
    Op,
    PassContext,
    Region,
    Type,
    Value,
    load_dir,
    load_plugin,
)
from .batch import batch
from .errors import (
    ConfigError,
    ContextError,
    DiagnosticError,
    EditError,
    ModelError,
    PassError,
    PassWarning,
    PipelineError,
    PluginError,
    StaleError,
    UnknownNameError,
    UsageError,
    VerifyError,
)
from .instrument import PassInstrument, get_instrument, pass_instrument
from .pipeline import Pipeline, Report, _warn, explain, get_pipeline, run
from .transform import (
    FunctionPass,
    ModulePass,
    Pass,
    PrimFuncPass,
    Sequential,
    function_pass,
    get_pass,
    list_configs,
    list_passes,
    module_pass,
    prim_func_pass,
    register_config_option,
    register_pass,
)

__all__ = [
    "ConfigError",
    "Constant",
    "ContextError",
    "DiagnosticError",
    "EditError",
    "Function",
    "FunctionPass",
    "ModelError",
    "Module",
    "ModulePass",
    "Op",
    "Pass",
    "PassContext",
    "PassError",
    "PassInfo",
    "PassInstrument",
    "PassWarning",
    "Pipeline",
    "PipelineError",
    "PluginError",
    "PrimFuncPass",
    "Region",
    "Report",
    "Sequential",
    "StaleError",
    "Type",
    "UnknownNameError",
    "UsageError",
    "Value",
    "VerifyError",
    "batch",
    "diagnostics",
    "explain",
    "function_pass",
    "get_instrument",
    "get_pass",
    "get_pipeline",
    "instrument",
    "list_configs",
    "list_passes",
    "load_dir",
    "load_plugin",
    "module_pass",
    "optimize",
    "pass_instrument",
    "prim_func_pass",
    "ray",
    "register_config_option",
    "register_pass",
    "relax",
    "rewrite",
    "run",
    "tir",
    "transform",
    "walk",
]

if _TYPE_CHECKING:
    from . import ray, relax, rewrite, tir, walk
else:
    # Modules that only some programs need.
    def __getattr__(name: str) -> object:
        if name in ("ray", "relax", "rewrite", "tir", "walk"):
            import importlib

            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__version__: str = _passdock.version()
_passdock.set_importer(_finding.imported)

# A conflict of installed plugins doesn't prevent the use of the others.
for _conflict in _passdock.load_dirs(_environment.default_dirs()):
    _warn(_conflict)
