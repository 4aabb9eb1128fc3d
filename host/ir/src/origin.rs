//! Origins of imported entities, and the extras that their importer kept.
//!
//! An importer remembers of each entity the span of its file that it came from: that is all that
//! reading costs, and an exporter finds there what the IR doesn't model. A module that has to live
//! without its file (as text does) has [`Extras`] instead: what stood in the span beside what the IR
//! says itself. An entity that wasn't imported has neither.
//!
//! These columns are the host's own: plugins don't see them.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, RegionId, ValueId};
use rustc_hash::FxHashMap;

/// A span of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceSpan {
    /// The offset of the first byte.
    pub start: u64,
    /// The number of bytes.
    pub len: u64,
}

impl SourceSpan {
    /// The origin of entities that weren't imported.
    pub const NONE: SourceSpan = SourceSpan {
        start: u64::MAX,
        len: 0,
    };

    /// Whether there is a span.
    pub fn is_some(self) -> bool {
        self != SourceSpan::NONE
    }
}

/// An entity that can have extras.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    /// The function itself.
    Function,
    /// An op.
    Op(OpId),
    /// A value.
    Value(ValueId),
    /// A region.
    Region(RegionId),
    /// A port, by its place in the arena.
    Port(u32),
    /// A constant.
    Constant(ConstId),
}

/// The documentation, metadata and importer's data of an entity, beside the IR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Its documentation.
    pub doc: Option<Box<str>>,
    /// Key-value pairs, in order; a key may come twice.
    pub metadata: Vec<(Box<str>, Box<str>)>,
    /// The importer's other data, in its own format.
    pub bytes: Vec<u8>,
}

impl Extras {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.doc.is_none() && self.metadata.is_empty() && self.bytes.is_empty()
    }
}

/// The entity at a place of each column of [`Origins`].
const KINDS: [fn(u32) -> Entity; 6] = [
    |_| Entity::Function,
    |at| Entity::Op(OpId(at)),
    |at| Entity::Value(ValueId(at)),
    |at| Entity::Region(RegionId(at)),
    Entity::Port,
    |at| Entity::Constant(ConstId(at)),
];

impl Entity {
    /// The column of the entity's kind, and its place there.
    fn place(self) -> (usize, usize) {
        match self {
            Entity::Function => (0, 0),
            Entity::Op(id) => (1, id.index()),
            Entity::Value(id) => (2, id.index()),
            Entity::Region(id) => (3, id.index()),
            Entity::Port(id) => (4, id as usize),
            Entity::Constant(id) => (5, id.index()),
        }
    }
}

/// The origins and extras of one function's entities.
#[derive(Clone, Default, Debug)]
pub struct Origins {
    /// The span of each entity, a column for each kind.
    pub(crate) spans: [Vec<SourceSpan>; KINDS.len()],
    pub(crate) extras: FxHashMap<Entity, Arc<Extras>>,
}

impl Origins {
    /// The origin of an entity.
    pub fn get(&self, entity: Entity) -> SourceSpan {
        let (column, at) = entity.place();
        let known = self.spans[column].get(at);
        known.copied().unwrap_or(SourceSpan::NONE)
    }

    /// Sets the origin of an entity.
    pub fn set(&mut self, entity: Entity, origin: SourceSpan) {
        let (column, at) = entity.place();
        let column = &mut self.spans[column];
        if column.len() <= at {
            column.resize(at + 1, SourceSpan::NONE);
        }
        column[at] = origin;
    }

    /// The origins and extras of entities that have become others; `None`: of those that are gone.
    pub(crate) fn moved(&self, map: impl Fn(Entity) -> Option<Entity>) -> Origins {
        let mut moved = Origins::default();
        for (column, spans) in self.spans.iter().enumerate() {
            for (at, &span) in spans.iter().enumerate() {
                if span.is_some()
                    && let Some(entity) = map(KINDS[column](at as u32))
                {
                    moved.set(entity, span);
                }
            }
        }
        let extras = self.extras.iter();
        let extras = extras.filter_map(|(&entity, extras)| Some((map(entity)?, extras.clone())));
        moved.extras = extras.collect();
        moved
    }

    /// Whether anything has extras.
    pub fn has_extras(&self) -> bool {
        !self.extras.is_empty()
    }

    /// The extras of an entity.
    pub fn extras(&self, entity: Entity) -> Option<&Arc<Extras>> {
        self.extras.get(&entity)
    }

    /// Sets the extras of an entity; empty ones are removed.
    pub fn set_extras(&mut self, entity: Entity, extras: impl Into<Arc<Extras>>) {
        let extras = extras.into();
        if extras.is_empty() {
            self.extras.remove(&entity);
        } else {
            self.extras.insert(entity, extras);
        }
    }

    /// Copies the origin and the extras of one entity to another.
    pub(crate) fn carry(&mut self, from: Entity, to: Entity) {
        let origin = self.get(from);
        if origin.is_some() {
            self.set(to, origin);
        }
        if let Some(extras) = self.extras(from).cloned() {
            self.extras.insert(to, extras);
        }
    }

    /// Forgets all spans; extras stay.
    pub fn drop_spans(&mut self) {
        self.spans = Default::default();
    }
}
