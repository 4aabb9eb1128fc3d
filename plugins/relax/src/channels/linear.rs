//! [`Linear`]: convolutions and matrix products with known weights.

use passdock_plugin_api::prelude::*;

use super::constants::{Axis, KnownTensor};
use super::numbers::{self, Numbers};
use super::operator;

/// An op that multiplies by weights, which are known.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) op: OpId,
    pub(crate) kind: Kind,
    pub(crate) weights: KnownTensor,
    /// What is added, if anything is.
    pub(crate) bias: Option<ValueId>,
    /// Weights as rows, columns and what is nested in both.
    sizes: [usize; 3],
    groups: usize,
    /// Gemm's factors of the product and of what is added.
    alpha: f64,
    beta: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Conv,
    ConvTranspose,
    /// Gemm with weights `[K, N]`.
    Gemm,
    /// Gemm with weights `[N, K]`.
    GemmTransposed,
    MatMul,
    /// MatMul with weights as its first operand.
    MatMulLeft,
}

/// The channels that weights are multiplied along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Input,
    Output,
}

impl Linear {
    pub(crate) fn from_op(f: &Function, op: OpId) -> Result<Option<Linear>, EditError> {
        let is = |name: &str, wanted: i64| match f.attr(op, name) {
            None => wanted == 0,
            Some(value) => matches!(value, Attr::Int(value) if value == wanted),
        };
        let kind = match operator(f, op) {
            "onnx.Conv" => Kind::Conv,
            "onnx.ConvTranspose" => Kind::ConvTranspose,
            "onnx.Gemm" if is("transA", 0) && is("transB", 0) => Kind::Gemm,
            "onnx.Gemm" if is("transA", 0) && is("transB", 1) => Kind::GemmTransposed,
            "onnx.MatMul" => Kind::MatMul,
            _ => return Ok(None),
        };
        let is_gemm = matches!(kind, Kind::Gemm | Kind::GemmTransposed);
        let known = |index: usize| {
            let value = f.operand(op, index).filter(|value| value.is_some());
            value.map_or(Ok(None), |value| KnownTensor::from_value(f, value))
        };
        let is_left = kind == Kind::MatMul && f.operand(op, 1).and_then(|x| f.rank(x)) >= Some(2);
        let (kind, weights) = match (known(1)?, is_left) {
            (Some(weights), _) => (kind, weights),
            (None, true) => match known(0)? {
                Some(weights) => (Kind::MatMulLeft, weights),
                None => return Ok(None),
            },
            (None, false) => return Ok(None),
        };
        let groups = match f.attr(op, "group") {
            Some(Attr::Int(groups)) if groups > 0 => groups as usize,
            None => 1,
            Some(_) => return Ok(None),
        };
        let float = |name: &str| match f.attr(op, name) {
            Some(Attr::Float(float)) => Some(f64::from(float)),
            None => Some(1.0),
            Some(_) => None,
        };
        let (Some(alpha), Some(beta)) = (float("alpha"), float("beta")) else {
            return Ok(None);
        };
        // The version before says by an attribute how the third operand is spread.
        let is_old = is_gemm && f.opset("").is_none_or(|version| version < 7);
        let dims: Vec<usize> = weights
            .dims
            .iter()
            .map(|&size| size.max(0) as usize)
            .collect();
        let sizes = match (kind, &dims[..]) {
            (Kind::Conv | Kind::ConvTranspose, &[rows, columns, ref inner @ ..])
                if !inner.is_empty() =>
            {
                [rows, columns, inner.iter().product()]
            }
            (Kind::MatMul | Kind::MatMulLeft, &[ref outer @ .., rows, columns]) => {
                [outer.iter().product::<usize>() * rows, columns, 1]
            }
            (Kind::Gemm | Kind::GemmTransposed, &[rows, columns]) => [rows, columns, 1],
            _ => return Ok(None),
        };
        if is_old || sizes.contains(&0) || sizes[0] % groups != 0 {
            return Ok(None);
        }
        Ok(Some(Linear {
            op,
            kind,
            bias: match kind {
                Kind::MatMul | Kind::MatMulLeft => None,
                _ => f.operand(op, 2).filter(|value| value.is_some()),
            },
            weights,
            sizes,
            groups,
            alpha,
            beta,
        }))
    }

