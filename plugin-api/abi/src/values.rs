//! Values of the declared types, and what they mean.

use core::ptr;

use crate::*;

/// The layout: records, tables, symbols.
pub const ABI: Version = Version {
    major: ABI_MAJOR,
    minor: ABI_MINOR,
};

/// The oldest minor of the major that this side understands: within major 0, that of the last break.
pub const OLDEST_MINOR: u32 = ABI_OLDEST_MINOR;

/// The meaning: op names the IR knows, kinds, invariants.
pub const IR: Version = Version {
    major: IR_MAJOR,
    minor: IR_MINOR,
};

/// The exported function of type [`Entry`].
pub const ENTRY_SYMBOL: &str = "passdock_plugin_v0";

/// The exported manifest: TOML text that ends with a NUL, and that hosts read from the file without loading it.
pub const MANIFEST_SYMBOL: &str = "passdock_manifest_v0";

/// The entry of a library: given the host's table, which outlives the plugin, it answers the
/// plugin's for this host; null if it refuses, with the reason in `attach`. A host calls entries one at a time; of two
/// in a process, each may call this one while the other does.
pub type Entry = unsafe extern "C" fn(host: *const Host, attach: *mut Attach) -> *const Plugin;

impl Status {
    /// Whether this is [`Status::OK`].
    #[inline]
    pub const fn is_ok(self) -> bool {
        self.0 == Status::OK.0
    }
}

impl Str {
    /// The text `""`.
    pub const EMPTY: Str = Str {
        ptr: ptr::null(),
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

impl Bytes {
    /// A slice without bytes.
    pub const EMPTY: Bytes = Bytes {
        ptr: ptr::null(),
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

impl Column {
    /// A column without records.
    pub const EMPTY: Column = Column {
        base: ptr::null(),
        len: 0,
        reserved: 0,
    };
}

impl Range {
    /// A range without entries.
    pub const EMPTY: Range = Range { start: 0, len: 0 };
}

impl Position {
    /// The place before an op.
    pub const fn before(op: OpId) -> Position {
        Position {
            region: RegionId::NONE,
            before: op,
        }
    }

    /// The place at a region's end, before its terminator if it has one.
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

    /// A constant dim.
    pub const fn constant(value: i64) -> Dim {
        Dim {
            kind: DimKind::CONST,
            denotation: SymbolId::NONE,
            value,
        }
    }

    /// A symbolic dim.
    pub const fn symbol(name: SymbolId) -> Dim {
        Dim {
            kind: DimKind::SYMBOL,
            denotation: SymbolId::NONE,
            value: name.0 as i64,
        }
    }

    /// The size, if it is one.
    pub const fn as_const(self) -> Option<i64> {
        if self.kind.0 == DimKind::CONST.0 {
            Some(self.value)
        } else {
            None
        }
    }

    /// The symbol, if it is one.
    pub const fn as_symbol(self) -> Option<SymbolId> {
        if self.kind.0 == DimKind::SYMBOL.0 {
            Some(SymbolId(self.value as u32))
        } else {
            None
        }
    }
}

impl DType {
    /// Bytes of `elements` elements, packed as ONNX packs them: elements of less than a byte as one
    /// stream of bits, the lowest first. `None` for strings, unknown codes and on overflow.
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
