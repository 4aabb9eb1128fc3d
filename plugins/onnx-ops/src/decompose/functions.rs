//! The functions that body templates can call.

use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, State};
use passdock_plugin_api::DType;

use super::{invalid, type_name, unknown};
use crate::eval::axis;

pub(super) fn add(environment: &mut Environment) {
    environment.add_function("axes_from", axes_from);
    environment.add_function("cast", cast);
    environment.add_function("code", |dtype: Value| Ok::<_, Error>(named(&dtype)?.1.0));
    environment.add_function("first_type", first_type);
    environment.add_function("float", |value: f64| format!("{:?}", value as f32));
    environment.add_function("ints", |values: Vec<i64>| {
        format!("i64[{}] {values:?}", values.len())
    });
    environment.add_function("needs", needs);
    environment.add_function("number", number);
    environment.add_function("params", params);
    environment.add_function("reduce", reduce);
    environment.add_function("reduce_sum", reduce_sum);
    environment.add_function("reshape_at", reshape_at);
    environment.add_function("sqrt", f64::sqrt);
    environment.add_function("type_of", type_of);
    environment.add_function("unknown", || Err::<Value, _>(unknown()));
    environment.add_function("wrong", |reason: String| Err::<Value, _>(invalid(reason)));
    environment.add_function("zeros", zeros);
}

/// Returns a fact of the op, by its name in templates.
fn fact(state: &State, name: &str) -> Result<Value, Error> {
    state.lookup(name).ok_or_else(unknown)
}

/// Returns a fact that is an integer.
fn integer(state: &State, name: &str) -> Result<i64, Error> {
    fact(state, name)?.try_into()
}

/// Returns a type name and its element type.
fn named(name: &Value) -> Result<(&str, DType), Error> {
    let name = name.as_str().ok_or_else(unknown)?;
    Ok((name, DType::from_name(name).ok_or_else(unknown)?))
}

/// Rejects versions that lack an operator of the body.
fn needs(state: &State, least: i64) -> Result<&'static str, Error> {
    match integer(state, "version")? {
        version if version >= least => Ok(""),
        version => Err(invalid(format!(
            "body requires opset {least}, found {version}"
        ))),
    }
}

/// Returns the parameters, one name per operand slot of the op.
fn params(state: &State, names: Rest<String>) -> Result<String, Error> {
    let param = |index: usize| match names.get(index) {
        Some(name) => format!("%{name}"),
        None => format!("%operand{index}"),
    };
    let count = usize::try_from(fact(state, "operands")?)?;
    Ok((0..count).map(param).collect::<Vec<String>>().join(", "))
}

/// Returns a scalar constant.
fn number(dtype: Value, value: f64) -> Result<String, Error> {
    let (name, dtype) = named(&dtype)?;
    Ok(format!("{name}[] {}", literal(dtype, value)?))
}

/// Returns a tensor attribute with a single 0.
fn zeros(dtype: Value) -> Result<String, Error> {
    let (name, dtype) = named(&dtype)?;
    Ok(format!("tensor {name}[1] [{}]", literal(dtype, 0.0)?))
}

fn literal(dtype: DType, value: f64) -> Result<String, Error> {
    Ok(match dtype {
        DType::BOOL | DType::STRING => return Err(unknown()),
        _ if value.is_nan() => return Err(unknown()),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 if value < 0.0 => return Err(unknown()),
        DType::F64 => format!("{value:?}"),
        // The shortest literal that rounds to the same `f32`.
        DType::F16 | DType::BF16 | DType::F32 => format!("{:?}", value as f32),
        _ => format!("{}", value as i64),
    })
}

/// Returns the name of an element type.
fn type_of(code: i64) -> Value {
    u32::try_from(code).map_or(Value::UNDEFINED, |code| type_name(DType(code)))
}

