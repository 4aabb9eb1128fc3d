//! Flattens tensors to matrices for groups of ops that process each row alone. A product of matrices can be a `Gemm`,
//! which absorbs a sum. A group of `MatMul`s of higher rank and the ops between them is rewritten if that leaves fewer
//! ops.

use std::collections::{BTreeMap, HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use crate::rules::shared::kernels::fused_with_sums;
use crate::shared::read::{
    add_tensor, axis_in, int_or, ints_of, is, is_view, known_dims, like, only_use, unless_no_match,
    viewed,
};
use crate::shared::union_find::UnionFind;

const NAME: &str = "rows_of_matrices";

/// The ops that one of ONNX Runtime's fused kernels saves: a bias, a sum and a normalization.
const WORTH: i64 = 3;

/// The maximum size of a constant that may be duplicated, in bytes.
const MAX_COPIED: usize = 4096;

/// Rewrites groups of ops whose rewrite has a profit. Returns whether there were any.
pub(super) fn flatten(f: &mut Function, cx: &PassContext) -> Result<bool, PassError> {
    // Older opsets differ in broadcasting, in default axes, or in `Reshape`'s inferred size.
    if f.opset("").is_none_or(|version| version < 13) || f.ops_named("onnx.MatMul").count() == 0 {
        return Ok(false);
    }
    let kernels = fused_with_sums(f)?;
    let mut found = false;
    for mut group in groups(f, f.ops_in(f.body()))? {
        let lost = group.lost(f, &kernels);
        let mut parts = Vec::new();
        if lost > 0 {
            let others = group.order.iter().filter(|op| !kernels.contains_key(op));
            parts = groups(f, others.copied())?;
            parts.retain(|part| part.lost(f, &kernels) == 0);
        }
        for group in parts.iter_mut().chain([&mut group]) {
            group.leave_what_enters(f);
        }
        parts.retain(|part| part.profit(f) > 0);
        let profit: i64 = parts.iter().map(|part| part.profit(f)).sum();
        if group.profit(f) - lost * WORTH > profit {
            parts = vec![group];
        }
        for part in parts.iter().filter(|_| cx.may_rewrite(NAME)) {
            part.rewrite(f, cx)?;
            cx.rewrote(NAME);
            found = true;
        }
    }
    Ok(found)
}

/// The dims before the last axis, and the size of the last axis.
struct Rows {
    lead: Vec<Dim>,
    width: i64,
}

impl Rows {
    /// Returns the rows of a value that one `Reshape` can turn into a matrix.
    fn from_value(f: &Function, value: ValueId) -> Option<Rows> {
        let mut lead = known_dims(f, value).filter(|dims| dims.len() > 2)?;
        let width = lead.pop()?.as_const().filter(|width| *width > 0)?;
        sizes(&lead)?;
        Some(Rows { lead, width })
    }

    /// Returns the shape of the matrix.
    fn matrix(&self) -> [i64; 2] {
        let rows = self.lead.iter().map(|dim| dim.as_const());
        let rows: Option<i64> = rows.product();
        [rows.unwrap_or(-1), self.width]
    }
}

/// Returns dims as the shape of a `Reshape`, with at most one -1 for an unknown size. `None` if a dim is empty.
fn sizes(dims: &[Dim]) -> Option<Vec<i64>> {
    let sizes = dims.iter().map(|dim| dim.as_const().unwrap_or(-1));
    let sizes: Vec<i64> = sizes.collect();
    let open = dims.iter().filter(|dim| dim.as_const().is_none()).count();
    let is_filled = dims.iter().all(|dim| dim.as_const() != Some(0));
    (open <= 1 && is_filled).then_some(sizes)
}

/// The role of an operand of an op that processes rows.
enum Role {
    /// Rows, which become a matrix.
    Rows,
    /// Unchanged.
    Unchanged,
    /// A constant, which gets this shape.
    Constant(Vec<i64>),
}

fn role(f: &Function, value: ValueId, lead: &[Dim]) -> Option<Role> {
    let own = Rows::from_value(f, value).filter(|rows| rows.lead == lead);
    let Some(data) = f.constant(value).and_then(|_| f.shape(value)) else {
        let is_short = value.is_none() || f.rank(value).is_some_and(|rank| rank < 2);
        return match own {
            Some(_) => Some(Role::Rows),
            None => is_short.then_some(Role::Unchanged),
        };
    };
    let rank = lead.len() + 1;
    if data.len() < 2 || data.len() > rank {
        return (data.len() < 2).then_some(Role::Unchanged);
    }
    let mut shape = vec![1; rank - data.len()];
    shape.extend(data);
    let width = shape.pop()?;
    let is_one_row = shape.iter().all(|size| *size == 1);
    let is_whole = shape
        .iter()
        .zip(lead)
        .all(|(size, dim)| dim.as_const() == Some(*size));
    let bytes = f.constant_data(value).ok()??.len();
    match f.use_count(value) == 1 || is_one_row && bytes <= MAX_COPIED {
        true if is_one_row => Some(Role::Constant(vec![width])),
        true if is_whole => Some(Role::Constant(vec![shape.iter().product(), width])),
        _ => own.map(|_| Role::Rows),
    }
}

/// An op that processes each row independently.
struct RowOp {
    roles: Vec<Role>,
    /// The name of its axis attribute, if it has one.
    axis: Option<&'static str>,
}

impl RowOp {
    fn from_op(f: &Function, op: OpId) -> Result<RowOp, EditError> {
        let traits = f.traits(op);
        NoMatch::unless(!traits.is_ambiguous() && traits.is_pure() && f.regions(op).is_empty())?;
        let &first = f.results(op).first().ok_or(NoMatch)?;
        let lead = Rows::from_value(f, first).ok_or(NoMatch)?.lead;
        let is_same =
            |&result: &ValueId| Rows::from_value(f, result).is_some_and(|rows| rows.lead == lead);
        NoMatch::unless(f.results(op).iter().all(is_same))?;
        let rank = lead.len() + 1;
        let is_last =
            |axis: Option<i64>| axis.and_then(|axis| axis_in(axis, rank)) == Some(rank - 1);
        let has_one_result = f.result_count(op) == 1;
        let axis = match f.name(op) {
            "onnx.MatMul" => None,
            "onnx.LayerNormalization"
            | "onnx.RMSNormalization"
            | "onnx.Softmax"
            | "onnx.LogSoftmax"
                if has_one_result && is_last(int_or(f, op, "axis", -1)) =>
            {
                Some("axis")
            }
            "onnx.Split" if is_last(int_or(f, op, "axis", 0)) => Some("axis"),
            "onnx.ReduceMean" | "onnx.ReduceSum" if int_or(f, op, "keepdims", 1) == Some(1) => {
                let axes = ints_of(f, op, 1, "axes")?.flatten();
                let is_one = matches!(axes.as_deref(), Some(&[axis]) if is_last(Some(axis)));
                NoMatch::unless(is_one)?;
                Some("axes")
            }
            _ => {
                NoMatch::unless(traits.is_elementwise() && has_one_result)?;
                NoMatch::unless(f.attr(op, "axis").is_none())?;
                None
            }
        };
        let is_product = is(f, op, "onnx.MatMul");
        let mut roles = Vec::new();
        for (index, value) in f.operands(op).enumerate() {
            let role = match (is_product, index) {
                (true, 0) => role(f, value, &lead).filter(|role| matches!(role, Role::Rows)),
                (true, _) => (f.rank(value) == Some(2)).then_some(Role::Unchanged),
                _ => role(f, value, &lead),
            };
            roles.push(role.ok_or(NoMatch)?);
        }
        NoMatch::unless(roles.iter().any(|role| matches!(role, Role::Rows)))?;
        Ok(RowOp { roles, axis })
    }

    /// Returns the operands that are rows.
    fn rows<'a>(&'a self, f: &'a Function, op: OpId) -> impl Iterator<Item = ValueId> + 'a {
        let operands = f.operands(op).zip(&self.roles);
        operands
            .filter(|(_, role)| matches!(role, Role::Rows))
            .map(|(value, _)| value)
    }
}

/// Row ops that are connected by values.
#[derive(Default)]
struct Group {
    ops: HashMap<OpId, RowOp>,
    /// The ops in program order.
    order: Vec<OpId>,
}

/// Returns the groups that contain a `MatMul`.
fn groups(f: &Function, ops: impl Iterator<Item = OpId>) -> Result<Vec<Group>, EditError> {
    let mut found: Vec<(OpId, RowOp)> = Vec::new();
    let mut sets = UnionFind::default();
    let mut of_value: HashMap<ValueId, usize> = HashMap::new();
    for op in ops {
        let Some(row_op) = unless_no_match(RowOp::from_op(f, op))? else {
            continue;
        };
        let at = sets.push();
        for value in row_op.rows(f, op).chain(f.results(op).iter().copied()) {
            sets.merge(at, *of_value.entry(value).or_insert(at));
        }
        found.push((op, row_op));
    }
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for (at, (op, row_op)) in found.into_iter().enumerate() {
        let group = groups.entry(sets.root(at)).or_default();
        group.ops.insert(op, row_op);
        group.order.push(op);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.retain(|group| group.order.iter().any(|op| is(f, *op, "onnx.MatMul")));
    Ok(groups)
}

impl Group {
    fn makes(&self, f: &Function, value: ValueId) -> bool {
        f.defining_op(value)
            .is_some_and(|op| self.ops.contains_key(&op))
    }

    /// Returns the number of fused kernels that ONNX Runtime loses. These are kernels with ops of the group, and
    /// adjacent ones that rely on symbolic dims, because the -1 of a `Reshape` has no symbol.
    fn lost(&self, f: &Function, kernels: &HashMap<OpId, usize>) -> i64 {
        let values = |op: &OpId| f.operands(*op).chain(f.results(*op).iter().copied());
        let values: HashSet<ValueId> = self.order.iter().flat_map(values).collect();
        let open = values.iter().filter(|value| {
            let dims = value.option().and_then(|value| f.dims(value));
            dims.is_some_and(|mut dims| dims.any(|dim| dim.as_const().is_none()))
        });
        let near = open.flat_map(|value| {
            let users = f.iter_uses(*value).map(|used| used.op);
            users.chain(f.defining_op(*value))
        });
        let ops = self.order.iter().copied().chain(near);
        let lost: HashSet<_> = ops.filter_map(|op| kernels.get(&op)).collect();
        lost.len() as i64
    }

    /// Returns the number of products with a sum, each of which becomes one `Gemm`.
    fn gain(&self, f: &Function) -> i64 {
        let mut sums = HashSet::new();
        for &op in self.order.iter().filter(|op| is(f, **op, "onnx.MatMul")) {
            let product = f.result(op, 0);
            let is_float = matches!(f.dtype(product), Some(DType::F16 | DType::F32 | DType::F64));
            if let Some(used) = only_use(f, product).filter(|_| is_float)
                && is(f, used.op, "onnx.Add")
                && self.ops.contains_key(&used.op)
            {
                sums.insert(used.op);
            }
        }
        sums.len() as i64
    }

    /// Returns the number of ops that the rewrite saves.
    fn profit(&self, f: &Function) -> i64 {
        self.gain(f) - self.cost(f)
    }

    /// Returns the number of views that the rewrite adds, minus those that it removes.
    fn cost(&self, f: &Function) -> i64 {
        // The row values defined outside the group.
        let rows = self.order.iter().flat_map(|op| self.ops[op].rows(f, *op));
        let entered: HashSet<ValueId> = rows.filter(|value| !self.makes(f, *value)).collect();
        let cost_of = |value| self.cost_of_entering(f, value);
        let mut cost: i64 = entered.into_iter().map(cost_of).sum();
        for value in self.order.iter().flat_map(|op| f.results(*op)).copied() {
            let (views, is_restored) = self.leave(f, value);
            let matrix = views
                .iter()
                .filter(|view| is_matrix(f, f.result(**view, 0), value));
            cost += i64::from(is_restored) - matrix.count() as i64;
        }
        cost
    }

    fn cost_of_entering(&self, f: &Function, value: ValueId) -> i64 {
        let mut uses = f.iter_uses(value);
        let becomes_dead = i64::from(uses.all(|used| self.ops.contains_key(&used.op)));
        match viewed(f, value) {
            Some(source) if is_matrix(f, source, value) => -becomes_dead,
            Some(_) => 1 - becomes_dead,
            None => 1,
        }
    }

    /// Returns the views of a value outside the group that a `Reshape` of the matrix can replace, and whether other ops
    /// need the original value.
    fn leave(&self, f: &Function, value: ValueId) -> (Vec<OpId>, bool) {
        let mut views: Vec<OpId> = Vec::new();
        let mut is_restored = false;
        let others = f
            .iter_uses(value)
            .filter(|used| !self.ops.contains_key(&used.op));
        for used in others {
            let has_shape = || {
                let dims = known_dims(f, f.result(used.op, 0));
                dims.is_some_and(|dims| sizes(&dims).is_some())
            };
            match is_view(f, used.op) && used.index == 0 && has_shape() {
                true => views.push(used.op),
                false => is_restored = true,
            }
        }
        (views, is_restored)
    }

    /// Removes leading ops that combine several row values into one, where that saves views.
    fn leave_what_enters(&mut self, f: &Function) {
        for &op in &self.order {
            if is(f, op, "onnx.MatMul")
                || self.ops[&op].rows(f, op).any(|value| self.makes(f, value))
            {
                continue;
            }
            let values: HashSet<ValueId> = self.ops[&op].rows(f, op).collect();
            let is_own = |value: &&ValueId| {
                f.iter_uses(**value)
                    .all(|used| used.op == op || !self.ops.contains_key(&used.op))
            };
            let saved: i64 = values
                .iter()
                .filter(is_own)
                .map(|value| self.cost_of_entering(f, *value))
                .sum();
            if saved > f.result_count(op) as i64 {
                self.ops.remove(&op);
            }
        }
        self.order.retain(|op| self.ops.contains_key(op));
    }

    fn rewrite(&self, f: &mut Function, cx: &PassContext) -> PassResult {
        let mut matrices: HashMap<ValueId, ValueId> = HashMap::new();
        for &op in &self.order {
            let row_op = &self.ops[&op];
            let mut operands = Vec::new();
            for (value, role) in f.operands(op).zip(&row_op.roles).collect::<Vec<_>>() {
                operands.push(match role {
                    Role::Unchanged => value,
                    Role::Constant(shape) => reshaped(f, value, shape)?,
                    Role::Rows => match matrices.get(&value) {
                        Some(matrix) => *matrix,
                        None => {
                            let matrix = entered(f, cx, value, op)?;
                            matrices.insert(value, matrix);
                            matrix
                        }
                    },
                });
            }
            let mut new_op = like(f, op, row_op.axis.as_slice()).map_err(EditError::from)?;
            match row_op.axis {
                Some("axes") if operands.len() > 1 => operands[1] = f.add_ints(&[-1])?,
                Some("axes") => new_op = new_op.attr("axes", [-1_i64]),
                Some(axis) => new_op = new_op.attr(axis, -1_i64),
                None => {}
            }
            let new_op = new_op
                .operands(operands)
                .untyped_results(f.result_count(op))
                .loc(f.loc(op));
            let new_op = f.create_op(new_op, Position::before(op))?;
            cx.infer(f, new_op)?;
            let results = f.results(op).iter().copied();
            matrices.extend(results.zip(f.results(new_op).iter().copied()));
        }
        let mut read: Vec<ValueId> = Vec::new();
        for &op in self.order.iter().rev() {
            for old in f.results(op).to_vec() {
                self.restore(f, op, old, matrices[&old])?;
            }
            read.extend(f.operands(op));
            f.erase_op(op)?;
        }
        for value in read {
            f.erase_dead(value)?;
        }
        Ok(())
    }

    /// Replaces uses outside the group with the matrix, or with a view of it.
    fn restore(&self, f: &mut Function, op: OpId, old: ValueId, matrix: ValueId) -> PassResult {
        for view in self.leave(f, old).0 {
            let result = f.result(view, 0);
            if is_matrix(f, result, old) {
                f.replace_op_with(view, &[matrix])?;
            } else if let Some(new_op) = reshape_like(f, matrix, result)? {
                f.replace_op(view, new_op.loc(f.loc(view)))?;
            }
        }
        if f.use_count(old) > 0
            && let Some(new_op) = reshape_like(f, matrix, old)?
        {
            let new_op = f.create_op(new_op.loc(f.loc(op)), Position::before(op))?;
            f.replace_uses(old, f.result(new_op, 0))?;
        }
        Ok(())
    }
}

/// Whether a value is the matrix of another value's rows.
fn is_matrix(f: &Function, value: ValueId, rows: ValueId) -> bool {
    let (Some(dims), Some(rows)) = (known_dims(f, value), Rows::from_value(f, rows)) else {
        return false;
    };
    let [count, width] = rows.matrix();
    // The number of elements is the same, so the number of rows is, too.
    dims.len() == 2
        && dims[1].as_const() == Some(width)
        && (count == -1 || dims[0].as_const() == Some(count))
}

/// Builds a `Reshape` of a matrix to the shape of another value.
fn reshape_like(
    f: &mut Function,
    matrix: ValueId,
    like: ValueId,
) -> Result<Option<OpBuilder<'static>>, EditError> {
    let Some(shape) = known_dims(f, like).and_then(|dims| sizes(&dims)) else {
        return Ok(None);
    };
    let shape = f.add_ints(&shape)?;
    let reshape = OpBuilder::new("onnx.Reshape").operands([matrix, shape]);
    Ok(Some(reshape.result(f.type_id(like))))
}

/// Builds the matrix of rows from outside the group, before an op.
fn entered(
    f: &mut Function,
    cx: &PassContext,
    value: ValueId,
    op: OpId,
) -> Result<ValueId, EditError> {
    let source = viewed(f, value).unwrap_or(value);
    if is_matrix(f, source, value) {
        return Ok(source);
    }
    let Some(rows) = Rows::from_value(f, value) else {
        return Ok(value);
    };
    let shape = f.add_ints(&rows.matrix())?;
    let reshape = OpBuilder::new("onnx.Reshape")
        .operands([source, shape])
        .loc(f.loc(op));
    cx.create_value(f, reshape, Position::before(op))
}

/// Returns a constant with the same elements in another shape.
fn reshaped(f: &mut Function, value: ValueId, shape: &[i64]) -> Result<ValueId, EditError> {
    let data = f.constant_data(value)?.map(<[u8]>::to_vec);
    let dtype = f.dtype(value).ok_or(NoMatch)?;
    add_tensor(f, dtype, shape, &data.unwrap_or_default())
}
