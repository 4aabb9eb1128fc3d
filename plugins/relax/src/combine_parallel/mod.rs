//! The passes that combine parallel ops: several `MatMul`s, `Conv`s or `Gemm`s of one value become one op with
//! concatenated weights, and a `Split` of its result. `following.rs` finds the elementwise ops that continue each of
//! the ops, `concatenated.rs` concatenates constants.

mod concatenated;
pub(crate) mod conv2d;
mod following;
pub(crate) mod gemm;
pub(crate) mod matmul;

use std::collections::HashMap;

use crate::rules::kernels::Kernels;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;

use crate::channels::numbers::size_of;
use crate::shared::operators::is_operator;
use crate::shared::read::{attrs, like, operand, operator, unless_no_match};
use concatenated::Concatenated;
use following::{Continuation, Step};

const SPLIT: &str = "onnx.Split";

/// The maximum number of bytes of weights that the pass concatenates per function: all of them are held in memory.
const MAX_BYTES: u64 = 128 << 20;

/// An operator whose parallel ops are combined.
pub(crate) struct Family {
    /// The operator, whose operands are a value, weights and, where `has_bias` is set, an optional bias.
    product: &'static str,
    /// The name under which rewrites are counted and disabled.
    rule: &'static str,
    /// Returns the axis along which weights are concatenated; `None` if an op isn't combined.
    weights: fn(&Function, OpId) -> Option<usize>,
    /// Returns the axis of the result that corresponds to that axis.
    axis: fn(&Function, OpId) -> Option<usize>,
    /// Whether the third operand is a bias with one number per channel, or absent.
    has_bias: bool,
}

options! {
    /// Options of the passes that combine parallel ops.
    pub struct CombineParallel {
        /// Combine groups of at least this many ops, even if that leaves more ops. With 0, combine groups only if that
        /// leaves fewer ops.
        #[range(0..)]
        min_num_branches: i64 = 0,
    }
}

/// Combines the parallel ops of a function.
pub(crate) fn combine_parallel(f: &mut Function, cx: &PassContext, family: &Family) -> PassResult {
    let since = f.opset("").unwrap_or(0);
    // Before opset 7, `Add` broadcasts by attributes.
    if since < 7 || !is_operator(cx, family.product) || !is_operator(cx, SPLIT) {
        return Ok(());
    }
    let options = cx.options::<CombineParallel>()?;
    let groups = parallel(f, family, options.min_num_branches)?;
    let bytes = groups.iter().flat_map(|group| &group.branches);
    let bytes = bytes.map(|branch| branch.bytes);
    if bytes.fold(0, u64::saturating_add) > MAX_BYTES {
        return Ok(());
    }
    for group in groups {
        combine(f, cx, family, group)?;
    }
    Ok(())
}

/// One of several parallel ops, and the ops that continue it.
pub(crate) struct Branch {
    product: OpId,
    weights: ValueId,
    bias: Option<ValueId>,
    channels: i64,
    bytes: u64,
    following: Vec<OpId>,
}

impl Branch {
    fn new(f: &Function, family: &Family, product: OpId) -> Option<(Branch, Key)> {
        let along = (family.weights)(f, product)?;
        let weights = f.operand(product, 1)?;
        let mut shape = own_constant(f, weights)?;
        if shape.len() < 2 {
            return None;
        }
        let count = shape.iter().map(|&dim| dim as u64);
        let dtype = f.dtype(weights)?;
        let bytes = count.fold(size_of(dtype)? as u64, u64::saturating_mul);
        let channels = std::mem::replace(&mut shape[along], -1);
        let bias = f.operand(product, 2).filter(|bias| bias.is_some());
        if bytes == 0 || (bias.is_some() && !family.has_bias) {
            return None;
        }
        let bias_rank = match bias {
            Some(bias) => {
                let own = own_constant(f, bias)?;
                let (&last, others) = own.split_last()?;
                if last != channels || others.iter().any(|&dim| dim != 1) {
                    return None;
                }
                own.len()
            }
            None => 0,
        };
        let key = Key {
            x: f.operand(product, 0)?,
            region: f.parent_region(product),
            shape,
            dtype,
            bias_rank,
            attrs: attrs_of(f, product)?,
        };
        let branch = Branch {
            product,
            weights,
            bias,
            channels,
            bytes,
            following: Vec::new(),
        };
        Some((branch, key))
    }

    /// Returns the last op of the branch.
    fn last(&self) -> OpId {
        *self.following.last().unwrap_or(&self.product)
    }
}

/// The properties that the ops of a group share.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    x: ValueId,
    region: RegionId,
    /// The shape of the weights, with -1 for the channels.
    shape: Vec<i64>,
    dtype: DType,
    bias_rank: usize,
    attrs: String,
}

/// Returns the attributes of an op as text, to compare them; `None` if one is an attribute parameter.
fn attrs_of(f: &Function, op: OpId) -> Option<String> {
    let attrs = attrs(f, op)?;
    let is_param = |value: &AttrValue| matches!(value, AttrValue::Reference(..));
    (!attrs.iter().any(|(_, value)| is_param(value))).then(|| format!("{attrs:?}"))
}

/// Returns the shape of a constant of floats that has one use and isn't part of the model's interface.
fn own_constant(f: &Function, value: ValueId) -> Option<Vec<i64>> {
    let record = f.constant_record(f.constant(value)?)?;
    let is_own = f.use_count(value) == 1 && record.flags & record::Constant::KEPT == 0;
    f.dtype(value).and_then(size_of)?;
    f.shape(value).filter(|_| is_own)
}

