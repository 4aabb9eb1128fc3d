//! What the plugins say of operators, for people: `passdock list ops`.

use std::fmt;

use passdock_abi as abi;
use passdock_abi::{AttrKind, OpEntry};
use serde::Serialize;

use super::{HostTable, LoadedOp, Plugin, table};
use crate::error::PluginError;

/// An operator from one version of its domain on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpInfo {
    /// The canonical name, domain included.
    pub name: String,
    /// The first version of its domain with this meaning.
    pub since: u32,
    /// Fewest operands.
    pub min_operands: u32,
    /// Most operands; `None`: any number.
    pub max_operands: Option<u32>,
    /// What is always true of it, in words.
    pub traits: Vec<&'static str>,
    /// Whether its results' types are inferred.
    pub types: bool,
    /// Whether it is evaluated when its operands are constant.
    pub evaluation: bool,
    /// Whether it is known what it is made of.
    pub decomposition: bool,
    /// All attributes it may have; `None`: not said.
    pub attributes: Option<Vec<AttrInfo>>,
    /// The plugin that says so.
    pub plugin: String,
}

/// An attribute of an operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttrInfo {
    /// Its name.
    pub name: &'static str,
    /// What its value is: `int`, `floats`, …
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether an op without it is wrong.
    pub required: bool,
    /// What an op without it means.
    pub default: Option<AttrValue>,
    /// What it means.
    pub doc: &'static str,
}

/// A default.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum AttrValue {
    Int(i64),
    Float(f32),
    String(&'static str),
    Ints(&'static [i64]),
    Floats(&'static [f32]),
    Strings(Vec<&'static str>),
}

impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrValue::Int(value) => write!(f, "{value}"),
            AttrValue::Float(value) => write!(f, "{value:?}"),
            AttrValue::String(value) => write!(f, "{value:?}"),
            AttrValue::Ints(values) => write!(f, "{values:?}"),
            AttrValue::Floats(values) => write!(f, "{values:?}"),
            AttrValue::Strings(values) => write!(f, "{values:?}"),
        }
    }
}

/// Traits in words; what follows from the rest of a definition isn't among them.
const TRAITS: &[(u64, &str)] = &[
    (OpEntry::PURE, "pure"),
    (OpEntry::RANDOM, "random"),
    (OpEntry::STATEFUL, "stateful"),
    (OpEntry::COMMUTATIVE, "commutative"),
    (OpEntry::ELEMENTWISE, "elementwise"),
    (OpEntry::IDEMPOTENT, "idempotent"),
    (OpEntry::IDENTITY, "identity"),
    (OpEntry::GROWS, "grows"),
    (OpEntry::READS, "reads"),
    (OpEntry::WRITES, "writes"),
    (OpEntry::ALLOCATES, "allocates"),
    (OpEntry::SHAPE_ONLY, "shape-only"),
];

const KINDS: &[(AttrKind, &str)] = &[
    (AttrKind::INT, "int"),
    (AttrKind::FLOAT, "float"),
    (AttrKind::STRING, "string"),
    (AttrKind::TENSOR, "tensor"),
    (AttrKind::TYPE, "type"),
    (AttrKind::REGION, "graph"),
    (AttrKind::INTS, "ints"),
    (AttrKind::FLOATS, "floats"),
    (AttrKind::STRINGS, "strings"),
    (AttrKind::TENSORS, "tensors"),
    (AttrKind::TYPES, "types"),
    (AttrKind::REGIONS, "graphs"),
    (AttrKind::OPAQUE, "opaque"),
];

/// The name of a kind of attributes; `?`: one that this host doesn't know.
pub fn kind_name(kind: AttrKind) -> &'static str {
    let known = KINDS.iter().find(|(known, _)| *known == kind);
    known.map_or("?", |(_, name)| name)
}

impl OpInfo {
    pub(super) fn new(
        name: &str,
        plugin: &Plugin,
        at: usize,
        host: HostTable,
    ) -> Result<OpInfo, PluginError> {
        let loaded = plugin.load(host)?;
        let Some(LoadedOp { entry }) = loaded.ops().get(at) else {
            unreachable!("a library whose table isn't as long as its manifest isn't loaded");
        };
        let attributes = table::attributes(entry)
            .map_err(|kind| PluginError::new(plugin.origin().clone(), kind))?;
        let traits = TRAITS.iter().filter(|(flag, _)| entry.traits & flag != 0);
        Ok(OpInfo {
            name: name.to_owned(),
            since: entry.since,
            min_operands: entry.min_operands,
            max_operands: Some(entry.max_operands).filter(|&most| most != u32::MAX),
            traits: traits.map(|(_, name)| *name).collect(),
            types: entry.infer.is_some(),
            evaluation: entry.evaluate.is_some(),
            decomposition: entry.decompose.is_some(),
            attributes: attributes.map(|attrs| attrs.iter().map(AttrInfo::new).collect()),
            plugin: plugin.name().to_owned(),
        })
    }
}

impl AttrInfo {
    fn new(attr: &table::Attribute) -> AttrInfo {
        AttrInfo {
            name: attr.name,
            kind: kind_name(attr.kind),
            required: attr.flags & abi::AttrEntry::REQUIRED != 0,
            default: attr.default.clone(),
            doc: attr.doc,
        }
    }
}
