//! Constants and methods of the declared types.

use core::ptr;

use crate::*;

/// The version of the layout: records, tables, symbols.
pub const ABI: Version = Version {
    major: ABI_MAJOR,
    minor: ABI_MINOR,
};

/// The IR version: the meaning of built-in op names, kinds and invariants.
pub const IR: Version = Version {
    major: IR_MAJOR,
    minor: IR_MINOR,
};

/// The version of the texts that cross the ABI: IR text, rules, layouts of operators.
pub const LANGUAGE: Version = Version {
    major: LANGUAGE_MAJOR,
    minor: LANGUAGE_MINOR,
};

/// The name of the exported function of type [`Entry`].
pub const ENTRY_SYMBOL: &str = "passdock_plugin_v1";

/// The name of the exported manifest: TOML text that ends with a NUL. Hosts read it from the file without loading it.
pub const MANIFEST_SYMBOL: &str = "passdock_manifest_v1";

/// The entry function of a library. It takes the host's table, which outlives the plugin, and returns the plugin's
/// table. A plugin that rejects the host returns null and sets the reason in `attach`.
///
/// A host calls entry functions one at a time. Two hosts in one process may call the same one concurrently.
pub type Entry = unsafe extern "C" fn(host: *const Host, attach: *mut Attach) -> *const Plugin;

impl Status {
    /// Whether this is [`Status::OK`].
    #[inline]
    pub const fn is_ok(self) -> bool {
        self.0 == Status::OK.0
    }
}

impl Str {
    /// The string `""`.
    pub const EMPTY: Str = Str {
        ptr: ptr::null(),
        len: 0,
    };

    /// Borrows `text`. The caller keeps it alive as long as the ABI requires.
    pub const fn new(text: &str) -> Str {
        Str {
            ptr: text.as_ptr(),
            len: text.len(),
        }
    }
}

impl Bytes {
    /// The empty slice.
    pub const EMPTY: Bytes = Bytes {
        ptr: ptr::null(),
        len: 0,
    };

    /// Borrows `bytes`. The caller keeps them alive as long as the ABI requires.
    pub const fn new(bytes: &[u8]) -> Bytes {
        Bytes {
            ptr: bytes.as_ptr(),
            len: bytes.len(),
        }
    }
}

impl Column {
    /// The empty column.
    pub const EMPTY: Column = Column {
        base: ptr::null(),
        len: 0,
        reserved: 0,
    };
}

impl Range {
    /// The empty range.
    pub const EMPTY: Range = Range { start: 0, len: 0 };
}

impl Position {
    /// Returns the position before an op.
    pub const fn before(op: OpId) -> Position {
        Position {
            region: RegionId::NONE,
            before: op,
        }
    }

    /// Returns the position at a region's end, before its terminator if it has one.
    pub const fn end_of(region: RegionId) -> Position {
        Position {
            region,
            before: OpId::NONE,
        }
    }
}

impl Dim {
    /// The unknown dim `?`.
    pub const UNKNOWN: Dim = Dim {
        kind: DimKind::UNKNOWN,
        denotation: SymbolId::NONE,
        value: 0,
    };

    /// Returns a constant dim.
    pub const fn constant(value: i64) -> Dim {
        Dim {
            kind: DimKind::CONST,
            denotation: SymbolId::NONE,
            value,
        }
    }

    /// Returns a symbolic dim.
    pub const fn symbol(name: SymbolId) -> Dim {
        Dim {
            kind: DimKind::SYMBOL,
            denotation: SymbolId::NONE,
            value: name.0 as i64,
        }
    }

    /// Returns the size of a constant dim.
    pub const fn as_const(self) -> Option<i64> {
        if self.kind.0 == DimKind::CONST.0 {
            Some(self.value)
        } else {
            None
        }
    }

    /// Whether the dim is a size, a symbol or an expression.
    pub const fn is_known(self) -> bool {
        self.kind.0 != DimKind::UNKNOWN.0
    }

    /// Whether two dims are equal for all values of their symbols.
    pub const fn is_same(self, other: Dim) -> bool {
        self.is_known() && self.kind.0 == other.kind.0 && self.value == other.value
    }

    /// Returns the symbol of a symbolic dim.
    pub const fn as_symbol(self) -> Option<SymbolId> {
        if self.kind.0 == DimKind::SYMBOL.0 {
            Some(SymbolId(self.value as u32))
        } else {
            None
        }
    }
}

impl DType {
    /// Returns the size of `elements` elements, packed as in ONNX: elements smaller than a byte are one stream of bits,
    /// lowest first. `None` for strings, unknown codes and on overflow.
    pub const fn byte_len(self, elements: u64) -> Option<u64> {
        let bits = self.bits() as u64;
        if bits == 0 {
            return None;
        }
        if bits >= 8 {
            return elements.checked_mul(bits / 8);
        }
        Some(elements / 8 * bits + (elements % 8 * bits + 7) / 8)
    }
}