/// Parallel ops to combine.
struct Group {
    branches: Vec<Branch>,
    /// The ops that continue all of them.
    steps: Vec<Step>,
}

impl Group {
    /// Whether the ops compute the queries, keys and values of an attention layer with a normalized input. ONNX Runtime
    /// fuses these with the attention that follows.
    fn is_attention(&self, f: &Function, is_layer: impl Fn(ValueId) -> bool) -> bool {
        let is_head = |branch: &Branch| {
            let mut uses = f.iter_uses(f.result(branch.last(), 0));
            uses.any(|used| operator(f, used.op) == "onnx.Reshape")
        };
        let x = f.operand(self.branches[0].product, 0);
        self.branches.len() == 3 && self.branches.iter().all(is_head) && x.is_some_and(is_layer)
    }

    /// Whether the group has the requested number of ops, or combining it leaves fewer ops.
    fn pays(&self, min_num_branches: i64) -> bool {
        let count = self.branches.len();
        match usize::try_from(min_num_branches) {
            Ok(least @ 1..) => count >= least.max(2),
            _ => 2 + self.steps.len() < count * (1 + self.steps.len()),
        }
    }
}

/// Returns the groups of parallel ops, in program order, that are worth combining.
fn parallel(f: &Function, family: &Family, min_num_branches: i64) -> Result<Vec<Group>, EditError> {
    let mut positions: HashMap<Key, usize> = HashMap::new();
    let mut parallel: Vec<Vec<Branch>> = Vec::new();
    for op in f.ops_named(family.product) {
        let Some((branch, key)) = Branch::new(f, family, op) else {
            continue;
        };
        let position = *positions.entry(key).or_insert_with(|| {
            parallel.push(Vec::new());
            parallel.len() - 1
        });
        parallel[position].push(branch);
    }
    let kernels = Kernels::new(f)?;
    let is_layer = |value: ValueId| {
        let op = f.defining_op(value);
        kernels
            .iter()
            .any(|kernel| kernel.is_norm && Some(kernel.last) == op)
    };
    let mut groups = Vec::new();
    for mut branches in parallel {
        let Some(first) = branches.first() else {
            continue;
        };
        let Some(axis) = (family.axis)(f, first.product) else {
            continue;
        };
        let following = Continuation { f, axis };
        let steps = following.follow(&mut branches)?;
        let group = Group { branches, steps };
        if group.pays(min_num_branches) && !group.is_attention(f, is_layer) {
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Returns the axis of the combined result that is split, and the concatenated weights and biases of a group.
fn concatenate(
    f: &Function,
    family: &Family,
    group: &Group,
) -> Result<(usize, Vec<Concatenated>), EditError> {
    let branches = &group.branches;
    let first = branches[0].product;
    let along = (family.weights)(f, first).ok_or(NoMatch)?;
    let axis = (family.axis)(f, first).ok_or(NoMatch)?;
    let weights: Vec<ValueId> = branches.iter().map(|branch| branch.weights).collect();
    let mut constants = vec![Concatenated::new(f, &weights, along)?];
    let biases: Vec<ValueId> = branches.iter().filter_map(|branch| branch.bias).collect();
    if let Some(&bias) = biases.first() {
        let last = f.rank(bias).unwrap_or(1).max(1) - 1;
        constants.push(Concatenated::new(f, &biases, last)?);
    }
    Ok((axis, constants))
}

/// Combines the ops of a group.
fn combine(f: &mut Function, cx: &PassContext, family: &Family, group: Group) -> PassResult {
    let Some((axis, constants)) = unless_no_match(concatenate(f, family, &group))? else {
        return Ok(());
    };
    if !cx.may_rewrite(family.rule) {
        return Ok(());
    }
    let Group { branches, steps } = group;
    let first = branches[0].product;
    let mut operands = vec![operand(f, first, 0)];
    for constant in constants {
        operands.push(constant.make(f)?);
    }
    let ops = branches.iter().flat_map(|one| {
        let following = one.following.iter().copied();
        std::iter::once(one.product).chain(following)
    });
    let ops: Vec<OpId> = ops.collect();
    let (loc, at) = (f.fused_loc(&ops)?, Position::before(first));
    let product = like(f, first, &[]).map_err(EditError::from)?;
    let product = product.operands(operands).loc(loc);
    let mut value = cx.create_value(f, product, at)?;
    for step in steps {
        let next = like(f, step.op, &[]).map_err(EditError::from)?;
        let next = next.operands(step.operands(f, value)?).loc(loc);
        value = cx.create_value(f, next, at)?;
    }
    let sizes: Vec<i64> = branches.iter().map(|branch| branch.channels).collect();
    let split = OpBuilder::new(SPLIT)
        .operand(value)
        .attr("axis", axis as i64);
    let split = match f.opset("") >= Some(13) {
        true => split.operand(f.add_ints(&sizes)?),
        false => split.attr("split", sizes),
    };
    let types: Vec<TypeId> = (branches.iter())
        .map(|branch| f.type_id(f.result(branch.last(), 0)))
        .collect();
    let split = f.create_op(split.results(types).loc(loc), at)?;
    cx.infer(f, split)?;
    for (branch, piece) in branches.iter().zip(f.results(split).to_vec()) {
        f.replace_with_and_erase_dead(branch.last(), &[piece])?;
    }
    cx.rewrote(family.rule);
    Ok(())
}
