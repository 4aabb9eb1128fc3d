//! The binary form of a manifest: fields one after the other, lengths before what they count.
//!
//! Only bytes that this very program wrote are read, so they carry no types. A file may be damaged,
//! so every length is checked against the end of the bytes.

use std::collections::BTreeMap;

use crate::error::Ver;
use crate::file::Identity;
use crate::manifest::{
    ChildSpec, Field, FieldType, FieldValue, InstrumentDeclaration, Manifest, OpSpec,
    PanicStrategy, PassDeclaration, PassInfo, PassKind, PassSpec, Phase, PluginSpec, Schema,
    SequentialSpec, Skipped, State, States, toml_text,
};

/// A value that can be written to bytes and read back.
pub(super) trait Coded: Sized {
    /// Appends the value to the bytes.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes a value from the front of the bytes; `None` if they don't hold one.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

/// Takes `count` bytes from the front.
pub(super) fn take<'b>(from: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Coded for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                let bytes = take(from, size_of::<$number>())?;
                Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers!(u8, u32, u64, i64, i128, f64);

/// Codes a struct field by field: a field that isn't named here doesn't compile.
macro_rules! records {
    ($($record:ident { $($field:ident),* $(,)? })*) => {$(
        impl Coded for $record {
            fn put(&self, out: &mut Vec<u8>) {
                let $record { $($field),* } = self;
                $($field.put(out);)*
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                Some($record { $($field: Coded::get(from)?),* })
            }
        }
    )*};
}

records! {
    Manifest { plugin, passes, sequentials, configs, ops, instruments, skipped }
    Skipped { entry, name, what, help }
    PluginSpec { name, version, abi, min_host, ir, panic, layout, compiler }
    PassSpec { declaration, kind, summary }
    SequentialSpec { declaration, passes, summary }
    ChildSpec { name, options }
    PassDeclaration { info, states, phase, thread_safe, changes_interface, aliases, config, options }
    PassInfo { name, opt_level, required }
    Schema { key, doc, fields }
    Field { name, ty, default, mandatory, range, choices, rest, doc }
    OpSpec { name, since, extends }
    InstrumentDeclaration { name, summary, options }
    States { needs, establishes, breaks }
    Ver { major, minor }
    Identity { len, modified, changed, device, inode }
}

/// Codes an enum by the number of its variant: a variant that isn't named here doesn't compile.
macro_rules! choices {
    ($($choice:ident { $($variant:ident),* })*) => {$(
        impl Coded for $choice {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(match self {
                    $($choice::$variant => $choice::$variant as u8,)*
                });
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                let number = u8::get(from)?;
                let all = [$($choice::$variant),*];
                all.into_iter().find(|choice| *choice as u8 == number)
            }
        }
    )*};
}

choices! {
    PanicStrategy { Unwind, Abort, None }
    PassKind { Function, PrimFunction, Module }
    Phase { Early, Simplify, Late, Lower }
    FieldType { Bool, Int, Float, String, Strings, Rules, Ints, Values }
}

impl Coded for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(u8::get(from)? != 0)
    }
}

impl Coded for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let len = u32::get(from)? as usize;
        let text = std::str::from_utf8(take(from, len)?).ok()?;
        Some(text.to_owned())
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let count = u32::get(from)? as usize;
        // Damaged bytes may claim any count, so the capacity is limited.
        let mut list = Vec::with_capacity(count.min(256));
        for _ in 0..count {
            list.push(T::get(from)?);
        }
        Some(list)
    }
}

impl<T: Coded> Coded for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match bool::get(from)? {
            true => T::get(from).map(Some),
            false => Some(None),
        }
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<T: Coded> Coded for BTreeMap<String, T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for (name, value) in self {
            name.put(out);
            value.put(out);
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let entries: Vec<(String, T)> = Coded::get(from)?;
        Some(entries.into_iter().collect())
    }
}

impl Coded for State {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_string().put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(State::new(&String::get(from)?))
    }
}

impl Coded for FieldValue {
    fn put(&self, out: &mut Vec<u8>) {
        self.ty().put(out);
        match self {
            FieldValue::Bool(value) => value.put(out),
            FieldValue::Int(value) => value.put(out),
            FieldValue::Float(value) => value.put(out),
            FieldValue::String(value) => value.put(out),
            FieldValue::Strings(list) => list.put(out),
            FieldValue::Ints(table) => table.put(out),
            FieldValue::Values(table) => table.put(out),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(match FieldType::get(from)? {
            FieldType::Bool => FieldValue::Bool(Coded::get(from)?),
            FieldType::Int => FieldValue::Int(Coded::get(from)?),
            FieldType::Float => FieldValue::Float(Coded::get(from)?),
            FieldType::String => FieldValue::String(Coded::get(from)?),
            FieldType::Strings | FieldType::Rules => FieldValue::Strings(Coded::get(from)?),
            FieldType::Ints => FieldValue::Ints(Coded::get(from)?),
            FieldType::Values => FieldValue::Values(Coded::get(from)?),
        })
    }
}

/// A TOML value, coded as TOML text, whose nesting the reader limits: such values are rare.
impl Coded for toml::Value {
    fn put(&self, out: &mut Vec<u8>) {
        toml_text(self).put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let text = format!("value = {}", String::get(from)?);
        text.parse::<toml::Table>().ok()?.remove("value")
    }
}
