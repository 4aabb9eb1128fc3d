//! Operators that move elements.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::create::shape_in;
use super::operator::{MANY, Operator, body};
use super::shape::{along_first, same_type};
use crate::eval::{compare_logic, data_movement, gather, scatter};
use crate::infer::{Infer, Inferred, Moves, Stop, as_consts, check_length, invalid, sizes};

const DATA: Moves = Moves::These(&[0]);

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Compress", 9, (2, 2))
        .attrs(attrs![axis: int])
        .infers(compress)
        .folds(gather::compress)
        .moves(DATA),
    Operator::new("onnx.Concat", 4, (1, MANY))
        .attrs(attrs![axis: required int])
        .infers(concat)
        .folds(data_movement::concat)
        .moves(Moves::All),
    DEPTH_TO_SPACE,
    DEPTH_TO_SPACE
        .since(11)
        .attrs(attrs![blocksize: required int, mode: string = "DCR"]),
    Operator::new("onnx.Expand", 8, (2, 2))
        .with(OpTraits::GROWS)
        .infers(expand)
        .folds(data_movement::expand)
        .moves(DATA),
    Operator::new("onnx.Gather", 1, (2, 2))
        .attrs(attrs![axis: int = 0])
        .infers(gather_along)
        .folds(gather::gather)
        .moves(DATA),
    Operator::new("onnx.GatherElements", 11, (2, 2))
        .attrs(attrs![axis: int = 0])
        .infers(gather_elements)
        .folds(gather::gather_elements)
        .moves(DATA),
    GATHER_ND,
    GATHER_ND.since(12).attrs(attrs![batch_dims: int = 0]),
    Operator::new("onnx.NonZero", 9, (1, 1))
        .infers(non_zero)
        .folds(compare_logic::non_zero),
    PAD,
    PAD.since(11)
        .operands((2, 3))
        .attrs(attrs![mode: string = "constant"]),
    PAD.since(18)
        .operands((2, 4))
        .attrs(attrs![mode: string = "constant"]),
    Operator::new("onnx.ReverseSequence", 10, (2, 2))
        .with(OpTraits::INJECTIVE)
        .attrs(attrs![batch_axis: int = 1, time_axis: int = 0])
        .infers(reverse_sequence)
        .folds(gather::reverse_sequence),
    Operator::new("onnx.Scatter", 9, (3, 3))
        .attrs(attrs![axis: int = 0])
        .infers(along_first)
        .folds(scatter::scatter_elements),
    SCATTER_ELEMENTS,
    SCATTER_ELEMENTS
        .since(16)
        .attrs(attrs![axis: int = 0, reduction: string = "none"]),
    SCATTER_ND,
    SCATTER_ND
        .since(16)
        .attrs(attrs![reduction: string = "none"]),
    SLICE,
    SLICE.since(10).operands((3, 5)).attrs(&[]),
    SPACE_TO_DEPTH,
    SPACE_TO_DEPTH
        .since(28)
        .attrs(attrs![blocksize: required int, mode: string = "DCR"]),
    SPLIT,
    SPLIT
        .since(13)
        .operands((1, 2))
        .attrs(attrs![axis: int = 0]),
    SPLIT
        .since(18)
        .operands((1, 2))
        .attrs(attrs![axis: int = 0, num_outputs: int]),
    Operator::new("onnx.Tile", 6, (2, 2))
        .with(OpTraits::GROWS)
        .infers(tile)
        .folds(data_movement::tile)
        .moves(DATA),
    Operator::new("onnx.Transpose", 1, (1, 1))
        .attrs(attrs![perm: ints])
        .infers(transpose)
        .folds(data_movement::transpose)
        .moves(DATA),
    Operator::new("onnx.Trilu", 14, (1, 2))
        .with(OpTraits::INJECTIVE)
        .attrs(attrs![upper: int = 1])
        .with(OpTraits::IDEMPOTENT)
        .infers(same_type)
        .folds(data_movement::trilu),
    Operator::new("onnx.Unique", 11, (1, 1))
        .results((1, 4))
        .attrs(attrs![axis: int, sorted: int = 1])
        .infers(unique),
    Operator::new("onnx.Where", 9, (3, 3))
        .with(OpTraits::ELEMENTWISE)
        .infers(choose)
        .folds(compare_logic::choose)
        .moves(Moves::These(&[1, 2])),
];

const DEPTH_TO_SPACE: Operator = Operator::new("onnx.DepthToSpace", 1, (1, 1))
    .with(OpTraits::INJECTIVE)
    .attrs(attrs![blocksize: required int])
    .infers(depth_to_space)
    .folds(data_movement::depth_to_space)
    .decomposes(body!("DepthToSpace"));

