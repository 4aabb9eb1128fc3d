//! Operators that move blocks of elements: Transpose, Concat, Split, Slice, Expand, Tile, Pad, Trilu, DepthToSpace,
//! SpaceToDepth.

use ndarray::{ArrayD, Axis, IxDyn, SliceInfo, SliceInfoElem};

use super::broadcast::{shape_of, spread};
use super::call::{axes, axis, integers};
use super::cells::{flat, rearrange, zero};
use super::tensor::{in_order, row_by_row};
use super::{Call, Folded, FoldedAll, NotFolded, Tensor, ensure, reject};

/// Permutes the dims, or reverses them by default.
pub(crate) fn transpose<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let order = match call.ints("perm")? {
        None => (0..x.rank()).rev().collect(),
        Some(perm) => {
            let orders = perm.len() == x.rank() && perm.iter().all(|&dim| dim >= 0);
            ensure!(
                orders,
                "attribute `perm` is {perm:?}, expected a permutation of {} axes",
                x.rank()
            );
            axes(&perm, x.rank())?
        }
    };
    transposed(call, x, order)
}

fn transposed<'a>(call: &Call, x: &Tensor, order: Vec<usize>) -> Folded<'a> {
    rearrange!(call, &[x], cells, T => {
        flat(row_by_row(&cells.array::<T>(0)?.view().permuted_axes(order)))
    })
}

/// Concatenates the operands along an axis.
pub(crate) fn concat<'a>(call: &Call<'a>) -> Folded<'a> {
    let operands = call.all_inputs()?;
    let first = call.input(0)?;
    let Some(at) = call.int("axis")? else {
        return reject!("missing attribute `axis`");
    };
    let at = axis(at, first.rank())?;
    let mut shape = first.shape().to_vec();
    shape[at] = 0;
    for operand in &operands {
        let (one, other) = (first.shape(), operand.shape());
        let same =
            one.len() == other.len() && (0..one.len()).all(|d| d == at || other[d] == one[d]);
        ensure!(
            same,
            "cannot concatenate shapes {one:?} and {other:?} along axis {at}"
        );
        shape[at] = shape[at].saturating_add(other[at]);
    }
    let count = call.room_for(first.dtype(), &shape)?;
    rearrange!(call, &operands, cells, T => {
        // A row of the result consists of one contiguous run of each operand.
        let run = |operand: &&Tensor| operand.shape()[at..].iter().product::<usize>();
        let rows = (0..operands.len()).map(|index| cells.row::<T>(index));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut whole = Vec::with_capacity(count);
        for row in 0..shape[..at].iter().product() {
            for (cells, run) in rows.iter().zip(operands.iter().map(run)) {
                whole.extend_from_slice(&cells[row * run..][..run]);
            }
        }
        (shape, whole)
    })
}

/// Splits along an axis.
pub(crate) fn split<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let x = call.input(0)?;
    let at = axis(call.int_or("axis", 0)?, x.rank())?;
    let dim = x.shape()[at];
    let lengths = match call.ints_since(13, 1, "split")? {
        Some(lengths) => lengths,
        None => {
            let pieces = call.int_or("num_outputs", call.outputs as i64)?;
            even(dim, pieces, call.version >= 18)?
        }
    };
    let sizes = dims(&lengths)?;
    let whole = sizes
        .iter()
        .try_fold(0usize, |sum, &size| sum.checked_add(size));
    let results = call.outputs;
    let fits = whole == Some(dim) && lengths.len() == results;
    if !fits {
        return reject!("cannot split a dim of {dim} into {results} results of sizes {lengths:?}");
    }
    let mut start = 0;
    let piece = |size: usize| {
        let mut plan = vec![SliceInfoElem::from(..); x.rank()];
        plan[at] = SliceInfoElem::from(start as isize..(start + size) as isize);
        start += size;
        sliced(call, x, &plan)
    };
    sizes.into_iter().map(piece).collect()
}

