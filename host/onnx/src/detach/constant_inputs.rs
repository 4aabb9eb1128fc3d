//! Before IR version 4: initializers that are also inputs, and so part of the model's interface.

use std::sync::Arc;

use passdock_abi::{Constant, OpId, Value};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashSet;

use crate::file::source::Source;
use crate::format::body::constant_inputs;
use crate::format::error::Result;
use crate::read::initializer;

/// Adds to the main graph what the writer would otherwise find in the file. New constants become nodes, and
/// initializers without users are kept if they are also inputs.
pub(super) fn prepare(f: &mut Function, source: &Arc<Source>) -> Result {
    let mut known = FxHashSet::default();
    let mut new = Vec::new();
    for (id, constant) in f.live_constants() {
        let origin = f.origins().get(Entity::Constant(id));
        let value = constant.value.option().map(|value| f.value(value));
        let is_value = value.is_some_and(|value| value.flags & Value::KIND == Value::CONST);
        if origin.is_some() {
            known.insert(origin.start);
        } else if is_value && constant.flags & Constant::NODE == 0 {
            new.push((id, constant.loc));
        }
    }
    let Some(message) = source.message(f.origins().get(Entity::Function)) else {
        return Ok(());
    };
    let erased = constant_inputs(message)?.into_values();
    let mut erased: Vec<_> = erased.filter(|body| !known.contains(&body.at)).collect();
    erased.sort_unstable_by_key(|body| body.at);
    for body in erased {
        initializer(f, source, body)?;
    }
    for (id, loc) in new {
        f.mark_constant(id, Constant::NODE, loc, OpId::NONE);
    }
    Ok(())
}
