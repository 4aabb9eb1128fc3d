//! Matrix products: `Gemm` absorbs sums and Transposes.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{defined_by, int_or, like, perm};

pub(super) static RULES: Rules = rules! {
    rule gemm_of_matmul {
        %product = onnx.MatMul(%a, %b)
        onnx.Add(%product, %c) => onnx.Gemm(%a, %b, %c)
            where opset >= 7, rank(%a) == 2, rank(%b) == 2, float(%a), uses(%product) == 1, broadcasts_to(%c, %product)
    }
    rule sum_with_gemm {
        %product = onnx.Gemm(%a, %b) {beta = 1.0}
        onnx.Add(%product, %c) => onnx.Gemm(%a, %b, %c) {..%product}
            where opset >= 7, uses(%product) == 1, broadcasts_to(%c, %product)
    }
    rule gemm_of_transposes { %y = onnx.Gemm(%a, %b, %rest...) } => flags;
};

/// Replaces Transposes of a `Gemm`'s operands with its flags.
fn flags(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let y = m.op("y");
    let mut operands = [m.value(f, "a"), m.value(f, "b")];
    let mut new_op = like(f, y, &["transA", "transB"])?;
    let mut found = false;
    for (operand, name) in operands.iter_mut().zip(["transA", "transB"]) {
        let mut flag = int_or(f, y, name, 0).ok_or(NoMatch)?;
        if let Some(source) = transposed(f, *operand) {
            found = true;
            *operand = source;
            flag = i64::from(flag == 0);
        }
        if flag != 0 {
            new_op = new_op.attr(name, flag);
        }
    }
    let new_op = new_op
        .operands(operands)
        .operands(m.values("rest").to_vec());
    NoMatch::unless(found)?;
    Ok(Some(vec![r.op(new_op)?]))
}

/// Returns the matrix that a value is the transpose of, if the value has one use.
fn transposed(f: &Function, value: ValueId) -> Option<ValueId> {
    let op = defined_by(f, value, "onnx.Transpose").filter(|_| f.use_count(value) == 1)?;
    (perm(f, op)? == [1, 0]).then(|| f.operand(op, 0))?
}
