//! The state of the writer: for the module, and for the current function.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, RegionId, ValueId};
use passdock_ir::{Entity, Function, Module};
use rustc_hash::FxHashMap;

use super::imports::Domains;
use super::placement::DataPlacement;
use super::rope::{ChainId, Store};
use crate::detach::stripper::Stripper;
use crate::extras::function_attributes::SINCE;
use crate::file::source::Source;
use crate::format::body::constant_inputs;
use crate::format::error::Result;
use crate::format::header::ir_version;
use crate::layout::names::NamePlan;
use crate::layout::parts::Layout;
use crate::layout::version::final_version;

/// The writer of one module.
pub(super) struct Writer<'m> {
    pub(super) module: &'m Module,
    pub(super) source: Option<Arc<Source>>,
    pub(super) ir_version: i64,
    /// Whether inputs of initializers are dropped, because the IR version is raised from below 4. From version 4 on,
    /// they would turn constants into parameters with defaults.
    pub(super) drops_entries: bool,
    /// Whether graphs and functions can have metadata.
    pub(super) has_metadata: bool,
    pub(super) domains: Domains,
    /// The placement of the data of the main graph's initializers.
    pub(super) placements: FxHashMap<ConstId, DataPlacement>,
    pub(super) store: Store,
}

impl<'m> Writer<'m> {
    pub(super) fn new(
        module: &'m Module,
        source: Option<Arc<Source>>,
        placements: FxHashMap<ConstId, DataPlacement>,
    ) -> Writer<'m> {
        let version = final_version(module);
        Writer {
            module,
            ir_version: version,
            drops_entries: ir_version(module) < 4 && version >= 4,
            has_metadata: version >= SINCE,
            domains: Domains::new(module),
            placements,
            store: Store {
                source: source.clone(),
                ..Store::default()
            },
            source,
        }
    }
}

/// The writer of one function.
pub(super) struct FunctionWriter<'w> {
    pub(super) f: &'w Function,
    pub(super) plan: NamePlan,
    pub(super) stripper: Stripper<'w>,
    pub(super) ir_version: i64,
    /// Whether graphs and functions can have metadata.
    pub(super) has_metadata: bool,
    pub(super) domains: &'w Domains,
    /// The placement of moved data.
    pub(super) placements: Option<&'w FxHashMap<ConstId, DataPlacement>>,
    pub(super) store: &'w mut Store,
    /// The chains of the regions that are already written.
    pub(super) done: FxHashMap<RegionId, ChainId>,
    pub(super) layout: Layout<'w>,
    /// Whether `Identity` or `Constant` nodes were added that aren't ops of the function.
    pub(super) added_nodes: bool,
    /// The names of nodes that can't have the name of their location.
    pub(super) node_names: FxHashMap<OpId, String>,
}

impl<'w> FunctionWriter<'w> {
    pub(super) fn new(
        writer: &'w mut Writer<'_>,
        f: &'w Function,
        is_main: bool,
    ) -> Result<FunctionWriter<'w>> {
        let placements = is_main.then_some(&writer.placements);
        let moved = placements
            .into_iter()
            .flat_map(|placements| placements.keys().copied());
        let is_old = is_main && writer.ir_version < 4;
        let has_old_inputs = is_old && writer.source.is_none();
        let source = writer.source.as_deref();
        let graph = source.filter(|_| is_old);
        let graph = graph.and_then(|source| source.message(f.origins().get(Entity::Function)));
        // These names stay reserved even if the constants become unused.
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
            stripper: Stripper::new(f, source, is_old, writer.has_metadata),
            ir_version: writer.ir_version,
            has_metadata: writer.has_metadata,
            domains: &writer.domains,
            placements,
            store: &mut writer.store,
            done: FxHashMap::default(),
            layout: Layout::new(f, has_old_inputs),
            added_nodes: false,
            node_names: FxHashMap::default(),
        })
    }

    /// Returns a value's name in the file; empty for an omitted operand.
    pub(super) fn name(&self, value: ValueId) -> &'w str {
        if value.is_none() {
            ""
        } else {
            self.f.text(self.plan.name(value))
        }
    }
}
