//! The stripped messages of a function's entities, from the file or from their extras.

use passdock_abi::{
    ConstId, Constant, OpId, RegionId, SymbolId, TypeId, Value as ValueRecord, ValueId,
};
use passdock_ir::{Entity, Function};
use rustc_hash::{FxHashMap, FxHashSet};

use super::stripped::{self, StrippedMessage};
use crate::file::source::Source;
use crate::format::attribute::Attribute;
use crate::format::body::{BodyKind, parameters_of};
use crate::format::error::Result;
use crate::format::fields::bodies;
use crate::format::schema::{attr, doc, graph, node, tensor, value_info};
use crate::format::types::{encode_type, read_type};
use crate::format::wire::{Message, Value, WireField, string_of};
use crate::layout::parts::Layout;

/// A source of the stripped messages of a function's entities.
pub(crate) struct Stripper<'f> {
    f: &'f Function,
    source: Option<&'f Source>,
    /// Whether the inputs of erased initializers are kept, as before IR version 4.
    keeps_inputs: bool,
    /// Whether the metadata of a body remains among its records.
    keeps_metadata: bool,
    /// A scratch function that owns the types that are read.
    types: Function,
}

/// A stripped graph or function body.
#[derive(Default)]
pub(crate) struct StrippedBody<'f> {
    /// The message. Its records include value infos without a value, and erased initializers that are kept.
    pub(crate) message: StrippedMessage<'f>,
    /// The starts of its nodes in the file.
    pub(crate) nodes: Vec<u64>,
    /// The starts of its value infos in the file.
    pub(crate) infos: Vec<u64>,
    /// The starts of its sparse initializers in the file.
    pub(crate) sparse: Vec<u64>,
    /// The graph inputs of initializers that are also inputs.
    pub(crate) inputs: FxHashMap<ConstId, Message<'f>>,
}

impl StrippedBody<'_> {
    /// Returns the start of a value info, or `u64::MAX` if it comes from another graph.
    pub(crate) fn info_start(&self, start: u64) -> u64 {
        match self.infos.binary_search(&start) {
            Ok(_) => start,
            Err(_) => u64::MAX,
        }
    }
}

