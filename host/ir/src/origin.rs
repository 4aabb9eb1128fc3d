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

/// The origins and extras of one function's entities.
#[derive(Clone, Default, Debug)]
pub struct Origins {
    pub(crate) ops: Vec<SourceSpan>,
    pub(crate) values: Vec<SourceSpan>,
    pub(crate) regions: Vec<SourceSpan>,
    pub(crate) ports: Vec<SourceSpan>,
    pub(crate) constants: Vec<SourceSpan>,
    pub(crate) function: Option<SourceSpan>,
    pub(crate) extras: FxHashMap<Entity, Arc<Extras>>,
}

fn get(column: &[SourceSpan], at: usize) -> SourceSpan {
    column.get(at).copied().unwrap_or(SourceSpan::NONE)
}

/// Sets the origin at a place of a column.
pub(crate) fn set_origin(column: &mut Vec<SourceSpan>, at: usize, origin: SourceSpan) {
    if column.len() <= at {
        column.resize(at + 1, SourceSpan::NONE);
    }
    column[at] = origin;
}

impl Origins {
    /// The origin of an entity.
    pub fn get(&self, entity: Entity) -> SourceSpan {
        match entity {
            Entity::Function => self.function.unwrap_or(SourceSpan::NONE),
            Entity::Op(id) => get(&self.ops, id.index()),
            Entity::Value(id) => get(&self.values, id.index()),
            Entity::Region(id) => get(&self.regions, id.index()),
            Entity::Port(id) => get(&self.ports, id as usize),
            Entity::Constant(id) => get(&self.constants, id.index()),
        }
    }

    /// Sets the origin of an entity.
    pub fn set(&mut self, entity: Entity, origin: SourceSpan) {
        match entity {
            Entity::Function => self.function = Some(origin),
            Entity::Op(id) => set_origin(&mut self.ops, id.index(), origin),
            Entity::Value(id) => set_origin(&mut self.values, id.index(), origin),
            Entity::Region(id) => set_origin(&mut self.regions, id.index(), origin),
            Entity::Port(id) => set_origin(&mut self.ports, id as usize, origin),
            Entity::Constant(id) => set_origin(&mut self.constants, id.index(), origin),
        }
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
        *self = Origins {
            extras: std::mem::take(&mut self.extras),
            ..Origins::default()
        };
    }
}
