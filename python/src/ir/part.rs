//! The common part of ops, values and regions: a function and an id in it.

use std::hash::{Hash, Hasher};

use passdock::ir;
use passdock::sdk::{self, OpId, RegionId, ValueId};
use pyo3::prelude::*;

use crate::crossing::error;
use crate::crossing::gil;
use crate::ir::function::{self, Function};
use crate::ir::op::Op;
use crate::ir::value::Value;

/// The id of an entity of a function.
pub(crate) trait PartId: Copy + PartialEq + Hash + Send + Sync {
    /// The noun for such an entity in messages.
    const NOUN: &'static str;

    /// Whether the function still contains the entity.
    fn is_live(self, f: &sdk::Function) -> bool;
}

impl PartId for OpId {
    const NOUN: &'static str = "op";

    fn is_live(self, f: &sdk::Function) -> bool {
        f.is_live(self)
    }
}

impl PartId for ValueId {
    const NOUN: &'static str = "value";

    fn is_live(self, f: &sdk::Function) -> bool {
        f.is_live_value(self)
    }
}

impl PartId for RegionId {
    const NOUN: &'static str = "region";

    fn is_live(self, f: &sdk::Function) -> bool {
        ir::with_function(f, |f| f.live_region(self).is_ok()).unwrap_or(false)
    }
}

/// A reference to an entity of a function. References are equal if their functions and ids are.
pub(crate) struct Part<Id> {
    pub(crate) function: Py<Function>,
    pub(crate) id: Id,
}

impl<Id: PartId> Part<Id> {
    pub(crate) fn new(function: &Bound<'_, Function>, id: Id) -> Part<Id> {
        let function = function.clone().unbind();
        Part { function, id }
    }

    /// Reads the entity; an error if it was erased.
    pub(crate) fn read<R: Send>(&self, body: impl FnOnce(&sdk::Function, Id) -> R) -> PyResult<R> {
        let id = self.id;
        let function = self.function.get();
        let seen = function.read(|f| id.is_live(f).then(|| body(f, id)))?;
        seen.ok_or_else(|| {
            let message = format!("the {} was erased", Id::NOUN);
            gil::attach(|py| error::raised(py, "StaleError", &message))
        })
    }

    /// Whether the entity exists.
    pub(crate) fn is_live(&self) -> PyResult<bool> {
        self.function.get().is_live_in(|f| self.id.is_live(f))
    }

    /// Returns the id of the entity, which has to exist and to belong to this function.
    pub(crate) fn id_in(&self, function: &Bound<'_, Function>) -> PyResult<Id> {
        self.read(|_, _| ())?;
        match self.function.is(function) {
            true => Ok(self.id),
            false => Err(function::other_function(function)),
        }
    }

    /// Creates objects for values of the function.
    pub(crate) fn values(
        &self,
        py: Python<'_>,
        ids: impl FnOnce(&sdk::Function, Id) -> Vec<ValueId>,
    ) -> PyResult<Vec<Option<Value>>> {
        let ids = self.read(ids)?;
        Ok(function::values(self.function.bind(py), &ids))
    }

    /// Creates the object for a value of the function, if there is one.
    pub(crate) fn value(
        &self,
        py: Python<'_>,
        id: impl FnOnce(&sdk::Function, Id) -> Option<ValueId>,
    ) -> PyResult<Option<Value>> {
        let id = self.read(id)?;
        Ok(id.and_then(|id| function::value(self.function.bind(py), id)))
    }

    /// Creates objects for ops of the function.
    pub(crate) fn ops(
        &self,
        py: Python<'_>,
        ids: impl FnOnce(&sdk::Function, Id) -> Vec<OpId>,
    ) -> PyResult<Vec<Op>> {
        let ids = self.read(ids)?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// Creates the object for an op of the function, if there is one.
    pub(crate) fn op(
        &self,
        py: Python<'_>,
        id: impl FnOnce(&sdk::Function, Id) -> Option<OpId>,
    ) -> PyResult<Option<Op>> {
        let id = self.read(id)?;
        Ok(id.map(|id| Op(Part::new(self.function.bind(py), id))))
    }
}

impl<Id: PartId> PartialEq for Part<Id> {
    fn eq(&self, other: &Part<Id>) -> bool {
        self.id == other.id && self.function.is(&other.function)
    }
}

impl<Id: PartId> Hash for Part<Id> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.function.as_ptr().addr(), self.id).hash(state);
    }
}
