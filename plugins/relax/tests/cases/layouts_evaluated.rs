//! Each operator computes the same in another layout as in its own.

use passdock_plugin_api::OptionValue;

use crate::support;

/// The operand's shape: all dims differ, and two are multiples of the block sizes.
const SHAPE: &str = "4,8,3,5";

/// Layouts of four axes.
const LAYOUTS: [&str; 6] = ["NHWC", "NCHW4c", "CNHW", "N2nHWC4c", "WHCN", "NHCW2c"];

/// Evaluates a body with the operand `%x` of an operator in each layout, and without a layout. In the layouts of `but`,
/// the operator stays unchanged.
#[track_caller]
fn check(operator: &str, body: &str, but: &[&str]) {
    check_of(SHAPE, operator, body, but);
}

#[track_caller]
fn check_of(shape: &str, operator: &str, body: &str, but: &[&str]) {
    // One result at a time: the order of the constants doesn't matter.
    let (ops, results) = body
        .split_once(" return ")
        .expect("it ends with what it gives");
    for result in results.split(", ") {
        check_one(shape, operator, &format!("{ops} return {result}"), but);
    }
}

#[track_caller]
fn check_one(shape: &str, operator: &str, body: &str, but: &[&str]) {
    let count: usize = shape
        .split(',')
        .map(|size| size.parse::<usize>().unwrap_or(1))
        .product();
    // Numbers in no particular order.
    let numbers: Vec<String> = (0..count)
        .map(|at| format!("{:?}", (at * 37 % 101) as f32 / 8.0 - 6.0))
        .collect();
    let source = format!(
        "module {{ fn @main() opset(\"\" = 18) {{ %x = const f32[{shape}] [{}]\n{body} }} }}",
        numbers.join(", ")
    );
    let registry = support::registry();
    let run = |layout: &str, passes: &[&str]| {
        let layouts = OptionValue::List(vec![OptionValue::String(layout.into())]);
        let desired = OptionValue::Table(vec![(format!("onnx.{operator}"), layouts)]);
        let options = OptionValue::Table(vec![("desired_layouts".to_owned(), desired)]);
        let text = passdock::testing::run_on_text(&registry, passes, &source, |context| {
            let growth = OptionValue::Table(vec![("max_growth".into(), OptionValue::Int(1 << 20))]);
            let context = context.config("relax.FoldConstant", growth);
            context.config("relax.ConvertLayout", options)
        });
        assert!(text.starts_with("module"), "{text}");
        text
    };
    const INFER: &str = "relax.transform.InferType";
    const CONVERT: &str = "relax.transform.ConvertLayout";
    const FOLD: &str = "relax.transform.FoldConstant";
    const DROP: &str = "relax.transform.DeadCodeElimination";
    let expected = run("default", &[INFER, FOLD, DROP]);
    assert!(!expected.contains("onnx."), "{expected}");
    for layout in LAYOUTS {
        let laid = run(layout, &[INFER, CONVERT]);
        let is_laid = laid != run(layout, &[INFER]);
        assert_eq!(
            is_laid,
            !but.contains(&layout),
            "{operator} in {layout}:\n{laid}"
        );
        let computed = run(layout, &[INFER, CONVERT, INFER, FOLD, DROP]);
        assert_eq!(computed, expected, "{operator} in {layout}:\n{laid}");
    }
}

const BLOCKS: [&str; 3] = ["NCHW4c", "N2nHWC4c", "NHCW2c"];

#[test]
fn elementwise_ops() {
    check("Relu", "%y = onnx.Relu(%x) return %y", &[]);
    check("Cast", "%y = onnx.Cast(%x) {to = 6} return %y", &[]);
    check(
        "Clip",
        "%a = const f32[] -1.0 %b = const f32[] 2.0 %y = onnx.Clip(%x, %a, %b) return %y",
        &[],
    );
    check("Add", "%y = onnx.Add(%x, %x) return %y", &[]);
    check(
        "Max",
        "%s = const f32[1,1] [0.5] %y = onnx.Max(%x, %s, %x) return %y",
        &[],
    );
}