const GATHER_ND: Operator = Operator::new("onnx.GatherND", 11, (2, 2))
    .with(OpTraits::INJECTIVE)
    .infers(gather_nd)
    .folds(gather::gather_nd);

const PAD: Operator = Operator::new("onnx.Pad", 2, (1, 1))
    .with(OpTraits::INJECTIVE)
    .attrs(attrs![mode: string = "constant", pads: required ints, value: float = 0.0])
    .infers(pad)
    .folds(data_movement::pad);

const SCATTER_ELEMENTS: Operator = Operator::new("onnx.ScatterElements", 11, (3, 3))
    .attrs(attrs![axis: int = 0])
    .infers(along_first)
    .folds(scatter::scatter_elements);

const SCATTER_ND: Operator = Operator::new("onnx.ScatterND", 11, (3, 3))
    .infers(same_type)
    .folds(scatter::scatter_nd);

const SLICE: Operator = Operator::new("onnx.Slice", 1, (1, 1))
    .attrs(attrs![axes: ints, ends: required ints, starts: required ints])
    .infers(slice)
    .folds(data_movement::slice)
    .moves(DATA);

const SPACE_TO_DEPTH: Operator = Operator::new("onnx.SpaceToDepth", 1, (1, 1))
    .with(OpTraits::INJECTIVE)
    .attrs(attrs![blocksize: required int])
    .infers(space_to_depth)
    .folds(data_movement::space_to_depth)
    .decomposes(body!("SpaceToDepth"));

const SPLIT: Operator = Operator::new("onnx.Split", 2, (1, 1))
    .results((1, MANY))
    .attrs(attrs![axis: int = 0, split: ints])
    .infers(split)
    .folds_all(data_movement::split)
    .moves(DATA);

/// Infers the permuted dims, reversed by default.
fn transpose(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let perm = op.ints("perm")?;
    let dims = match (op.dims(0), perm) {
        (None, None) => None,
        (None, Some(perm)) => {
            op.axes(&perm, perm.len())?;
            Some(vec![Dim::UNKNOWN; perm.len()])
        }
        (Some(dims), None) => Some(dims.into_iter().rev().collect()),
        (Some(dims), Some(perm)) => {
            check_length("perm", perm.len(), dims.len())?;
            let order = op.axes(&perm, dims.len())?;
            Some(order.into_iter().map(|from| dims[from]).collect())
        }
    };
    op.set(0, dtype, dims)
}

/// Infers the operands' dims, with their sum along the axis.
fn concat(op: &Infer) -> Inferred {
    let count = op.host.operand_count();
    let dtype = op.dtype_of_any(0..count)?;
    let shapes: Vec<_> = (0..count).map(|index| op.dims(index)).collect();
    let Some(rank) = shapes.iter().flatten().map(Vec::len).next() else {
        return op.set(0, dtype, None);
    };
    let Some(at) = op.int("axis")? else {
        return invalid!("missing attribute `axis`");
    };
    let at = op.axis(at, rank)?;
    let mut result = vec![Dim::UNKNOWN; rank];
    result[at] = Dim::constant(0);
    for shape in shapes {
        match shape {
            None => result[at] = Dim::UNKNOWN,
            Some(shape) if shape.len() != rank => {
                return invalid!(
                    "expected operands of equal rank, found ranks {rank} and {}",
                    shape.len()
                );
            }
            Some(shape) => {
                for (d, (slot, dim)) in result.iter_mut().zip(shape).enumerate() {
                    *slot = if d == at {
                        op.add(*slot, dim)
                    } else {
                        op.agree(*slot, dim)?
                    };
                }
            }
        }
    }
    op.set(0, dtype, Some(result))
}

