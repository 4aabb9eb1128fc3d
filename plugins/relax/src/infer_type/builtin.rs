//! Type inference for the IR's builtin ops: `tuple`, `tuple_get` and `if`.
//!
//! The IR doesn't define result types of `for` and `while`.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::symbol;

use super::portable_type::PortableType;

/// Returns the result types of a builtin op, or an error message; `None` for other ops.
pub(crate) fn results(f: &Function, op: OpId) -> Option<Result<Vec<PortableType>, String>> {
    match f.symbol(op) {
        symbol::TUPLE => {
            let fields = f
                .operands(op)
                .map(|value| PortableType::from_value(f, value));
            Some(Ok(vec![PortableType::Compound(
                TypeKind::TUPLE,
                fields.collect(),
            )]))
        }
        symbol::TUPLE_GET => Some(field(f, op).map(|portable| vec![portable])),
        symbol::IF => Some(Ok(branches(f, op))),
        _ => None,
    }
}

fn field(f: &Function, op: OpId) -> Result<PortableType, String> {
    // Only the requested field is read: a tuple may have many fields with a `tuple_get` each.
    let Some(tuple) = f.operand(op, 0).map(|value| f.type_of(value)) else {
        return Ok(PortableType::Unknown);
    };
    match tuple.kind() {
        TypeKind::TUPLE => {}
        TypeKind::TENSOR | TypeKind::SEQUENCE | TypeKind::OPTIONAL => {
            return Err(format!("`tuple_get` expects a tuple, found {tuple}"));
        }
        _ => return Ok(PortableType::Unknown),
    }
    let Some(index) = f.int(op, "index") else {
        return Err("`tuple_get` lacks attribute `index`".to_owned());
    };
    let fields = tuple.items();
    let field = usize::try_from(index).ok().and_then(|at| fields.get(at));
    field
        .map(|&ty| PortableType::from_type(f, ty))
        .ok_or_else(|| {
            let count = fields.len();
            format!("index {index} of `tuple_get` is out of range for a tuple of {count}")
        })
}

/// Returns the types that all branches have in common. Unknown if there is no else branch, because that path yields
/// nothing.
fn branches(f: &Function, op: OpId) -> Vec<PortableType> {
    let given = |index: usize| {
        let given = |&region: &RegionId| {
            let value = f.operand(f.terminator(region)?, index)?;
            Some(PortableType::from_value(f, value))
        };
        let each = f.regions(op).iter().map(given);
        let all: Option<Vec<PortableType>> = each.collect();
        let both = all.filter(|all| all.len() > 1)?;
        both.into_iter().reduce(|a, b| a.common(&b))
    };
    (0..f.result_count(op))
        .map(|index| given(index).unwrap_or(PortableType::Unknown))
        .collect()
}