/// Returns the first known element type of these operands.
fn first_type(state: &State, operands: Rest<usize>) -> Result<Value, Error> {
    let types = fact(state, "types")?;
    let mut types = operands
        .iter()
        .filter_map(|&index| types.get_item_by_index(index).ok());
    types
        .find(|name| name.kind() == ValueKind::String)
        .ok_or_else(unknown)
}

/// Returns a cast, or `Identity` if the value has the type already.
fn cast(x: String, from: Value, to: Value) -> Result<String, Error> {
    let (from, to) = (named(&from)?.1, named(&to)?.1);
    Ok(match from == to {
        true => format!("onnx.Identity(%{x})"),
        false => format!("onnx.Cast(%{x}) {{to = {}}}", to.0),
    })
}

/// Returns the axes of the first operand from `first` to the last.
fn axes_from(state: &State, first: i64) -> Result<Vec<i64>, Error> {
    let dims = fact(state, "dims")?;
    match dims.get_item_by_index(0)?.len() {
        Some(rank) => match axis(first, rank) {
            Ok(first) => Ok((first as i64..rank as i64).collect()),
            Err(error) => Err(invalid(error.to_string())),
        },
        None if first < 0 => Ok((first..0).collect()),
        None => Err(unknown()),
    }
}

/// Returns a reduction over these axes, or over all if the list is empty. It keeps dims.
fn reduce(
    state: &State,
    result: &str,
    operator: &str,
    x: &str,
    axes: Vec<i64>,
) -> Result<String, Error> {
    let moved = if operator == "ReduceSum" { 13 } else { 18 };
    let by_operand = integer(state, "version")? >= moved;
    Ok(reduction(result, operator, x, &axes, by_operand, 1))
}

/// Returns a `ReduceSum` over the axes that the op itself reduces.
fn reduce_sum(state: &State, result: &str, x: &str) -> Result<String, Error> {
    let (version, keepdims) = (integer(state, "version")?, integer(state, "keepdims")?);
    if version >= 18 {
        let noop = integer(state, "noop_with_empty_axes")?;
        let has_axes = fact(state, "has")?.get_item_by_index(1)?.is_true();
        let axes = if has_axes { ", %axes" } else { "" };
        let attrs = format!("keepdims = {keepdims}, noop_with_empty_axes = {noop}");
        return Ok(format!(
            "%{result} = onnx.ReduceSum(%{x}{axes}) {{{attrs}}}"
        ));
    }
    let axes = match fact(state, "axes")? {
        axes if axes.is_none() => Vec::new(),
        axes => axes
            .try_iter()?
            .map(i64::try_from)
            .collect::<Result<_, _>>()?,
    };
    Ok(reduction(
        result,
        "ReduceSum",
        x,
        &axes,
        version >= 13,
        i64::from(keepdims != 0),
    ))
}

fn reduction(
    result: &str,
    operator: &str,
    x: &str,
    axes: &[i64],
    by_operand: bool,
    keepdims: i64,
) -> String {
    if axes.is_empty() {
        format!("%{result} = onnx.{operator}(%{x}) {{keepdims = {keepdims}}}")
    } else if by_operand {
        let axes = format!("%{result}_axes = const i64[{}] {axes:?}", axes.len());
        format!(
            "{axes} %{result} = onnx.{operator}(%{x}, %{result}_axes) {{keepdims = {keepdims}}}"
        )
    } else {
        format!("%{result} = onnx.{operator}(%{x}) {{axes = {axes:?}, keepdims = {keepdims}}}")
    }
}

/// Returns a `Squeeze` or `Unsqueeze` of one axis.
fn reshape_at(
    state: &State,
    result: &str,
    operator: &str,
    x: &str,
    axis: i64,
) -> Result<String, Error> {
    Ok(match integer(state, "version")? < 13 {
        true => format!("%{result} = onnx.{operator}(%{x}) {{axes = [{axis}]}}"),
        false => {
            format!(
                "%{result}_axes = const i64[1] [{axis}] %{result} = onnx.{operator}(%{x}, %{result}_axes)"
            )
        }
    })
}
