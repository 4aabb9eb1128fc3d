//! Operators that move whole runs of elements: Transpose, Concat, Split, Slice, Expand, Tile, Pad,
//! Trilu, DepthToSpace, SpaceToDepth.

use ndarray::{ArrayD, Axis, IxDyn, SliceInfo, SliceInfoElem};

use super::broadcast::{shape_of, spread};
use super::call::{axis, integers};
use super::cells::{Cell, Movement, rearrange, zero};
use super::tensor::row_by_row;
use super::{Call, Elements, Folded, NotFolded, refuse};

/// The answer of a movement of one operand.
type Moved<T> = Result<Vec<ArrayD<T>>, NotFolded>;

/// The dims in another order, reversed by default.
pub(crate) fn transpose<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let order = match call.ints("perm")? {
        None => (0..x.rank()).rev().collect(),
        Some(perm) => {
            super::call::axes(&perm, x.rank())?;
            if perm.len() != x.rank() || perm.iter().any(|&dim| dim < 0) {
                return refuse!("its perm doesn't order {} dims", x.rank());
            }
            perm.iter().map(|&dim| dim as usize).collect()
        }
    };
    rearrange(call, &[x], &Transpose(order))
}

struct Transpose(Vec<usize>);

impl Movement for Transpose {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        Ok(vec![row_by_row(&inputs[0].view().permuted_axes(&*self.0))])
    }
}

/// The operands side by side along an axis.
pub(crate) fn concat<'a>(call: &Call<'a>) -> Folded<'a> {
    let operands = call.all_inputs()?;
    let first = call.input(0)?;
    let Some(at) = call.int("axis")? else {
        return refuse!("it has no axis");
    };
    let at = axis(at, first.rank())?;
    let mut shape = first.shape().to_vec();
    shape[at] = 0;
    for operand in &operands {
        let same = operand.rank() == first.rank()
            && (0..first.rank()).all(|d| d == at || operand.shape()[d] == first.shape()[d]);
        if !same {
            let (one, other) = (first.shape(), operand.shape());
            return refuse!("{one:?} and {other:?} don't stand side by side");
        }
        shape[at] = shape[at].saturating_add(operand.shape()[at]);
    }
    call.room_for(first.dtype(), &shape)?;
    rearrange(call, &operands, &Concat(at))
}

struct Concat(usize);

impl Movement for Concat {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        let mut shape = inputs[0].shape().to_vec();
        shape[self.0] = inputs.iter().map(|input| input.shape()[self.0]).sum();
        let outer: usize = shape[..self.0].iter().product();
        // What stands side by side in a row of the result lies side by side in each operand.
        let mut runs = Vec::with_capacity(inputs.len());
        for input in inputs {
            let Some(cells) = input.as_slice() else {
                return refuse!("its elements don't lie side by side");
            };
            runs.push((cells, input.shape()[self.0..].iter().product::<usize>()));
        }
        let mut whole = Vec::with_capacity(shape.iter().product());
        for row in 0..outer {
            for &(cells, run) in &runs {
                whole.extend_from_slice(&cells[row * run..][..run]);
            }
        }
        match ArrayD::from_shape_vec(shape, whole) {
            Ok(whole) => Ok(vec![whole]),
            Err(error) => refuse!("its operands don't stand side by side: {error}"),
        }
    }
}

/// Pieces along an axis.
pub(crate) fn split<'a>(call: &Call<'a>) -> Folded<'a> {
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
    let mut ends = Vec::new();
    let mut end = 0usize;
    for &length in &lengths {
        let next = usize::try_from(length).ok();
        let Some(next) = next.and_then(|length| end.checked_add(length)) else {
            return refuse!("{lengths:?} can't be lengths of pieces");
        };
        end = next;
        ends.push(end);
    }
    if end != dim || lengths.len() != call.outputs {
        let results = call.outputs;
        return refuse!("pieces of {lengths:?} don't make up {dim} in {results} results");
    }
    rearrange(call, &[x], &Split { axis: at, ends })
}

/// The lengths of pieces of one size, the last being smaller where that is allowed.
pub(crate) fn even(dim: usize, pieces: i64, uneven: bool) -> Result<Vec<i64>, NotFolded> {
    let dim = dim as i64;
    if !(1..=dim.max(1)).contains(&pieces) {
        return refuse!("{dim} elements can't be split into {pieces} pieces");
    }
    let length = dim / pieces + i64::from(dim % pieces != 0);
    let last = dim - length * (pieces - 1);
    if last < 0 || last != length && !uneven {
        return refuse!("{dim} elements don't split evenly into {pieces} pieces");
    }
    let mut lengths = vec![length; pieces as usize - 1];
    lengths.push(last);
    Ok(lengths)
}

