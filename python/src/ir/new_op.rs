//! Arguments for a new op.

use passdock::sdk::{self, AttrValue, EditError, OpBuilder, OpId, TypeId, ValueId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::crossing::convert::Mapping;
use crate::ir::attr;
use crate::ir::definition;
use crate::ir::edit::{Operand, ids_of};
use crate::ir::function::Function;
use crate::ir::types::TypeArgument;

/// A new op as specified by a program.
pub(crate) struct NewOp<'a> {
    pub(crate) name: &'a str,
    pub(crate) operands: Vec<ValueId>,
    pub(crate) attrs: Vec<(String, AttrValue)>,
    /// `None` if the program didn't specify results.
    results: Option<Vec<TypeArgument>>,
}

impl<'a> NewOp<'a> {
    /// Checks an op against its definition, unless it is `custom`. The new op also gets the attributes of the op
    /// `like`.
    pub(crate) fn new(
        slf: &Bound<'_, Function>,
        name: &'a str,
        operands: &[Operand],
        attrs: Option<&Mapping<'_>>,
        results: Option<&Bound<'_, PyAny>>,
        custom: bool,
        like: Option<OpId>,
    ) -> PyResult<NewOp<'a>> {
        let mut op = NewOp {
            name,
            operands: ids_of(slf, operands)?,
            attrs: attr::values(slf, attrs)?,
            results: results
                .map(|object| result_types(slf, object))
                .transpose()?,
        };
        if !custom {
            definition::check_op(slf, &mut op, like)?;
        }
        Ok(op)
    }

    /// Whether the op has no results.
    pub(crate) fn has_no_results(&self) -> bool {
        self.results.as_ref().is_some_and(Vec::is_empty)
    }

    /// Adds the types of the results to the function.
    pub(crate) fn types(&self, f: &mut sdk::Function) -> Result<Option<Vec<TypeId>>, EditError> {
        let results = self.results.as_ref();
        let types = results.map(|all| all.iter().map(|result_types| result_types.add(f)).collect());
        types.transpose()
    }

    pub(crate) fn builder(&self, types: Option<Vec<TypeId>>) -> OpBuilder<'_> {
        let mut op = OpBuilder::new(self.name).operands(self.operands.iter().copied());
        for (name, value) in &self.attrs {
            op = op.attr(name.as_str(), value.clone());
        }
        match types {
            Some(types) => op.results(types),
            None => op,
        }
    }
}

/// The maximum number of results of a new op: all are created at once, and more are probably an error.
const MAX_RESULTS: usize = 1 << 20;

/// Rejects an excessive number of results.
pub(crate) fn check_count(results: usize) -> PyResult<()> {
    match results {
        ..=MAX_RESULTS => Ok(()),
        _ => Err(PyValueError::new_err(format!(
            "an op can have at most {MAX_RESULTS} results, not {results}"
        ))),
    }
}

/// Parses the results argument: their number, or a type for each.
fn result_types(
    slf: &Bound<'_, Function>,
    object: &Bound<'_, PyAny>,
) -> PyResult<Vec<TypeArgument>> {
    if let Ok(count) = object.extract::<usize>() {
        check_count(count)?;
        return Ok((0..count).map(|_| TypeArgument::Unknown).collect());
    }
    let object = object.extract::<Vec<Bound<'_, PyAny>>>().map_err(|_| {
        PyTypeError::new_err("`results` must be the number of results, or a list of their types")
    })?;
    object
        .iter()
        .map(|each| TypeArgument::extract(slf, each))
        .collect()
}
