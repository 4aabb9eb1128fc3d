//! Accessors for ops, operands and attributes, and small edits.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{Status, Use};

/// Returns the op that defines a value, if it is this operator and not a call of a function with that name.
pub(crate) fn defined_by(f: &Function, value: ValueId, name: &str) -> Option<OpId> {
    let op = value.option().and_then(|value| f.defining_op(value))?;
    is(f, op, name).then_some(op)
}

/// Returns the operator of an op; empty if the module has a function of the same name.
pub(crate) fn operator(f: &Function, op: OpId) -> &str {
    match f.traits(op).is_ambiguous() {
        true => "",
        false => f.name(op),
    }
}

pub(crate) fn is(f: &Function, op: OpId, name: &str) -> bool {
    f.name(op) == name && !f.traits(op).is_ambiguous()
}

/// Whether an op is one of these operators.
pub(crate) fn is_any(f: &Function, op: OpId, names: &[&str]) -> bool {
    names.iter().any(|name| is(f, op, name))
}

/// Returns a float attribute or its default; `None` if it is an attribute parameter or has another kind.
pub(crate) fn float_or(f: &Function, op: OpId, name: &str, default: f32) -> Option<f32> {
    match f.attr(op, name) {
        None | Some(Attr::Unset) => Some(default),
        Some(Attr::Float(float)) => Some(float),
        Some(_) => None,
    }
}

/// Returns an integer attribute or its default; `None` if it is an attribute parameter or has another kind.
pub(crate) fn int_or(f: &Function, op: OpId, name: &str, default: i64) -> Option<i64> {
    match f.attr(op, name) {
        None | Some(Attr::Unset) => Some(default),
        Some(Attr::Int(int)) => Some(int),
        Some(_) => None,
    }
}

/// Returns the integers of a constant operand or, in earlier versions, of an attribute. The inner `Option` is `None` if
/// both are absent; the outer one if the value is unknown.
pub(crate) fn ints_of(
    f: &Function,
    op: OpId,
    operand: usize,
    attr: &str,
) -> Result<Option<Option<Vec<i64>>>, EditError> {
    if let Some(value) = f.operand(op, operand).filter(|value| !value.is_none()) {
        return Ok(f.constant_ints(value)?.map(Some));
    }
    Ok(match f.attr(op, attr) {
        None | Some(Attr::Unset) => Some(None),
        Some(Attr::Ints(ints)) => Some(Some(ints.to_vec())),
        Some(_) => None,
    })
}

/// Returns the operand or attribute `axes` of an op.
pub(crate) fn axes(f: &Function, op: OpId) -> Result<Vec<i64>, EditError> {
    Ok(ints_of(f, op, 1, "axes")?.flatten().ok_or(NoMatch)?)
}

/// Returns the only entry of `axes`. Fails with [`NoMatch`] if there isn't exactly one.
pub(crate) fn one_axis(f: &Function, op: OpId) -> Result<i64, EditError> {
    match axes(f, op)?[..] {
        [axis] => Ok(axis),
        _ => Err(NoMatch.into()),
    }
}

/// Returns the attribute `axis` of an op as a nonnegative index.
pub(crate) fn axis(f: &Function, op: OpId, default: i64, rank: usize) -> Result<usize, NoMatch> {
    let axis = int_or(f, op, "axis", default);
    axis.and_then(|axis| axis_in(axis, rank)).ok_or(NoMatch)
}

/// Returns an axis as a negative index from the end. If the rank is unknown, it must be negative already.
pub(crate) fn axis_from_last(f: &Function, x: ValueId, axis: i64) -> Result<i64, NoMatch> {
    let axis = match f.rank(x) {
        Some(rank) => axis_in(axis, rank).map(|at| at as i64 - rank as i64),
        None => Some(axis).filter(|axis| *axis < 0),
    };
    axis.ok_or(NoMatch)
}

/// Returns the explicit pads of an op: `count` starts and ends together. `None` if `auto_pad` computes them.
pub(crate) fn explicit_pads(f: &Function, op: OpId, count: usize) -> Option<Vec<i64>> {
    let pads = match (f.attr(op, "auto_pad"), f.attr(op, "pads")) {
        (Some(Attr::String(b"VALID")), _) => vec![0; count],
        (None | Some(Attr::String(b"NOTSET")), None) => vec![0; count],
        (None | Some(Attr::String(b"NOTSET")), Some(Attr::Ints(pads))) => pads.to_vec(),
        _ => return None,
    };
    (pads.len() == count && pads.iter().all(|&pad| pad >= 0)).then_some(pads)
}

