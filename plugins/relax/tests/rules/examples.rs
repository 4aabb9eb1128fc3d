//! The rules in `examples/rules` produce the same results as the rules of `SimplifyExpr`.

use std::fs;
use std::path::{Path, PathBuf};

use passdock::{Registry, RulesFile};

use crate::{module, run, support};

fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rules");
    let entries = fs::read_dir(dir).expect("the examples are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rules"));
    files.sort();
    files
}

fn read(registry: &Registry, name: &str) -> RulesFile {
    let file = files()
        .into_iter()
        .find(|file| file.file_stem().unwrap() == name);
    let text = fs::read_to_string(file.expect(name)).unwrap();
    let read = RulesFile::parse(&format!("{name}.rules"), &text).unwrap();
    read.check(&registry.op_defs()).unwrap();
    read
}

#[test]
fn example_rules_match_definitions() {
    let registry = support::registry();
    let names = files();
    let names = names
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap());
    let rules: usize = names.map(|name| read(&registry, name).rules().len()).sum();
    assert!(rules >= 30, "{rules}");
}

/// A rule, the function's signature, and a body that the rule applies to.
const CASES: [(&str, &str, &str); 32] = [
    (
        "sub_zero",
        "%x: f32[2]",
        "%c = const f32[] 0.0 %0 = onnx.Sub(%x, %c)",
    ),
    (
        "add_zero",
        "%x: f16[2]",
        "%c = const f16[1] [0.0] %0 = onnx.Add(%c, %x)",
    ),
    (
        "mul_one",
        "%x: bf16[2]",
        "%c = const bf16[] 1.0 %0 = onnx.Mul(%x, %c)",
    ),
    (
        "div_one",
        "%x: i64[2]",
        "%c = const i64[] 1 %0 = onnx.Div(%x, %c)",
    ),
    (
        "pow_one",
        "%x: f64[2]",
        "%c = const f64[] 1.0 %0 = onnx.Pow(%x, %c)",
    ),
    (
        "and_true",
        "%x: bool[2]",
        "%c = const bool[] true %0 = onnx.And(%x, %c)",
    ),
    (
        "or_false",
        "%x: bool[2]",
        "%c = const bool[] false %0 = onnx.Or(%x, %c)",
    ),
    (
        "where_true",
        "%x: f32[2], %y: f32[2]",
        "%c = const bool[2] [true, true] %0 = onnx.Where(%c, %x, %y)",
    ),
    (
        "where_false",
        "%x: f32[2], %y: f32[2]",
        "%c = const bool[2] [false, false] %0 = onnx.Where(%c, %y, %x)",
    ),
    (
        "where_same",
        "%c: bool[2], %x: f32[2]",
        "%0 = onnx.Where(%c, %x, %x)",
    ),
    ("min_same", "%x: f32[2]", "%0 = onnx.Max(%x, %x)"),
    ("min_one", "%x: f32[2]", "%0 = onnx.Mean(%x)"),
    ("sum_two", "%x: f32[2], %y: f32[2]", "%0 = onnx.Sum(%x, %y)"),
    (
        "neg_neg",
        "%x: f32[2]",
        "%1 = onnx.Neg(%x) %0 = onnx.Neg(%1)",
    ),
    (
        "not_not",
        "%x: bool[2]",
        "%1 = onnx.Not(%x) %0 = onnx.Not(%1)",
    ),
    (
        "idempotent_abs",
        "%x: f32[2]",
        "%1 = onnx.Abs(%x) %0 = onnx.Abs(%1)",
    ),
    (
        "idempotent_relu",
        "%x: f32[2]",
        "%1 = onnx.Relu(%x) %0 = onnx.Relu(%1)",
    ),
    (
        "idempotent_ceil",
        "%x: f32[2]",
        "%1 = onnx.Floor(%x) %0 = onnx.Ceil(%1)",
    ),
    (
        "idempotent_sign",
        "%x: f32[2]",
        "%1 = onnx.Sign(%x) %0 = onnx.Sign(%1)",
    ),
    (
        "abs_neg",
        "%x: f32[2]",
        "%1 = onnx.Neg(%x) %0 = onnx.Abs(%1)",
    ),
    (
        "relu_abs",
        "%x: f32[2]",
        "%1 = onnx.Abs(%x) %0 = onnx.Relu(%1)",
    ),
    (
        "view_of_same_shape",
        "%x: f32[2,3]",
        "%c = const i64[2] [2, 3] %0 = onnx.Reshape(%x, %c)",
    ),
    (
        "view_of_same_shape_by_attribute",
        "%x: f32[2,3]",
        "%0 = onnx.Flatten(%x) {axis = 1}",
    ),
    (
        "transpose_nothing",
        "%x: f32[2,3]",
        "%0 = onnx.Transpose(%x) {perm = [0, 1]}",
    ),
    (
        "transpose_twice",
        "%x: f32[2,3,4]",
        "%1 = onnx.Transpose(%x) {perm = [1, 2, 0]} %0 = onnx.Transpose(%1) {perm = [1, 2, 0]}",
    ),
    (
        "cast_of_same_dtype",
        "%x: f32[2], %y: f32[3]",
        "%0 = onnx.CastLike(%x, %y)",
    ),
    (
        "pad_nothing",
        "%x: f32[2]",
        "%c = const i64[2] [0, 0] %0 = onnx.Pad(%x, %c)",
    ),
    (
        "concat_one",
        "%x: f32[2]",
        "%0 = onnx.Concat(%x) {axis = 0}",
    ),
    (
        "slice_all",
        "%x: f32[2]",
        "%a = const i64[1] [0] %b = const i64[1] [2] %0 = onnx.Slice(%x, %a, %b)",
    ),
    (
        "slice_all_of_axes",
        "%x: f32[2]",
        "%a = const i64[1] [0] %b = const i64[1] [2] %c = const i64[1] [-1] %0 = onnx.Slice(%x, %a, %b, %c)",
    ),
    (
        "slice_all_by_ones",
        "%x: f32[2]",
        "%a = const i64[1] [0] %b = const i64[1] [2] %c = const i64[1] [0] %d = const i64[1] [1]
         %0 = onnx.Slice(%x, %a, %b, %c, %d)",
    ),
    (
        "tile_once",
        "%x: f32[2]",
        "%c = const i64[1] [1] %0 = onnx.Tile(%x, %c)",
    ),
];

