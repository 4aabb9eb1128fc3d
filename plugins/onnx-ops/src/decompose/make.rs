//! Bodies of operators that make numbers: windows, ranges, random bits, quantized ones.

use passdock_plugin_api::DType;

use super::{Body, is_float, line, name_of};
use crate::infer::{Answer, Infer, wrong};

/// Cosines of one and of two turns.
pub(crate) fn blackman_window(op: &Infer) -> Answer<String> {
    window(op, 0.42, 0.5, 0.08)
}

/// A cosine of one turn.
pub(crate) fn hann_window(op: &Infer) -> Answer<String> {
    window(op, 0.5, 0.5, 0.0)
}

/// A cosine of one turn.
pub(crate) fn hamming_window(op: &Infer) -> Answer<String> {
    window(op, 25.0 / 46.0, 21.0 / 46.0, 0.0)
}

/// `a - b * cos(angle) + c * cos(2 * angle)`.
fn window(op: &Infer, a: f64, b: f64, c: f64) -> Answer<String> {
    let mut body = Body::of(op, &["size"]);
    let f32 = DType::F32;
    body.scalar("zero", f32, 0.0)?;
    body.scalar("one", f32, 1.0)?;
    body.scalar("turn", f32, std::f64::consts::TAU)?;
    body.scalar("a", f32, a)?;
    body.scalar("b", f32, b)?;
    line!(body, "%count = onnx.Cast(%size) {{to = {}}}", f32.0);
    let mut period = "count";
    if op.int_or("periodic", 1)? == 0 {
        line!(body, "%period = onnx.Sub(%count, %one)");
        period = "period";
    }
    line!(body, "%step = onnx.Div(%turn, %{period})");
    line!(body, "%places = onnx.Range(%zero, %count, %one)");
    line!(body, "%angles = onnx.Mul(%places, %step)");
    line!(body, "%cos = onnx.Cos(%angles)");
    line!(body, "%first = onnx.Mul(%b, %cos)");
    line!(body, "%sum = onnx.Sub(%a, %first)");
    let mut sum = "sum";
    if c != 0.0 {
        body.scalar("two", f32, 2.0)?;
        body.scalar("c", f32, c)?;
        line!(body, "%doubled = onnx.Mul(%angles, %two)");
        line!(body, "%cos_doubled = onnx.Cos(%doubled)");
        line!(body, "%second = onnx.Mul(%c, %cos_doubled)");
        line!(body, "%all = onnx.Add(%sum, %second)");
        sum = "all";
    }
    line!(
        body,
        "%y = onnx.Cast(%{sum}) {{to = {}}}",
        op.int_or("output_datatype", 1)?
    );
    body.gives(&["y"])
}

/// A loop that adds.
pub(crate) fn range(op: &Infer) -> Answer<String> {
    let ty = op.dtype_of_any([0, 1, 2])?;
    // Short numbers are added up as longer ones, and rounded once.
    let sums = match ty {
        DType::F16 | DType::BF16 => DType::F32,
        DType::F32 | DType::F64 | DType::I16 | DType::I32 | DType::I64 => ty,
        _ => return wrong!("its elements aren't those of a Range"),
    };
    let name = name_of(sums)?;
    // As many steps as are needed; integers below 2^53 are exact.
    let wide = if sums == DType::F32 {
        DType::F32
    } else {
        DType::F64
    };
    let mut body = Body::of(op, &["start", "limit", "delta"]);
    for (sum, operand) in [("from", "start"), ("to", "limit"), ("by", "delta")] {
        body.cast(sum, operand, ty, sums);
    }
    line!(body, "%distance = onnx.Sub(%to, %from)");
    body.cast("wide", "distance", sums, wide);
    body.cast("step", "by", sums, wide);
    line!(body, "%quotient = onnx.Div(%wide, %step)");
    line!(body, "%steps = onnx.Ceil(%quotient)");
    body.scalar("zero", wide, 0.0)?;
    line!(body, "%some = onnx.Max(%steps, %zero)");
    line!(body, "%count = onnx.Cast(%some) {{to = {}}}", DType::I64.0);
    line!(body, "%go = const bool[] true");
    line!(
        body,
        "%last, %all = onnx.Loop(%count, %go, %from) {{body = region}}"
    );
    line!(
        body,
        "  region body(%i: i64[], %on: bool[], %now: {name}[]) {{"
    );
    line!(body, "    %further = onnx.Identity(%on)");
    line!(body, "    %next = onnx.Add(%now, %by)");
    line!(body, "    %here = onnx.Identity(%now)");
    line!(body, "    yield %further, %next, %here");
    line!(body, "  }}");
    body.cast("y", "all", sums, ty);
    body.gives(&["y"])
}

/// Whether a uniform random number is below each element.
pub(crate) fn bernoulli(op: &Infer) -> Answer<String> {
    let ty = op.dtype(0)?;
    let to = op.int_or("dtype", i64::from(ty.0))?;
    let seed = match op.float("seed")? {
        Some(seed) => format!(", seed = {seed:?}"),
        None => String::new(),
    };
    if !is_float(ty) {
        return wrong!("only fractions are probabilities");
    }
    let mut body = Body::of(op, &["x"]);
    let attrs = format!("dtype = {}, low = 0.0, high = 1.0{seed}", ty.0);
    line!(body, "%random = onnx.RandomUniformLike(%x) {{{attrs}}}");
    line!(body, "%is_less = onnx.Less(%random, %x)");
    line!(body, "%y = onnx.Cast(%is_less) {{to = {to}}}");
    body.gives(&["y"])
}

/// A scale and a zero point from the smallest and the largest element, and 0.
pub(crate) fn dynamic_quantize(op: &Infer) -> Answer<String> {
    let f32 = DType::F32;
    let mut body = Body::of(op, &["x"]);
    body.scalar("zero", f32, 0.0)?;
    body.scalar("most", f32, 255.0)?;
    body.reduce_to("least_x", "ReduceMin", "x", &[], false);
    line!(body, "%low = onnx.Min(%least_x, %zero)");
    body.reduce_to("most_x", "ReduceMax", "x", &[], false);
    line!(body, "%high = onnx.Max(%most_x, %zero)");
    line!(body, "%reach = onnx.Sub(%high, %low)");
    line!(body, "%scale = onnx.Div(%reach, %most)");
    line!(body, "%scaled = onnx.Div(%low, %scale)");
    line!(body, "%point = onnx.Sub(%zero, %scaled)");
    line!(body, "%inside = onnx.Clip(%point, %zero, %most)");
    line!(body, "%rounded = onnx.Round(%inside)");
    line!(
        body,
        "%zero_point = onnx.Cast(%rounded) {{to = {}}}",
        DType::U8.0
    );
    line!(body, "%y = onnx.QuantizeLinear(%x, %scale, %zero_point)");
    body.gives(&["y", "scale", "zero_point"])
}
