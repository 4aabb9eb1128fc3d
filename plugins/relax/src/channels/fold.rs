//! [`Folder`]: folds channel-wise ops into weights under a size budget.

use std::collections::BTreeMap;

use crate::rules::kernels::Kernels;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;
use passdock_plugin_api::{LocId, Use};

use super::affine::Affine;
use super::constants::Axis;
use super::linear::{Kind, Linear, Side};
use super::numbers::{self, Numbers};
use super::tensors::{self, CONSTANT, New, Tensors};
use crate::shared::operators::is_operator;
use crate::shared::read::{attrs, int_or, is_one, only_use, operator, unless_no_match};

/// The estimated size of an op in a file, in bytes.
const OP: i64 = 64;
/// The maximum number of uses of a constant that are examined.
const USES: usize = 64;

/// The maximum size in bytes of weights that are scaled speculatively if more than [`USES_AT_ONCE`] ops use them.
const LARGE: u64 = 1 << 16;
/// The maximum number of rounds. One round finds most folds that another fold enables.
const ROUNDS: usize = 16;
const USES_AT_ONCE: usize = 16;

/// A fold: an op that is removed, and the ops whose weights absorb it.
pub(crate) struct Plan {
    pub(crate) erased: OpId,
    /// The index of the operand that replaces its result.
    pub(crate) data: usize,
    /// The ops whose weights absorb the removed op, with the side of the weights and the absorbed part.
    pub(crate) linears: Vec<(Linear, Side, Affine)>,
    /// Operands of ops between them that are replaced by other constants.
    pub(crate) moved: Vec<Moved>,
}

impl Plan {
    pub(crate) fn new(erased: OpId, data: usize) -> Plan {
        Plan {
            erased,
            data,
            linears: Vec::new(),
            moved: Vec::new(),
        }
    }
}

/// An operand that becomes a constant of these numbers.
pub(crate) struct Moved {
    pub(crate) op: OpId,
    pub(crate) index: usize,
    pub(crate) numbers: Numbers,
    pub(crate) axis: Axis,
}

/// The change of an op with weights.
struct Change {
    linear: Linear,
    weights: Option<New>,
    /// The new bias, and its numbers.
    bias: Option<(New, Numbers)>,
    /// The number of ops that share the weights before and after.
    sharing_count: i64,
}

/// The changes of a plan, and the bytes that they save.
struct Prepared {
    changes: Vec<Change>,
    moved: Vec<New>,
    profit: i64,
}

pub(crate) struct Folder<'c> {
    cx: &'c PassContext,
    /// Op groups that runtimes have fused kernels for. These don't change.
    kernels: Kernels,
    tensors: Tensors,
    /// The locations of the ops that each op absorbed.
    merged: BTreeMap<OpId, Vec<LocId>>,
    allow_growth: bool,
    /// The bytes by which the function may grow, if they cover the cost of all remaining folds.
    budget: i64,
    /// The part of the budget that this round may still spend.
    allowance: i64,
    /// In this round: the cost in bytes of folds that were rejected, and whether anything was folded.
    cost: i64,
    has_folded: bool,
    /// Weights that rejected plans would have duplicated, with the number of plans.
    shared: BTreeMap<ValueId, usize>,
    has_splats: bool,
    has_gemm: bool,
}