/// Returns the lengths of equal pieces. The last one may be shorter if `uneven`.
pub(crate) fn even(dim: usize, pieces: i64, uneven: bool) -> Result<Vec<i64>, NotFolded> {
    let dim = dim as i64;
    let splits = (1..=dim.max(1)).contains(&pieces);
    ensure!(splits, "cannot split a dim of {dim} into {pieces} results");
    let length = dim / pieces + i64::from(dim % pieces != 0);
    let last = dim - length * (pieces - 1);
    let fits = last >= 0 && (last == length || uneven);
    if !fits {
        return reject!("cannot split a dim of {dim} evenly into {pieces} results");
    }
    let mut lengths = vec![length; pieces as usize - 1];
    lengths.push(last);
    Ok(lengths)
}

/// Slices from `starts` to `ends` by `steps`, along `axes`.
pub(crate) fn slice<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let starts = call.ints_since(10, 1, "starts")?;
    let (Some(starts), Some(ends)) = (starts, call.ints_since(10, 2, "ends")?) else {
        return reject!("missing `starts` or `ends`");
    };
    let count = starts.len();
    let named = call
        .ints_since(10, 3, "axes")?
        .unwrap_or_else(|| (0..count as i64).collect());
    let steps = call.optional_ints_in(4)?.unwrap_or_else(|| vec![1; count]);
    let fits = [&ends, &named, &steps]
        .iter()
        .all(|list| list.len() == count);
    ensure!(
        fits,
        "expected `starts`, `ends`, `axes` and `steps` of equal length"
    );
    let mut plan = vec![SliceInfoElem::from(..); x.rank()];
    for (at, d) in axes(&named, x.rank())?.into_iter().enumerate() {
        plan[d] = steps_along(x.shape()[d], starts[at], ends[at], steps[at])?;
    }
    sliced(call, x, &plan)
}

fn sliced<'a>(call: &Call, x: &Tensor, plan: &[SliceInfoElem]) -> Folded<'a> {
    let Ok(plan) = SliceInfo::<_, IxDyn, IxDyn>::try_from(plan) else {
        return reject!("invalid slices");
    };
    rearrange!(call, &[x], cells, T => flat(row_by_row(&cells.array::<T>(0)?.slice(plan))))
}

/// Converts ONNX's start, end and step, clamped to a dim, to `ndarray`'s: a negative step traverses the same range from
/// its end.
fn steps_along(dim: usize, start: i64, end: i64, step: i64) -> Result<SliceInfoElem, NotFolded> {
    let Ok(dim) = i64::try_from(dim) else {
        return reject!("dim {dim} is too large");
    };
    let from_back = |at: i64| if at < 0 { at.saturating_add(dim) } else { at };
    let (start, far, end) = (from_back(start), end, from_back(end));
    let range = match step {
        0 => return reject!("a step is 0"),
        1.. => start.clamp(0, dim)..end.clamp(0, dim),
        _ if dim > 0 && (far == i64::MAX || far == i64::from(i32::MAX)) => {
            return reject!("runtimes disagree on an end of {far} with a negative step");
        }
        _ => end.clamp(-1, dim - 1) + 1..start.clamp(0, (dim - 1).max(0)) + 1,
    };
    if dim == 0 || range.is_empty() {
        return Ok(SliceInfoElem::from(0..0_isize));
    }
    // A step longer than the dim takes one element. Clamping it prevents overflow.
    let step = step.clamp(-dim.max(1), dim.max(1));
    Ok(SliceInfoElem::Slice {
        start: range.start as isize,
        end: Some(range.end as isize),
        step: step as isize,
    })
}

/// Broadcasts to a shape.
pub(crate) fn expand<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let expected = dims(&call.ints_in(1)?)?;
    let shape = shape_of(&[x.shape(), &expected])?;
    call.room_for(x.dtype(), &shape)?;
    rearrange!(call, &[x], cells, T => {
        flat(row_by_row(&spread(&cells.array::<T>(0)?.view(), &shape)?))
    })
}

/// Converts sizes, none of which may be negative.
pub(super) fn dims(list: &[i64]) -> Result<Vec<usize>, NotFolded> {
    let dims: Result<_, _> = list.iter().map(|&dim| usize::try_from(dim)).collect();
    dims.map_err(|_| NotFolded::new(format!("negative size in {list:?}")))
}