struct Split {
    axis: usize,
    ends: Vec<usize>,
}

impl Movement for Split {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        let view = inputs[0].view();
        let mut start = 0;
        let piece = |&end: &usize| {
            let range = ndarray::Slice::from(std::mem::replace(&mut start, end)..end);
            row_by_row(&view.slice_axis(Axis(self.axis), range))
        };
        Ok(self.ends.iter().map(piece).collect())
    }
}

/// The part from `starts` to `ends` by `steps`, along `axes`.
pub(crate) fn slice<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let (starts, ends, axes, steps) = if call.version >= 10 {
        let (axes, steps) = (call.optional_ints_in(3)?, call.optional_ints_in(4)?);
        (call.ints_in(1)?, call.ints_in(2)?, axes, steps)
    } else {
        let (Some(starts), Some(ends)) = (call.ints("starts")?, call.ints("ends")?) else {
            return refuse!("it has no starts or no ends");
        };
        let axes = call.ints("axes")?.map(|axes| axes.into_owned());
        (starts.into_owned(), ends.into_owned(), axes, None)
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return refuse!("its starts, ends, axes and steps aren't equally many");
    }
    super::call::axes(&axes, x.rank())?;
    let mut plan = vec![SliceInfoElem::from(..); x.rank()];
    for (at, &named) in axes.iter().enumerate() {
        let d = axis(named, x.rank())?;
        plan[d] = steps_along(x.shape()[d], starts[at], ends[at], steps[at])?;
    }
    rearrange(call, &[x], &Slice(plan))
}

/// ONNX's start, end and step, clamped to a dim, as `ndarray` says them: a negative step walks the
/// same range from its end.
fn steps_along(dim: usize, start: i64, end: i64, step: i64) -> Result<SliceInfoElem, NotFolded> {
    let Ok(dim) = i64::try_from(dim) else {
        return refuse!("a dim is too long");
    };
    let from_back = |at: i64| if at < 0 { at.saturating_add(dim) } else { at };
    let (start, far, end) = (from_back(start), end, from_back(end));
    let range = match step {
        0 => return refuse!("a step of 0 goes nowhere"),
        1.. => start.clamp(0, dim)..end.clamp(0, dim),
        _ if dim > 0 && (far == i64::MAX || far == i32::MAX.into()) => {
            return refuse!("where a walk backwards ends at {far} isn't read alike everywhere");
        }
        _ => end.clamp(-1, dim - 1) + 1..start.clamp(0, (dim - 1).max(0)) + 1,
    };
    if dim == 0 || range.is_empty() {
        return Ok(SliceInfoElem::from(0..0_isize));
    }
    // A longer step than the dim takes one element; clamped, it can't overflow.
    let step = step.clamp(-dim.max(1), dim.max(1));
    Ok(SliceInfoElem::Slice {
        start: range.start as isize,
        end: Some(range.end as isize),
        step: step as isize,
    })
}

struct Slice(Vec<SliceInfoElem>);

impl Movement for Slice {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        let Ok(plan) = SliceInfo::<_, IxDyn, IxDyn>::try_from(&*self.0) else {
            return refuse!("its slices don't fit");
        };
        Ok(vec![row_by_row(&inputs[0].slice(plan))])
    }
}

/// Broadcast with a shape.
pub(crate) fn expand<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let wanted = dims(&call.ints_in(1)?)?;
    let shape = shape_of(&[x.shape(), &wanted])?;
    call.room_for(x.dtype(), &shape)?;
    rearrange(call, &[x], &Expand(shape))
}

struct Expand(Vec<usize>);

impl Movement for Expand {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        Ok(vec![row_by_row(&spread(&inputs[0].view(), &self.0)?)])
    }
}

/// Sizes, none of them negative.
pub(super) fn dims(list: &[i64]) -> Result<Vec<usize>, NotFolded> {
    let dims: Result<_, _> = list.iter().map(|&dim| usize::try_from(dim)).collect();
    dims.map_err(|_| NotFolded::new(format!("{list:?} isn't a shape")))
}

