//! Products of matrices: sums with them, and Transposes that their flags do.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::read::{int_or, is, like, made_by};

pub(super) static RULES: Rules = rules! {
    rule gemm_of_matmul {
        %product = onnx.MatMul(%a, %b)
        onnx.Add(%product, %c) => onnx.Gemm(%a, %b, %c)
            where opset >= 7, rank(%a) == 2, rank(%b) == 2, float(%a), uses(%product) == 1, stretches_to(%c, %product)
    }
    rule sum_with_gemm {
        %product = onnx.Gemm(%a, %b) {beta = 1.0}
        onnx.Add(%product, %c) => onnx.Gemm(%a, %b, %c) {..%product}
            where opset >= 7, uses(%product) == 1, stretches_to(%c, %product)
    }
    rule gemm_of_transposes { %y = onnx.Gemm(%a, %b, %rest...) } => flags;
};

/// A `Gemm` transposes its operands itself.
fn flags(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let y = m.op("y");
    let mut operands = [m.value(f, "a"), m.value(f, "b")];
    let (Some(mut made), Some(a), Some(b)) = (
        like(f, y, &["transA", "transB"]),
        int_or(f, y, "transA", 0),
        int_or(f, y, "transB", 0),
    ) else {
        return Ok(None);
    };
    let mut flags = [a, b];
    let mut found = false;
    for (operand, flag) in operands.iter_mut().zip(&mut flags) {
        let Some(source) = transposed(f, *operand) else {
            continue;
        };
        found = true;
        *operand = source;
        *flag = i64::from(*flag == 0);
    }
    for (name, flag) in ["transA", "transB"].into_iter().zip(flags) {
        if flag != 0 {
            made = made.attr(name, flag);
        }
    }
    let made = made.operands(operands).operands(m.values("rest").to_vec());
    match found {
        true => Ok(Some(vec![r.op(made)?])),
        false => Ok(None),
    }
}

/// The matrix that a value is transposed from, for this use alone.
fn transposed(f: &Function, value: ValueId) -> Option<ValueId> {
    let op = made_by(f, value, "onnx.Transpose").filter(|_| f.use_count(value) == 1)?;
    let turns = match f.attr(op, "perm") {
        None | Some(Attr::Unset) => true,
        Some(Attr::Ints(perm)) => *perm == [1, 0],
        Some(_) => false,
    };
    let x = f.operand(op, 0)?;
    (turns && f.rank(x) == Some(2) && is(f, op, "onnx.Transpose")).then_some(x)
}
