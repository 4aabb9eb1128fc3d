//! Transposes that meet: one after another, with ops between them that work element by element, and below ops that
//! take several of them.

use passdock_plugin_api::prelude::*;

pub(super) static RULES: Rules = rules! {
    rule transpose_nothing { onnx.Transpose(%x) {perm = $p} => %x where identity($p) }
    rule transpose_of_transpose {
        %outer = onnx.Transpose(%inner)
    } => meet;
    rule concat_of_transposes {
        %y = onnx.Concat(%xs...) {axis = $axis}
    } => concat;
};

/// The most ops between two Transposes that are looked through.
const MOST_BETWEEN: usize = 32;

/// The permutation of a `Transpose`: without the attribute it turns the dims around.
fn perm(f: &Function, op: OpId) -> Option<Vec<i64>> {
    match f.attr(op, "perm") {
        Some(Attr::Ints(perm)) => Some(perm.to_vec()),
        Some(_) => None,
        None => Some((0..f.rank(f.result(op, 0))? as i64).rev().collect()),
    }
}

/// The permutation that does the first, then the second.
fn compose(first: &[i64], second: &[i64]) -> Option<Vec<i64>> {
    let axis = |at: &i64| first.get(usize::try_from(*at).ok()?).copied();
    match first.len() == second.len() {
        true => second.iter().map(axis).collect(),
        false => None,
    }
}

fn transpose(value: ValueId, perm: &[i64]) -> OpBuilder<'static> {
    OpBuilder::new("onnx.Transpose")
        .operand(value)
        .attr("perm", perm)
}

/// The op that makes a value, if it is a `Transpose`, with its permutation.
fn transpose_of(f: &Function, value: ValueId) -> Option<(ValueId, Vec<i64>)> {
    let op = f
        .defining_op(value)
        .filter(|&op| f.name(op) == "onnx.Transpose")?;
    Some((f.operand(op, 0)?, perm(f, op)?))
}

/// Lets the ops between two Transposes work on what the first one transposes: each of them does the same to every
/// element, wherever it is. What is left of both Transposes stands before the ops.
fn meet(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let Some(last) = perm(f, m.op("outer")) else {
        return Ok(None);
    };
    // From the second Transpose up to the first.
    let mut between = Vec::new();
    let mut value = m.value(f, "inner");
    let (source, first) = loop {
        if let Some(found) = transpose_of(f, value) {
            break found;
        }
        let Some((op, slot)) = step(f, value).filter(|_| between.len() < MOST_BETWEEN) else {
            return Ok(None);
        };
        between.push((op, slot));
        value = f.operands(op).nth(slot).unwrap_or(ValueId::NONE);
    };
    let Some(perm) = compose(&first, &last) else {
        return Ok(None);
    };
    let is_identity = perm.is_sorted();
    let mut value = match is_identity {
        true => source,
        false => r.op(transpose(source, &perm))?,
    };
    for &(op, slot) in between.iter().rev() {
        let f = r.function();
        let mut operands: Vec<ValueId> = f.operands(op).collect();
        let rank = last.len();
        for (at, operand) in operands.iter_mut().enumerate() {
            if at == slot {
                *operand = value;
            } else if let Some((source, own)) = transpose_of(r.function(), *operand) {
                let Some(perm) = compose(&own, &last) else {
                    return Ok(None);
                };
                *operand = match perm.is_sorted() {
                    true => source,
                    false => r.op(transpose(source, &perm))?,
                };
            } else if !is_scalar(r.function(), *operand) {
                if r.function().rank(*operand) != Some(rank) {
                    return Ok(None);
                }
                *operand = r.op(transpose(*operand, &last))?;
            }
        }
        let f = r.function();
        let mut moved = OpBuilder::new(f.symbol(op)).operands(operands);
        for (name, attr) in f.attrs(op) {
            let Some(attr) = attr.to_value() else {
                return Ok(None);
            };
            moved = moved.attr(name, attr);
        }
        value = r.op(moved)?;
    }
    Ok(Some(vec![value]))
}

/// Whether a value is one element, whatever the rank it is written with is no larger than what it meets.
fn is_scalar(f: &Function, value: ValueId) -> bool {
    value.is_none() || f.rank(value) == Some(0)
}

/// The op that makes a value, if it works element by element and only this is made of it; and which of its operands a
/// Transpose may come by.
fn step(f: &Function, value: ValueId) -> Option<(OpId, usize)> {
    let op = f.defining_op(value)?;
    let is_plain = f.traits(op).is_elementwise()
        && f.traits(op).is_pure()
        && f.result_count(op) == 1
        && f.regions(op).is_empty()
        && f.use_count(value) == 1;
    if !is_plain {
        return None;
    }
    let rank = f.rank(value)?;
    let mut slots = f.operands(op).enumerate();
    // What is stretched by another operand has other dims.
    let (slot, _) = slots.find(|(_, operand)| {
        !operand.is_none()
            && f.constant(*operand).is_none()
            && f.rank(*operand) == Some(rank)
            && f.defining_op(*operand).is_some_and(|def| {
                f.name(def) == "onnx.Transpose" || f.traits(def).is_elementwise()
            })
    })?;
    Some((op, slot))
}

/// A `Concat` of what is all transposed the same way is transposed once.
fn concat(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let Some((_, perm)) = xs.first().and_then(|&x| transpose_of(f, x)) else {
        return Ok(None);
    };
    let sources = xs.iter().map(|&x| {
        let (source, own) = transpose_of(f, x)?;
        (own == perm).then_some(source)
    });
    let Some(sources) = sources.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let axis = m.int("axis").map(|axis| {
        if axis < 0 {
            axis + perm.len() as i64
        } else {
            axis
        }
    });
    let Some(&axis) = axis.and_then(|axis| perm.get(usize::try_from(axis).ok()?)) else {
        return Ok(None);
    };
    let concat = OpBuilder::new("onnx.Concat")
        .operands(sources)
        .attr("axis", axis);
    let concat = r.op(concat)?;
    Ok(Some(vec![r.op(transpose(concat, &perm))?]))
}
