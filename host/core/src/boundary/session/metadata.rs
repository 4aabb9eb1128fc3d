//! Metadata of ops and values.

use std::sync::Arc;

use passdock_abi::{Metadata, OpId, Str, ValueId};
use passdock_ir::{Edit, Entity, ModuleSource};

use super::lending;
use super::{FunctionState, with_current};

/// The entries of a query for metadata. They belong to the function until the next query. Moving them doesn't move the
/// texts.
#[derive(Default)]
pub(super) struct MetadataBuffer {
    /// The texts that the entries point to.
    _texts: Vec<String>,
    entries: Vec<Metadata>,
}

impl MetadataBuffer {
    fn new(metadata: &[(&str, &str)]) -> MetadataBuffer {
        let mut texts = Vec::with_capacity(2 * metadata.len());
        let mut held = |text: &str| {
            let text = text.to_owned();
            let held = Str::new(&text);
            texts.push(text);
            held
        };
        let entries = metadata.iter();
        let entries = entries.map(|(key, text)| Metadata {
            key: held(key),
            text: held(text),
        });
        MetadataBuffer {
            entries: entries.collect(),
            _texts: texts,
        }
    }
}

impl FunctionState {
    pub(in crate::boundary) fn op_metadata(&mut self, op: OpId) -> Edit<&[Metadata]> {
        self.metadata(Entity::Op(op))
    }

    pub(in crate::boundary) fn value_metadata(&mut self, value: ValueId) -> Edit<&[Metadata]> {
        self.metadata(Entity::Value(value))
    }

    pub(in crate::boundary) fn set_op_metadata(&mut self, op: OpId, key: &str, text: &str) -> Edit {
        self.set_metadata(Entity::Op(op), key, text)
    }

    pub(in crate::boundary) fn set_value_metadata(
        &mut self,
        value: ValueId,
        key: &str,
        text: &str,
    ) -> Edit {
        self.set_metadata(Entity::Value(value), key, text)
    }

    fn metadata(&mut self, entity: Entity) -> Edit<&[Metadata]> {
        let source = self.source();
        let metadata = self.read()?.metadata(entity, source.as_deref())?;
        let buffer = MetadataBuffer::new(&metadata);
        let extras = self.extras();
        extras.metadata = buffer;
        Ok(lending::result(
            &extras.metadata.entries,
            |loans, entries| {
                // SAFETY: the texts belong to the buffer.
                let entries = entries.iter().map(|entry| unsafe {
                    Metadata {
                        key: loans.text(entry.key),
                        text: loans.text(entry.text),
                    }
                });
                let entries: Vec<Metadata> = entries.collect();
                loans.list(&entries)
            },
        ))
    }

    fn set_metadata(&mut self, entity: Entity, key: &str, text: &str) -> Edit {
        let source = self.source();
        self.edit()?
            .set_metadata(entity, source.as_deref(), key, text)
    }

    /// Returns the files from which the function's module was imported.
    fn source(&self) -> Option<Arc<dyn ModuleSource>> {
        match self.own_module() {
            Some(module) => module.source().cloned(),
            None => with_current(|context| context.module_source()).flatten(),
        }
    }
}
