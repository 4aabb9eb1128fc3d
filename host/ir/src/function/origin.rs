//! The origins of imported entities in their file, and the extras that the importer stored.
//!
//! An importer records the span of the file from which it read each entity. Reading costs no more than that, and an
//! exporter finds there the fields that the IR doesn't model. A self-contained module (text, for example) has
//! [`Extras`] instead: the fields of the span that the IR doesn't model. An entity that wasn't imported has neither,
//! until its metadata is set.
//!
//! Only the host uses these columns; plugins see only metadata.

use std::any::Any;
use std::sync::Arc;

use passdock_abi::{ConstId, Constant, OpId, Port, RegionId, Value, ValueId};
use rustc_hash::FxHashMap;

use crate::error::Edit;
use crate::function::Function;

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

/// The files from which an importer read a module.
pub trait ModuleSource: Any + Send + Sync {
    /// Returns the metadata of an entity in the file, in order: keys and values. Empty if the entity has no span.
    fn metadata<'a>(&'a self, function: &Function, entity: Entity) -> Vec<(&'a str, &'a str)>;
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
    /// Key-value pairs, in order; keys may repeat. If it is `None`, an entity with a span has the metadata of its span.
    pub metadata: Option<Vec<(Box<str>, Box<str>)>>,
    /// Other data of the importer, in its own format.
    pub bytes: Vec<u8>,
}

impl Extras {
    /// Whether all fields are empty.
    pub fn is_empty(&self) -> bool {
        self.doc.is_none() && self.metadata.is_none() && self.bytes.is_empty()
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

impl Function {
    /// Returns the metadata of an op or a value, in order: keys and values. `source` is the module's.
    ///
    /// # Errors
    /// If the op or value is erased.
    pub fn metadata<'a>(
        &'a self,
        entity: Entity,
        source: Option<&'a dyn ModuleSource>,
    ) -> Edit<Vec<(&'a str, &'a str)>> {
        let entity = self.metadata_entity(entity)?;
        let own = self.origins.extras(entity);
        Ok(match own.and_then(|extras| extras.metadata.as_ref()) {
            Some(own) => own.iter().map(|(key, text)| (&**key, &**text)).collect(),
            None => source.map_or_else(Vec::new, |source| source.metadata(self, entity)),
        })
    }

    /// Sets an entry of the metadata of an op or a value. An empty text removes it.
    ///
    /// # Errors
    /// If the op or value is erased.
    pub fn set_metadata(
        &mut self,
        entity: Entity,
        source: Option<&dyn ModuleSource>,
        key: &str,
        text: &str,
    ) -> Edit {
        let mut metadata = self.metadata(entity, source)?;
        match metadata.iter().position(|(other, _)| *other == key) {
            Some(at) if text.is_empty() => _ = metadata.remove(at),
            Some(at) => metadata[at].1 = text,
            None if text.is_empty() => return Ok(()),
            None => metadata.push((key, text)),
        }
        let metadata = metadata.into_iter();
        let metadata = metadata.map(|(key, text)| (key.into(), text.into()));
        let metadata: Vec<(Box<str>, Box<str>)> = metadata.collect();
        let entity = self.metadata_entity(entity)?;
        let old = self
            .origins
            .extras(entity)
            .map(|extras| Extras::clone(extras));
        let new = Extras {
            metadata: Some(metadata),
            ..old.unwrap_or_default()
        };
        self.origins.set_extras(entity, new);
        match entity {
            Entity::Op(op) => self.touch_op(op),
            Entity::Value(value) => {
                // Only declared results have a `ValueInfo`. Parameters always have one.
                if self.value(value).flags & Value::KIND == Value::RESULT {
                    self.values[value.index()].flags |= Value::DECLARED;
                }
                self.touch_value(value);
            }
            Entity::Port(at) => {
                self.ports[at as usize].flags |= Port::TOUCHED;
                self.touch_region(self.body);
            }
            Entity::Constant(id) => {
                self.constants[id.index()].flags |= Constant::TOUCHED;
                self.touch_region(self.constant(id).region);
            }
            Entity::Function | Entity::Region(_) => {}
        }
        Ok(())
    }

    /// Returns the entity that stores the metadata of a value: a constant, a result of the function, or the value.
    fn metadata_entity(&self, entity: Entity) -> Edit<Entity> {
        let value = match entity {
            Entity::Op(op) => {
                self.live_op(op)?;
                return Ok(entity);
            }
            Entity::Value(value) => value,
            _ => return Ok(entity),
        };
        let record = self.live_value(value)?;
        if let Some(constant) = record.constant.option() {
            return Ok(Entity::Constant(constant));
        }
        let end = self.terminator(self.body);
        let mut results = end.into_iter().flat_map(|op| self.operands(op));
        let ports = self.region(self.body).ports;
        Ok(match results.position(|slot| slot.value == value) {
            Some(at) if at < ports.len as usize => Entity::Port(ports.start + at as u32),
            _ => entity,
        })
    }
}
