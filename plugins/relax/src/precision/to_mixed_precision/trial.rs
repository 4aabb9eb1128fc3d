//! Trial inference of a vendor's op with low-precision operands.

use passdock_plugin_api::prelude::*;

use super::flow::is_float;
use super::operators::{Signature, Slots};
use super::{CAST, Low};
use crate::shared::read::like;

/// Returns the operands and results of an op that change type. `None`, with a note, if its type rule doesn't determine
/// the results.
///
/// Infers a temporary copy of the op, whose operands are `Cast`s.
pub(super) fn signature(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    low: Low,
) -> Result<Option<Signature>, EditError> {
    let operands: Vec<ValueId> = f.operands(op).collect();
    let floats: Vec<bool> = operands.iter().map(|value| is_float(f, *value)).collect();
    let (Ok(copy), true) = (
        like(f, op, &[]),
        floats.contains(&true) && f.regions(op).is_empty(),
    ) else {
        return Ok(None);
    };
    let at = Position::before(op);
    let mut created = Vec::new();
    let mut builder = copy.untyped_results(f.result_count(op));
    for (&operand, is_float) in operands.iter().zip(&floats) {
        if !is_float {
            builder = builder.operand(operand);
            continue;
        }
        let ty = f.add_type(&low.type_like(f, operand))?;
        let cast = OpBuilder::new(CAST).operand(operand).attr("to", low.onnx);
        let cast = f.create_op(cast.result(ty), at)?;
        builder = builder.operand(f.result(cast, 0));
        created.push(cast);
    }
    let copy = f.create_op(builder, at)?;
    created.push(copy);
    let inferred = cx.infer(f, copy);
    let dtypes = f.results(copy).iter().map(|one| f.dtype(*one));
    let dtypes: Vec<Option<DType>> = dtypes.collect();
    for op in created.into_iter().rev() {
        f.erase_op(op)?;
    }
    let why = match inferred {
        Err(error) => error.message,
        Ok(()) if dtypes.contains(&None) => "a result has no element type".to_owned(),
        Ok(()) => {
            let results = dtypes
                .iter()
                .map(|dtype| *dtype == Some(low.dtype))
                .collect();
            return Ok(Some(Signature {
                operands: Slots::new(floats),
                results: Slots::new(results),
            }));
        }
    };
    let message = format!(
        "`{}` stays in float32: type inference with {} operands failed: {why}",
        f.name(op),
        low.name
    );
    let note = Diagnostic::note(message).code("relax::precision-unknown");
    cx.emit(&note.at(OpSpan::name(op).within(f)));
    Ok(None)
}
