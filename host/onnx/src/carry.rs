//! Attributes of functions that are no parameters: ONNX has no field for them, so they are carried as
//! metadata of their graph or function, `passdock.attribute.NAME` with the value as IR text has it.

use std::collections::hash_map::Entry;

use passdock_abi::{Attr, AttrKind, FunctionKind, OpId, SymbolId};
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::text::{attr_text, set_attr_text};
use passdock_ir::{Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::schema::entry;
use crate::wire::{Message, Value, put_bytes};
use crate::write::final_version;
use crate::{MAIN, METADATA};

/// What the keys begin with.
const PREFIX: &str = "passdock.attribute.";

/// The first IR version whose graphs and functions have metadata.
pub(crate) const SINCE: i64 = 10;

/// The attribute that an entry of metadata is about, and its value; `None` for any other entry.
fn attribute(pair: Message<'_>) -> Result<Option<(&str, &str)>> {
    let (mut key, mut value) = (None, None);
    for field in pair.fields() {
        let field = field?;
        match (field.number, field.value) {
            (entry::KEY, Value::Bytes(body)) => key = std::str::from_utf8(body.bytes).ok(),
            (entry::VALUE, Value::Bytes(body)) => value = std::str::from_utf8(body.bytes).ok(),
            _ => {}
        }
    }
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
    for pair in crate::read::bodies(message, number) {
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
pub(crate) struct Carried<'f> {
    f: &'f Function,
    /// In order, with whether they were written.
    values: Vec<(SymbolId, String, bool)>,
    places: FxHashMap<SymbolId, usize>,
    /// Where the last entry of each stands in the original.
    last: FxHashMap<&'f str, u64>,
    /// Whether the file has a place for them.
    carries: bool,
}

/// What becomes of an entry of the original's metadata.
pub(crate) enum Fate {
    Stays,
    Goes,
    Becomes(Vec<u8>),
}

impl<'f> Carried<'f> {
    pub(crate) fn new(
        f: &'f Function,
        original: &[Message<'f>],
        carries: bool,
    ) -> Result<Carried<'f>> {
        let attrs = f.attrs(OpId::NONE).iter();
        let own = attrs.filter(|attr| carries && attr.flags & Attr::PARAM == 0);
        let values: Vec<_> = own
            .filter_map(|attr| Some((attr.name, attr_text(f, attr)?, false)))
            .collect();
        let places = values.iter().enumerate();
        let places = places.map(|(place, value)| (value.0, place)).collect();
        let mut last = FxHashMap::default();
        for &pair in original.iter().filter(|_| carries) {
            if let Some((name, _)) = attribute(pair)? {
                last.insert(name, pair.at);
            }
        }
        Ok(Carried {
            f,
            values,
            places,
            last,
            carries,
        })
    }

    /// What becomes of an entry: it stays as long as it says what the attribute is.
    pub(crate) fn at(&mut self, pair: Message<'f>) -> Result<Fate> {
        let Some((name, value)) = attribute(pair)?.filter(|_| self.carries) else {
            return Ok(Fate::Stays);
        };
        let symbol = self.f.symbols().find(name);
        let place = symbol.and_then(|symbol| self.places.get(&symbol)).copied();
        let old = plain(self.f, value);
        let Some(place) = place else {
            // A parameter of this name was never the entry's.
            let param = symbol.and_then(|symbol| self.f.attr(OpId::NONE, symbol));
            let erased = old.is_some() && param.is_none();
            return Ok(if erased { Fate::Goes } else { Fate::Stays });
        };
        if self.last.get(name) != Some(&pair.at) {
            return Ok(Fate::Stays);
        }
        let (_, text, written) = &mut self.values[place];
        *written = true;
        if old.as_deref() == Some(text) {
            return Ok(Fate::Stays);
        }
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, entry::KEY, format!("{PREFIX}{name}").as_bytes());
        put_bytes(&mut bytes, entry::VALUE, text.as_bytes());
        Ok(Fate::Becomes(bytes))
    }

    /// Whether a key is that of an attribute that is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        let symbol = named(key).and_then(|name| self.f.symbols().find(name));
        symbol.is_some_and(|symbol| self.places.contains_key(&symbol))
    }

    /// What has no entry in the original.
    pub(crate) fn rest(self) -> impl Iterator<Item = (String, String)> {
        let f = self.f;
        let rest = self.values.into_iter().filter(|(.., written)| !written);
        rest.map(move |(name, value, _)| (format!("{PREFIX}{}", f.text(name)), value))
    }
}

/// Something of a module that its ONNX file won't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The function that has it; `None`: the module itself.
    pub function: Option<String>,
    /// A whole sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What [`write`](crate::write()) leaves out, as ONNX has no place for it.
pub fn left_out(module: &Module) -> Vec<LeftOut> {
    let mut found = Vec::new();
    for (key, _) in module.metadata() {
        if METADATA.iter().all(|(_, known)| known != key) {
            found.push(LeftOut {
                function: None,
                message: format!("The metadata `{key}` of the module isn't written."),
                help: "`metadata` are fields of ONNX's header; other keys and values go to \
                       `module meta {key = \"value\"}` of the text."
                    .to_owned(),
            });
        }
    }
    let version = final_version(module);
    for f in module
        .functions()
        .filter(|f| f.kind() == FunctionKind::GRAPH)
    {
        let function = f.text(f.name());
        for attr in f.attrs(OpId::NONE) {
            let (why, help) = if attr.flags & Attr::PARAM != 0 {
                if function != MAIN {
                    continue;
                }
                let why = "only local functions of a model have attribute parameters".to_owned();
                (
                    why,
                    "Remove it, or give the value to the ops that refer to it.",
                )
            } else if version < SINCE {
                let why = format!(
                    "the model's `ir_version` is {version}, and graphs and functions have metadata since {SINCE}"
                );
                (
                    why,
                    "Write the result as `.ir`, which keeps all attributes, or raise the `metadata \"onnx.ir_version\"` of the text.",
                )
            } else if attr_text(f, attr).is_none() {
                let why = format!(
                    "metadata carries numbers, strings and lists of them, and this is {}",
                    kind(attr.kind)
                );
                (
                    why,
                    "Write the result as `.ir`, which keeps all attributes.",
                )
            } else {
                continue;
            };
            let name = f.text(attr.name);
            found.push(LeftOut {
                function: Some(function.to_owned()),
                message: format!("The attribute `{name}` of @{function} isn't written: {why}."),
                help: help.to_owned(),
            });
        }
    }
    found
}

/// A kind of attribute that metadata doesn't carry.
fn kind(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::TENSOR | AttrKind::TENSORS => "a tensor",
        AttrKind::TYPE | AttrKind::TYPES => "a type",
        AttrKind::REGION | AttrKind::REGIONS => "a region",
        AttrKind::REFERENCE => "a reference to a parameter",
        _ => "in a form that only its importer knows",
    }
}
