//! Moving elements about without knowing what they mean.
//!
//! A cell is as wide as the element: two types of one width move by the same code. Elements of less
//! than a byte are unpacked first, and strings move as their positions, so that every operator that
//! only moves data ([`rearrange`]) works on every element type.

use std::borrow::Cow;

use bytemuck::Pod;
use ndarray::ArrayD;

use super::call::one_type;
use super::tensor::in_order;
use super::{Call, Elements, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

/// Operands of one element type, as cells.
pub(crate) struct Cells<'t> {
    dtype: DType,
    /// The operands as unsigned integers of their elements' width, or, of 16 bytes, as complex numbers.
    operands: Vec<Tensor<'t>>,
    /// The strings that positions stand for, counted through all operands.
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
                _ => return refuse!("{} isn't known", name_of(dtype)),
            });
        }
        Ok(Cells {
            dtype,
            operands: cells,
            strings,
        })
    }

    /// The type of the cells.
    pub(crate) fn dtype(&self) -> DType {
        self.operands[0].dtype()
    }

    /// The cells of an operand, in standard layout.
    pub(crate) fn array<T: Pod>(&self, index: usize) -> Result<Elements<'_, T>, NotFolded> {
        self.operands[index].array()
    }

    /// The cells of an operand, row by row.
    pub(crate) fn row<T: Pod>(&self, index: usize) -> Result<Cow<'_, [T]>, NotFolded> {
        self.operands[index].stored()
    }

    /// The result of these cells.
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

/// The shape and the elements of an array.
pub(crate) fn flat<T: Copy>(array: ArrayD<T>) -> (Vec<usize>, Vec<T>) {
    (array.shape().to_vec(), in_order(array))
}

/// Evaluates an operator that only moves elements: runs an expression, which has the operands'
/// [`Cells`] and their type, to the shape and the cells of the result.
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

/// A tensor of one zero, or one empty string: what Pad and its like fill with by default.
pub(crate) fn zero(dtype: DType) -> Result<Tensor<'static>, NotFolded> {
    match (dtype, dtype.byte_len(1)) {
        (DType::STRING, _) => Ok(Tensor::from_strings(vec![], [&b""[..]].into_iter())),
        (_, Some(bytes)) => Ok(Tensor::from_vec(dtype, vec![], vec![0u8; bytes as usize])),
        _ => refuse!("{} isn't known", name_of(dtype)),
    }
}