/// Infers the dims of each piece.
fn split(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let pieces = op.host.result_count();
    let Some(dims) = op.dims(0) else {
        return (0..pieces).try_for_each(|index| op.set(index, dtype, None));
    };
    let at = op.axis(op.int_or("axis", 0)?, dims.len())?;
    let lengths = match op.version >= 13 {
        true if !op.has(1) => None,
        true => Some(shape_in(op, 1).unwrap_or(vec![Dim::UNKNOWN; pieces])),
        false => {
            let lengths = op.ints("split")?;
            lengths.map(|lengths| sizes(lengths.iter().copied()))
        }
    };
    let lengths = match lengths {
        Some(lengths) if lengths.len() != pieces => {
            return invalid!("`split` has length {}, expected {pieces}", lengths.len());
        }
        Some(lengths) => {
            let whole = as_consts(&lengths).and_then(|lengths| {
                let mut lengths = lengths.iter();
                lengths.try_fold(0i64, |sum, &one| sum.checked_add(one))
            });
            match (whole, dims[at].as_const()) {
                (Some(whole), Some(size)) if whole != size => {
                    return invalid!("sum of `split` is {whole}, expected {size}");
                }
                _ => lengths,
            }
        }
        None => match dims[at].as_const() {
            Some(size) => sizes(data_movement::even(
                usize::try_from(size).unwrap_or(0),
                op.int_or("num_outputs", pieces as i64)?,
                op.version >= 18,
            )?),
            // The last piece may be shorter.
            None if op.version >= 18 => vec![Dim::UNKNOWN; pieces],
            None => vec![op.div(dims[at], pieces as i64); pieces],
        },
    };
    for (index, length) in lengths.into_iter().enumerate() {
        let mut piece = dims.clone();
        piece[at] = length;
        op.set(index, dtype, Some(piece))?;
    }
    Ok(())
}

/// Infers the dims with the number of steps along each sliced axis.
fn slice(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |mut dims| {
        // Integers that were an attribute before opset 10; `None` if they are unknown.
        let given = |index: usize, attr: &str| -> Inferred<Option<Vec<Dim>>> {
            if op.version >= 10 {
                return Ok(shape_in(op, index));
            }
            Ok(op.ints(attr)?.map(|list| sizes(list.iter().copied())))
        };
        let (starts, ends) = (given(1, "starts")?, given(2, "ends")?);
        if let (Some(starts), Some(ends)) = (&starts, &ends)
            && starts.len() != ends.len()
        {
            return invalid!(
                "`starts` has length {}, but `ends` has length {}",
                starts.len(),
                ends.len()
            );
        }
        let axes = match op.ints_since(10, 3, "axes") {
            Ok(Some(axes)) => Some(axes),
            // Without axes, the slices apply to the first ones, if their number is known.
            Ok(None) => {
                let count = starts.as_ref().or(ends.as_ref()).map(Vec::len);
                count.map(|count| (0..count as i64).collect())
            }
            Err(_) => None,
        };
        let Some(axes) = axes else {
            return Ok(vec![Dim::UNKNOWN; dims.len()]);
        };
        let axes = op.axes(&axes, dims.len())?;
        let steps = match op.version >= 10 && op.has(4) {
            true => given(4, "")?,
            false => Some(sizes(vec![1; axes.len()])),
        };
        for (name, list) in [("starts", &starts), ("steps", &steps)] {
            if let Some(list) = list {
                check_length(name, list.len(), axes.len())?;
            }
        }
        if steps
            .iter()
            .flatten()
            .any(|&step| step.as_const() == Some(0))
        {
            return invalid!("a step is 0");
        }
        for (at, &d) in axes.iter().enumerate() {
            let entry = |list: &Option<Vec<Dim>>| list.as_ref()?.get(at).copied();
            dims[d] = match (entry(&starts), entry(&ends), entry(&steps)) {
                (Some(start), Some(end), Some(step)) => match step.as_const() {
                    Some(step) => steps_along(op, dims[d], start, end, step),
                    None => Dim::UNKNOWN,
                },
                _ => Dim::UNKNOWN,
            };
        }
        Ok(dims)
    })
}

/// Returns the number of steps from start to end, both clamped to the dim.
fn steps_along(op: &Infer, dim: Dim, start: Dim, end: Dim, step: i64) -> Dim {
    if let (Some(size), Some(start), Some(end)) = (dim.as_const(), start.as_const(), end.as_const())
    {
        return fixed_steps(size, start, end, step);
    }
    let length = match step {
        -1 if is_whole_reversed(start, end) => return dim,
        i64::MIN..=0 => return Dim::UNKNOWN,
        _ => span(op, dim, start, end),
    };
    match length {
        length if step == 1 => length,
        length => op.div(op.add(length, Dim::constant(step - 1)), step),
    }
}

/// Whether negative steps visit all elements from the last to the first, for any size. A dim is never larger than
/// memory.
fn is_whole_reversed(start: Dim, end: Dim) -> bool {
    let far = i64::from(i32::MAX);
    let from_last = start
        .as_const()
        .is_some_and(|start| start == -1 || start >= far);
    from_last && end.as_const().is_some_and(|end| end <= -far)
}

