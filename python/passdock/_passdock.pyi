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
# A type as a program says it: "f32[n,3]", ("f32", ("n", 3)), one of the function, or None for what nobody knows.
_SaidType: TypeAlias = str | tuple[str, Sequence[int | str | None] | None] | Type | None
# How many results an op has, or their types.
_Results: TypeAlias = int | Sequence[_SaidType]
# What an attribute is set to.
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
    "Buffer",
    "Constant",
    "Fingerprint",
    "Function",
    "Match",
    "Module",
    "NativeInstrument",
    "Op",
    "Outcomes",
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
    "diagnostic_text",
    "explain",
    "list_passes",
    "load_dir",
    "load_plugin",
    "override_renderer",
    "own_name",
    "register_config",
    "rendered",
    "run",
    "set_importer",
    "version",
]

@final
class Buffer:
    """Bytes of the host that Python views, and holds."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Constant:
    """The data of a constant: of a value, or of a tensor in an attribute.

    ``numpy()`` views the elements where the host has them; they stay as long as anybody holds them, whatever
    becomes of the module.
    """

    @property
    def data(self) -> Buffer:
        """The bytes of the elements, as ONNX lays them out: those of one element for a splat."""
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``."""
    @property
    def is_splat(self) -> bool:
        """Whether all elements are one, which is kept once."""
    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
    @property
    def strings(self) -> list[str | bytes]:
        """The texts of a constant of ``"str"``, in order: that of one element for a splat. One that isn't UTF-8 is bytes.

        Raises TypeError for a constant of another dtype.
        """
    def numpy(self) -> npt.NDArray[Any]:
        """The elements as a NumPy array that can't be written: a view of the host's bytes.

        A splat is one element with strides of 0. bfloat16, float8 and their like take the package ml_dtypes.
        Elements of less than a byte, and texts, come as a copy: NumPy has no other way to lay them out.
        """
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

