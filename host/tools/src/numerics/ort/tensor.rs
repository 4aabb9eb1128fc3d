//! Tensors that are passed to ONNX Runtime or returned by it.

use passdock_abi::DType;

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    /// The element type.
    pub(crate) dtype: DType,
    /// The shape; a scalar's is empty.
    pub(crate) shape: Vec<i64>,
    /// The elements in the format of the IR's constants: little-endian, packed as in ONNX; strings have a table of
    /// offsets before them.
    pub(crate) data: Vec<u8>,
}

impl Tensor {
    /// Returns the number of elements of a shape; `None` if a dim is negative or the number too large.
    pub(crate) fn elements(shape: &[i64]) -> Option<u64> {
        shape.iter().try_fold(1_u64, |all, &dim| {
            u64::try_from(dim).ok().and_then(|dim| all.checked_mul(dim))
        })
    }

    /// Formats the type, for example `f32[2,3]`.
    pub(crate) fn ty(&self) -> String {
        describe(self.dtype, self.shape.iter())
    }
}

/// Formats an element type and a shape as in IR text.
pub(crate) fn describe<D: ToString>(dtype: DType, dims: impl Iterator<Item = D>) -> String {
    let dims: Vec<String> = dims.map(|dim| dim.to_string()).collect();
    match dtype.name() {
        Some(name) => format!("{name}[{}]", dims.join(",")),
        None => format!("type {}[{}]", dtype.0, dims.join(",")),
    }
}

/// An output of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelOutput {
    /// The output's name.
    pub(crate) name: String,
    /// The output's value.
    pub(crate) value: OutputValue,
}

/// The value of an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OutputValue {
    /// Tensors with their paths in the output: `""` for a tensor, `[0]`, `[1]`, … for a sequence, `.keys` and
    /// `.values` for a map.
    Tensors(Vec<(String, Tensor)>),
    /// A value whose tensors can't be read, by its kind.
    Opaque(&'static str),
}

impl OutputValue {
    /// Returns the kind of an opaque value. An absent optional isn't opaque, since it can be compared.
    pub(crate) fn opaque(&self) -> Option<&'static str> {
        match self {
            OutputValue::Opaque(kind) if *kind != "absent" => Some(kind),
            _ => None,
        }
    }
}
