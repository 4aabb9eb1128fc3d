//! Detaching a module from its file: what only the file's bytes said becomes extras.
//!
//! One walk over the messages of what lives. Weights stay where they are.

mod constant_inputs;
mod stripped;

use std::sync::Arc;

use passdock_abi::{
    Constant, OpId, Region, RegionId, SymbolId, TypeId, Value as ValueRecord, ValueId, symbol,
};
use passdock_ir::{Entity, Extras, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use stripped::StrippedMessage;

use crate::extras::function_attributes;
use crate::extras::importer_data::{ImporterData, ImporterDataBuilder};
use crate::file::model::ModelFile;
use crate::file::source::Source;
use crate::format::body::{BodyKind, parameters_of};
use crate::format::error::{OnnxError, Result};
use crate::format::fields::bodies;
use crate::format::header::{MAIN, METADATA, ir_version};
use crate::format::schema::{doc, graph, tensor, value_info};
use crate::format::types::encode_type;
use crate::format::wire::{Message, put_bytes, string_of};
use crate::layout::names::export_names;
use crate::layout::parts::Layout;
use crate::layout::version::final_version;

/// A copy of a module that says by itself what it took from the ONNX file it was read from: no span
/// of the file is needed to write it again, or as text. Constants' bytes stay where they are. A
/// module that wasn't read from an ONNX file is what it was.
///
/// # Errors
/// If the file isn't what it was when it was read.
pub fn detach(module: &Module) -> std::result::Result<Module, OnnxError> {
    let mut detached = module.clone();
    let Some(file) = ModelFile::from_module(module) else {
        return Ok(detached);
    };
    let Some(source) = &file.source else {
        return Ok(detached);
    };
    let read = detach_from(module, source, &mut detached);
    read.map_err(|error| error.of_file(&source.path().display().to_string()))?;
    detached.set_source(Some(Arc::new(ModelFile {
        source: None,
        ..file.clone()
    })));
    Ok(detached)
}

fn detach_from(module: &Module, source: &Arc<Source>, detached: &mut Module) -> Result {
    let old = ir_version(module) < 4;
    let carries = final_version(module) >= function_attributes::SINCE;
    let main = module.symbols().intern(MAIN);
    if let (true, Some(f)) = (old, detached.function_mut(main)) {
        constant_inputs::prepare(f, source)?;
    }
    for name in module.names() {
        let Some(function) = detached.function(name).cloned() else {
            continue;
        };
        let function = &*function;
        let mut layout = Layout::new(function, false);
        let sorted = unsorted(function).into_iter().map(|region| {
            let items = layout.sequence(region, &[], false);
            (region, items.iter().map(|item| item.entity).collect())
        });
        let sorted = sorted.collect();
        let mut detacher = Detacher {
            f: function,
            source,
            types: Function::new(function.symbols().clone(), function.kind(), function.name()),
            names: export_names(function),
            layout,
            sorted,
            old,
            carries,
            is_main: function.name() == main,
            found: Vec::new(),
        };
        detacher.function()?;
        let found = detacher.found;
        if let Some(copy) = detached.function_mut(function.name()) {
            let origins = copy.origins_mut();
            origins.drop_spans();
            for (entity, extras) in found {
                origins.set_extras(entity, extras);
            }
        }
    }
    let model = stripped::model(Message::whole(source.bytes()))?;
    let (_, version) = METADATA[0];
    let versioned = module.metadata().iter().any(|(key, _)| key == version);
    let mut data = ImporterDataBuilder::default();
    if !model.rest.is_empty() || !versioned {
        data.stripped(&model.rest);
    }
    detached.set_extras(Extras {
        bytes: data.into_bytes(),
        ..model.extras
    });
    Ok(())
}

/// Finds the extras of one function's entities.
struct Detacher<'d> {
    f: &'d Function,
    source: &'d Source,
    /// A function nobody else sees, to read types into.
    types: Function,
    /// The name of each value in the file.
    names: Vec<SymbolId>,
    layout: Layout<'d>,
    /// The nodes of graphs that had to be sorted, in the order of the IR.
    sorted: FxHashMap<RegionId, Vec<Entity>>,
    /// Whether the IR version is one before 4.
    old: bool,
    /// Whether graphs and functions have metadata.
    carries: bool,
    /// Whether it is the main graph.
    is_main: bool,
    found: Vec<(Entity, Extras)>,
}

