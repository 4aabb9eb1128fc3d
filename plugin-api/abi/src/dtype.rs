//! Element types.

/// An element type. Those below 0x8000 are ONNX's `TensorProto.DataType`; a reader must expect others.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DType(pub u32);

macro_rules! dtypes {
    ($($name:ident = $code:literal $text:literal $bits:literal),* $(,)?) => {
        #[allow(missing_docs)]
        impl DType {
            $(pub const $name: DType = DType($code);)*
        }

        impl DType {
            /// Every known element type.
            pub const ALL: &'static [DType] = &[$(DType($code)),*];

            /// The spelling in IR text; `None` for a code this side doesn't know.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($text),)*
                    _ => None,
                }
            }

            /// Bits of one element; 0 for strings and unknown codes.
            pub const fn bits(self) -> u32 {
                match self.0 {
                    $($code => $bits,)*
                    _ => 0,
                }
            }

            /// The type that is spelt so in IR text.
            pub fn from_name(text: &str) -> Option<DType> {
                match text {
                    $($text => Some(DType($code)),)*
                    _ => None,
                }
            }
        }
    };
}

dtypes! {
    F32 = 1 "f32" 32,
    U8 = 2 "u8" 8,
    I8 = 3 "i8" 8,
    U16 = 4 "u16" 16,
    I16 = 5 "i16" 16,
    I32 = 6 "i32" 32,
    I64 = 7 "i64" 64,
    STRING = 8 "str" 0,
    BOOL = 9 "bool" 8,
    F16 = 10 "f16" 16,
    F64 = 11 "f64" 64,
    U32 = 12 "u32" 32,
    U64 = 13 "u64" 64,
    C64 = 14 "c64" 64,
    C128 = 15 "c128" 128,
    BF16 = 16 "bf16" 16,
    F8E4M3FN = 17 "f8e4m3fn" 8,
    F8E4M3FNUZ = 18 "f8e4m3fnuz" 8,
    F8E5M2 = 19 "f8e5m2" 8,
    F8E5M2FNUZ = 20 "f8e5m2fnuz" 8,
    U4 = 21 "u4" 4,
    I4 = 22 "i4" 4,
    F4E2M1 = 23 "f4e2m1" 4,
    F8E8M0 = 24 "f8e8m0" 8,
    U2 = 25 "u2" 2,
    I2 = 26 "i2" 2,
    F6E2M3 = 27 "f6e2m3" 6,
    F6E3M2 = 28 "f6e3m2" 6,
    INDEX = 0x8000 "index" 64,
}

impl DType {
    /// No element type.
    pub const NONE: DType = DType(0);

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
