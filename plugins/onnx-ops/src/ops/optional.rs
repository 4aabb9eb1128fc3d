//! Optional values.

use passdock_plugin_api::{Attr, DType, TypeKind, TypeSpec, attrs};

use super::operator::Operator;
use super::shape::same_type;
use crate::infer::{Infer, Inferred, Stop, Ty};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Optional", 15, (0, 1))
        .attrs(attrs![type: type])
        .infers(optional),
    Operator::new("onnx.OptionalGetElement", 15, (1, 1)).infers(get_element),
    OPTIONAL_HAS_ELEMENT,
    OPTIONAL_HAS_ELEMENT.since(18).operands((0, 1)),
];

const OPTIONAL_HAS_ELEMENT: Operator = Operator::new("onnx.OptionalHasElement", 15, (1, 1))
    .infers(|op| op.set(0, DType::BOOL, Some(vec![])));

/// Infers an optional value of the operand's type, or of the type in the attribute without an operand.
fn optional(op: &Infer) -> Inferred {
    let ty = match op.host.attr(op.host.op(), "type") {
        _ if op.has(0) => op.host.operand_type(0),
        Some(Attr::Type(id)) => op.host.ty(id),
        _ => return Err(Stop::Unknown),
    };
    if ty.kind() == TypeKind::UNKNOWN {
        return Err(Stop::Unknown);
    }
    let item = op.host.add_type(&ty.into()).map_err(|_| Stop::Unknown)?;
    op.set_type(0, Ty::Other(TypeSpec::optional(item)))
}

/// Infers the item type of an optional operand. Other operands are returned unchanged.
fn get_element(op: &Infer) -> Inferred {
    if op.host.operand_type(0).kind() != TypeKind::OPTIONAL {
        return same_type(op);
    }
    let item = op.item(0, TypeKind::OPTIONAL)?;
    op.set_type(0, Ty::Other(item.into()))
}