#[test]
fn operands_of_lower_rank() {
    for (ty, count) in [
        ("8,1,1", 8),
        ("5", 5),
        ("3,5", 15),
        ("4,1,3,1", 12),
        ("1,8,1,1", 8),
        ("8,3,5", 120),
    ] {
        let numbers: Vec<String> = (0..count).map(|at| format!("{at}.5")).collect();
        let other = format!("%b = const f32[{ty}] [{}]", numbers.join(", "));
        check(
            "Sub",
            &format!("{other} %y = onnx.Sub(%x, %b) return %y"),
            &[],
        );
        check(
            "PRelu",
            &format!("{other} %y = onnx.PRelu(%x, %b) return %y"),
            &[],
        );
    }
    // The result isn't a multiple of the block size where another operand is blocked.
    check_of(
        "4,1,3,5",
        "Mul",
        "%b = const f32[8,1,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] %y = onnx.Mul(%x, %b) return %y",
        &BLOCKS,
    );
}

#[test]
fn ops_with_an_axis() {
    for axis in ["0", "1", "2", "-1"] {
        // Layouts with blocks along the axis.
        let but: &[&str] = match axis {
            "0" => &["N2nHWC4c"],
            "1" => &BLOCKS,
            _ => &[],
        };
        check(
            "Softmax",
            &format!("%y = onnx.Softmax(%x) {{axis = {axis}}} return %y"),
            but,
        );
        check(
            "Hardmax",
            &format!("%y = onnx.Hardmax(%x) {{axis = {axis}}} return %y"),
            but,
        );
        check(
            "CumSum",
            &format!("%a = const i64[] {axis} %y = onnx.CumSum(%x, %a) {{reverse = 1}} return %y"),
            but,
        );
        check(
            "TopK",
            &format!(
                "%k = const i64[1] [2] %y, %i = onnx.TopK(%x, %k) {{axis = {axis}}} return %y, %i"
            ),
            but,
        );
        check(
            "ArgMax",
            &format!("%y = onnx.ArgMax(%x) {{axis = {axis}}} return %y"),
            but,
        );
        check(
            "ArgMin",
            &format!("%y = onnx.ArgMin(%x) {{axis = {axis}, keepdims = 0}} return %y"),
            but,
        );
        for indices in ["i64[] 1", "i64[3] [1, 0, 1]"] {
            check(
                "Gather",
                &format!(
                    "%i = const {indices} %y = onnx.Gather(%x, %i) {{axis = {axis}}} return %y"
                ),
                if indices == "i64[3] [1, 0, 1]" && axis == "1" {
                    &BLOCKS
                } else {
                    but
                },
            );
        }
        check(
            "Concat",
            &format!("%y = onnx.Concat(%x, %x) {{axis = {axis}}} return %y"),
            &[],
        );
    }
    check(
        "Gather",
        "%i = const i64[1,1] [1] %y = onnx.Gather(%x, %i) {axis = 2} return %y",
        &LAYOUTS,
    );
    check(
        "Split",
        "%n = const i64[2] [2, 3] %y, %z = onnx.Split(%x, %n) {axis = 3} return %y, %z",
        &[],
    );
    check(
        "Split",
        "%y, %z = onnx.Split(%x) {axis = 1, num_outputs = 2} return %y, %z",
        &[],
    );
    check(
        "Split",
        "%n = const i64[2] [4, 4] %y, %z = onnx.Split(%x, %n) {axis = 1} return %y, %z",
        &[],
    );
    check(
        "Split",
        "%n = const i64[2] [2, 6] %y, %z = onnx.Split(%x, %n) {axis = 1} return %y, %z",
        &["NCHW4c", "N2nHWC4c"],
    );
}

#[test]
fn reductions() {
    for operator in ["ReduceSum", "ReduceMax", "ReduceMean"] {
        for keepdims in [0, 1] {
            check(
                operator,
                &format!(
                    "%a = const i64[2] [2, -1] %y = onnx.{operator}(%x, %a) {{keepdims = {keepdims}}} return %y"
                ),
                &[],
            );
        }
    }
    check(
        "ReduceMax",
        "%a = const i64[1] [1] %y = onnx.ReduceMax(%x, %a) {keepdims = 0} return %y",
        &[],
    );
    check(
        "ReduceMax",
        "%a = const i64[1] [1] %y = onnx.ReduceMax(%x, %a) {keepdims = 1} return %y",
        &BLOCKS,
    );
    check(
        "ReduceMin",
        "%y = onnx.ReduceMin(%x) {keepdims = 0} return %y",
        &[],
    );
    check(
        "ReduceMin",
        "%y = onnx.ReduceMin(%x) {keepdims = 1} return %y",
        &BLOCKS,
    );
    check(
        "ReduceSum",
        "%y = onnx.ReduceSum(%x) {noop_with_empty_axes = 1} return %y",
        &[],
    );
}

