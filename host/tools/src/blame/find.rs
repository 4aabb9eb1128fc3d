//! Lookup of an op by name or number.

use passdock_abi::{OpId, ValueId};
use passdock_core::{ErrorKind, PassError, suggest};
use passdock_ir::text::{self, Pieces};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

use crate::queries::node_names;

/// An op of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OpRef {
    pub(super) function: String,
    pub(super) op: OpId,
}

impl OpRef {
    /// Creates a reference to an op of a function.
    pub(super) fn new(f: &Function, op: OpId) -> OpRef {
        let function = f.text(f.name()).to_owned();
        OpRef { function, op }
    }

    /// Returns the op's line.
    pub(super) fn line(&self, module: &Module) -> String {
        let f = module.function_named(&self.function);
        f.map_or(String::new(), |f| line(f, self.op))
    }

    /// Returns the names of the ONNX nodes that the op comes from.
    pub(super) fn nodes(&self, module: &Module) -> Vec<String> {
        let f = module.function_named(&self.function);
        f.map_or(Vec::new(), |f| names(f, self.op))
    }
}

pub(super) fn line(f: &Function, op: OpId) -> String {
    Pieces::new(f).op(op)
}

/// Describes the producer of a value: an op's line, a constant, or a parameter's name.
pub(super) fn producer(f: &Function, value: ValueId) -> String {
    if value.is_none() {
        return "absent".to_owned();
    }
    let pieces = Pieces::new(f);
    match (f.defining_op(value), f.as_constant(value)) {
        (Some(op), _) => pieces.op(op),
        (None, Some(id)) => {
            let (name, data) = (pieces.value(value), pieces.constant(id));
            match name.starts_with('%') {
                true => format!("{name} = const {data}"),
                false => format!("const {data}"),
            }
        }
        (None, None) => pieces.value(value),
    }
}

/// Returns the names of the ONNX nodes that an op comes from, without duplicates.
pub(super) fn names(f: &Function, op: OpId) -> Vec<String> {
    let mut unique = FxHashSet::default();
    let names = node_names(f, f.op(op).loc).filter(|name| unique.insert(*name));
    names.map(str::to_owned).collect()
}

/// Whether one of the names is the node's, or that of a node inlined from a call of this name.
pub(super) fn is_from(names: &[String], node: &str) -> bool {
    let inlined = |name: &String| {
        let rest = name.strip_prefix(node);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    names.iter().any(inlined)
}

/// Returns the names of an op's results.
pub(super) fn result_names(f: &Function, op: OpId) -> impl Iterator<Item = &str> {
    let names = f.results(op).map(|result| f.value(result).name);
    names.filter(|name| name.is_some()).map(|name| f.text(name))
}

/// Finds the op with a result of this name, or from the ONNX node of this name. The main graph is searched first.
pub(super) fn op(module: &Module, name: &str) -> Option<OpRef> {
    let name = name.strip_prefix('%').unwrap_or(name);
    let by_result = |f: &Function, op: OpId| result_names(f, op).any(|known| known == name);
    let by_node = |f: &Function, op: OpId| node_names(f, f.op(op).loc).any(|known| known == name);
    first(module, by_result)
        .or_else(|| output(module, name))
        .or_else(|| first(module, by_node))
}

/// Finds the op that produces an output of the main graph.
pub(super) fn output(module: &Module, name: &str) -> Option<OpRef> {
    let f = module.function_named("main")?;
    let end = f.terminator(f.body())?;
    let mut ports = f.operands(end).iter().zip(f.ports(f.body()));
    let (slot, _) = ports.find(|(_, port)| port.name.is_some() && f.text(port.name) == name)?;
    Some(OpRef::new(f, f.defining_op(slot.value)?))
}

fn first(module: &Module, predicate: impl Fn(&Function, OpId) -> bool) -> Option<OpRef> {
    let main = module.function_named("main");
    let functions = main.into_iter().chain(module.functions());
    let mut ops = functions.filter_map(|f| {
        let op = f.walk(f.body()).find(|&op| predicate(f, op))?;
        Some(OpRef::new(f, op))
    });
    ops.next()
}

/// Finds the op whose result has this number in the brief text of the main graph.
pub(super) fn number(module: &Module, number: &str) -> Option<OpRef> {
    let number = number.strip_prefix('%').unwrap_or(number).parse().ok()?;
    // Text is printed from a self-contained copy of the module, whose ops and values have the same ids.
    let written = passdock_onnx::detach(module).ok()?;
    let f = written.function_named("main")?;
    let value = text::brief_value(f, number)?;
    Some(OpRef::new(f, f.defining_op(value)?))
}

pub(super) fn unknown(last: &Module, first: &Module, name: &str) -> PassError {
    let mut all: Vec<String> = Vec::new();
    for f in last.functions().chain(first.functions()) {
        for op in f.walk(f.body()) {
            all.extend(result_names(f, op).map(str::to_owned));
            all.extend(names(f, op));
        }
    }
    let message = format!("neither the result nor the input model has an op `{name}`");
    let error = PassError::new(ErrorKind::Usage, message);
    match suggest::help(name, all.iter().map(String::as_str)) {
        Some(help) => error.help(help),
        None => error.help(
            "pass the name of a result or of a node, or the op's number in the brief text of the result; to print that \
             text, run `passdock run MODEL -o OUT.ir` and `passdock convert --brief OUT.ir`",
        ),
    }
}
