//! Descriptions of operators for users: `passdock list ops`.

use std::fmt;

use passdock_abi::{AttrKind, OpEntry};
use serde::Serialize;

use super::{HostTable, Plugin};
use crate::error::PluginError;

/// The description of an operator since a version of its domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpInfo {
    /// The canonical name, domain included.
    pub name: String,
    /// The first version of its domain with this meaning.
    pub since: i64,
    /// The minimum number of operands.
    pub min_operands: u32,
    /// The maximum number of operands, or `None` if unlimited.
    pub max_operands: Option<u32>,
    /// The minimum number of results.
    pub min_results: u32,
    /// The maximum number of results. `None`: no limit, or unknown.
    pub max_results: Option<u32>,
    /// The names of the operator's traits.
    pub traits: Vec<&'static str>,
    /// Whether the types of its results are inferred.
    pub type_inference: bool,
    /// Whether the operator can be evaluated on constant operands.
    pub evaluation: bool,
    /// Whether it can be decomposed into other ops.
    pub decomposition: bool,
    /// Whether the definition supports other layouts.
    pub layouts: bool,
    /// All attributes of the operator, or `None` if the definition doesn't list them.
    pub attributes: Option<Vec<AttrInfo>>,
    /// Whether the plugin only extends the operator's definition, which may be another plugin's.
    pub extends: bool,
    /// The targets for which the definition implements `supports`.
    pub targets: Vec<&'static str>,
    /// The plugin that defines it or extends the definition.
    pub plugin: String,
}

/// An attribute of an operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttrInfo {
    /// The attribute's name.
    pub name: &'static str,
    /// The kind of the attribute's value: `int`, `floats`, …
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The kind in the plugin ABI.
    #[serde(skip)]
    pub kind_code: AttrKind,
    /// Whether an op without the attribute is invalid.
    pub required: bool,
    /// The default value of the attribute.
    pub default: Option<OpAttrDefault>,
    /// The attribute's documentation.
    pub doc: &'static str,
}

/// The default value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum OpAttrDefault {
    Int(i64),
    Float(f32),
    String(&'static str),
    Ints(&'static [i64]),
    Floats(&'static [f32]),
    Strings(Vec<&'static str>),
}

impl fmt::Display for OpAttrDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpAttrDefault::Int(value) => write!(f, "{value}"),
            OpAttrDefault::Float(value) => write!(f, "{value:?}"),
            OpAttrDefault::String(value) => write!(f, "{value:?}"),
            OpAttrDefault::Ints(values) => write!(f, "{values:?}"),
            OpAttrDefault::Floats(values) => write!(f, "{values:?}"),
            OpAttrDefault::Strings(values) => write!(f, "{values:?}"),
        }
    }
}

/// The names of the traits that a definition declares. Traits that follow from its functions are omitted.
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
    (OpEntry::INJECTIVE, "injective"),
    (OpEntry::REDUCTION, "reduction"),
    (OpEntry::OUT_FUSABLE, "out-fusable"),
    (OpEntry::ILLEGAL, "illegal"),
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

/// Formats a number of operands or results of an op: `1 to 3 operands`. `what` is one of them in the singular.
pub fn count_range(what: &str, fewest: u32, most: u32) -> String {
    let counted = |count: u32| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    match most {
        _ if most == fewest => counted(most),
        u32::MAX => format!("at least {}", counted(fewest)),
        _ => format!("{fewest} to {most} {what}s"),
    }
}

/// Returns the name of an attribute kind, or `?` for an unknown one.
pub fn kind_name(kind: AttrKind) -> &'static str {
    let named = KINDS.iter().find(|(own, _)| *own == kind);
    named.map_or("?", |(_, name)| name)
}

/// Returns a maximum, or `None` if it is unlimited.
fn limited(most: u32) -> Option<u32> {
    Some(most).filter(|&most| most != u32::MAX)
}

impl OpInfo {
    pub(super) fn new(
        name: &str,
        plugin: &Plugin,
        at: usize,
        host: HostTable,
    ) -> Result<OpInfo, PluginError> {
        let loaded = plugin.load(host)?;
        let (Some(spec), Some(op)) = (plugin.manifest().ops.get(at), loaded.ops().get(at)) else {
            unreachable!("a library whose table differs in length from its manifest isn't loaded");
        };
        let entry = &op.entry;
        let traits = TRAITS.iter().filter(|(flag, _)| entry.traits & flag != 0);
        Ok(OpInfo {
            name: name.to_owned(),
            since: entry.since,
            min_operands: entry.min_operands,
            max_operands: limited(entry.max_operands),
            min_results: entry.min_results,
            max_results: limited(entry.max_results),
            traits: traits.map(|(_, name)| *name).collect(),
            type_inference: entry.infer.is_some(),
            evaluation: entry.evaluate.is_some(),
            decomposition: entry.decompose.is_some(),
            layouts: entry.layout.is_some() || entry.alter_layout.is_some(),
            extends: spec.extends,
            targets: op.targets.to_vec(),
            attributes: op.attributes.map(<[AttrInfo]>::to_vec),
            plugin: plugin.name().to_owned(),
        })
    }
}
