//! Declared types that aren't reliable: those of outputs, and those of other values (`value_info`) if they may be
//! stale.
//!
//! Runtimes don't check the declared dims of a model. So such a value has the inferred type, even if that is less
//! precise; only names of unknown sizes are taken from the declaration. The function's port keeps the declared type,
//! unless it contradicts the inferred one.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

use super::portable_type::{PortableType, portable_types};
use crate::shared::retype::retype;

/// The values whose declared types aren't reliable.
pub(crate) struct Declared {
    values: HashSet<ValueId>,
}

impl Declared {
    /// Finds these values in a function. `is_stale`: a `value_info` was wrong.
    pub(crate) fn new(f: &Function, is_stale: bool) -> Declared {
        let given = f.terminator(f.body()).into_iter();
        let given = given.flat_map(|end| f.operands(end));
        let mut values: HashSet<ValueId> = given.filter(|value| value.is_some()).collect();
        let is_open = |&param: &ValueId| {
            let mut dims = f.dims(param).into_iter().flatten();
            dims.any(|dim| !dim.is_known())
        };
        // If an input has an unnamed size, declared numbers of values that depend on it aren't reliable.
        if is_stale || f.params().iter().any(is_open) {
            let results = f.ops().flat_map(|op| f.results(op));
            values.extend(results.filter(|&&value| f.is_declared(value)));
        }
        Declared { values }
    }

    /// Whether an op has such a result, so that its inferred type is needed separately.
    pub(crate) fn concerns(&self, f: &Function, op: OpId) -> bool {
        let mut results = f.results(op).iter();
        !self.values.is_empty() && results.any(|result| self.values.contains(result))
    }

    /// Returns the result types that the definition of an op infers without declared types. `None` if inference fails.
    pub(crate) fn inferred(
        f: &mut Function,
        cx: &PassContext,
        op: OpId,
    ) -> Result<Option<Vec<PortableType>>, EditError> {
        let results = f.results(op).to_vec();
        let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
        let unknown = f.add_type(&TypeSpec::unknown())?;
        for &value in &results {
            f.set_type(value, unknown)?;
        }
        let is_inferred = cx.infer(f, op).is_ok();
        let portable_types = portable_types(f, &results);
        for (&value, &ty) in results.iter().zip(&known) {
            retype(f, value, ty)?;
        }
        Ok(is_inferred.then_some(portable_types))
    }

    /// Sets the types of such values among an op's results, with declared names of sizes. The symbols in `inner` are
    /// local to regions and have no meaning outside.
    pub(crate) fn name(
        &self,
        f: &mut Function,
        op: OpId,
        portable_types: &[PortableType],
        declared: &[PortableType],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        let results = f.results(op).to_vec();
        for ((value, portable), declared) in results.into_iter().zip(portable_types).zip(declared) {
            if !self.values.contains(&value) {
                continue;
            }
            let portable = portable.without(&|symbol| inner.contains(&symbol));
            let is_known = |symbol: i64| f.invented(SymbolId(symbol as u32)).is_none();
            let portable = portable.named_as(declared, &is_known);
            if portable != PortableType::from_value(f, value) {
                portable.assign(f, value)?;
            }
        }
        Ok(())
    }
}