/// Returns the distance from start to end if some of the numbers are symbolic.
fn span(op: &Infer, dim: Dim, start: Dim, end: Dim) -> Dim {
    let zero = Dim::constant(0);
    // The position of a start or end from the front, and the distance from the end of a negative one. A dim is never
    // larger than memory, so an index beyond it means the end.
    let front = |at: Dim| match at.as_const() {
        Some(at) if at >= i64::from(i32::MAX) => dim,
        Some(0) => zero,
        _ => op.min(at, dim),
    };
    let back = |at: Dim| at.as_const().filter(|&at| at < 0).map(i64::checked_neg);
    match (back(start), back(end)) {
        (None, None) if dim.is_known() && front(start) == dim => zero,
        // A start after the end gives an empty result in both cases.
        (None, None) => op.less(front(end), start),
        (None, Some(Some(b))) => op.less(dim, op.add(start, Dim::constant(b))),
        // `dim - max(dim - a, 0)` is `min(dim, a)`.
        (Some(Some(a)), None) if front(end) == dim => op.min(dim, Dim::constant(a)),
        (Some(Some(a)), Some(Some(b))) => op.less(op.min(dim, Dim::constant(a)), Dim::constant(b)),
        (Some(None), None) if front(end) == dim => dim,
        _ => Dim::UNKNOWN,
    }
}

/// Like [`steps_along`], for constants.
fn fixed_steps(size: i64, start: i64, end: i64, step: i64) -> Dim {
    let from_back = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
    let (start, end) = (from_back(start), from_back(end));
    let span = match step {
        0 => return Dim::UNKNOWN,
        _ if size == 0 => 0,
        1.. => end.clamp(0, size) - start.clamp(0, size),
        _ => start.clamp(0, size - 1) - end.clamp(-1, size - 1),
    };
    let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    Dim::constant(count as i64)
}

/// Infers the broadcast of both shapes.
fn expand(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let (Some(dims), Some(shape)) = (op.dims(0), shape_in(op, 1)) else {
        return op.set(0, dtype, None);
    };
    op.set(0, dtype, Some(op.broadcast(&[dims, shape])?))
}

/// Infers each dim multiplied by its repeats.
fn tile(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |dims| {
        let repeats = shape_in(op, 1).unwrap_or(vec![Dim::UNKNOWN; dims.len()]);
        check_length("repeats", repeats.len(), dims.len())?;
        let tiled = dims
            .iter()
            .zip(repeats)
            .map(|(&dim, times)| op.mul(dim, times));
        Ok(tiled.collect::<Vec<Dim>>())
    })
}

/// Infers each dim with its padding added.
fn pad(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |mut dims| {
        let pads = op.ints_since(11, 1, "pads");
        let axes = op.ints_if_given(3);
        let (Ok(Some(pads)), Ok(axes)) = (pads, axes) else {
            return Ok(vec![Dim::UNKNOWN; dims.len()]);
        };
        let axes = axes.unwrap_or_else(|| (0..dims.len() as i64).collect());
        let axes = op.axes(&axes, dims.len())?;
        check_length("pads", pads.len(), 2 * axes.len())?;
        for (at, &d) in axes.iter().enumerate() {
            let (before, after) = (pads[at], pads[at + axes.len()]);
            let margins = before.saturating_add(after);
            dims[d] = match dims[d].as_const().map(|size| size.checked_add(margins)) {
                Some(Some(size @ 0..)) => Dim::constant(size),
                Some(_) => {
                    let dim = dims[d].value;
                    return invalid!(
                        "pads {before} and {after} are out of range for a dim of {dim}"
                    );
                }
                None => op.add(dims[d], Dim::constant(margins)),
            };
        }
        Ok(dims)
    })
}

/// Infers the dims with the axis replaced by the indices' shape.
fn gather_along(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let (Some(dims), Some(at)) = (op.dims(0), op.dims(1)) else {
        return op.set(0, dtype, None);
    };
    let axis = op.axis(op.int_or("axis", 0)?, dims.len())?;
    let gathered = [&dims[..axis], &at, &dims[axis + 1..]].concat();
    op.set(0, dtype, Some(gathered))
}

/// Infers the indices' shape.
fn gather_elements(op: &Infer) -> Inferred {
    op.set(0, op.dtype(0)?, op.dims(1))?;
    if let Some(dims) = op.dims(0) {
        op.axis(op.int_or("axis", 0)?, dims.len())?;
    }
    Ok(())
}

/// Infers the operand's type. The batch and sequence axes are the first two axes, in any order.
fn reverse_sequence(op: &Infer) -> Inferred {
    same_type(op)?;
    match op.int_or("batch_axis", 1)? == op.int_or("time_axis", 0)? {
        true => invalid!("attributes `batch_axis` and `time_axis` are equal"),
        false => Ok(()),
    }
}

