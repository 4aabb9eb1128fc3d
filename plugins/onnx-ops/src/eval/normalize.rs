//! BatchNormalization and LayerNormalization. Exporters apply the first to weights, to normalize each channel. The
//! second applies to a decoder's learned queries, which are a table of weights.

use passdock_plugin_api::DType;

use super::call::axis;
use super::matrix::sums_are_defined;
use super::number::{doubles, rounded};
use super::{Call, FoldedAll, NotFolded, Tensor, ensure, name_of, reject};

/// The version since which an attribute enables training. Before, the number of results did.
const TRAINING_MODE_SINCE: i64 = 14;

/// Normalizes each channel by mean and variance. In training mode, these are computed from the operand, and further
/// results are the updated running mean and variance.
pub(crate) fn batch_normalization<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let x = call.input(0)?;
    sums_are_defined(x)?;
    let is_training = call.version >= TRAINING_MODE_SINCE && call.int_or("training_mode", 0)? != 0;
    let is_shared = call.version >= 9 || call.int_or("spatial", 1)? == 1;
    ensure!(is_shared, "unsupported attribute `spatial`: expected 1");
    if !is_training && call.outputs > 1 {
        return reject!(
            "expected 1 result outside of training mode, found {}",
            call.outputs
        );
    }
    let epsilon = call.number("epsilon")?;
    let momentum = call.number("momentum")?;
    call.room_for(x.dtype(), x.shape())?;
    let channels = Channels::new(x)?;
    let per_channel = |operand| channels.numbers(call, operand);
    let (scale, bias) = (per_channel(1)?, per_channel(2)?);
    let (mut mean, mut variance) = (per_channel(3)?, per_channel(4)?);
    let wide = doubles(x)?;
    let mut running = Vec::new();
    if is_training {
        let (own_mean, own_variance) = channels.moments(&wide)?;
        for (old, own) in [(&mean, &own_mean), (&variance, &own_variance)] {
            let pairs = old.iter().zip(own);
            let now = pairs
                .map(|(old, own)| old * momentum + own * (1.0 - momentum))
                .collect();
            running.push(rounded(x.dtype(), vec![channels.count], now)?);
        }
        (mean, variance) = (own_mean, own_variance);
    }
    let mut normal = Vec::with_capacity(wide.len());
    for (channel, run) in channels.runs(&wide) {
        let deviation = (variance[channel] + epsilon).sqrt();
        let each = |x: &f64| (x - mean[channel]) / deviation * scale[channel] + bias[channel];
        normal.extend(run.iter().map(each));
    }
    running.insert(0, rounded(x.dtype(), x.shape().to_vec(), normal)?);
    Ok(running)
}

/// Normalizes each row of the dims from the axis on, then applies scale and bias. Further results are the mean and the
/// inverse deviation. Only float32 is evaluated; other types are rounded at intermediate steps.
pub(crate) fn layer_normalization<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let x = call.input(0)?;
    let is_single = x.dtype() == DType::F32 && call.int_or("stash_type", 1)? == 1;
    ensure!(
        is_single,
        "unsupported element type or `stash_type`: expected f32"
    );
    let at = axis(call.int_or("axis", -1)?, x.rank())?;
    let (outer, inner) = x.shape().split_at(at);
    let length: usize = inner.iter().product();
    ensure!(length > 0, "mean of no elements is undefined");
    let numbers = |operand: &Tensor| {
        let fits = operand.dtype() == DType::F32 && operand.shape() == inner;
        ensure!(
            fits,
            "expected scale and bias of element type f32 and shape {inner:?}"
        );
        doubles(operand)
    };
    let scale = numbers(call.input(1)?)?;
    let bias = call.optional(2).map(numbers).transpose()?;
    let epsilon = call.number("epsilon")?;
    call.room_for(x.dtype(), x.shape())?;
    let wide = doubles(x)?;
    let (mut normal, mut means, mut factors) = (Vec::with_capacity(wide.len()), vec![], vec![]);
    for row in wide.chunks(length) {
        let average = |values: &dyn Fn(f64) -> f64| {
            row.iter().map(|&x| values(x)).sum::<f64>() / length as f64
        };
        let mean = average(&|x| x);
        let factor = 1.0 / (average(&|x| (x - mean).powi(2)) + epsilon).sqrt();
        let each = |(at, x): (usize, &f64)| {
            let bias = bias.as_ref().map_or(0.0, |bias| bias[at]);
            (x - mean) * factor * scale[at] + bias
        };
        normal.extend(row.iter().enumerate().map(each));
        means.push(mean);
        factors.push(factor);
    }
    let once = [outer, &vec![1; inner.len()]].concat();
    let results = [
        (x.shape().to_vec(), normal),
        (once.clone(), means),
        (once, factors),
    ];
    let results = results.into_iter().take(call.outputs.max(1));
    results
        .map(|(shape, values)| rounded(DType::F32, shape, values))
        .collect()
}

/// The channels of a tensor, its second dim.
struct Channels {
    count: usize,
    /// The number of contiguous elements of a channel.
    inner: usize,
}

impl Channels {
    fn new(x: &Tensor) -> Result<Channels, NotFolded> {
        match x.shape() {
            [_, count, inner @ ..] => Ok(Channels {
                count: *count,
                inner: inner.iter().product(),
            }),
            _ => reject!("operand 0 has rank {}, expected at least 2", x.rank()),
        }
    }

    /// Returns an operand with one number per channel, of the first operand's type.
    fn numbers(&self, call: &Call, operand: usize) -> Result<Vec<f64>, NotFolded> {
        let (x, numbers, count) = (call.input(0)?, call.input(operand)?, self.count);
        let fits = numbers.dtype() == x.dtype() && numbers.shape() == [count];
        if !fits {
            let name = name_of(x.dtype());
            return reject!(
                "expected operand {operand} to have shape [{count}] and element type {name}"
            );
        }
        doubles(numbers)
    }

    /// Iterates over the contiguous runs of elements with their channels.
    fn runs<'x>(&self, elements: &'x [f64]) -> impl Iterator<Item = (usize, &'x [f64])> {
        let count = self.count.max(1);
        let runs = elements.chunks(self.inner.max(1)).enumerate();
        runs.map(move |(at, run)| (at % count, run))
    }

    /// Returns the mean and the variance of each channel.
    fn moments(&self, elements: &[f64]) -> Result<(Vec<f64>, Vec<f64>), NotFolded> {
        let each = elements.len() / self.count.max(1);
        ensure!(each > 0, "mean of no elements is undefined");
        let averages = |values: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; self.count];
            for (channel, run) in self.runs(elements) {
                sums[channel] += run.iter().map(|x| values(channel, *x)).sum::<f64>();
            }
            sums.iter_mut().for_each(|sum| *sum /= each as f64);
            sums
        };
        let means = averages(&|_, x| x);
        let variances = averages(&|channel, x| (x - means[channel]).powi(2));
        Ok((means, variances))
    }
}