    /// The index of the operand that isn't the weights.
    pub(crate) fn data_at(&self) -> usize {
        usize::from(self.kind == Kind::MatMulLeft)
    }

    /// The index of the weights.
    pub(crate) fn weights_at(&self) -> usize {
        1 - self.data_at()
    }

    pub(crate) fn result(&self, f: &Function) -> ValueId {
        f.result(self.op, 0)
    }

    /// Where the channels of the result are; of a MatMul, whose result's rank isn't always known, counted as if it
    /// had one axis.
    pub(crate) fn output(&self, f: &Function) -> Axis {
        let [rows, columns, _] = self.sizes;
        let rank = self.weights.dims.len();
        let (rank, at, channels) = match self.kind {
            Kind::Conv => (rank, 1, rows),
            Kind::ConvTranspose => (rank, 1, columns * self.groups),
            Kind::Gemm => (2, 1, columns),
            Kind::GemmTransposed => (2, 1, rows),
            Kind::MatMul => {
                let rank = f.rank(self.result(f)).unwrap_or(1).max(1);
                (rank, rank - 1, columns)
            }
            Kind::MatMulLeft => {
                let rank = self.rank_of_data(f).max(rank);
                (rank, rank - 2, self.matrix_rows())
            }
        };
        Axis { rank, at, channels }
    }

    /// The rank of the operand that a product has on its right.
    fn rank_of_data(&self, f: &Function) -> usize {
        let data = f.operand(self.op, self.data_at());
        data.and_then(|x| f.rank(x)).unwrap_or(2).max(2)
    }

    /// The rows of one of the matrices that the weights are.
    fn matrix_rows(&self) -> usize {
        self.weights.dims[self.weights.dims.len() - 2] as usize
    }

    /// Where the channels of the operand are.
    pub(crate) fn input(&self, f: &Function) -> Axis {
        let [rows, columns, _] = self.sizes;
        let rank = self.weights.dims.len();
        let (rank, at, channels) = match self.kind {
            Kind::Conv => (rank, 1, columns * self.groups),
            Kind::ConvTranspose => (rank, 1, rows),
            Kind::Gemm => (2, 1, rows),
            Kind::GemmTransposed => (2, 1, columns),
            Kind::MatMul => {
                let operand = f.operand(self.op, 0).and_then(|x| f.rank(x));
                let rank = operand.unwrap_or(1).max(1);
                (rank, rank - 1, self.matrix_rows())
            }
            Kind::MatMulLeft => {
                let rank = self.rank_of_data(f);
                (rank, rank - 2, columns)
            }
        };
        Axis { rank, at, channels }
    }

    /// The channel of a row and a column of the weights.
    fn channel(&self, side: Side, row: usize, column: usize) -> usize {
        let [rows, columns, _] = self.sizes;
        let group = row / (rows / self.groups);
        match (self.kind, side) {
            (Kind::Conv, Side::Output) => row,
            (Kind::Conv, Side::Input) => group * columns + column,
            (Kind::ConvTranspose, Side::Output) => group * columns + column,
            (Kind::ConvTranspose, Side::Input) => row,
            (Kind::Gemm | Kind::MatMul, Side::Output) => column,
            (Kind::Gemm, Side::Input) => row,
            (Kind::MatMul, Side::Input) | (Kind::MatMulLeft, Side::Output) => {
                row % self.matrix_rows()
            }
            (Kind::MatMulLeft, Side::Input) => column,
            (Kind::GemmTransposed, Side::Output) => row,
            (Kind::GemmTransposed, Side::Input) => column,
        }
    }

