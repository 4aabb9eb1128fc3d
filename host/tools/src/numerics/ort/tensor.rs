//! Tensors that go into ONNX Runtime and come out of it.

use passdock_abi::DType;

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    /// The type of its elements.
    pub(crate) dtype: DType,
    /// The shape; empty: one element.
    pub(crate) shape: Vec<i64>,
    /// The elements as constants of the IR have them: little-endian, packed as ONNX packs them,
    /// strings with a table of offsets before them.
    pub(crate) data: Vec<u8>,
}

impl Tensor {
    /// The number of elements of a shape; `None` if it is negative or too large.
    pub(crate) fn elements(shape: &[i64]) -> Option<u64> {
        shape.iter().try_fold(1_u64, |all, &dim| {
            u64::try_from(dim).ok().and_then(|dim| all.checked_mul(dim))
        })
    }

    /// `f32[2,3]`.
    pub(crate) fn ty(&self) -> String {
        describe(self.dtype, self.shape.iter())
    }
}

/// An element type and a shape as IR text spells them.
pub(crate) fn describe<D: ToString>(dtype: DType, dims: impl Iterator<Item = D>) -> String {
    let dims: Vec<String> = dims.map(|dim| dim.to_string()).collect();
    match dtype.name() {
        Some(name) => format!("{name}[{}]", dims.join(",")),
        None => format!("type {}[{}]", dtype.0, dims.join(",")),
    }
}

/// One output of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelOutput {
    /// The output's name.
    pub(crate) name: String,
    /// The value that came out.
    pub(crate) value: OutputValue,
}

/// The value of an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OutputValue {
    /// Tensors, each with where it stands in the output: one for a tensor (with nothing), those of a
    /// sequence (`[0]`, `[1]`) and of a map (`.keys`, `.values`) in order.
    Tensors(Vec<(String, Tensor)>),
    /// A value that can't be looked into, by its kind.
    Opaque(&'static str),
}

impl OutputValue {
    /// The kind of a value that can't be looked into; an absent one can be compared.
    pub(crate) fn opaque(&self) -> Option<&'static str> {
        match self {
            OutputValue::Opaque(kind) if *kind != "nothing" => Some(kind),
            _ => None,
        }
    }
}