@final
class Function:
    """A function of a module: a graph function (``fn``), or one of the loop level (``prim``).

    Outside of passes a function is there to be read. A pass edits the function that it is given, by the
    methods of this class; the module that came in stays as it is.
    """

    @property
    def name(self) -> str:
        """The function's name."""
    @property
    def kind(self) -> Literal["fn", "prim"]:
        """``"fn"`` for a graph function, ``"prim"`` for one of the loop level."""
    @property
    def params(self) -> list[Value]:
        """The parameters, as values."""
    @property
    def results(self) -> list[Value]:
        """The values that the function returns."""
    @property
    def constants(self) -> list[Value]:
        """The constants of the function, as values."""
    @property
    def body(self) -> Region:
        """The body: the region whose arguments are the parameters."""
    @property
    def ops(self) -> list[Op]:
        """All ops in program order, those of nested regions included, without the ends of regions."""
    @property
    def op_count(self) -> int:
        """The number of ops, without the ends of regions."""
    @property
    def opsets(self) -> dict[str, int]:
        """The versions of the domains that ops mean: ``{"": 17}``."""
    @property
    def attrs(self) -> dict[str, Any]:
        """The function's attributes, a copy."""
    @property
    def is_editable(self) -> bool:
        """Whether it can be edited: whether it is the one that a running pass was given."""
    def ops_named(self, name: str) -> list[Op]:
        """The ops of an operator's name, in program order: ``func.ops_named("onnx.Relu")``.

        None if a function of the module has the operator's name, too.
        """
    def walk(self) -> list[Op]:
        """All ops in program order, those of nested regions and the ends of regions included."""
    def value(self, name: str) -> Value:
        """A parameter, a result of an op or a constant by its name: ``"x"``, or ``"0"`` for one without a name that the
        function's text calls ``%0``.

        Raises KeyError if no value has the name. Takes time with the size of the function.
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
        """Makes an op: ``func.create_op("onnx.Add", [x, y], before=op)``.

        name: domain included. operands: values, None for one that is left out. attrs: by name. results: how many
        (one by default), or their types: ``["f32[n,3]"]``. It goes before or after an op, or to the end of a region;
        without any of these to the end of the body. The types of its results are ``ctx.infer``'s to find, or
        ``ctx.create_value`` makes op and types at once. custom: makes an operator that no plugin defines; not needed
        for a domain that nobody defines, if the function has an opset of it.

        Raises EditError if the IR would be wrong with it, nobody defines the operator, or it has other operands or
        attributes.
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
        """Puts a new op in the place of one, whose results it takes over: ``func.replace_op(op, "acme.Relu", [x])``.

        keep_attrs: whether it starts with the attributes of the old one. It has the old one's location, and its
        results the old types, if nothing else is said. custom: as of ``create_op``.

        Raises EditError if the IR would be wrong with it, nobody defines the operator, or it has other operands or
        attributes.
        """
    def replace_op_with(self, op: Op, values: _Operands, *, erase_dead: bool = False) -> None:
        """Puts values in the place of an op's results, and erases the op: ``func.replace_op_with(op, [x])``.

        erase_dead: whether what nobody uses any more goes, too: the ops that the op was made of.

        Raises EditError if there aren't as many values as results, or the IR would be wrong with them.
        """
    def erase_op(self, op: Op) -> None:
        """Erases an op, whose results nobody may use.

        Raises EditError if somebody does.
        """
    def move_op(
        self, op: Op, *, before: Op | None = None, after: Op | None = None, end_of: Region | None = None
    ) -> None:
        """Moves an op before or after another one, or to the end of a region.

        Raises EditError if a value would be used before it is there.
        """
    def set_operand(self, op: Op, index: int, value: Value | None) -> None:
        """Sets an operand; None leaves it out.

        Raises EditError if the value isn't there yet, or there is no such operand, and IndexError for a negative index.
        """
    def replace_uses(self, value: Value, by: Value) -> None:
        """Puts a value in the place of another one, wherever that is used.

        Raises EditError if it isn't there yet somewhere, or its type contradicts.
        """
    def set_attr(self, op: Op, name: str, value: _Attr, *, custom: bool = False) -> None:
        """Sets an attribute of an op. custom: also one that the operator doesn't have by its definition.

        Raises EditError if it doesn't have it, or of another kind.
        """
    def remove_attr(self, op: Op, name: str) -> None:
        """Removes an attribute of an op."""
    def set_function_attr(self, name: str, value: _Attr) -> None:
        """Sets an attribute of the function."""
    def remove_function_attr(self, name: str) -> None:
        """Removes an attribute of the function.

        Raises EditError if it has none of the name.
        """
    def set_type(self, value: Value, type: _SaidType) -> None:
        """Refines the type of a value: a text (``"f32[n,3]"``), a pair of dtype and shape, or another value's type.

        Raises EditError if it contradicts what is known.
        """
    def set_value_name(self, value: Value, name: str) -> None:
        """Names a value. A name that is taken gets a number behind it."""
    def add_constant(
        self, data: npt.ArrayLike | Constant, dtype: npt.DTypeLike | None = None, *, name: str | None = None
    ) -> Value:
        """Adds a constant: a NumPy array, or what makes one (``2.0``, ``[1, 2]``, ``["a", "b"]``), whose bytes are copied. The
        elements of a ``Constant`` are shared.

        dtype: ``"f32"`` or a dtype of NumPy, if it isn't the array's own. name: that of the value.

        A name that is taken gets a number behind it. Raises TypeError for what no constant is made of, and ValueError for
        elements that the dtype doesn't have.
        """
    def erase_dead(self, value: Value) -> None:
        """Erases ops, constants and what they were made of, as far as nobody uses them: beginning with a value."""
    def set_results(
        self, values: _Operands, region: Region | None = None, *, names: Sequence[str] | None = None
    ) -> None:
        """Sets what the function returns, or a region yields.

        names: the names of the results, which then have their values' types; without it those of before stay, and those
        of a function that had none are their values'.

        Raises EditError if a value isn't visible there, and ValueError if there isn't a name for each.
        """
    def set_opset(self, domain: str, version: int) -> None:
        """Sets the version of a domain; ``""`` is ONNX's own."""
    def set_loc_from(self, op: Op, ops: Sequence[Op]) -> None:
        """Says of an op that it comes from others: its location becomes theirs."""
    def inline_region(self, op: Op, region: str, args: _Operands = ...) -> list[Value | None]:
        """Moves what is in a region of an op before the op, where ``args`` stand for the region's arguments. Answers what the
        region yields: ``func.replace_op_with(op, values)`` puts it in the op's place.

        Raises EditError if there is no such region, or there isn't one value for each argument.
        """
    def add_param(self, name: str, type: _SaidType) -> Value:
        """Adds a parameter behind the others; a new function has none."""

