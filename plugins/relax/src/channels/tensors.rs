//! [`Tensors`]: what a pass makes of weights, each once.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::constants::KnownTensor;
use super::linear::{Kind, Linear, Side};
use super::numbers::{self, Numbers};
use crate::shared::read::{add_tensor, optional};

/// The bytes that a constant takes in a file beside its own.
pub(super) const CONSTANT: i64 = 32;
/// The largest number of bytes of weights that a pass reads, whether it folds them or not: all that it makes of them
/// has to fit into memory.
const MOST: u64 = 256 << 20;

/// A tensor to make.
pub(super) enum New {
    Constant(Content, Option<Scaled>),
    /// An `onnx.ConstantOfShape` in the region of an op, and with its location.
    Splat(Content, OpId),
    /// Weights that were multiplied so before.
    Existing(ValueId),
}

/// Elements; of a splat one. Those of weights are computed when the weights are folded.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Content {
    dtype: DType,
    pub(super) dims: Vec<i64>,
    bytes: Vec<u8>,
}

impl Content {
    /// The bytes of all elements.
    fn byte_len(&self) -> u64 {
        let size = numbers::size_of(self.dtype).unwrap_or(0) as u64;
        let count = self.dims.iter().map(|&dim| dim.max(0) as u64);
        count.fold(size, u64::saturating_mul)
    }
}

/// Weights, and how they were multiplied.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Scaled {
    weights: ValueId,
    layout: (Kind, usize),
    side: Side,
    factor: Vec<u64>,
}

/// The identity of a tensor.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Constant(Content),
    Splat(Content, RegionId),
    Scaled(Scaled),
}

impl New {
    /// The bytes that it adds to a file.
    pub(super) fn cost(&self) -> i64 {
        match self {
            New::Constant(content, _) => content.byte_len() as i64 + CONSTANT,
            New::Splat(..) | New::Existing(_) => 0,
        }
    }
}

/// What was made so far.
#[derive(Default)]
pub(super) struct Tensors {
    values: HashMap<Key, ValueId>,
    /// Weights that lose too much if they are multiplied so.
    lost: HashSet<Scaled>,
    /// The bytes of all weights that were read so far.
    read: u64,
}

impl Tensors {
    /// The weights of an op, to be multiplied along channels; `None` if they would be too large.
    pub(super) fn scaled(
        &self,
        f: &Function,
        linear: &Linear,
        side: Side,
        factor: &Numbers,
    ) -> Option<New> {
        let weights = &linear.weights;
        if let Some(number) = weights.splat {
            return splat(f, weights, number, factor);
        }
        let key = Scaled {
            weights: weights.value,
            layout: linear.layout(),
            side,
            factor: factor.bits(),
        };
        if let Some(value) = self.existing(f, &Key::Scaled(key.clone())) {
            return Some(New::Existing(value));
        }
        let content = Content {
            dtype: weights.dtype,
            dims: weights.dims.clone(),
            bytes: Vec::new(),
        };
        let is_small = self.read.saturating_add(weights.byte_len(f)) <= MOST;
        let may_be = is_small && !self.lost.contains(&key);
        may_be.then_some(New::Constant(content, Some(key)))
    }

    /// Notes that weights are read. Returns `false` if those of the pass would be too large then.
    pub(super) fn may_read(&mut self, f: &Function, weights: &KnownTensor) -> bool {
        let read = self.read.saturating_add(weights.byte_len(f));
        if read <= MOST {
            self.read = read;
        }
        read <= MOST
    }

    /// Computes the elements of weights. Fails if they lose too much, which is noted, or can't be read.
    pub(super) fn fill(
        &mut self,
        f: &Function,
        new: &mut New,
        linear: &Linear,
        side: Side,
        factor: &Numbers,
    ) -> Result<(), EditError> {
        let New::Constant(content, Some(key)) = new else {
            return Ok(());
        };
        NoMatch::unless(self.may_read(f, &linear.weights))?;
        let scaled = optional(linear.scaled(f, side, factor))?;
        if scaled.is_none() {
            self.lost.insert(key.clone());
        }
        content.bytes = scaled.ok_or(NoMatch)?;
        Ok(())
    }

