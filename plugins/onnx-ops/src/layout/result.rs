//! [`LayoutResult`]: an op in other layouts, as a rule says it.

use std::fmt::Write;

use passdock_plugin_api::op::{Layout, LayoutStep};
use passdock_plugin_api::{Attr, OpCall};

use crate::infer::{Answer, Infer, Stop, wrong};

/// An op in other layouts: those of its operands and results, and its body between them.
pub(crate) struct LayoutResult {
    /// The layout of each operand slot; `None`: as it is.
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

    /// An operand comes in this layout.
    pub(super) fn operand(&mut self, index: usize, layout: &Layout) {
        self.operands[index] = Some(layout.clone()).filter(|layout| !layout.is_identity());
    }

    /// A result is given in this layout, if there is one.
    pub(super) fn result(&mut self, index: usize, layout: &Layout) {
        if let Some(result) = self.results.get_mut(index) {
            *result = Some(layout.clone()).filter(|layout| !layout.is_identity());
        }
    }

    /// A name that isn't taken.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Adds a line that defines a value, and returns the value's name.
    fn define(&mut self, text: std::fmt::Arguments<'_>) -> String {
        self.names += 1;
        let name = format!("v{}", self.names);
        // Writing to a string doesn't fail.
        _ = writeln!(self.lines, "  %{name} = {text}");
        name
    }

    /// Constant integers in a body.
    pub(super) fn ints(&mut self, values: &[i64]) -> String {
        self.ints_of("i64", values)
    }

    /// Constant integers of an element type.
    pub(super) fn ints_of(&mut self, dtype: &str, values: &[i64]) -> String {
        self.define(format_args!("const {dtype}[{}] {values:?}", values.len()))
    }

    /// A constant integer.
    pub(super) fn int(&mut self, value: i64) -> String {
        self.define(format_args!("const i64[] {value}"))
    }

    /// An op of one result.
    pub(super) fn op(&mut self, operator: &str, operands: &[&str], attrs: &str) -> String {
        let operands: Vec<String> = operands.iter().map(|name| format!("%{name}")).collect();
        let operands = operands.join(", ");
        let attrs = match attrs {
            "" => String::new(),
            attrs => format!(" {{{attrs}}}"),
        };
        self.define(format_args!("onnx.{operator}({operands}){attrs}"))
    }

    /// The ops of these steps.
    pub(super) fn steps(&mut self, value: &str, steps: &[LayoutStep]) -> Answer<String> {
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

    /// `Squeeze` or `Unsqueeze`.
    pub(super) fn reshape_at(&mut self, operator: &str, value: &str, axes: &[i64]) -> String {
        if self.version < 13 {
            return self.op(operator, &[value], &format!("axes = {axes:?}"));
        }
        let axes = self.ints(axes);
        self.op(operator, &[value, &axes], "")
    }

    /// The op itself, with operands in the place of some, and attributes. Its results are the body's.
    pub(super) fn itself(&mut self, asked: &Infer, change: Change) -> Answer {
        let (host, mut operands) = (asked.host, Vec::new());
        for index in 0..host.operand_count().max(change.operands.len()) {
            operands.push(match change.operands.get(index) {
                Some(Some(name)) => format!("%{name}"),
                Some(None) => "_".to_owned(),
                None if host.operand(index).is_some() => format!("%operand{index}"),
                None => "_".to_owned(),
            });
        }
        while operands.last().is_some_and(|operand| operand == "_") {
            operands.pop();
        }
        let attrs = attributes(host, &change.attrs)?;
        let count = host.result_count();
        let is_there = |index: &usize| !host.is_absent(host.result(host.op(), *index));
        let last = (0..count).rev().find(is_there);
        let mut results = Vec::new();
        for _ in 0..=last.unwrap_or(0) {
            results.push(self.name());
        }
        let names: Vec<String> = results.iter().map(|name| format!("%{name}")).collect();
        let (names, operands) = (names.join(", "), operands.join(", "));
        let name = host.name(host.op());
        // Writing to a string doesn't fail.
        _ = writeln!(self.lines, "  {names} = {name}({operands}){attrs}");
        self.returned = results;
        Ok(())
    }

    /// The results in the body.
    pub(super) fn returned(&self) -> Vec<String> {
        self.returned.clone()
    }

    /// What the body gives in place of the op's results.
    pub(super) fn returns(&mut self, names: Vec<String>) {
        self.returned = names;
    }

    /// The text of the body. What stands for results that nobody asks for doesn't matter.
    pub(crate) fn text(self) -> Answer<String> {
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

/// What is other than in the op that is asked about.
#[derive(Default)]
pub(super) struct Change<'a> {
    /// Names of the first operands; what isn't here is as it was.
    pub operands: Vec<Option<String>>,
    /// Attributes with their values as text.
    pub attrs: Vec<(&'a str, String)>,
}

impl<'a> Change<'a> {
    /// Another attribute.
    pub(super) fn attr(name: &'a str, value: impl ToString) -> Change<'a> {
        Change {
            operands: Vec::new(),
            attrs: vec![(name, value.to_string())],
        }
    }

    /// Other operands.
    pub(super) fn operands(operands: Vec<Option<String>>) -> Change<'a> {
        Change {
            operands,
            attrs: Vec::new(),
        }
    }
}

/// The names of the operands as they are.
pub(super) fn own_operands(asked: &Infer) -> Vec<Option<String>> {
    let own = |index: usize| asked.has(index).then(|| format!("operand{index}"));
    (0..asked.host.operand_count()).map(own).collect()
}

/// The attributes of an op as text, some of them being others.
fn attributes(host: &OpCall, changed: &[(&str, String)]) -> Answer<String> {
    let mut texts = Vec::new();
    for (name, attr) in host.attrs(host.op()) {
        let name = host.text(name);
        if changed.iter().any(|(other, _)| *other == name) {
            continue;
        }
        texts.push(format!("{} = {}", word(name), value(host, attr)?));
    }
    texts.extend(
        changed
            .iter()
            .map(|(name, value)| format!("{name} = {value}")),
    );
    if texts.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(" {{{}}}", texts.join(", ")))
}

fn word(text: &str) -> String {
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

fn value(host: &OpCall, attr: Attr<'_>) -> Answer<String> {
    Ok(match attr {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => float(value),
        Attr::String(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => quoted(text),
            Err(_) => return Err(Stop::Unknown),
        },
        Attr::Ints(values) => list("ints", values.iter().map(i64::to_string).collect()),
        Attr::Floats(values) => list("floats", values.iter().map(|&value| float(value)).collect()),
        Attr::Strings(texts) => {
            let texts: Option<Vec<String>> = texts
                .map(|bytes| std::str::from_utf8(bytes).ok().map(quoted))
                .collect();
            list("strings", texts.ok_or(Stop::Unknown)?)
        }
        Attr::Reference(name, kind) => match kind_name(kind) {
            Some(kind) => format!("ref({}, {kind})", word(host.text(name))),
            None => return Err(Stop::Unknown),
        },
        _ => return wrong!("it has an attribute that no text of a body says"),
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