impl<'f> Stripper<'f> {
    pub(crate) fn new(
        f: &'f Function,
        source: Option<&'f Source>,
        keeps_inputs: bool,
        keeps_metadata: bool,
    ) -> Stripper<'f> {
        Stripper {
            f,
            source,
            keeps_inputs,
            keeps_metadata,
            types: Function::new(f.symbols().clone(), f.kind(), f.name()),
        }
    }

    /// Returns an entity's message in the file.
    pub(crate) fn span(&self, entity: Entity) -> Option<Message<'f>> {
        self.source?.message(self.f.origins().get(entity))
    }

    /// Returns the start of an entity's message in the file, or `u64::MAX` if it has none.
    pub(crate) fn start(&self, entity: Entity) -> u64 {
        offset_in_file(self.span(entity))
    }

    /// Returns the stripped message of an entity. A message from the file is stripped by `strip`.
    fn entity(
        &mut self,
        entity: Entity,
        strip: impl FnOnce(&mut Function, Message<'f>) -> Result<StrippedMessage<'f>>,
    ) -> Result<StrippedMessage<'f>> {
        let extras = self.f.origins().extras(entity).map(|extras| &**extras);
        match self.span(entity) {
            Some(message) => Ok(strip(&mut self.types, message)?.with_extras(extras)),
            None => StrippedMessage::from_extras(extras),
        }
    }

    /// Strips an op's node. With `keeps_attributes`, the attributes of a message in the file remain unchanged.
    pub(crate) fn op(&mut self, op: OpId, keeps_attributes: bool) -> Result<StrippedMessage<'f>> {
        self.entity(Entity::Op(op), |types, message| {
            stripped::node(types, message, keeps_attributes)
        })
    }

    /// Strips a constant's tensor, or its node if the constant is one.
    pub(crate) fn constant(&mut self, id: ConstId) -> Result<StrippedMessage<'f>> {
        let record = self.f.constant(id);
        self.entity(Entity::Constant(id), |_, message| {
            match record.flags & Constant::NODE {
                0 => stripped::tensor(message, record.value.is_some(), doc::TENSOR),
                _ => stripped::constant_node(message),
            }
        })
    }

    /// Returns the tensor in the file with a constant's data.
    pub(crate) fn tensor(&self, id: ConstId) -> Result<Option<Message<'f>>> {
        let message = self.span(Entity::Constant(id));
        if self.f.constant(id).flags & Constant::NODE == 0 {
            return Ok(message);
        }
        let Some(attribute) = bodies(message, node::ATTRIBUTE).next() else {
            return Ok(None);
        };
        let attribute = Attribute::read(attribute?)?;
        Ok(attribute.message.last(attr::T)?)
    }

    /// Strips the value info of an argument, a port or a declared value, whose type is `ty`.
    pub(crate) fn info(&mut self, entity: Entity, ty: TypeId) -> Result<StrippedMessage<'f>> {
        let encoded = encode_type(self.f, ty)?;
        self.entity(entity, |_, message| {
            stripped::info(message, &encoded, doc::VALUE_INFO)
        })
    }

    /// Whether a type in the file is equivalent to an encoded one, apart from its form and from unknown fields.
    pub(crate) fn is_type(&mut self, body: Message<'_>, encoded: &[u8]) -> Result<bool> {
        let id = read_type(&mut self.types, body)?;
        Ok(encode_type(&self.types, id)? == encoded)
    }

    /// Strips a region's graph, or the function's body. `names` are the names of the values.
    pub(crate) fn body(
        &mut self,
        region: RegionId,
        kind: BodyKind,
        layout: &Layout<'f>,
        names: &[SymbolId],
    ) -> Result<StrippedBody<'f>> {
        let is_function = region == self.f.body();
        let entity = match is_function {
            true => Entity::Function,
            false => Entity::Region(region),
        };
        let [doc, metadata] = kind.texts();
        let texts = match is_function && self.keeps_metadata {
            true => [doc, 0],
            false => [doc, metadata],
        };
        let message = self.entity(entity, |types, message| match kind {
            BodyKind::Graph => stripped::graph(message, texts),
            BodyKind::Function => stripped::function(types, message, texts),
        })?;
        let mut body = StrippedBody {
            message,
            ..StrippedBody::default()
        };
        if let Some(message) = self.span(entity) {
            let starts = |number| bodies(message, number).map(|body| Ok(body?.at));
            body.nodes = starts(kind.node()).collect::<Result<_>>()?;
            body.infos = starts(kind.info()).collect::<Result<_>>()?;
            if kind == BodyKind::Graph {
                body.sparse = starts(graph::SPARSE_INITIALIZER).collect::<Result<_>>()?;
                self.initializers(&mut body, region, message, layout)?;
            }
            self.infos(&mut body, region, message, kind, layout, names)?;
        }
        Ok(body)
    }

    /// Finds the initializers that are also inputs. If `keeps_inputs`, an erased initializer is kept with its input,
    /// since callers would have to pass the input otherwise. It is also kept if a quantization annotation names it.
    fn initializers(
        &self,
        body: &mut StrippedBody<'f>,
        region: RegionId,
        message: Message<'f>,
        layout: &Layout<'f>,
    ) -> Result {
        let f = self.f;
        let args = f.args(region).map(|arg| self.start(Entity::Value(arg)));
        let args: FxHashSet<u64> = args.collect();
        let mut inputs = Vec::new();
        for field in fields(message, graph::INPUT) {
            let field = field?;
            if !args.contains(&field.body().at) {
                inputs.push((string_of(field.body(), value_info::NAME)?, field));
            }
        }
        let mut needed = FxHashSet::default();
        for annotation in bodies(message, graph::QUANTIZATION_ANNOTATION) {
            needed.extend(parameters_of(annotation?)?);
        }
        if inputs.is_empty() && needed.is_empty() {
            return Ok(());
        }
        let ids = layout.initializers(region).into_iter();
        let live: FxHashMap<u64, ConstId> = ids
            .map(|id| (self.start(Entity::Constant(id)), id))
            .collect();
        let (mut constants, mut erased) = (FxHashMap::default(), FxHashMap::default());
        for field in fields(message, graph::INITIALIZER) {
            let field = field?;
            let name = string_of(field.body(), tensor::NAME)?;
            match live.get(&field.body().at) {
                Some(&id) if layout.is_constant_value(f.constant(id).value) => {
                    constants.insert(name, id);
                }
                Some(_) => {}
                None => _ = erased.insert(name, field),
            }
        }
        for (name, field) in inputs {
            if let Some(&id) = constants.get(name) {
                body.inputs.entry(id).or_insert(field.body());
            } else if self.keeps_inputs && erased.contains_key(name) {
                needed.insert(name);
                body.message.records.push(field);
            }
        }
        let mut stay: Vec<_> = erased.into_iter().collect();
        stay.retain(|(name, _)| needed.contains(name));
        stay.sort_unstable_by_key(|(_, field)| field.body().at);
        let stay = stay.into_iter().map(|(_, field)| field);
        body.message.records.extend(stay);
        Ok(())
    }

    /// Finds the value infos that remain unchanged: duplicates, and those that don't belong to an erased value.
    fn infos(
        &mut self,
        body: &mut StrippedBody<'f>,
        region: RegionId,
        message: Message<'f>,
        kind: BodyKind,
        layout: &Layout<'f>,
        names: &[SymbolId],
    ) -> Result {
        let declared = layout.declared(region).into_iter();
        let declared = declared.map(|value| self.start(Entity::Value(value)));
        let declared: FxHashSet<u64> = declared.collect();
        let infos: Vec<WireField<'f>> = fields(message, kind.info()).collect::<Result<_>>()?;
        let (declared, others): (Vec<_>, Vec<_>) = infos
            .into_iter()
            .partition(|field| declared.contains(&field.body().at));
        if others.is_empty() {
            return Ok(());
        }
        let names_of = declared
            .iter()
            .map(|field| string_of(field.body(), value_info::NAME));
        let known = names_of.collect::<std::result::Result<FxHashSet<_>, _>>()?;
        let mut names_in_file = None;
        for field in others {
            let name = string_of(field.body(), value_info::NAME)?;
            if !known.contains(name) {
                if names_in_file.is_none() {
                    names_in_file = Some(self.defined(region, message, kind, layout, names)?);
                }
                let value = names_in_file.as_ref().and_then(|names| names.get(name));
                match value.copied() {
                    Some(None) => continue,
                    Some(Some(value)) if !self.fits(value, field.body())? => continue,
                    _ => {}
                }
            }
            body.message.records.push(field);
        }
        Ok(())
    }

    /// Returns the names that the graph in the file defines, with the values that have them now.
    fn defined(
        &self,
        region: RegionId,
        message: Message<'f>,
        kind: BodyKind,
        layout: &Layout<'f>,
        names: &[SymbolId],
    ) -> Result<FxHashMap<&'f [u8], Option<ValueId>>> {
        let defined = kind.defined_names(message)?.into_iter();
        let mut defined: FxHashMap<&[u8], Option<ValueId>> =
            defined.map(|name| (name, None)).collect();
        for value in layout.values(region) {
            if let Some(name) = names[value.index()].option()
                && let Some(holder) = defined.get_mut(self.f.text(name).as_bytes())
            {
                *holder = Some(value);
            }
        }
        Ok(defined)
    }

    /// Whether a value info is kept for a value that isn't declared. It is if the value is untouched, or if the value
    /// took the name of another one and has a compatible type.
    fn fits(&mut self, value: ValueId, declaration: Message<'_>) -> Result<bool> {
        let record = self.f.value(value);
        if record.flags & ValueRecord::DECLARED != 0 {
            return Ok(false);
        }
        if record.flags & ValueRecord::TOUCHED == 0 {
            return Ok(true);
        }
        let Some(body) = declaration.last(value_info::TYPE)? else {
            return Ok(true);
        };
        let declared = read_type(&mut self.types, body)?;
        let own = self.types.type_from(self.f, record.ty);
        Ok(own.is_ok_and(|own| self.types.is_compatible(declared, own)))
    }
}

/// Returns the start of a message in the file, or `u64::MAX` if it isn't in the file.
pub(crate) fn offset_in_file(message: Option<Message<'_>>) -> u64 {
    let message = message.filter(|message| !message.is_detached());
    message.map_or(u64::MAX, |message| message.at)
}

/// Returns the records of a repeated message or string field.
fn fields<'a>(message: Message<'a>, number: u32) -> impl Iterator<Item = Result<WireField<'a>>> {
    message.fields().filter_map(move |field| match field {
        Ok(field) => {
            let is_body = matches!(field.value, Value::Bytes(_));
            (field.number == number && is_body).then_some(Ok(field))
        }
        Err(error) => Some(Err(error.into())),
    })
}
