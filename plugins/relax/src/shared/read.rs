//! Readers of ops, operands and attributes, and short edits.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{DimKind, Status, Use, element};

/// The op that makes a value, if it is of this operator and not of a function of the same name.
pub(crate) fn made_by(f: &Function, value: ValueId, name: &str) -> Option<OpId> {
    let op = value.option().and_then(|value| f.defining_op(value))?;
    is(f, op, name).then_some(op)
}

/// The name of the operator that an op is of; empty if a function of the module has that name, too.
pub(crate) fn operator(f: &Function, op: OpId) -> &str {
    match f.traits(op).is_ambiguous() {
        true => "",
        false => f.name(op),
    }
}

pub(crate) fn is(f: &Function, op: OpId, name: &str) -> bool {
    f.name(op) == name && !f.traits(op).is_ambiguous()
}

/// Whether an op is of one of these operators.
pub(crate) fn is_any(f: &Function, op: OpId, names: &[&str]) -> bool {
    names.iter().any(|name| is(f, op, name))
}

/// A float attribute, or its default; `None` if a caller says what it is.
pub(crate) fn float_or(f: &Function, op: OpId, name: &str, default: f32) -> Option<f32> {
    match f.attr(op, name) {
        None | Some(Attr::Unset) => Some(default),
        Some(Attr::Float(float)) => Some(float),
        Some(_) => None,
    }
}

/// An integer attribute, or its default; `None` if a caller says what it is.
pub(crate) fn int_or(f: &Function, op: OpId, name: &str, default: i64) -> Option<i64> {
    match f.attr(op, name) {
        None | Some(Attr::Unset) => Some(default),
        Some(Attr::Int(int)) => Some(int),
        Some(_) => None,
    }
}

/// The integers that an op has as a constant operand or, in older versions, as an attribute; inside `None` if it has
/// neither.
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

/// The axes that an op names.
pub(crate) fn axes(f: &Function, op: OpId) -> Result<Vec<i64>, EditError> {
    Ok(ints_of(f, op, 1, "axes")?.flatten().ok_or(NoMatch)?)
}

/// The axis that an op names, if it is one.
pub(crate) fn one_axis(f: &Function, op: OpId) -> Result<i64, EditError> {
    match axes(f, op)?[..] {
        [axis] => Ok(axis),
        _ => Err(NoMatch.into()),
    }
}

/// The attribute `axis` of an op, counted from the front.
pub(crate) fn axis(f: &Function, op: OpId, default: i64, rank: usize) -> Result<usize, NoMatch> {
    let axis = int_or(f, op, "axis", default);
    axis.and_then(|axis| axis_in(axis, rank)).ok_or(NoMatch)
}

/// An axis counted from the last one, which is -1; where the rank isn't known, only one that is given so.
pub(crate) fn axis_from_last(f: &Function, x: ValueId, axis: i64) -> Result<i64, NoMatch> {
    let axis = match f.rank(x) {
        Some(rank) => axis_in(axis, rank).map(|at| at as i64 - rank as i64),
        None => Some(axis).filter(|axis| *axis < 0),
    };
    axis.ok_or(NoMatch)
}

/// The pads of an op itself, for so many starts and ends; `None` if it computes them.
pub(crate) fn own_pads(f: &Function, op: OpId, count: usize) -> Option<Vec<i64>> {
    let pads = match (f.attr(op, "auto_pad"), f.attr(op, "pads")) {
        (Some(Attr::String(b"VALID")), _) => vec![0; count],
        (None | Some(Attr::String(b"NOTSET")), None) => vec![0; count],
        (None | Some(Attr::String(b"NOTSET")), Some(Attr::Ints(pads))) => pads.to_vec(),
        _ => return None,
    };
    (pads.len() == count && pads.iter().all(|&pad| pad >= 0)).then_some(pads)
}

/// What was read, or `None` where it isn't there: only the failure to read it is an error then.
pub(crate) fn optional<T>(found: Result<T, EditError>) -> Result<Option<T>, EditError> {
    match found {
        Err(error) if error.status == Status::REFUSED => Ok(None),
        found => found.map(Some),
    }
}

/// The position right behind an op.
pub(crate) fn after(f: &Function, op: OpId) -> Position {
    Position {
        region: f.parent_region(op),
        before: f.next_op(op).unwrap_or(OpId::NONE),
    }
}

/// An operand, or [`ValueId::NONE`].
pub(crate) fn operand(f: &Function, op: OpId, at: usize) -> ValueId {
    f.operand(op, at).unwrap_or(ValueId::NONE)
}

/// The first two operands.
pub(crate) fn pair(f: &Function, op: OpId) -> [ValueId; 2] {
    [operand(f, op, 0), operand(f, op, 1)]
}

/// The size of an axis, if it is known.
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

/// Adds axes to an op that takes them as an operand from a version on, and as an attribute before.
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

/// The operand of an op that isn't constant, and the one that is; `None` if there aren't one of each.
pub(crate) fn with_constant(f: &Function, op: OpId) -> Option<(ValueId, ValueId)> {
    let (a, b) = (f.operand(op, 0)?.option()?, f.operand(op, 1)?.option()?);
    match (f.constant(a).is_some(), f.constant(b).is_some()) {
        (false, true) => Some((a, b)),
        (true, false) => Some((b, a)),
        _ => None,
    }
}

