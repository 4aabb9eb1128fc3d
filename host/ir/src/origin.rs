//! The origins of imported entities in their file, and the extras that the importer stored.
//!
//! An importer records the span of the file from which it read each entity. Reading costs no more than that, and an
//! exporter finds there the fields that the IR doesn't model. A self-contained module (text, for example) has
//! [`Extras`] instead: the fields of the span that the IR doesn't model. An entity that wasn't imported has neither.
//!
//! Only the host uses these columns; plugins don't see them.

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
    /// A port, by its index in the arena.
    Port(u32),
    /// A constant.
    Constant(ConstId),
}

/// The documentation, metadata and importer's data of an entity, which the IR doesn't model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The documentation string.
    pub doc: Option<Box<str>>,
    /// Key-value pairs, in order; keys may repeat.
    pub metadata: Vec<(Box<str>, Box<str>)>,
    /// Other data of the importer, in its own format.
    pub bytes: Vec<u8>,
}

impl Extras {
    /// Whether all fields are empty.
    pub fn is_empty(&self) -> bool {
        self.doc.is_none() && self.metadata.is_empty() && self.bytes.is_empty()
    }
}

/// Constructs the entity of an index, for each column of [`Origins`].
const KINDS: [fn(u32) -> Entity; 6] = [
    |_| Entity::Function,
    |at| Entity::Op(OpId(at)),
    |at| Entity::Value(ValueId(at)),
    |at| Entity::Region(RegionId(at)),
    Entity::Port,
    |at| Entity::Constant(ConstId(at)),
];

impl Entity {
    /// Returns the column of the entity's kind, and its index there.
    fn table_index(self) -> (usize, usize) {
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
    /// The span of each entity, one column per kind.
    pub(crate) spans: [Vec<SourceSpan>; KINDS.len()],
    pub(crate) extras: FxHashMap<Entity, Arc<Extras>>,
}

impl Origins {
    /// Returns the origin of an entity.
    pub fn get(&self, entity: Entity) -> SourceSpan {
        let (column, at) = entity.table_index();
        let known = self.spans[column].get(at);
        known.copied().unwrap_or(SourceSpan::NONE)
    }

    /// Sets the origin of an entity.
    pub fn set(&mut self, entity: Entity, origin: SourceSpan) {
        let (column, at) = entity.table_index();
        let column = &mut self.spans[column];
        if column.len() <= at {
            column.resize(at + 1, SourceSpan::NONE);
        }
        column[at] = origin;
    }

    /// Returns the origins and extras with each entity mapped; entities mapped to `None` are dropped.
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

    /// Whether any entity has extras.
    pub fn has_extras(&self) -> bool {
        !self.extras.is_empty()
    }

    /// Returns the extras of an entity.
    pub fn extras(&self, entity: Entity) -> Option<&Arc<Extras>> {
        self.extras.get(&entity)
    }

    /// Sets the extras of an entity; empty extras are removed.
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

    /// Drops all spans; extras stay.
    pub fn drop_spans(&mut self) {
        self.spans = Default::default();
    }
}