/// Infers the indices' shape without the last dim, followed by the dims that index tuples don't cover.
fn gather_nd(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let (Some(dims), Some(at)) = (op.dims(0), op.dims(1)) else {
        return op.set(0, dtype, None);
    };
    let Some((&width, outer)) = at.split_last() else {
        return invalid!("indices have rank 0, expected at least 1");
    };
    let batch = usize::try_from(op.int_or("batch_dims", 0)?).unwrap_or(0);
    if batch > outer.len() {
        return invalid!(
            "attribute `batch_dims` is {batch}, but indices have rank {}",
            at.len()
        );
    }
    let Some(width) = width
        .as_const()
        .and_then(|width| usize::try_from(width).ok())
    else {
        return op.set(0, dtype, None);
    };
    match dims.get(batch.saturating_add(width)..) {
        Some(rest) => op.set(0, dtype, Some([outer, rest].concat())),
        None => invalid!(
            "index tuples of length {width} after {batch} batch dims exceed rank {}",
            dims.len()
        ),
    }
}

/// Infers the dims with the number of true conditions along the axis, or a list of that length without an axis.
fn compress(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let kept = match op.constant(1) {
        Some(condition) => {
            let truths = condition.bytes().iter().filter(|&&byte| byte != 0);
            Dim::constant(truths.count() as i64)
        }
        None => Dim::UNKNOWN,
    };
    let Some(at) = op.int("axis")? else {
        return op.set(0, dtype, Some(vec![kept]));
    };
    op.set_from(dtype, |mut dims| {
        let at = op.axis(at, dims.len())?;
        dims[at] = kept;
        Ok(dims)
    })
}

/// Infers one row per dim.
fn non_zero(op: &Infer) -> Inferred {
    let count = |dims: Vec<Dim>| Dim::constant(dims.len() as i64);
    let rows = op.dims(0).map_or(Dim::UNKNOWN, count);
    op.set(0, DType::I64, Some(vec![rows, Dim::UNKNOWN]))
}

/// Infers channels divided by the block's area, and height and width multiplied by its side.
fn depth_to_space(op: &Infer) -> Inferred {
    let ([n, c, h, w], block) = picture(op)?;
    let (depth, side) = (op.parts(c, block * block)?, Dim::constant(block));
    let dims = vec![n, depth, op.mul(h, side), op.mul(w, side)];
    op.set(0, op.dtype(0)?, Some(dims))
}

/// Infers channels multiplied by the block's area, and height and width divided by its side.
fn space_to_depth(op: &Infer) -> Inferred {
    let ([n, c, h, w], block) = picture(op)?;
    let depth = op.mul(c, Dim::constant(block * block));
    let dims = vec![n, depth, op.parts(h, block)?, op.parts(w, block)?];
    op.set(0, op.dtype(0)?, Some(dims))
}

fn picture(op: &Infer) -> Inferred<([Dim; 4], i64)> {
    let block = op
        .int("blocksize")?
        .filter(|block| (1..=65536).contains(block));
    match (<[Dim; 4]>::try_from(op.shape(0)?), block) {
        (Ok(dims), Some(block)) => Ok((dims, block)),
        (Err(dims), _) => invalid!("operand 0 has rank {}, expected 4", dims.len()),
        (_, None) => Err(Stop::Unknown),
    }
}

/// Infers the broadcast of all three shapes.
fn choose(op: &Infer) -> Inferred {
    op.set(0, op.dtype_of_any([1, 2])?, op.broadcast_operands(3)?)
}

/// Infers the unique elements, or slices along the axis. Further results are their first indices, their indices for all
/// elements of the operand, and their counts.
fn unique(op: &Infer) -> Inferred {
    let dims = op.dims(0);
    let (unique, all) = match (op.int("axis")?, dims) {
        (None, dims) => {
            let all = dims.map_or(Dim::UNKNOWN, |dims| op.product(&dims));
            (Some(vec![Dim::UNKNOWN]), all)
        }
        (Some(_), None) => (None, Dim::UNKNOWN),
        (Some(axis), Some(mut dims)) => {
            let axis = op.axis(axis, dims.len())?;
            let all = std::mem::replace(&mut dims[axis], Dim::UNKNOWN);
            (Some(dims), all)
        }
    };
    op.set(0, op.dtype(0)?, unique)?;
    op.set(1, DType::I64, Some(vec![Dim::UNKNOWN]))?;
    op.set(2, DType::I64, Some(vec![all]))?;
    op.set(3, DType::I64, Some(vec![Dim::UNKNOWN]))
}
