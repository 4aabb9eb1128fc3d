//! Keys of group bodies: groups with equal keys share a function.

use std::collections::HashMap;
use std::fmt::Write;

use passdock_plugin_api::prelude::*;

use super::{Group, Plan};
use crate::shared::operators::DOMAIN_PREFIX;

/// The maximum size in bytes of a tensor attribute that is compared. Bodies with larger ones aren't shared.
const MAX_BYTES: u64 = 4096;

/// Returns a textual key of a group's body that is independent of its function. `None` if the body can't be shared.
pub(super) fn key(f: &Function, plan: &Plan, group: &Group) -> Option<String> {
    if plan.has_regions || plan.ops.iter().any(|&op| f.is_annotated(op)) {
        return None;
    }
    let mut opsets: Vec<_> = f.opsets().collect();
    // Imports of the group's domain don't affect the body.
    opsets.retain(|(domain, _)| *domain != group.domain && !domain.starts_with(DOMAIN_PREFIX));
    opsets.sort_unstable();
    let Group {
        domain,
        name,
        attrs,
        ..
    } = group;
    let mut key = format!("{domain}.{name} {attrs:?} {opsets:?}");
    let inputs: HashMap<ValueId, usize> = plan.inputs.iter().copied().zip(0..).collect();
    for &value in &plan.inputs {
        write_type(f, f.type_id(value), &mut key)?;
    }
    for &op in &plan.ops {
        write!(key, "\n{}:", f.symbol(op).0).ok()?;
        for value in f.operands(op) {
            if value.is_none() {
                key.push('-');
            } else if let Some(input) = inputs.get(&value) {
                write!(key, "%{input}").ok()?;
            } else if let Some(producer) = f.defining_op(value) {
                write!(key, "#{}.{}", plan.members[&producer], f.index(value)).ok()?;
            } else {
                write_type(f, f.type_id(value), &mut key)?;
                write!(key, "{:?}", f.constant_data(value).ok()??).ok()?;
            }
        }
        for &value in f.results(op) {
            let is_declared = f.is_declared(value);
            write!(key, ":{} {is_declared}", f.is_absent(value)).ok()?;
            write_type(f, f.type_id(value), &mut key)?;
        }
        for (name, attr) in f.attrs(op) {
            write!(key, ",{}=", name.0).ok()?;
            write_attr(f, attr, &mut key)?;
        }
    }
    for &value in &plan.outputs {
        let producer = f.defining_op(value).map(|producer| plan.members[&producer]);
        write!(key, "\n{producer:?}.{}", f.index(value)).ok()?;
    }
    Some(key)
}

/// Writes an attribute without ids of its function. Returns `None` if that isn't possible.
fn write_attr(f: &Function, attr: Attr<'_>, key: &mut String) -> Option<()> {
    match attr {
        Attr::Tensor(id) => {
            let record = f
                .constant_record(id)
                .filter(|record| record.byte_len <= MAX_BYTES)?;
            write_type(f, record.ty, key)?;
            write!(key, "{:?}", f.constant_bytes(id).ok()?).ok()
        }
        Attr::Type(ty) => write_type(f, ty, key),
        Attr::Types(types) => types.iter().try_for_each(|&ty| write_type(f, ty, key)),
        Attr::Int(_) | Attr::Float(_) | Attr::String(_) | Attr::Reference(..) => {
            write!(key, "{attr:?}").ok()
        }
        Attr::Ints(_) | Attr::Floats(_) | Attr::Strings(_) => write!(key, "{attr:?}").ok(),
        _ => None,
    }
}

/// Writes a type without ids of its function. Returns `None` if that isn't possible.
fn write_type(f: &Function, ty: TypeId, key: &mut String) -> Option<()> {
    let own = f.ty(ty);
    let text = own.to_string();
    write!(key, "({}:{text}:{}", own.kind().0, own.name()).ok()?;
    for dim in own.dims().into_iter().flatten() {
        write!(key, ",{}", dim.denotation.0).ok()?;
    }
    // The recursion is shallow, as types are nested only a few levels deep.
    for &item in own.items() {
        write_type(f, item, key)?;
    }
    key.push(')');
    // The text of long dim expressions is truncated.
    (!text.contains('…')).then_some(())
}
