//! BatchNormalization, which exporters write over weights, to give each of their channels the mean 0 and the variance
//! 1; and LayerNormalization, which stands behind what a decoder is asked with: a table of weights.

use passdock_plugin_api::DType;

use super::call::axis;
use super::matrix::sums_are_defined;
use super::number::{Number, with_float};
use super::{Call, Folded, NotFolded, Tensor, refuse};

/// The version since which it says that it is trained; before, its number of results did.
const SAYS_TRAINED: i64 = 14;

/// The operand less the mean, divided by the deviation; trained, these are the operand's own, and its further results
/// are what is known of both from now on.
pub(crate) fn batch_normalization<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    sums_are_defined(x)?;
    let is_trained = call.version >= SAYS_TRAINED && call.int_or("training_mode", 0)? != 0;
    if call.version < 9 && call.int_or("spatial", 1)? != 1 {
        return refuse!("each element has a mean of its own");
    }
    if !is_trained && call.outputs > 1 {
        return refuse!("only what is trained has more than one result");
    }
    let (epsilon, momentum) = (
        call.float_or("epsilon", 1e-5)?,
        call.float_or("momentum", 0.9)?,
    );
    call.room_for(x.dtype(), x.shape())?;
    with_float!(x.dtype(), T => {
        let per_channel = |operand| numbers::<T>(call, operand);
        let channels = Channels::new(x)?;
        let (scale, bias) = (per_channel(1)?, per_channel(2)?);
        let (mut mean, mut variance) = (per_channel(3)?, per_channel(4)?);
        let is_long = |numbers: &Vec<f64>| numbers.len() == channels.count;
        if ![&scale, &bias, &mean, &variance].into_iter().all(is_long) {
            return refuse!("its operands aren't numbers of {} channels", channels.count);
        }
        let wide: Vec<f64> = x.stored::<T>()?.iter().map(|x| x.to_f64()).collect();
        let mut known = Vec::new();
        if is_trained {
            let (own_mean, own_variance) = channels.moments(&wide)?;
            let momentum = f64::from(momentum);
            for (old, own) in [(&mean, &own_mean), (&variance, &own_variance)] {
                let now = old.iter().zip(own).map(|(old, own)| old * momentum + own * (1.0 - momentum));
                let now: Vec<T> = now.filter_map(T::from_double).collect();
                known.push(Tensor::from_vec(x.dtype(), vec![channels.count], now));
            }
            (mean, variance) = (own_mean, own_variance);
        }
        let mut normal: Vec<T> = Vec::with_capacity(wide.len());
        for (channel, run) in channels.runs(&wide) {
            let deviation = (variance[channel] + f64::from(epsilon)).sqrt();
            let each = |x: &f64| (x - mean[channel]) / deviation * scale[channel] + bias[channel];
            normal.extend(run.iter().map(each).filter_map(T::from_double));
        }
        let mut results = vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), normal)];
        results.append(&mut known);
        Ok(results)
    })
}

/// Each row, of the dims from the axis on, less its mean and divided by its deviation, times the scale, and the bias
/// added; the mean, and what it is multiplied by for the deviation, are further results. Of `f32`: others are rounded
/// on the way.
pub(crate) fn layer_normalization<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    sums_are_defined(x)?;
    if x.dtype() != DType::F32 || call.int_or("stash_type", 1)? != 1 {
        return refuse!("only numbers of 32 bits are evaluated, as such");
    }
    let at = axis(call.int_or("axis", -1)?, x.rank())?;
    let (outer, inner) = x.shape().split_at(at);
    let length: usize = inner.iter().product();
    if length == 0 {
        return refuse!("nothing has no mean");
    }
    let numbers = |operand: &Tensor| {
        if operand.dtype() != DType::F32 || operand.shape() != inner {
            return refuse!("its scale and bias aren't of the shape of a row");
        }
        let numbers = operand.stored::<f32>()?;
        Ok(numbers.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>())
    };
    let scale = numbers(call.input(1)?)?;
    let bias = call.optional(2).map(numbers).transpose()?;
    let epsilon = f64::from(call.float_or("epsilon", 1e-5)?);
    call.room_for(x.dtype(), x.shape())?;
    let wide: Vec<f64> = x.stored::<f32>()?.iter().map(|&x| f64::from(x)).collect();
    let (mut normal, mut means, mut factors) = (Vec::with_capacity(wide.len()), vec![], vec![]);
    for row in wide.chunks(length) {
        let average =
            |of: &dyn Fn(f64) -> f64| row.iter().map(|&x| of(x)).sum::<f64>() / length as f64;
        let mean = average(&|x| x);
        let factor = 1.0 / (average(&|x| (x - mean).powi(2)) + epsilon).sqrt();
        let each = |(at, x): (usize, &f64)| {
            let bias = bias.as_ref().map_or(0.0, |bias| bias[at]);
            ((x - mean) * factor * scale[at] + bias) as f32
        };
        normal.extend(row.iter().enumerate().map(each));
        means.push(mean as f32);
        factors.push(factor as f32);
    }
    let mut results = vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), normal)];
    let once: Vec<usize> = outer
        .iter()
        .copied()
        .chain(inner.iter().map(|_| 1))
        .collect();
    for more in [means, factors]
        .into_iter()
        .take(call.outputs.saturating_sub(1))
    {
        results.push(Tensor::from_vec(DType::F32, once.clone(), more));
    }
    Ok(results)
}

/// An operand of one number a channel, of the first one's type.
fn numbers<T: Number>(call: &Call, operand: usize) -> Result<Vec<f64>, NotFolded> {
    let (x, numbers) = (call.input(0)?, call.input(operand)?);
    if numbers.dtype() != x.dtype() || numbers.rank() != 1 {
        return refuse!("operand {operand} isn't a list of numbers of the first one's type");
    }
    Ok(numbers.stored::<T>()?.iter().map(|x| x.to_f64()).collect())
}

/// The second dim.
struct Channels {
    count: usize,
    /// How many elements stand beside one another in one.
    inner: usize,
}

impl Channels {
    fn new(x: &Tensor) -> Result<Channels, NotFolded> {
        match x.shape() {
            [_, count, inner @ ..] => Ok(Channels {
                count: *count,
                inner: inner.iter().product(),
            }),
            _ => refuse!("it has no channels"),
        }
    }

    /// The elements in order, those of one channel that stand beside one another together.
    fn runs<'x>(&self, elements: &'x [f64]) -> impl Iterator<Item = (usize, &'x [f64])> {
        let count = self.count.max(1);
        let runs = elements.chunks(self.inner.max(1)).enumerate();
        runs.map(move |(at, run)| (at % count, run))
    }

    /// The mean and the variance of each.
    fn moments(&self, elements: &[f64]) -> Result<(Vec<f64>, Vec<f64>), NotFolded> {
        let each = elements.len() / self.count.max(1);
        if each == 0 {
            return refuse!("nothing has no mean");
        }
        let averages = |of: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; self.count];
            for (channel, run) in self.runs(elements) {
                sums[channel] += run.iter().map(|x| of(channel, *x)).sum::<f64>();
            }
            sums.iter()
                .map(|sum| sum / each as f64)
                .collect::<Vec<f64>>()
        };
        let means = averages(&|_, x| x);
        let variances = averages(&|channel, x| (x - means[channel]).powi(2));
        Ok((means, variances))
    }
}