/// Maps [`NoMatch`] to `None`; other errors, such as failed reads, remain.
pub(crate) fn unless_no_match<T>(found: Result<T, EditError>) -> Result<Option<T>, EditError> {
    match found {
        Err(error) if error.status == Status::REJECTED => Ok(None),
        found => found.map(Some),
    }
}

/// Returns the position immediately after an op.
pub(crate) fn after(f: &Function, op: OpId) -> Position {
    Position {
        region: f.parent_region(op),
        before: f.next_op(op).unwrap_or(OpId::NONE),
    }
}

/// Creates the terminator of a new function, with these results, and returns it: ops are inserted before it.
pub(crate) fn add_terminator(f: &mut Function, results: &[ValueId]) -> Result<OpId, PassError> {
    let body = f.body();
    f.set_results(body, results)?;
    Ok(f.terminator(body)
        .ok_or("a new function has no terminator (bug in passdock; please report it)")?)
}

/// Returns an operand, or [`ValueId::NONE`] if it is absent.
pub(crate) fn operand(f: &Function, op: OpId, at: usize) -> ValueId {
    f.operand(op, at).unwrap_or(ValueId::NONE)
}

/// Returns the first two operands.
pub(crate) fn pair(f: &Function, op: OpId) -> [ValueId; 2] {
    [operand(f, op, 0), operand(f, op, 1)]
}

/// Returns the size of an axis, if it is known.
pub(crate) fn size(f: &Function, value: ValueId, axis: usize) -> Option<i64> {
    f.dims(value)?.get(axis)?.as_const()
}

/// Adds a constant tensor.
pub(crate) fn add_tensor(
    f: &mut Function,
    dtype: DType,
    dims: &[i64],
    bytes: &[u8],
) -> Result<ValueId, EditError> {
    let ty = f.add_type(&TypeSpec::shaped(dtype, dims))?;
    f.add_constant(&ConstantSpec::new(ty, bytes))
}

/// Adds axes to an op: as an operand since opset `since`, as an attribute before.
pub(crate) fn with_axes<'a>(
    r: &mut Rewriter<'_>,
    op: OpBuilder<'a>,
    axes: &[i64],
    since: i64,
) -> Result<ValueId, EditError> {
    let op = match r.function().opset("") >= Some(since) {
        true => op.operand(r.ints(axes)?),
        false => op.attr("axes", axes),
    };
    r.op(op)
}

/// Returns the non-constant and the constant operand of an op; `None` unless there is one of each.
pub(crate) fn with_constant(f: &Function, op: OpId) -> Option<(ValueId, ValueId)> {
    let (a, b) = (f.operand(op, 0)?.option()?, f.operand(op, 1)?.option()?);
    match (f.constant(a).is_some(), f.constant(b).is_some()) {
        (false, true) => Some((a, b)),
        (true, false) => Some((b, a)),
        _ => None,
    }
}

/// Whether a type is one of the floating-point types that passes compute with.
pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// Returns the operand of the view that defines a value. A view has the same elements in the same order.
pub(crate) fn viewed(f: &Function, value: ValueId) -> Option<ValueId> {
    let op = f.defining_op(value).filter(|&op| is_view(f, op))?;
    f.operand(op, 0)
}

/// Whether an op is a view.
pub(crate) fn is_view(f: &Function, op: OpId) -> bool {
    let name = operator(f, op);
    matches!(
        name,
        "onnx.Reshape" | "onnx.Squeeze" | "onnx.Unsqueeze" | "onnx.Flatten"
    )
}

