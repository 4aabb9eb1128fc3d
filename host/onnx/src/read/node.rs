//! Reading `NodeProto` as an op, or as a constant that is marked as a node.

use passdock_abi::{
    AttrKind, ConstId, DType, Dim, LocId, OpId, RegionId, SymbolId, TypeId, symbol,
};
use passdock_ir::{AttrData, ConstantData, Entity, NewAttr, NewOp, NewRegion, Position, TypeData};

use super::frame::{Frame, named};
use super::importer::Importer;
use crate::extras::importer_data::ImporterDataBuilder;
use crate::format::attribute::{
    Attribute, MAX_ATTRS, put_sparse_value, read_floats, read_ints, type_and_field,
};
use crate::format::error::{OnnxError, Result, Within};
use crate::format::fields::text;
use crate::format::schema::{attr, node};
use crate::format::tensor::PLAIN_VALUES;
use crate::format::wire::{Message, Value};
use passdock_ir::constant::string_data;

/// An attribute's value with the lists that it refers to.
#[derive(Default)]
pub(super) struct Decoded<'a> {
    ints: Vec<i64>,
    floats: Vec<f32>,
    strings: Vec<&'a [u8]>,
    tensors: Vec<ConstId>,
    types: Vec<TypeId>,
}

impl<'a> Decoded<'a> {
    /// Decodes a value of numbers or strings.
    pub(super) fn plain(attribute: &Attribute<'a>) -> Result<Decoded<'a>> {
        let mut decoded = Decoded::default();
        match attribute.kind {
            AttrKind::INTS => decoded.ints = read_ints(*attribute)?,
            AttrKind::FLOATS => decoded.floats = read_floats(*attribute)?,
            AttrKind::STRINGS => decoded.strings = attribute.texts()?,
            _ => {}
        }
        Ok(decoded)
    }

    /// Returns the value of an attribute of numbers or strings; `None` for other kinds.
    pub(super) fn plain_value(&self, attribute: &Attribute<'a>) -> Option<AttrData<'_>> {
        Some(match attribute.kind {
            AttrKind::INT => AttrData::Int(attribute.bits() as i64),
            AttrKind::FLOAT => AttrData::Float(f32::from_bits(attribute.bits() as u32)),
            AttrKind::STRING => AttrData::String(attribute.body().bytes),
            AttrKind::INTS => AttrData::Ints(&self.ints),
            AttrKind::FLOATS => AttrData::Floats(&self.floats),
            AttrKind::STRINGS => AttrData::Strings(&self.strings),
            _ => return None,
        })
    }
}

/// A node's header.
struct Header<'a> {
    /// Domain, op type and overload.
    parts: [Message<'a>; 3],
    name: Option<Message<'a>>,
    /// Whether it has documentation, metadata or fields of later versions.
    annotated: bool,
}

impl<'a> Importer<'_, 'a> {
    /// Creates the op of a node; `None` if the node is a constant.
    pub(super) fn node(
        &mut self,
        frame: &mut Frame<'a>,
        message: Message<'a>,
    ) -> Result<Option<OpId>> {
        let header = self.header(message)?;
        let name = self.cx.op_name(header.parts)?;
        let loc = match header.name {
            Some(name) => {
                self.cx.symbol(name)?;
                self.f.add_name_loc(text(name)?)
            }
            None => LocId::NONE,
        };
        if self.is_constant(name) && self.constant(frame, message, loc)? {
            return Ok(None);
        }
        self.scratch.types.clear();
        for output in &self.scratch.outputs {
            // An omitted result has no name, so no declaration applies to it.
            let known = frame.declared.get(output);
            let known = known.filter(|_| *output != symbol::EMPTY);
            self.scratch
                .types
                .push(known.map_or(TypeId::NONE, |known| known.0.ty));
        }
        let op = self.op(frame, name, loc)?;
        self.set_origin(Entity::Op(op), message);
        if header.annotated {
            self.f.import_annotated(op);
        }
        self.anchor(frame, op);
        for index in 0..self.scratch.outputs.len() {
            let output = self.scratch.outputs[index];
            let Some(value) = self.f.result(op, index) else {
                continue;
            };
            if output == symbol::EMPTY {
                self.f.import_absent(value);
                continue;
            }
            self.f.import_name(value, output);
            if let Some(&(info, true)) = frame.declared.get(&output) {
                self.declared(value, info);
                if info.is_annotated {
                    self.f.import_annotated(op);
                }
            }
        }
        Ok(Some(op))
    }

    /// Walks a node once. Operands, outputs and attributes are stored in the scratch buffers.
    fn header(&mut self, message: Message<'a>) -> Result<Header<'a>> {
        self.scratch.operands.clear();
        self.scratch.outputs.clear();
        self.scratch.attrs.clear();
        let empty = Message::empty(message.at);
        let mut header = Header {
            parts: [empty; 3],
            name: None,
            annotated: false,
        };
        for field in message.fields() {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                node::INPUT => {
                    let value = self.lookup(body).map_err(|error| OnnxError {
                        at: Some(body.at),
                        ..error
                    })?;
                    self.scratch.operands.push(value);
                }
                node::OUTPUT => {
                    let name = self.cx.symbol(body)?;
                    self.scratch.outputs.push(name);
                }
                node::ATTRIBUTE => {
                    let index = self.scratch.attrs.len();
                    let attribute = Attribute::read(body);
                    let part_name = || named("attribute", index, body, attr::NAME);
                    self.scratch.attrs.push(attribute.within(part_name)?);
                }
                node::NAME => header.name = Some(body),
                node::DOMAIN => header.parts[0] = body,
                node::OP_TYPE => header.parts[1] = body,
                node::OVERLOAD => header.parts[2] = body,
                _ => header.annotated = true,
            }
        }
        if self.scratch.attrs.len() > MAX_ATTRS {
            let what = format!("a node cannot have more than {MAX_ATTRS} attributes");
            return Err(OnnxError::at(message.at, what));
        }
        Ok(header)
    }

    fn op(&mut self, frame: &Frame<'a>, name: SymbolId, loc: LocId) -> Result<OpId> {
        let attrs = std::mem::take(&mut self.scratch.attrs);
        let mut decoded = Vec::with_capacity(attrs.len());
        for (index, attribute) in attrs.iter().enumerate() {
            let part_name = || named("attribute", index, attribute.message, attr::NAME);
            decoded.push(self.decode(attribute).within(part_name)?);
        }
        let mut new_attrs = Vec::with_capacity(attrs.len());
        let mut graphs = Vec::new();
        for (attribute, decoded) in attrs.iter().zip(&decoded) {
            let name = self.cx.symbols.intern(attribute.name);
            if attribute.is_graphs() {
                for body in attribute.bodies() {
                    graphs.push((name, body?));
                }
            }
            // Of several attributes with a name, the first is the op's. The others are only preserved.
            if !new_attrs
                .iter()
                .any(|known: &NewAttr<'_>| known.name == name)
            {
                new_attrs.push(NewAttr::new(name, self.value(attribute, decoded)));
            }
        }
        let new_regions: Vec<NewRegion<'_>> = graphs
            .iter()
            .map(|&(name, _)| NewRegion { name, args: &[] })
            .collect();
        let new = NewOp {
            loc,
            operands: &self.scratch.operands,
            result_types: &self.scratch.types,
            attrs: &new_attrs,
            regions: &new_regions,
            ..NewOp::new(name)
        };
        let op = self.f.create_op(&new, Position::end(frame.region))?;
        if attrs.iter().any(|attribute| attribute.is_graphs()) {
            self.attach(op, &attrs, graphs)?;
        }
        drop(new_attrs);
        self.scratch.attrs = attrs;
        Ok(op)
    }

    /// Adds the regions of graph attributes to an op, and pushes them on the stack.
    fn attach(
        &mut self,
        op: OpId,
        attrs: &[Attribute<'a>],
        graphs: Vec<(SymbolId, Message<'a>)>,
    ) -> Result {
        let regions: Vec<RegionId> = self.f.regions_of(op).collect();
        let mut next = 0;
        for attribute in attrs.iter().filter(|attribute| attribute.is_graphs()) {
            let name = self.cx.symbols.intern(attribute.name);
            let count = attribute.bodies().count();
            let value = match attribute.kind {
                AttrKind::REGION => AttrData::Region(regions[next]),
                _ => AttrData::Regions(&regions[next..next + count]),
            };
            next += count;
            let known = self.f.attr(op, name).map(|attr| attr.kind);
            if known != Some(AttrKind::NONE) {
                let what = format!(
                    "duplicate attribute {:?}, once with a graph",
                    attribute.name
                );
                return Err(OnnxError::at(attribute.message.at, what));
            }
            self.f.set_attr(op, &NewAttr::new(name, value))?;
        }
        let bodies = graphs.iter().map(|&(_, body)| body);
        self.scratch.opened.extend(regions.into_iter().zip(bodies));
        Ok(())
    }

    fn decode(&mut self, attribute: &Attribute<'a>) -> Result<Decoded<'a>> {
        let mut decoded = Decoded::plain(attribute)?;
        match attribute.kind {
            AttrKind::TENSOR | AttrKind::TENSORS => {
                for body in attribute.bodies() {
                    decoded.tensors.push(self.attr_tensor(body?)?);
                }
            }
            AttrKind::TYPE | AttrKind::TYPES => {
                for body in attribute.bodies() {
                    let ty = self.ty(body?)?;
                    decoded.types.push(ty);
                }
            }
            _ => {}
        }
        Ok(decoded)
    }

    fn attr_tensor(&mut self, message: Message<'a>) -> Result<ConstId> {
        let tensor = self.cx.tensor(message)?;
        let ty = tensor.ty(&mut self.f);
        let id = self.f.add_tensor(ty, tensor.data, self.f.body())?;
        self.set_origin(Entity::Constant(id), message);
        Ok(id)
    }

    fn value<'d>(&self, attribute: &Attribute<'a>, decoded: &'d Decoded<'a>) -> AttrData<'d>
    where
        'a: 'd,
    {
        if let Some(value) = decoded.plain_value(attribute) {
            return value;
        }
        match attribute.kind {
            AttrKind::TENSOR => AttrData::Tensor(decoded.tensors[0]),
            AttrKind::TENSORS => AttrData::Tensors(&decoded.tensors),
            AttrKind::TYPE => AttrData::Type(decoded.types[0]),
            AttrKind::TYPES => AttrData::Types(&decoded.types),
            AttrKind::REFERENCE => {
                let name = String::from_utf8_lossy(attribute.body().bytes);
                AttrData::Reference(self.cx.symbols.intern(&name), attribute.referred)
            }
            // Set after the op's regions are created.
            AttrKind::REGION | AttrKind::REGIONS => AttrData::None,
            _ => AttrData::Opaque(attribute.message.bytes),
        }
    }

    fn is_constant(&self, name: SymbolId) -> bool {
        self.scratch.attrs.len() == 1
            && self.scratch.operands.is_empty()
            && self.scratch.outputs.len() == 1
            && self.scratch.outputs[0] != symbol::EMPTY
            && self.cx.symbols.text(name) == "onnx.Constant"
            && !self.cx.local.contains(&name)
    }

    /// Creates a constant from the node in the scratch buffers; `false` if it has to be an op.
    fn constant(
        &mut self,
        frame: &mut Frame<'a>,
        message: Message<'a>,
        loc: LocId,
    ) -> Result<bool> {
        let attribute = self.scratch.attrs[0];
        let (ty, data) = if (attribute.name, attribute.kind) == ("value", AttrKind::TENSOR) {
            let part_name = || named("attribute", 0, attribute.message, attr::NAME);
            let tensor = self.cx.tensor(attribute.body()).within(part_name)?;
            (tensor.ty(&mut self.f), tensor.data)
        } else if let Some((dtype, len, bytes)) = plain_constant(attribute)? {
            let dim = len.map(|len| Dim::constant(len as i64));
            let ty = TypeData::Tensor(dtype, Some(dim.as_slice()));
            (self.f.add_type(ty), ConstantData::inline(bytes))
        } else {
            return Ok(false);
        };
        let value = self.f.add_constant(ty, data, frame.region, "")?;
        let id = self.f.value(value).constant;
        self.set_origin(Entity::Constant(id), message);
        frame.waiting.push((id, loc));
        let name = self.scratch.outputs[0];
        self.define_constant(frame, value, name)?;
        Ok(true)
    }

    /// Creates the op of a sparse initializer: a `Constant` whose value stays in ONNX's form.
    pub(super) fn sparse_op(
        &mut self,
        region: RegionId,
        message: Message<'a>,
        dtype: DType,
        dims: &[i64],
    ) -> Result<OpId> {
        let dims: Vec<Dim> = dims.iter().map(|&dim| Dim::constant(dim)).collect();
        // A plain tensor type, since the storage doesn't matter to users of the value.
        let ty = self.f.add_type(TypeData::Tensor(dtype, Some(&dims)));
        let mut value = Vec::new();
        put_sparse_value(&mut value, message.bytes);
        let attrs = [NewAttr::new(
            self.cx.symbols.intern("sparse_value"),
            AttrData::Opaque(&value),
        )];
        let name = self.cx.symbols.intern("onnx.Constant");
        let new = NewOp {
            result_types: &[ty],
            attrs: &attrs,
            ..NewOp::new(name)
        };
        let op = self.f.create_op(&new, Position::end(region))?;
        let mut data = ImporterDataBuilder::default();
        data.sparse(message.at);
        self.f
            .origins_mut()
            .set_extras(Entity::Op(op), data.into_extras());
        Ok(op)
    }
}

/// The element type, length of a list, and bytes of the plain attribute of a `Constant`.
type PlainConstant = (DType, Option<usize>, Vec<u8>);

/// Reads the plain attribute of a `Constant`; `None` if its kind isn't the one that its name requires.
fn plain_constant(attribute: Attribute<'_>) -> Result<Option<PlainConstant>> {
    let field = type_and_field(attribute.kind).map(|(_, field)| field);
    let mut known = PLAIN_VALUES.iter();
    if !known.any(|form| form.0 == attribute.name && Some(form.1) == field) {
        return Ok(None);
    }
    let decoded = Decoded::plain(&attribute)?;
    let value = decoded.plain_value(&attribute);
    Ok(value.and_then(|value| match value {
        AttrData::Int(int) => Some((DType::I64, None, int.to_le_bytes().to_vec())),
        AttrData::Float(float) => Some((DType::F32, None, float.to_le_bytes().to_vec())),
        AttrData::String(text) => Some((DType::STRING, None, string_data(&[text]))),
        AttrData::Ints(ints) => {
            let bytes = ints.iter().flat_map(|int| int.to_le_bytes());
            Some((DType::I64, Some(ints.len()), bytes.collect()))
        }
        AttrData::Floats(floats) => {
            let bytes = floats.iter().flat_map(|float| float.to_le_bytes());
            Some((DType::F32, Some(floats.len()), bytes.collect()))
        }
        AttrData::Strings(texts) => Some((DType::STRING, Some(texts.len()), string_data(texts))),
        _ => None,
    }))
}
