//! What operators are made of: the function bodies that ONNX gives them, written for the op at hand.
//!
//! A body is IR text. Attributes, element types and versions are known when it is written, so it has
//! constants where ONNX's own text casts and compares, and works from the first version on that has
//! all of its ops. What is only known at run time stays computed.

pub(crate) mod attention;
pub(crate) mod elementwise;
pub(crate) mod loss;
pub(crate) mod make;
pub(crate) mod movement;
pub(crate) mod normalize;
pub(crate) mod recurrent;
pub(crate) mod reduce;

use std::fmt::Write;

use passdock_plugin_api::DType;

use crate::infer::{Answer, Infer, wrong};

/// The text of a body, line by line.
pub(crate) struct Body {
    params: Vec<String>,
    lines: String,
    version: i64,
}

/// Appends a line to a body.
macro_rules! line {
    ($body:ident, $($text:tt)*) => { $body.line(format_args!($($text)*)) };
}
pub(crate) use line;

impl Body {
    /// A body with a parameter for each operand slot of the op.
    pub(crate) fn of(op: &Infer, names: &[&str]) -> Body {
        let param = |index: usize| match names.get(index) {
            Some(name) => format!("%{name}"),
            None => format!("%operand{index}"),
        };
        Body {
            params: (0..op.host.operand_count()).map(param).collect(),
            lines: String::new(),
            version: op.version,
        }
    }

    pub(crate) fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string doesn't fail.
        let _ = writeln!(self.lines, "  {text}");
    }

    /// A constant without dims.
    pub(crate) fn scalar(&mut self, name: &str, dtype: DType, value: f64) -> Answer {
        let (ty, value) = (name_of(dtype)?, literal(dtype, value));
        line!(self, "%{name} = const {ty}[] {value}");
        Ok(())
    }

    /// A constant integer.
    pub(crate) fn number(&mut self, name: &str, value: i64) {
        line!(self, "%{name} = const i64[] {value}");
    }

    /// A constant list of integers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i64]) {
        line!(self, "%{name} = const i64[{}] {values:?}", values.len());
    }

    /// A reduction that keeps dims, over these axes.
    pub(crate) fn reduce(&mut self, result: &str, operator: &str, x: &str, axes: &[i64]) {
        self.reduce_to(result, operator, x, axes, true);
    }

    /// A reduction over these axes; over all if there are none.
    pub(crate) fn reduce_to(
        &mut self,
        result: &str,
        operator: &str,
        x: &str,
        axes: &[i64],
        keepdims: bool,
    ) {
        let keepdims = i64::from(keepdims);
        let moved = if operator == "ReduceSum" { 13 } else { 18 };
        if axes.is_empty() {
            line!(
                self,
                "%{result} = onnx.{operator}(%{x}) {{keepdims = {keepdims}}}"
            );
        } else if self.version < moved {
            let attrs = format!("axes = {axes:?}, keepdims = {keepdims}");
            line!(self, "%{result} = onnx.{operator}(%{x}) {{{attrs}}}");
        } else {
            let name = format!("{result}_axes");
            self.ints(&name, axes);
            line!(
                self,
                "%{result} = onnx.{operator}(%{x}, %{name}) {{keepdims = {keepdims}}}"
            );
        }
    }

    /// `Squeeze` or `Unsqueeze` at one axis.
    pub(crate) fn reshape_at(&mut self, result: &str, operator: &str, x: &str, axis: i64) {
        if self.version < 13 {
            line!(
                self,
                "%{result} = onnx.{operator}(%{x}) {{axes = [{axis}]}}"
            );
        } else {
            let name = format!("{result}_axes");
            self.ints(&name, &[axis]);
            line!(self, "%{result} = onnx.{operator}(%{x}, %{name})");
        }
    }

    /// A cast, unless it has the type already.
    pub(crate) fn cast(&mut self, result: &str, x: &str, from: DType, to: DType) {
        if from == to {
            line!(self, "%{result} = onnx.Identity(%{x})");
        } else {
            line!(self, "%{result} = onnx.Cast(%{x}) {{to = {}}}", to.0);
        }
    }

    /// The whole text; results by name.
    pub(crate) fn gives(self, results: &[&str]) -> Answer<String> {
        let params = self.params.join(", ");
        let results: Vec<String> = results.iter().map(|name| format!("%{name}")).collect();
        Ok(format!(
            "fn @body({params}) {{\n{}  return {}\n}}\n",
            self.lines,
            results.join(", ")
        ))
    }
}

/// Refuses versions that lack an operator of the body.
pub(crate) fn needs(op: &Infer, version: i64) -> Answer {
    if op.version < version {
        return wrong!("its body needs version {version} of ONNX's operators");
    }
    Ok(())
}

/// An element type as text.
pub(crate) fn name_of(dtype: DType) -> Answer<&'static str> {
    dtype.name().ok_or(crate::infer::Stop::Unknown)
}

/// Whether elements are floating-point numbers.
pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

fn literal(dtype: DType, value: f64) -> String {
    if dtype == DType::F64 {
        format!("{value:?}")
    } else if is_float(dtype) {
        // As short as what rounds to the same `f32`.
        format!("{:?}", value as f32)
    } else {
        format!("{}", value as i64)
    }
}