    /// Returns the value of a tensor, which is created if there is none yet.
    pub(super) fn create(&mut self, f: &mut Function, new: New) -> Result<ValueId, EditError> {
        let key = match &new {
            New::Existing(value) => return Ok(*value),
            New::Constant(_, Some(scaled)) => Key::Scaled(scaled.clone()),
            New::Constant(content, None) => Key::Constant(content.clone()),
            New::Splat(content, op) => Key::Splat(content.clone(), f.parent_region(*op)),
        };
        if let Some(value) = self.existing(f, &key) {
            return Ok(value);
        }
        let value = match &new {
            New::Splat(content, op) => create_splat(f, content, *op)?,
            New::Constant(content, _) => {
                add_tensor(f, content.dtype, &content.dims, &content.bytes)?
            }
            New::Existing(value) => *value,
        };
        self.values.insert(key, value);
        Ok(value)
    }

    /// Returns the live value that was created for a key.
    fn existing(&self, f: &Function, key: &Key) -> Option<ValueId> {
        let value = self.values.get(key).copied();
        value.filter(|&value| f.is_live_value(value))
    }
}

/// One number a channel as a constant; `None` if the type doesn't have them.
pub(super) fn list(dtype: DType, dims: Vec<i64>, numbers: &Numbers) -> Option<New> {
    let count = dims.iter().product::<i64>().max(0) as usize;
    let mut bytes = Vec::new();
    for channel in 0..count {
        numbers::push(dtype, numbers.at(channel), &mut bytes)?;
    }
    Some(New::Constant(Content { dtype, dims, bytes }, None))
}

/// The same as a splat, if all numbers are one and a constant would take more room.
pub(super) fn as_splat(new: &New, numbers: &Numbers, op: OpId) -> Option<New> {
    let New::Constant(content, None) = new else {
        return None;
    };
    let dtype = content.dtype;
    let (size, number) = (numbers::size_of(dtype)?, numbers.one()?);
    let mut bytes = Vec::new();
    numbers::push(dtype, number, &mut bytes)?;
    let is_large = content.bytes.len() > 64 * size;
    let dims = content.dims.clone();
    is_large.then_some(New::Splat(Content { dtype, dims, bytes }, op))
}

/// A splat of weights, multiplied.
fn splat(f: &Function, weights: &KnownTensor, number: f64, factor: &Numbers) -> Option<New> {
    let dtype = weights.dtype;
    let op = f.defining_op(weights.value)?;
    let scaled = number * factor.one()?;
    let is_kept = scaled == 0.0 || scaled.abs() >= numbers::smallest(dtype);
    let mut bytes = Vec::new();
    numbers::push(dtype, scaled, &mut bytes).filter(|_| is_kept)?;
    let dims = weights.dims.clone();
    Some(New::Splat(Content { dtype, dims, bytes }, op))
}

/// An `onnx.ConstantOfShape` with the location of an op, and with its sizes if it is one, too, where the op's region
/// begins.
fn create_splat(f: &mut Function, content: &Content, op: OpId) -> Result<ValueId, EditError> {
    let (region, dtype) = (f.parent_region(op), content.dtype);
    let is_alike = f.name(op) == "onnx.ConstantOfShape"
        && f.shape(f.result(op, 0)).as_ref() == Some(&content.dims);
    let shape = match f.operand(op, 0) {
        Some(shape) if is_alike && f.constant(shape).is_some() => shape,
        _ => f.add_ints(&content.dims)?,
    };
    let ty = f.add_type(&TypeSpec::shaped(dtype, &content.dims))?;
    let element = add_tensor(f, dtype, &[1], &content.bytes)?;
    let mut made = OpBuilder::new("onnx.ConstantOfShape")
        .operand(shape)
        .result(ty)
        .loc(f.loc(op));
    if let Some(id) = f.constant(element) {
        made = made.attr("value", AttrValue::Tensor(id));
    }
    let at = Position {
        region,
        before: f.first_op(region).unwrap_or(OpId::NONE),
    };
    let made = f.create_op(made, at)?;
    f.erase_dead(element)?;
    Ok(f.result(made, 0))
}
