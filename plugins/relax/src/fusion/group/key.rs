//! Bodies of groups, compared: what two of them have to have in common to share a function.

use std::collections::HashMap;
use std::fmt::Write;

use passdock_plugin_api::prelude::*;

use super::{Group, Plan};

/// The most bytes of a tensor among attributes that are compared; with more, a body is nobody else's.
const MOST_BYTES: u64 = 4096;

/// A group's body as text, whatever function it is of; `None` if it is to have a function of its own.
pub(super) fn key(f: &Function, plan: &Plan, group: &Group) -> Option<String> {
    if plan.has_regions || plan.ops.iter().any(|&op| f.is_annotated(op)) {
        return None;
    }
    let mut opsets: Vec<_> = f.opsets().collect();
    // What a group is called means nothing to its body.
    opsets.retain(|(domain, _)| *domain != group.domain && !domain.starts_with("passdock."));
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
            } else if let Some(maker) = f.defining_op(value) {
                write!(key, "#{}.{}", plan.members[&maker], f.index(value)).ok()?;
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
        let maker = f.defining_op(value).map(|maker| plan.members[&maker]);
        write!(key, "\n{maker:?}.{}", f.index(value)).ok()?;
    }
    Some(key)
}

/// Writes an attribute without ids of its function; `None` of what has no such text.
fn write_attr(f: &Function, attr: Attr<'_>, key: &mut String) -> Option<()> {
    match attr {
        Attr::Tensor(id) => {
            let record = f
                .constant_record(id)
                .filter(|record| record.byte_len <= MOST_BYTES)?;
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

/// Writes a type without ids of its function; `None` of what has no such text.
fn write_type(f: &Function, ty: TypeId, key: &mut String) -> Option<()> {
    let own = f.ty(ty);
    let text = own.to_string();
    write!(key, "({}:{text}:{}", own.kind().0, own.name()).ok()?;
    for dim in own.dims().into_iter().flatten() {
        write!(key, ",{}", dim.denotation.0).ok()?;
    }
    // Types are made of types a few levels deep.
    for &item in own.items() {
        write_type(f, item, key)?;
    }
    key.push(')');
    // A dim of too many parts isn't written whole.
    (!text.contains('…')).then_some(())
}
