//! Before IR version 4: initializers are inputs, and the interface of the model.

use std::sync::Arc;

use passdock_abi::{Constant, OpId, Value};
use passdock_ir::{Entity, Function};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::file::source::Source;
use crate::format::error::Result;
use crate::format::fields::bodies;
use crate::format::schema::{graph, tensor, value_info};
use crate::format::wire::string_of;
use crate::read::initializer;

/// Adds to the main graph what the writer finds in the file: constants that passes made are nodes,
/// and inputs stay when their initializers have no more uses.
pub(super) fn prepare(f: &mut Function, source: &Arc<Source>) -> Result {
    let mut known = FxHashSet::default();
    let mut new = Vec::new();
    for (id, constant) in f.live_constants() {
        let origin = f.origins().get(Entity::Constant(id));
        if origin.is_some() {
            known.insert(origin.start);
        } else if is_value(f, constant) && constant.flags & Constant::NODE == 0 {
            new.push((id, constant.loc));
        }
    }
    let Some(message) = source.message(f.origins().get(Entity::Function)) else {
        return Ok(());
    };
    let mut erased: FxHashMap<&[u8], _> = FxHashMap::default();
    for body in bodies(message, graph::INITIALIZER) {
        let body = body?;
        if !known.contains(&body.at) {
            erased.insert(string_of(body, tensor::NAME)?, body);
        }
    }
    for body in bodies(message, graph::INPUT) {
        let name = string_of(body?, value_info::NAME)?;
        if let Some(body) = erased.remove(name) {
            initializer(f, source, body)?;
        }
    }
    for (id, loc) in new {
        f.mark_constant(id, Constant::NODE, loc, OpId::NONE);
    }
    Ok(())
}

/// Whether a constant is a value of its own.
fn is_value(f: &Function, constant: &Constant) -> bool {
    let value = constant.value.option();
    value.is_some_and(|value| f.value(value).flags & Value::KIND == Value::CONST)
}