    /// The elements of the weights, multiplied; `None` if too much would be lost by rounding: an element would be
    /// infinite, or all of a channel's smaller than what the type has all digits of.
    pub(crate) fn scaled(
        &self,
        f: &Function,
        side: Side,
        factor: &Numbers,
    ) -> Result<Option<Vec<u8>>, EditError> {
        let dtype = self.weights.dtype;
        let (Some(size), Some(bytes)) = (
            numbers::size_of(dtype),
            f.constant_data(self.weights.value)?,
        ) else {
            return Ok(None);
        };
        let [rows, columns, inner] = self.sizes;
        if bytes.len() != rows * columns * inner * size {
            return Ok(None);
        }
        let mut scaled = Vec::with_capacity(bytes.len());
        let axis = match side {
            Side::Output => self.output(f),
            Side::Input => self.input(f),
        };
        let mut largest = vec![0_f64; axis.channels];
        for (at, elements) in bytes.chunks_exact(inner * size).enumerate() {
            let channel = self.channel(side, at / columns, at % columns);
            let factor = factor.at(channel);
            for element in elements.chunks_exact(size) {
                let number = numbers::read(dtype, element) * factor;
                if numbers::push(dtype, number, &mut scaled).is_none() {
                    return Ok(None);
                }
                largest[channel] = largest[channel].max(number.abs());
            }
        }
        let is_kept = |&size: &f64| size == 0.0 || size >= numbers::smallest(dtype);
        Ok(largest.iter().all(is_kept).then_some(scaled))
    }

    /// What the result gains, channel by channel, if a number is added to each channel of the operand.
    pub(crate) fn applied(
        &self,
        f: &Function,
        offset: &Numbers,
    ) -> Result<Option<Numbers>, EditError> {
        let dtype = self.weights.dtype;
        let [rows, columns, inner] = self.sizes;
        let mut gained = vec![0_f64; self.output(f).channels];
        let bytes = match self.weights.splat {
            Some(_) => None,
            None => f.constant_data(self.weights.value)?,
        };
        let (Some(size), true) = (numbers::size_of(dtype), self.kind != Kind::ConvTranspose) else {
            return Ok(None);
        };
        for row in 0..rows {
            for column in 0..columns {
                let at = (row * columns + column) * inner * size;
                let weight = match (bytes, self.weights.splat) {
                    (Some(bytes), _) => match bytes.get(at..at + inner * size) {
                        Some(elements) => elements
                            .chunks_exact(size)
                            .map(|element| numbers::read(dtype, element))
                            .sum(),
                        None => return Ok(None),
                    },
                    (None, Some(number)) => number * inner as f64,
                    (None, None) => return Ok(None),
                };
                let from = self.channel(Side::Input, row, column);
                let to = self.channel(Side::Output, row, column);
                gained[to] += self.alpha * weight * offset.at(from);
            }
        }
        Ok(Some(Numbers::new(gained)))
    }

    /// What is added to each channel of the product now; `None` if that isn't known, or isn't the same along all
    /// other axes.
    pub(crate) fn added(&self, f: &Function) -> Result<Option<Numbers>, EditError> {
        let Some(bias) = self.bias else {
            return Ok(Some(Numbers::every(0.0)));
        };
        let output = self.output(f);
        let axis = match self.kind {
            Kind::Conv | Kind::ConvTranspose => Axis {
                rank: 1,
                at: 0,
                ..output
            },
            _ => output,
        };
        let beta = self.beta;
        let numbers = super::constants::along(f, bias, axis)?;
        Ok(numbers.map(|numbers| numbers.map(|number| number * beta)))
    }

    /// What tells apart weights that are multiplied in another way.
    pub(crate) fn layout(&self) -> (Kind, usize) {
        (self.kind, self.groups)
    }

    /// Whether all windows of a convolution lie inside its operand.
    pub(crate) fn is_unpadded(&self, f: &Function) -> bool {
        let pads_nothing = match f.attr(self.op, "pads") {
            None => true,
            Some(Attr::Ints(pads)) => pads.iter().all(|&pad| pad == 0),
            Some(_) => false,
        };
        let is_said = match f.attr(self.op, "auto_pad") {
            None => true,
            Some(Attr::String(auto)) => auto == b"NOTSET" || auto == b"VALID",
            Some(_) => false,
        };
        match self.kind {
            Kind::Conv => pads_nothing && is_said,
            Kind::ConvTranspose => false,
            _ => true,
        }
    }
}
