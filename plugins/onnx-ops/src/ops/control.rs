//! Control flow: operators with regions. What a region's ops do, they say themselves.

use passdock_plugin_api::{DType, Dim, Function, TypeSpec, attrs};

use super::{MANY, Operator};
use crate::infer::{Answer, Infer, Stop, Ty, as_const, same};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.If", 1, (1, 1))
        .attrs(attrs![else_branch: required graph, then_branch: required graph])
        .infers(branches),
    Operator::new("onnx.Loop", 1, (3, MANY)).attrs(attrs![body: required graph]),
    Operator::new("onnx.Loop", 11, (2, MANY)).attrs(attrs![body: required graph]),
    Operator::new("onnx.Scan", 8, (2, MANY))
        .attrs(attrs![body: required graph, directions: ints, num_scan_inputs: required int]),
    Operator::new("onnx.Scan", 9, (1, MANY)).attrs(attrs![
        body: required graph, num_scan_inputs: required int, scan_input_axes: ints,
        scan_input_directions: ints, scan_output_axes: ints, scan_output_directions: ints,
    ]),
];

/// What both branches agree on; they are looked at before the op only once they have been inferred.
fn branches(op: &Infer) -> Answer {
    let host: &Function = op.host;
    let this = op.host.op();
    let ends: Option<Vec<_>> = ["then_branch", "else_branch"]
        .into_iter()
        .map(|name| host.terminator(host.region(this, name)?))
        .collect();
    let Some([one, other]) = ends.as_deref() else {
        return Err(Stop::Unknown);
    };
    for index in 0..host.result_count(this) {
        let values = (host.operand(*one, index), host.operand(*other, index));
        let (Some(a), Some(b)) = values else { continue };
        let (a, b) = (host.type_of(a), host.type_of(b));
        if a.is_tensor() && b.is_tensor() && a.dtype() == b.dtype() && a.dtype() != DType::NONE {
            let dims = match (a.dims(), b.dims()) {
                (Some(a), Some(b)) if a.len() == b.len() => Some(a.zip(b).map(common).collect()),
                _ => None,
            };
            op.set(index, a.dtype(), dims)?;
        } else if TypeSpec::from(a) == TypeSpec::from(b) {
            op.set_type(index, Ty::Other(a.into()))?;
        }
    }
    Ok(())
}

/// A dim that two branches agree on.
fn common((a, b): (Dim, Dim)) -> Dim {
    if same(a, b) || as_const(a).is_some() && as_const(a) == as_const(b) {
        a
    } else {
        Dim::UNKNOWN
    }
}
