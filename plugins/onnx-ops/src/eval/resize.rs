//! Resize, and its predecessor Upsample. Exporters apply them to constants: masks and position tables.

use std::iter::zip;

use ndarray::Axis;

use super::cells::{flat, rearrange};
use super::data_movement::dims;
use super::matrix::{little_work, sums_are_defined};
use super::number::{doubles, rounded_sums};
use super::{Call, Folded, NotFolded, Tensor, axes, ensure, reject};

/// The maximum size of a resized axis, for which all weights are kept in memory.
const MAX_LENGTH: usize = 1 << 20;

/// Resizes each axis, by the nearest element or by a weighted sum of neighbors.
pub(crate) fn resize<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let is_first = call.version < 11 || call.name == "onnx.Upsample";
    let way = Way {
        mode: call.enum_value("mode", &["nearest", "linear", "cubic"])?,
        coord: match is_first {
            true => "asymmetric",
            false => call.enum_value("coordinate_transformation_mode", &COORDINATE_MODES)?,
        },
        rounding: match is_first {
            true => "floor",
            false => call.enum_value("nearest_mode", &ROUNDINGS)?,
        },
        is_wide: call.flag("antialias", false)?,
        leaves_out: call.flag("exclude_outside", false)?,
        cubic: call.float_or("cubic_coeff_a", -0.75)?.into(),
    };
    let lines = lines(call, x, is_first, way.coord)?;
    let mut shape = x.shape().to_vec();
    lines.iter().for_each(|line| shape[line.axis] = line.new);
    let has_elements = !x.is_empty() && !shape.contains(&0);
    ensure!(has_elements, "operand or result has no elements");
    call.room_for(x.dtype(), &shape)?;
    if way.mode == "nearest" {
        // The source of each element along each axis.
        let sources = lines.iter().map(|line| {
            let positions = (0..line.new).map(|at| way.nearest(at, line));
            Ok((line, positions.collect::<Result<Vec<_>, NotFolded>>()?))
        });
        let sources = sources.collect::<Result<Vec<_>, NotFolded>>()?;
        return rearrange!(call, &[x], cells, T => {
            let mut cells = cells.array::<T>(0)?.into_owned();
            for (line, sources) in &sources {
                if !sources.iter().copied().eq(0..line.old) {
                    cells = cells.select(Axis(line.axis), sources);
                }
            }
            flat(cells)
        });
    }
    sums_are_defined(x)?;
    little_work(&[&shape[..], &[4]].concat())?;
    let is_short = shape.iter().all(|&dim| dim <= MAX_LENGTH);
    ensure!(is_short, "an axis has more than {MAX_LENGTH} elements");
    let outside = f64::from(call.float_or("extrapolation_value", 0.0)?);
    let (mut elements, mut now) = (doubles(x)?, x.shape().to_vec());
    for line in lines.iter().filter(|line| !line.is_same()) {
        let taps = (0..line.new).map(|at| way.taps(at, line));
        let taps = taps.collect::<Result<Vec<_>, NotFolded>>()?;
        let most = taps.iter().flatten().map(Vec::len).max().unwrap_or(1);
        now[line.axis] = line.new;
        little_work(&[&now[..], &[most]].concat())?;
        let inner = now[line.axis + 1..].iter().product();
        elements = along(&elements, inner, line.old, &taps, outside);
    }
    rounded_sums(x.dtype(), shape, elements)
}

/// Computes the weighted sums along an axis, with `inner` contiguous elements per index. A result without taps is
/// `outside`.
fn along(
    all: &[f64],
    inner: usize,
    old: usize,
    taps: &[Option<Vec<(usize, f64)>>],
    outside: f64,
) -> Vec<f64> {
    let mut sums = Vec::with_capacity(all.len() / old * taps.len());
    for slice in all.chunks_exact(old * inner) {
        for taps in taps {
            let sum = |at: usize| match taps {
                Some(taps) => {
                    let weighed = |(from, weight): &(usize, f64)| slice[from * inner + at] * weight;
                    taps.iter().map(weighed).sum()
                }
                None => outside,
            };
            sums.extend((0..inner).map(sum));
        }
    }
    sums
}

/// A resized axis.
struct Line {
    axis: usize,
    old: usize,
    new: usize,
    scale: f64,
    /// The region of interest of the axis; the whole axis is from 0 to 1.
    part: [f64; 2],
}

impl Line {
    /// Whether the axis keeps its elements.
    fn is_same(&self) -> bool {
        self.scale == 1.0
    }
}

