//! BatchNormalization. Exporters write it over weights, to give each of their channels the mean 0 and the variance 1.

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
        let channels = Channels::of(x)?;
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
    fn of(x: &Tensor) -> Result<Channels, NotFolded> {
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
