//! `relax.transform.CombineParallelMatmul`: multiplies one value by several weights at once.
//!
//! ```ir
//! fn @main(%x: f32[n,2]) -> (%q: f32[n,1], %k: f32[n,2]) opset("" = 13) {
//!   %wq = const f32[2,1] [1.0, 2.0]
//!   %wk = const f32[2,2] [3.0, 4.0, 5.0, 6.0]
//!   %bq = const f32[1] [0.5]
//!   %bk = const f32[2] [0.25, 0.75]
//!   %0 = onnx.MatMul(%x, %wq) : f32[n,1]
//!   %1 = onnx.Add(%0, %bq) : f32[n,1]
//!   %2 = onnx.MatMul(%x, %wk) : f32[n,2]
//!   %3 = onnx.Add(%2, %bk) : f32[n,2]
//!   return %1, %3
//! }
//! →
//! fn @main(%x: f32[n,2]) -> (%q: f32[n,1], %k: f32[n,2]) opset("" = 13) {
//!   %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
//!   %1 = const f32[3] [0.5, 0.25, 0.75]
//!   %2 = const i64[2] [1, 2]
//!   %3 = onnx.MatMul(%x, %0) : f32[n,3]
//!   %4 = onnx.Add(%3, %1) : f32[n,3]
//!   %5, %6 = onnx.Split(%4, %2) {axis = 1} : f32[n,1], f32[n,2]
//!   return %5, %6
//! }
//! ```
//!
//! The weights are constants of rank 2 that nobody else uses, as those of queries, keys and values in a transformer; what is
//! added behind each product, one number a column, is added at once. It does so only where that leaves fewer ops: two
//! products without sums would be a product and a `Split`. The model doesn't grow, as the weights replace the others. Where
//! they have more than 128 MiB in all, they stay as they are: they would be held in memory.
//!
//! It doesn't look at `Gemm`s and `Conv`s, nor at products in different regions. A runtime's kernels may sum in another order
//! for other sizes, so results are equal up to rounding. It counts as `products_of_one_value`, which can be disabled as rules can.
//!
//! Source: TVM `src/relay/transforms/combine_parallel_dense.cc`, `src/relax/transform/combine_parallel_matmul.cc`.

use std::collections::HashMap;

use passdock_plugin_api::abi;
use passdock_plugin_api::prelude::*;

use crate::channels::numbers::size_of;
use crate::channels::operator;
use crate::shared::operators::is_operator;

const PRODUCT: &str = "onnx.MatMul";
const SUM: &str = "onnx.Add";
const SPLIT: &str = "onnx.Split";

/// The name that it is counted and disabled by, as rules are.
const RULE: &str = "products_of_one_value";

/// Where the weights of a function have more bytes together, none are put beside others: they would have to fit into
/// memory.
const MOST_BYTES: u64 = 128 << 20;

pub(crate) fn combine_parallel_matmul(f: &mut Function, cx: &PassContext) -> PassResult {
    let since = f.opset("").unwrap_or(0);
    // Before that, an Add says how it is stretched.
    if since < 7
        || ![PRODUCT, SUM, SPLIT]
            .iter()
            .all(|name| is_operator(cx, name))
    {
        return Ok(());
    }
    let mut groups = parallel(f);
    groups.retain(|branches| pays(branches));
    let bytes = groups.iter().flatten().map(|branch| branch.bytes);
    if bytes.fold(0, u64::saturating_add) > MOST_BYTES {
        return Ok(());
    }
    for branches in groups {
        combine(f, cx, &branches)?;
    }
    Ok(())
}

/// A product by weights, and the sum behind it.
#[derive(Clone, Copy)]
struct Branch {
    product: OpId,
    weights: ValueId,
    columns: i64,
    bytes: u64,
    /// The sum and what is added.
    sum: Option<(OpId, ValueId)>,
}

impl Branch {
    fn of(f: &Function, product: OpId) -> Option<Branch> {
        let weights = f.operand(product, 1)?;
        let shape = own_constant(f, weights)?;
        let &[rows, columns] = &shape[..] else {
            return None;
        };
        let result = f.result(product, 0);
        let mut uses = f.iter_uses(result);
        let sum = match (uses.next(), uses.next()) {
            (Some(one), None) => sum(f, product, one.op, columns),
            _ => None,
        };
        let bytes = [rows, columns, size_of(f.dtype(weights))? as i64];
        let bytes = bytes.into_iter().map(|count| count as u64);
        (rows > 0 && columns > 0).then(|| Branch {
            product,
            weights,
            columns,
            bytes: bytes.fold(1, u64::saturating_mul),
            sum,
        })
    }

    /// The last op of the branch.
    fn last(&self) -> OpId {
        self.sum.map_or(self.product, |(sum, _)| sum)
    }

    fn ops(&self) -> impl Iterator<Item = OpId> {
        [self.product]
            .into_iter()
            .chain(self.sum.map(|(sum, _)| sum))
    }
}

/// The sum that adds one number a column to a product, and those numbers.
fn sum(f: &Function, product: OpId, sum: OpId, columns: i64) -> Option<(OpId, ValueId)> {
    let is_near = operator(f, sum) == SUM && f.parent_region(sum) == f.parent_region(product);
    let result = f.result(product, 0);
    let mut others = f.operands(sum).filter(|&operand| operand != result);
    let added = others.next().filter(|_| is_near)?;
    (own_constant(f, added)? == [columns]).then_some((sum, added))
}

