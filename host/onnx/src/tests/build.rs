//! Building models from fields, for tests.

use crate::format::schema::{
    attr, attr_type, function, graph, model, node, opset, tensor, value_info,
};
use crate::format::wire::{put_bytes, put_int};

/// A message that is being built.
#[derive(Clone, Default)]
pub(super) struct Msg(pub(super) Vec<u8>);

impl Msg {
    pub(super) fn new() -> Msg {
        Msg::default()
    }

    pub(super) fn int(mut self, number: u32, value: i64) -> Msg {
        put_int(&mut self.0, number, value);
        self
    }

    pub(super) fn text(mut self, number: u32, text: &str) -> Msg {
        put_bytes(&mut self.0, number, text.as_bytes());
        self
    }

    pub(super) fn bytes(mut self, number: u32, bytes: &[u8]) -> Msg {
        put_bytes(&mut self.0, number, bytes);
        self
    }

    pub(super) fn msg(self, number: u32, msg: &Msg) -> Msg {
        self.bytes(number, &msg.0)
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Msg {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn all<'m>(self, number: u32, msgs: impl IntoIterator<Item = &'m Msg>) -> Msg {
        msgs.into_iter().fold(self, |all, msg| all.msg(number, msg))
    }
}

/// Builds a node from `y, z = Op(x, , w)`. A name may follow after `#`.
pub(super) fn node(text: &str) -> Msg {
    let (text, name) = text.split_once('#').unwrap_or((text, ""));
    let (outputs, call) = text.split_once('=').unwrap();
    let (op, inputs) = call.split_once('(').unwrap();
    let inputs = inputs.split_once(')').unwrap().0;
    let list = |text: &str| -> Vec<String> {
        let parts = text.split(',').map(|part| part.trim().to_owned());
        if text.trim().is_empty() {
            Vec::new()
        } else {
            parts.collect()
        }
    };
    let mut msg = Msg::new();
    for input in list(inputs) {
        msg = msg.text(node::INPUT, &input);
    }
    for output in list(outputs) {
        msg = msg.text(node::OUTPUT, &output);
    }
    if !name.is_empty() {
        msg = msg.text(node::NAME, name.trim());
    }
    msg.text(node::OP_TYPE, op.trim())
}

/// Builds a node with attributes.
pub(super) fn node_with<'m>(text: &str, attrs: impl IntoIterator<Item = &'m Msg>) -> Msg {
    node(text).all(node::ATTRIBUTE, attrs)
}

/// Builds an attribute from its name, its `AttributeType`, and a function that adds the value.
pub(super) fn attr(name: &str, code: u32, value: impl FnOnce(Msg) -> Msg) -> Msg {
    value(Msg::new().text(attr::NAME, name)).int(attr::TYPE, code.into())
}

/// Builds an integer attribute.
pub(super) fn int_attr(name: &str, value: i64) -> Msg {
    attr(name, attr_type::INT, |msg| msg.int(attr::I, value))
}

/// Builds a graph attribute.
pub(super) fn graph_attr(name: &str, graph: &Msg) -> Msg {
    attr(name, attr_type::GRAPH, |msg| msg.msg(attr::G, graph))
}

/// Builds an `f32` value info. Dims that aren't numbers are symbols.
pub(super) fn info(text: &str) -> Msg {
    let (name, dims) = text.split_once(':').unwrap_or((text, ""));
    let mut shape = Msg::new();
    for dim in dims.split_whitespace() {
        let dim = match dim.parse() {
            Ok(value) => Msg::new().int(1, value),
            Err(_) => Msg::new().text(2, dim),
        };
        shape = shape.msg(1, &dim);
    }
    let ty = Msg::new().msg(1, &Msg::new().int(1, 1).msg(2, &shape));
    Msg::new()
        .text(value_info::NAME, name)
        .msg(value_info::TYPE, &ty)
}

/// Builds an `f32` tensor with raw data.
pub(super) fn floats(name: &str, values: &[f32]) -> Msg {
    let raw: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let msg = Msg::new()
        .int(tensor::DIMS, values.len() as i64)
        .int(tensor::DATA_TYPE, 1);
    let msg = if name.is_empty() {
        msg
    } else {
        msg.text(tensor::NAME, name)
    };
    msg.bytes(tensor::RAW_DATA, &raw)
}

/// Builds a `Constant` node with an `f32` tensor.
pub(super) fn constant(output: &str, values: &[f32]) -> Msg {
    let value = attr("value", attr_type::TENSOR, |msg| {
        msg.msg(attr::T, &floats("", values))
    });
    node_with(&format!("{output} = Constant()"), [&value])
}

/// Builds a graph from nodes and from the names of inputs and outputs.
pub(super) fn graph(nodes: &[Msg], inputs: &[&str], outputs: &[&str]) -> Msg {
    let infos = |texts: &[&str]| texts.iter().map(|text| info(text)).collect::<Vec<_>>();
    Msg::new()
        .all(graph::NODE, nodes)
        .text(graph::NAME, "g")
        .all(graph::INPUT, &infos(inputs))
        .all(graph::OUTPUT, &infos(outputs))
}

/// Builds a model with a graph.
pub(super) fn model(ir_version: i64, graph: &Msg) -> Msg {
    let import = Msg::new().text(opset::DOMAIN, "").int(opset::VERSION, 17);
    Msg::new()
        .int(model::IR_VERSION, ir_version)
        .msg(model::GRAPH, graph)
        .msg(model::OPSET_IMPORT, &import)
}

/// Builds a local function.
pub(super) fn function(
    domain: &str,
    name: &str,
    nodes: &[Msg],
    ins: &[&str],
    outs: &[&str],
) -> Msg {
    let mut msg = Msg::new().text(function::NAME, name);
    for text in ins {
        msg = msg.text(function::INPUT, text);
    }
    for text in outs {
        msg = msg.text(function::OUTPUT, text);
    }
    let import = Msg::new().int(opset::VERSION, 17);
    msg.all(function::NODE, nodes)
        .msg(function::OPSET_IMPORT, &import)
        .text(function::DOMAIN, domain)
}
