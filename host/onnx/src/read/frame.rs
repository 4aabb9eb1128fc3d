//! A graph whose nodes are being read, and what errors say of it.

use passdock_abi::{ConstId, LocId, OpId, RegionId, SymbolId, TypeId};
use passdock_ir::SourceSpan;
use rustc_hash::FxHashMap;

use crate::format::fields::{name_of, quoted};
use crate::format::schema::node;
use crate::format::wire::{Message, Value};

/// A graph whose nodes are being read.
pub(super) struct Frame<'a> {
    pub(super) region: RegionId,
    /// The nodes still to be read, in the order to read them.
    pub(super) nodes: std::vec::IntoIter<Message<'a>>,
    /// The node at hand, and how many came before it.
    pub(super) current: Option<Message<'a>>,
    pub(super) index: usize,
    /// The op whose regions are being read; its results aren't defined yet.
    pub(super) parent: Option<OpId>,
    pub(super) outputs: Vec<Info<'a>>,
    /// The declarations of values to come; `true`: by a value info, not an output.
    pub(super) declared: FxHashMap<SymbolId, (Info<'a>, bool)>,
    /// Constants that wait for the op they stand before.
    pub(super) waiting: Vec<(ConstId, LocId)>,
    /// The start of its entries in `undo`.
    pub(super) undo: usize,
    /// The number of graphs opened before it.
    pub(super) opened: u32,
}

/// A `ValueInfoProto`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info<'a> {
    pub(super) message: Message<'a>,
    /// Its name; NONE if it has none.
    pub(super) name: SymbolId,
    /// Its type; NONE if it has none.
    pub(super) ty: TypeId,
    /// Whether it has more: documentation, metadata, fields of versions to come.
    pub(super) is_annotated: bool,
}

impl<'a> Info<'a> {
    /// A name without a type.
    pub(super) fn untyped(message: Message<'a>, name: SymbolId) -> Info<'a> {
        Info {
            message,
            name,
            ty: TypeId::NONE,
            is_annotated: false,
        }
    }
}

impl Frame<'_> {
    /// The node at hand, as errors name it.
    pub(super) fn place(&self) -> String {
        let Some(message) = self.current else {
            return "graph".to_owned();
        };
        let (mut name, mut op) = (None, "".into());
        for field in message.fields().map_while(std::result::Result::ok) {
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                node::NAME if !body.bytes.is_empty() => name = Some(body.bytes),
                node::OP_TYPE => op = String::from_utf8_lossy(body.bytes),
                _ => {}
            }
        }
        let index = self.index;
        match name {
            Some(name) => format!("node[{index}] ({op} {})", quoted(name)),
            None if op.is_empty() => format!("node[{index}]"),
            None => format!("node[{index}] ({op})"),
        }
    }
}

/// A repeated field's message as errors name it: `initializer[3] ('w')`; its name is field `number`.
pub(super) fn named(part: &str, index: usize, message: Message<'_>, number: u32) -> String {
    match name_of(message, number) {
        Some(name) => format!("{part}[{index}] ({})", quoted(name)),
        None => format!("{part}[{index}]"),
    }
}

/// The span of a message, as the IR keeps it.
pub(super) fn span(message: Message<'_>) -> SourceSpan {
    SourceSpan {
        start: message.at,
        len: message.len(),
    }
}