/// The shape of a constant of floats that one op uses, and the file doesn't keep.
fn own_constant(f: &Function, value: ValueId) -> Option<Vec<i64>> {
    let record = f.constant_record(f.constant(value)?)?;
    let is_own = f.use_count(value) == 1 && record.flags & abi::Constant::KEPT == 0;
    size_of(f.dtype(value))?;
    f.shape(value).filter(|_| is_own)
}

/// The products of one value in one region, in program order.
fn parallel(f: &Function) -> Vec<Vec<Branch>> {
    let mut places: HashMap<(ValueId, RegionId), usize> = HashMap::new();
    let mut all: Vec<Vec<Branch>> = Vec::new();
    for op in f.ops_named(PRODUCT) {
        let (Some(x), Some(branch)) = (f.operand(op, 0), Branch::of(f, op)) else {
            continue;
        };
        let place = *places.entry((x, f.parent_region(op))).or_insert_with(|| {
            all.push(Vec::new());
            all.len() - 1
        });
        all[place].push(branch);
    }
    all
}

fn has_sums(branches: &[Branch]) -> bool {
    branches.iter().all(|branch| branch.sum.is_some())
}

/// Whether that leaves fewer ops.
fn pays(branches: &[Branch]) -> bool {
    match has_sums(branches) {
        true => 3 < 2 * branches.len(),
        false => 2 < branches.len(),
    }
}

/// Puts the products of a value together.
fn combine(f: &mut Function, cx: &PassContext, branches: &[Branch]) -> PassResult {
    let has_sums = has_sums(branches);
    let Some(&first) = branches.first().filter(|_| cx.may_rewrite(RULE)) else {
        return Ok(());
    };
    let Some(x) = f.operand(first.product, 0) else {
        return Ok(());
    };
    let Some(axis) = f.rank(x).and_then(|rank| rank.checked_sub(1)) else {
        return Ok(());
    };
    let branches: Vec<Branch> = branches
        .iter()
        .map(|&branch| match has_sums {
            true => branch,
            false => Branch {
                sum: None,
                ..branch
            },
        })
        .collect();
    let weights: Vec<ValueId> = branches.iter().map(|branch| branch.weights).collect();
    let added: Vec<ValueId> = branches
        .iter()
        .filter_map(|branch| branch.sum.map(|(_, added)| added))
        .collect();
    let (Some(weights), Some(added)) = (Together::of(f, &weights)?, Together::of(f, &added)?)
    else {
        return Ok(());
    };
    let ops: Vec<OpId> = branches.iter().flat_map(|one| one.ops()).collect();
    let (loc, at) = (f.fused_loc(&ops)?, Position::before(first.product));
    let weights = weights.make(f)?;
    let product = OpBuilder::new(PRODUCT).operands([x, weights]);
    let product = f.create_op(product.untyped_results(1).loc(loc), at)?;
    cx.infer(f, product)?;
    let mut value = f.result(product, 0);
    if has_sums {
        let added = added.make(f)?;
        let sum = OpBuilder::new(SUM).operands([value, added]);
        let sum = f.create_op(sum.untyped_results(1).loc(loc), at)?;
        cx.infer(f, sum)?;
        value = f.result(sum, 0);
    }
    let sizes: Vec<i64> = branches.iter().map(|branch| branch.columns).collect();
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
    cx.rewrote(RULE);
    Ok(())
}

/// Constants put beside one another along their last axis.
struct Together {
    ty: TypeSpec,
    bytes: Vec<u8>,
}

impl Together {
    /// Of none, nothing; `None` if they don't stand in as many rows.
    fn of(f: &Function, values: &[ValueId]) -> Result<Option<Together>, EditError> {
        let Some(&first) = values.first() else {
            let ty = TypeSpec::shaped(DType::F32, &[0]);
            return Ok(Some(Together {
                ty,
                bytes: Vec::new(),
            }));
        };
        let (dtype, mut shape) = (f.dtype(first), f.shape(first).unwrap_or_default());
        shape.pop();
        let rows: i64 = shape.iter().product();
        let (mut columns, mut parts, mut size) = (0, Vec::new(), 0);
        for &value in values {
            let (Some(own), Some(data)) = (f.shape(value), f.constant_data(value)?) else {
                return Ok(None);
            };
            let Some((own_columns, own_rows)) = own.split_last() else {
                return Ok(None);
            };
            size += data.len();
            if f.dtype(value) != dtype || *own_rows != shape[..] {
                return Ok(None);
            }
            columns += own_columns;
            parts.push((data, data.len() / rows.max(1) as usize));
        }
        let mut bytes = Vec::with_capacity(size);
        for row in 0..rows.max(0) as usize {
            for (data, width) in &parts {
                bytes.extend_from_slice(&data[row * width..(row + 1) * width]);
            }
        }
        shape.push(columns);
        let ty = TypeSpec::shaped(dtype, &shape);
        Ok(Some(Together { ty, bytes }))
    }

    fn make(self, f: &mut Function) -> Result<ValueId, EditError> {
        let ty = f.add_type(&self.ty)?;
        f.add_constant(&ConstantSpec::new(ty, &self.bytes))
    }
}