@final
class Match:
    """What a rule found: ``match["x"]`` is the value of ``%x``."""

    @property
    def function(self) -> Function:
        """The function, to read."""
    @property
    def root(self) -> Op:
        """The op that is replaced."""
    @property
    def rule(self) -> str:
        """The rule's name."""
    def __getitem__(self, key: str, /) -> Value | None: ...
    def values(self, name: str) -> list[Value | None]:
        """The values of ``%name...``."""
    def attr(self, name: str) -> Any:
        """The value of the attribute ``$name``; None if the op leaves it out, and it has no default."""

@final
class Module:
    """A module: a model's functions, by name. ``module["main"]`` is the graph of an ONNX model.

    functions: of each name a function of another module, which is copied, with those that it calls.

    ``str(module)`` is its IR text. A pass makes another module and leaves the one that it is called on as it was; the program
    may put functions into it, by ``module["f"] = other["g"]`` and ``update``. The one that a module pass is given is its own to
    edit: ``mod["main"]`` is a function with the edits of ``passdock.Function``.
    """

    def __new__(cls, functions: Module | Mapping[Any, Function] | None = None) -> Self: ...
    def update(self, other: Module | Mapping[Any, Function], /) -> None:
        """Puts the functions of another module, or of a dict of names to functions, into this one, also over those that have
        their names, with the functions that they call. Functions of an earlier opset than others are raised to theirs.

        Raises EditError if a function that is called has the name of another one here, and PassError if an op can't be raised.
        """
    @staticmethod
    def from_text(text: str, name: str = "<string>", allow_outside_data: bool = False) -> Module:
        """Reads IR text. name: that of the text in messages. allow_outside_data: whether its data may be in files outside
        of the current directory.

        Raises ModelError, with the line, if it isn't a module.
        """
    @staticmethod
    def read(path: _Path, *, allow_outside_data: bool = False) -> Module:
        """Reads a model's file: ``.onnx`` or ``.ir``. One above 64 MB, and data beside it, is mapped: it must not
        change as long as anything of it is used, or a text or a pickle, which refer to it.

        allow_outside_data: whether its data may be outside of its directory.

        Raises ModelError if it can't be read, or holds no model.
        """
    @staticmethod
    def from_onnx(data: bytes, name: str = "<bytes>") -> Module:
        """Reads the bytes of an ONNX model whose data is all inside of it.

        Raises ModelError if they are none.
        """
    def write(self, path: _Path, *, value_info: bool = False) -> None:
        """Writes a model's file: ``.onnx`` or ``.ir``. The file is there when it is whole.

        value_info: whether an ONNX file declares the types of all values.

        Raises PassError if it can't be written, or the format has no way to say something of it.
        """
    def to_onnx(self) -> bytes:
        """The bytes of the module as an ONNX model, all data inside.

        Raises PassError if ONNX has no way to say something of it.
        """
    def text(self, *, brief: bool = False) -> str:
        """The module as IR text. brief: for reading, values numbered, long data cut; it can't be read back then."""
    @property
    def functions(self) -> list[Function]:
        """The functions, in order."""
    @property
    def op_count(self) -> int:
        """The number of ops of all functions and regions, without constants and the ends of regions."""
    @overload
    def get(self, name: _Name) -> Function | None:
        """The function of a name, or ``default``."""
    @overload
    def get(self, name: _Name, default: _T) -> Function | _T:
        """The function of a name, or ``default``."""
    def create(self, name: str, *, kind: str = "fn", like: str | None = "main") -> Function:
        """Makes a function with an empty body, in a module pass: add parameters and ops, then set its results. It has
        the opsets of the function ``like``.

        Raises EditError if the name is taken.
        """
    def remove(self, name: str) -> None:
        """Removes a function, in a module pass. Its objects raise ``passdock.StaleError`` then, also if another function
        takes the name.

        Raises EditError if there is none of the name.
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
    """An instrument of the host's, or of a plugin: made by ``passdock.instrument.get_instrument``."""

    def __new__(cls, name: str, **options: Any) -> Self: ...
    @property
    def name(self) -> str:
        """The instrument's name."""
    def report(self) -> str | None:
        """What it has to show so far, as a text; None if it shows nothing.

        Raises PassError if it fails over it.
        """
    def report_data(self) -> Any:
        """The same as data; None if it has none."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Op:
    """An op of a function.

    Two of them are equal if they are the same op of the same function. What an edit erased isn't there any
    more: everything but ``is_live`` raises ``passdock.StaleError`` then.
    """

    @property
    def function(self) -> Function:
        """The function that the op is in."""
    @property
    def name(self) -> str:
        """The op's name, domain included: ``"onnx.Relu"``."""
    @property
    def kind(self) -> str:
        """What visitors call the op: ``"call"``, ``"if"``, ``"for"``, ``"while"``, ``"loop"``, ``"scan"``, ``"tuple"``,
        ``"tuple_get"``, ``"terminator"``, or ``"other"``.
        """
    @property
    def operands(self) -> list[Value | None]:
        """The operands: values, and None for one that is left out."""
    @property
    def operand_count(self) -> int:
        """The number of operands, those that are left out included."""
    def operand(self, index: int) -> Value | None:
        """An operand; None if it is left out, or there are fewer.

        Raises IndexError for a negative index.
        """
    @property
    def results(self) -> list[Value]:
        """The results."""
    @property
    def result(self) -> Value:
        """The only result.

        Raises ValueError if there are none, or several.
        """
    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes, a copy: ints, floats, texts, lists of those, tensors as ``Constant``."""
    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default`` if the op doesn't say it. What the operator's definition says then is
        ``ctx.attr_default``'s to know.
        """
    @property
    def regions(self) -> list[Region]:
        """The op's regions."""
    @property
    def region_count(self) -> int:
        """The number of regions."""
    def region(self, name: str) -> Region:
        """The region of a name: ``op.region("then_branch")``.

        Raises KeyError if there is none.
        """
    @property
    def parent_region(self) -> Region:
        """The region that the op stands in."""
    @property
    def loc(self) -> str | None:
        """The name of the ONNX node that the op comes from; None if it comes from none, or from several."""
    @property
    def is_pure(self) -> bool:
        """Whether the op has no effect but its results, by its definition, which is asked in passes only: False elsewhere."""
    @property
    def callee(self) -> str | None:
        """The function of the module that the op calls, by name; None if it calls none."""
    def is_before(self, other: Op) -> bool:
        """Whether the op stands before another one of the function, in the order of ``Function.ops``."""
    @property
    def is_live(self) -> bool:
        """Whether it is there still: whether no edit erased it."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PassContext:
    """What passes run under: the level, names, instruments and config.

    opt_level: passes of a higher one aren't run, 2 by default. required_pass: names of passes that run at any level,
    and that instruments can't veto. disabled_pass: names of passes that don't run. instruments: what watches the
    passes. config: values for the keys of ``list_configs()``. renderer: what shows the diagnostics of its passes, a
    ``DiagnosticRenderer`` or a function that gets a ``DiagnosticContext``.

    ``with PassContext(opt_level=3):`` makes it the current one of the thread. A context inherits nothing of the one
    around it. As in TVM, the tasks that take turns on a thread have one stack of them: none is to be entered around an
    ``await``. Leaving it raises what an instrument raises then, and of a plugin's analyses what failed while they were freed
    meanwhile.

    Raises ConfigError for a key, a field or a value that isn't right.
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
        """The current context: the innermost one that this thread entered, or the thread's own."""
    def __enter__(self) -> PassContext: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> Literal[False]: ...
    def override_instruments(self, instruments: Sequence[object] | None) -> None:
        """Puts other instruments in the place of the context's, which may be entered: the old ones are exited, the new
        ones entered. None removes all.

        Raises what an instrument raises; the context has none then.
        """
    def instrument_enter_pass_ctx(self) -> None:
        """Calls ``enter_pass_ctx`` of the instruments, as ``with`` does."""
    def instrument_exit_pass_ctx(self) -> None:
        """Calls ``exit_pass_ctx`` of the instruments, as the end of ``with`` does."""
    def instrument_before_pass(self, module: Module, info: PassInfo) -> bool:
        """Returns whether the instruments let a pass run, and calls their ``run_before_pass`` if so, as the run of a pass does."""
    def instrument_after_pass(self, module: Module, info: PassInfo) -> None:
        """Calls ``run_after_pass`` of the instruments with the module that a pass made."""
    @staticmethod
    def list_configs() -> dict[str, dict[str, Any]]:
        """The config keys that are registered: of each its type (``"dict"`` for one with fields), its default, its
        documentation, the plugin that registered it, and its fields. TVM's key for one is a key, too, with the one that it is
        the alias of.
        """
    @property
    def opt_level(self) -> int:
        """The level: passes of a higher one aren't run."""
    @property
    def given_opt_level(self) -> int | None:
        """The level, if one was given; None for the default one."""
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
        """The config values that were given, by the keys' own names. ``config[key]`` is the default for one that wasn't, an alias
        is a key, too, and fields are attributes: ``ctx.config["tir.UnrollLoop"].auto_max_step``.
        """
    def get_config(self, key: str) -> Any:
        """The value of a config key: what was given, or the default that it is registered with. Fields are attributes, too.

        Raises ConfigError if there is no such key.
        """
    @property
    def diag_ctx(self) -> DiagnosticContext | None:
        """The diagnostics of the running pass; None outside of passes."""
    def emit(self, diagnostic: Diagnostic) -> None:
        """Emits a diagnostic: shown when the running pass has returned, or at once outside of passes. An error makes the
        pass count as failed.
        """
    def infer(self, op: Op) -> None:
        """Finds the types of an op's results by its definition, in a pass. What isn't known stays as it was.

        Raises EditError if the op isn't right, in the definition's words.
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
        """Makes an op, finds the types of its results, and answers the first of them: what most new ops take. The arguments
        are those of ``Function.create_op``.

        Raises EditError if the IR would be wrong with it, or the definition says so.
        """
    def evaluate(self, op: Op, max_bytes: int = ...) -> list[Value] | None:
        """The constants that an op comes to, if its operands are constant and it can be evaluated in at most ``max_bytes``
        bytes; None otherwise.
        """
    def decompose(self, op: Op) -> list[Value | None] | None:
        """Copies the body that an op's definition gives it before the op; answers what stands for its results, or None if
        it has no body.
        """
    def attr_default(self, op: Op, name: str) -> Any:
        """The value that an attribute has where an op doesn't say it, by its definition; None if it has no default."""
    def run_pass(self, module: Module, name: str) -> None:
        """Runs a registered pass on the module that a module pass was given, instruments included.

        Raises UnknownNameError if there is none of the name, and what the pass fails with.
        """
    def rewrite(self, function: Function, rules: Rules) -> None:
        """Rewrites a function by rules until none applies, in a pass. The report counts each rule's rewrites.

        Raises what the code of a rule raises, and PassError if rules undo each other without an end.
        """
    def may_rewrite(self, rule: str) -> bool:
        """Whether a rule of this name may rewrite once more: ask right before changing anything, and say ``rewrote`` then."""
    def rewrote(self, rule: str) -> None:
        """Counts a rewrite by a rule of this name, which the report shows."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Fingerprint:
    """What all results of a batch are made of: passdock itself, the request, the files of the plugins that it uses, and those
    of passes of Python.
    """

    def __new__(cls, said: Mapping[str, Any], files: Sequence[_Path]) -> Fingerprint: ...
    def of_file(self, model: _Path) -> str:
        """The fingerprint of the result of a model's file, as the command ``passdock batch`` has it."""
    def of_address(self, address: str, state: str) -> str:
        """That of a model at an address; state: what changes when the model does."""

