//! Stripped messages: the parts of a file's messages that the IR doesn't model.
//!
//! An untouched entity is written as its bytes in the file. Any other entity is encoded from the IR and from its
//! **stripped message**. That has the fields of its message that the IR doesn't model (documentation, metadata, fields
//! of later versions), and empty marks for values that have an unusual form in the file. [`stripper::Stripper`] returns
//! the stripped message of an entity from one of two sources. The first is the entity's span in the file, which it
//! strips on demand. The second is the entity's extras, where [`detach()`] and IR text store the stripped message. So
//! the writer has one form of input, and the same code writes models that were converted to text in between.
//!
//! Detaching strips all live entities in one walk. Weights stay where they are.

mod constant_inputs;
pub(crate) mod stripped;
pub(crate) mod stripper;

use std::sync::Arc;

use passdock_abi::{ConstId, Region, RegionId, SymbolId, TypeId, Value as ValueRecord, ValueId};
use passdock_ir::{Entity, Extras, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use stripped::StrippedMessage;
use stripper::{StrippedBody, Stripper};

use crate::extras::function_attributes;
use crate::extras::importer_data::{ImporterData, ImporterDataBuilder};
use crate::file::model::ModelFile;
use crate::file::source::Source;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result};
use crate::format::header::{MAIN, METADATA, ir_version};
use crate::format::schema::graph;
use crate::format::types::encode_type;
use crate::format::wire::Message;
use crate::layout::names::export_names;
use crate::layout::parts::Layout;
use crate::layout::version::final_version;

/// Returns a self-contained copy of a module: spans of the ONNX file aren't needed to write it again, or to print it as
/// text. The data of constants stays where it is. A module that wasn't read from an ONNX file doesn't change.
///
/// # Errors
/// If a part of the file is invalid, for example because the file changed since it was read.
pub fn detach(module: &Module) -> std::result::Result<Module, OnnxError> {
    let mut detached = module.clone();
    let Some(file) = ModelFile::from_module(module) else {
        return Ok(detached);
    };
    let Some(source) = &file.source else {
        return Ok(detached);
    };
    let read = detach_from(module, source, &mut detached);
    read.map_err(|error| error.in_file(&source.path().display().to_string()))?;
    detached.set_source(Some(Arc::new(ModelFile {
        source: None,
        ..file.clone()
    })));
    Ok(detached)
}

fn detach_from(module: &Module, source: &Arc<Source>, detached: &mut Module) -> Result {
    let is_old = ir_version(module) < 4;
    let has_metadata = final_version(module) >= function_attributes::SINCE;
    let main = module.symbols().intern(MAIN);
    if let (true, Some(f)) = (is_old, detached.function_mut(main)) {
        constant_inputs::prepare(f, source)?;
    }
    for name in module.names() {
        let Some(function) = detached.function(name).cloned() else {
            continue;
        };
        let mut detacher = Detacher {
            f: &function,
            stripper: Stripper::new(&function, Some(source), is_old, false),
            names: export_names(&function),
            layout: Layout::new(&function, false),
            is_old,
            has_metadata,
            is_main: name == main,
            extras: Vec::new(),
        };
        detacher.function()?;
        let extras = detacher.extras;
        if let Some(copy) = detached.function_mut(name) {
            let origins = copy.origins_mut();
            origins.drop_spans();
            for (entity, extras) in extras {
                origins.set_extras(entity, extras);
            }
        }
    }
    let model = stripped::model(Message::whole(source.bytes()))?;
    let (_, version) = METADATA[0];
    let is_versioned = module.metadata().iter().any(|(key, _)| key == version);
    let mut data = ImporterDataBuilder::default();
    let rest = model.rest();
    if !rest.is_empty() || !is_versioned {
        data.stripped(&rest);
    }
    detached.set_extras(extras_of(&model, data));
    Ok(())
}

/// Returns extras with a stripped message.
fn extras_of(message: &StrippedMessage<'_>, data: ImporterDataBuilder) -> Extras {
    let pairs = message.metadata.iter();
    let pairs: Vec<_> = pairs
        .map(|&(key, value)| (key.into(), value.into()))
        .collect();
    Extras {
        doc: message.doc.map(Into::into),
        metadata: Some(pairs).filter(|pairs| !pairs.is_empty()),
        bytes: data.into_bytes(),
    }
}

