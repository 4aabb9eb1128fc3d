//! Bodies of operators that work element by element.

use passdock_plugin_api::DType;

use super::{Body, is_float, line, needs};
use crate::infer::{Answer, Infer};

/// A body with the operand `%x` and its element type.
fn of_x(op: &Infer, version: i64) -> Answer<(Body, DType)> {
    needs(op, version)?;
    Ok((Body::of(op, &["x", "b"]), op.dtype(0)?))
}

fn float(op: &Infer, name: &str) -> Answer<f64> {
    Ok(f64::from(op.float_or(name, 0.0)?))
}

/// The target's type is known.
pub(crate) fn cast_like(op: &Infer) -> Answer<String> {
    let to = op.dtype(1)?;
    let mut body = Body::of(op, &["x"]);
    let mut attrs = format!("to = {}", to.0);
    if op.version >= 19 {
        attrs += &format!(", saturate = {}", op.int_or("saturate", 1)?);
    }
    if op.version >= 24 {
        let mode = op.word("round_mode", &["up", "down", "nearest"])?;
        attrs += &format!(", round_mode = {mode:?}");
    }
    line!(body, "%y = onnx.Cast(%x) {{{attrs}}}");
    body.gives(&["y"])
}

/// `alpha * Elu(x / alpha)`.
pub(crate) fn celu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 12)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    line!(body, "%scaled = onnx.Div(%x, %alpha)");
    line!(body, "%elu = onnx.Elu(%scaled) {{alpha = 1.0}}");
    line!(body, "%y = onnx.Mul(%alpha, %elu)");
    body.gives(&["y"])
}

/// The limits that there are, the lower one first; a NaN stays one.
pub(crate) fn clip(op: &Infer) -> Answer<String> {
    // Limits are operands from 11 on, and Where and Less take all of its types.
    needs(op, 11)?;
    let mut body = Body::of(op, &["x", "min", "max"]);
    let mut last = "x";
    if op.has(1) {
        line!(body, "%is_less = onnx.Less(%x, %min)");
        line!(body, "%raised = onnx.Where(%is_less, %min, %x)");
        last = "raised";
    }
    if op.has(2) {
        line!(body, "%is_more = onnx.Less(%max, %{last})");
        line!(body, "%lowered = onnx.Where(%is_more, %max, %{last})");
        last = "lowered";
    }
    if last == "x" {
        line!(body, "%y = onnx.Identity(%x)");
        last = "y";
    }
    body.gives(&[last])
}

/// `x < 0 ? alpha * (exp(x) - 1) : x`.
pub(crate) fn elu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 9)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    body.scalar("zero", ty, 0.0)?;
    body.scalar("one", ty, 1.0)?;
    line!(body, "%is_less = onnx.Less(%x, %zero)");
    line!(body, "%exp = onnx.Exp(%x)");
    line!(body, "%less_one = onnx.Sub(%exp, %one)");
    line!(body, "%below = onnx.Mul(%alpha, %less_one)");
    line!(body, "%y = onnx.Where(%is_less, %below, %x)");
    body.gives(&["y"])
}

/// `x / 2 * (1 + erf(x / sqrt(2)))`, or the approximation by tanh.
pub(crate) fn gelu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 20)?;
    body.scalar("half", ty, 0.5)?;
    body.scalar("one", ty, 1.0)?;
    if op.word("approximate", &["none", "tanh"])? == "tanh" {
        body.scalar("sqrt_two_over_pi", ty, std::f64::consts::FRAC_2_PI.sqrt())?;
        body.scalar("c", ty, 0.044_715)?;
        body.scalar("three", ty, 3.0)?;
        line!(body, "%cubed = onnx.Pow(%x, %three)");
        line!(body, "%small = onnx.Mul(%c, %cubed)");
        line!(body, "%sum = onnx.Add(%x, %small)");
        line!(body, "%inner = onnx.Mul(%sqrt_two_over_pi, %sum)");
        line!(body, "%erf = onnx.Tanh(%inner)");
    } else {
        body.scalar("sqrt_two", ty, std::f64::consts::SQRT_2)?;
        line!(body, "%inner = onnx.Div(%x, %sqrt_two)");
        line!(body, "%erf = onnx.Erf(%inner)");
    }
    line!(body, "%phi = onnx.Add(%one, %erf)");
    line!(body, "%halved = onnx.Mul(%half, %x)");
    line!(body, "%y = onnx.Mul(%halved, %phi)");
    body.gives(&["y"])
}

/// `a > b or a == b`.
pub(crate) fn greater_or_equal(op: &Infer) -> Answer<String> {
    or_equal(op, "Greater")
}

/// `a < b or a == b`.
pub(crate) fn less_or_equal(op: &Infer) -> Answer<String> {
    or_equal(op, "Less")
}

fn or_equal(op: &Infer, operator: &str) -> Answer<String> {
    let mut body = Body::of(op, &["a", "b"]);
    line!(body, "%strictly = onnx.{operator}(%a, %b)");
    line!(body, "%equal = onnx.Equal(%a, %b)");
    line!(body, "%y = onnx.Or(%strictly, %equal)");
    body.gives(&["y"])
}

/// `max(0, min(1, alpha * x + beta))`.
pub(crate) fn hard_sigmoid(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 8)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    body.scalar("beta", ty, float(op, "beta")?)?;
    body.scalar("zero", ty, 0.0)?;
    body.scalar("one", ty, 1.0)?;
    line!(body, "%product = onnx.Mul(%x, %alpha)");
    line!(body, "%sum = onnx.Add(%product, %beta)");
    line!(body, "%lowered = onnx.Min(%sum, %one)");
    line!(body, "%y = onnx.Max(%lowered, %zero)");
    body.gives(&["y"])
}

