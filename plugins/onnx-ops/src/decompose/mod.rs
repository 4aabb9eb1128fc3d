//! Function bodies of operators: what ONNX says that they are made of, as IR text for the op at hand.
//!
//! A body is a Jinja template, `NAME.ir.jinja` next to this file. Attributes, element types and versions are known
//! when it is rendered, so it has constants where ONNX's own text casts and compares, and works from the first
//! version on that has all of its ops. What is only known at run time stays computed.
//!
//! A template has the op's attributes by name (`none`: absent, without a default), `version`, `results` (their
//! number), and by operand `has`, `types` and `dims`; and the functions of [`functions`]. What isn't known is
//! undefined, and a template that uses it gives no body.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use passdock_plugin_api::{DType, Dim};

use crate::attributes;
use crate::eval::Attr;
use crate::infer::{Answer, Infer, Stop, as_const};
use crate::ops::Operator;

/// The number of operands that templates may ask for.
const OPERANDS: usize = 8;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
});

/// Renders the body of an op.
pub(crate) fn render(operator: &Operator, template: &str, op: &Infer) -> Answer<String> {
    let mut context: BTreeMap<&str, Value> = facts(op).into_iter().chain(functions(op)).collect();
    for attr in operator.attrs.unwrap_or_default() {
        context.insert(attr.name, attribute(operator, attr.name, op)?);
    }
    ENVIRONMENT
        .render_str(template, Value::from(context))
        .map_err(stop)
}

/// A reason why an op can't be right, carried through the template engine.
#[derive(Debug)]
struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

fn wrong(reason: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.clone()).with_source(Wrong(reason))
}

fn unknown() -> Error {
    ErrorKind::UndefinedError.into()
}

fn stop(error: Error) -> Stop {
    let source =
        std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Wrong>());
    match source {
        Some(Wrong(reason)) => Stop::Wrong(reason.clone()),
        None if error.kind() == ErrorKind::UndefinedError => Stop::Unknown,
        None => Stop::Wrong(format!("its body can't be written: {error}")),
    }
}

/// Converts an attribute; of strings that are one of several words, only these are readable.
fn attribute(operator: &Operator, name: &str, op: &Infer) -> Answer<Value> {
    Ok(match op.attribute(name) {
        None => Value::from(()),
        Some(Attr::Int(value)) => Value::from(value),
        Some(Attr::Float(value)) => Value::from(f64::from(value)),
        Some(Attr::Ints(values)) => Value::from(values.into_owned()),
        Some(Attr::String(bytes)) => {
            let words = attributes::words(operator.name, name);
            let word = words.iter().find(|word| word.as_bytes() == bytes);
            Value::from(*word.ok_or(Stop::Unknown)?)
        }
        Some(_) => return Err(Stop::Unknown),
    })
}

