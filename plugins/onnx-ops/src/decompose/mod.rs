//! Function bodies of operators, as defined by ONNX, rendered as IR text for a given op.
//!
//! A body is a Jinja template, `NAME.ir.jinja` in this folder. Attributes, element types and versions are known when it
//! is rendered. So it has constants where ONNX's generic body casts and compares, and it supports all versions that
//! have its ops. Facts that are only known at run time are computed by ops.
//!
//! These names are defined in a template: the op's attributes (`none` if absent and without a default), `version`, and
//! the numbers of `operands` and `results`. `has`, `types` and `dims` are indexed by operand. `functions.rs` has the
//! functions. Unknown facts are undefined; a template that uses one returns no body.

mod functions;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use passdock_plugin_api::{DType, Dim};

use crate::attributes;
use crate::eval::EvalAttr;
use crate::infer::{Infer, Inferred, Stop};
use crate::ops::Operator;

/// The minimum number of operands for which templates can query facts.
const OPERANDS: usize = 8;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    functions::add(&mut environment);
    environment
});

/// Renders the body of an op.
pub(crate) fn render(operator: &Operator, template: &str, op: &Infer) -> Inferred<String> {
    let mut context: BTreeMap<&str, Value> = facts(op).into_iter().collect();
    for attr in operator.attrs.unwrap_or_default() {
        context.insert(attr.name, attribute(operator, attr.name, op)?);
    }
    ENVIRONMENT
        .render_str(template, Value::from(context))
        .map_err(stop)
}

/// The reason why an op is invalid, passed through the template engine as an error.
#[derive(Debug)]
struct InvalidOp(String);

impl fmt::Display for InvalidOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidOp {}

fn invalid(reason: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.clone()).with_source(InvalidOp(reason))
}

fn unknown() -> Error {
    ErrorKind::UndefinedError.into()
}

fn stop(error: Error) -> Stop {
    let source =
        std::error::Error::source(&error).and_then(|source| source.downcast_ref::<InvalidOp>());
    match source {
        Some(InvalidOp(reason)) => Stop::InvalidOp(reason.clone()),
        None if error.kind() == ErrorKind::UndefinedError => Stop::Unknown,
        None => Stop::InvalidOp(format!("could not render the body: {error}")),
    }
}

/// Converts an attribute. Strings are supported only for enums.
fn attribute(operator: &Operator, name: &str, op: &Infer) -> Inferred<Value> {
    Ok(match op.attribute(name) {
        None => Value::from(()),
        Some(EvalAttr::Int(value)) => Value::from(value),
        Some(EvalAttr::Float(value)) => Value::from(f64::from(value)),
        Some(EvalAttr::Ints(values)) => Value::from(values.into_owned()),
        Some(EvalAttr::String(bytes)) => {
            let values = attributes::enum_values(operator.name, name);
            let value = values.iter().find(|value| value.as_bytes() == bytes);
            Value::from(*value.ok_or(Stop::Unknown)?)
        }
        Some(_) => return Err(Stop::Unknown),
    })
}

/// Returns the facts of an op other than attributes.
fn facts(op: &Infer) -> Vec<(&'static str, Value)> {
    let operands = 0..OPERANDS.max(op.host.operand_count());
    let size = |dim: &Dim| dim.as_const().map_or(Value::UNDEFINED, Value::from);
    let type_of = |index| op.dtype(index).map_or(Value::UNDEFINED, type_name);
    let dims_of = |index| match op.dims(index) {
        Some(dims) => dims.iter().map(size).collect(),
        None => Value::UNDEFINED,
    };
    vec![
        ("version", Value::from(op.version)),
        ("operands", Value::from(op.host.operand_count())),
        ("results", Value::from(op.host.result_count())),
        ("floats", Value::from(vec!["f16", "bf16", "f32", "f64"])),
        ("infinity", Value::from(f64::INFINITY)),
        ("has", operands.clone().map(|index| op.has(index)).collect()),
        ("types", operands.clone().map(type_of).collect()),
        ("dims", operands.map(dims_of).collect()),
    ]
}

fn type_name(dtype: DType) -> Value {
    dtype.name().map_or(Value::UNDEFINED, Value::from)
}

#[cfg(test)]
mod tests {
    use super::ENVIRONMENT;
    use crate::ops::all;

    #[test]
    fn templates_parse() {
        for operator in all() {
            if let Some(Err(error)) = operator
                .body
                .map(|text| ENVIRONMENT.template_from_str(text))
            {
                panic!("{}: {error:#}", operator.name);
            }
        }
    }
}
