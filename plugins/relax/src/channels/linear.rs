//! [`Linear`]: convolutions and matrix products with constant weights.

use passdock_plugin_api::prelude::*;

use super::constants::{Axis, KnownTensor};
use super::numbers::{self, Numbers};
use crate::shared::read::{explicit_pads, float_or, int_or, operand, operator, unless_no_match};

/// An op that multiplies its data operand by constant weights.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) op: OpId,
    pub(crate) kind: Kind,
    pub(crate) weights: KnownTensor,
    /// The operand that is added to the product, if any.
    pub(crate) bias: Option<ValueId>,
    /// The weights as rows, columns, and elements per row and column.
    sizes: [usize; 3],
    groups: usize,
    /// Gemm's factors of the product and of the bias.
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

/// The channels along which weights are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Input,
    Output,
}

impl Linear {
    pub(crate) fn from_op(f: &Function, op: OpId) -> Result<Linear, EditError> {
        let is = |name: &str, expected: i64| int_or(f, op, name, 0) == Some(expected);
        let kind = match operator(f, op) {
            "onnx.Conv" => Kind::Conv,
            "onnx.ConvTranspose" => Kind::ConvTranspose,
            "onnx.Gemm" if is("transA", 0) && is("transB", 0) => Kind::Gemm,
            "onnx.Gemm" if is("transA", 0) && is("transB", 1) => Kind::GemmTransposed,
            "onnx.MatMul" => Kind::MatMul,
            _ => return Err(NoMatch.into()),
        };
        let is_gemm = matches!(kind, Kind::Gemm | Kind::GemmTransposed);
        let known = |index: usize| KnownTensor::from_value(f, operand(f, op, index));
        let may_be_left = kind == Kind::MatMul && f.rank(operand(f, op, 1)) >= Some(2);
        let (kind, weights) = match unless_no_match(known(1))? {
            Some(weights) => (kind, weights),
            None => {
                NoMatch::unless(may_be_left)?;
                (Kind::MatMulLeft, known(0)?)
            }
        };
        let groups = int_or(f, op, "group", 1).filter(|groups| *groups > 0);
        let groups = groups.ok_or(NoMatch)? as usize;
        let alpha = float_or(f, op, "alpha", 1.0).ok_or(NoMatch)?.into();
        let beta = float_or(f, op, "beta", 1.0).ok_or(NoMatch)?.into();
        // Before opset 7, an attribute defines how the third operand broadcasts.
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
            _ => return Err(NoMatch.into()),
        };
        NoMatch::unless(!is_old && !sizes.contains(&0) && sizes[0] % groups == 0)?;
        Ok(Linear {
            op,
            kind,
            bias: match kind {
                Kind::MatMul | Kind::MatMulLeft => None,
                _ => operand(f, op, 2).option(),
            },
            weights,
            sizes,
            groups,
            alpha,
            beta,
        })
    }

    /// Returns the index of the data operand.
    pub(crate) fn data_at(&self) -> usize {
        usize::from(self.kind == Kind::MatMulLeft)
    }

    /// Returns the index of the weights.
    pub(crate) fn weights_at(&self) -> usize {
        1 - self.data_at()
    }

    /// Returns the channel axis of the data operand or of the result. For a MatMul of unknown rank, the rank is assumed
    /// to be 1.
    pub(crate) fn axis(&self, f: &Function, side: Side) -> Axis {
        let [rows, columns, _] = self.sizes;
        let dims = self.weights.dims.len();
        let grouped = columns * self.groups;
        // The rows of one matrix; the weights may be a batch of matrices.
        let matrix_rows = self.weights.dims[dims - 2] as usize;
        let is_output = side == Side::Output;
        let data = f.rank(operand(f, self.op, self.data_at()));
        let (rank, at, [input, output]) = match self.kind {
            Kind::Conv => (dims, 1, [grouped, rows]),
            Kind::ConvTranspose => (dims, 1, [rows, grouped]),
            Kind::Gemm => (2, 1, [rows, columns]),
            Kind::GemmTransposed => (2, 1, [columns, rows]),
            Kind::MatMul => {
                let result = f.rank(f.result(self.op, 0));
                let rank = if is_output { result } else { data }.unwrap_or(1).max(1);
                (rank, rank - 1, [matrix_rows, columns])
            }
            Kind::MatMulLeft => {
                let data = data.unwrap_or(2).max(2);
                let rank = if is_output { data.max(dims) } else { data };
                (rank, rank - 2, [columns, matrix_rows])
            }
        };
        let channels = if is_output { output } else { input };
        Axis { rank, at, channels }
    }

    pub(crate) fn output(&self, f: &Function) -> Axis {
        self.axis(f, Side::Output)
    }

    /// Returns the channel that a row and column of the weights belong to.
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
                row % self.weights.dims[self.weights.dims.len() - 2] as usize
            }
            (Kind::MatMulLeft, Side::Input) => column,
            (Kind::GemmTransposed, Side::Output) => row,
            (Kind::GemmTransposed, Side::Input) => column,
        }
    }

    /// Returns the scaled elements of the weights.
    ///
    /// Fails with [`NoMatch`] if rounding loses too much: an element becomes infinite, or all elements of a channel
    /// become subnormal.
    pub(crate) fn scaled(
        &self,
        f: &Function,
        side: Side,
        factor: &Numbers,
    ) -> Result<Vec<u8>, EditError> {
        let dtype = self.weights.dtype;
        let size = numbers::size_of(dtype).ok_or(NoMatch)?;
        let bytes = f.constant_data(self.weights.value)?.ok_or(NoMatch)?;
        let [rows, columns, inner] = self.sizes;
        NoMatch::unless(bytes.len() == rows * columns * inner * size)?;
        let mut scaled = Vec::with_capacity(bytes.len());
        let mut largest = vec![0_f64; self.axis(f, side).channels];
        for (at, elements) in bytes.chunks_exact(inner * size).enumerate() {
            let channel = self.channel(side, at / columns, at % columns);
            let factor = factor.at(channel);
            for element in elements.chunks_exact(size) {
                let number = numbers::read(dtype, element) * factor;
                NoMatch::unless(numbers::push(dtype, number, &mut scaled).is_some())?;
                largest[channel] = largest[channel].max(number.abs());
            }
        }
        let is_kept = |&size: &f64| size == 0.0 || size >= numbers::smallest(dtype);
        NoMatch::unless(largest.iter().all(is_kept))?;
        Ok(scaled)
    }

    /// Returns how much each channel of the result grows if `offset` is added to the channels of the data operand.
    pub(crate) fn applied(&self, f: &Function, offset: &Numbers) -> Result<Numbers, EditError> {
        let dtype = self.weights.dtype;
        let [rows, columns, inner] = self.sizes;
        let mut gained = vec![0_f64; self.output(f).channels];
        let bytes = match self.weights.splat {
            Some(_) => None,
            None => f.constant_data(self.weights.value)?,
        };
        let size = numbers::size_of(dtype).ok_or(NoMatch)?;
        NoMatch::unless(self.kind != Kind::ConvTranspose)?;
        for row in 0..rows {
            for column in 0..columns {
                let at = (row * columns + column) * inner * size;
                let weight = match (bytes, self.weights.splat) {
                    (Some(bytes), _) => {
                        let elements = bytes.get(at..at + inner * size).ok_or(NoMatch)?;
                        let elements = elements.chunks_exact(size);
                        elements.map(|element| numbers::read(dtype, element)).sum()
                    }
                    (None, splat) => splat.ok_or(NoMatch)? * inner as f64,
                };
                let from = self.channel(Side::Input, row, column);
                let to = self.channel(Side::Output, row, column);
                gained[to] += self.alpha * weight * offset.at(from);
            }
        }
        Ok(Numbers::new(gained))
    }

    /// Returns the current bias of each channel. Fails with [`NoMatch`] if it is unknown or varies along another axis.
    pub(crate) fn added(&self, f: &Function) -> Result<Numbers, EditError> {
        let Some(bias) = self.bias else {
            return Ok(Numbers::every(0.0));
        };
        let output = self.output(f);
        let axis = match self.kind {
            Kind::Conv | Kind::ConvTranspose => Axis::list(output.channels),
            _ => output,
        };
        let numbers = super::constants::along(f, bias, axis)?;
        Ok(numbers.map(|number| number * self.beta))
    }

    /// Returns a key that distinguishes weights that are scaled differently.
    pub(crate) fn layout(&self) -> (Kind, usize) {
        (self.kind, self.groups)
    }

    /// Whether the op reads no padding.
    pub(crate) fn is_unpadded(&self, f: &Function) -> bool {
        match self.kind {
            Kind::Conv => {
                let count = 2 * (self.weights.dims.len() - 2);
                explicit_pads(f, self.op, count)
                    .is_some_and(|pads| pads.iter().all(|&pad| pad == 0))
            }
            Kind::ConvTranspose => false,
            _ => true,
        }
    }
}