/// Returns an axis as a nonnegative index; `None` if it is out of range.
pub(crate) fn axis_in(axis: i64, rank: usize) -> Option<usize> {
    let rank = rank as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// Returns axes as sorted nonnegative indices; `None` if one is out of range or occurs twice.
pub(crate) fn axes_in(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    let axes = axes.iter().map(|axis| axis_in(*axis, rank));
    let mut axes = axes.collect::<Option<Vec<usize>>>()?;
    axes.sort_unstable();
    let is_set = axes.windows(2).all(|two| two[0] < two[1]);
    is_set.then_some(axes)
}

/// Returns the dims of a value, if each is a constant, a symbol or an expression.
pub(crate) fn known_dims(f: &Function, value: ValueId) -> Option<Vec<Dim>> {
    let mut dims = f.dims(value)?;
    let is_known = dims.clone().all(|dim| dim.is_known());
    is_known.then(|| dims.by_ref().collect())
}

/// Whether a value is a tensor with one element.
pub(crate) fn is_one(f: &Function, value: ValueId) -> bool {
    f.type_of(value).element_count() == Some(1)
}

/// Returns the attributes of an op for comparison, sorted; `None` if one has no owned value, such as a region.
pub(crate) fn attrs(f: &Function, op: OpId) -> Option<Vec<(SymbolId, AttrValue)>> {
    let attrs = f
        .attrs(op)
        .map(|(name, attr)| Some((name, attr.to_value()?)));
    let mut attrs: Vec<(SymbolId, AttrValue)> = attrs.collect::<Option<_>>()?;
    attrs.sort_by_key(|(name, _)| name.0);
    Some(attrs)
}

/// Returns the only use of a value.
pub(crate) fn only_use(f: &Function, value: ValueId) -> Option<Use> {
    let mut uses = f.iter_uses(value);
    let used = uses.next()?;
    uses.next().is_none().then_some(used)
}

/// Creates a builder with the operator and the attributes of an op, except these.
pub(crate) fn like(f: &Function, op: OpId, except: &[&str]) -> Result<OpBuilder<'static>, NoMatch> {
    let mut created = OpBuilder::new(f.symbol(op));
    for (name, attr) in f.attrs(op) {
        if !except.contains(&f.text(name)) {
            created = created.attr(name, attr.to_value().ok_or(NoMatch)?);
        }
    }
    Ok(created)
}

/// Returns the ops of a region between two ops, or from its start if `before` is `None`.
pub(crate) fn between(f: &Function, before: Option<OpId>, end: OpId) -> Vec<OpId> {
    let first = match before {
        Some(before) => f.next_op(before),
        None => f.first_op(f.parent_region(end)),
    };
    let ops = std::iter::successors(first, |op| f.next_op(*op));
    ops.take_while(|op| *op != end).collect()
}

/// Returns the ops of a region except the terminator.
pub(crate) fn ops_of(f: &Function, region: RegionId) -> Vec<OpId> {
    f.ops_in(region)
        .filter(|&op| !f.is_terminator(op))
        .collect()
}

/// Returns ops, each followed by the ops nested in it.
pub(crate) fn with_nested(f: &Function, ops: &[OpId]) -> Vec<OpId> {
    let nested = |op: OpId| f.regions(op).iter().flat_map(|&region| f.iter_in(region));
    let all = |&op: &OpId| std::iter::once(op).chain(nested(op));
    ops.iter().flat_map(all).collect()
}

/// Returns the op of a region that is, or contains, an op.
pub(crate) fn ancestor_in(f: &Function, op: OpId, region: RegionId) -> OpId {
    let mut op = op;
    loop {
        let around = f.parent_region(op);
        match f.parent_op(around) {
            Some(holder) if around != region => op = holder,
            _ => return op,
        }
    }
}

/// Redeclares the results of a region: each keeps its name, and gets a new type and value.
pub(crate) fn redeclare(
    f: &mut Function,
    region: RegionId,
    mut declare: impl FnMut(
        &mut Function,
        usize,
        TypeId,
        ValueId,
    ) -> Result<(TypeId, ValueId), EditError>,
) -> Result<(), EditError> {
    let Some(end) = f.terminator(region) else {
        return Ok(());
    };
    let ports: Vec<_> = f.ports(region).zip(f.operands(end)).collect();
    let mut results = Vec::with_capacity(ports.len());
    for (index, (port, value)) in ports.into_iter().enumerate() {
        let name = port.name.option();
        let name = name.map_or("", |name| f.text(name)).to_owned();
        let (ty, value) = declare(f, index, port.ty, value)?;
        results.push((name, ty, value));
    }
    let results: Vec<_> = results
        .iter()
        .map(|(name, ty, value)| (&**name, *ty, *value))
        .collect();
    f.set_named_results(region, &results)
}

/// Returns the permutation of a `Transpose`. Without the attribute, it reverses the dims.
pub(crate) fn perm(f: &Function, op: OpId) -> Option<Vec<i64>> {
    match f.attr(op, "perm") {
        Some(Attr::Ints(perm)) => {
            let has = |axis: usize| perm.contains(&(axis as i64));
            (0..perm.len()).all(has).then(|| perm.to_vec())
        }
        Some(_) => None,
        None => Some((0..f.rank(f.result(op, 0))? as i64).rev().collect()),
    }
}
