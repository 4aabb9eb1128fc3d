//! Types that are only declared: of the values that a model gives out, and of others (`value_info`) where these may be
//! stale.
//!
//! A runtime doesn't check the dims that a model declares: it gives out what came. So such a value has the type that
//! follows from its op, also where that knows less; only names of sizes of which nothing is known are those that are
//! declared. The port of the function keeps what is declared, unless it is a contradiction.

use std::collections::HashSet;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use super::sort::{Sort, sorts};
use crate::shared::retype::retype;

/// The values whose types are only declared.
pub(crate) struct Declared {
    values: HashSet<ValueId>,
}

impl Declared {
    /// Those of a function; `is_stale`: a `value_info` was wrong.
    pub(crate) fn new(f: &Function, is_stale: bool) -> Declared {
        let given = f.terminator(f.body()).into_iter();
        let given = given.flat_map(|end| f.operands(end));
        let mut values: HashSet<ValueId> = given.filter(|value| value.is_some()).collect();
        let is_open = |&param: &ValueId| {
            let mut dims = f.dims(param).into_iter().flatten();
            dims.any(|dim| dim.kind == DimKind::UNKNOWN)
        };
        // What is made of a size that an input leaves open without a name is unknown as well, and no number.
        if is_stale || f.params().iter().any(is_open) {
            let results = f.ops().flat_map(|op| f.results(op));
            values.extend(results.filter(|&&value| f.is_declared(value)));
        }
        Declared { values }
    }

    /// Whether an op has such a result, so that what is inferred of it has to be known.
    pub(crate) fn concerns(&self, f: &Function, op: OpId) -> bool {
        let mut results = f.results(op).iter();
        !self.values.is_empty() && results.any(|result| self.values.contains(result))
    }

    /// The types that the definition of an op infers with nothing known of its results; `None` if it can't.
    pub(crate) fn inferred(
        f: &mut Function,
        cx: &PassContext,
        op: OpId,
    ) -> Result<Option<Vec<Sort>>, EditError> {
        let results = f.results(op).to_vec();
        let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
        let unknown = f.add_type(&TypeSpec::unknown())?;
        for &value in &results {
            f.set_type(value, unknown)?;
        }
        let is_inferred = cx.infer(f, op).is_ok();
        let sorts = sorts(f, &results);
        for (&value, &ty) in results.iter().zip(&known) {
            retype(f, value, ty)?;
        }
        Ok(is_inferred.then_some(sorts))
    }

    /// Gives such values among an op's results these types, with names of what was declared; symbols of regions,
    /// `inner`, say nothing outside.
    pub(crate) fn name(
        &self,
        f: &mut Function,
        op: OpId,
        sorts: &[Sort],
        declared: &[Sort],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        let results = f.results(op).to_vec();
        for ((value, sort), declared) in results.into_iter().zip(sorts).zip(declared) {
            if !self.values.contains(&value) {
                continue;
            }
            let sort = sort.without(&|symbol| inner.contains(&symbol));
            let is_known = |symbol: i64| f.invented(SymbolId(symbol as u32)).is_none();
            let sort = sort.named_as(declared, &is_known);
            if sort != Sort::from_value(f, value) {
                sort.assign(f, value)?;
            }
        }
        Ok(())
    }
}