/// Returns the facts of an op that aren't attributes.
fn facts(op: &Infer) -> Vec<(&'static str, Value)> {
    let operands = 0..OPERANDS.max(op.host.operand_count());
    let size = |dim: &Dim| as_const(*dim).map_or(Value::UNDEFINED, Value::from);
    let type_of = |index| op.dtype(index).map_or(Value::UNDEFINED, type_name);
    let dims_of = |index| match op.dims(index) {
        Some(dims) => dims.iter().map(size).collect(),
        None => Value::UNDEFINED,
    };
    vec![
        ("version", Value::from(op.version)),
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

/// The element type of a name, as text and as itself.
fn named(name: &Value) -> Result<(&str, DType), Error> {
    let name = name.as_str().ok_or_else(unknown)?;
    Ok((name, DType::from_name(name).ok_or_else(unknown)?))
}

/// Returns the functions that templates call.
fn functions(op: &Infer) -> Vec<(&'static str, Value)> {
    let (version, count) = (op.version, op.host.operand_count());
    let first_type: Vec<Value> = (0..count)
        .map(|index| op.dtype(index).map_or(Value::UNDEFINED, type_name))
        .collect();
    let dims = op.dims(0).map(|dims| dims.len());
    let (axes, keepdims) = (
        op.ints("axes").ok().flatten(),
        op.int_or("keepdims", 1).unwrap_or(1),
    );
    let axes = axes.map(|axes| axes.into_owned()).unwrap_or_default();
    let has_axes = op.has(1);
    let noop = op.int_or("noop_with_empty_axes", 0).unwrap_or(0);
    vec![
        // Rejects versions that lack an operator of the body.
        (
            "needs",
            Value::from_function(move |least: i64| match version >= least {
                true => Ok(""),
                false => Err(wrong(format!(
                    "its body needs version {least} of ONNX's operators"
                ))),
            }),
        ),
        (
            "wrong",
            Value::from_function(|reason: String| Err::<Value, _>(wrong(reason))),
        ),
        (
            "unknown",
            Value::from_function(|| Err::<Value, _>(unknown())),
        ),
        // The parameters: a name for each operand slot.
        (
            "params",
            Value::from_function(move |names: minijinja::value::Rest<String>| {
                let names: Vec<String> = names
                    .iter()
                    .take(count)
                    .map(|name| format!("%{name}"))
                    .collect();
                names.join(", ")
            }),
        ),
        // A constant without dims.
        (
            "number",
            Value::from_function(|dtype: Value, value: f64| {
                let (name, dtype) = named(&dtype)?;
                Ok::<_, Error>(format!("{name}[] {}", literal(dtype, value)))
            }),
        ),
        (
            "zero_tensor",
            Value::from_function(|dtype: Value| {
                let (name, dtype) = named(&dtype)?;
                Ok::<_, Error>(format!("tensor {name}[1] [{}]", literal(dtype, 0.0)))
            }),
        ),
        (
            "float",
            Value::from_function(|value: f64| format!("{:?}", value as f32)),
        ),
        ("sqrt", Value::from_function(f64::sqrt)),
        // A constant list of integers.
        (
            "ints",
            Value::from_function(|values: Vec<i64>| format!("i64[{}] {values:?}", values.len())),
        ),
        // The code of an element type, and the type of a code.
        (
            "code",
            Value::from_function(|dtype: Value| Ok::<_, Error>(named(&dtype)?.1.0)),
        ),
        (
            "type_of",
            Value::from_function(|code: i64| {
                u32::try_from(code).map_or(Value::UNDEFINED, |code| type_name(DType(code)))
            }),
        ),
        // The first element type that is known of these operands.
        (
            "first_type",
            Value::from_function(move |operands: minijinja::value::Rest<usize>| {
                let mut types = operands.iter().filter_map(|&index| first_type.get(index));
                types
                    .find(|name| name.kind() == ValueKind::String)
                    .cloned()
                    .ok_or_else(unknown)
            }),
        ),
        // A cast, unless it has the type already.
        (
            "cast",
            Value::from_function(|x: String, from: Value, to: Value| {
                let (from, to) = (named(&from)?.1, named(&to)?.1);
                Ok::<_, Error>(match from == to {
                    true => format!("onnx.Identity(%{x})"),
                    false => format!("onnx.Cast(%{x}) {{to = {}}}", to.0),
                })
            }),
        ),
        // The axes from one to the last.
        (
            "axes_from",
            Value::from_function(move |axis: i64| match dims {
                Some(rank) => match crate::eval::axis(axis, rank) {
                    Ok(first) => Ok((first as i64..rank as i64).collect::<Vec<i64>>()),
                    Err(error) => Err(wrong(error.to_string())),
                },
                None if axis < 0 => Ok((axis..0).collect()),
                None => Err(unknown()),
            }),
        ),
        (
            "reduce",
            Value::from_function(
                move |result: String,
                      operator: String,
                      x: String,
                      axes: Vec<i64>,
                      keepdims: Option<i64>| {
                    reduce(
                        version,
                        &result,
                        &operator,
                        &x,
                        &axes,
                        keepdims.unwrap_or(1),
                    )
                },
            ),
        ),
        // `ReduceSum` over the axes that the op reduces over.
        (
            "reduce_as_asked",
            Value::from_function(move |result: String, x: String| {
                if version < 18 {
                    return reduce(version, &result, "ReduceSum", &x, &axes, keepdims);
                }
                let axes = if has_axes { ", %axes" } else { "" };
                let attrs = format!("keepdims = {keepdims}, noop_with_empty_axes = {noop}");
                format!("%{result} = onnx.ReduceSum(%{x}{axes}) {{{attrs}}}")
            }),
        ),
        // `Squeeze` or `Unsqueeze` at one axis.
        (
            "reshape_at",
            Value::from_function(
                move |result: String, operator: String, x: String, axis: i64| match version < 13 {
                    true => format!("%{result} = onnx.{operator}(%{x}) {{axes = [{axis}]}}"),
                    false => format!(
                        "%{result}_axes = const i64[1] [{axis}] %{result} = onnx.{operator}(%{x}, %{result}_axes)"
                    ),
                },
            ),
        ),
    ]
}

/// A reduction over these axes; over all if there are none.
fn reduce(
    version: i64,
    result: &str,
    operator: &str,
    x: &str,
    axes: &[i64],
    keepdims: i64,
) -> String {
    let keepdims = i64::from(keepdims != 0);
    let moved = if operator == "ReduceSum" { 13 } else { 18 };
    if axes.is_empty() {
        format!("%{result} = onnx.{operator}(%{x}) {{keepdims = {keepdims}}}")
    } else if version < moved {
        format!("%{result} = onnx.{operator}(%{x}) {{axes = {axes:?}, keepdims = {keepdims}}}")
    } else {
        format!(
            "%{result}_axes = const i64[{}] {axes:?} \
             %{result} = onnx.{operator}(%{x}, %{result}_axes) {{keepdims = {keepdims}}}",
            axes.len()
        )
    }
}

fn literal(dtype: DType, value: f64) -> String {
    match dtype {
        DType::F64 => format!("{value:?}"),
        // As short as what rounds to the same `f32`.
        DType::F16 | DType::BF16 | DType::F32 => format!("{:?}", value as f32),
        _ => format!("{}", value as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::ENVIRONMENT;
    use crate::ops::all;

    #[test]
    fn templates_can_be_read() {
        for operator in all() {
            if let Some(Err(error)) = operator
                .body()
                .map(|text| ENVIRONMENT.template_from_str(text))
            {
                panic!("{}: {error:#}", operator.name);
            }
        }
    }
}
