"""The native module: the host's objects. Programs import them from ``passdock``."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar, final, overload

import numpy.typing as npt

from ._info import PassInfo
from .diagnostics import Diagnostic, DiagnosticContext, DiagnosticRenderer
from .transform import Pass

_T = TypeVar("_T")
_Path: TypeAlias = str | os.PathLike[str]
# A type argument: "f32[n,3]", ("f32", ("n", 3)), a type of the function, or None for an unknown type.
_SaidType: TypeAlias = str | tuple[str, Sequence[int | str | None] | None] | Type | None
# The number of an op's results, or their types.
_Results: TypeAlias = int | Sequence[_SaidType]
# The value of an attribute.
_Attr: TypeAlias = (
    int
    | float
    | str
    | bytes
    | bytearray
    | Constant
    | Type
    | Sequence[int]
    | Sequence[float]
    | Sequence[str]
    | Sequence[bytes]
    | Sequence[Constant]
    | Sequence[Type]
)
_Operands: TypeAlias = Sequence[Value | None]
_Shape: TypeAlias = tuple[int | str | None, ...]
_Names: TypeAlias = Collection[str] | None

class _GlobalVar(Protocol):
    @property
    def name_hint(self) -> str: ...

# The name of a function.
_Name: TypeAlias = str | _GlobalVar

__all__ = [
    "Batch",
    "BatchResults",
    "Buffer",
    "Constant",
    "Fingerprint",
    "Function",
    "Match",
    "Module",
    "NativeInstrument",
    "Op",
    "PassContext",
    "PassDiagnostics",
    "PassHandle",
    "Region",
    "Rewriter",
    "Rules",
    "Type",
    "Value",
    "Worker",
    "batch_items",
    "built_in",
    "config_schema",
    "declaration",
    "default_dirs",
    "diagnostic_text",
    "escaped",
    "escaped_json",
    "explain",
    "list_passes",
    "load_dir",
    "load_dirs",
    "load_plugin",
    "one_line",
    "override_renderer",
    "own_name",
    "register_config",
    "rendered",
    "run",
    "set_importer",
    "toml_text",
    "version",
]

@final
class Buffer:
    """Bytes of the host that a Python view keeps alive."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Constant:
    """The data of a constant value or of a tensor attribute.

    ``numpy()`` returns a view of the host's memory. The memory stays valid as long as a view exists, even after the
    module is gone.
    """

    @property
    def data(self) -> Buffer:
        """The bytes of the elements in ONNX's layout; those of one element for a splat."""
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``."""
    @property
    def is_splat(self) -> bool:
        """Whether all elements are equal and stored once."""
    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
    @property
    def strings(self) -> list[str | bytes]:
        """The strings of a ``"str"`` constant in order, a single one for a splat. Strings that aren't UTF-8 are bytes.

        Raises TypeError for a constant of another dtype.
        """
    def numpy(self) -> npt.NDArray[Any]:
        """Returns the elements as a read-only NumPy array that views the host's memory.

        A splat is a view of one element with strides of 0. bfloat16, float8 and similar types need the package
        ml_dtypes. Strings, and elements of less than a byte, are copied, because NumPy lays them out differently.
        """
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

@final
class Function:
    """A function of a module: a graph function (``fn``), or a loop-level function (``prim``).

    Outside of passes, functions are read-only. A pass edits its function by the methods of this class; the input module
    doesn't change.
    """

    @property
    def name(self) -> str:
        """The function's name."""
    @property
    def kind(self) -> Literal["fn", "prim"]:
        """``"fn"`` for a graph function, ``"prim"`` for a loop-level function."""
    @property
    def params(self) -> list[Value]:
        """The parameters as values."""
    @property
    def results(self) -> list[Value]:
        """The values that the function returns."""
    @property
    def constants(self) -> list[Value]:
        """The constants of the function as values."""
    @property
    def body(self) -> Region:
        """The body: the region whose arguments are the parameters."""
    @property
    def ops(self) -> list[Op]:
        """All ops in program order, including those of nested regions, without terminators."""
    @property
    def op_count(self) -> int:
        """The number of ops, without terminators."""
    @property
    def opsets(self) -> dict[str, int]:
        """The imported domain versions: ``{"": 17}``."""
    @property
    def attrs(self) -> dict[str, Any]:
        """A copy of the function's attributes."""
    @property
    def is_editable(self) -> bool:
        """Whether the function can be edited: it belongs to a running pass."""
    def ops_named(self, name: str) -> list[Op]:
        """Returns the ops with a name in program order: ``func.ops_named("onnx.Relu")``.

        Empty if a function of the module has the same name.
        """
    def walk(self) -> list[Op]:
        """Returns all ops in program order, including those of nested regions and terminators."""
    def value(self, name: str) -> Value:
        """Returns a parameter, a result of an op or a constant by its name: ``"x"``, or ``"0"`` for an unnamed value
        that IR text calls ``%0``.

        Raises KeyError if no value has the name. Takes time linear in the size of the function.
        """
    def create_op(
        self,
        name: str,
        operands: _Operands,
        *,
        attrs: Mapping[str, _Attr] | None = None,
        results: _Results | None = None,
        before: Op | None = None,
        after: Op | None = None,
        end_of: Region | None = None,
        custom: bool = False,
    ) -> Op:
        """Creates an op: ``func.create_op("onnx.Add", [x, y], before=op)``.

        ``ctx.infer`` infers the types of its results; ``ctx.create_value`` creates an op and infers its types.

        Args:
            name: The name, including the domain.
            operands: The operands; None for an omitted one.
            attrs: The attributes by name.
            results: The number of results, 1 by default, or their types: ``["f32[n,3]"]``.
            before, after, end_of: The insertion point: before or after an op, or at the end of a region. By default,
                the end of the body.
            custom: Whether to allow an operator that no plugin defines. Not needed for a domain without definitions if
                the function imports it.

        Raises EditError if the edit would make the IR invalid, no plugin defines the operator, or the definition
        doesn't allow the operands or attributes.
        """
    def replace_op(
        self,
        op: Op,
        name: str,
        operands: _Operands,
        *,
        attrs: Mapping[str, _Attr] | None = None,
        results: _Results | None = None,
        keep_attrs: bool = False,
        custom: bool = False,
    ) -> Op:
        """Replaces an op and its results with a new op: ``func.replace_op(op, "acme.Relu", [x])``.

        The new op has the old one's location. Its results have the old types unless ``results`` has others.

        Args:
            keep_attrs: Whether the new op starts with the attributes of the old one.
            custom: As for ``create_op``.

        Raises EditError if the edit would make the IR invalid, no plugin defines the operator, or the definition
        doesn't allow the operands or attributes.
        """
    def replace_op_with(self, op: Op, values: _Operands, *, erase_dead: bool = False) -> None:
        """Replaces an op's results with values and erases the op: ``func.replace_op_with(op, [x])``.

        Args:
            erase_dead: Whether to erase ops and constants that become dead, too.

        Raises EditError if the number of values isn't the number of results, or the edit would make the IR invalid.
        """
    def erase_op(self, op: Op) -> None:
        """Erases an op without used results.

        Raises EditError if a result is used.
        """
    def move_op(
        self, op: Op, *, before: Op | None = None, after: Op | None = None, end_of: Region | None = None
    ) -> None:
        """Moves an op before or after another one, or to the end of a region.

        Raises EditError if a definition would no longer dominate its uses.
        """
    def set_operand(self, op: Op, index: int, value: Value | None) -> None:
        """Sets an operand; None omits it.

        Raises EditError if the value isn't visible to the op or there is no such operand, and IndexError for a negative
        index.
        """
    def replace_uses(self, value: Value, by: Value) -> None:
        """Replaces all uses of a value with another value.

        Raises EditError if the new value isn't visible at all uses, or the types contradict.
        """
    def set_attr(self, op: Op, name: str, value: _Attr, *, custom: bool = False) -> None:
        """Sets an attribute of an op.

        Args:
            custom: Whether to allow an attribute that the operator's definition doesn't have.

        Raises EditError if the definition has no such attribute, or one of another kind.
        """
    def remove_attr(self, op: Op, name: str) -> None:
        """Removes an attribute of an op."""
    def set_function_attr(self, name: str, value: _Attr) -> None:
        """Sets an attribute of the function."""
    def remove_function_attr(self, name: str) -> None:
        """Removes an attribute of the function.

        Raises EditError if there is no attribute of that name.
        """
    def set_type(self, value: Value, type: _SaidType) -> None:
        """Refines the type of a value. The type is a string (``"f32[n,3]"``), a pair of dtype and shape, or another
        value's type.

        Raises EditError if it contradicts the known type.
        """
    def set_value_name(self, value: Value, name: str) -> None:
        """Names a value. A name that is taken gets a numeric suffix."""
    def set_metadata(self, entity: Op | Value, key: str, text: str) -> None:
        """Sets an entry of the metadata of an op or a value. An empty text removes it."""
    def add_constant(
        self, data: npt.ArrayLike | Constant, dtype: npt.DTypeLike | None = None, *, name: str | None = None
    ) -> Value:
        """Adds a constant from a NumPy array, or a value that converts to one (``2.0``, ``[1, 2]``, ``["a", "b"]``).
        The bytes are copied; those of a ``Constant`` are shared.

        Args:
            dtype: The element type, ``"f32"`` or a NumPy dtype. By default, that of the array.
            name: The name of the value. A name that is taken gets a numeric suffix.

        Raises TypeError for data that can't become a constant, and ValueError for elements that the dtype can't
        represent.
        """
    def erase_dead(self, value: Value) -> None:
        """Erases the op or constant that defines a value, if it is dead, and transitively the definitions of its
        operands.
        """
    def set_results(
        self, values: _Operands, region: Region | None = None, *, names: Sequence[str] | None = None
    ) -> None:
        """Sets the results of the function, or the values that a region yields.

        Args:
            names: The names of the results, whose types become those of their values. By default, results keep their
                names; if the function had none, results are named after their values.

        Raises EditError if a value isn't visible at the end of the region, and ValueError if the number of names is
        wrong.
        """
    def set_opset(self, domain: str, version: int) -> None:
        """Imports a version of a domain; ``""`` is ONNX's own."""
    def set_loc_from(self, op: Op, ops: Sequence[Op]) -> None:
        """Sets an op's location to the fused locations of other ops."""
    def inline_region(self, op: Op, region: str, args: _Operands = ...) -> list[Value | None]:
        """Moves the ops of a region before the op that contains it, and replaces the region's arguments with ``args``.
        Returns the values that the region yields: ``func.replace_op_with(op, values)`` then replaces the op.

        Raises EditError if there is no such region, or the number of arguments is wrong.
        """
    def add_param(self, name: str, type: _SaidType) -> Value:
        """Appends a parameter. A new function has none."""

