//! Checking new ops and attributes against op definitions.

use passdock::diagnostic::suggest;
use passdock::ir::{self, OpName, check_new_op};
use passdock::plugin::{AttrInfo, LoadedOp, OpDefs};
use passdock::sdk::{self, AttrValue, FunctionKind, OpId};
use pyo3::prelude::*;

use crate::crossing::error;
use crate::ir::function::Function;
use crate::ir::new_op::NewOp;

/// Rejects an op that contradicts its definition, and converts numeric attributes to the kinds of the definition.
/// `custom=True` skips the check.
pub(crate) fn check_op(
    slf: &Bound<'_, Function>,
    op: &mut NewOp<'_>,
    like: Option<OpId>,
) -> PyResult<()> {
    let defs = passdock::PassContext::current().registry().op_defs();
    let checked = slf.get().read(|f| {
        if !is_defined(f, op.name) {
            return Ok(());
        }
        let count = op.operands.len();
        check_new_op(op.name, count, |domain| f.opset(domain), &defs).map_err(|invalid| {
            let near = invalid.near.map(|near| format!("; did you mean `{near}`?"));
            format!("{}{}", invalid.message, near.unwrap_or_default())
        })?;
        let Some(info) = definition(f, op.name, &defs) else {
            return Ok(());
        };
        let fewest = info.entry.min_operands as usize;
        let mut needed = op.operands.iter().take(fewest);
        if let Some(at) = needed.position(|operand| operand.is_none()) {
            return Err(format!("missing operand {at} of `{}`", op.name));
        }
        let Some(known) = info.attributes else {
            return Ok(());
        };
        for (name, value) in &mut op.attrs {
            check_attr(op.name, known, name, value)?;
        }
        let copied = like.into_iter().flat_map(|op| f.attrs(op));
        let copied: Vec<&str> = copied.map(|(name, _)| f.text(name)).collect();
        // Extra attributes of an op of the model aren't the program's error.
        let is_renamed = like.is_some_and(|like| f.name(like) != op.name);
        let is_unknown = |name: &&&str| is_renamed && !known.iter().any(|a| a.name == **name);
        if let Some(name) = copied.iter().find(is_unknown) {
            return Err(unknown(op.name, known, name));
        }
        let given = op.attrs.iter().map(|(name, _)| name.as_str());
        let given: Vec<&str> = given.chain(copied).collect();
        let mut required = known.iter().filter(|attr| attr.required);
        let missing = required.find(|attr| !given.contains(&attr.name));
        missing.map_or(Ok(()), |attr| Err(needs(op.name, attr)))
    })?;
    let invalid = |message: String| format!("{message} (`custom=True` disables this check)");
    checked.map_err(|message| error::raised(slf.py(), "EditError", &invalid(message)))
}

/// Rejects an attribute that the op's definition doesn't have, or of another kind.
pub(crate) fn check_set(
    slf: &Bound<'_, Function>,
    op: OpId,
    name: &str,
    value: &mut AttrValue,
) -> PyResult<()> {
    let defs = passdock::PassContext::current().registry().op_defs();
    let checked = slf.get().read(|f| {
        let own = f.name(op);
        let info = is_defined(f, own).then(|| definition(f, own, &defs));
        match info.flatten().and_then(|info| info.attributes) {
            Some(known) => check_attr(own, known, name, value),
            None => Ok(()),
        }
    })?;
    let invalid = |message: String| format!("{message} (`custom=True` disables this check)");
    checked.map_err(|message| error::raised(slf.py(), "EditError", &invalid(message)))
}

/// Whether op definitions apply to a name: not to calls, and not in loop-level functions.
fn is_defined(f: &sdk::Function, name: &str) -> bool {
    f.kind() == FunctionKind::GRAPH && !may_call(f, name)
}

/// Whether a function of the module may have the name, so that the op is a call.
fn may_call(f: &sdk::Function, name: &str) -> bool {
    let named = ir::with_function(f, |f| {
        let symbols = f.symbols();
        let named = symbols.find(name);
        named.is_some_and(|symbol| symbols.may_name_function(symbol))
    });
    named.unwrap_or(false)
}

/// Returns the definition of a name in the version that the function imports.
fn definition(f: &sdk::Function, name: &str, defs: &OpDefs) -> Option<LoadedOp> {
    let domain = OpName::parse(name).and_then(|name| name.domain);
    let version = domain.as_deref().and_then(|domain| f.opset(domain));
    defs.find(name, version)
}

/// Whether a float32 represents the number exactly.
fn is_float(number: i64) -> bool {
    number as f32 as i128 == i128::from(number)
}

fn check_attr(
    op: &str,
    known: &[AttrInfo],
    name: &str,
    value: &mut AttrValue,
) -> Result<(), String> {
    let Some(attr) = known.iter().find(|attr| attr.name == name) else {
        return Err(unknown(op, known, name));
    };
    // Python's ints may stand for floats, and its lists have no element kind.
    match (attr.kind, &*value) {
        ("float", AttrValue::Int(number)) if is_float(*number) => {
            *value = AttrValue::Float(*number as f32);
        }
        ("floats", AttrValue::Ints(all)) if all.iter().all(|number| is_float(*number)) => {
            *value = AttrValue::Floats(all.iter().map(|number| *number as f32).collect());
        }
        ("strings", AttrValue::Ints(all)) if all.is_empty() => *value = AttrValue::Strings(vec![]),
        ("tensors", AttrValue::Ints(all)) if all.is_empty() => *value = AttrValue::Tensors(vec![]),
        _ => {}
    }
    let kind = kind_of(value);
    if kind.is_none_or(|kind| kind == attr.kind) {
        return Ok(());
    }
    Err(format!(
        "invalid attribute `{name}` of `{op}`: expected {}, found {}",
        with_article(attr.kind),
        with_article(kind.unwrap_or_default())
    ))
}

fn unknown(op: &str, known: &[AttrInfo], name: &str) -> String {
    let names = || known.iter().map(|attr| attr.name);
    let help = match suggest::nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has none".to_owned(),
        None => format!("it has {}", suggest::listed(names())),
    };
    format!("`{op}` has no attribute `{name}`; {help}")
}

fn needs(op: &str, attr: &AttrInfo) -> String {
    let name = attr.name;
    match attr.kind {
        "graph" | "graphs" => {
            format!("`{op}` requires region `{name}`, but new ops have no regions")
        }
        _ => format!("missing attribute `{name}` of `{op}`"),
    }
}

/// Returns the kind of a value as definitions name it; `None` if it has none.
fn kind_of(value: &AttrValue) -> Option<&'static str> {
    Some(match value {
        AttrValue::Int(_) => "int",
        AttrValue::Float(_) => "float",
        AttrValue::String(_) => "string",
        AttrValue::Tensor(_) => "tensor",
        AttrValue::Type(_) => "type",
        AttrValue::Ints(_) => "ints",
        AttrValue::Floats(_) => "floats",
        AttrValue::Strings(_) => "strings",
        AttrValue::Tensors(_) => "tensors",
        AttrValue::Types(_) => "types",
        _ => return None,
    })
}

/// Returns a kind of attributes with an article, for messages.
fn with_article(kind: &str) -> String {
    match kind {
        "int" => "an int".to_owned(),
        "float" => "a float".to_owned(),
        "string" => "a string".to_owned(),
        "graph" => "a region".to_owned(),
        "graphs" => "a list of regions".to_owned(),
        "strings" => "a list of strings".to_owned(),
        "ints" | "floats" | "tensors" | "types" => format!("a list of {kind}"),
        other => format!("a {other}"),
    }
}