@final
class Outcomes:
    """The file of outcomes, which is this batch's until it is closed. Outcomes go in and out as JSON."""

    def __new__(cls, path: _Path) -> Outcomes: ...
    def known(self, model: _Path, output: _Path, fingerprint: str) -> str | None:
        """The outcome of a model, if it succeeded of the same fingerprint; its result may be gone."""
    def add(self, outcome: str) -> None:
        """Adds an outcome, in one piece."""
    def close(self) -> None:
        """Closes the file, which another batch may have then."""

@final
class Worker:
    """A process that runs models, and the way to start others like it.

    Args:
        said: the request, without a model.
        command: the program and its arguments.
        environment: variables, besides those of this process.
        job: what a worker of Python gets, as JSON; without it the worker is the command.
        timeout: seconds after which a run has failed.
    """

    def __new__(
        cls,
        said: Mapping[str, Any],
        command: Sequence[str],
        environment: Sequence[tuple[str, str]],
        job: str | None = None,
        timeout: float | None = None,
    ) -> Worker: ...
    def start(self) -> None:
        """Starts the process; raises PassError if it can't be started."""
    def explain(self) -> tuple[str, bool]:
        """Looks the pipeline up in the process; returns the report as JSON, and whether the process crashed."""
    def run(self, model: _Path, output: _Path, jobs: int | None) -> tuple[str, bool]:
        """Runs a model; returns the report as JSON, and whether the process crashed."""
    def close(self) -> None:
        """Ends the process, and those of a batch of this worker."""

