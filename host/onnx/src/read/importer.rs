//! The state of the reader of one function.

use passdock_abi::{RegionId, SymbolId, TypeId, ValueId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

use super::context::Context;
use super::frame::{Frame, span};
use super::sort::Orders;
use crate::format::attribute::Attribute;
use crate::format::types::Placeholders;
use crate::format::wire::Message;

/// The reader of one function.
pub(super) struct Importer<'c, 'a> {
    pub(super) cx: &'c mut Context<'a>,
    pub(super) f: Function,
    /// Types by the bytes they were read from, and whether they have placeholders.
    pub(super) types: FxHashMap<&'a [u8], (TypeId, bool)>,
    pub(super) placeholders: Placeholders,
    /// Whether it ended because a name had no definition so far.
    pub(super) undefined: bool,
    pub(super) scratch: Scratch<'a>,
    pub(super) orders: Option<&'c Orders>,
    pub(super) work: Vec<Work<'a>>,
    /// The values that names had before the graphs that are open.
    pub(super) undo: Vec<(SymbolId, ValueId)>,
    /// Values whose name means another one outside.
    pub(super) shadowing: Vec<ValueId>,
    /// The number of graphs opened so far.
    pub(super) opened: u32,
    /// The number of graphs that had been opened when a graph inside another ended that defined a
    /// name, by name.
    pub(super) ended: FxHashMap<SymbolId, u32>,
}

/// A piece of work that waits.
pub(super) enum Work<'a> {
    /// A region of an op that was made, and its graph.
    Open(RegionId, Message<'a>),
    Run(Frame<'a>),
}

/// Buffers that every node needs again.
#[derive(Default)]
pub(super) struct Scratch<'a> {
    pub(super) operands: Vec<ValueId>,
    pub(super) outputs: Vec<SymbolId>,
    pub(super) types: Vec<TypeId>,
    pub(super) attrs: Vec<Attribute<'a>>,
    /// Regions of the op just made, and their graphs.
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

    /// Sets the message that an entity comes from.
    pub(super) fn set_origin(&mut self, entity: Entity, message: Message<'a>) {
        self.f.origins_mut().set(entity, span(message));
    }
}
