//! What adapters are: each takes an op over into a version of its operator that is written otherwise.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::{
    batch_normalization, clip, dropout, pad, reduce, resize, slice, softmax, split, squeeze,
    unsqueeze,
};

/// Rewrites an op of the version before; answers the op that stands for it.
pub(super) type Adapt = fn(&mut Site<'_>, OpId) -> Result<OpId, Stop>;

/// Operators, a version of them, and what takes ops over into it.
pub(super) struct Adapter {
    pub(super) operators: &'static [&'static str],
    pub(super) version: i64,
    pub(super) adapt: Adapt,
}

const ADAPTERS: &[&[Adapter]] = &[
    batch_normalization::ADAPTERS,
    clip::ADAPTERS,
    dropout::ADAPTERS,
    pad::ADAPTERS,
    reduce::ADAPTERS,
    resize::ADAPTERS,
    slice::ADAPTERS,
    softmax::ADAPTERS,
    split::ADAPTERS,
    squeeze::ADAPTERS,
    unsqueeze::ADAPTERS,
];

/// What takes ops of an operator over into a version.
pub(super) fn find(operator: &str, version: i64) -> Option<Adapt> {
    let mut all = ADAPTERS.iter().copied().flatten();
    let found = all.find(|one| one.version == version && one.operators.contains(&operator));
    found.map(|one| one.adapt)
}

/// The operators and versions that there are adapters for.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = (&'static str, i64)> {
    let all = ADAPTERS.iter().copied().flatten();
    all.flat_map(|one| {
        one.operators
            .iter()
            .map(|&operator| (operator, one.version))
    })
}

/// The reason why an op isn't taken over.
pub(super) enum Stop {
    /// It would mean something else: the end of a sentence.
    Refused(String),
    /// An edit failed.
    Failed(EditError),
}

impl Stop {
    pub(super) fn refused(why: impl Into<String>) -> Stop {
        Stop::Refused(why.into())
    }
}

impl From<EditError> for Stop {
    fn from(error: EditError) -> Stop {
        Stop::Failed(error)
    }
}

/// The function that is raised.
pub(super) struct Site<'s> {
    pub(super) f: &'s mut Function,
    pub(super) cx: &'s PassContext,
    /// The opset that it is raised to, which it says already.
    pub(super) to: i64,
    /// The constants that were made, by their elements.
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

    /// A constant of int64 numbers, of rank 1.
    pub(super) fn constant_ints(&mut self, ints: &[i64]) -> Result<ValueId, EditError> {
        if let Some(&known) = self.ints.get(ints) {
            return Ok(known);
        }
        let made = self.f.add_ints(ints)?;
        self.ints.insert(ints.to_vec(), made);
        Ok(made)
    }

    /// A constant of one number, of rank 0, of an op's first operand's element type.
    pub(super) fn constant_like(&mut self, op: OpId, number: f64) -> Result<ValueId, Stop> {
        let dtype = self.f.operand(op, 0).map(|x| self.f.dtype(x));
        let bytes = match dtype {
            Some(DType::F32) => (number as f32).to_le_bytes().to_vec(),
            Some(DType::F64) => number.to_le_bytes().to_vec(),
            Some(DType::F16) => half::f16::from_f64(number).to_le_bytes().to_vec(),
            _ => {
                return Err(Stop::refused(
                    "its operand's element type isn't known, or not one of floats",
                ));
            }
        };
        self.constant_scalar(dtype.unwrap_or(DType::F32), &bytes)
            .map_err(Stop::from)
    }

    /// A constant of rank 0.
    pub(super) fn constant_scalar(
        &mut self,
        dtype: DType,
        bytes: &[u8],
    ) -> Result<ValueId, EditError> {
        let ty = self.f.add_type(&TypeSpec::shaped(dtype, &[]))?;
        self.f.add_constant(&ConstantSpec::new(ty, bytes))
    }

    /// Takes an attribute of integers away.
    pub(super) fn take_ints(&mut self, op: OpId, name: &str) -> Result<Option<Vec<i64>>, Stop> {
        let ints = match self.f.attr(op, name) {
            None => return Ok(None),
            Some(Attr::Ints(ints)) => ints.to_vec(),
            Some(other) => return Err(unreadable(name, &other)),
        };
        self.f.remove_attr(op, name)?;
        Ok(Some(ints))
    }

    /// Takes an attribute that is a float away.
    pub(super) fn take_float(&mut self, op: OpId, name: &str) -> Result<Option<f32>, Stop> {
        let float = match self.f.attr(op, name) {
            None => return Ok(None),
            Some(Attr::Float(float)) => float,
            Some(other) => return Err(unreadable(name, &other)),
        };
        self.f.remove_attr(op, name)?;
        Ok(Some(float))
    }

    /// Takes an attribute that is an integer away.
    pub(super) fn take_int(&mut self, op: OpId, name: &str) -> Result<Option<i64>, Stop> {
        let int = self.int(op, name)?;
        if int.is_some() {
            self.f.remove_attr(op, name)?;
        }
        Ok(int)
    }

    /// An attribute that is an integer.
    pub(super) fn int(&self, op: OpId, name: &str) -> Result<Option<i64>, Stop> {
        match self.f.attr(op, name) {
            None => Ok(None),
            Some(Attr::Int(int)) => Ok(Some(int)),
            Some(other) => Err(unreadable(name, &other)),
        }
    }

    /// Sets an operand; those before it that aren't there are left out.
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
    Stop::refused(match attr {
        Attr::Reference(..) => {
            format!("its attribute `{name}` is one of the function's, and an operand can't be")
        }
        _ => format!("its attribute `{name}` has another kind of value than it should"),
    })
}