/// Whether a dtype is one of floats that are computed with.
pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// Whether a value stretches to the shape of another and leaves that as it is.
pub(crate) fn stretches(f: &Function, value: ValueId, to: ValueId) -> bool {
    let Some(dims) = f.dims(value) else {
        return false;
    };
    if f.rank(value) == Some(0) {
        return true;
    }
    let Some(to) = f.dims(to) else {
        return false;
    };
    let Some(more) = to.len().checked_sub(dims.len()) else {
        return false;
    };
    let mut both = dims.zip(to.skip(more));
    both.all(|(dim, to)| dim == Dim::constant(1) || dim == to && dim.kind != DimKind::UNKNOWN)
}

/// The elements of a constant of floats, none of them rounded.
pub(crate) fn floats(f: &Function, value: ValueId) -> Result<Option<Vec<f64>>, EditError> {
    let dtype = f.dtype(value);
    let size = element::size_of(dtype).filter(|_| is_float(dtype));
    let read = |(bytes, size): (&[u8], usize)| {
        let elements = bytes.chunks_exact(size);
        elements
            .map(|element| element::read(dtype, element))
            .collect()
    };
    Ok(f.constant_data(value)?.zip(size).map(read))
}

/// The value that a value is a view of: of the same elements in the same order.
pub(crate) fn viewed(f: &Function, value: ValueId) -> Option<ValueId> {
    let op = f.defining_op(value).filter(|&op| is_view(f, op))?;
    f.operand(op, 0)
}

/// Whether an op is a view.
pub(crate) fn is_view(f: &Function, op: OpId) -> bool {
    let names = [
        "onnx.Reshape",
        "onnx.Squeeze",
        "onnx.Unsqueeze",
        "onnx.Flatten",
    ];
    is_any(f, op, &names)
}

/// An axis counted from the front.
pub(crate) fn axis_in(axis: i64, rank: usize) -> Option<usize> {
    let rank = rank as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    usize::try_from(axis)
        .ok()
        .filter(|axis| *axis < rank as usize)
}

/// Axes counted from the front, in order; `None` if two are the same, or one isn't there.
pub(crate) fn axes_in(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    let axes = axes.iter().map(|axis| axis_in(*axis, rank));
    let mut axes = axes.collect::<Option<Vec<usize>>>()?;
    axes.sort_unstable();
    let is_set = axes.windows(2).all(|two| two[0] < two[1]);
    is_set.then_some(axes)
}

/// The dims of a value, if each of them is known to be the same wherever it is written.
pub(crate) fn known_dims(f: &Function, value: ValueId) -> Option<Vec<Dim>> {
    let mut dims = f.dims(value)?;
    let is_known = dims.clone().all(|dim| dim.kind != DimKind::UNKNOWN);
    is_known.then(|| dims.by_ref().collect())
}

/// Whether a value is a tensor of one element.
pub(crate) fn is_one(f: &Function, value: ValueId) -> bool {
    f.type_of(value).element_count() == Some(1)
}

/// The attributes of an op by name, to be compared; an attribute that has no value by itself is `None`.
pub(crate) fn attrs(f: &Function, op: OpId) -> Vec<(SymbolId, Option<AttrValue>)> {
    let attrs = f.attrs(op).map(|(name, attr)| (name, attr.to_value()));
    attrs.collect()
}

/// The only use of a value.
pub(crate) fn only_use(f: &Function, value: ValueId) -> Option<Use> {
    let mut uses = f.iter_uses(value);
    let used = uses.next()?;
    uses.next().is_none().then_some(used)
}

/// An op of the same operator with the same attributes, except these.
pub(crate) fn like(f: &Function, op: OpId, except: &[&str]) -> Result<OpBuilder<'static>, NoMatch> {
    let mut made = OpBuilder::new(f.symbol(op));
    for (name, attr) in f.attrs(op) {
        if !except.contains(&f.text(name)) {
            made = made.attr(name, attr.to_value().ok_or(NoMatch)?);
        }
    }
    Ok(made)
}

/// The results of the op that was just made.
pub(crate) fn results(f: &Function, first: ValueId) -> Vec<ValueId> {
    match f.defining_op(first) {
        Some(op) => f.results(op).to_vec(),
        None => vec![first],
    }
}

/// The ops between two of a region; from its start, if there is none before.
pub(crate) fn between(f: &Function, before: Option<OpId>, end: OpId) -> Vec<OpId> {
    let first = match before {
        Some(before) => f.next_op(before),
        None => f.first_op(f.parent_region(end)),
    };
    let ops = std::iter::successors(first, |op| f.next_op(*op));
    ops.take_while(|op| *op != end).collect()
}

/// Ops, each with those that are nested in it.
pub(crate) fn with_nested(f: &Function, ops: &[OpId]) -> Vec<OpId> {
    let nested = |op: OpId| f.regions(op).iter().flat_map(|&region| f.iter_in(region));
    let all = ops
        .iter()
        .flat_map(|&op| std::iter::once(op).chain(nested(op)));
    all.collect()
}

/// The op of a region that an op is, or is nested in.
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

/// Declares a region's results anew: each keeps its name, and gets a type and a value.
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
        let name = port
            .name
            .option()
            .map_or("", |name| f.text(name))
            .to_owned();
        let (ty, value) = declare(f, index, port.ty, value)?;
        results.push((name, ty, value));
    }
    let results: Vec<_> = results
        .iter()
        .map(|(name, ty, value)| (&**name, *ty, *value))
        .collect();
    f.set_named_results(region, &results)
}

/// The permutation of a `Transpose`: without the attribute it turns the dims around.
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
