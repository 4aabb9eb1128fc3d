//! [`LayoutResult`]: an op in other layouts, as a rule builds it.

use std::fmt::Write;

use passdock_plugin_api::op::{Layout, LayoutStep};
use passdock_plugin_api::{Attr, OpCall};

use crate::infer::{Infer, Inferred, Stop, invalid};

/// An op in other layouts: the layouts of its operands and results, and its body.
pub(crate) struct LayoutResult {
    /// The layout of each operand slot; `None` if it is unchanged.
    pub operands: Vec<Option<Layout>>,
    /// The layout of each result.
    pub results: Vec<Option<Layout>>,
    /// The lines of the body.
    lines: String,
    /// The names of the op's results in the body.
    returned: Vec<String>,
    version: i64,
    names: u32,
}

impl LayoutResult {
    pub(super) fn new(op: &Infer) -> LayoutResult {
        LayoutResult {
            operands: vec![None; op.host.operand_count()],
            results: vec![None; op.host.result_count()],
            lines: String::new(),
            returned: Vec::new(),
            version: op.version,
            names: 0,
        }
    }

    /// Sets the layout of an operand.
    pub(super) fn operand(&mut self, index: usize, layout: &Layout) {
        self.operands[index] = Some(layout.clone()).filter(|layout| !layout.is_identity());
    }

    /// Sets the layout of a result, if the op has that result.
    pub(super) fn result(&mut self, index: usize, layout: &Layout) {
        if let Some(result) = self.results.get_mut(index) {
            *result = Some(layout.clone()).filter(|layout| !layout.is_identity());
        }
    }

    /// Returns a fresh name.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Adds a line that defines a value, and returns the value's name.
    fn define(&mut self, text: std::fmt::Arguments<'_>) -> String {
        let name = self.name();
        // Writing to a string doesn't fail.
        _ = writeln!(self.lines, "  %{name} = {text}");
        name
    }

    /// Adds a constant list of i64.
    pub(super) fn ints(&mut self, values: &[i64]) -> String {
        self.ints_of("i64", values)
    }

    /// Adds a constant list of integers of an element type.
    pub(super) fn ints_of(&mut self, dtype: &str, values: &[i64]) -> String {
        self.define(format_args!("const {dtype}[{}] {values:?}", values.len()))
    }

    /// Adds a constant i64 scalar.
    pub(super) fn int(&mut self, value: i64) -> String {
        self.define(format_args!("const i64[] {value}"))
    }

    /// Adds an op with one result.
    pub(super) fn op(&mut self, operator: &str, operands: &[&str], attrs: &str) -> String {
        let operands: Vec<String> = operands.iter().map(|name| format!("%{name}")).collect();
        let operands = operands.join(", ");
        self.define(format_args!("onnx.{operator}({operands}) {{{attrs}}}"))
    }

    /// Adds the ops of these layout steps.
    pub(super) fn steps(&mut self, value: &str, steps: &[LayoutStep]) -> Inferred<String> {
        let mut value = value.to_owned();
        for step in steps {
            value = match step {
                LayoutStep::Transpose(perm) => {
                    self.op("Transpose", &[&value], &format!("perm = {perm:?}"))
                }
                LayoutStep::Reshape(_) if self.version < 5 => return Err(Stop::Unknown),
                LayoutStep::Reshape(sizes) => {
                    let sizes = self.ints(sizes);
                    self.op("Reshape", &[&value, &sizes], "")
                }
                _ => return Err(Stop::Unknown),
            };
        }
        Ok(value)
    }

    /// Adds a `Squeeze` or `Unsqueeze`.
    pub(super) fn reshape_at(&mut self, operator: &str, value: &str, axes: &[i64]) -> String {
        if self.version < 13 {
            return self.op(operator, &[value], &format!("axes = {axes:?}"));
        }
        let axes = self.ints(axes);
        self.op(operator, &[value, &axes], "")
    }

    /// Adds the op itself with a change. Its results are the results of the body.
    pub(super) fn finish_op(mut self, request: &Infer, change: Change) -> Inferred<LayoutResult> {
        let host = request.host;
        let operand = |index: usize| match change.operands.iter().find(|(at, _)| *at == index) {
            Some((_, name)) => format!("%{name}"),
            None if request.has(index) => format!("%operand{index}"),
            None => "_".to_owned(),
        };
        let changed = change.operands.iter().map(|(at, _)| at + 1);
        let given = (0..host.operand_count())
            .rev()
            .find(|index| request.has(*index));
        let count = changed.max().max(given.map(|last| last + 1)).unwrap_or(0);
        let operands = (0..count).map(operand).collect::<Vec<_>>().join(", ");
        let attrs = attributes(host, &change.attrs)?;
        let is_present = |index: &usize| !host.is_absent(host.result(host.op(), *index));
        let last = (0..host.result_count()).rev().find(is_present).unwrap_or(0);
        self.returned = (0..=last).map(|_| self.name()).collect();
        let names = self.returned.iter().map(|name| format!("%{name}"));
        let names = names.collect::<Vec<_>>().join(", ");
        let name = host.name(host.op());
        // Writing to a string doesn't fail.
        _ = writeln!(self.lines, "  {names} = {name}({operands}) {{{attrs}}}");
        Ok(self)
    }

