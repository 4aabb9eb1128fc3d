//! Bodies of operators that move elements, or say where from.

use passdock_plugin_api::DType;

use super::{Body, line, needs};
use crate::infer::{Answer, Infer, Stop, as_const};

/// Pads where there is too little, cuts where there is too much, half on each side.
pub(crate) fn center_crop_pad(op: &Infer) -> Answer<String> {
    let mut body = Body::of(op, &["x", "shape"]);
    let axes = op.ints("axes")?.map(|axes| axes.into_owned());
    body.ints("two", &[2]);
    let (mut pad_axes, mut slice_axes) = ("", "");
    if let Some(axes) = &axes {
        body.ints("axes", axes);
        (pad_axes, slice_axes) = (", _, %axes", ", %axes");
    }
    let sizes = |body: &mut Body, result: &str, x: &str| {
        if axes.is_none() {
            line!(body, "%{result} = onnx.Shape(%{x})");
        } else {
            line!(body, "%{result}_all = onnx.Shape(%{x})");
            line!(body, "%{result} = onnx.Gather(%{result}_all, %axes)");
        }
    };
    sizes(&mut body, "has", "x");
    line!(body, "%larger = onnx.Max(%has, %shape)");
    line!(body, "%missing = onnx.Sub(%larger, %has)");
    line!(body, "%before = onnx.Div(%missing, %two)");
    line!(body, "%behind = onnx.Sub(%missing, %before)");
    line!(body, "%pads = onnx.Concat(%before, %behind) {{axis = 0}}");
    line!(body, "%padded = onnx.Pad(%x, %pads{pad_axes})");
    sizes(&mut body, "now", "padded");
    line!(body, "%too_much = onnx.Sub(%now, %shape)");
    line!(body, "%start = onnx.Div(%too_much, %two)");
    line!(body, "%end = onnx.Add(%start, %shape)");
    line!(body, "%y = onnx.Slice(%padded, %start, %end{slice_axes})");
    body.gives(&["y"])
}

/// `%N`, `%C`, `%H` and `%W` of `%x`, and the block's side.
fn blocks(op: &Infer) -> Answer<Body> {
    needs(op, 14)?;
    let Some(side) = op.int("blocksize")? else {
        return Err(Stop::Unknown);
    };
    let mut body = Body::of(op, &["x"]);
    line!(body, "%shape = onnx.Shape(%x)");
    body.ints("side", &[side]);
    body.ints("area", &[side.saturating_mul(side)]);
    for at in 0..5 {
        body.ints(&format!("at{at}"), &[at]);
    }
    for (at, size) in ["N", "C", "H", "W"].into_iter().enumerate() {
        line!(body, "%{size} = onnx.Slice(%shape, %at{at}, %at{})", at + 1);
    }
    Ok(body)
}

/// Channels become blocks.
pub(crate) fn depth_to_space(op: &Infer) -> Answer<String> {
    let (apart, perm) = match op.word("mode", &["DCR", "CRD"])? {
        "CRD" => ("%N, %fewer, %side, %side, %H, %W", "0, 1, 4, 2, 5, 3"),
        _ => ("%N, %side, %side, %fewer, %H, %W", "0, 3, 4, 1, 5, 2"),
    };
    let mut body = blocks(op)?;
    line!(body, "%fewer = onnx.Div(%C, %area)");
    line!(body, "%higher = onnx.Mul(%H, %side)");
    line!(body, "%wider = onnx.Mul(%W, %side)");
    rearranged(body, apart, perm, "%N, %fewer, %higher, %wider")
}

/// Blocks become channels.
pub(crate) fn space_to_depth(op: &Infer) -> Answer<String> {
    let perm = match op.word("mode", &["DCR", "CRD"])? {
        "CRD" => "0, 1, 3, 5, 2, 4",
        _ => "0, 3, 5, 1, 2, 4",
    };
    let mut body = blocks(op)?;
    line!(body, "%more = onnx.Mul(%C, %area)");
    line!(body, "%lower = onnx.Div(%H, %side)");
    line!(body, "%narrower = onnx.Div(%W, %side)");
    let apart = "%N, %C, %lower, %side, %narrower, %side";
    rearranged(body, apart, perm, "%N, %more, %lower, %narrower")
}

