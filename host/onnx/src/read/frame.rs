//! A graph whose nodes are being read, and its description in errors.

use passdock_abi::{ConstId, LocId, OpId, RegionId, SymbolId, TypeId};
use passdock_ir::SourceSpan;
use rustc_hash::FxHashMap;

use crate::format::fields::{name_of, quoted};
use crate::format::schema::node;
use crate::format::wire::{Message, Value};

/// A graph whose nodes are being read.
pub(super) struct Frame<'a> {
    pub(super) region: RegionId,
    /// The nodes that aren't read yet, in reading order.
    pub(super) nodes: std::vec::IntoIter<Message<'a>>,
    /// The current node, and the number of nodes before it.
    pub(super) current: Option<Message<'a>>,
    pub(super) index: usize,
    /// The op whose regions are being read. Its results aren't bound yet.
    pub(super) parent: Option<OpId>,
    pub(super) outputs: Vec<Info<'a>>,
    /// Declarations of values that aren't defined yet, and whether each is a value info and not an output.
    pub(super) declared: FxHashMap<SymbolId, (Info<'a>, bool)>,
    /// Constants whose anchor, the op after them, isn't read yet.
    pub(super) waiting: Vec<(ConstId, LocId)>,
    /// The index of its first entry in `undo`.
    pub(super) undo: usize,
    /// The number of graphs that were opened before it.
    pub(super) opened: u32,
}

/// A `ValueInfoProto`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info<'a> {
    pub(super) message: Message<'a>,
    /// The name; `NONE` if it has none.
    pub(super) name: SymbolId,
    /// The type; `NONE` if it has none.
    pub(super) ty: TypeId,
    /// Whether it has documentation, metadata or fields of later versions.
    pub(super) is_annotated: bool,
}

impl<'a> Info<'a> {
    /// Creates an info with a name and no type.
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
    /// Describes the current node for errors.
    pub(super) fn describe_position(&self) -> String {
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

/// Describes a message of a repeated field for errors: `initializer[3] ('w')`. `number` is the field of its name.
pub(super) fn named(part: &str, index: usize, message: Message<'_>, number: u32) -> String {
    match name_of(message, number) {
        Some(name) => format!("{part}[{index}] ({})", quoted(name)),
        None => format!("{part}[{index}]"),
    }
}

/// Returns the span of a message.
pub(super) fn span(message: Message<'_>) -> SourceSpan {
    SourceSpan {
        start: message.at,
        len: message.len(),
    }
}
