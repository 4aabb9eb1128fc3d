//! The state of the writer: of a module, and of the function that is being written.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, RegionId, SymbolId, ValueId};
use passdock_ir::{Entity, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::imports::Domains;
use super::placement::Home;
use super::rope::{ChainId, Store};
use crate::extras::carry::SINCE;
use crate::extras::kept::Kept;
use crate::file::source::Source;
use crate::format::error::OnnxError;
use crate::format::fields::bodies;
use crate::format::header::ir_version;
use crate::format::schema::{graph, tensor, value_info};
use crate::format::wire::{Message, string_of};
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
            domains: Domains::of(module),
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

/// The names of the original's inputs that have initializers, before IR version 4: they stay when nobody uses the
/// constants.
fn constant_inputs(f: &Function, source: &Source) -> Vec<SymbolId> {
    let names = |list: u32, name: u32| {
        let bodies = bodies(source.message(f.origins().get(Entity::Function)), list);
        bodies.filter_map(move |body| string_of(body.ok()?, name).ok())
    };
    let initializers: FxHashSet<&[u8]> = names(graph::INITIALIZER, tensor::NAME).collect();
    let inputs = names(graph::INPUT, value_info::NAME).filter(|name| initializers.contains(name));
    let inputs = inputs.filter_map(|name| std::str::from_utf8(name).ok());
    inputs.map(|name| f.symbols().intern(name)).collect()
}

impl<'w> FunctionWriter<'w> {
    pub(super) fn new(
        writer: &'w mut Writer<'_>,
        f: &'w Function,
        is_main: bool,
    ) -> FunctionWriter<'w> {
        let homes = is_main.then_some(&writer.homes);
        let moved = homes.into_iter().flat_map(|homes| homes.keys().copied());
        let is_old = is_main && writer.ir_version < 4;
        let has_old_inputs = is_old && writer.source.is_none();
        let source = writer.source.as_deref().filter(|_| is_old);
        let kept = source.map_or_else(Vec::new, |source| constant_inputs(f, source));
        let mut plan = NamePlan::new(f, writer.source.is_none(), moved, kept);
        if writer.drops_entries {
            plan.renew_regions(f);
        }
        FunctionWriter {
            f,
            plan,
            source: writer.source.as_deref(),
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
        }
    }

    /// The message that an entity came from: its bytes in the file, or what is left of them.
    pub(super) fn original(&self, entity: Entity) -> Option<Message<'w>> {
        self.span(entity)
            .or_else(|| Kept::of_entity(self.f, entity).hollow)
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

    /// Adds the constant that an error is about; one of an attribute has its op.
    pub(super) fn explain_constant(
        &self,
        id: ConstId,
    ) -> impl FnOnce(OnnxError) -> OnnxError + use<'w> {
        let (f, value) = (self.f, self.f.constant(id).value);
        move |error| match value.is_some() {
            true => error.inside(f.describe(value)),
            false => error,
        }
    }

    /// Adds the op that an error is about.
    pub(super) fn explain(&self, op: OpId) -> impl FnOnce(OnnxError) -> OnnxError + use<'w> {
        let (f, op) = (self.f, op);
        move |error| error.inside(f.describe_op(op))
    }
}
