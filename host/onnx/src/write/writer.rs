//! The state of the writer: of a module, and of the function that is being written.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, RegionId, SymbolId, ValueId};
use passdock_ir::{Entity, Function, Module};
use rustc_hash::FxHashMap;

use super::imports::Domains;
use super::placement::Home;
use super::rope::{ChainId, Store};
use crate::extras::function_attributes::SINCE;
use crate::extras::importer_data::ImporterData;
use crate::file::source::Source;
use crate::format::body::constant_inputs;
use crate::format::error::Result;
use crate::format::header::ir_version;
use crate::format::wire::Message;
use crate::layout::names::NamePlan;
use crate::layout::parts::Layout;
use crate::layout::version::final_version;

/// The writer of one module.
pub(super) struct Writer<'m> {
    pub(super) module: &'m Module,
    pub(super) source: Option<Arc<Source>>,
    pub(super) ir_version: i64,
    /// Whether graphs have inputs beside their initializers that they may not keep: from version 4 on these would make
    /// parameters of constants.
    pub(super) drops_entries: bool,
    /// Whether graphs and functions have metadata.
    pub(super) carries: bool,
    pub(super) domains: Domains,
    /// The places for the data of the main graph's initializers.
    pub(super) homes: FxHashMap<ConstId, Home>,
    pub(super) store: Store,
}

impl<'m> Writer<'m> {
    pub(super) fn new(
        module: &'m Module,
        source: Option<Arc<Source>>,
        homes: FxHashMap<ConstId, Home>,
    ) -> Writer<'m> {
        Writer {
            module,
            source,
            ir_version: final_version(module),
            drops_entries: ir_version(module) < 4 && final_version(module) >= 4,
            carries: final_version(module) >= SINCE,
            domains: Domains::new(module),
            homes,
            store: Store::default(),
        }
    }
}

/// The writer of one function.
pub(super) struct FunctionWriter<'w> {
    pub(super) f: &'w Function,
    pub(super) plan: NamePlan,
    pub(super) source: Option<&'w Source>,
    /// The inputs of the main graph that are initializers, with these, before IR version 4.
    pub(super) constant_inputs: FxHashMap<&'w [u8], Message<'w>>,
    pub(super) ir_version: i64,
    /// Whether graphs and functions have metadata.
    pub(super) carries: bool,
    pub(super) domains: &'w Domains,
    /// The places for data that moves.
    pub(super) homes: Option<&'w FxHashMap<ConstId, Home>>,
    pub(super) store: &'w mut Store,
    /// A function nobody else sees, to compare types in.
    pub(super) types: Function,
    /// The regions written so far.
    pub(super) done: FxHashMap<RegionId, ChainId>,
    pub(super) layout: Layout<'w>,
    /// The constants by their names, once they are asked for.
    pub(super) constant_names: Option<FxHashMap<SymbolId, ConstId>>,
    /// Whether it wrote `Identity` or `Constant` nodes that no pass asked for.
    pub(super) added_nodes: bool,
    /// The names of nodes that can't have that of their location.
    pub(super) node_names: FxHashMap<OpId, String>,
}

impl<'w> FunctionWriter<'w> {
    pub(super) fn new(
        writer: &'w mut Writer<'_>,
        f: &'w Function,
        is_main: bool,
    ) -> Result<FunctionWriter<'w>> {
        let homes = is_main.then_some(&writer.homes);
        let moved = homes.into_iter().flat_map(|homes| homes.keys().copied());
        let is_old = is_main && writer.ir_version < 4;
        let has_old_inputs = is_old && writer.source.is_none();
        let source = writer.source.as_deref();
        let graph = source.filter(|_| is_old);
        let graph = graph.and_then(|source| source.message(f.origins().get(Entity::Function)));
        // Their names stay when nobody uses the constants.
        let constant_inputs = graph.map(constant_inputs).transpose()?.unwrap_or_default();
        let names = constant_inputs.keys();
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        let names = names.map(|name| f.symbols().intern(name));
        let mut plan = NamePlan::new(f, source.is_none(), moved, names);
        if writer.drops_entries {
            plan.renew_regions(f);
        }
        Ok(FunctionWriter {
            f,
            plan,
            source,
            constant_inputs,
            ir_version: writer.ir_version,
            carries: writer.carries,
            domains: &writer.domains,
            homes,
            store: &mut writer.store,
            types: Function::new(f.symbols().clone(), f.kind(), f.name()),
            done: FxHashMap::default(),
            layout: Layout::new(f, has_old_inputs),
            constant_names: None,
            added_nodes: false,
            node_names: FxHashMap::default(),
        })
    }

    /// The message that an entity came from: its bytes in the file, or what is left of them.
    pub(super) fn original(&self, entity: Entity) -> Option<Message<'w>> {
        self.span(entity)
            .or_else(|| ImporterData::from_entity(self.f, entity).stripped)
    }

    /// The bytes of the file that an entity came from.
    pub(super) fn span(&self, entity: Entity) -> Option<Message<'w>> {
        self.source?.message(self.f.origins().get(entity))
    }

    /// Writes the documentation and metadata of an entity.
    pub(super) fn texts(&mut self, entity: Entity, numbers: [u32; 2]) {
        if let Some(extras) = self.f.origins().extras(entity) {
            self.store.texts(extras, numbers);
        }
    }

    /// A value's name in the file; "" for an operand left out.
    pub(super) fn name(&self, value: ValueId) -> &'w str {
        if value.is_none() {
            ""
        } else {
            self.f.text(self.plan.name(value))
        }
    }
}