/// Repeats along each dim.
pub(crate) fn tile<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let repeats = dims(&call.ints_in(1)?)?;
    let (times, rank) = (repeats.len(), x.rank());
    ensure!(
        times == rank,
        "`repeats` has length {times}, expected {rank}"
    );
    let pairs = || x.shape().iter().zip(&repeats);
    let shape: Vec<usize> = pairs()
        .map(|(&dim, &times)| dim.saturating_mul(times))
        .collect();
    call.room_for(x.dtype(), &shape)?;
    // [a, b] repeated [m, n] times is [1, a, 1, b] broadcast to [m, a, n, b].
    let split = x.reshaped(x.shape().iter().flat_map(|&dim| [1, dim]).collect())?;
    let spaced: Vec<usize> = pairs().flat_map(|(&dim, &times)| [times, dim]).collect();
    rearrange!(call, &[&split], cells, T => {
        let repeated = row_by_row(&spread(&cells.array::<T>(0)?.view(), &spaced)?);
        (shape, in_order(repeated))
    })
}

/// Pads the operand, filled as `mode` defines. Negative amounts crop.
pub(crate) fn pad<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let Some(given) = call.ints_since(11, 1, "pads")? else {
        return reject!("missing `pads`");
    };
    let mode = call.enum_value("mode", &["constant", "reflect", "edge", "wrap"])?;
    let default = zero(x.dtype())?;
    let fill = match call.optional(2) {
        Some(fill) if fill.len() == 1 => fill,
        Some(fill) => return reject!("fill value has {} elements, expected 1", fill.len()),
        None if call.version < 11 && call.float_or("value", 0.0)? != 0.0 => {
            return reject!("unsupported attribute `value`: expected 0");
        }
        None => &default,
    };
    let named = match call.optional(3) {
        Some(axes) => integers(axes)?,
        None => (0..x.rank() as i64).collect(),
    };
    let named = axes(&named, x.rank())?;
    let (pads, count) = (given.len(), named.len());
    ensure!(
        pads == count * 2,
        "`pads` has length {pads}, expected {}",
        count * 2
    );
    // The source of each element along a padded dim.
    let mut sources: Vec<(usize, Vec<Option<usize>>)> = Vec::new();
    let mut shape = x.shape().to_vec();
    for (at, &d) in named.iter().enumerate() {
        let (before, after, dim) = (given[at], given[at + count], shape[d]);
        let cuts = before < 0 || after < 0;
        if cuts && mode != "constant" {
            return reject!("negative pads in mode `{mode}` are undefined");
        }
        let length = (dim as i64)
            .checked_add(before)
            .and_then(|length| length.checked_add(after));
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
            return reject!("pads {before} and {after} are out of range for a dim of {dim}");
        };
        shape[d] = length;
        call.room_for(x.dtype(), &shape)?;
        let source = |to: i64| source(to.saturating_sub(before), dim, mode);
        sources.push((d, (0..length as i64).map(source).collect::<Result<_, _>>()?));
    }
    rearrange!(call, &[x, fill], cells, T => {
        let fill = cells.row::<T>(1)?[0];
        let mut padded = cells.array::<T>(0)?.into_owned();
        for (d, sources) in &sources {
            let mut shape = padded.shape().to_vec();
            shape[*d] = sources.len();
            let mut next = ArrayD::from_elem(shape, fill);
            for (mut lane, source) in next.axis_iter_mut(Axis(*d)).zip(sources) {
                if let Some(source) = *source {
                    lane.assign(&padded.index_axis(Axis(*d), source));
                }
            }
            padded = next;
        }
        flat(padded)
    })
}

