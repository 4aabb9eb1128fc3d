//! Adapters: each converts ops to a version in which the operator changed.

use std::collections::HashMap;

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

use super::{operands, resize, softmax, training};
use crate::shared::read::add_tensor;

/// Converts an op from the previous version. Returns the converted op.
pub(super) type Adapt = fn(&mut Site<'_>, OpId) -> Result<OpId, Stop>;

/// The operator, its version, and the adapter that converts ops to that version.
const ADAPTERS: &[(&str, i64, Adapt)] = &[
    ("BatchNormalization", 7, training::without_training),
    ("BatchNormalization", 9, training::by_channel),
    ("BatchNormalization", 14, training::one_result),
    ("Clip", 11, operands::bounds),
    ("Dropout", 7, training::without_training),
    ("Dropout", 10, training::with_bools),
    ("Dropout", 12, training::ratio),
    ("Hardmax", 13, softmax::along_one_axis),
    ("LogSoftmax", 13, softmax::along_one_axis),
    ("Pad", 2, operands::paddings),
    ("Pad", 11, operands::pads),
    ("ReduceL1", 18, operands::axes_of_some),
    ("ReduceL2", 18, operands::axes_of_some),
    ("ReduceLogSum", 18, operands::axes_of_some),
    ("ReduceLogSumExp", 18, operands::axes_of_some),
    ("ReduceMax", 18, operands::axes_of_some),
    ("ReduceMean", 18, operands::axes_of_some),
    ("ReduceMin", 18, operands::axes_of_some),
    ("ReduceProd", 18, operands::axes_of_some),
    ("ReduceSum", 13, operands::axes_of_some),
    ("ReduceSumSquare", 18, operands::axes_of_some),
    ("Resize", 11, resize::set_coordinate_mode),
    ("Resize", 13, resize::sizes_or_scales),
    ("Slice", 10, operands::ranges),
    ("Softmax", 13, softmax::along_one_axis),
    ("Split", 13, |site, op| site.attr_to_operand(op, "split", 1)),
    ("Split", 18, operands::number_of_pieces),
    ("Squeeze", 13, operands::axes),
    ("Unsqueeze", 13, operands::axes_of_unsqueeze),
];

/// Returns the adapter that converts ops to a version of an operator.
pub(super) fn find(operator: &str, version: i64) -> Option<Adapt> {
    let mut adapters = ADAPTERS.iter();
    let found = adapters.find(|(name, since, _)| *name == operator && *since == version);
    found.map(|(.., adapt)| *adapt)
}

/// Returns the operators and versions that have adapters.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = (&'static str, i64)> {
    ADAPTERS.iter().map(|(name, version, _)| (*name, *version))
}

/// The reason why an op isn't converted.
pub(super) enum Stop {
    /// The op has no equivalent. The text completes a sentence.
    Unsupported(String),
    /// An edit failed.
    Failed(EditError),
}

impl From<&str> for Stop {
    fn from(why: &str) -> Stop {
        Stop::Unsupported(why.to_owned())
    }
}

impl From<EditError> for Stop {
    fn from(error: EditError) -> Stop {
        Stop::Failed(error)
    }
}

/// The function that is converted.
pub(super) struct Site<'s> {
    pub(super) f: &'s mut Function,
    pub(super) cx: &'s PassContext,
    /// The target opset, which the function imports already.
    pub(super) to: i64,
    /// The integer constants that were created, by elements.
    ints: HashMap<Vec<i64>, ValueId>,
}

impl<'s> Site<'s> {
    pub(super) fn new(f: &'s mut Function, cx: &'s PassContext, to: i64) -> Site<'s> {
        Site {
            f,
            cx,
            to,
            ints: HashMap::new(),
        }
    }

    /// Returns an int64 constant of rank 1; created once per list.
    pub(super) fn constant_ints(&mut self, ints: &[i64]) -> Result<ValueId, EditError> {
        if let Some(&known) = self.ints.get(ints) {
            return Ok(known);
        }
        let created = self.f.add_ints(ints)?;
        self.ints.insert(ints.to_vec(), created);
        Ok(created)
    }

    /// Creates a scalar constant with the element type of an op's first operand.
    pub(super) fn constant_like(&mut self, op: OpId, number: f64) -> Result<ValueId, Stop> {
        let dtype = self.f.operand(op, 0).and_then(|x| self.f.dtype(x));
        let is_float = |dtype: &DType| matches!(*dtype, DType::F16 | DType::F32 | DType::F64);
        let dtype = dtype.filter(is_float);
        let dtype = dtype.ok_or("the operand's element type is not known to be f16, f32 or f64")?;
        let mut bytes = Vec::new();
        element::push(dtype, number, &mut bytes);
        Ok(add_tensor(self.f, dtype, &[], &bytes)?)
    }

    /// Removes and returns an attribute that is a list of integers.
    pub(super) fn take_ints(&mut self, op: OpId, name: &str) -> Result<Option<Vec<i64>>, Stop> {
        self.take(op, name, |attr| match attr {
            Attr::Ints(ints) => Some(ints.to_vec()),
            _ => None,
        })
    }

    /// Removes and returns an attribute that is a float.
    pub(super) fn take_float(&mut self, op: OpId, name: &str) -> Result<Option<f32>, Stop> {
        self.take(op, name, |attr| match attr {
            Attr::Float(float) => Some(float),
            _ => None,
        })
    }

    /// Removes and returns an attribute that is an integer.
    pub(super) fn take_int(&mut self, op: OpId, name: &str) -> Result<Option<i64>, Stop> {
        self.take(op, name, |attr| match attr {
            Attr::Int(int) => Some(int),
            _ => None,
        })
    }

    /// Removes and returns an attribute, if present.
    fn take<T>(
        &mut self,
        op: OpId,
        name: &str,
        read: fn(Attr<'_>) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        let Some(attr) = self.f.attr(op, name) else {
            return Ok(None);
        };
        let value = read(attr).ok_or_else(|| unreadable(name, &attr))?;
        self.f.remove_attr(op, name)?;
        Ok(Some(value))
    }

    /// Converts an attribute that is a list of integers to an operand.
    pub(super) fn attr_to_operand(
        &mut self,
        op: OpId,
        name: &str,
        index: usize,
    ) -> Result<OpId, Stop> {
        if let Some(ints) = self.take_ints(op, name)? {
            let ints = self.constant_ints(&ints)?;
            self.set_operand(op, index, ints)?;
        }
        Ok(op)
    }

    /// Sets an operand. Missing operands before it are absent.
    pub(super) fn set_operand(
        &mut self,
        op: OpId,
        index: usize,
        value: ValueId,
    ) -> Result<(), EditError> {
        while self.f.operand_count(op) < index {
            let next = self.f.operand_count(op);
            self.f.set_operand(op, next, ValueId::NONE)?;
        }
        self.f.set_operand(op, index, value)
    }
}

fn unreadable(name: &str, attr: &Attr<'_>) -> Stop {
    Stop::Unsupported(match attr {
        Attr::Reference(..) => {
            format!("attribute `{name}` refers to a parameter of the function, and operands cannot")
        }
        _ => format!("attribute `{name}` has the wrong type"),
    })
}