/// Repeated along each dim.
pub(crate) fn tile<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let repeats = dims(&call.ints_in(1)?)?;
    if repeats.len() != x.rank() {
        return refuse!("{} repeats for {} dims", repeats.len(), x.rank());
    }
    let times = |(&dim, &times): (&usize, &usize)| dim.saturating_mul(times);
    let shape: Vec<usize> = x.shape().iter().zip(&repeats).map(times).collect();
    call.room_for(x.dtype(), &shape)?;
    rearrange(call, &[x], &Tile { repeats, shape })
}

struct Tile {
    repeats: Vec<usize>,
    shape: Vec<usize>,
}

impl Movement for Tile {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        // [a, b] repeated [m, n] times is [1, a, 1, b] spread to [m, a, n, b].
        let view = inputs[0].view();
        let split: Vec<usize> = view.shape().iter().flat_map(|&dim| [1, dim]).collect();
        let spaced = self.repeats.iter().zip(view.shape());
        let spaced: Vec<usize> = spaced.flat_map(|(&times, &dim)| [times, dim]).collect();
        let Ok(split) = view.to_shape(IxDyn(&split)) else {
            return refuse!("it doesn't tile");
        };
        let repeated = row_by_row(&spread(&split.view(), &spaced)?);
        let (elements, _) = repeated.into_raw_vec_and_offset();
        match ArrayD::from_shape_vec(IxDyn(&self.shape), elements) {
            Ok(tiled) => Ok(vec![tiled]),
            Err(error) => refuse!("it doesn't tile: {error}"),
        }
    }
}

/// The operand with margins, each side filled by `mode`; a negative margin cuts.
pub(crate) fn pad<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let Some(given) = call.ints_since(11, 1, "pads")? else {
        return refuse!("it has no pads");
    };
    let mode = call.word("mode", &["constant", "reflect", "edge", "wrap"])?;
    let default = zero(x.dtype())?;
    let fill = match call.optional(2) {
        Some(fill) if fill.len() == 1 => fill,
        Some(_) => return refuse!("what it fills with isn't a scalar"),
        None if call.version < 11 && call.float_or("value", 0.0)? != 0.0 => {
            return refuse!("a value other than 0 as an attribute isn't supported");
        }
        None => &default,
    };
    let named = match call.optional(3) {
        Some(axes) => integers(axes)?,
        None => (0..x.rank() as i64).collect(),
    };
    super::call::axes(&named, x.rank())?;
    if given.len() != named.len() * 2 {
        return refuse!("{} pads for {} axes", given.len(), named.len());
    }
    let mut sources: Vec<Option<Vec<Option<usize>>>> = vec![None; x.rank()];
    let mut shape = x.shape().to_vec();
    for (at, &name) in named.iter().enumerate() {
        let d = axis(name, x.rank())?;
        let (before, after) = (given[at], given[at + named.len()]);
        let length = (shape[d] as i64).checked_add(before);
        let length = length.and_then(|length| length.checked_add(after));
        if mode != "constant" && (before < 0 || after < 0) {
            return refuse!("whether what is cut is padded with isn't defined");
        }
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
            let dim = shape[d];
            return refuse!("pads of {before} and {after} leave nothing of a dim of {dim}");
        };
        let dim = std::mem::replace(&mut shape[d], length);
        call.room_for(x.dtype(), &shape)?;
        let source = |to: i64| source(to.saturating_sub(before), dim, mode);
        sources[d] = Some((0..length as i64).map(source).collect::<Result<_, _>>()?);
    }
    call.room_for(x.dtype(), &shape)?;
    rearrange(call, &[x, fill], &Pad { sources })
}

/// The element of a dim that lies at a place inside or outside of it; `None`: the filling.
fn source(at: i64, dim: usize, mode: &str) -> Result<Option<usize>, NotFolded> {
    let dim = dim as i64;
    if (0..dim).contains(&at) {
        return Ok(Some(at as usize));
    }
    let found = match mode {
        "constant" => return Ok(None),
        _ if dim == 0 => return refuse!("there is nothing to pad with"),
        "edge" => at.clamp(0, dim - 1),
        "wrap" => at.rem_euclid(dim),
        // Reflected without repeating the edges, as often as it takes.
        _ if dim == 1 => 0,
        _ => {
            let period = at.rem_euclid(2 * (dim - 1));
            period.min(2 * (dim - 1) - period)
        }
    };
    Ok(Some(found as usize))
}

struct Pad {
    /// The source of each element along a padded dim.
    sources: Vec<Option<Vec<Option<usize>>>>,
}