#[test]
fn example_rules_match_simplify_expr() {
    let registry = support::registry();
    let files = ["arithmetic", "views"].map(|name| read(&registry, name));
    let names = files
        .iter()
        .flat_map(|file| file.rules())
        .map(|rule| rule.name.clone());
    let names: Vec<String> = names.collect();
    assert_eq!(names.len(), CASES.len());
    for file in files {
        registry.register(file.into_pass(None)).unwrap();
    }
    for (rule, params, body) in CASES {
        assert!(names.iter().any(|name| name == rule), "{rule}");
        // Other ops come first and last, so that neither is a parameter or a result.
        let source = module(
            &format!("({params}) -> (%r)"),
            &format!("{body} %last = onnx.Identity(%0) return %last"),
            20,
        );
        let with = |passes: &[&str], disabled: &[&str]| {
            passdock::testing::run_on_text(&registry, passes, &source, |cx| {
                cx.disabled_rule(disabled.iter().copied())
            })
        };
        let before = run(None, &source, |cx| cx);
        let infer = "relax.transform.InferType";
        let by_pass = with(&[infer, "relax.transform.SimplifyExpr"], &[]);
        let by_rules = with(&[infer, "rules.arithmetic", "rules.views"], &[]);
        assert_eq!(by_rules, by_pass, "{rule}");
        assert_ne!(by_rules, before, "{rule}: {before}");
        // The rule itself was applied.
        let without = with(&[infer, "rules.arithmetic", "rules.views"], &[rule]);
        assert_eq!(without, before, "{rule}");
    }
}