@final
class Match:
    """The match of a rule: ``match["x"]`` is the value of ``%x``."""

    @property
    def function(self) -> Function:
        """The function, read-only."""
    @property
    def root(self) -> Op:
        """The op that is replaced."""
    @property
    def rule(self) -> str:
        """The name of the rule."""
    def __getitem__(self, key: str, /) -> Value | None: ...
    def values(self, name: str) -> list[Value | None]:
        """Returns the values that ``%name...`` matched."""
    def attr(self, name: str) -> Any:
        """Returns the value of the attribute ``$name``; None if the op doesn't have it and there is no default."""

@final
class Module:
    """A module: the functions of a model, by name. ``module["main"]`` is the graph of an ONNX model.

    ``str(module)`` is its IR text. A pass returns a new module and leaves its input unchanged. The program may replace
    functions with ``module["f"] = other["g"]`` and ``update``. A module pass may edit its module: ``mod["main"]`` is a
    function with the edits of ``passdock.Function``.

    Args:
        functions: Functions of other modules by their new names. They are copied with their callees.
    """

    def __new__(cls, functions: Module | Mapping[Any, Function] | None = None) -> Self: ...
    def update(self, other: Module | Mapping[Any, Function], /) -> None:
        """Adds or replaces functions, from another module or from a dict of names to functions, with their callees.
        Functions of earlier opsets are raised to the latest one.

        Raises EditError if a callee has the name of a different function here, and PassError if an op can't be raised.
        """
    @staticmethod
    def from_text(text: str, name: str = "<string>", allow_outside_data: bool = False) -> Module:
        """Parses IR text.

        Args:
            name: The name of the text in messages.
            allow_outside_data: Whether data files may be outside the current directory.

        Raises ModelError with the line if the text isn't a module.
        """
    @staticmethod
    def read(path: _Path, *, allow_outside_data: bool = False) -> Module:
        """Reads a model file: ``.onnx`` or ``.ir``.

        Files above 64 MB and data files are memory-mapped. They must not change while the module, anything obtained
        from it, or a text or pickle that refers to them is in use.

        Args:
            allow_outside_data: Whether data files may be outside the model's directory.

        Raises ModelError if the file can't be read or isn't a model.
        """
    @staticmethod
    def from_onnx(data: bytes, name: str = "<bytes>") -> Module:
        """Parses the bytes of an ONNX model without external data.

        Raises ModelError if the bytes aren't such a model.
        """
    def write(self, path: _Path, *, value_info: bool = False) -> None:
        """Writes a model file, ``.onnx`` or ``.ir``, atomically.

        Args:
            value_info: Whether an ONNX file declares the types of all values.

        Raises PassError if the file can't be written, or the format can't represent the module.
        """
    def to_onnx(self) -> bytes:
        """Encodes the module as an ONNX model without external data.

        Raises PassError if ONNX can't represent the module.
        """
    def text(self, *, brief: bool = False) -> str:
        """Returns the module as IR text.

        Args:
            brief: Whether the text is only for humans: values are numbered and long data is truncated. It can't be
                parsed.
        """
    @property
    def functions(self) -> list[Function]:
        """The functions, in order."""
    @property
    def op_count(self) -> int:
        """The number of ops of all functions and regions, without constants and terminators."""
    @overload
    def get(self, name: _Name) -> Function | None:
        """Returns the function with this name, or ``default``."""
    @overload
    def get(self, name: _Name, default: _T) -> Function | _T:
        """Returns the function with this name, or ``default``."""
    def create(self, name: str, *, kind: str = "fn", like: str | None = "main") -> Function:
        """Creates a function with an empty body, in a module pass. Add parameters and ops, then set its results.

        Args:
            like: The function whose opsets the new one imports.

        Raises EditError if the name is taken.
        """
    def remove(self, name: str) -> None:
        """Removes a function, in a module pass. Its objects then raise ``passdock.StaleError``, even if another
        function takes the name.

        Raises EditError if there is no function of that name.
        """
    def __getitem__(self, key: _Name, /) -> Function: ...
    def __setitem__(self, key: _Name, value: Function, /) -> None: ...
    def __contains__(self, key: _Name, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __copy__(self) -> Module: ...
    def __deepcopy__(self, _memo: Any) -> Module: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class NativeInstrument:
    """An instrument of the host or of a plugin, created by ``passdock.instrument.get_instrument``."""

    def __new__(cls, name: str, **options: Any) -> Self: ...
    @property
    def name(self) -> str:
        """The instrument's name."""
    def report(self) -> str | None:
        """Returns the instrument's report so far as text; None if it has none.

        Raises PassError if the instrument fails.
        """
    def report_data(self) -> Any:
        """Returns the report as data; None if it has none."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Op:
    """An op of a function.

    Two objects are equal if they refer to the same op of the same function. After the op is erased, all members but
    ``is_live`` raise ``passdock.StaleError``.
    """

    @property
    def function(self) -> Function:
        """The function that contains the op."""
    @property
    def name(self) -> str:
        """The op's name, including the domain: ``"onnx.Relu"``."""
    @property
    def kind(self) -> str:
        """The kind of the op for visitors: ``"call"``, ``"if"``, ``"for"``, ``"while"``, ``"loop"``, ``"scan"``,
        ``"tuple"``, ``"tuple_get"``, ``"terminator"``, or ``"other"``.
        """
    @property
    def operands(self) -> list[Value | None]:
        """The operands; None for an omitted one."""
    @property
    def operand_count(self) -> int:
        """The number of operands, including omitted ones."""
    def operand(self, index: int) -> Value | None:
        """Returns an operand; None if it is omitted or the index is too large.

        Raises IndexError for a negative index.
        """
    @property
    def results(self) -> list[Value]:
        """The results."""
    @property
    def result(self) -> Value:
        """The only result.

        Raises ValueError unless there is exactly one.
        """
    @property
    def attrs(self) -> dict[str, Any]:
        """A copy of the attributes: ints, floats, strings, lists of those, tensors as ``Constant``."""
    @property
    def metadata(self) -> dict[str, str]:
        """A copy of the metadata, which no operator reads: the ``metadata_props`` of a node in an ONNX file."""
    def attr(self, name: str, default: Any = None) -> Any:
        """Returns an attribute, or ``default`` if the op doesn't have it. ``ctx.attr_default`` returns the default of
        the operator's definition.
        """
    @property
    def regions(self) -> list[Region]:
        """The op's regions."""
    @property
    def region_count(self) -> int:
        """The number of regions."""
    def region(self, name: str) -> Region:
        """Returns the region with this name: ``op.region("then_branch")``.

        Raises KeyError if there is none.
        """
    @property
    def parent_region(self) -> Region:
        """The region that contains the op."""
    @property
    def loc(self) -> str | None:
        """The name of the ONNX node from which the op comes; None if there is none, or several."""
    @property
    def is_pure(self) -> bool:
        """Whether the op is free of side effects according to its definition. Always False outside of passes."""
    @property
    def callee(self) -> str | None:
        """The name of the called function of the module; None if the op isn't a call."""
    def is_before(self, other: Op) -> bool:
        """Returns whether the op is before another op of the function, in the order of ``Function.ops``."""
    @property
    def is_live(self) -> bool:
        """Whether the op exists, that is, wasn't erased by an edit."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PassContext:
    """The settings that passes run under: the level, names, instruments and config.

    ``with PassContext(opt_level=3):`` makes the context the thread's current one. It inherits nothing from the
    surrounding context. As in TVM, asyncio tasks on a thread share one stack of contexts, so don't enter a context
    around an ``await``. Leaving the context raises errors of instruments, and errors that occurred while analyses of
    plugins were freed.

    Args:
        opt_level: The level, 2 by default. Passes of a higher level don't run.
        required_pass: Names of passes that run at any level, and that instruments can't veto.
        disabled_pass: Names of passes that don't run.
        instruments: Instruments that observe the passes.
        config: Values for the keys of ``list_configs()``.
        renderer: Renders the diagnostics of passes: a ``DiagnosticRenderer``, or a function of a ``DiagnosticContext``.

    Raises ConfigError for an unknown key or field, or an invalid value.
    """

    def __new__(
        cls,
        opt_level: int | None = None,
        required_pass: _Names = None,
        disabled_pass: _Names = None,
        instruments: Sequence[object] | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        renderer: DiagnosticRenderer | Callable[[DiagnosticContext], Any] | None = None,
    ) -> Self: ...
    @staticmethod
    def current() -> PassContext:
        """Returns the current context: the innermost one that this thread entered, or the thread's own."""
    def __enter__(self) -> PassContext: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> Literal[False]: ...
    def override_instruments(self, instruments: Sequence[object] | None) -> None:
        """Replaces the context's instruments, even if the context is entered: the old ones are exited, the new ones entered.
        None removes all.

        Raises the exception of an instrument; the context then has none.
        """
    def instrument_enter_pass_ctx(self) -> None:
        """Calls ``enter_pass_ctx`` of the instruments, like ``with``."""
    def instrument_exit_pass_ctx(self) -> None:
        """Calls ``exit_pass_ctx`` of the instruments, like the end of ``with``."""
    def instrument_before_pass(self, module: Module, info: PassInfo) -> bool:
        """Returns whether the instruments let a pass run. If so, calls their ``run_before_pass``, as running a pass does
        .
        """
    def instrument_after_pass(self, module: Module, info: PassInfo) -> None:
        """Calls ``run_after_pass`` of the instruments with the module that a pass returned."""
    @staticmethod
    def list_configs() -> dict[str, dict[str, Any]]:
        """Returns the registered config keys. Each has its type (``"dict"`` for one with fields), default,
        documentation, plugin and fields. TVM's aliases are included, with the key that they refer to.
        """
    @property
    def opt_level(self) -> int:
        """The level; passes of a higher one don't run."""
    @property
    def given_opt_level(self) -> int | None:
        """The level, if one was given; None for the default."""
    @property
    def required_pass(self) -> tuple[str, ...]:
        """The passes that run at any level."""
    @property
    def disabled_pass(self) -> tuple[str, ...]:
        """The passes that don't run."""
    @property
    def instruments(self) -> tuple[Any, ...]:
        """The instruments, in order."""
    @property
    def config(self) -> dict[str, Any]:
        """The given config values, by the keys' full names. ``config[key]`` returns the default for other keys, accepts
        aliases, and has fields as attributes: ``ctx.config["tir.UnrollLoop"].auto_max_step``.
        """
    def get_config(self, key: str) -> Any:
        """Returns the value of a config key: the given one, or the registered default. Fields are attributes, too.

        Raises ConfigError if there is no such key.
        """
    @property
    def diag_ctx(self) -> DiagnosticContext | None:
        """The diagnostics of the running pass; None outside of passes."""
    def emit(self, diagnostic: Diagnostic) -> None:
        """Emits a diagnostic. It is rendered after the running pass returns, or immediately outside of passes. An error
        makes the pass fail.
        """
    def infer(self, op: Op) -> None:
        """Infers the types of an op's results according to its definition, in a pass. Parts that can't be inferred
        don't change.

        Raises EditError with the definition's message if the op is invalid.
        """
    def create_value(
        self,
        function: Function,
        name: str,
        operands: _Operands,
        *,
        attrs: Mapping[str, _Attr] | None = None,
        results: _Results | None = None,
        before: Op | None = None,
        after: Op | None = None,
        end_of: Region | None = None,
        custom: bool = False,
    ) -> Value:
        """Creates an op, infers the types of its results, and returns the first one.

        The arguments are those of ``Function.create_op``.

        Raises EditError if the edit would make the IR invalid, or the definition rejects the op.
        """
    def evaluate(self, op: Op, max_bytes: int = ...) -> list[Value] | None:
        """Evaluates an op with constant operands and returns its results as constants. None if that isn't possible, or
        the results need more than ``max_bytes`` bytes.
        """
    def decompose(self, op: Op) -> list[Value | None] | None:
        """Copies the body of an op's definition before the op. Returns the values that replace its results, or None if
        the definition has no body.
        """
    def attr_default(self, op: Op, name: str) -> Any:
        """Returns the default of an attribute according to the op's definition; None if it has none."""
    def run_pass(self, module: Module, name: str) -> None:
        """Runs a registered pass on the module of a module pass, with instruments.

        Raises UnknownNameError if there is no pass of that name, and the exception of the pass if it fails.
        """
    def rewrite(self, function: Function, rules: Rules) -> None:
        """Rewrites a function by rules until a fixed point, in a pass. The report counts the rewrites of each rule.

        Raises the exception of a rule's code, and PassError if rules keep undoing each other.
        """
    def may_rewrite(self, rule: str) -> bool:
        """Returns whether a rule of this name may rewrite again. Call it right before a change, and ``rewrote``
        afterwards.
        """
    def rewrote(self, rule: str) -> None:
        """Counts a rewrite of the rule of this name, for the report."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Fingerprint:
    """The inputs that all results of a batch depend on: the passdock version, the request, and the files of its plugins
    and Python passes.
    """

    def __new__(cls, fields: Mapping[str, Any], files: Sequence[_Path]) -> Fingerprint: ...
    def for_file(self, model: _Path) -> str:
        """Returns the fingerprint of the result of a model file, as ``passdock batch`` computes it."""
    def for_address(self, address: str, state: str) -> str:
        """Returns the fingerprint of the result of a model at an address. ``state`` has to change when the model does.
        """

@final
class BatchResults:
    """The file of results, locked by this batch until it is closed. Results are JSON."""

    def __new__(cls, path: _Path) -> BatchResults: ...
    def known(self, model: _Path, output: _Path, fingerprint: str) -> str | None:
        """Returns the result of a model if it succeeded with the same fingerprint. The output file may be missing."""
    def add(self, result: str) -> None:
        """Appends a result in a single write."""
    def close(self) -> None:
        """Closes the file, so that another batch can open it."""

@final
class Worker:
    """A worker process that runs models, and the settings to start more of them.

    Args:
        fields: The request, without a model.
        command: The program and its arguments.
        environment: Variables in addition to those of this process.
        job: The job of a Python worker, as JSON. Without it, the worker is the passdock command.
        timeout: The time limit of a run, in seconds.
        sandbox: Whether the command runs plugins in a sandbox: "auto", "require" or "off".
    """

    def __new__(
        cls,
        fields: Mapping[str, Any],
        command: Sequence[str],
        environment: Sequence[tuple[str, str]],
        job: str | None = None,
        timeout: float | None = None,
        sandbox: str = "auto",
    ) -> Worker: ...
    def start(self) -> None:
        """Starts the process.

        Raises PassError if it can't be started.
        """
    def explain(self) -> tuple[str, bool]:
        """Resolves the pipeline in the process. Returns the report as JSON, and whether the process crashed."""
    def run(self, model: _Path, output: _Path, jobs: int | None) -> tuple[str, bool]:
        """Runs a model. Returns the report as JSON, and whether the process crashed."""
    def close(self) -> None:
        """Terminates the process, and the processes of batches of this worker."""

@final
class Batch:
    """A running batch. Its results are JSON."""

    def __new__(
        cls,
        worker: Worker,
        fingerprint: Fingerprint,
        items: Sequence[tuple[_Path, _Path]],
        results: _Path,
        at_once: int | None,
        resume: bool,
    ) -> Batch:
        """Starts a batch of pairs of a model and its output.

        Args:
            resume: Whether to skip models that are done already.
        """
    def next(self) -> str | None:
        """Waits for the next result and returns it as JSON; None at the end.

        Raises PassError if results can't be stored.
        """
    def close(self) -> None:
        """Stops the batch and terminates its processes."""

@final
class PassDiagnostics:
    """The diagnostics that a running pass has emitted."""

    __hash__: None  # type: ignore[assignment]
    @property
    def pass_name(self) -> str:
        """The name of the pass."""
    def collected(self) -> list[tuple[dict[str, Any], str]]:
        """Returns the fields and the text of each diagnostic."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class PassHandle:
    """A pass, wrapped by the classes of ``passdock.transform``."""

    @staticmethod
    def from_function(kind: str, info: PassInfo, run: Callable[..., Any]) -> PassHandle:
        """Creates a pass from a Python function.

        Args:
            kind: ``"module"``, ``"function"`` or ``"prim_func"``.
        """
    @staticmethod
    def sequential(passes: list[Any], info: PassInfo, disabled: _Names = None) -> PassHandle:
        """Creates a Sequential of passes."""
    @staticmethod
    def registered(name: str, options: Mapping[str, Any] | None = None) -> PassHandle:
        """Returns the registered pass with this name, with options."""
    @staticmethod
    def from_pipeline(path: _Path, text: str, trust: bool) -> PassHandle:
        """Creates the pass of a pipeline, given its name or path, its text, and whether it is trusted."""
    def register(self, overrides: bool = False) -> None:
        """Registers the pass under its name.

        Args:
            overrides: Whether to replace a registered pass of the same name.
        """
    @property
    def origin(self) -> tuple[str, dict[str, Any]] | None:
        """The name and options of a pass from the registry."""
    def applied_to(self, regex: str, error_if_none: bool) -> PassHandle:
        """Creates a pass that runs this one on the functions with matching names."""
    @property
    def info(self) -> PassInfo:
        """The metadata of the pass."""
    @property
    def kind(self) -> str:
        """``"module"``, ``"function"``, ``"prim_func"`` or ``"sequential"``."""
    @property
    def children(self) -> list[Pass] | None:
        """The passes of a Sequential, as the program gave them."""
    @property
    def child_handles(self) -> list[PassHandle]:
        """The handles of the passes of a registered Sequential."""
    def resolved(self, context: PassContext | None = None) -> list[Any]:
        """Returns the passes that a Sequential would run under a context (by default the current one), in order: the
        program's objects for the passes that it gave, handles for others.
        """
    def describe(self) -> str:
        """Describes the pass: its name, its level, and the passes of a Sequential."""
    def call(self, module: Module, context: PassContext | None = None) -> Module:
        """Runs the pass on a module, under a context (by default the current one)."""

@final
class Region:
    """A region: arguments, and ops in order, the last of which is the terminator.

    It exists as long as its op. Afterwards all members but ``is_live`` raise ``passdock.StaleError``.
    """

    @property
    def is_live(self) -> bool:
        """Whether the region exists, that is, its op wasn't erased by an edit."""
    @property
    def name(self) -> str:
        """The region's name, which is that of its attribute: ``"then_branch"``."""
    @property
    def args(self) -> list[Value]:
        """The arguments."""
    @property
    def ops(self) -> list[Op]:
        """The ops directly in the region, in order, without the terminator."""
    @property
    def all_ops(self) -> list[Op]:
        """The ops directly in the region, in order, including the terminator."""
    @property
    def terminator(self) -> Op | None:
        """The terminator of the region."""
    @property
    def parent_op(self) -> Op | None:
        """The op that contains the region; None for the body of a function."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Rewriter:
    """Builds the replacement in the code of a rule. New ops are inserted before the replaced op, and folded to
    constants if their operands are constant.
    """

    @property
    def function(self) -> Function:
        """The function, read-only."""
    def op(
        self,
        name: str,
        operands: _Operands,
        attrs: Mapping[str, _Attr] | None = None,
        *,
        results: int = 1,
        custom: bool = False,
    ) -> Value:
        """Creates an op and returns its first result: ``rewriter.op("onnx.Add", [x, y])``.

        Args:
            custom: As for ``Function.create_op``.
        """
    def scalar(self, dtype: str, number: float) -> Value:
        """Creates a scalar constant of a dtype.

        Raises ValueError if the dtype can't represent the number, or for an integer above 2**53 that no float
        represents: use ``ints``.
        """
    def ints(self, ints: Sequence[int]) -> Value:
        """Creates a constant int64 tensor of rank 1."""
    def number(self, value: Value) -> float | None:
        """Returns the number that all elements of a constant are equal to; None if they differ or the value isn't
        constant.
        """

@final
class Rules:
    """Rewrite rules, as described in ``docs/rules.md``: ``Rules("rule a { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x)
    }")``.

    ``ctx.rewrite(func, rules)`` rewrites a function until a fixed point. ``a + b`` contains the rules of both.

    Raises PipelineError if the text is invalid.
    """

    def __new__(cls, text: str) -> Self: ...
    @staticmethod
    def with_code(name: str, pattern: str, code: Callable[[Rewriter, Match], Any]) -> Rules:
        """Creates a rule whose replacement is built by a function. ``code(rewriter, match)`` returns a value for each
        result of the pattern's last op, a single value, or None to reject the match.
        """
    @property
    def names(self) -> list[str]:
        """The names of the rules, in order."""
    def __add__(self, value: Rules, /) -> Rules: ...
    def __radd__(self, value: Rules, /) -> Rules: ...
    def __len__(self) -> int: ...

@final
class Type:
    """The type of a value in a function. ``str(type)`` is its IR text, ``f32[n,3,32]``. Two types are equal if
    their texts are equal. A type is also equal to its text.
    """

    @property
    def kind(self) -> str:
        """``"tensor"``, ``"buffer"``, ``"scalar"``, ``"tuple"``, ``"sequence"``, ``"optional"``, ``"map"``, or
        ``"other"``.
        """
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``; None if it is unknown, or the type has none."""
    @property
    def shape(self) -> _Shape | None:
        """The sizes, as for ``Value.shape``."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Value:
    """A value of a function: a parameter, a result of an op, or a constant.

    Two objects are equal if they refer to the same value of the same function.
    """

    @property
    def function(self) -> Function:
        """The function that contains the value."""
    @property
    def name(self) -> str | None:
        """The value's name; None if it has none."""
    @property
    def metadata(self) -> dict[str, str]:
        """A copy of the metadata, which no operator reads: the ``metadata_props`` of a ``ValueInfo`` or of an
        initializer in an ONNX file.
        """
    @property
    def type(self) -> Type:
        """The value's type."""
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``; None if it is unknown, or the type has none."""
    @property
    def shape(self) -> _Shape | None:
        """The sizes: an int, a symbol or an expression as a string (``"n"``, ``"n*2"``), or None if unknown. Symbols
        that aren't identifiers are quoted, as in IR text. None instead of a tuple if the rank is unknown. ``("f32",
        value.shape)`` is valid as a type argument.
        """
    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if it is unknown."""
    @property
    def defining_op(self) -> Op | None:
        """The op that defines the value; None for parameters and constants."""
    @property
    def index(self) -> int:
        """The index among the results of its op or the arguments of its region."""
    @property
    def constant(self) -> Constant | None:
        """The constant, if the value is one; None for parameters and results."""
    @property
    def use_count(self) -> int:
        """The number of uses."""
    @property
    def users(self) -> list[Op]:
        """The ops that use the value, without duplicates, including terminators."""
    @property
    def uses(self) -> list[tuple[Op, int]]:
        """The uses: each user with the index of the operand."""
    @property
    def is_live(self) -> bool:
        """Whether the value exists, that is, wasn't erased by an edit."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def batch_items(models: Sequence[_Path], to: _Path) -> list[tuple[_Path, _Path]]:
    """Returns the models in files and directories, with the paths of their results."""

def built_in(name: str) -> str:
    """Returns the text of a built-in pipeline."""

def config_schema(key: str) -> dict[str, Any]:
    """Returns the schema of a registered config key."""

def declaration(name: str) -> dict[str, Any]:
    """Returns the declaration of a registered pass: its options, aliases and phase."""

def diagnostic_text(diagnostic: Diagnostic) -> str:
    """Renders a diagnostic of a program, as the command prints it."""

def escaped(text: str) -> str:
    """Escapes a text for terminals, except for line ends."""

def escaped_json(json: str) -> str:
    """Escapes hidden characters in JSON."""

def explain(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the passes that a request would run, in order, with reasons: the data of ``passdock explain --json``."""

