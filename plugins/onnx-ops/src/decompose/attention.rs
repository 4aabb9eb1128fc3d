//! Bodies of attention, and of what goes with it.

use passdock_plugin_api::DType;

use super::{Body, line};
use crate::infer::{Answer, Infer, Stop, as_const, wrong};

/// Pairs of numbers turned by the angles of their positions.
pub(crate) fn rotary(op: &Infer) -> Answer<String> {
    let rank = op.shape(0)?.len();
    let mut body = Body::of(op, &["x", "cos_cache", "sin_cache", "positions"]);
    body.ints("one", &[1]);
    body.ints("two", &[2]);
    body.ints("zero", &[0]);
    // As (batch, sequence, heads, numbers).
    if rank == 4 {
        line!(
            body,
            "%by_place = onnx.Transpose(%x) {{perm = [0, 2, 1, 3]}}"
        );
    } else {
        body.ints("heads", &[0, 0, op.int_or("num_heads", 0)?, -1]);
        line!(body, "%by_place = onnx.Reshape(%x, %heads)");
    }
    line!(body, "%size = onnx.Shape(%by_place) {{start = 3, end = 4}}");
    match op.int_or("rotary_embedding_dim", 0)? {
        0 => line!(body, "%turned_size = onnx.Identity(%size)"),
        size => body.ints("turned_size", &[size]),
    }
    line!(body, "%rest_size = onnx.Sub(%size, %turned_size)");
    line!(
        body,
        "%sizes = onnx.Concat(%turned_size, %rest_size) {{axis = 0}}"
    );
    line!(
        body,
        "%turning, %rest = onnx.Split(%by_place, %sizes) {{axis = -1}}"
    );
    line!(body, "%half = onnx.Div(%turned_size, %two)");
    for name in ["cos", "sin"] {
        let mut cache = format!("{name}_cache");
        if op.has(3) {
            line!(body, "%{name}_placed = onnx.Gather(%{cache}, %positions)");
            cache = format!("{name}_placed");
        }
        line!(
            body,
            "%{name}_half = onnx.Slice(%{cache}, %zero, %half, %two)"
        );
        line!(body, "%{name} = onnx.Unsqueeze(%{name}_half, %two)");
    }
    let interleaved = op.flag("interleaved", false)?;
    if interleaved {
        body.ints("last", &[3]);
        line!(
            body,
            "%a = onnx.Slice(%turning, %zero, %turned_size, %last, %two)"
        );
        line!(
            body,
            "%b = onnx.Slice(%turning, %one, %turned_size, %last, %two)"
        );
    } else {
        line!(
            body,
            "%a, %b = onnx.Split(%turning) {{axis = -1, num_outputs = 2}}"
        );
    }
    line!(body, "%cos_a = onnx.Mul(%cos, %a)");
    line!(body, "%sin_b = onnx.Mul(%sin, %b)");
    line!(body, "%real = onnx.Sub(%cos_a, %sin_b)");
    line!(body, "%sin_a = onnx.Mul(%sin, %a)");
    line!(body, "%cos_b = onnx.Mul(%cos, %b)");
    line!(body, "%imaginary = onnx.Add(%sin_a, %cos_b)");
    if interleaved {
        body.ints("behind", &[-1]);
        line!(body, "%real_apart = onnx.Unsqueeze(%real, %behind)");
        line!(
            body,
            "%imaginary_apart = onnx.Unsqueeze(%imaginary, %behind)"
        );
        line!(
            body,
            "%pairs = onnx.Concat(%real_apart, %imaginary_apart) {{axis = -1}}"
        );
        line!(body, "%turning_shape = onnx.Shape(%turning)");
        line!(body, "%turned = onnx.Reshape(%pairs, %turning_shape)");
    } else {
        line!(
            body,
            "%turned = onnx.Concat(%real, %imaginary) {{axis = -1}}"
        );
    }
    line!(body, "%whole = onnx.Concat(%turned, %rest) {{axis = -1}}");
    let mut whole = "whole";
    if rank == 4 {
        line!(
            body,
            "%back = onnx.Transpose(%whole) {{perm = [0, 2, 1, 3]}}"
        );
        whole = "back";
    }
    line!(body, "%shape = onnx.Shape(%x)");
    line!(body, "%y = onnx.Reshape(%{whole}, %shape)");
    body.gives(&["y"])
}