/// Computes the extras of one function's entities.
struct Detacher<'d> {
    f: &'d Function,
    stripper: Stripper<'d>,
    /// The names of the values in the file.
    names: Vec<SymbolId>,
    layout: Layout<'d>,
    /// Whether the IR version is below 4.
    is_old: bool,
    /// Whether graphs and functions can have metadata.
    has_metadata: bool,
    /// Whether the function is the main graph.
    is_main: bool,
    extras: Vec<(Entity, Extras)>,
}

impl<'d> Detacher<'d> {
    fn function(&mut self) -> Result {
        let f = self.f;
        let unsorted = unsorted(f);
        if self.stripper.span(Entity::Function).is_some() {
            // A graph's span belongs to its region, too; a `FunctionProto`'s only to the function.
            let kind = match self.stripper.span(Entity::Region(f.body())) {
                Some(_) => BodyKind::Graph,
                None => BodyKind::Function,
            };
            self.body(f.body(), kind, &unsorted)?;
        }
        for op in f.walk(f.body()) {
            let entity = Entity::Op(op);
            if self.stripper.span(entity).is_some() {
                let message = self.stripper.op(op, false)?;
                self.set_extras(entity, &message, ImporterDataBuilder::default());
            } else if ImporterData::from_entity(f, entity).sparse.is_some() {
                let mut data = ImporterDataBuilder::default();
                data.sparse(0);
                self.extras.push((entity, data.into_extras()));
            }
            for region in f.regions_of(op) {
                if self.stripper.span(Entity::Region(region)).is_some() {
                    self.body(region, BodyKind::Graph, &unsorted)?;
                }
            }
        }
        for (id, _) in f.live_constants() {
            let entity = Entity::Constant(id);
            if self.stripper.span(entity).is_some() {
                let message = self.stripper.constant(id)?;
                self.set_extras(entity, &message, ImporterDataBuilder::default());
            }
        }
        Ok(())
    }

    /// Strips a graph (or a function's body), and its arguments, ports and value infos.
    fn body(&mut self, region: RegionId, kind: BodyKind, unsorted: &FxHashSet<RegionId>) -> Result {
        let f = self.f;
        let mut body = self
            .stripper
            .body(region, kind, &self.layout, &self.names)?;
        let mut data = ImporterDataBuilder::default();
        let mut values: FxHashMap<ValueId, ImporterDataBuilder> = FxHashMap::default();
        let declared = self.layout.declared(region);
        if kind == BodyKind::Graph {
            for arg in f.args(region) {
                values.entry(arg).or_default();
            }
            for (id, port) in (f.region(region).ports.start..).zip(f.ports(region)) {
                self.info(Entity::Port(id), port.ty, ImporterDataBuilder::default())?;
            }
            self.initializers(region, &body, &mut data, &mut values)?;
        }
        if unsorted.contains(&region) {
            let items = self.layout.sequence(region, &[], false).into_iter();
            let starts = items.map(|item| self.start(item.entity));
            data.order(graph::NODE, &order(starts));
        }
        let starts = declared
            .iter()
            .map(|&value| body.info_start(self.start(Entity::Value(value))));
        let starts = starts.chain(body.message.starts(kind.info()));
        data.order(kind.info(), &order(starts));
        for value in declared {
            values.entry(value).or_default();
        }
        for (value, data) in values {
            self.info(Entity::Value(value), f.value(value).ty, data)?;
        }
        let entity = match region == f.body() {
            true => Entity::Function,
            false => Entity::Region(region),
        };
        if entity == Entity::Function && self.has_metadata {
            let [_, number] = kind.texts();
            data.order(number, &self.without_attributes(&mut body.message, number)?);
        }
        self.set_extras(entity, &body.message, data);
        Ok(())
    }