impl<'d> Detacher<'d> {
    fn function(&mut self) -> Result {
        let f = self.f;
        let body = f.body();
        // A graph's span is its region's too; a function's only its own.
        let kind = match f.origins().get(Entity::Region(body)).is_some() {
            true => BodyKind::Graph,
            false => BodyKind::Function,
        };
        if let Some(message) = self.message(Entity::Function) {
            let (left, [_, number]) = match kind {
                BodyKind::Graph => (stripped::graph(message)?, doc::GRAPH),
                BodyKind::Function => {
                    (stripped::function(&mut self.types, message)?, doc::FUNCTION)
                }
            };
            let mut parts = left;
            if self.carries {
                let order = parts.without_attributes(f, message, number)?;
                parts.data.order(number, &order);
            }
            self.region(body, message, kind, &mut parts)?;
            self.set_extras(Entity::Function, parts);
        }
        for op in f.walk(body) {
            self.op(op)?;
            for region in f.regions_of(op) {
                self.nested(region)?;
            }
        }
        for (id, constant) in f.live_constants() {
            let entity = Entity::Constant(id);
            let Some(message) = self.message(entity) else {
                continue;
            };
            let parts = if constant.flags & Constant::NODE != 0 {
                stripped::constant_node(message)?
            } else {
                stripped::tensor(message, constant.value.is_some(), doc::TENSOR)?
            };
            self.set_extras(entity, parts);
        }
        Ok(())
    }

    fn nested(&mut self, region: RegionId) -> Result {
        let entity = Entity::Region(region);
        let Some(message) = self.message(entity) else {
            return Ok(());
        };
        let mut parts = stripped::graph(message)?;
        self.region(region, message, BodyKind::Graph, &mut parts)?;
        self.set_extras(entity, parts);
        Ok(())
    }

    fn op(&mut self, op: OpId) -> Result {
        let entity = Entity::Op(op);
        let mut parts = match self.message(entity) {
            Some(message) => stripped::node(&mut self.types, message)?,
            None => StrippedMessage::default(),
        };
        if ImporterData::from_entity(self.f, entity).sparse.is_some() {
            parts.data.sparse(0);
        }
        self.set_extras(entity, parts);
        Ok(())
    }

    /// The arguments, ports, value infos and orders of a graph (or function's body).
    fn region(
        &mut self,
        region: RegionId,
        message: Message<'d>,
        kind: BodyKind,
        parts: &mut StrippedMessage,
    ) -> Result {
        let f = self.f;
        let mut values: FxHashMap<ValueId, StrippedMessage> = FxHashMap::default();
        let constants = self.layout.initializers(region);
        if kind == BodyKind::Graph {
            for arg in f.args(region) {
                if let Some(message) = self.message(Entity::Value(arg)) {
                    let info = self.info(message, f.value(arg).ty)?;
                    values.insert(arg, info);
                }
            }
            for (id, port) in (f.region(region).ports.start..).zip(f.ports(region)) {
                let entity = Entity::Port(id);
                if let Some(message) = self.message(entity) {
                    let info = self.info(message, port.ty)?;
                    self.set_extras(entity, info);
                }
            }
            self.initializers(region, message, &constants, &mut values, parts)?;
        }
        self.node_order(region, message, kind, parts)?;
        self.infos(region, message, kind, &mut values, parts)?;
        let results = f.ops_in(region).flat_map(|op| f.results(op));
        let defined = constants.iter().map(|&id| f.constant(id).value);
        let named: Vec<ValueId> = f.args(region).chain(defined).chain(results).collect();
        for value in named {
            if let Some([given, original]) =
                ImporterData::from_entity(f, Entity::Value(value)).names
            {
                values.entry(value).or_default().data.names(given, original);
            }
        }
        for (value, parts) in values {
            self.set_extras(Entity::Value(value), parts);
        }
        Ok(())
    }

    fn info(&self, message: Message<'_>, ty: TypeId) -> Result<StrippedMessage> {
        stripped::info(message, &encode_type(self.f, ty)?, doc::VALUE_INFO)
    }

