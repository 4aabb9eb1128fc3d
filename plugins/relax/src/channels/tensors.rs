//! [`Tensors`]: a pool of the tensors that a pass creates, without duplicates.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::constants::KnownTensor;
use super::linear::{Kind, Linear, Side};
use super::numbers::{self, Numbers};
use crate::shared::read::{add_tensor, unless_no_match};

/// The estimated overhead of a constant in a file, in bytes.
pub(super) const CONSTANT: i64 = 32;
/// The maximum number of bytes of weights that one pass reads, whether it folds them or not: the results must fit in
/// memory.
const MAX_BYTES: u64 = 256 << 20;

/// A tensor to create.
pub(super) enum New {
    Constant(Content, Option<Scaled>),
    /// An `onnx.ConstantOfShape` at the start of the region of an op, with the op's location.
    Splat(Content, OpId),
    /// Scaled weights that exist already.
    Existing(ValueId),
}

/// The elements of a tensor; a splat has one. Elements of scaled weights are computed when the fold is applied.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Content {
    dtype: DType,
    pub(super) dims: Vec<i64>,
    bytes: Vec<u8>,
}

impl Content {
    /// Returns the size of all elements in bytes.
    fn byte_len(&self) -> u64 {
        let size = numbers::size_of(self.dtype).unwrap_or(0) as u64;
        let count = self.dims.iter().map(|&dim| dim.max(0) as u64);
        count.fold(size, u64::saturating_mul)
    }
}

/// Weights and how they were scaled.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Scaled {
    weights: ValueId,
    layout: (Kind, usize),
    side: Side,
    factor: Vec<u64>,
}

/// The key of a tensor in the pool.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Constant(Content),
    Splat(Content, RegionId),
    Scaled(Scaled),
}

impl New {
    /// Returns the bytes that the tensor adds to a file.
    pub(super) fn cost(&self) -> i64 {
        match self {
            New::Constant(content, _) => content.byte_len() as i64 + CONSTANT,
            New::Splat(..) | New::Existing(_) => 0,
        }
    }
}

/// The tensors that were created so far.
#[derive(Default)]
pub(super) struct Tensors {
    values: HashMap<Key, ValueId>,
    /// Weights that would lose too much precision if they were scaled.
    lost: HashSet<Scaled>,
    /// The bytes of all weights that were read so far.
    read: u64,
}

impl Tensors {
    /// Returns the scaled weights of an op, not yet computed. `None` if they are too large or lose too much precision.
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
        let is_small = self.read.saturating_add(weights.byte_len(f)) <= MAX_BYTES;
        let may_be = is_small && !self.lost.contains(&key);
        may_be.then_some(New::Constant(content, Some(key)))
    }

    /// Records that weights are read. Returns `false`, and records nothing, if the total would exceed [`MAX_BYTES`].
    pub(super) fn may_read(&mut self, f: &Function, weights: &KnownTensor) -> bool {
        let read = self.read.saturating_add(weights.byte_len(f));
        if read <= MAX_BYTES {
            self.read = read;
        }
        read <= MAX_BYTES
    }

    /// Computes the elements of scaled weights. Fails if they lose too much precision, which is recorded, or can't be
    /// read.
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
        let scaled = unless_no_match(linear.scaled(f, side, factor))?;
        if scaled.is_none() {
            self.lost.insert(key.clone());
        }
        content.bytes = scaled.ok_or(NoMatch)?;
        Ok(())
    }

    /// Returns the value of a tensor, and creates it if necessary.
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

/// Returns a constant with one number per channel; `None` if the element type can't represent a number.
pub(super) fn list(dtype: DType, dims: Vec<i64>, numbers: &Numbers) -> Option<New> {
    let count = dims.iter().product::<i64>().max(0) as usize;
    let mut bytes = Vec::new();
    for channel in 0..count {
        numbers::push(dtype, numbers.at(channel), &mut bytes)?;
    }
    Some(New::Constant(Content { dtype, dims, bytes }, None))
}

/// Returns the tensor as a splat if all numbers are equal and a constant would have more than 64 elements.
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

/// Returns the scaled splat; `None` if the factors of the channels differ or precision is lost.
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

/// Creates an `onnx.ConstantOfShape` at the start of an op's region, with the op's location. If the op is a
/// ConstantOfShape of the same shape, the new op shares its shape operand.
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
    let mut created = OpBuilder::new("onnx.ConstantOfShape")
        .operand(shape)
        .result(ty)
        .loc(f.loc(op));
    if let Some(id) = f.constant(element) {
        created = created.attr("value", AttrValue::Tensor(id));
    }
    let at = Position {
        region,
        before: f.first_op(region).unwrap_or(OpId::NONE),
    };
    let created = f.create_op(created, at)?;
    f.erase_dead(element)?;
    Ok(f.result(created, 0))
}
