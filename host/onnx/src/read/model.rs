//! Reading `ModelProto` and `FunctionProto`.

use std::sync::Arc;

use passdock_abi::{FunctionKind, OpId, SymbolId};
use passdock_ir::{AttrData, Entity, Function, Module, NewAttr};

use super::context::Context;
use super::frame::span;
use super::importer::Importer;
use super::node::Decoded;
use super::sort;
use crate::extras::function_attributes;
use crate::file::external::Reach;
use crate::file::model::ModelFile;
use crate::file::source::Source;
use crate::format::attribute::Attribute;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result, Within};
use crate::format::header::{Header, MAIN, version_of};
use crate::format::opsets::{Opsets, read_opset};
use crate::format::schema::function;
use crate::format::wire::{Message, Value};

/// Reads a model file.
pub(super) fn read(source: &Arc<Source>, reach: Reach) -> Result<Module> {
    let file = Message::whole(source.bytes());
    let mut module = Module::new();
    let symbols = module.symbols().clone();
    let mut cx = Context::new(source, &symbols, reach);
    let header = Header::read(file)?;
    cx.ir_version = header.ir_version();
    let Header {
        metadata,
        opsets,
        graph,
        functions,
    } = header;
    let Some(graph) = graph else {
        return Err(OnnxError::new("not an ONNX model: no graph"));
    };
    let mut names = Vec::with_capacity(functions.len());
    cx.carries = version_of(&metadata) >= function_attributes::SINCE;
    for &body in &functions {
        let name = function_name(&mut cx, body)?;
        if !cx.local.insert(name) {
            let what = format!("the model has two functions {}", symbols.text(name));
            return Err(OnnxError::at(body.at, what));
        }
        names.push(name);
    }
    let main = import(&mut cx, symbols.intern(MAIN), graph, BodyKind::Graph);
    let main = main.and_then(|main| finish(&cx, main, graph, &opsets, BodyKind::Graph));
    module.insert(main.within(|| "graph")?)?;
    for (index, (&body, &name)) in functions.iter().zip(&names).enumerate() {
        let function = read_function(&mut cx, body, name);
        let part = || format!("functions[{index}] ({})", symbols.text(name));
        module.insert(function.within(part)?)?;
    }
    module.set_metadata(metadata);
    let mut external: Vec<_> = cx.external.into_values().collect();
    external.sort_by(|a, b| a.location().cmp(b.location()));
    let file = ModelFile::new(&module, Some(source.clone()), external);
    module.set_source(Some(Arc::new(file)));
    Ok(module)
}

/// Imports a body. If a name is used before its definition, sorts the nodes and imports the body again.
fn import<'a>(
    cx: &mut Context<'a>,
    name: SymbolId,
    message: Message<'a>,
    kind: BodyKind,
) -> Result<Function> {
    let mut orders = None;
    loop {
        let function = Function::new(cx.symbols.clone(), FunctionKind::GRAPH, name);
        let mut importer = Importer::new(cx, function, orders.as_ref());
        match importer
            .open_body(message, kind)
            .and_then(|()| importer.run())
        {
            Ok(()) => return importer.finish(),
            Err(error) => {
                importer.forget();
                if !importer.undefined || orders.is_some() {
                    return Err(error);
                }
            }
        }
        orders = Some(sort::orders(message, kind)?);
    }
}

/// Sets a function's imports, the attributes in its metadata, and its span.
fn finish(
    cx: &Context<'_>,
    mut function: Function,
    message: Message<'_>,
    opsets: &Opsets,
    kind: BodyKind,
) -> Result<Function> {
    for (domain, version) in opsets {
        function.set_opset(cx.symbols.intern(domain), *version);
    }
    if cx.carries {
        function_attributes::read(&mut function, message, kind.texts()[1])?;
    }
    function.origins_mut().set(Entity::Function, span(message));
    function.seal();
    Ok(function)
}

/// Returns the canonical name of a local function.
fn function_name<'a>(cx: &mut Context<'a>, message: Message<'a>) -> Result<SymbolId> {
    let parts = message.lasts([function::DOMAIN, function::NAME, function::OVERLOAD])?;
    cx.op_name(parts.map(|part| part.unwrap_or(Message::empty(message.at))))
}

/// Reads a local function.
fn read_function<'a>(
    cx: &mut Context<'a>,
    message: Message<'a>,
    name: SymbolId,
) -> Result<Function> {
    let mut function = import(cx, name, message, BodyKind::Function)?;
    let mut opsets = Opsets::new();
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (function::OPSET_IMPORT, Value::Bytes(body)) => read_opset(body, &mut opsets)?,
            (function::ATTRIBUTE, Value::Bytes(body)) => {
                let name = cx.symbol(body)?;
                function.set_attr(OpId::NONE, &NewAttr::param(name, AttrData::None))?;
            }
            (function::ATTRIBUTE_PROTO, Value::Bytes(body)) => {
                default(cx, &mut function, body).within(|| "attribute_proto")?;
            }
            _ => {}
        }
    }
    finish(cx, function, message, &opsets, BodyKind::Function)
}

/// Reads an attribute parameter with a default. Values other than numbers and strings stay in ONNX's form.
fn default<'a>(cx: &mut Context<'a>, f: &mut Function, message: Message<'a>) -> Result {
    let attribute = Attribute::read(message)?;
    let name = cx.symbols.intern(attribute.name);
    let decoded = Decoded::plain(&attribute)?;
    let value = decoded.plain_value(&attribute);
    let value = value.unwrap_or(AttrData::Opaque(message.bytes));
    f.set_attr(OpId::NONE, &NewAttr::param(name, value))?;
    Ok(())
}
