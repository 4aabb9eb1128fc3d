//! `relax.transform.FoldConstant`: evaluates what depends on constants only.
//!
//! ```ir
//! fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
//!   %a = const i64[2] [2, 3]
//!   %b = const i64[2] [10, 20]
//!   %sum = onnx.Add(%a, %b) : i64[2]
//!   %0 = onnx.Mul(%x, %sum) : i64[2]
//!   return %0
//! }
//! →
//! fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
//!   %a = const i64[2] [2, 3]
//!   %b = const i64[2] [10, 20]
//!   %sum = const i64[2] [12, 23]
//!   %0 = onnx.Mul(%x, %sum) : i64[2]
//!   return %0
//! }
//! ```
//!
//! An `onnx.If` whose condition is constant is replaced by the ops of its branch. What depends on
//! types only (`Shape` of a tensor whose dims are known) is folded too.
//!
//! It does not fold what is random or has state, what takes no operands (`ones(shape=(4, 5))` is
//! smaller than its value), what nobody can evaluate, and what would grow the model: see
//! the option `max_growth`.
//!
//! Source: TVM `src/relay/transforms/fold_constant.cc` (ConstantChecker and ConstantFolder). Program
//! order stands for the recursion there: an op's operands were folded before it is looked at.

use passdock_plugin_api::prelude::*;

options! {
    /// What folding may cost.
    pub struct FoldConstant {
        /// By how many bytes one folded op may make the model larger: its results, without the
        /// operands that nobody else uses.
        max_growth: i64 = 256,
        /// Fold also where the model grows beyond that.
        allow_growth: bool = false,
    }
}

pub(crate) fn fold_constant(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<FoldConstant>()?;
    let checker = f.analysis::<ConstantChecker>(cx)?;
    if !checker.found {
        return Ok(());
    }
    let candidates = checker.candidates.clone();
    // What is inlined on the way is new, and nothing is known of it yet.
    let is_candidate = |op: OpId| {
        candidates
            .get(op.index())
            .is_none_or(|&candidate| candidate)
    };
    let mut next = f.first_op(f.body());
    // Where to go on when a region is done.
    let mut after = Vec::new();
    loop {
        let Some(op) = next else {
            match after.pop() {
                Some(op) => next = op,
                None => return Ok(()),
            }
            continue;
        };
        next = f.next_op(op);
        let is_candidate = is_candidate(op);
        if is_candidate
            && f.name(op) == "onnx.If"
            && let Some(branch) = constant_branch(f, op)?
        {
            next = inline(f, op, branch)?.or(next);
            continue;
        }
        if is_candidate
            && is_foldable(f, op, cx)
            && let Some(values) = cx.evaluate(f, op, budget(f, op, &options))?
        {
            f.replace_op_with(op, &values)?;
            continue;
        }
        for &region in f.regions(op) {
            after.push(std::mem::replace(&mut next, f.first_op(region)));
        }
    }
}

/// The branch that an `onnx.If` takes, if its condition is constant.
fn constant_branch(f: &Function, op: OpId) -> Result<Option<RegionId>, EditError> {
    let Some(condition) = f.operand(op, 0) else {
        return Ok(None);
    };
    let taken = match f.constant_data(condition)? {
        Some(&[byte]) => byte != 0,
        _ => return Ok(None),
    };
    Ok(f.region(op, if taken { "then_branch" } else { "else_branch" }))
}

/// Puts a region's ops in the place of the op that holds it, and answers the first of them.
fn inline(f: &mut Function, op: OpId, region: RegionId) -> Result<Option<OpId>, EditError> {
    let before = f.previous_op(op);
    let around = f.parent_region(op);
    let values = f.clone_region(
        region,
        Position {
            region: around,
            before: op,
        },
        &[],
    )?;
    f.replace_op_with(op, &values)?;
    Ok(match before {
        Some(before) => f.next_op(before),
        None => f.first_op(around),
    })
}

/// Whether an op may be folded, and there is hope that its results are constant.
fn is_foldable(f: &mut Function, op: OpId, cx: &PassContext) -> bool {
    if !may_fold(f, op, f.traits(op)) {
        return false;
    }
    let is_constant = |operand: ValueId| operand.is_none() || f.constant(operand).is_some();
    if f.operands(op).all(is_constant) {
        return true;
    }
    // Inference, in program order, finds out. An op that is wrong is InferType's to report.
    is_shape_data(f, op) && cx.infer(f, op).is_ok()
}

/// Whether an op is of a kind that is folded.
fn may_fold(f: &Function, op: OpId, traits: OpTraits) -> bool {
    let pure = traits.is_pure() && !traits.is_random() && !traits.is_stateful();
    traits.folds() && pure && f.operand_count(op) > 0
}

/// Whether an op gives small integers: these may be known without their operands being constant, by
/// way of dims that are.
fn is_shape_data(f: &Function, op: OpId) -> bool {
    let is_small = |&result: &ValueId| {
        matches!(f.dtype(result), DType::I64 | DType::I32)
            && f.rank(result).is_none_or(|rank| rank < 2)
    };
    f.results(op).iter().all(is_small)
}

/// TVM's ConstantChecker: which ops might be folded once those before them are. Kept until somebody
/// edits the function, so a function that has none is looked through once.
struct ConstantChecker {
    /// Per op id.
    candidates: Vec<bool>,
    /// Whether there is any.
    found: bool,
}

impl Analysis for ConstantChecker {
    const NAME: &'static str = "relax.constant_checker";

    fn compute(f: &Function, _cx: &PassContext) -> Result<ConstantChecker, PassError> {
        let effects = f.effects()?;
        let if_op = f.find_symbol("onnx.If");
        let mut candidates = Vec::new();
        // Per value id, whether a candidate gives it.
        let mut results = Vec::new();
        let mut found = false;
        for op in f.iter() {
            let is_constant = |value: ValueId| {
                value.is_none()
                    || f.constant(value).is_some()
                    || results.get(value.index()) == Some(&true)
            };
            let is_candidate = if Some(f.symbol(op)) == if_op {
                f.operand(op, 0).is_some_and(is_constant)
            } else {
                may_fold(f, op, effects.traits(op))
                    && (f.operands(op).all(is_constant) || is_shape_data(f, op))
            };
            set(&mut candidates, op.index(), is_candidate);
            if is_candidate {
                found = true;
                for result in f.results(op) {
                    set(&mut results, result.index(), true);
                }
            }
        }
        Ok(ConstantChecker { candidates, found })
    }
}

fn set(flags: &mut Vec<bool>, at: usize, value: bool) {
    if flags.len() <= at {
        flags.resize(at + 1, false);
    }
    flags[at] = value;
}

/// How many bytes the results may take.
fn budget(f: &Function, op: OpId, options: &FoldConstant) -> u64 {
    if options.allow_growth {
        return u64::MAX;
    }
    let freed: u64 = f
        .operands(op)
        .filter(|&operand| operand.is_some() && f.use_count(operand) == 1)
        .filter_map(|operand| f.constant_record(f.constant(operand)?))
        .map(|constant| constant.byte_len)
        .sum();
    freed.saturating_add(u64::try_from(options.max_growth).unwrap_or(0))
}
