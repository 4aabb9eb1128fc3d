//! Moving elements about without knowing what they mean.
//!
//! A cell is as wide as the element: two types of one width move by the same code. Elements of less
//! than a byte are unpacked first, and strings move as their positions, so that every operator that
//! only moves data ([`Movement`]) works on every element type.

use std::borrow::Cow;

use bytemuck::Pod;
use ndarray::ArrayD;

use super::{Call, Elements, NotFolded, Tensor, in_shape, name_of, refuse};
use passdock_plugin_api::DType;

/// A cell.
pub(crate) trait Cell: Pod {}

impl Cell for u8 {}
impl Cell for u16 {}
impl Cell for u32 {}
impl Cell for u64 {}
impl Cell for u128 {}

/// The operation of an operator on cells.
pub(crate) trait Movement {
    /// Answers the results' cells. The inputs are in standard layout.
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded>;
}

/// Runs a movement on tensors of one element type.
pub(crate) fn rearrange<'a>(
    call: &Call,
    inputs: &[&Tensor],
    movement: &impl Movement,
) -> Result<Vec<Tensor<'a>>, NotFolded> {
    let Some(dtype) = inputs.first().map(|first| first.dtype()) else {
        return refuse!("it has no operands");
    };
    if let Some(other) = inputs.iter().find(|tensor| tensor.dtype() != dtype) {
        let (one, other) = (name_of(dtype), name_of(other.dtype()));
        return refuse!("its operands mix {one} and {other}");
    }
    match dtype.bits() {
        0 if dtype == DType::STRING => strings(call, inputs, movement),
        1..8 => packed(dtype, inputs, movement),
        8 => plain::<u8>(dtype, inputs, movement),
        16 => plain::<u16>(dtype, inputs, movement),
        32 => plain::<u32>(dtype, inputs, movement),
        64 => plain::<u64>(dtype, inputs, movement),
        128 => plain::<u128>(dtype, inputs, movement),
        _ => refuse!("{} isn't known", name_of(dtype)),
    }
}

/// Elements of whole bytes.
fn plain<'a, T: Cell>(
    dtype: DType,
    inputs: &[&Tensor],
    movement: &impl Movement,
) -> Result<Vec<Tensor<'a>>, NotFolded> {
    let arrays: Result<Vec<_>, _> = inputs.iter().map(|t| t.array::<T>()).collect();
    let results = movement.run(&arrays?)?.into_iter();
    Ok(results
        .map(|array| Tensor::from_array(dtype, array))
        .collect())
}

/// Elements of less than a byte.
fn packed<'a>(
    dtype: DType,
    inputs: &[&Tensor],
    movement: &impl Movement,
) -> Result<Vec<Tensor<'a>>, NotFolded> {
    let codes = |t: &&Tensor| in_shape(t.shape(), Cow::Owned(t.codes()?));
    let arrays: Result<Vec<_>, _> = inputs.iter().map(codes).collect();
    let pack = |array: ArrayD<u8>| {
        let codes: Vec<u8> = array.iter().copied().collect();
        Tensor::from_codes(dtype, array.shape().to_vec(), &codes)
    };
    Ok(movement.run(&arrays?)?.into_iter().map(pack).collect())
}

/// Strings: their positions move, counted through all inputs, and are looked up afterwards.
fn strings<'a>(
    call: &Call,
    inputs: &[&Tensor],
    movement: &impl Movement,
) -> Result<Vec<Tensor<'a>>, NotFolded> {
    let mut pool: Vec<&[u8]> = Vec::new();
    let mut arrays = Vec::new();
    for tensor in inputs {
        let start = pool.len() as u64;
        pool.extend(tensor.strings()?);
        let positions = (start..pool.len() as u64).collect();
        arrays.push(in_shape(tensor.shape(), Cow::Owned(positions))?);
    }
    let results = movement.run(&arrays)?;
    let look_up = |array: ArrayD<u64>| {
        let strings = array.iter().map(|&position| pool[position as usize]);
        let mut sizes = strings.clone().map(|string| 8 + string.len() as u64);
        call.room_for_bytes(sizes.try_fold(8u64, u64::checked_add))?;
        Ok(Tensor::from_strings(array.shape().to_vec(), strings))
    };
    results.into_iter().map(look_up).collect()
}

/// A tensor of one zero, or one empty string: what Pad and its like fill with by default.
pub(crate) fn zero(dtype: DType) -> Result<Tensor<'static>, NotFolded> {
    match (dtype, dtype.byte_len(1)) {
        (DType::STRING, _) => Ok(Tensor::from_strings(vec![], [&b""[..]].into_iter())),
        (_, Some(bytes)) => Ok(Tensor::from_vec(dtype, vec![], vec![0u8; bytes as usize])),
        _ => refuse!("{} isn't known", name_of(dtype)),
    }
}