    /// Returns the names of the results in the body.
    pub(super) fn returned(&self) -> Vec<String> {
        self.returned.clone()
    }

    /// Sets the names of the results in the body.
    pub(super) fn returns(self, names: Vec<String>) -> LayoutResult {
        LayoutResult {
            returned: names,
            ..self
        }
    }

    /// Returns the body as IR text. Unused results get an arbitrary value.
    pub(crate) fn text(self) -> Inferred<String> {
        let Some(first) = self.returned.first() else {
            return Err(Stop::Unknown);
        };
        let name = |index: usize| self.returned.get(index).unwrap_or(first).as_str();
        let names: Vec<String> = (0..self.results.len())
            .map(|index| format!("%{}", name(index)))
            .collect();
        let params: Vec<String> = (0..self.operands.len())
            .map(|index| format!("%operand{index}"))
            .collect();
        let (params, lines, names) = (params.join(", "), &self.lines, names.join(", "));
        Ok(format!(
            "fn @body({params}) {{\n{lines}  return {names}\n}}\n"
        ))
    }
}

/// The differences from the original op.
#[derive(Default)]
pub(super) struct Change<'a> {
    /// The indices and new names of operands; others are unchanged.
    pub operands: Vec<(usize, String)>,
    /// Attributes with their values as text.
    pub attrs: Vec<(&'a str, String)>,
}

impl<'a> Change<'a> {
    /// A changed attribute.
    pub(super) fn attr(name: &'a str, value: impl std::fmt::Debug) -> Change<'a> {
        Change {
            operands: Vec::new(),
            attrs: vec![(name, format!("{value:?}"))],
        }
    }

    /// A changed operand.
    pub(super) fn operand(index: usize, name: String) -> Change<'a> {
        Change {
            operands: vec![(index, name)],
            attrs: Vec::new(),
        }
    }
}

/// Formats the attributes of an op, with some of them replaced.
fn attributes(host: &OpCall, changed: &[(&str, String)]) -> Inferred<String> {
    let changed_texts = changed
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let mut texts = Vec::new();
    for (name, attr) in host.attrs(host.op()) {
        let name = host.text(name);
        if !changed.iter().any(|(other, _)| *other == name) {
            texts.push(format!("{} = {}", identifier(name), value(host, attr)?));
        }
    }
    texts.extend(changed_texts);
    Ok(texts.join(", "))
}

fn identifier(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match starts && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                // Writing to a string doesn't fail.
                _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn string(bytes: &[u8]) -> Inferred<String> {
    let text = std::str::from_utf8(bytes);
    text.map(quoted).map_err(|_| Stop::Unknown)
}

fn float(value: f32) -> String {
    match value.is_finite() {
        true => format!("{value:?}"),
        false => format!("{:#x}", value.to_bits()),
    }
}

fn list(kind: &str, items: Vec<String>) -> String {
    match items.is_empty() {
        true => format!("{kind}[]"),
        false => format!("[{}]", items.join(", ")),
    }
}

fn value(host: &OpCall, attr: Attr<'_>) -> Inferred<String> {
    Ok(match attr {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => float(value),
        Attr::String(bytes) => string(bytes)?,
        Attr::Ints(values) => list("ints", values.iter().map(i64::to_string).collect()),
        Attr::Floats(values) => list("floats", values.iter().map(|&value| float(value)).collect()),
        Attr::Strings(texts) => list("strings", texts.map(string).collect::<Inferred<_>>()?),
        Attr::Reference(name, kind) => match kind_name(kind) {
            Some(kind) => format!("ref({}, {kind})", identifier(host.text(name))),
            None => return Err(Stop::Unknown),
        },
        _ => return invalid!("an attribute cannot be written as IR text"),
    })
}

fn kind_name(kind: passdock_plugin_api::AttrKind) -> Option<&'static str> {
    use passdock_plugin_api::AttrKind;
    Some(match kind {
        AttrKind::INT => "int",
        AttrKind::FLOAT => "float",
        AttrKind::STRING => "string",
        AttrKind::INTS => "ints",
        AttrKind::FLOATS => "floats",
        AttrKind::STRINGS => "strings",
        _ => return None,
    })
}