/// The operand taken apart into dims of these sizes, permuted and put together.
fn rearranged(mut body: Body, apart: &str, perm: &str, together: &str) -> Answer<String> {
    line!(body, "%apart = onnx.Concat({apart}) {{axis = 0}}");
    line!(body, "%together = onnx.Concat({together}) {{axis = 0}}");
    line!(body, "%taken = onnx.Reshape(%x, %apart) {{allowzero = 1}}");
    line!(body, "%moved = onnx.Transpose(%taken) {{perm = [{perm}]}}");
    line!(
        body,
        "%y = onnx.Reshape(%moved, %together) {{allowzero = 1}}"
    );
    body.gives(&["y"])
}

/// The place that each place of a grid comes from: `theta * (x, y, z, 1)`, from -1 to 1.
pub(crate) fn affine_grid(op: &Infer) -> Answer<String> {
    let ty = op.dtype(0)?;
    let count = op.shape(1)?.first().copied().and_then(as_const);
    let dims = match count {
        Some(4) => &["H", "W"][..],
        Some(5) => &["D", "H", "W"],
        _ => return Err(Stop::Unknown),
    };
    let (rank, aligned) = (dims.len(), op.flag("align_corners", false)?);
    let mut body = Body::of(op, &["theta", "size"]);
    body.scalar("zero_at", DType::I64, 0.0)?;
    body.scalar("one_at", DType::I64, 1.0)?;
    body.scalar("from", ty, -1.0)?;
    body.scalar("one", ty, 1.0)?;
    body.scalar("two", ty, 2.0)?;
    body.ints("last", &[-1]);
    let names: Vec<String> = dims.iter().map(|dim| format!("%{dim}1")).collect();
    let sizes = names.join(", ");
    let counts = vec![1; rank + 2];
    body.ints("parts", &counts);
    line!(
        body,
        "%N1, %C1, {sizes} = onnx.Split(%size, %parts) {{axis = 0}}"
    );
    line!(body, "%places = onnx.Concat({sizes}) {{axis = 0}}");
    // The coordinate along each dim, spread over all.
    for (at, dim) in dims.iter().enumerate() {
        line!(body, "%{dim} = onnx.Squeeze(%{dim}1)");
        line!(body, "%count{dim} = onnx.Cast(%{dim}) {{to = {}}}", ty.0);
        if aligned {
            line!(body, "%gaps{dim} = onnx.Sub(%count{dim}, %one)");
            line!(body, "%some{dim} = onnx.Max(%gaps{dim}, %one)");
            line!(body, "%step{dim} = onnx.Div(%two, %some{dim})");
            line!(body, "%start{dim} = onnx.Identity(%from)");
        } else {
            line!(body, "%step{dim} = onnx.Div(%two, %count{dim})");
            line!(body, "%half{dim} = onnx.Div(%step{dim}, %two)");
            line!(body, "%start{dim} = onnx.Add(%from, %half{dim})");
        }
        line!(body, "%steps{dim} = onnx.Range(%zero_at, %{dim}, %one_at)");
        line!(
            body,
            "%numbers{dim} = onnx.Cast(%steps{dim}) {{to = {}}}",
            ty.0
        );
        line!(body, "%way{dim} = onnx.Mul(%numbers{dim}, %step{dim})");
        line!(body, "%line{dim} = onnx.Add(%start{dim}, %way{dim})");
        let mut beside = vec![1; rank];
        beside[at] = -1;
        body.ints(&format!("beside{dim}"), &beside);
        line!(body, "%thin{dim} = onnx.Reshape(%line{dim}, %beside{dim})");
        line!(body, "%all{dim} = onnx.Expand(%thin{dim}, %places)");
        line!(body, "%column{dim} = onnx.Unsqueeze(%all{dim}, %last)");
    }
    line!(body, "%ones = onnx.Expand(%one, %places)");
    line!(body, "%column1 = onnx.Unsqueeze(%ones, %last)");
    let columns: Vec<String> = dims
        .iter()
        .rev()
        .map(|dim| format!("%column{dim}"))
        .collect();
    line!(
        body,
        "%grid = onnx.Concat({}, %column1) {{axis = -1}}",
        columns.join(", ")
    );
    body.ints("rows", &[-1, rank as i64 + 1]);
    line!(body, "%points = onnx.Reshape(%grid, %rows)");
    line!(body, "%turned = onnx.Transpose(%points) {{perm = [1, 0]}}");
    line!(body, "%moved = onnx.MatMul(%theta, %turned)");
    line!(body, "%back = onnx.Transpose(%moved) {{perm = [0, 2, 1]}}");
    body.ints("coordinates", &[rank as i64]);
    line!(
        body,
        "%shape = onnx.Concat(%N1, {sizes}, %coordinates) {{axis = 0}}"
    );
    line!(body, "%y = onnx.Reshape(%back, %shape)");
    body.gives(&["y"])
}
