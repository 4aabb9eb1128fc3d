//! Attributes of functions that are no parameters: ONNX has no field for them, so they are carried as
//! metadata of their graph or function, `passdock.attribute.NAME` with the value as IR text has it.

use std::collections::hash_map::Entry;

use passdock_abi::{Attr, OpId, SymbolId};
use passdock_ir::Function;
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::text::{attr_text, set_attr_text};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::format::error::Result;
use crate::format::fields::{bodies, put_pair};
use crate::format::schema::entry;
use crate::format::wire::Message;

/// The prefix of the keys.
const PREFIX: &str = "passdock.attribute.";

/// The first IR version whose graphs and functions have metadata.
pub(crate) const SINCE: i64 = 10;

/// The attribute that an entry of metadata is about, and its value; `None` for any other entry.
fn attribute(pair: Message<'_>) -> Result<Option<(&str, &str)>> {
    let pair = pair.lasts([entry::KEY, entry::VALUE])?;
    let [key, value] = pair.map(|body| std::str::from_utf8(body?.bytes).ok());
    Ok(key.and_then(named).zip(value))
}

/// The attribute that a key of metadata is about.
fn named(key: &str) -> Option<&str> {
    let name = key.strip_prefix(PREFIX)?;
    (!name.is_empty() && name.len() <= MAX_SYMBOL_BYTES).then_some(name)
}

/// A value in the form in which it is written; `None` if it is no attribute's.
fn plain(f: &Function, value: &str) -> Option<String> {
    let mut scratch = Function::new(f.symbols().clone(), f.kind(), f.name());
    set_attr_text(&mut scratch, f.name(), value).ok()?;
    attr_text(&scratch, scratch.attrs(OpId::NONE).first()?)
}

/// Gives a function the attributes that its metadata, field `number` of `message`, carries. The last
/// of a name counts; what isn't an attribute's value is metadata like any other.
pub(crate) fn read(f: &mut Function, message: Message<'_>, number: u32) -> Result {
    let (mut order, mut values) = (Vec::new(), FxHashMap::default());
    for pair in bodies(message, number) {
        if let Some((name, value)) = attribute(pair?)? {
            match values.entry(name) {
                Entry::Vacant(free) => {
                    order.push(name);
                    free.insert(value);
                }
                Entry::Occupied(mut known) => _ = known.insert(value),
            }
        }
    }
    for name in order {
        let symbol = f.symbols().intern(name);
        let param = f.attr(OpId::NONE, symbol).is_some();
        if !param {
            _ = set_attr_text(f, symbol, values[name]);
        }
    }
    Ok(())
}

/// Whether entries of metadata say nothing but what the function's attributes will be read as: each
/// attribute once, and as it is written.
pub(crate) fn is_plain<'p>(
    f: &Function,
    pairs: impl IntoIterator<Item = (&'p str, &'p str)>,
) -> bool {
    let mut seen = FxHashSet::default();
    pairs.into_iter().all(|(key, value)| match named(key) {
        None => true,
        Some(name) => seen.insert(name) && plain(f, value).is_none_or(|plain| plain == value),
    })
}

/// Whether an entry of metadata is an attribute.
pub(crate) fn is_attribute(f: &Function, key: &str, value: &str) -> bool {
    let symbol = named(key).map(|name| f.symbols().find(name));
    let param = symbol.flatten().and_then(|name| f.attr(OpId::NONE, name));
    let param = param.is_some_and(|attr| attr.flags & Attr::PARAM != 0);
    symbol.is_some() && !param && plain(f, value).is_some()
}

/// A function's attributes on their way into its metadata.
pub(crate) struct FunctionAttributes<'f> {
    f: &'f Function,
    /// The values of the attributes, with whether they were written.
    values: FxHashMap<SymbolId, (String, bool)>,
    /// The place of the last entry of each in the original.
    last: FxHashMap<&'f str, u64>,
    /// Whether the file has a place for them.
    carries: bool,
}

/// The fate of an entry of the original's metadata.
pub(crate) enum EntryChange {
    Stays,
    Goes,
    Becomes(Vec<u8>),
}

impl<'f> FunctionAttributes<'f> {
    pub(crate) fn new(
        f: &'f Function,
        original: &[Message<'f>],
        carries: bool,
    ) -> Result<FunctionAttributes<'f>> {
        let attrs = f.attrs(OpId::NONE).iter();
        let own = attrs.filter(|attr| carries && attr.flags & Attr::PARAM == 0);
        let values = own.filter_map(|attr| Some((attr.name, (attr_text(f, attr)?, false))));
        let mut last = FxHashMap::default();
        for &pair in original.iter().filter(|_| carries) {
            if let Some((name, _)) = attribute(pair)? {
                last.insert(name, pair.at);
            }
        }
        Ok(FunctionAttributes {
            f,
            values: values.collect(),
            last,
            carries,
        })
    }

    /// The fate of an entry: it stays as long as it says what the attribute is.
    pub(crate) fn at(&mut self, pair: Message<'f>) -> Result<EntryChange> {
        let Some((name, value)) = attribute(pair)?.filter(|_| self.carries) else {
            return Ok(EntryChange::Stays);
        };
        let symbol = self.f.symbols().find(name);
        let new = symbol.and_then(|symbol| self.values.get_mut(&symbol));
        let old = plain(self.f, value);
        let Some((text, written)) = new else {
            // A parameter of this name was never the entry's.
            let param = symbol.and_then(|symbol| self.f.attr(OpId::NONE, symbol));
            let erased = old.is_some() && param.is_none();
            return Ok(if erased {
                EntryChange::Goes
            } else {
                EntryChange::Stays
            });
        };
        if self.last.get(name) != Some(&pair.at) {
            return Ok(EntryChange::Stays);
        }
        *written = true;
        if old.as_deref() == Some(text) {
            return Ok(EntryChange::Stays);
        }
        let mut bytes = Vec::new();
        put_pair(
            &mut bytes,
            format!("{PREFIX}{name}").as_bytes(),
            text.as_bytes(),
        );
        Ok(EntryChange::Becomes(bytes))
    }

    /// Whether a key is that of an attribute that is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        let symbol = named(key).and_then(|name| self.f.symbols().find(name));
        symbol.is_some_and(|symbol| self.values.contains_key(&symbol))
    }

    /// The entries for attributes that have none in the original.
    pub(crate) fn rest(mut self) -> impl Iterator<Item = (String, String)> {
        self.f.attrs(OpId::NONE).iter().filter_map(move |attr| {
            let (value, written) = self.values.remove(&attr.name)?;
            (!written).then(|| (format!("{PREFIX}{}", self.f.text(attr.name)), value))
        })
    }
}