/// `x * HardSigmoid(x)`, of another slope than HardSigmoid's own.
pub(crate) fn hard_swish(op: &Infer) -> Answer<String> {
    let mut body = Body::of(op, &["x"]);
    line!(
        body,
        "%inner = onnx.HardSigmoid(%x) {{alpha = 0.16666667, beta = 0.5}}"
    );
    line!(body, "%y = onnx.Mul(%x, %inner)");
    body.gives(&["y"])
}

/// `x < 0 ? alpha * x : x`.
pub(crate) fn leaky_relu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 9)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%is_less = onnx.Less(%x, %zero)");
    line!(body, "%below = onnx.Mul(%alpha, %x)");
    line!(body, "%y = onnx.Where(%is_less, %below, %x)");
    body.gives(&["y"])
}

/// `x * tanh(Softplus(x))`.
pub(crate) fn mish(op: &Infer) -> Answer<String> {
    let mut body = Body::of(op, &["x"]);
    line!(body, "%softplus = onnx.Softplus(%x)");
    line!(body, "%tanh = onnx.Tanh(%softplus)");
    line!(body, "%y = onnx.Mul(%x, %tanh)");
    body.gives(&["y"])
}

/// `x < 0 ? slope * x : x`.
pub(crate) fn prelu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 9)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%is_less = onnx.Less(%x, %zero)");
    line!(body, "%below = onnx.Mul(%b, %x)");
    line!(body, "%y = onnx.Where(%is_less, %below, %x)");
    body.gives(&["y"])
}

/// `max(x, 0)`.
pub(crate) fn relu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 8)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%y = onnx.Max(%x, %zero)");
    body.gives(&["y"])
}

/// `gamma * (x < 0 ? alpha * exp(x) - alpha : x)`.
pub(crate) fn selu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 9)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    body.scalar("gamma", ty, float(op, "gamma")?)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%is_less = onnx.Less(%x, %zero)");
    line!(body, "%exp = onnx.Exp(%x)");
    line!(body, "%scaled = onnx.Mul(%alpha, %exp)");
    line!(body, "%moved = onnx.Sub(%scaled, %alpha)");
    line!(body, "%below = onnx.Mul(%gamma, %moved)");
    line!(body, "%above = onnx.Mul(%gamma, %x)");
    line!(body, "%y = onnx.Where(%is_less, %below, %above)");
    body.gives(&["y"])
}

/// `x < -lambd ? x + bias : lambd < x ? x - bias : 0`.
pub(crate) fn shrink(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 9)?;
    if !is_float(ty) {
        return crate::infer::wrong!("its limits may be no integers");
    }
    let lambd = float(op, "lambd")?;
    body.scalar("bias", ty, float(op, "bias")?)?;
    body.scalar("low", ty, -lambd)?;
    body.scalar("high", ty, lambd)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%is_low = onnx.Less(%x, %low)");
    line!(body, "%is_high = onnx.Less(%high, %x)");
    line!(body, "%raised = onnx.Add(%x, %bias)");
    line!(body, "%lowered = onnx.Sub(%x, %bias)");
    line!(body, "%rest = onnx.Where(%is_high, %lowered, %zero)");
    line!(body, "%y = onnx.Where(%is_low, %raised, %rest)");
    body.gives(&["y"])
}

/// `log(exp(x) + 1)`.
pub(crate) fn softplus(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 7)?;
    body.scalar("one", ty, 1.0)?;
    line!(body, "%exp = onnx.Exp(%x)");
    line!(body, "%sum = onnx.Add(%exp, %one)");
    line!(body, "%y = onnx.Log(%sum)");
    body.gives(&["y"])
}

/// `x / (1 + |x|)`.
pub(crate) fn softsign(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 7)?;
    body.scalar("one", ty, 1.0)?;
    line!(body, "%abs = onnx.Abs(%x)");
    line!(body, "%sum = onnx.Add(%one, %abs)");
    line!(body, "%y = onnx.Div(%x, %sum)");
    body.gives(&["y"])
}

/// `Swish(a) * b`.
pub(crate) fn swiglu(op: &Infer) -> Answer<String> {
    let mut body = Body::of(op, &["a", "b"]);
    line!(
        body,
        "%gate = onnx.Swish(%a) {{alpha = {:?}}}",
        op.float_or("alpha", 1.0)?
    );
    line!(body, "%y = onnx.Mul(%gate, %b)");
    body.gives(&["y"])
}

/// `x * sigmoid(alpha * x)`.
pub(crate) fn swish(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 24)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    line!(body, "%scaled = onnx.Mul(%alpha, %x)");
    line!(body, "%sigmoid = onnx.Sigmoid(%scaled)");
    line!(body, "%y = onnx.Mul(%x, %sigmoid)");
    body.gives(&["y"])
}

/// `alpha < x ? x : 0`.
pub(crate) fn thresholded_relu(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_x(op, 10)?;
    body.scalar("alpha", ty, float(op, "alpha")?)?;
    body.scalar("zero", ty, 0.0)?;
    line!(body, "%is_more = onnx.Less(%alpha, %x)");
    line!(body, "%y = onnx.Where(%is_more, %x, %zero)");
    body.gives(&["y"])
}