impl Movement for Pad {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        let fill = inputs[1].iter().next().copied().unwrap_or_else(T::zeroed);
        let mut padded = inputs[0].to_owned();
        for (d, sources) in self.sources.iter().enumerate() {
            let Some(sources) = sources else { continue };
            let mut shape = padded.shape().to_vec();
            shape[d] = sources.len();
            let mut next = ArrayD::from_elem(IxDyn(&shape), fill);
            for (mut lane, source) in next.axis_iter_mut(Axis(d)).zip(sources) {
                if let Some(source) = *source {
                    lane.assign(&padded.index_axis(Axis(d), source));
                }
            }
            padded = next;
        }
        Ok(vec![padded])
    }
}

/// The upper or the lower triangle of each matrix, the rest zero.
pub(crate) fn trilu<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let diagonal = match call.optional(1) {
        Some(k) if k.len() == 1 => integers(k)?[0],
        Some(_) => return refuse!("its diagonal isn't a scalar"),
        None => 0,
    };
    if x.rank() < 2 {
        return refuse!("it has no matrices");
    }
    let zero = zero(x.dtype())?;
    rearrange(
        call,
        &[x, &zero],
        &Trilu {
            diagonal,
            upper: call.flag("upper", true)?,
        },
    )
}

struct Trilu {
    diagonal: i64,
    upper: bool,
}

impl Movement for Trilu {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Moved<T> {
        let mut result = inputs[0].to_owned();
        let zero = inputs[1].iter().next().copied().unwrap_or_else(T::zeroed);
        let shape = result.shape();
        let (rows, columns) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        for (at, cell) in result.iter_mut().enumerate() {
            let (row, column) = (at / columns % rows, at % columns);
            let above = (column as i64 - row as i64).cmp(&self.diagonal);
            let kept = if self.upper {
                above.is_ge()
            } else {
                above.is_le()
            };
            if !kept {
                *cell = zero;
            }
        }
        Ok(vec![result])
    }
}

/// Blocks of depth become squares of space.
pub(crate) fn depth_to_space<'a>(call: &Call<'a>) -> Folded<'a> {
    let order = match call.word("mode", &["DCR", "CRD"])? {
        "DCR" => [0, 3, 4, 1, 5, 2],
        _ => [0, 1, 4, 2, 5, 3],
    };
    let (n, c, h, w, b) = picture(call)?;
    if c % (b * b) != 0 {
        return refuse!("{c} channels aren't whole blocks");
    }
    let depth = c / (b * b);
    let split = if order[1] == 3 {
        [n, b, b, depth, h, w]
    } else {
        [n, depth, b, b, h, w]
    };
    blocks(
        call,
        split,
        order,
        vec![n, depth, h.saturating_mul(b), w.saturating_mul(b)],
    )
}

/// Squares of space become blocks of depth.
pub(crate) fn space_to_depth<'a>(call: &Call<'a>) -> Folded<'a> {
    let order = match call.word("mode", &["DCR", "CRD"])? {
        "DCR" => [0, 3, 5, 1, 2, 4],
        _ => [0, 1, 3, 5, 2, 4],
    };
    let (n, c, h, w, b) = picture(call)?;
    if h % b != 0 || w % b != 0 {
        return refuse!("{h} by {w} isn't whole blocks");
    }
    blocks(
        call,
        [n, c, h / b, b, w / b, b],
        order,
        vec![n, c.saturating_mul(b * b), h / b, w / b],
    )
}

/// The four dims of a picture and the block size.
fn picture(call: &Call) -> Result<(usize, usize, usize, usize, usize), NotFolded> {
    let x = call.input(0)?;
    let block = call
        .int("blocksize")?
        .and_then(|block| usize::try_from(block).ok());
    match (x.shape(), block) {
        // A block is never larger than what it divides, so its square doesn't overflow.
        (&[n, c, h, w], Some(b @ 1..=65536)) => Ok((n, c, h, w, b)),
        _ => refuse!("it needs four dims and a blocksize"),
    }
}

fn blocks<'a>(
    call: &Call<'a>,
    split: [usize; 6],
    order: [usize; 6],
    shape: Vec<usize>,
) -> Folded<'a> {
    let split = call.input(0)?.reshaped(split.to_vec())?;
    let moved = rearrange(call, &[&split], &Transpose(order.to_vec()))?;
    moved
        .into_iter()
        .map(|tensor| tensor.with_shape(shape.clone()))
        .collect()
}
