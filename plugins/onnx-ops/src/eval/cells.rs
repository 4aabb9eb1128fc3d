//! Type-agnostic movement of elements.
//!
//! A cell has the width of an element, so types of equal width share code. Elements of less than a byte are unpacked,
//! and strings are replaced by their indices. So every operator that only moves data ([`rearrange`]) supports every
//! element type.

use std::borrow::Cow;

use bytemuck::Pod;
use ndarray::ArrayD;

use super::call::one_type;
use super::tensor::in_order;
use super::{Call, Elements, Folded, NotFolded, Tensor, name_of, reject};
use passdock_plugin_api::DType;

/// Operands of one element type, as cells.
pub(crate) struct Cells<'t> {
    dtype: DType,
    /// The operands as unsigned integers of the elements' width, or as complex numbers for 16 bytes.
    operands: Vec<Tensor<'t>>,
    /// The strings of all operands, which the cells index.
    strings: Vec<&'t [u8]>,
}

impl<'t> Cells<'t> {
    pub(crate) fn new(operands: &[&'t Tensor]) -> Result<Cells<'t>, NotFolded> {
        let dtype = one_type(operands)?;
        let (mut cells, mut strings) = (Vec::new(), Vec::new());
        for &tensor in operands {
            let shape = tensor.shape().to_vec();
            cells.push(match dtype.bits() {
                0 if dtype == DType::STRING => {
                    let start = strings.len() as u64;
                    strings.extend(tensor.strings()?);
                    let positions: Vec<u64> = (start..strings.len() as u64).collect();
                    Tensor::from_vec(DType::U64, shape, positions)
                }
                1..8 => Tensor::from_vec(DType::U8, shape, tensor.codes()?),
                8 => tensor.clone().with_dtype(DType::U8),
                16 => tensor.clone().with_dtype(DType::U16),
                32 => tensor.clone().with_dtype(DType::U32),
                64 => tensor.clone().with_dtype(DType::U64),
                128 => tensor.clone().with_dtype(DType::C128),
                _ => return reject!("unsupported element type {}", name_of(dtype)),
            });
        }
        Ok(Cells {
            dtype,
            operands: cells,
            strings,
        })
    }

    /// Returns the type of the cells.
    pub(crate) fn dtype(&self) -> DType {
        self.operands[0].dtype()
    }

    /// Returns the cells of an operand as an array in standard layout.
    pub(crate) fn array<T: Pod>(&self, index: usize) -> Result<Elements<'_, T>, NotFolded> {
        self.operands[index].array()
    }

    /// Returns the cells of an operand in row-major order.
    pub(crate) fn row<T: Pod>(&self, index: usize) -> Result<Cow<'_, [T]>, NotFolded> {
        self.operands[index].stored()
    }

    /// Converts cells to a result of the operands' type.
    pub(crate) fn result<'a>(&self, call: &Call, cells: Tensor<'a>) -> Folded<'a> {
        let shape = cells.shape().to_vec();
        Ok(match self.dtype {
            DType::STRING => {
                let positions = cells.stored::<u64>()?;
                let strings = positions
                    .iter()
                    .map(|&position| self.strings[position as usize]);
                let mut sizes = strings.clone().map(|string| 8 + string.len() as u64);
                call.room_for_bytes(sizes.try_fold(8u64, u64::checked_add))?;
                Tensor::from_strings(shape, strings)
            }
            dtype if dtype.bits() < 8 => Tensor::from_codes(dtype, shape, cells.bytes()),
            dtype => cells.with_dtype(dtype),
        })
    }
}

/// Returns the shape and the elements of an array.
pub(crate) fn flat<T: Copy>(array: ArrayD<T>) -> (Vec<usize>, Vec<T>) {
    (array.shape().to_vec(), in_order(array))
}

/// Evaluates an operator that only moves elements. The expression maps the operands' [`Cells`] to the shape and the
/// cells of the result, for the type `$T` of a cell.
macro_rules! rearrange {
    ($call:expr, $operands:expr, $cells:ident, $T:ident => $body:expr) => {{
        let $cells = $crate::eval::cells::Cells::new($operands)?;
        $crate::eval::number::with_type!(
            [U8 = u8, U16 = u16, U32 = u32, U64 = u64, C128 = u128],
            $cells.dtype(),
            $T => {
                let (shape, elements): (Vec<usize>, Vec<$T>) = $body;
                let moved = $crate::eval::Tensor::from_vec($cells.dtype(), shape, elements);
                $cells.result($call, moved)
            }
        )
    }};
}
pub(crate) use rearrange;

/// Returns a scalar zero or empty string, the default fill of operators such as Pad.
pub(crate) fn zero(dtype: DType) -> Result<Tensor<'static>, NotFolded> {
    match (dtype, dtype.byte_len(1)) {
        (DType::STRING, _) => Ok(Tensor::from_strings(vec![], [&b""[..]].into_iter())),
        (_, Some(bytes)) => Ok(Tensor::from_vec(dtype, vec![], vec![0u8; bytes as usize])),
        _ => reject!("unsupported element type {}", name_of(dtype)),
    }
}