    /// Records the order of a graph's initializers and inputs, and, before IR version 4, the inputs that are
    /// initializers.
    fn initializers(
        &mut self,
        region: RegionId,
        body: &StrippedBody<'d>,
        data: &mut ImporterDataBuilder,
        values: &mut FxHashMap<ValueId, ImporterDataBuilder>,
    ) -> Result {
        let f = self.f;
        let ids = self.layout.initializers(region);
        let starts = ids.iter().map(|&id| self.start(Entity::Constant(id)));
        let starts = starts.chain(body.message.starts(graph::INITIALIZER));
        data.order(graph::INITIALIZER, &order(starts));
        let is_interface = self.is_old && self.is_main && region == f.body();
        let is_own = |id: &ConstId| {
            let value = f.value(f.constant(*id).value);
            value.flags & ValueRecord::KIND == ValueRecord::CONST
        };
        let mut inputs = Vec::new();
        for id in ids.into_iter().filter(is_own) {
            let constant = f.constant(id);
            if let Some(input) = body.inputs.get(&id) {
                inputs.push(input.at);
                // Including documentation and metadata.
                let ty = encode_type(f, constant.ty)?;
                let rest = stripped::info(*input, &ty, stripped::NO_TEXTS)?.rest();
                // In the interface, an initializer is also an input, unless its extras say otherwise.
                if !rest.is_empty() || !is_interface {
                    values.entry(constant.value).or_default().input(Some(&rest));
                }
            } else if self.is_old && self.stripper.span(Entity::Constant(id)).is_some() {
                values.entry(constant.value).or_default().input(None);
            }
        }
        let args = f.args(region).map(|arg| self.start(Entity::Value(arg)));
        let erased = body.message.starts(graph::INPUT);
        data.order(graph::INPUT, &order(args.chain(inputs).chain(erased)));
        Ok(())
    }

    fn info(&mut self, entity: Entity, ty: TypeId, data: ImporterDataBuilder) -> Result {
        let message = self.stripper.info(entity, ty)?;
        self.set_extras(entity, &message, data);
        Ok(())
    }

    fn start(&self, entity: Entity) -> u64 {
        self.stripper.start(entity)
    }

    /// Removes a function's attributes from its metadata. If an attribute isn't in the writer's form, all metadata is
    /// kept unchanged. Returns the order of the entries: indices of the remaining metadata, followed by the attributes.
    fn without_attributes(
        &self,
        message: &mut StrippedMessage<'d>,
        number: u32,
    ) -> Result<Vec<usize>> {
        let metadata = std::mem::take(&mut message.metadata);
        if !function_attributes::is_plain(self.f, metadata.iter().copied()) {
            let span = self.stripper.span(Entity::Function);
            for field in span.into_iter().flat_map(Message::fields) {
                let field = field?;
                if field.number == number {
                    message.records.push(field);
                }
            }
            return Ok(Vec::new());
        }
        let (own, others): (Vec<_>, Vec<_>) = (0..)
            .zip(metadata)
            .partition(|(_, (key, value))| function_attributes::is_attribute(self.f, key, value));
        message.metadata = others.iter().map(|&(_, pair)| pair).collect();
        let starts = others.into_iter().chain(own).map(|(at, _)| at);
        Ok(order(starts))
    }

    fn set_extras(
        &mut self,
        entity: Entity,
        message: &StrippedMessage<'_>,
        mut data: ImporterDataBuilder,
    ) {
        let rest = message.rest();
        if !rest.is_empty() || message.stays {
            data.stripped(&rest);
        }
        if let Some(form) = message.form {
            data.form(form);
        }
        if let Some([given, original]) = ImporterData::from_entity(self.f, entity).names {
            data.names(given, original);
        }
        let extras = extras_of(message, data);
        if !extras.is_empty() {
            self.extras.push((entity, extras));
        }
    }
}

/// Returns the indices of records in the order of their starts in the file; empty if one has no start.
fn order(starts: impl Iterator<Item = u64>) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = starts.zip(0..).collect();
    order.sort_unstable();
    if order.last().is_some_and(|(start, _)| *start == u64::MAX) {
        return Vec::new();
    }
    order.into_iter().map(|(_, at)| at).collect()
}

/// Returns the untouched regions whose nodes aren't in the order of the file.
fn unsorted(f: &Function) -> FxHashSet<RegionId> {
    let start = |entity| f.origins().get(entity).start;
    let is_clean = |region| f.region(region).flags & Region::TOUCHED == 0;
    let regions = f.walk(f.body()).flat_map(|op| f.regions_of(op));
    let mut unsorted: FxHashSet<RegionId> = std::iter::once(f.body())
        .chain(regions)
        .filter(|&region| is_clean(region))
        .filter(|&region| {
            let ops = f.ops_in(region).map(Entity::Op);
            let known = ops.filter(|&op| f.origins().get(op).is_some());
            !known.map(start).is_sorted()
        })
        .collect();
    // A constant that was a node is written before its anchor.
    unsorted.extend(f.live_constants().filter_map(|(id, constant)| {
        let (own, anchor) = (Entity::Constant(id), Entity::Op(constant.anchor.option()?));
        let both = f.origins().get(own).is_some() && f.origins().get(anchor).is_some();
        let late = both && start(own) > start(anchor);
        (late && is_clean(constant.region)).then_some(constant.region)
    }));
    unsorted
}
