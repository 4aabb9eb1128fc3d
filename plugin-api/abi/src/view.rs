//! How a plugin sees functions and modules: columns of records, refreshed in place.

use core::ffi::c_void;

use crate::ids::{RegionId, SymbolId};
use crate::record::Range;

/// UTF-8 text, not terminated.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Str {
    /// The first byte; may be null if `len` is 0.
    pub ptr: *const u8,
    /// The number of bytes.
    pub len: usize,
}

impl Str {
    /// The text `""`.
    pub const EMPTY: Str = Str {
        ptr: core::ptr::null(),
        len: 0,
    };

    /// Borrows `text`; the caller keeps it alive as long as the contract says.
    pub const fn new(text: &str) -> Str {
        Str {
            ptr: text.as_ptr(),
            len: text.len(),
        }
    }
}

/// A slice of bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first byte; may be null if `len` is 0.
    pub ptr: *const u8,
    /// The number of bytes.
    pub len: usize,
}

impl Bytes {
    /// A slice without bytes.
    pub const EMPTY: Bytes = Bytes {
        ptr: core::ptr::null(),
        len: 0,
    };

    /// Borrows `bytes`; the caller keeps them alive as long as the contract says.
    pub const fn new(bytes: &[u8]) -> Bytes {
        Bytes {
            ptr: bytes.as_ptr(),
            len: bytes.len(),
        }
    }
}

/// An array of records or numbers, dense: records are final, and what is new comes as a new column.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The first record; aligned for the record.
    pub base: *const c_void,
    /// The number of records.
    pub len: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Column {
    /// A column without records.
    pub const EMPTY: Column = Column {
        base: core::ptr::null(),
        len: 0,
        reserved: 0,
    };
}

/// The kind of a function.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionKind(pub u32);

impl FunctionKind {
    /// A graph function (`fn`).
    pub const GRAPH: FunctionKind = FunctionKind(1);
    /// A loop-level function (`prim`).
    pub const PRIM: FunctionKind = FunctionKind(2);
}

/// The host's function, opaque.
#[repr(C)]
pub struct Function {
    _opaque: [u8; 0],
}

/// The host's module, opaque.
#[repr(C)]
pub struct Module {
    _opaque: [u8; 0],
}

/// The host's symbols, opaque.
#[repr(C)]
pub struct Symbols {
    _opaque: [u8; 0],
}

/// A function's arenas. The header stays where it is; its fields change with every edit.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionView {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Graph or prim.
    pub kind: FunctionKind,
    /// The function's canonical name.
    pub name: SymbolId,
    /// The function's body.
    pub body: RegionId,
    /// Grows with every edit.
    pub version: u64,
    /// The symbols, for `SymbolApi`.
    pub symbols: *const Symbols,
    /// Ops: `Op`.
    pub ops: Column,
    /// Values: `Value`.
    pub values: Column,
    /// Operand slots: `Use`.
    pub uses: Column,
    /// Regions: `Region`.
    pub regions: Column,
    /// Ports: `Port`.
    pub ports: Column,
    /// Attributes: `Attr`.
    pub attrs: Column,
    /// Types: `Type`.
    pub types: Column,
    /// Dims: `Dim`.
    pub dims: Column,
    /// Dim expressions: `DimExpr`.
    pub exprs: Column,
    /// Constants: `Constant`.
    pub constants: Column,
    /// Locations: `Loc`.
    pub locs: Column,
    /// Opsets: `Opset`.
    pub opsets: Column,
    /// Lists of ids: `u32`.
    pub ids: Column,
    /// Lists of integers: `i64`.
    pub ints: Column,
    /// Lists of floats: `f32`.
    pub floats: Column,
    /// Strings: `Range` of `bytes`.
    pub strings: Column,
    /// Bytes: `u8`.
    pub bytes: Column,
    /// The function's own attributes, in `attrs`.
    pub function_attrs: Range,
    /// Live ops, terminators included.
    pub op_count: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

/// An entry of a module's list of functions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionEntry {
    /// The function's canonical name; NONE: it was removed, and the entry is to be skipped.
    pub name: SymbolId,
    /// Graph or prim.
    pub kind: FunctionKind,
    /// The number of its live ops.
    pub op_count: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

/// A module's list of functions, in order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleView {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// Grows when the list of functions changes. That of the module that a function pass may read is of this call of the pass alone.
    pub version: u64,
    /// The symbols, for `SymbolApi`.
    pub symbols: *const Symbols,
    /// Functions: `FunctionEntry`.
    pub functions: Column,
}

/// A function that a plugin was handed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionRef {
    /// The handle, for `FunctionApi`.
    pub handle: *mut Function,
    /// The view to read through.
    pub view: *const FunctionView,
}

/// A module that a plugin was handed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleRef {
    /// The handle, for `ModuleApi`.
    pub handle: *mut Module,
    /// The view to read through.
    pub view: *const ModuleView,
}