#[test]
fn shape_preserving_views() {
    check(
        "Transpose",
        "%y = onnx.Transpose(%x) {perm = [2, 0, 3, 1]} return %y",
        &[],
    );
    check("Transpose", "%y = onnx.Transpose(%x) return %y", &[]);
    check(
        "Unsqueeze",
        "%a = const i64[2] [-1, 2] %y = onnx.Unsqueeze(%x, %a) return %y",
        &[],
    );
    check(
        "Unsqueeze",
        "%a = const i64[1] [0] %y = onnx.Unsqueeze(%x, %a) return %y",
        &[],
    );
    check_of(
        "4,8,1,5",
        "Squeeze",
        "%a = const i64[1] [2] %y = onnx.Squeeze(%x, %a) return %y",
        &[],
    );
    check_of("4,8,1,1", "Squeeze", "%y = onnx.Squeeze(%x) return %y", &[]);
    check("Shape", "%y = onnx.Shape(%x) return %y", &[]);
    check(
        "Shape",
        "%y = onnx.Shape(%x) {start = -3, end = 3} return %y",
        &[],
    );
    check("Size", "%y = onnx.Size(%x) return %y", &[]);
    // The order of elements is preserved, because the moved dims are 1.
    check_of(
        "4,8,1,1",
        "Flatten",
        "%y = onnx.Flatten(%x) return %y",
        &["CNHW", "WHCN"],
    );
    check_of(
        "4,8,1,1",
        "Reshape",
        "%s = const i64[2] [0, -1] %y = onnx.Reshape(%x, %s) return %y",
        &[],
    );
    check("Flatten", "%y = onnx.Flatten(%x) return %y", &LAYOUTS);
}

/// Merged adjacent axes, and split axes.
#[test]
fn views_that_merge_or_split_axes() {
    let cut = &BLOCKS;
    check(
        "Reshape",
        "%s = const i64[3] [4, 8, 15] %y = onnx.Reshape(%x, %s) return %y",
        &["NCHW4c", "N2nHWC4c", "NHCW2c", "WHCN"],
    );
    check(
        "Reshape",
        "%s = const i64[5] [4, 2, 4, 3, 5] %y = onnx.Reshape(%x, %s) return %y",
        cut,
    );
    check(
        "Reshape",
        "%s = const i64[3] [32, 3, 5] %y = onnx.Reshape(%x, %s) return %y",
        &["NHWC", "NCHW4c", "CNHW", "N2nHWC4c", "WHCN", "NHCW2c"],
    );
}

#[test]
fn ops_with_per_axis_values() {
    check(
        "Slice",
        "%b = const i64[2] [0, 4] %e = const i64[2] [9, 1] %a = const i64[2] [2, -1] %s = const i64[2] [2, -2] \
         %y = onnx.Slice(%x, %b, %e, %a, %s) return %y",
        &[],
    );
    check(
        "Slice",
        "%b = const i64[2] [1, 1] %e = const i64[2] [9, 7] %y = onnx.Slice(%x, %b, %e) return %y",
        &BLOCKS,
    );
    check(
        "Pad",
        "%p = const i64[8] [0, 0, 1, 0, 0, 0, 0, 2] %v = const f32[] 9.0 %y = onnx.Pad(%x, %p, %v) return %y",
        &[],
    );
    check(
        "Pad",
        "%p = const i64[4] [1, 0, 0, 2] %v = const f32[] 9.0 %a = const i64[2] [-1, 2] %y = onnx.Pad(%x, %p, %v, %a) \
         return %y",
        &[],
    );
    check(
        "Pad",
        "%p = const i64[8] [0, 1, 1, 0, 0, 0, 0, 2] %y = onnx.Pad(%x, %p) {mode = \"edge\"} return %y",
        &BLOCKS,
    );
    check(
        "Tile",
        "%r = const i64[4] [2, 3, 1, 2] %y = onnx.Tile(%x, %r) return %y",
        &[],
    );
    check(
        "Expand",
        "%s = const i64[4] [4, 1, 3, 1] %y = onnx.Expand(%x, %s) return %y",
        &BLOCKS,
    );
    check(
        "Expand",
        "%s = const i64[2] [3, 5] %y = onnx.Expand(%x, %s) return %y",
        &BLOCKS,
    );
    check(
        "Trilu",
        "%y = onnx.Trilu(%x) return %y",
        &["NHWC", "N2nHWC4c", "NCHW4c", "WHCN", "NHCW2c"],
    );
}
