//! Bodies of groups, compared: what two of them have to have in common to share a function.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::Group;
use super::plan::Plan;

/// The most bytes of a tensor among attributes that are compared; with more, a body is nobody else's.
const MOST_BYTES: u64 = 4096;

/// A body, in numbers: equal bodies are equal lists.
pub(super) type Key = Box<[u32]>;

/// The functions that were made, by their bodies.
#[derive(Default)]
pub(super) struct Bodies {
    functions: HashMap<Key, SymbolId>,
    /// Numbers for texts and bytes.
    texts: HashMap<Box<[u8]>, u32>,
    /// Numbers for types of the function that is looked at, and which one that is.
    types: HashMap<TypeId, Option<u32>>,
    holder: String,
}

/// Marks of what follows.
const NOTHING: u32 = 0;
const INNER: u32 = 1;
const INPUT: u32 = 2;
const CONSTANT: u32 = 3;

impl Bodies {
    pub(super) fn find(&self, key: &Key) -> Option<SymbolId> {
        self.functions.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: Key, function: SymbolId) {
        self.functions.insert(key, function);
    }

    /// A group's body in numbers; `None` if it is to have a function of its own.
    pub(super) fn key(
        &mut self,
        f: &Function,
        plan: &Plan,
        group: &Group<'_>,
        domain: &str,
    ) -> Option<Key> {
        if plan.has_regions || plan.ops.iter().any(|&op| f.is_annotated(op)) {
            return None;
        }
        if self.holder != f.function_name() {
            self.holder = f.function_name().to_owned();
            self.types.clear();
        }
        let mut key = Vec::with_capacity(16 * plan.ops.len());
        let header = format!("{} {:?} {:?}", group.name, group.attrs, {
            let mut opsets: Vec<_> = f.opsets().collect();
            // What a group is called means nothing to its body.
            opsets.retain(|(other, _)| *other != domain && !other.starts_with("passdock."));
            opsets.sort_unstable();
            opsets
        });
        key.push(self.text(header.as_bytes()));
        let inputs: HashMap<ValueId, u32> = plan.inputs.iter().copied().zip(0..).collect();
        for &value in &plan.inputs {
            key.push(self.ty(f, f.type_id(value))?);
        }
        for &op in &plan.ops {
            key.push(f.symbol(op).0);
            key.push(f.operand_count(op) as u32);
            for value in f.operands(op) {
                if value.is_none() {
                    key.push(NOTHING);
                } else if let Some(&at) = inputs.get(&value) {
                    key.extend([INPUT, at]);
                } else if let Some(maker) = f.defining_op(value) {
                    key.extend([INNER, plan.members[&maker] as u32, f.index(value) as u32]);
                } else {
                    let bytes = f.constant_data(value).ok()??;
                    key.extend([CONSTANT, self.ty(f, f.type_id(value))?, self.text(bytes)]);
                }
            }
            for &value in f.results(op) {
                let flags = u32::from(f.is_absent(value)) + 2 * u32::from(f.is_declared(value));
                key.extend([self.ty(f, f.type_id(value))?, flags]);
            }
            let attrs: Vec<(SymbolId, Attr<'_>)> = f.attrs(op).collect();
            key.push(attrs.len() as u32);
            for (name, attr) in attrs {
                key.push(name.0);
                self.attr(f, &attr, &mut key)?;
            }
        }
        let outputs = plan.outputs.iter();
        key.extend(outputs.flat_map(|&value| {
            let maker = f.defining_op(value).map(|maker| plan.members[&maker]);
            [maker.unwrap_or(0) as u32, f.index(value) as u32]
        }));
        Some(key.into())
    }

    fn attr(&mut self, f: &Function, attr: &Attr<'_>, key: &mut Vec<u32>) -> Option<()> {
        match *attr {
            Attr::Int(value) => key.extend([1, value as u32, (value >> 32) as u32]),
            Attr::Float(value) => key.extend([2, value.to_bits()]),
            Attr::String(value) => key.extend([3, self.text(value)]),
            Attr::Tensor(id) => {
                let record = f.constant_record(id)?;
                if record.byte_len > MOST_BYTES {
                    return None;
                }
                let bytes = f.constant_bytes(id).ok()?;
                key.extend([4, self.ty(f, record.ty)?, self.text(bytes)]);
            }
            Attr::Type(ty) => key.extend([5, self.ty(f, ty)?]),
            Attr::Ints(values) => {
                key.extend([6, values.len() as u32]);
                key.extend(values.iter().flat_map(|v| [*v as u32, (v >> 32) as u32]));
            }
            Attr::Floats(values) => {
                key.extend([7, values.len() as u32]);
                key.extend(values.iter().map(|value| value.to_bits()));
            }
            Attr::Strings(values) => {
                key.extend([8, values.len() as u32]);
                for value in values {
                    key.push(self.text(value));
                }
            }
            Attr::Types(types) => {
                key.extend([9, types.len() as u32]);
                for &ty in types {
                    key.push(self.ty(f, ty)?);
                }
            }
            Attr::Reference(param, kind) => key.extend([10, param.0, kind.0]),
            _ => return None,
        }
        Some(())
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.texts.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.into(), number);
        number
    }

    /// The number of a type, whichever function it is of; `None`: it isn't compared.
    fn ty(&mut self, f: &Function, ty: TypeId) -> Option<u32> {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let mut text = String::new();
        let number = describe(f, ty, &mut text).map(|()| self.text(text.as_bytes()));
        self.types.insert(ty, number);
        number
    }
}

/// Writes what a type is, without ids of its function; `None` of what has no such text.
fn describe(f: &Function, ty: TypeId, text: &mut String) -> Option<()> {
    use std::fmt::Write;
    let own = f.ty(ty);
    write!(text, "{}:{own}:{}", own.kind().0, own.name()).ok()?;
    for dim in own.dims().into_iter().flatten() {
        write!(text, ",{}", dim.denotation.0).ok()?;
    }
    // Types are made of types a few levels deep.
    for &item in own.items() {
        text.push('(');
        describe(f, item, text)?;
        text.push(')');
    }
    // A dim of too many parts isn't written whole.
    (!text.contains('…')).then_some(())
}