def list_passes() -> list[str]:
    """Returns the names of the registered passes."""

def own_name(name: str) -> str:
    """Returns the full name of the pass that a name or alias refers to; an unknown name is returned unchanged."""

def load_dir(path: _Path) -> None:
    """Adds the plugins of a directory to the registry.

    Raises PluginError if the directory doesn't exist or one of its plugins can't be used.
    """

def default_dirs(prefixes: Sequence[_Path]) -> list[str]:
    """Returns the plugin directories that are searched by default, in search order: those in ``PASSDOCK_PLUGIN_PATH``,
    those in installation prefixes, and those of the user's installed plugins.
    """

def load_dirs(paths: Sequence[_Path]) -> list[str]:
    """Adds the plugins of default directories, which need not exist, to the registry. Returns the errors of plugins that
    conflict with others.
    """

def load_plugin(path: _Path) -> None:
    """Adds a plugin file to the registry. The plugin is loaded when one of its passes is needed.

    Raises PluginError if the file isn't a plugin or can't be used, and UsageError if one of its names is taken.
    """

def override_renderer(render: Callable[[list[tuple[dict[str, Any], str]]], Any] | None) -> None:
    """Sets the function that renders the diagnostics of passes that start from now on. It receives a list of fields and
    texts. None restores the standard renderer.
    """

def register_config(key: str, default: Any, doc: str = "") -> None:
    """Registers a config key.

    Args:
        default: A dict of field names to defaults, or the default of a key with a single value.
    """

def one_line(text: str) -> str:
    """Returns a text as one line for terminals."""

def rendered(json: str) -> list[str]:
    """Renders the diagnostics of a report."""

def run(
    fields: dict[str, Any],
    module: Module | None = None,
    on_pass: Callable[[str], object] | None = None,
    instruments: Sequence[Any] | None = None,
) -> tuple[str, list[tuple[bool, str]], Module | None, BaseException | None]:
    """Runs a request on a module, or from file to file."""

def set_importer(find: Callable[[str, bool], PassHandle]) -> None:
    """Sets the function that imports the passes of `python` entries. It receives `package.module:name` and whether the
    pipeline is trusted, and returns a `PassHandle`.
    """

def toml_text(text: str) -> str:
    """Returns a string as TOML."""

def version() -> str:
    """Returns the version of the host."""