/// The number of heads of queries, and how many of them share one of keys.
fn heads(op: &Infer, rank: usize) -> Answer<(i64, i64)> {
    let (queries, keys) = if rank == 3 {
        (op.int_or("q_num_heads", 0)?, op.int_or("kv_num_heads", 0)?)
    } else {
        let of = |index: usize| op.dims(index).and_then(|dims| as_const(*dims.get(1)?));
        (of(0).ok_or(Stop::Unknown)?, of(1).ok_or(Stop::Unknown)?)
    };
    if keys < 1 || queries % keys != 0 {
        return Err(Stop::Unknown);
    }
    Ok((queries, keys))
}

/// `softmax(q * k + mask) * v`, by heads.
pub(crate) fn attention(op: &Infer) -> Answer<String> {
    let (ty, rank) = (op.dtype(0)?, op.shape(0)?.len());
    let (queries, keys) = heads(op, rank)?;
    let known = [
        "is_causal",
        "kv_num_heads",
        "left_window_size",
        "q_num_heads",
        "qk_matmul_output_mode",
        "right_window_size",
        "scale",
        "softcap",
        "softmax_precision",
    ];
    if op.attrs.names().iter().any(|name| !known.contains(name)) {
        return wrong!("its body for some of its attributes isn't written");
    }
    let precise = op
        .int("softmax_precision")?
        .and_then(|code| u32::try_from(code).ok());
    let precise = precise.map_or(ty, DType);
    let names = ["q", "k", "v", "mask", "past_key", "past_value", "valid"];
    let mut body = Body::of(op, &names);
    body.ints("zero", &[0]);
    body.ints("one", &[1]);
    body.ints("last", &[-1]);
    body.scalar("nothing", ty, 0.0)?;
    body.scalar("never", ty, f64::NEG_INFINITY)?;
    by_heads(op, &mut body, rank, queries, keys);
    // Both factors get the root of the scale, so that neither overflows.
    match op.float("scale")? {
        Some(scale) => body.scalar("root", ty, f64::from(scale).sqrt())?,
        None => {
            body.scalar("unit", DType::F32, 1.0)?;
            line!(body, "%size = onnx.Shape(%q4) {{start = 3, end = 4}}");
            line!(
                body,
                "%size_float = onnx.Cast(%size) {{to = {}}}",
                DType::F32.0
            );
            line!(body, "%size_root = onnx.Sqrt(%size_float)");
            line!(body, "%scale = onnx.Div(%unit, %size_root)");
            line!(body, "%scale_root = onnx.Sqrt(%scale)");
            body.cast("root", "scale_root", DType::F32, ty);
        }
    }
    bias(op, &mut body)?;
    for name in ["k", "v"] {
        let shared = queries / keys;
        if shared == 1 {
            line!(body, "%{name}_all = onnx.Identity(%present_{name})");
            continue;
        }
        body.ints(&format!("{name}_at"), &[2]);
        body.ints(&format!("{name}_shared"), &[1, 1, shared, 1, 1]);
        body.ints(&format!("{name}_heads"), &[0, queries]);
        line!(
            body,
            "%{name}_apart = onnx.Unsqueeze(%present_{name}, %{name}_at)"
        );
        line!(
            body,
            "%{name}_copies = onnx.Tile(%{name}_apart, %{name}_shared)"
        );
        line!(
            body,
            "%{name}_sizes = onnx.Shape(%present_{name}) {{start = 2}}"
        );
        line!(
            body,
            "%{name}_shape = onnx.Concat(%{name}_heads, %{name}_sizes) {{axis = 0}}"
        );
        line!(
            body,
            "%{name}_all = onnx.Reshape(%{name}_copies, %{name}_shape)"
        );
    }
    line!(
        body,
        "%k_turned = onnx.Transpose(%k_all) {{perm = [0, 1, 3, 2]}}"
    );
    line!(body, "%q_scaled = onnx.Mul(%q4, %root)");
    line!(body, "%k_scaled = onnx.Mul(%k_turned, %root)");
    line!(body, "%product = onnx.MatMul(%q_scaled, %k_scaled)");
    let mut capped = "product";
    let softcap = op.float_or("softcap", 0.0)?;
    if softcap > 0.0 {
        body.scalar("cap", ty, f64::from(softcap))?;
        line!(body, "%share = onnx.Div(%product, %cap)");
        line!(body, "%bent = onnx.Tanh(%share)");
        line!(body, "%capped = onnx.Mul(%bent, %cap)");
        capped = "capped";
    }
    line!(body, "%masked = onnx.Add(%{capped}, %bias)");
    body.cast("precise", "masked", ty, precise);
    line!(body, "%softmax = onnx.Softmax(%precise) {{axis = -1}}");
    body.cast("weights", "softmax", precise, ty);
    // A query that may see nothing gives 0.
    body.reduce("best", "ReduceMax", "bias", &[-1]);
    line!(body, "%is_blind = onnx.Equal(%best, %never)");
    line!(body, "%seen = onnx.Where(%is_blind, %nothing, %weights)");
    line!(body, "%y4 = onnx.MatMul(%seen, %v_all)");
    let mut y = "y4";
    if rank == 3 {
        body.ints("together", &[0, 0, -1]);
        line!(
            body,
            "%y_by_place = onnx.Transpose(%y4) {{perm = [0, 2, 1, 3]}}"
        );
        line!(body, "%y = onnx.Reshape(%y_by_place, %together)");
        y = "y";
    }
    let shown = match op.int_or("qk_matmul_output_mode", 0)? {
        0 => "product",
        1 => capped,
        2 => "masked",
        _ => "seen",
    };
    body.gives(&[y, "present_k", "present_v", shown])
}

