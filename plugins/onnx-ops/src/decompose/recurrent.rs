//! Bodies of operators that carry a state from one step of a sequence to the next.

use passdock_plugin_api::DType;

use super::{Body, line, literal, name_of};
use crate::infer::{Answer, Infer, Stop, as_const};

/// A convolution of what was kept, or zeros, and the input.
pub(crate) fn causal_conv(op: &Infer) -> Answer<String> {
    let ty = op.dtype_of_any([0, 1])?;
    let channels = as_const(op.dim(1, 0)).or_else(|| as_const(op.dim(0, 1)));
    let channels = channels.ok_or(Stop::Unknown)?;
    let mut body = Body::of(op, &["x", "weight", "bias", "past"]);
    body.ints("one", &[1]);
    body.ints("last", &[2]);
    line!(body, "%kernel = onnx.Shape(%weight) {{start = 2, end = 3}}");
    line!(body, "%kept = onnx.Sub(%kernel, %one)");
    let mut before = "past";
    if !op.has(3) {
        line!(body, "%sizes = onnx.Shape(%x) {{start = 0, end = 2}}");
        line!(
            body,
            "%zeros_shape = onnx.Concat(%sizes, %kept) {{axis = 0}}"
        );
        zeros(&mut body, "zeros", ty)?;
        before = "zeros";
    }
    line!(body, "%whole = onnx.Concat(%{before}, %x) {{axis = 2}}");
    let bias = if op.has(2) { ", %bias" } else { "" };
    line!(
        body,
        "%conv = onnx.Conv(%whole, %weight{bias}) {{group = {channels}}}"
    );
    let mut y = "conv";
    if op.word("activation", &["none", "silu", "swish"])? != "none" {
        body.cast("wide", "conv", ty, DType::F32);
        line!(body, "%sigmoid = onnx.Sigmoid(%wide)");
        line!(body, "%active = onnx.Mul(%wide, %sigmoid)");
        body.cast("y", "active", DType::F32, ty);
        y = "y";
    }
    line!(body, "%length = onnx.Shape(%whole) {{start = 2, end = 3}}");
    line!(body, "%from = onnx.Sub(%length, %kept)");
    line!(body, "%present = onnx.Slice(%whole, %from, %length, %last)");
    body.gives(&[y, "present"])
}

/// Zeros of the shape of this name.
fn zeros(body: &mut Body, name: &str, ty: DType) -> Answer {
    let value = format!("tensor {}[1] [{}]", name_of(ty)?, literal(ty, 0.0));
    line!(
        body,
        "%{name} = onnx.ConstantOfShape(%{name}_shape) {{value = {value}}}"
    );
    Ok(())
}

/// A scan over the steps, by heads; the state is `f32`.
pub(crate) fn linear_attention(op: &Infer) -> Answer<String> {
    let (ty, f32) = (op.dtype(0)?, DType::F32);
    let heads = |name| {
        op.int(name)?
            .filter(|&count| count > 0)
            .ok_or(Stop::Unknown)
    };
    let (queries, keys) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let rules = ["gated_delta", "linear", "gated", "delta"];
    let rule = op.word("update_rule", &rules)?;
    let (is_gated, is_delta) = (rule.starts_with("gated"), rule.ends_with("delta"));
    if queries % keys != 0 || (is_gated && !op.has(4)) || (is_delta && !op.has(5)) {
        return Err(Stop::Unknown);
    }
    let mut body = Body::of(op, &["q", "k", "v", "past", "decay", "beta"]);
    let mut steps = vec!["q", "k", "v"];
    body.ints("row", &[-2]);
    body.ints("column", &[-1]);
    for (name, size) in [("q", queries), ("k", keys), ("v", keys)] {
        by_steps(&mut body, name, [size, -1]);
    }
    if is_gated {
        by_steps(&mut body, "decay", [keys, -1]);
        steps.push("decay");
    }
    if is_delta {
        by_steps(&mut body, "beta", [-1, 1]);
        steps.push("beta");
    }
    body.ints("query_heads", &[queries]);
    body.ints("key_heads", &[keys]);
    line!(body, "%batch = onnx.Shape(%q) {{start = 0, end = 1}}");
    line!(body, "%q_size = onnx.Shape(%q) {{start = 2, end = 3}}");
    line!(body, "%v_size = onnx.Shape(%v) {{start = 2, end = 3}}");
    line!(body, "%key_size = onnx.Div(%q_size, %query_heads)");
    line!(body, "%value_size = onnx.Div(%v_size, %key_heads)");
    if op.has(3) {
        body.cast("first", "past", op.dtype(3)?, f32);
    } else {
        let dims = "%batch, %key_heads, %key_size, %value_size";
        line!(body, "%first_shape = onnx.Concat({dims}) {{axis = 0}}");
        zeros(&mut body, "first", f32)?;
    }
    let scale = f64::from(op.float_or("scale", 0.0)?);
    if scale == 0.0 {
        line!(body, "%key_count = onnx.Squeeze(%key_size)");
        line!(
            body,
            "%key_float = onnx.Cast(%key_count) {{to = {}}}",
            f32.0
        );
        line!(body, "%key_root = onnx.Sqrt(%key_float)");
        line!(body, "%scale = onnx.Reciprocal(%key_root)");
    } else {
        body.scalar("scale", f32, scale)?;
    }
    let shared = queries / keys;
    if shared > 1 {
        body.ints("shared", &[shared]);
        body.ints("apart", &[2]);
        let dims = "%batch, %key_heads, %shared, %key_size, %value_size";
        line!(body, "%copies_shape = onnx.Concat({dims}) {{axis = 0}}");
        let dims = "%batch, %query_heads, %key_size, %value_size";
        line!(body, "%read_shape = onnx.Concat({dims}) {{axis = 0}}");
    }
    let inputs: Vec<String> = steps.iter().map(|name| format!("%{name}_steps")).collect();
    let (inputs, count) = (inputs.join(", "), steps.len());
    line!(
        body,
        "%final, %all = onnx.Scan(%first, {inputs}) {{body = region, num_scan_inputs = {count}}}"
    );
    step(&mut body, &steps, ty, shared)?;
    line!(
        body,
        "%by_place = onnx.Transpose(%all) {{perm = [1, 0, 2, 3]}}"
    );
    body.ints("together", &[0, 0, -1]);
    line!(body, "%y = onnx.Reshape(%by_place, %together)");
    let state = if op.has(3) { op.dtype(3)? } else { ty };
    body.cast("present", "final", f32, state);
    body.gives(&["y", "present"])
}

