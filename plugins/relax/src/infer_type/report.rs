//! What is said of ops that can't be right.

use passdock_plugin_api::prelude::*;

/// What is wrong with an op, as far as it can be said: with a type that its definition contradicts, both
/// places.
pub(crate) fn explain(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    error: EditError,
) -> Diagnostic {
    match contradiction(f, cx, op) {
        Ok(Some(diagnostic)) => diagnostic,
        _ => Diagnostic::warning(error.message)
            .at(Place::op(op).within(f))
            .code("relax::infer-type")
            .help("The type that the model declares was kept."),
    }
}

/// Asks again, with nothing known of the results, so that what the definition says can be seen.
fn contradiction(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
) -> Result<Option<Diagnostic>, EditError> {
    let results = f.results(op).to_vec();
    let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
    let unknown = f.add_type(&TypeSpec::unknown())?;
    for &value in &results {
        f.set_type(value, unknown)?;
    }
    let asked = cx.infer(f, op);
    let inferred: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
    let mut found = None;
    for (index, &value) in results.iter().enumerate() {
        f.set_type(value, unknown)?;
        if !known[index].is_none() {
            f.set_type(value, known[index])?;
        }
        if asked.is_ok()
            && !inferred[index].is_none()
            && f.set_type(value, inferred[index]).is_err()
        {
            found.get_or_insert(index);
        }
    }
    let Some(index) = found else {
        return Ok(None);
    };
    let (gives, declared) = (f.ty(inferred[index]), f.ty(known[index]));
    let message = format!("{} gives {gives}, and {declared} is declared.", f.name(op));
    Ok(Some(
        Diagnostic::warning(message)
            .at(Place::name(op).within(f))
            .label(
                Place::result(op, index).within(f),
                format!("is declared {declared}"),
            )
            .code("relax::infer-type")
            .help("The declared type was kept: correct it, or the op."),
    ))
}