/// Returns the source of an index inside or outside of a dim, or `None` for the fill value.
fn source(at: i64, dim: usize, mode: &str) -> Result<Option<usize>, NotFolded> {
    let dim = dim as i64;
    if (0..dim).contains(&at) {
        return Ok(Some(at as usize));
    }
    let source = match mode {
        "constant" => return Ok(None),
        _ if dim == 0 => return reject!("cannot pad a dim of 0 in mode `{mode}`"),
        "edge" => at.clamp(0, dim - 1),
        "wrap" => at.rem_euclid(dim),
        // Reflection doesn't repeat the edges. It repeats periodically.
        _ if dim == 1 => 0,
        _ => {
            let period = at.rem_euclid(2 * (dim - 1));
            period.min(2 * (dim - 1) - period)
        }
    };
    Ok(Some(source as usize))
}

/// Returns the upper or lower triangle of each matrix, with zeros elsewhere.
pub(crate) fn trilu<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let diagonal = match call.optional(1) {
        Some(k) if k.len() == 1 => integers(k)?[0],
        Some(k) => return reject!("`k` has {} elements, expected 1", k.len()),
        None => 0,
    };
    let &[.., rows, columns] = x.shape() else {
        return reject!("operand 0 has rank {}, expected at least 2", x.rank());
    };
    let upper = call.flag("upper", true)?;
    let is_kept = |at: usize| {
        let (row, column) = (at / columns % rows, at % columns);
        match (column as i64 - row as i64).cmp(&diagonal) {
            above if upper => above.is_ge(),
            above => above.is_le(),
        }
    };
    let zero = zero(x.dtype())?;
    rearrange!(call, &[x, &zero], cells, T => {
        let zero = cells.row::<T>(1)?[0];
        let cell = |(at, &cell): (usize, &T)| if is_kept(at) { cell } else { zero };
        (x.shape().to_vec(), cells.row::<T>(0)?.iter().enumerate().map(cell).collect())
    })
}

/// Moves blocks of the depth axis to the spatial axes.
pub(crate) fn depth_to_space<'a>(call: &Call<'a>) -> Folded<'a> {
    let is_depth_first = call.enum_value("mode", &["DCR", "CRD"])? == "DCR";
    let (n, c, h, w, b) = picture(call)?;
    let area = b * b;
    ensure!(
        c % area == 0,
        "number of channels {c} is not a multiple of {area}"
    );
    let depth = c / area;
    let (split, order) = match is_depth_first {
        true => ([n, b, b, depth, h, w], [0, 3, 4, 1, 5, 2]),
        false => ([n, depth, b, b, h, w], [0, 1, 4, 2, 5, 3]),
    };
    blocks(
        call,
        split,
        order,
        [n, depth, h.saturating_mul(b), w.saturating_mul(b)],
    )
}

/// Moves spatial blocks to the depth axis.
pub(crate) fn space_to_depth<'a>(call: &Call<'a>) -> Folded<'a> {
    let order = match call.enum_value("mode", &["DCR", "CRD"])? {
        "DCR" => [0, 3, 5, 1, 2, 4],
        _ => [0, 1, 3, 5, 2, 4],
    };
    let (n, c, h, w, b) = picture(call)?;
    let fits = h % b == 0 && w % b == 0;
    ensure!(fits, "height {h} or width {w} is not a multiple of {b}");
    let split = [n, c, h / b, b, w / b, b];
    blocks(
        call,
        split,
        order,
        [n, c.saturating_mul(b * b), h / b, w / b],
    )
}

/// Returns the four dims of an image and the block size.
fn picture(call: &Call) -> Result<(usize, usize, usize, usize, usize), NotFolded> {
    let block = call.int("blocksize")?.map(usize::try_from);
    match (call.input(0)?.shape(), block) {
        // A block is never larger than the dim it divides, so its square doesn't overflow.
        (&[n, c, h, w], Some(Ok(b @ 1..=65536))) => Ok((n, c, h, w, b)),
        _ => reject!("expected an operand of rank 4 and a valid attribute `blocksize`"),
    }
}

fn blocks<'a>(
    call: &Call<'a>,
    split: [usize; 6],
    order: [usize; 6],
    shape: [usize; 4],
) -> Folded<'a> {
    let split = call.input(0)?.reshaped(split.to_vec())?;
    let moved = transposed(call, &split, order.to_vec())?;
    moved.reshaped(shape.to_vec())
}