    /// The order of a graph's initializers, and before IR version 4 the inputs that some of them are.
    fn initializers(
        &mut self,
        region: RegionId,
        message: Message<'d>,
        constants: &[passdock_abi::ConstId],
        values: &mut FxHashMap<ValueId, StrippedMessage>,
        parts: &mut StrippedMessage,
    ) -> Result {
        let f = self.f;
        let places = self.by_start(constants.iter().map(|&id| Entity::Constant(id)));
        let args = self.by_start(f.args(region).map(Entity::Value));
        // Constants by name; those that are a parameter's default are that parameter.
        let mut by_name = FxHashMap::default();
        let mut own = Vec::new();
        let mut order = Vec::new();
        let mut parameters = FxHashSet::default();
        for annotation in bodies(message, graph::QUANTIZATION_ANNOTATION) {
            parameters.extend(parameters_of(annotation?)?);
        }
        for body in bodies(message, graph::INITIALIZER) {
            let body = body?;
            let Some(&place) = places.get(&body.at) else {
                // Erased; but a quantization annotation would name nothing.
                if parameters.contains(string_of(body, tensor::NAME)?) {
                    put_bytes(&mut parts.rest, graph::INITIALIZER, body.bytes);
                }
                continue;
            };
            order.push(place);
            let value = f.constant(constants[place]).value;
            if f.value(value).flags & ValueRecord::KIND == ValueRecord::CONST {
                // Several may have no name.
                own.push((constants[place], value));
                by_name.insert(string_of(body, tensor::NAME)?, (constants[place], value));
            }
        }
        if order.len() == constants.len() {
            parts.data.order(graph::INITIALIZER, &order);
        }
        let mut inputs = Vec::new();
        let mut known = FxHashSet::default();
        for body in bodies(message, graph::INPUT) {
            let body = body?;
            if let Some(&place) = args.get(&body.at) {
                inputs.push(Ok(place));
                continue;
            }
            let name = string_of(body, value_info::NAME)?;
            if let Some(&(id, value)) = by_name.get(name)
                && known.insert(id)
            {
                // Documentation and metadata included.
                let ty = encode_type(f, f.constant(id).ty)?;
                let rest = stripped::info(body, &ty, stripped::NO_TEXTS)?.rest;
                // What is an initializer there is an input too, if nobody says otherwise.
                if !(rest.is_empty() && self.old && self.is_main && region == f.body()) {
                    values.entry(value).or_default().data.input(Some(&rest));
                }
                inputs.push(Err(id));
            }
        }
        // Behind the arguments stand those that are constants.
        let rank: FxHashMap<_, usize> = constants
            .iter()
            .filter(|id| known.contains(id))
            .enumerate()
            .map(|(rank, &id)| (id, rank))
            .collect();
        let places: Vec<usize> = inputs
            .iter()
            .map(|input| match input {
                Ok(place) => *place,
                Err(id) => args.len() + rank[id],
            })
            .collect();
        parts.data.order(graph::INPUT, &places);
        if self.old {
            for (id, value) in own {
                if !known.contains(&id) {
                    values.entry(value).or_default().data.input(None);
                }
            }
        }
        Ok(())
    }

    /// The order of nodes that had to be sorted.
    fn node_order(
        &self,
        region: RegionId,
        message: Message<'_>,
        kind: BodyKind,
        parts: &mut StrippedMessage,
    ) -> Result {
        let Some(nodes) = self.sorted.get(&region) else {
            return Ok(());
        };
        let by_start = self.by_start(nodes.iter().copied());
        let mut order = Vec::new();
        for body in bodies(message, kind.node()) {
            order.extend(by_start.get(&body?.at).copied());
        }
        parts.data.order(graph::NODE, &order);
        Ok(())
    }

