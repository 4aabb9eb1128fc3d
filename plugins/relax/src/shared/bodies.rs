//! Replacement of ops by bodies from their definitions, recursively.

use passdock_plugin_api::prelude::*;

use super::cursor::Cursor;

/// The maximum nesting of bodies.
const MAX_DEPTH: usize = 64;

/// Inserts the body of an op before it. Returns the replacements of its results, or `None` if the op has no body.
type BodyFn = fn(&PassContext, &mut Function, OpId) -> Result<Option<Vec<ValueId>>, EditError>;

/// The ops to replace, and their bodies.
pub(crate) struct Bodies<'p> {
    /// Whether an op should be replaced.
    pub(crate) is_selected: &'p dyn Fn(&Function, OpId) -> bool,
    /// Inserts the body.
    pub(crate) body_of: BodyFn,
    /// Called for an op that should be replaced but has no body.
    pub(crate) without: &'p dyn Fn(&Function, &PassContext, OpId),
}

/// Replaces ops in all regions.
///
/// # Errors
///
/// Fails if a body isn't well-formed, or if bodies recurse without end.
pub(crate) fn replace_by_bodies(f: &mut Function, cx: &PassContext, bodies: &Bodies) -> PassResult {
    let mut cursor = Cursor::new(f);
    // The nested bodies around the current op; each ends before this op.
    let mut inside = Vec::new();
    while let Some(op) = cursor.advance(f) {
        while inside.last() == Some(&op) {
            inside.pop();
        }
        if !inside.is_empty() {
            cx.infer(f, op)?;
        }
        if (bodies.is_selected)(f, op) {
            let before = f.previous_op(op);
            if inside.len() == MAX_DEPTH {
                return Err(recursive_body(f, op));
            }
            if let Some(values) = (bodies.body_of)(cx, f, op)? {
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

fn recursive_body(f: &Function, op: OpId) -> PassError {
    PassError::new(format!(
        "the decomposition of `{}` is recursive",
        f.name(op)
    ))
    .at(op)
    .within(f)
}
