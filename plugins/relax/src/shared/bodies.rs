//! Ops replaced by bodies that their definitions give them, bodies of bodies, too.

use passdock_plugin_api::prelude::*;

use super::cursor::Cursor;

/// The most bodies in one another; operators are made of fewer.
const MAX_DEPTH: usize = 64;

/// Copies the body of an op to the place before it, and answers what stands for each result.
type Give = fn(&PassContext, &mut Function, OpId) -> Result<Option<Vec<ValueId>>, EditError>;

/// Which ops are replaced, and by what.
pub(crate) struct Bodies<'p> {
    /// Whether an op is to be replaced.
    pub(crate) is_meant: &'p dyn Fn(&Function, OpId) -> bool,
    /// Gives its body.
    pub(crate) give: Give,
    /// Is told of an op that is to be replaced and has no body.
    pub(crate) without: &'p dyn Fn(&Function, &PassContext, OpId),
}

/// Replaces ops in all regions.
///
/// # Errors
/// If a body isn't well-formed, or never comes to an end.
pub(crate) fn replace_by_bodies(f: &mut Function, cx: &PassContext, bodies: &Bodies) -> PassResult {
    let mut cursor = Cursor::new(f);
    // Bodies in bodies that we are in, each up to this op, exclusively.
    let mut inside = Vec::new();
    while let Some(op) = cursor.advance(f) {
        while inside.last() == Some(&op) {
            inside.pop();
        }
        if !inside.is_empty() {
            cx.infer(f, op)?;
        }
        if (bodies.is_meant)(f, op) {
            let before = f.previous_op(op);
            if inside.len() == MAX_DEPTH {
                return Err(made_of_itself(f, op));
            }
            if let Some(values) = (bodies.give)(cx, f, op)? {
                inside.extend(cursor.next);
                let first = match before {
                    Some(before) => f.next_op(before),
                    None => f.first_op(f.parent_region(op)),
                };
                f.replace_op_with(op, &values)?;
                if first != Some(op) {
                    cursor.next = first.or(cursor.next);
                }
                continue;
            }
            (bodies.without)(f, cx, op);
        }
        cursor.enter(f, op);
    }
    Ok(())
}

fn made_of_itself(f: &Function, op: OpId) -> PassError {
    PassError::new(format!(
        "The body of {} never comes to an end: it is made of itself.",
        f.name(op)
    ))
    .at(op)
    .within(f)
}
