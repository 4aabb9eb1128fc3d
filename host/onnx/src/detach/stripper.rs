//! The stripped messages of a function's entities, from the file or from the entities' extras.

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

/// Finds what the IR doesn't say of the entities of a function.
pub(crate) struct Stripper<'f> {
    f: &'f Function,
    source: Option<&'f Source>,
    /// Whether the inputs of erased initializers stay, as before IR version 4.
    keeps_inputs: bool,
    /// Whether the metadata of a body stays among its records.
    keeps_metadata: bool,
    /// A function of its own, to read types into.
    types: Function,
}

/// A graph, or a function's body, without what the IR says itself.
#[derive(Default)]
pub(crate) struct StrippedBody<'f> {
    /// The message; with the value infos of no value, and the initializers that stay though they are erased.
    pub(crate) message: StrippedMessage<'f>,
    /// The places of its nodes in the file.
    pub(crate) nodes: Vec<u64>,
    /// The places of its value infos in the file.
    pub(crate) infos: Vec<u64>,
    /// The places of its sparse initializers in the file.
    pub(crate) sparse: Vec<u64>,
    /// The inputs that initializers are too.
    pub(crate) inputs: FxHashMap<ConstId, Message<'f>>,
}

impl StrippedBody<'_> {
    /// The place of a declaration among the value infos; behind all others if it came from another graph.
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

    /// The bytes of the file that an entity came from.
    pub(crate) fn span(&self, entity: Entity) -> Option<Message<'f>> {
        self.source?.message(self.f.origins().get(entity))
    }

    /// The place in the file of an entity's message; behind all others if it has none.
    pub(crate) fn start(&self, entity: Entity) -> u64 {
        place_in_file(self.span(entity))
    }

    /// Strips the message of an entity, by `strip` if it is in the file.
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

    /// Strips an op's node; `keeps_attributes`: of the file, its attributes stay whole.
    pub(crate) fn op(&mut self, op: OpId, keeps_attributes: bool) -> Result<StrippedMessage<'f>> {
        self.entity(Entity::Op(op), |types, message| {
            stripped::node(types, message, keeps_attributes)
        })
    }

    /// Strips a constant's tensor, or its node if it is one.
    pub(crate) fn constant(&mut self, id: ConstId) -> Result<StrippedMessage<'f>> {
        let record = self.f.constant(id);
        self.entity(Entity::Constant(id), |_, message| {
            match record.flags & Constant::NODE {
                0 => stripped::tensor(message, record.value.is_some(), doc::TENSOR),
                _ => stripped::constant_node(message),
            }
        })
    }

    /// The tensor in the file that a constant's data is in.
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

    /// Whether a type of the file says what an encoded one does, in other words or with more.
    pub(crate) fn is_type(&mut self, body: Message<'_>, encoded: &[u8]) -> Result<bool> {
        let id = read_type(&mut self.types, body)?;
        Ok(encode_type(&self.types, id)? == encoded)
    }

    /// Strips a region's graph, or the body of a function. `names` are those of the values.
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

    /// Finds the inputs that initializers are too. An erased initializer stays with its input, since an input without
    /// it would be one that callers have to give; and if a quantization annotation names it.
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
                Some(&id) if layout.is_own_value(f.constant(id).value) => {
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

    /// Finds the value infos that stay whole: those of no value that was erased, and those that are there twice.
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

    /// The names that the file's graph defines, with the values that have them now.
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

    /// Whether a declaration stays, of a value that isn't declared: the file says less of it, or the value took the
    /// name of another one, and the declaration is right of it, too.
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

/// The place of a message in the file; behind all others if it has none.
pub(crate) fn place_in_file(message: Option<Message<'_>>) -> u64 {
    let message = message.filter(|message| !message.is_detached());
    message.map_or(u64::MAX, |message| message.at)
}

/// The records of a repeated message or string.
fn fields<'a>(message: Message<'a>, number: u32) -> impl Iterator<Item = Result<WireField<'a>>> {
    message.fields().filter_map(move |field| match field {
        Ok(field) => {
            let is_body = matches!(field.value, Value::Bytes(_));
            (field.number == number && is_body).then_some(Ok(field))
        }
        Err(error) => Some(Err(error.into())),
    })
}
