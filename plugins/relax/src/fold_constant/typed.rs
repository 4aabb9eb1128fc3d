//! Operands of which only the type matters: another value of the type can replace them for evaluation.

use passdock_plugin_api::prelude::*;

use super::forward::Forward;

/// The maximum size in bytes of a replacement for an operand whose shape matters.
const MAX_BYTES: u64 = 1 << 20;

/// Operands of which only the type matters: operator, index, and whether the shape matters in addition to the element
/// type.
const TYPED: &[(&str, usize, bool)] = &[("onnx.CastLike", 1, false), ("onnx.EyeLike", 0, true)];

/// Whether only the type of an operand matters, and the type is known.
pub(super) fn is_typed(f: &Function, op: OpId, index: usize) -> bool {
    placeholder(f, op, index).is_some()
}

/// Returns the element of the replacement for an operand.
pub(super) fn element(f: &Function, op: OpId, index: usize) -> Option<Vec<u8>> {
    placeholder(f, op, index).map(|(dtype, _)| zero(dtype))
}

fn zero(dtype: DType) -> Vec<u8> {
    vec![0; dtype.bits().div_ceil(8) as usize]
}

/// Returns the element type and shape of the replacement for an operand.
fn placeholder(f: &Function, op: OpId, index: usize) -> Option<(DType, Vec<i64>)> {
    let name = f.name(op);
    let is_this = |&&(of, at, _): &&(&str, usize, bool)| at == index && of == name;
    let &(.., has_shape) = TYPED.iter().find(is_this)?;
    let value = f.operand(op, index)?;
    let dtype = f.dtype(value).filter(|dtype| *dtype != DType::STRING)?;
    let shape = match has_shape {
        true => f.shape(value).filter(|_| {
            let count = f.type_of(value).element_count();
            let bytes = count.and_then(|count| dtype.byte_len(count));
            bytes.is_some_and(|bytes| bytes <= MAX_BYTES)
        })?,
        false => Vec::new(),
    };
    Some((dtype, shape))
}

impl Forward<'_> {
    /// Returns the operands of an op: each as the constant that it is or evaluates to, or as a replacement of its type.
    pub(super) fn constants(
        &mut self,
        f: &mut Function,
        op: OpId,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut operands: Vec<ValueId> = f.operands(op).collect();
        for value in operands.iter_mut().filter(|value| value.is_some()) {
            *value = self.constant(f, *value).unwrap_or(*value);
        }
        // Creating a replacement is an edit, so it must be needed.
        let is_open = |at: usize, value: ValueId| {
            value.is_some() && f.constant(value).is_none() && !is_typed(f, op, at)
        };
        if operands
            .iter()
            .enumerate()
            .any(|(at, &value)| is_open(at, value))
        {
            return Ok(operands);
        }
        for (index, value) in operands.iter_mut().enumerate() {
            if value.is_none() || f.constant(*value).is_some() {
                continue;
            }
            if let Some((dtype, shape)) = placeholder(f, op, index) {
                let ty = f.add_type(&TypeSpec::shaped(dtype, &shape))?;
                *value = f.add_constant(&ConstantSpec::splat(ty, &zero(dtype)))?;
                self.left.extend(f.constant(*value));
            }
        }
        Ok(operands)
    }
}