/// `%q4`, and `%present_k` and `%present_v` with what is past, as (batch, heads, sequence, numbers).
fn by_heads(op: &Infer, body: &mut Body, rank: usize, queries: i64, keys: i64) {
    for (name, heads) in [("q", queries), ("k", keys), ("v", keys)] {
        if rank == 3 {
            body.ints(&format!("{name}_split"), &[0, 0, heads, -1]);
            line!(
                body,
                "%{name}_by_place = onnx.Reshape(%{name}, %{name}_split)"
            );
            line!(
                body,
                "%{name}4 = onnx.Transpose(%{name}_by_place) {{perm = [0, 2, 1, 3]}}"
            );
        } else {
            line!(body, "%{name}4 = onnx.Identity(%{name})");
        }
    }
    for (name, past, index) in [("k", "past_key", 4), ("v", "past_value", 5)] {
        if op.has(index) {
            line!(
                body,
                "%present_{name} = onnx.Concat(%{past}, %{name}4) {{axis = 2}}"
            );
        } else {
            line!(body, "%present_{name} = onnx.Identity(%{name}4)");
        }
    }
}

/// `%bias`: 0 where a query may see a key, and minus infinity where it may not.
fn bias(op: &Infer, body: &mut Body) -> Answer {
    let ty = op.dtype(0)?;
    line!(body, "%rows = onnx.Shape(%q4) {{start = 2, end = 3}}");
    line!(
        body,
        "%columns = onnx.Shape(%present_k) {{start = 2, end = 3}}"
    );
    let mut mask = None;
    if op.has(3) {
        let mut name = "mask";
        let given = op.dtype(3)?;
        if given == DType::BOOL {
            line!(body, "%mask_number = onnx.Where(%mask, %nothing, %never)");
            name = "mask_number";
        } else if given != ty {
            body.cast("mask_number", "mask", given, ty);
            name = "mask_number";
        }
        if op.version >= 24 {
            line!(body, "%mask_columns = onnx.Shape(%{name}) {{start = -1}}");
            line!(body, "%missing = onnx.Sub(%columns, %mask_columns)");
            line!(body, "%pads = onnx.Concat(%zero, %missing) {{axis = 0}}");
            line!(
                body,
                "%mask_whole = onnx.Pad(%{name}, %pads, %never, %last)"
            );
            name = "mask_whole";
        }
        mask = Some(name);
    }
    let [left, right] = ["left_window_size", "right_window_size"].map(|name| op.int_or(name, -1));
    let (left, right) = (left?, right?);
    let is_causal = op.flag("is_causal", false)?;
    let is_placed = is_causal || left >= 0 || right >= 0;
    if is_placed || op.has(6) {
        numbers(op, body, is_placed);
    }
    // What hides a key from a query.
    let mut hides = Vec::new();
    if is_causal {
        line!(body, "%is_later = onnx.Less(%place, %column_numbers)");
        hides.push("is_later");
    }
    if left >= 0 || right >= 0 {
        line!(body, "%distance = onnx.Sub(%place, %column_numbers)");
    }
    if left >= 0 {
        body.number("left", left);
        line!(body, "%is_before = onnx.Less(%left, %distance)");
        hides.push("is_before");
    }
    if right >= 0 {
        body.number("right", -right);
        line!(body, "%is_behind = onnx.Less(%distance, %right)");
        hides.push("is_behind");
    }
    if op.has(6) {
        line!(
            body,
            "%is_padding = onnx.GreaterOrEqual(%column_numbers, %lengths)"
        );
        hides.push("is_padding");
    }
    let mut bias = mask.map(str::to_owned);
    for is in hides {
        line!(body, "%{is}_bias = onnx.Where(%{is}, %never, %nothing)");
        bias = Some(match bias {
            Some(bias) => {
                line!(body, "%{is}_sum = onnx.Add(%{bias}, %{is}_bias)");
                format!("{is}_sum")
            }
            None => format!("{is}_bias"),
        });
    }
    if let Some(bias) = bias {
        line!(body, "%bias = onnx.Identity(%{bias})");
    } else {
        line!(body, "%places = onnx.Concat(%rows, %columns) {{axis = 0}}");
        line!(body, "%bias = onnx.Expand(%nothing, %places)");
    }
    Ok(())
}