fn lines(call: &Call, x: &Tensor, is_first: bool, coord: &str) -> Result<Vec<Line>, NotFolded> {
    let listed = call.ints("axes")?;
    let chosen: Vec<usize> = match &listed {
        Some(list) => axes(list, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    let (scales, sizes) = match (is_first, call.version) {
        (true, ..9) if call.name == "onnx.Upsample" => {
            let scales = call.floats("scales")?;
            (
                scales.map(|scales| scales.iter().copied().map(f64::from).collect()),
                None,
            )
        }
        (true, _) => (Some(doubles(call.input(1)?)?), None),
        (false, _) => (given(call, 2).map(doubles).transpose()?, given(call, 3)),
    };
    let old: Vec<usize> = chosen.iter().map(|&axis| x.shape()[axis]).collect();
    let resized: Vec<(usize, f64)> = match (scales, sizes) {
        (_, Some(_)) => {
            let sizes = dims(&call.ints_in(3)?)?;
            let scales = zip(&old, &sizes).map(|(&old, &new)| new as f64 / old as f64);
            let mut listed = listed.iter().flat_map(|list| list.iter());
            let is_from_back = listed.any(|&axis| axis < 0);
            match call.enum_value("keep_aspect_ratio_policy", &POLICIES)? {
                "stretch" => zip(sizes.iter().copied(), scales).collect(),
                _ if is_from_back => {
                    return reject!("runtimes disagree on the aspect ratio with negative axes");
                }
                policy => {
                    let scale = match policy {
                        "not_larger" => scales.fold(f64::INFINITY, f64::min),
                        _ => scales.fold(0.0, f64::max),
                    };
                    let Some(sizes) = old.iter().map(|&old| in_proportion(old, scale)).collect()
                    else {
                        return reject!("size of the result depends on rounding");
                    };
                    zip::<Vec<usize>, _>(sizes, std::iter::repeat(scale)).collect()
                }
            }
        }
        (Some(scales), None) => {
            let size = |old: usize, scale: f64| (old as f32 * scale as f32).floor() as usize;
            zip(&old, scales)
                .map(|(&old, scale)| (size(old, scale), scale))
                .collect()
        }
        (None, None) => return reject!("missing `scales` or `sizes`"),
    };
    if matches!(coord, "align_corners" | "tf_crop_and_resize") {
        let is_whole = |(&old, &(new, scale)): (&usize, &(usize, f64))| {
            (old as f64 * scale - new as f64).abs() < 1e-5 * scale
        };
        let is_whole = zip(&old, &resized).all(is_whole);
        if !is_whole {
            return reject!("runtimes disagree on coordinates if a size is rounded down");
        }
    }
    let count = chosen.len();
    let parts = match coord {
        "tf_crop_and_resize" => doubles(call.input(1)?)?,
        _ => [vec![0.0; count], vec![1.0; count]].concat(),
    };
    let is_scale = |&(_, scale): &(usize, f64)| scale > 0.0 && scale.is_finite();
    let fits = resized.len() == count && parts.len() == 2 * count && resized.iter().all(is_scale);
    ensure!(
        fits,
        "`scales`, `sizes` or `roi` has an invalid length or value"
    );
    let line = |(at, (axis, (new, scale)))| Line {
        axis,
        old: old[at],
        new,
        scale,
        part: [parts[at], parts[at + count]],
    };
    let lines: Vec<Line> = zip(chosen, resized).enumerate().map(line).collect();
    let is_defined = |line: &Line| !line.is_same() || line.part == [0.0, 1.0];
    let is_defined = lines.iter().all(is_defined);
    if !is_defined {
        return reject!("runtimes disagree on `roi` along an axis with a scale of 1");
    }
    Ok(lines)
}

/// Returns the scaled size of an axis, if double and single precision round to the same size.
pub(crate) fn in_proportion(old: usize, scale: f64) -> Option<usize> {
    let size = (old as f64 * scale + 0.5).floor();
    let single = (old as f32 * scale as f32 + 0.5).floor();
    (size == f64::from(single) && size >= 0.0).then_some(size as usize)
}

/// Returns an operand if it is present. An empty list counts as absent.
fn given<'a>(call: &Call<'a>, index: usize) -> Option<&'a Tensor<'a>> {
    call.optional(index).filter(|list| list.shape() != [0])
}

const COORDINATE_MODES: [&str; 7] = [
    "half_pixel",
    "asymmetric",
    "align_corners",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
];
const POLICIES: [&str; 3] = ["stretch", "not_larger", "not_smaller"];
const ROUNDINGS: [&str; 4] = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

/// The interpolation.
struct Way {
    mode: &'static str,
    coord: &'static str,
    rounding: &'static str,
    /// Whether downsampling uses a wider filter.
    is_wide: bool,
    /// Whether elements outside of the operand have weight 0, instead of repeating the edge.
    leaves_out: bool,
    cubic: f64,
}

impl Way {
    /// Returns the coordinate of a result in the operand. `round` is applied after each operation.
    fn coord(&self, at: usize, line: &Line, round: fn(f64) -> f64) -> f64 {
        let (old, new, at) = (line.old as f64, line.new as f64, at as f64);
        let scale = round(line.scale);
        let half_pixel = || round(round((at + 0.5) / scale) - 0.5);
        match self.coord {
            "asymmetric" => round(at / scale),
            "align_corners" if line.new == 1 => 0.0,
            "align_corners" => round(round(at * (old - 1.0)) / (new - 1.0)),
            "pytorch_half_pixel" if line.new == 1 => 0.0,
            "half_pixel_symmetric" => {
                let adjusted = round(new / round(scale * old));
                round(round(round(old / 2.0) * round(1.0 - adjusted)) + half_pixel())
            }
            "tf_half_pixel_for_nn" => round((at + 0.5) / scale),
            "tf_crop_and_resize" => {
                let [start, end] = line.part;
                match line.new {
                    1 => round(round(0.5 * round(start + end)) * (old - 1.0)),
                    _ => {
                        let step = round(round(round(end - start) * (old - 1.0)) / (new - 1.0));
                        round(round(start * (old - 1.0)) + round(at * step))
                    }
                }
            }
            _ => half_pixel(),
        }
    }

    /// Whether a result's coordinate is outside of the operand, where `tf_crop_and_resize` extrapolates.
    fn is_outside(&self, at: usize, line: &Line) -> Result<bool, NotFolded> {
        let outside = |round| {
            let coord = self.coord(at, line, round);
            !(0.0..=(line.old - 1) as f64).contains(&coord)
        };
        let (exact, rounded) = (outside(double), outside(single));
        let is_cropped = self.coord == "tf_crop_and_resize";
        if is_cropped && exact != rounded {
            return reject!("whether a coordinate is outside of the operand depends on rounding");
        }
        Ok(is_cropped && exact)
    }

    /// Returns the nearest element, which must be the same in single and double precision.
    fn nearest(&self, at: usize, line: &Line) -> Result<usize, NotFolded> {
        let last = line.old - 1;
        if line.is_same() {
            return Ok(at.min(last));
        }
        if self.is_outside(at, line)? {
            return reject!("a coordinate is outside of the operand");
        }
        let [exact, single] =
            [double as fn(f64) -> f64, single].map(|round| self.round(self.coord(at, line, round)));
        if exact != single {
            return reject!("nearest element depends on rounding");
        }
        Ok((exact.max(0.0) as usize).min(last))
    }

    fn round(&self, coord: f64) -> f64 {
        match self.rounding {
            "floor" => coord.floor(),
            "ceil" => coord.ceil(),
            "round_prefer_ceil" => (coord + 0.5).floor(),
            _ => (coord - 0.5).ceil(),
        }
    }

    /// Returns the source elements of a result with their weights, or `None` if it is outside.
    fn taps(&self, at: usize, line: &Line) -> Result<Option<Vec<(usize, f64)>>, NotFolded> {
        if self.is_outside(at, line)? {
            return Ok(None);
        }
        let coord = self.coord(at, line, single);
        let squeeze = if self.is_wide {
            line.scale.min(1.0)
        } else {
            1.0
        };
        let reach = if self.mode == "cubic" { 2.0 } else { 1.0 } / squeeze;
        if !(coord.abs() < 1e9 && reach < 1e6) {
            return reject!("coordinate {coord} or filter size {reach} is out of range");
        }
        let first = coord.floor();
        let start = (-reach).floor() as i64 + 1;
        let mut taps = Vec::new();
        for step in start..2 - start {
            let weight = self.weight((first - coord + step as f64) * squeeze);
            let from = first as i64 + step;
            let inside = from.clamp(0, line.old as i64 - 1);
            if weight != 0.0 && (from == inside || !self.leaves_out) {
                taps.push((inside as usize, weight));
            }
        }
        let sum: f64 = taps.iter().map(|(_, weight)| weight).sum();
        ensure!(sum != 0.0, "interpolation weights sum to 0");
        taps.iter_mut().for_each(|(_, weight)| *weight /= sum);
        Ok(Some(taps))
    }

    /// Returns the weight of an element at a distance.
    fn weight(&self, distance: f64) -> f64 {
        let (a, x) = (self.cubic, distance.abs());
        match self.mode {
            "linear" => (1.0 - x).max(0.0),
            _ if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            _ if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
            _ => 0.0,
        }
    }
}

fn double(x: f64) -> f64 {
    x
}

fn single(x: f64) -> f64 {
    f64::from(x as f32)
}