    /// Value infos: what is left of each goes to its value, and those of no value stay whole.
    fn infos(
        &mut self,
        region: RegionId,
        message: Message<'d>,
        kind: BodyKind,
        values: &mut FxHashMap<ValueId, StrippedMessage>,
        parts: &mut StrippedMessage,
    ) -> Result {
        let f = self.f;
        let infos: Vec<Message<'d>> = bodies(message, kind.info()).collect::<Result<_>>()?;
        if infos.is_empty() {
            return Ok(());
        }
        let declared = self.layout.declared(region);
        let mut by_name: FxHashMap<&str, ValueId> = FxHashMap::default();
        for &value in &declared {
            by_name.insert(f.text(self.names[value.index()]), value);
        }
        // Of several with one name the last one counts.
        let mut last: FxHashMap<&[u8], usize> = FxHashMap::default();
        for (at, &info) in infos.iter().enumerate() {
            last.insert(string_of(info, value_info::NAME)?, at);
        }
        let rank: FxHashMap<ValueId, usize> = declared
            .iter()
            .enumerate()
            .map(|(rank, &value)| (value, rank))
            .collect();
        let mut dead: Option<FxHashSet<&[u8]>> = None;
        let (mut whole, mut order) = (Vec::new(), Vec::new());
        for (at, &info) in infos.iter().enumerate() {
            let name = string_of(info, value_info::NAME)?;
            let value = std::str::from_utf8(name)
                .ok()
                .and_then(|name| by_name.get(name));
            match value {
                Some(&value) if last.get(name) == Some(&at) => {
                    let stripped = self.info(info, f.value(value).ty)?;
                    let parts = values.entry(value).or_default();
                    let data = std::mem::take(&mut parts.data);
                    *parts = StrippedMessage { data, ..stripped };
                    order.push(rank[&value]);
                }
                _ => {
                    if dead.is_none() {
                        dead = Some(self.dead_names(region, message, kind)?);
                    }
                    if dead.as_ref().is_some_and(|dead| dead.contains(name)) {
                        continue;
                    }
                    order.push(declared.len() + whole.len());
                    whole.push(info);
                }
            }
        }
        if order.len() == declared.len() + whole.len() {
            parts.data.order(graph::VALUE_INFO, &order);
        }
        for info in whole {
            put_bytes(&mut parts.rest, kind.info(), info.bytes);
        }
        Ok(())
    }

    /// Names that the file's graph defined and the region doesn't any more.
    fn dead_names(
        &self,
        region: RegionId,
        message: Message<'d>,
        kind: BodyKind,
    ) -> Result<FxHashSet<&'d [u8]>> {
        let mut names = kind.defined_names(message)?;
        for value in self.layout.values(region) {
            let name = self.names[value.index()];
            if name.is_some() && name != symbol::EMPTY {
                names.remove(self.f.text(name).as_bytes());
            }
        }
        Ok(names)
    }

    /// The places of entities in their order, by where they stood.
    fn by_start(&self, entities: impl Iterator<Item = Entity>) -> FxHashMap<u64, usize> {
        let starts = entities.map(|entity| self.f.origins().get(entity).start);
        starts.zip(0..).collect()
    }

    fn message(&self, entity: Entity) -> Option<Message<'d>> {
        self.source.message(self.f.origins().get(entity))
    }

    fn set_extras(&mut self, entity: Entity, parts: StrippedMessage) {
        let mut data = parts.data;
        if !parts.rest.is_empty() || parts.stays {
            data.stripped(&parts.rest);
        }
        let extras = Extras {
            bytes: data.into_bytes(),
            ..parts.extras
        };
        if !extras.is_empty() {
            self.found.push((entity, extras));
        }
    }
}

/// The regions whose nodes aren't in the order of the file, though nobody touched them.
fn unsorted(f: &Function) -> Vec<RegionId> {
    let start = |entity| f.origins().get(entity).start;
    let is_clean = |region| f.region(region).flags & Region::TOUCHED == 0;
    let regions = f.walk(f.body()).flat_map(|op| f.regions_of(op));
    let mut found: Vec<RegionId> = std::iter::once(f.body())
        .chain(regions)
        .filter(|&region| is_clean(region))
        .filter(|&region| {
            let ops = f.ops_in(region).map(Entity::Op);
            let known = ops.filter(|&op| f.origins().get(op).is_some());
            !known.map(start).is_sorted()
        })
        .collect();
    // A constant that was a node stands before its anchor.
    found.extend(f.live_constants().filter_map(|(id, constant)| {
        let (own, anchor) = (Entity::Constant(id), Entity::Op(constant.anchor.option()?));
        let both = f.origins().get(own).is_some() && f.origins().get(anchor).is_some();
        let late = both && start(own) > start(anchor);
        (late && is_clean(constant.region)).then_some(constant.region)
    }));
    found
}
