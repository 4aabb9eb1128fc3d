//! [`Kernels`]: groups of ops that runtimes fuse into one kernel in models of any opset.
//!
//! `FuseOperators` replaces such a group only if the model's opset has the operator. ONNX Runtime also fuses the groups
//! in older models if other rewrites keep them intact.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::polynomial::{Polynomial, polynomial, terms};
use super::spread::{centered, spread};
use crate::shared::read::{defined_by, is, only_use, unless_no_match};

/// The maximum number of users between the gate or mean of a group and its last op.
const MAX_LENGTH: usize = 6;
/// The maximum number of ops in a group.
const MAX_OPS: usize = 32;

/// A group of ops with one result.
pub struct Kernel {
    /// Whether the group is a normalization; otherwise it is a GELU.
    pub is_norm: bool,
    /// The input of the group.
    pub x: ValueId,
    /// The op that defines the group's result.
    pub last: OpId,
    /// All ops of the group.
    pub ops: Vec<OpId>,
}

/// The groups in a function.
#[derive(Default)]
pub struct Kernels {
    all: Vec<Kernel>,
    ops: HashSet<OpId>,
}

impl Kernels {
    /// Finds the GELUs and the layer normalizations in a function.
    ///
    /// # Errors
    /// If the bytes of a constant can't be read.
    pub fn new(f: &Function) -> Result<Kernels, EditError> {
        let mut all = Vec::new();
        for name in ["onnx.Erf", "onnx.Tanh"] {
            for gate in f.ops_named(name) {
                all.extend(gelu(f, gate)?);
            }
        }
        for mean in f.ops_named("onnx.ReduceMean") {
            all.extend(norm(f, mean)?);
        }
        let ops = all.iter().flat_map(|kernel| &kernel.ops).copied().collect();
        Ok(Kernels { all, ops })
    }

    /// Whether an op belongs to a group.
    pub fn contains(&self, op: OpId) -> bool {
        self.ops.contains(&op)
    }

    /// Iterates over the groups.
    pub fn iter(&self) -> impl Iterator<Item = &Kernel> {
        self.all.iter()
    }
}

/// Whether an op belongs to a GELU whose gate is an arithmetic term of the op's result.
pub(crate) fn ends_gelu(f: &Function, op: OpId) -> Result<bool, EditError> {
    for value in terms(f, f.result(op, 0)) {
        for name in ["onnx.Erf", "onnx.Tanh"] {
            if let Some(gate) = defined_by(f, value, name)
                && gelu(f, gate)?.is_some_and(|kernel| kernel.ops.contains(&op))
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the only user of the result of an op with one result.
fn user(f: &Function, op: OpId) -> Option<OpId> {
    let used = only_use(f, f.result(op, 0))?;
    (f.result_count(op) == 1).then_some(used.op)
}

/// Finds the GELU whose gate is this `Erf` or `Tanh`.
fn gelu(f: &Function, gate: OpId) -> Result<Option<Kernel>, EditError> {
    // The group is only protected, not replaced, so constants near those of a GELU are enough.
    const NEAR: DType = DType::F16;
    let inside = f.operand(gate, 0).unwrap_or(ValueId::NONE);
    let expected = Polynomial::gelu_gate(is(f, gate, "onnx.Erf"));
    for x in terms(f, inside).into_iter().skip(1) {
        let found = unless_no_match(polynomial(f, inside, x, ValueId::NONE))?;
        if !found.is_some_and(|found| found.is_about(expected, NEAR)) {
            continue;
        }
        let mut last = gate;
        for _ in 0..MAX_LENGTH {
            let Some(next) = user(f, last) else {
                break;
            };
            last = next;
            let y = f.result(last, 0);
            if unless_no_match(polynomial(f, y, x, f.result(gate, 0)))?
                .is_some_and(|found| found.is_about(Polynomial::halves(), NEAR))
            {
                return Ok(Some(Kernel {
                    is_norm: false,
                    x,
                    last,
                    ops: between(f, last, x),
                }));
            }
        }
    }
    Ok(None)
}

/// Finds the normalization that uses this mean of squares, with its scale and bias.
fn norm(f: &Function, mean: OpId) -> Result<Option<Kernel>, EditError> {
    let mut last = mean;
    let mut found = None;
    for _ in 0..MAX_LENGTH {
        let Some(next) = user(f, last) else {
            return Ok(None);
        };
        last = next;
        if is(f, last, "onnx.Div") || is(f, last, "onnx.Mul") {
            found = unless_no_match(spread(f, last))?.filter(|spread| spread.mean == mean);
            if found.is_some() {
                break;
            }
        }
    }
    let Some(spread) = found else {
        return Ok(None);
    };
    let x = centered(f, spread.x, &spread.axes)?.unwrap_or(spread.x);
    let mut ops = between(f, last, x);
    // 16-bit types are normalized in float32 and cast back.
    let mut tail = &["onnx.Cast", "onnx.Mul", "onnx.Add"][..];
    while let Some(next) = user(f, last) {
        let Some(at) = tail.iter().position(|name| is(f, next, name)) else {
            break;
        };
        let mut operands = f.operands(next);
        let is_kept = at + 1 == tail.len() && !operands.any(|one| f.constant(one).is_some());
        // An `Add` without a constant isn't a bias. It is a sum with another value.
        if is_kept {
            break;
        }
        last = next;
        ops.push(next);
        tail = &tail[at + 1..];
    }
    Ok(Some(Kernel {
        is_norm: true,
        x,
        last,
        ops,
    }))
}

/// Returns the ops between `x` and the result of `last`, at most `MAX_OPS`.
fn between(f: &Function, last: OpId, x: ValueId) -> Vec<OpId> {
    let mut ops = vec![last];
    let mut next = 0;
    while next < ops.len() && ops.len() < MAX_OPS {
        for operand in f.operands(ops[next]) {
            if operand != x
                && let Some(op) = operand.option().and_then(|operand| f.defining_op(operand))
                && !ops.contains(&op)
            {
                ops.push(op);
            }
        }
        next += 1;
    }
    ops
}

/// Finds the ops that ONNX Runtime fuses with an `Add` before them only for a sum of rank 3. These are normalizations
/// of a sum of two values, and GELUs of unknown shape with a bias. Maps each op, including the `Add`, to the number of
/// its group.
pub(crate) fn fused_with_sums(f: &Function) -> Result<HashMap<OpId, usize>, EditError> {
    let mut found = HashMap::new();
    let kernels = Kernels::new(f)?;
    let spelled = (kernels.iter()).map(|one| (one.is_norm, one.x, one.ops.clone()));
    let written = [("onnx.LayerNormalization", true), ("onnx.Gelu", false)];
    let written = written.into_iter().flat_map(|(name, is_norm)| {
        let ops = f.ops_named(name);
        ops.map(move |op| (is_norm, f.operand(op, 0).unwrap_or(ValueId::NONE), vec![op]))
    });
    for (group, (is_norm, x, ops)) in spelled.chain(written).enumerate() {
        let Some(sum) = defined_by(f, x, "onnx.Add") else {
            continue;
        };
        let is_alone = f.iter_uses(x).all(|used| ops.contains(&used.op));
        let is_biased = f.operands(sum).any(|one| f.constant(one).is_some());
        let is_open = || f.rank(x).is_some() && f.shape(x).is_none();
        let is_fused = match is_norm {
            true => !is_biased && f.rank(x) == Some(3),
            false => is_biased && is_open(),
        };
        if is_alone && is_fused {
            found.extend(ops.into_iter().chain([sum]).map(|op| (op, group)));
        }
    }
    Ok(found)
}
