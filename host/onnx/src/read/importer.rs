//! The state of one function's importer.

use passdock_abi::{RegionId, SymbolId, TypeId, ValueId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

use super::context::Context;
use super::frame::{Frame, span};
use super::sort::Orders;
use crate::format::attribute::Attribute;
use crate::format::types::Placeholders;
use crate::format::wire::Message;

/// The importer of one function.
pub(super) struct Importer<'c, 'a> {
    pub(super) cx: &'c mut Context<'a>,
    pub(super) f: Function,
    /// Types by the bytes that they were read from, and whether they contain placeholders.
    pub(super) types: FxHashMap<&'a [u8], (TypeId, bool)>,
    pub(super) placeholders: Placeholders,
    /// Whether the import failed because a name wasn't defined before its use.
    pub(super) undefined: bool,
    pub(super) scratch: Scratch<'a>,
    pub(super) orders: Option<&'c Orders>,
    pub(super) work: Vec<Work<'a>>,
    /// The previous bindings of names that the open graphs bind.
    pub(super) undo: Vec<(SymbolId, ValueId)>,
    /// Values whose names shadow a value of an outer graph.
    pub(super) shadowing: Vec<ValueId>,
    /// The number of graphs opened so far.
    pub(super) opened: u32,
    /// By name: the number of graphs opened when the last nested graph with a definition of that name ended.
    pub(super) ended: FxHashMap<SymbolId, u32>,
}

/// A unit of pending work.
pub(super) enum Work<'a> {
    /// A region of a created op, and its graph, which isn't opened yet.
    Open(RegionId, Message<'a>),
    Run(Frame<'a>),
}

/// Buffers that are reused for each node.
#[derive(Default)]
pub(super) struct Scratch<'a> {
    pub(super) operands: Vec<ValueId>,
    pub(super) outputs: Vec<SymbolId>,
    pub(super) types: Vec<TypeId>,
    pub(super) attrs: Vec<Attribute<'a>>,
    /// Regions of the created op, and their graphs.
    pub(super) opened: Vec<(RegionId, Message<'a>)>,
}

impl<'c, 'a> Importer<'c, 'a> {
    pub(super) fn new(
        cx: &'c mut Context<'a>,
        f: Function,
        orders: Option<&'c Orders>,
    ) -> Importer<'c, 'a> {
        Importer {
            cx,
            f,
            types: FxHashMap::default(),
            placeholders: Placeholders::default(),
            undefined: false,
            scratch: Default::default(),
            orders,
            work: Vec::new(),
            undo: Vec::new(),
            shadowing: Vec::new(),
            opened: 0,
            ended: FxHashMap::default(),
        }
    }

    /// Sets the span of an entity to that of its message.
    pub(super) fn set_origin(&mut self, entity: Entity, message: Message<'a>) {
        self.f.origins_mut().set(entity, span(message));
    }
}