/// `%name_steps`: the operand as (sequence, batch, heads, numbers).
fn by_steps(body: &mut Body, name: &str, [heads, numbers]: [i64; 2]) {
    body.ints(&format!("{name}_split"), &[0, 0, heads, numbers]);
    line!(body, "%{name}_apart = onnx.Reshape(%{name}, %{name}_split)");
    line!(
        body,
        "%{name}_steps = onnx.Transpose(%{name}_apart) {{perm = [1, 0, 2, 3]}}"
    );
}

/// One step of the scan: the state decays, learns how the value differs from what it says, and is read.
fn step(body: &mut Body, steps: &[&str], ty: DType, shared: i64) -> Answer {
    let args: Vec<String> = steps.iter().map(|name| format!("%{name}_here")).collect();
    line!(body, "  region body(%state, {}) {{", args.join(", "));
    for name in steps {
        body.cast(
            &format!("{name}_now"),
            &format!("{name}_here"),
            ty,
            DType::F32,
        );
    }
    let mut state = "state";
    if steps.contains(&"decay") {
        line!(body, "%decay_exp = onnx.Exp(%decay_now)");
        line!(body, "%decay_column = onnx.Unsqueeze(%decay_exp, %column)");
        line!(body, "%decayed = onnx.Mul(%state, %decay_column)");
        state = "decayed";
    }
    line!(body, "%k_column = onnx.Unsqueeze(%k_now, %column)");
    let mut write = "v_now";
    if steps.contains(&"beta") {
        line!(
            body,
            "%turned = onnx.Transpose(%{state}) {{perm = [0, 1, 3, 2]}}"
        );
        line!(body, "%said_column = onnx.MatMul(%turned, %k_column)");
        line!(body, "%said = onnx.Squeeze(%said_column, %column)");
        line!(body, "%differs = onnx.Sub(%v_now, %said)");
        line!(body, "%delta = onnx.Mul(%beta_now, %differs)");
        write = "delta";
    }
    line!(body, "%write_row = onnx.Unsqueeze(%{write}, %row)");
    line!(body, "%written = onnx.MatMul(%k_column, %write_row)");
    line!(body, "%next = onnx.Add(%{state}, %written)");
    let mut read = "next";
    if shared > 1 {
        line!(body, "%next_apart = onnx.Unsqueeze(%next, %apart)");
        line!(
            body,
            "%next_copies = onnx.Expand(%next_apart, %copies_shape)"
        );
        line!(body, "%next_all = onnx.Reshape(%next_copies, %read_shape)");
        read = "next_all";
    }
    line!(body, "%q_row = onnx.Unsqueeze(%q_now, %row)");
    line!(body, "%answer_row = onnx.MatMul(%q_row, %{read})");
    line!(body, "%answer = onnx.Squeeze(%answer_row, %row)");
    line!(body, "%scaled = onnx.Mul(%scale, %answer)");
    body.cast("here", "scaled", DType::F32, ty);
    line!(body, "yield %next, %here");
    line!(body, "  }}");
    Ok(())
}
