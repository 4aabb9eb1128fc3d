//! Resize to the nearest element. Masks that exporters make of constants come through it.

use std::iter::zip;

use ndarray::{ArrayD, Axis};

use super::cells::{Cell, Movement, rearrange};
use super::data_movement::dims;
use super::{Call, Elements, Folded, NotFolded, Tensor, refuse};

/// Each element is the one of the operand whose place is nearest: which that is has to be the same in single and in double
/// precision.
pub(crate) fn resize<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let is_first = call.version < 11;
    if call.word("mode", &["nearest", "linear", "cubic"])? != "nearest" {
        return refuse!("only `nearest` is evaluated");
    }
    let is_plain = call.version < 18
        || call.ints("axes")?.is_none()
            && call.word(
                "keep_aspect_ratio_policy",
                &["stretch", "not_larger", "not_smaller"],
            )? == "stretch";
    if !is_plain {
        return refuse!("of its axes or their proportions it is not evaluated");
    }
    let way = Way {
        place: match is_first {
            true => "asymmetric",
            false => call.word("coordinate_transformation_mode", &PLACES)?,
        },
        rounding: match is_first {
            true => "floor",
            false => call.word("nearest_mode", &ROUNDINGS)?,
        },
    };
    let (scales, sizes) = match is_first {
        true => (Some(call.input(1)?), None),
        false => (given(call, 2), given(call, 3)),
    };
    let axes: Vec<(usize, f64)> = match (scales, sizes) {
        (_, Some(_)) => {
            let sizes = dims(&call.ints_in(3)?)?;
            let sizes = zip(x.shape(), sizes);
            sizes
                .map(|(&old, new)| (new, new as f64 / old as f64))
                .collect()
        }
        (Some(scales), None) => {
            let scales = scales.stored::<f32>()?;
            let sizes = zip(x.shape(), scales.iter());
            let size = |old: usize, scale: f32| (old as f32 * scale).floor() as usize;
            sizes
                .map(|(&old, &scale)| (size(old, scale), f64::from(scale)))
                .collect()
        }
        (None, None) => return refuse!("it has neither scales nor sizes"),
    };
    if axes.len() != x.rank() || x.shape().contains(&0) {
        return refuse!("its scales or sizes aren't those of its axes");
    }
    let shape: Vec<usize> = axes.iter().map(|&(new, _)| new).collect();
    call.room_for(x.dtype(), &shape)?;
    let mut sources = Vec::with_capacity(axes.len());
    for (&old, (new, scale)) in zip(x.shape(), axes) {
        let places = (0..new).map(|at| way.nearest(at, old, new, scale));
        sources.push(places.collect::<Result<Vec<usize>, NotFolded>>()?);
    }
    rearrange(call, &[x], &Nearest(sources))
}

/// An operand that is there, and no empty list, which stands for one that isn't.
fn given<'a>(call: &Call<'a>, index: usize) -> Option<&'a Tensor<'a>> {
    call.optional(index).filter(|list| list.shape() != [0])
}

const PLACES: [&str; 5] = [
    "half_pixel",
    "asymmetric",
    "align_corners",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
];
const ROUNDINGS: [&str; 4] = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

/// How a place among the results becomes one of the operand's.
struct Way {
    place: &'static str,
    rounding: &'static str,
}

impl Way {
    fn nearest(&self, at: usize, old: usize, new: usize, scale: f64) -> Result<usize, NotFolded> {
        if scale == 1.0 {
            return Ok(at.min(old - 1));
        }
        let last = old - 1;
        let exact = match self.place {
            "asymmetric" => at as f64 / scale,
            "align_corners" if new == 1 => 0.0,
            "align_corners" => at as f64 * last as f64 / (new - 1) as f64,
            "pytorch_half_pixel" if new == 1 => 0.0,
            "half_pixel" | "pytorch_half_pixel" => (at as f64 + 0.5) / scale - 0.5,
            _ => return refuse!("its coordinates are `{}`", self.place),
        };
        let (scale, at) = (scale as f32, at as f32);
        let single = match self.place {
            "asymmetric" => at / scale,
            "align_corners" if new == 1 => 0.0,
            "align_corners" => at * last as f32 / (new - 1) as f32,
            "pytorch_half_pixel" if new == 1 => 0.0,
            _ => (at + 0.5) / scale - 0.5,
        };
        let (exact, single) = (self.round(exact), self.round(f64::from(single)));
        match exact == single {
            true => Ok((exact.max(0.0) as usize).min(last)),
            false => refuse!("which element is nearest is a matter of rounding"),
        }
    }

    fn round(&self, place: f64) -> f64 {
        match self.rounding {
            "floor" => place.floor(),
            "ceil" => place.ceil(),
            "round_prefer_ceil" => (place + 0.5).floor(),
            _ => (place - 0.5).ceil(),
        }
    }
}

/// Along each axis, the place that each element comes from.
struct Nearest(Vec<Vec<usize>>);

impl Movement for Nearest {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let mut made = inputs[0].to_owned();
        for (axis, sources) in self.0.iter().enumerate() {
            let is_same = sources.iter().copied().eq(0..made.shape()[axis]);
            if !is_same {
                made = made.select(Axis(axis), sources);
            }
        }
        Ok(vec![made])
    }
}