@final
class Batch:
    """A batch that runs. Its outcomes come as JSON."""

    def __new__(
        cls,
        worker: Worker,
        fingerprint: Fingerprint,
        items: Sequence[tuple[_Path, _Path]],
        results: _Path,
        at_once: int | None,
        resume: bool,
    ) -> Batch:
        """Begins a batch of items, models with their outputs. resume: whether those are left out that were done before."""
    def next(self) -> str | None:
        """The next outcome, as JSON; None at the end.

        Raises PassError if outcomes can't be kept.
        """
    def close(self) -> None:
        """Ends the batch and its processes."""

@final
class PassDiagnostics:
    """The diagnostics that a running pass has emitted."""

    __hash__: None  # type: ignore[assignment]
    @property
    def pass_name(self) -> str:
        """The name of the pass."""
    def collected(self) -> list[tuple[dict[str, Any], str]]:
        """The fields and the text of each diagnostic."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class PassHandle:
    """A pass, as the classes of ``passdock.transform`` hold it."""

    @staticmethod
    def of_function(kind: str, info: PassInfo, run: Callable[..., Any]) -> PassHandle:
        """A pass whose body is a function of Python. kind: ``"module"``, ``"function"`` or ``"prim_func"``."""
    @staticmethod
    def sequential(passes: list[Any], info: PassInfo, disabled: _Names = None) -> PassHandle:
        """A Sequential of passes."""
    @staticmethod
    def registered(name: str, options: Mapping[str, Any] | None = None) -> PassHandle:
        """A pass of the registry by its name, with options."""
    @staticmethod
    def of_pipeline(path: _Path, text: str, trust: bool) -> PassHandle:
        """The pass of a pipeline: its name or path, its text, and whether it is trusted."""
    def register(self, overrides: bool = False) -> None:
        """Puts the pass in the registry, under its name. overrides: also in the place of one that has the name."""
    @property
    def origin(self) -> tuple[str, dict[str, Any]] | None:
        """The name and the options of a pass that came from the registry."""
    def applied_to(self, regex: str, error_if_none: bool) -> PassHandle:
        """A pass that runs this one on the functions whose names match."""
    @property
    def info(self) -> PassInfo:
        """What the pass says about itself."""
    @property
    def kind(self) -> str:
        """``"module"``, ``"function"``, ``"prim_func"`` or ``"sequential"``."""
    @property
    def children(self) -> list[Pass] | None:
        """The passes of a Sequential, as they were given."""
    @property
    def child_handles(self) -> list[PassHandle]:
        """The handles of the passes of a Sequential of the registry."""
    def resolved(self, context: PassContext | None = None) -> list[Any]:
        """The passes that a Sequential would run under the current context or another one, in order: the program's objects of
        those that it gave, handles of the others.
        """
    def describe(self) -> str:
        """The pass as a text: its name, its level, and of a Sequential its passes."""
    def call(self, module: Module, context: PassContext | None = None) -> Module:
        """Runs the pass on a module, under the current context or another one."""

@final
class Region:
    """A region: arguments, and ops in order, the last of which ends it.

    It is there as long as its op: afterwards everything but ``is_live`` raises ``passdock.StaleError``.
    """

    @property
    def is_live(self) -> bool:
        """Whether it is there still: whether no edit erased its op."""
    @property
    def name(self) -> str:
        """The region's name: that of the attribute that it is, ``"then_branch"``."""
    @property
    def args(self) -> list[Value]:
        """The arguments."""
    @property
    def ops(self) -> list[Op]:
        """The ops that stand directly in the region, in order, without its end."""
    @property
    def all_ops(self) -> list[Op]:
        """The ops that stand directly in the region, in order, its end included."""
    @property
    def terminator(self) -> Op | None:
        """The op that ends the region."""
    @property
    def parent_op(self) -> Op | None:
        """The op that the region belongs to; None for the body of a function."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Rewriter:
    """What the code of a rule makes its replacement with: ops that stand before the op that is replaced, and that are folded
    to constants where their operands are.
    """

    @property
    def function(self) -> Function:
        """The function, to read."""
    def op(
        self,
        name: str,
        operands: _Operands,
        attrs: Mapping[str, _Attr] | None = None,
        *,
        results: int = 1,
        custom: bool = False,
    ) -> Value:
        """Makes an op, and answers its first result: ``rewriter.op("onnx.Add", [x, y])``. custom: as of
        ``Function.create_op``.
        """
    def scalar(self, dtype: str, number: float) -> Value:
        """A constant scalar of a dtype.

        Raises ValueError if the dtype has no such number, or if it is a whole one above 2**53 that no float is: ``ints``
        takes those.
        """
    def ints(self, ints: Sequence[int]) -> Value:
        """A constant int64 tensor of rank 1."""
    def number(self, value: Value) -> float | None:
        """The number that all elements of a constant are; None if it isn't one, or they differ."""

