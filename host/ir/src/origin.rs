//! Where imported entities come from, and what their importer kept of them.
//!
//! These columns are the host's own: plugins don't see them. An entity that wasn't imported has
//! [`Origin::NONE`].

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, RegionId, ValueId};
use rustc_hash::FxHashMap;

/// A span of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The first byte.
    pub start: u64,
    /// How many bytes.
    pub len: u32,
    /// Which of the module's sources; `u32::MAX`: none.
    pub source: u32,
}

impl Origin {
    /// Not imported.
    pub const NONE: Origin = Origin {
        start: 0,
        len: 0,
        source: u32::MAX,
    };

    /// Whether there is a span.
    pub fn is_some(self) -> bool {
        self.source != u32::MAX
    }
}

/// Something that can have extras.
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

/// The origins and extras of one function's entities.
#[derive(Clone, Default, Debug)]
pub struct Origins {
    pub(crate) ops: Vec<Origin>,
    pub(crate) values: Vec<Origin>,
    pub(crate) regions: Vec<Origin>,
    pub(crate) ports: Vec<Origin>,
    pub(crate) constants: Vec<Origin>,
    pub(crate) function: Option<Origin>,
    pub(crate) extras: FxHashMap<Entity, Arc<[u8]>>,
}

fn get(column: &[Origin], at: usize) -> Origin {
    column.get(at).copied().unwrap_or(Origin::NONE)
}

fn set(column: &mut Vec<Origin>, at: usize, origin: Origin) {
    if column.len() <= at {
        column.resize(at + 1, Origin::NONE);
    }
    column[at] = origin;
}

impl Origins {
    /// Where an entity comes from.
    pub fn get(&self, entity: Entity) -> Origin {
        match entity {
            Entity::Function => self.function.unwrap_or(Origin::NONE),
            Entity::Op(id) => get(&self.ops, id.index()),
            Entity::Value(id) => get(&self.values, id.index()),
            Entity::Region(id) => get(&self.regions, id.index()),
            Entity::Port(id) => get(&self.ports, id as usize),
            Entity::Constant(id) => get(&self.constants, id.index()),
        }
    }

    /// Says where an entity comes from.
    pub fn set(&mut self, entity: Entity, origin: Origin) {
        match entity {
            Entity::Function => self.function = Some(origin),
            Entity::Op(id) => set(&mut self.ops, id.index(), origin),
            Entity::Value(id) => set(&mut self.values, id.index(), origin),
            Entity::Region(id) => set(&mut self.regions, id.index(), origin),
            Entity::Port(id) => set(&mut self.ports, id as usize, origin),
            Entity::Constant(id) => set(&mut self.constants, id.index(), origin),
        }
    }

    /// What the importer kept of an entity in its own format.
    pub fn extras(&self, entity: Entity) -> Option<&Arc<[u8]>> {
        self.extras.get(&entity)
    }

    /// Keeps something of an entity in the importer's format; empty: nothing.
    pub fn set_extras(&mut self, entity: Entity, bytes: impl Into<Arc<[u8]>>) {
        let bytes = bytes.into();
        if bytes.is_empty() {
            self.extras.remove(&entity);
        } else {
            self.extras.insert(entity, bytes);
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