impl<'c> Folder<'c> {
    /// Runs rounds of folding up to a fixed point, so that a second run finds nothing.
    ///
    /// Folds without a cost come first. Then all folds with a cost are applied if together they cost at most `1 / part`
    /// of the bytes of the function's constants; otherwise none is.
    pub(crate) fn run(
        f: &mut Function,
        cx: &'c PassContext,
        allow_growth: bool,
        part: u64,
        mut round: impl FnMut(&mut Function, &mut Folder<'c>) -> PassResult,
    ) -> PassResult {
        let mut folder = Folder::new(f, cx, allow_growth)?;
        for _ in 0..ROUNDS {
            folder.begin(f, part, false);
            round(f, &mut folder)?;
            if folder.has_folded {
                continue;
            }
            if folder.cost == 0 || folder.cost_for_all(f) > folder.budget {
                break;
            }
            folder.begin(f, part, true);
            round(f, &mut folder)?;
            if !folder.has_folded {
                break;
            }
        }
        folder.finish(f)?;
        Ok(())
    }

    fn new(f: &Function, cx: &'c PassContext, allow_growth: bool) -> Result<Folder<'c>, EditError> {
        let since = |version: i64| f.opset("").is_some_and(|opset| opset >= version);
        Ok(Folder {
            cx,
            kernels: Kernels::new(f)?,
            tensors: Tensors::default(),
            merged: BTreeMap::new(),
            allow_growth,
            budget: 0,
            allowance: 0,
            cost: 0,
            has_folded: false,
            shared: BTreeMap::new(),
            has_splats: since(9) && is_operator(cx, "onnx.ConstantOfShape"),
            has_gemm: since(7) && is_operator(cx, "onnx.Gemm"),
        })
    }

    fn begin(&mut self, f: &Function, part: u64, spends: bool) {
        let bytes: u64 = f.constants().map(|(_, record)| record.byte_len).sum();
        self.budget = i64::try_from(bytes / part).unwrap_or(i64::MAX);
        self.allowance = if spends { self.budget } else { 0 };
        (self.cost, self.has_folded) = (0, false);
        self.shared.clear();
    }

    /// Carries out a fold if it is possible and profitable. Returns whether it did.
    pub(crate) fn fold(&mut self, f: &mut Function, plan: Plan) -> Result<bool, EditError> {
        let Some(prepared) = unless_no_match(self.prepare(f, &plan))? else {
            return Ok(false);
        };
        let (rule, profit) = (rule(f, &plan), prepared.profit);
        let is_done = self.apply(f, &plan, prepared)?;
        if is_done {
            self.spend(profit);
            self.cx.rewrote(rule);
        }
        Ok(is_done)
    }

    /// Computes what a fold changes, if it is possible and profitable.
    fn prepare(&mut self, f: &Function, plan: &Plan) -> Result<Prepared, EditError> {
        // An unused op is dead code.
        NoMatch::unless(f.use_count(f.result(plan.erased, 0)) > 0)?;
        let mut touched = (plan.moved.iter().map(|one| one.op)).chain([plan.erased]);
        NoMatch::unless(!touched.any(|op| self.kernels.contains(op)))?;
        let mut changes = Vec::new();
        for (linear, side, affine) in &plan.linears {
            changes.push(self.change(f, plan, linear, *side, affine)?);
        }
        let moved = plan.moved.iter().map(|one| self.moved(f, one));
        let moved = moved.collect::<Option<Vec<New>>>().ok_or(NoMatch)?;
        NoMatch::unless(self.cx.may_rewrite(rule(f, plan)))?;
        let mut profit = self.profit(f, plan, &changes, &moved);
        if !self.is_profitable(profit) && self.has_splats {
            for change in &mut changes {
                if let Some((new, numbers)) = &mut change.bias
                    && let Some(splat) = tensors::as_splat(new, numbers, change.linear.op)
                {
                    *new = splat;
                }
            }
            profit = self.profit(f, plan, &changes, &moved);
        }
        if !self.accepts(profit) {
            self.record_shared(f, &changes);
            return Err(NoMatch.into());
        }
        // Weights are read last: they may be large.
        for (change, (_, side, affine)) in changes.iter_mut().zip(&plan.linears) {
            if let Some(new) = &mut change.weights {
                (self.tensors).fill(f, new, &change.linear, *side, &affine.factor)?;
            }
        }
        Ok(Prepared {
            changes,
            moved,
            profit,
        })
    }

    fn change(
        &mut self,
        f: &Function,
        plan: &Plan,
        linear: &Linear,
        side: Side,
        affine: &Affine,
    ) -> Result<Change, EditError> {
        let Affine { factor, offset } = affine;
        let dtype = linear.weights.dtype;
        let mut change = Change {
            weights: None,
            bias: None,
            sharing_count: sharing_count(f, plan, linear, side),
            linear: linear.clone(),
        };
        if !factor.are(1.0) {
            let has_few_uses =
                change.sharing_count > 1 || f.use_count(linear.weights.value) <= USES_AT_ONCE;
            NoMatch::unless(
                self.allow_growth
                    || has_few_uses
                    || linear.weights.byte_len(f) <= LARGE.max(self.budget.unsigned_abs()),
            )?;
            change.weights = self.tensors.scaled(f, linear, side, factor);
            NoMatch::unless(change.weights.is_some())?;
        }
        let is_scaled = side == Side::Output && !factor.are(1.0) && linear.bias.is_some();
        if offset.are(0.0) && !is_scaled {
            return Ok(change);
        }
        let is_product = matches!(linear.kind, Kind::MatMul | Kind::MatMulLeft);
        NoMatch::unless(!is_product || self.may_be_gemm(f, linear))?;
        let added = linear.added(f)?;
        let numbers = match side {
            Side::Output => {
                let scaled = added.with(factor, |added, factor| added * factor);
                scaled.with(offset, |scaled, offset| scaled + offset)
            }
            Side::Input => {
                NoMatch::unless(self.tensors.may_read(f, &linear.weights))?;
                let gained = linear.applied(f, offset)?;
                added.with(&gained, |added, gained| added + gained)
            }
        };
        let channels = linear.output(f).channels as i64;
        let dims = match linear.kind {
            Kind::MatMulLeft => vec![channels, 1],
            _ => vec![channels],
        };
        let new = tensors::list(dtype, dims, &numbers).ok_or(NoMatch)?;
        change.bias = Some((new, numbers));
        Ok(change)
    }

    /// Whether a product of two matrices can become a Gemm, which has a bias.
    fn may_be_gemm(&self, f: &Function, linear: &Linear) -> bool {
        let x = f.operand(linear.op, linear.data_at());
        let is_matrix = x.is_some_and(|x| f.rank(x) == Some(2));
        self.has_gemm && is_matrix && linear.weights.dims.len() == 2
    }

    fn moved(&self, f: &Function, moved: &Moved) -> Option<New> {
        let old = f.operand(moved.op, moved.index)?;
        let dims = match moved.numbers.one() {
            Some(_) if is_one(f, old) => f.shape(old)?,
            Some(_) => Vec::new(),
            None => {
                let mut dims = vec![1; moved.axis.rank - moved.axis.at];
                dims[0] = moved.axis.channels as i64;
                dims
            }
        };
        tensors::list(f.dtype(old)?, dims, &moved.numbers)
    }

    /// Whether a fold has a profit, or the function may grow by its cost.
    fn is_profitable(&self, profit: i64) -> bool {
        self.allow_growth || profit.saturating_add(self.allowance) >= 0
    }

    /// Returns `true` if a fold is profitable; adds its cost to that of the round otherwise.
    fn accepts(&mut self, profit: i64) -> bool {
        let is_profitable = self.is_profitable(profit);
        if !is_profitable {
            self.cost = self.cost.saturating_sub(profit);
        }
        is_profitable
    }

    /// Records the weights that a rejected fold would have duplicated.
    fn record_shared(&mut self, f: &Function, changes: &[Change]) {
        let users: Vec<OpId> = changes.iter().map(|one| one.linear.op).collect();
        for change in changes {
            let weights = change.linear.weights.value;
            let is_kept = change.sharing_count == 1 && !are_among(f, weights, &users);
            if change.weights.is_some() && is_kept {
                *self.shared.entry(weights).or_default() += 1;
            }
        }
    }

    /// Returns the cost of all rejected folds together. Weights that only they use are freed by the last one.
    fn cost_for_all(&self, f: &Function) -> i64 {
        let shared = self.shared.iter();
        let erased = shared.filter(|&(&weights, &plans)| f.use_count(weights) == plans);
        let freed: i64 = erased.map(|(&weights, _)| size(f, weights)).sum();
        self.cost - freed
    }

    /// Records a fold. A cost is subtracted from the budget; a profit isn't added to it.
    pub(crate) fn spend(&mut self, profit: i64) {
        self.allowance = self.allowance.saturating_add(profit.min(0));
        self.has_folded = true;
    }

    /// Returns the bytes that a plan saves: those of what it removes, without those of what it creates.
    fn profit(&self, f: &Function, plan: &Plan, changes: &[Change], moved: &[New]) -> i64 {
        let mut profit = OP;
        let users: Vec<OpId> = changes.iter().map(|one| one.linear.op).collect();
        for (at, change) in changes.iter().enumerate() {
            let linear = &change.linear;
            let weights = linear.weights.value;
            let is_first = !changes[..at]
                .iter()
                .any(|one| one.linear.weights.value == weights);
            if let (Some(new), true) = (&change.weights, is_first) {
                let is_freed = change.sharing_count > 1 || are_among(f, weights, &users);
                let saved = if is_freed { size(f, weights) } else { 0 };
                profit += (saved - new.cost()) / change.sharing_count;
            }
            if let Some((new, _)) = &change.bias {
                profit -= new.cost() / change.sharing_count;
                if let Some(bias) = linear.bias {
                    let is_shared = f.use_count(bias) as i64 == change.sharing_count;
                    let is_freed = is_shared || are_among(f, bias, &users);
                    let saved = if is_freed { size(f, bias) } else { 0 };
                    profit += saved / change.sharing_count;
                }
            }
        }
        for (one, new) in plan.moved.iter().zip(moved) {
            let is_freed = |&old: &ValueId| are_among(f, old, &[one.op]);
            let old = f.operand(one.op, one.index).filter(is_freed);
            profit += old.map_or(0, |old| size(f, old)) - new.cost();
        }
        let mut seen = Vec::new();
        for (index, value) in f.operands(plan.erased).enumerate() {
            if index != plan.data && value.is_some() && !seen.contains(&value) {
                seen.push(value);
                profit += freed(f, plan, index, value);
            }
        }
        profit
    }

    fn apply(
        &mut self,
        f: &mut Function,
        plan: &Plan,
        prepared: Prepared,
    ) -> Result<bool, EditError> {
        let Some(data) = f.operand(plan.erased, plan.data) else {
            return Ok(false);
        };
        let erased_loc = f.loc(plan.erased);
        // The declared type of the result may contradict.
        if unless_no_match(f.replace_with_and_erase_dead(plan.erased, &[data]))?.is_none() {
            return Ok(false);
        }
        for change in prepared.changes {
            let linear = change.linear;
            let data = linear.data_at();
            let mut old: Vec<ValueId> = f.operands(linear.op).collect();
            old.remove(data);
            let weights = match change.weights {
                Some(new) => self.tensors.create(f, new)?,
                None => linear.weights.value,
            };
            self.merged.entry(linear.op).or_default().push(erased_loc);
            f.set_operand(linear.op, linear.weights_at(), weights)?;
            if let Some((new, _)) = change.bias {
                let bias = self.tensors.create(f, new)?;
                if matches!(linear.kind, Kind::MatMul | Kind::MatMulLeft) {
                    let operands: Vec<ValueId> = f.operands(linear.op).chain([bias]).collect();
                    let gemm = OpBuilder::new("onnx.Gemm").operands(operands);
                    let gemm = f.replace_op(linear.op, gemm)?;
                    self.cx.infer(f, gemm)?;
                    let merged = self.merged.remove(&linear.op).unwrap_or_default();
                    self.merged.insert(gemm, merged);
                } else {
                    f.set_operand(linear.op, 2, bias)?;
                    if f.attr(linear.op, "beta").is_some() {
                        f.set_attr(linear.op, "beta", 1.0_f32)?;
                    }
                }
            }
            for value in old {
                f.erase_dead(value)?;
            }
        }
        for (one, new) in plan.moved.iter().zip(prepared.moved) {
            let old = f.operand(one.op, one.index);
            let value = self.tensors.create(f, new)?;
            f.set_operand(one.op, one.index, value)?;
            if let Some(old) = old {
                f.erase_dead(old)?;
            }
        }
        Ok(true)
    }

    /// Sets the fused locations of ops that absorbed others. Once per op, because a long chain has many locations.
    fn finish(self, f: &mut Function) -> Result<(), EditError> {
        for (op, more) in self.merged {
            if f.is_live(op) {
                let all: Vec<LocId> = [f.loc(op)].into_iter().chain(more).collect();
                let loc = f.fused_locs(&all)?;
                f.set_loc(op, loc)?;
            }
        }
        Ok(())
    }

    /// Creates a constant with one number per channel and the element type of `like`. Fails if the type can't represent
    /// a number.
    pub(crate) fn list(
        &mut self,
        f: &mut Function,
        like: ValueId,
        dims: Vec<i64>,
        numbers: &Numbers,
    ) -> Result<ValueId, EditError> {
        let dtype = f.dtype(like).ok_or(NoMatch)?;
        let new = tensors::list(dtype, dims, numbers).ok_or(NoMatch)?;
        self.tensors.create(f, new)
    }

    /// Returns the bytes that are saved if lists of `lists` elements replace the values `old` of `op`. Counts values
    /// without other uses and the removed ops. `None` if the cost exceeds the budget.
    pub(crate) fn profit_of_lists(
        &mut self,
        f: &Function,
        op: OpId,
        old: &[ValueId],
        lists: &[usize],
        erased: &[OpId],
    ) -> Option<i64> {
        let element = old.first().and_then(|&one| numbers::size_of(f.dtype(one)?));
        let mut profit = erased.len() as i64 * OP;
        let mut seen: Vec<ValueId> = Vec::new();
        let erased_operands = erased.iter().flat_map(|&one| f.operands(one));
        for value in erased_operands.chain(old.iter().copied()) {
            let users: Vec<OpId> = erased.iter().copied().chain([op]).collect();
            let stays = !old.contains(&value) && f.operands(op).any(|other| other == value);
            if value.is_some() && !seen.contains(&value) && !stays && are_among(f, value, &users) {
                seen.push(value);
                profit += size(f, value);
            }
        }
        for count in lists {
            profit -= (count * element.unwrap_or(8)) as i64 + CONSTANT;
        }
        self.accepts(profit).then_some(profit)
    }
}

/// Returns the rule name under which a fold is counted and disabled.
fn rule(f: &Function, plan: &Plan) -> &'static str {
    let is_after = (plan.linears.iter()).any(|(_, side, _)| *side == Side::Output);
    match (operator(f, plan.erased), is_after) {
        ("onnx.BatchNormalization", true) => "batch_norm_after_weights",
        ("onnx.BatchNormalization", false) => "batch_norm_before_weights",
        ("onnx.Add" | "onnx.Sub", true) => "sum_after_weights",
        ("onnx.Add" | "onnx.Sub", false) => "sum_before_weights",
        (_, true) => "product_after_weights",
        (_, false) => "product_before_weights",
    }
}

/// Returns the bytes that removing a constant frees: 0 if it is part of the interface, or if the value is a splat.
fn size(f: &Function, value: ValueId) -> i64 {
    match f.constant(value).and_then(|id| f.constant_record(id)) {
        Some(constant) if constant.flags & record::Constant::KEPT != 0 => 0,
        Some(constant) => constant.byte_len as i64 + CONSTANT,
        None => 0,
    }
}

/// Whether all uses of a value are by these ops.
fn are_among(f: &Function, value: ValueId, ops: &[OpId]) -> bool {
    f.use_count(value) <= USES && f.iter_uses(value).all(|one| ops.contains(&one.op))
}

/// Returns the number of ops with the same weights, if each of them is next to an op like the removed one; else 1.
fn sharing_count(f: &Function, plan: &Plan, linear: &Linear, side: Side) -> i64 {
    let weights = linear.weights.value;
    let count = f.use_count(weights);
    let group = |op: OpId| int_or(f, op, "group", 1);
    let is_like = |one: Use| {
        let op = one.op;
        one.index == linear.weights_at()
            && f.symbol(op) == f.symbol(linear.op)
            && f.operand(op, 2) == linear.bias
            && group(op) == group(linear.op)
            && neighbor(f, op, side, linear.data_at())
                .is_some_and(|other| is_same(f, other, plan.erased, plan.data))
    };
    match count > 1 && count <= USES && f.iter_uses(weights).all(is_like) {
        true => count as i64,
        false => 1,
    }
}

/// Returns the only user of an op's result, or the op that defines an operand.
fn neighbor(f: &Function, op: OpId, side: Side, data: usize) -> Option<OpId> {
    match side {
        Side::Input => f.defining_op(f.operand(op, data)?),
        Side::Output => only_use(f, f.result(op, 0)).map(|one| one.op),
    }
}

/// Whether two ops are equal except for their data operands.
fn is_same(f: &Function, a: OpId, b: OpId, data: usize) -> bool {
    let mut operands = f.operands(a).zip(f.operands(b)).enumerate();
    a == b
        || f.symbol(a) == f.symbol(b)
            && f.operand_count(a) == f.operand_count(b)
            && operands.all(|(at, (one, other))| at == data || one == other)
            && attrs(f, a).is_some_and(|own| Some(own) == attrs(f, b))
}

/// Returns the bytes of an operand that are freed with the op: in equal parts, if ops in the same position share it.
fn freed(f: &Function, plan: &Plan, index: usize, value: ValueId) -> i64 {
    if are_among(f, value, &[plan.erased]) {
        return size(f, value);
    }
    let [(linear, side, _)] = &plan.linears[..] else {
        return 0;
    };
    let is_like = |one: Use| {
        let other = match side {
            Side::Output => f
                .operand(one.op, plan.data)
                .filter(|&data| f.use_count(data) == 1)
                .and_then(|data| f.defining_op(data)),
            Side::Input => neighbor(f, one.op, Side::Output, 0),
        };
        one.index == index
            && f.symbol(one.op) == f.symbol(plan.erased)
            && other.is_some_and(|other| f.symbol(other) == f.symbol(linear.op))
    };
    let count = f.use_count(value);
    match count <= USES && f.iter_uses(value).all(is_like) {
        true => size(f, value) / count.max(1) as i64,
        false => 0,
    }
}
