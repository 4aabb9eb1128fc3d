//! How a plugin sees functions and modules: base pointers and strides, refreshed in place.

use core::ffi::c_void;

use crate::ids::{RegionId, SymbolId};
use crate::record::Range;

/// UTF-8 text, not terminated.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Str {
    /// May be null if `len` is 0.
    pub ptr: *const u8,
    /// Bytes.
    pub len: usize,
}

impl Str {
    /// `""`.
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

/// Bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// May be null if `len` is 0.
    pub ptr: *const u8,
    /// How many.
    pub len: usize,
}

impl Bytes {
    /// None.
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

/// An array of records.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The first record; aligned for the record.
    pub base: *const c_void,
    /// How many records.
    pub len: u32,
    /// Bytes from one record to the next, at least the size of the record the reader knows.
    pub stride: u32,
}

impl Column {
    /// No records.
    pub const EMPTY: Column = Column {
        base: core::ptr::null(),
        len: 0,
        stride: 0,
    };
}

/// What a function is.
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
    /// Its canonical name.
    pub name: SymbolId,
    /// Its body.
    pub body: RegionId,
    /// Grows with every edit.
    pub version: u64,
    /// For `SymbolApi`.
    pub symbols: *const Symbols,
    /// `Op`.
    pub ops: Column,
    /// `Value`.
    pub values: Column,
    /// `Use`: operand slots.
    pub uses: Column,
    /// `Region`.
    pub regions: Column,
    /// `Port`.
    pub ports: Column,
    /// `Attr`.
    pub attrs: Column,
    /// `Type`.
    pub types: Column,
    /// `Dim`.
    pub dims: Column,
    /// `DimExpr`.
    pub exprs: Column,
    /// `Constant`.
    pub constants: Column,
    /// `Loc`.
    pub locs: Column,
    /// `Opset`.
    pub opsets: Column,
    /// `u32`: lists of ids.
    pub ids: Column,
    /// `i64`.
    pub ints: Column,
    /// `f32`.
    pub floats: Column,
    /// `Range` of `bytes`.
    pub strings: Column,
    /// `u8`.
    pub bytes: Column,
    /// The function's own attributes, in `attrs`.
    pub function_attrs: Range,
    /// Live ops, terminators included.
    pub op_count: u32,
    /// 0.
    pub reserved: u32,
}

/// One function in a module's list.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionEntry {
    /// Its canonical name; NONE: it was removed, and the entry is to be skipped.
    pub name: SymbolId,
    /// Graph or prim.
    pub kind: FunctionKind,
    /// Its live ops.
    pub op_count: u32,
    /// 0.
    pub reserved: u32,
}

/// A module's list of functions, in order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleView {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Grows with every edit.
    pub version: u64,
    /// For `SymbolApi`.
    pub symbols: *const Symbols,
    /// `FunctionEntry`.
    pub functions: Column,
}

/// A function that a plugin was handed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionRef {
    /// For `FunctionApi`.
    pub handle: *mut Function,
    /// Where to read.
    pub view: *const FunctionView,
}

/// A module that a plugin was handed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleRef {
    /// For `ModuleApi`.
    pub handle: *mut Module,
    /// Where to read.
    pub view: *const ModuleView,
}
