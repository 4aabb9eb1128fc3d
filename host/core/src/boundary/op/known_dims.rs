//! Shape data: small integer tensors whose elements are known as dims.

use passdock_abi as abi;
use passdock_abi::{Dim, OpId, Status, ValueId};
use passdock_ir::{Edit, EditError, Function};

use super::MAX_SHAPE_DATA;
use super::evaluate::Made;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::{gate, input};

/// The results of an op, if inference found all their elements to be known numbers, whatever the
/// operands are: the second dim of `[n, 3]` is 3.
pub(in crate::boundary) fn known_results(
    session: &FunctionSession,
    op: OpId,
    max_bytes: u64,
) -> Edit<Option<Vec<Made>>> {
    session.with(|state| {
        if !state.has_extras() {
            return Ok(None);
        }
        let results: Vec<ValueId> = state.read()?.results(op).collect();
        let mut known = Vec::with_capacity(results.len());
        for &result in &results {
            let dims = state.extras().dims.get(&result);
            let numbers = dims.and_then(|dims| dims.iter().map(|dim| dim.as_const()).collect());
            let Some(numbers): Option<Vec<i64>> = numbers else {
                return Ok(None);
            };
            let function = state.function();
            let ty = function.value(result).ty;
            let bytes = integer_bytes(function.ty(ty).dtype, &numbers);
            let shape: Option<i64> = function
                .static_shape(ty)
                .map(|shape| shape.iter().product());
            match bytes {
                Some(bytes) if shape == Some(numbers.len() as i64) => known.push((ty, bytes)),
                _ => return Ok(None),
            }
        }
        let total: u64 = known.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        Ok((!known.is_empty() && total <= max_bytes).then_some(known))
    })
}

/// Integers as the bytes of a tensor; `None` if they don't fit its element type.
fn integer_bytes(dtype: abi::DType, numbers: &[i64]) -> Option<Box<[u8]>> {
    match dtype {
        abi::DType::I64 => Some(numbers.iter().flat_map(|n| n.to_le_bytes()).collect()),
        abi::DType::I32 => {
            let small = numbers.iter().map(|&n| i32::try_from(n).ok());
            let small: Vec<i32> = small.collect::<Option<_>>()?;
            Some(small.iter().flat_map(|n| n.to_le_bytes()).collect())
        }
        abi::DType::BOOL => {
            let bit = |&n: &i64| u8::try_from(n).ok().filter(|&bit| bit < 2);
            numbers.iter().map(bit).collect()
        }
        _ => None,
    }
}

/// The elements of a small constant of integers.
pub(in crate::boundary) fn constant_dims(f: &Function, value: ValueId) -> Option<Box<[Dim]>> {
    let id = f.as_constant(value)?;
    let ty = *f.ty(f.value(value).ty);
    let size = match ty.dtype {
        abi::DType::I64 => 8,
        abi::DType::I32 => 4,
        _ => return None,
    };
    if ty.dims.len > 1 || f.constant(id).byte_len > (MAX_SHAPE_DATA * size) as u64 {
        return None;
    }
    let bytes = f.constant_data(id).bytes().ok()?;
    let number = |element: &[u8]| match *element {
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    };
    let dims = bytes.chunks_exact(size).map(number).map(Dim::constant);
    Some(dims.collect())
}

/// Implements `OpApi::known_dims`.
///
/// # Safety
/// The contract's.
pub(in crate::boundary) unsafe extern "C" fn known_dims(
    f: *const abi::Function,
    value: ValueId,
    out: *mut *const Dim,
    count: *mut usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        gate::read(f, |state| {
            input::check_out(out)?;
            input::check_out(count)?;
            state.read()?.live_value(value)?;
            let Some(dims) = state.known_dims(value) else {
                let message = "Nothing is known of the value's elements.";
                return Err(EditError::not_found(message));
            };
            input::answer(out, dims.as_ptr());
            input::answer(count, dims.len());
            Ok(())
        })
    }
}
