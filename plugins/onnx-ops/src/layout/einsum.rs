//! The layout rule of `Einsum`: its equation names the axes of each operand, in any order.

use super::request::LayoutRequest;
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// Permutes the term of each operand. The result keeps its layout.
pub(super) fn einsum(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let Some(equation) = request.string("equation")? else {
        return Err(Stop::Unknown);
    };
    let equation = std::str::from_utf8(equation).map_err(|_| Stop::Unknown)?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((terms, result)) = equation.split_once("->") else {
        return invalid!("equation has no explicit result");
    };
    let mut laid = request.result();
    let mut terms: Vec<String> = terms.split(',').map(str::to_owned).collect();
    if terms.len() != request.count() || equation.contains('.') {
        return invalid!("equation has an ellipsis, or not one term per operand");
    }
    for (index, term) in terms.iter_mut().enumerate() {
        let Some(layout) = request.requested(index, "NC")? else {
            continue;
        };
        request.fits(index, &layout)?;
        let letters: Vec<char> = term.chars().collect();
        let perm = layout.perm().filter(|perm| perm.len() == letters.len());
        let Some(perm) = perm else {
            return invalid!("layout `{layout}` has blocks, or does not fit term `{term}`");
        };
        *term = perm.iter().map(|axis| letters[*axis]).collect();
        laid.operand(index, &layout);
    }
    if laid.operands.iter().all(Option::is_none) {
        return invalid!("no other layout is requested");
    }
    let equation = format!("{}->{result}", terms.join(","));
    laid.finish_op(request, Change::attr("equation", equation))
}