/// `%column_numbers`, the keys' places; `%lengths`, how many of them are valid in each batch if an
/// operand says so; `%place`, the queries' places among the keys, if these are asked for.
fn numbers(op: &Infer, body: &mut Body, is_placed: bool) {
    body.number("first", 0);
    body.number("step", 1);
    line!(body, "%column_count = onnx.Squeeze(%columns)");
    line!(
        body,
        "%column_numbers = onnx.Range(%first, %column_count, %step)"
    );
    if op.has(6) {
        body.ints("inner", &[1, 2, 3]);
        line!(body, "%lengths = onnx.Unsqueeze(%valid, %inner)");
    }
    if !is_placed {
        return;
    }
    line!(body, "%row_count = onnx.Squeeze(%rows)");
    line!(body, "%row_numbers = onnx.Range(%first, %row_count, %step)");
    line!(body, "%row_column = onnx.Unsqueeze(%row_numbers, %one)");
    if op.has(6) {
        // The last query's is the last valid key.
        line!(body, "%before = onnx.Sub(%lengths, %row_count)");
        line!(body, "%place = onnx.Add(%row_column, %before)");
    } else if op.has(4) {
        line!(body, "%past = onnx.Shape(%past_key) {{start = 2, end = 3}}");
        line!(body, "%place = onnx.Add(%row_column, %past)");
    } else {
        line!(body, "%place = onnx.Identity(%row_column)");
    }
}
