//! Printing a model file as a few lines of text, with the wire format only.

use crate::format::schema::{attr, function, graph, model, node, tensor, value_info};
use crate::format::wire::{Message, Value};

/// Returns the lines of a model: functions, graphs, nodes.
pub(super) fn show(bytes: &[u8]) -> String {
    let mut out = String::new();
    for field in (Message::whole(bytes)).fields() {
        let field = field.unwrap();
        match (field.number, field.value) {
            (model::GRAPH, Value::Bytes(body)) => graph_lines(body, "", &mut out),
            (model::FUNCTIONS, Value::Bytes(body)) => function_lines(body, &mut out),
            _ => {}
        }
    }
    out
}

fn strings(message: Message<'_>, number: u32) -> Vec<String> {
    bodies(message, number)
        .map(|body| String::from_utf8_lossy(body.bytes).into_owned())
        .collect()
}

fn string(message: Message<'_>, number: u32) -> String {
    strings(message, number).pop().unwrap_or_default()
}

fn bodies(message: Message<'_>, number: u32) -> impl Iterator<Item = Message<'_>> {
    message
        .fields()
        .map(Result::unwrap)
        .filter_map(move |field| match field.value {
            Value::Bytes(body) if field.number == number => Some(body),
            _ => None,
        })
}

fn names(message: Message<'_>, number: u32, name: u32) -> String {
    bodies(message, number)
        .map(|body| string(body, name))
        .collect::<Vec<_>>()
        .join(", ")
}

fn graph_lines(message: Message<'_>, indent: &str, out: &mut String) {
    let (ins, outs) = (
        names(message, graph::INPUT, value_info::NAME),
        names(message, graph::OUTPUT, value_info::NAME),
    );
    *out += &format!(
        "{indent}{}({ins}) -> ({outs})\n",
        string(message, graph::NAME)
    );
    let inner = format!("{indent}  ");
    for field in message.fields().map(Result::unwrap) {
        let Value::Bytes(body) = field.value else {
            continue;
        };
        match field.number {
            graph::NODE => node_lines(body, &inner, out),
            graph::INITIALIZER => {
                let len = bodies(body, tensor::RAW_DATA)
                    .map(|raw| raw.bytes.len())
                    .sum::<usize>();
                *out += &format!("{inner}init {}: {len} bytes\n", string(body, tensor::NAME));
            }
            graph::VALUE_INFO => {
                *out += &format!("{inner}info {}\n", string(body, value_info::NAME))
            }
            graph::SPARSE_INITIALIZER => *out += &format!("{inner}sparse\n"),
            graph::NAME | graph::INPUT | graph::OUTPUT => {}
            number => *out += &format!("{inner}field {number}: {} bytes\n", body.bytes.len()),
        }
    }
}

fn function_lines(message: Message<'_>, out: &mut String) {
    let (ins, outs) = (
        strings(message, function::INPUT).join(", "),
        strings(message, function::OUTPUT).join(", "),
    );
    let name = [
        string(message, function::DOMAIN),
        string(message, function::NAME),
    ]
    .join(".");
    *out += &format!("fn {name}({ins}) -> ({outs})\n");
    for body in bodies(message, function::NODE) {
        node_lines(body, "  ", out);
    }
}

fn node_lines(message: Message<'_>, indent: &str, out: &mut String) {
    let domain = string(message, node::DOMAIN);
    let op = string(message, node::OP_TYPE);
    let op = if domain.is_empty() {
        op
    } else {
        format!("{domain}.{op}")
    };
    let name = string(message, node::NAME);
    let name = if name.is_empty() {
        name
    } else {
        format!(" #{name}")
    };
    *out += &format!(
        "{indent}{} = {op}({}){name}",
        strings(message, node::OUTPUT).join(", "),
        strings(message, node::INPUT).join(", ")
    );
    let attrs: Vec<Message<'_>> = bodies(message, node::ATTRIBUTE).collect();
    let mut graphs = String::new();
    for &body in &attrs {
        *out += &format!(" {}", string(body, attr::NAME));
        for field in body.fields().map(Result::unwrap) {
            match (field.number, field.value) {
                (attr::I, Value::Varint(value)) => *out += &format!("={}", value as i64),
                (attr::S | attr::REF_ATTR_NAME, Value::Bytes(text)) => {
                    *out += &format!("={:?}", String::from_utf8_lossy(text.bytes));
                }
                (attr::G | attr::GRAPHS, Value::Bytes(body)) => {
                    graph_lines(body, &format!("{indent}  "), &mut graphs);
                }
                _ => {}
            }
        }
    }
    for field in message.fields().map(Result::unwrap) {
        let known = [
            node::INPUT,
            node::OUTPUT,
            node::NAME,
            node::OP_TYPE,
            node::DOMAIN,
            node::ATTRIBUTE,
        ];
        if !known.contains(&field.number) {
            *out += &format!(" field {}", field.number);
        }
    }
    *out += "\n";
    *out += &graphs;
}
