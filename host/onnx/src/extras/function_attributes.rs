//! Attributes of functions that aren't parameters. ONNX has no field for them, so they are stored in the metadata of
//! the graph or function, under the key `passdock.attribute.NAME` and with the value in IR text.

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

/// Returns the attribute's name and value of a metadata entry; `None` for any other entry.
fn attribute(pair: Message<'_>) -> Result<Option<(&str, &str)>> {
    let pair = pair.lasts([entry::KEY, entry::VALUE])?;
    let [key, value] = pair.map(|body| std::str::from_utf8(body?.bytes).ok());
    Ok(key.and_then(named).zip(value))
}

/// Returns the attribute's name of a metadata key.
fn named(key: &str) -> Option<&str> {
    let name = key.strip_prefix(PREFIX)?;
    (!name.is_empty() && name.len() <= MAX_SYMBOL_BYTES).then_some(name)
}

/// Normalizes a value to the form that is written; `None` if it isn't a valid attribute value.
fn plain(f: &Function, value: &str) -> Option<String> {
    let mut scratch = Function::new(f.symbols().clone(), f.kind(), f.name());
    set_attr_text(&mut scratch, f.name(), value).ok()?;
    attr_text(&scratch, scratch.attrs(OpId::NONE).first()?)
}

/// Sets a function's attributes from its metadata, field `number` of `message`. Of several entries, the last one
/// counts. An entry with an invalid value is treated as other metadata.
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

/// Whether metadata has exactly the entries that the writer would encode for the attributes that are read from it: each
/// attribute once, in the same form.
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

/// Whether a metadata entry is one of the function's attributes.
pub(crate) fn is_attribute(f: &Function, key: &str, value: &str) -> bool {
    let symbol = named(key).map(|name| f.symbols().find(name));
    let param = symbol.flatten().and_then(|name| f.attr(OpId::NONE, name));
    let param = param.is_some_and(|attr| attr.flags & Attr::PARAM != 0);
    symbol.is_some() && !param && plain(f, value).is_some()
}

/// The attributes of a function that are being written to its metadata.
pub(crate) struct FunctionAttributes<'f> {
    f: &'f Function,
    /// The values of the attributes, and whether each was written.
    values: FxHashMap<SymbolId, (String, bool)>,
    /// The start of each attribute's last entry in the original.
    last: FxHashMap<&'f str, u64>,
    /// Whether the IR version has metadata of graphs and functions.
    carries: bool,
}

/// The change of a metadata entry of the original.
pub(crate) enum EntryChange {
    Stays,
    Removed,
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

    /// Returns the change of an entry. It stays if its value is still the attribute's.
    pub(crate) fn at(&mut self, pair: Message<'f>) -> Result<EntryChange> {
        let Some((name, value)) = attribute(pair)?.filter(|_| self.carries) else {
            return Ok(EntryChange::Stays);
        };
        let symbol = self.f.symbols().find(name);
        let new = symbol.and_then(|symbol| self.values.get_mut(&symbol));
        let old = plain(self.f, value);
        let Some((text, written)) = new else {
            // An entry never defines a parameter of the same name.
            let param = symbol.and_then(|symbol| self.f.attr(OpId::NONE, symbol));
            let erased = old.is_some() && param.is_none();
            return Ok(if erased {
                EntryChange::Removed
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

    /// Returns the entries for attributes without an entry in the original.
    pub(crate) fn rest(mut self) -> impl Iterator<Item = (String, String)> {
        self.f.attrs(OpId::NONE).iter().filter_map(move |attr| {
            let (value, written) = self.values.remove(&attr.name)?;
            (!written).then(|| (format!("{PREFIX}{}", self.f.text(attr.name)), value))
        })
    }
}