@final
class Rules:
    """Rewriting rules, as ``docs/rules.md`` describes them: ``Rules("rule a { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }")``.

    ``ctx.rewrite(func, rules)`` rewrites a function until none applies. ``a + b`` has the rules of both.

    Raises PipelineError if the text isn't one of rules.
    """

    def __new__(cls, text: str) -> Self: ...
    @staticmethod
    def with_code(name: str, pattern: str, code: Callable[[Rewriter, Match], Any]) -> Rules:
        """A rule whose replacement is made by a function: ``code(rewriter, match)`` answers a value for each result of the
        pattern's last op, one value, or None if nothing is to be done after all.
        """
    @property
    def names(self) -> list[str]:
        """The names of the rules, in order."""
    def __add__(self, value: Rules, /) -> Rules: ...
    def __radd__(self, value: Rules, /) -> Rules: ...
    def __len__(self) -> int: ...

@final
class Type:
    """The type of a value, as its function has it. ``str(type)`` is its text: ``f32[n,3,32]``. A type is
    equal to another one of the same text, and to the text.
    """

    @property
    def kind(self) -> str:
        """``"tensor"``, ``"buffer"``, ``"scalar"``, ``"tuple"``, ``"sequence"``, ``"optional"``, ``"map"``, or ``"other"``."""
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``; None if it has none, or it isn't known."""
    @property
    def shape(self) -> _Shape | None:
        """The sizes, as of ``Value.shape``."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Value:
    """A value of a function: a parameter, a result of an op, or a constant.

    Two of them are equal if they are the same value of the same function.
    """

    @property
    def function(self) -> Function:
        """The function that the value is in."""
    @property
    def name(self) -> str | None:
        """The value's name; None if it has none."""
    @property
    def type(self) -> Type:
        """The value's type."""
    @property
    def dtype(self) -> str | None:
        """The element type, ``"f32"``; None if it isn't known, or the value has none."""
    @property
    def shape(self) -> _Shape | None:
        """The sizes: an int, the text of a symbol or an expression (``"n"``, ``"n*2"``), or None for what nobody
        knows. A symbol whose name is no word stands in quotes, as in IR text. None in place of the tuple if the rank isn't
        known. ``("f32", value.shape)`` is a type again.
        """
    @property
    def rank(self) -> int | None:
        """The number of axes; None if it isn't known."""
    @property
    def defining_op(self) -> Op | None:
        """The op that the value is a result of; None for parameters and constants."""
    @property
    def index(self) -> int:
        """Its place among the results of its op, or the arguments of its region."""
    @property
    def constant(self) -> Constant | None:
        """The constant that the value is; None if it is computed, or given."""
    @property
    def use_count(self) -> int:
        """The number of operands that are this value."""
    @property
    def users(self) -> list[Op]:
        """The ops that use the value, each once, the ends of regions included."""
    @property
    def uses(self) -> list[tuple[Op, int]]:
        """The uses: each op, and which of its operands the value is."""
    @property
    def is_live(self) -> bool:
        """Whether it is there still: whether no edit erased it."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def batch_items(models: Sequence[_Path], to: _Path) -> list[tuple[_Path, _Path]]:
    """The models of files and directories, and the files of their results."""

def built_in(name: str) -> str:
    """The text of a pipeline that comes with the host."""

def config_schema(key: str) -> dict[str, Any]:
    """What a registered config key takes."""

def declaration(name: str) -> dict[str, Any]:
    """What a registered pass declares: its options, its aliases, its phase."""

def diagnostic_text(diagnostic: Diagnostic) -> str:
    """Renders a diagnostic of a program, as the command prints it."""

def explain(fields: dict[str, Any]) -> dict[str, Any]:
    """What a request would run, in order, and why or why not: as ``passdock explain --json``."""

def list_passes() -> list[str]:
    """The names of the registered passes."""

def own_name(name: str) -> str:
    """The name of the pass that a name stands for; an unknown one itself."""

def load_dir(path: _Path) -> None:
    """Adds the plugins of a directory to the registry.

    Raises PluginError if there is no such directory, or a plugin of it can't be used.
    """

def load_plugin(path: _Path) -> None:
    """Adds a plugin's file to the registry; it is loaded when a pass of it is needed.

    Raises PluginError if it is none, or can't be used, and UsageError if a name of it is taken.
    """

def override_renderer(render: Callable[[list[tuple[dict[str, Any], str]]], Any] | None) -> None:
    """Sets the function that shows the diagnostics of passes that start from now on: it receives a list of fields and
    texts. None: standard error again.
    """

def register_config(key: str, default: Any, doc: str = "") -> None:
    """Registers a config key. fields: name to default, or one default for a key that is one value."""

def rendered(json: str) -> list[str]:
    """What the diagnostics of a report look like."""

def run(
    fields: dict[str, Any],
    module: Module | None = None,
    on_pass: Callable[[str], object] | None = None,
    instruments: Sequence[Any] | None = None,
) -> tuple[str, list[tuple[bool, str]], Module | None, BaseException | None]:
    """Runs a request on a module, or from file to file."""

def set_importer(find: Callable[[str, bool], PassHandle]) -> None:
    """Sets the function that finds the passes of `python` entries: it answers a `PassHandle` for `package.module:name` and
    whether the pipeline is trusted.
    """

def version() -> str:
    """The version of the host."""
