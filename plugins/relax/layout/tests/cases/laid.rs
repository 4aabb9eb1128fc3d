//! What the files of cases share: a body, in the layouts that are asked for.

use expect_test::Expect;
use passdock::Registry;
use passdock_plugin_api::OptionValue;

use crate::support;

const INFER: &str = "relax.transform.InferType";
const CONVERT: &str = "relax.transform.ConvertLayout";
const ALTER: &str = "relax.transform.AlterOpLayout";

/// Brings `@main` into layouts, `onnx.Conv NHWC default; onnx.MaxPool NHWC`, and compares what becomes of its body. A second
/// run has to change nothing, and so has a run in which the layouts are the operators' own.
#[track_caller]
pub(crate) fn check(desired: &str, params: &str, body: &str, expected: Expect) {
    check_of(17, desired, params, body, expected);
}

/// As [`check`], of an opset version.
#[track_caller]
pub(crate) fn check_of(opset: i64, desired: &str, params: &str, body: &str, expected: Expect) {
    let registry = support::registry();
    let source = source_of(opset, params, body);
    let run = |passes: &[&str], own: bool| run(&registry, passes, &source, desired, own);
    let once = run(&[INFER, CONVERT], false);
    assert_eq!(once, run(&[INFER, CONVERT, CONVERT], false));
    assert_eq!(run(&[INFER], false), run(&[INFER, CONVERT], true));
    expected.assert_eq(&main_of(&once));
}

/// As [`check`]; it has to leave all as it is.
#[track_caller]
pub(crate) fn check_stays(desired: &str, params: &str, body: &str) {
    let registry = support::registry();
    let source = source(params, body);
    let run = |passes: &[&str]| run(&registry, passes, &source, desired, false);
    assert_eq!(run(&[INFER]), run(&[INFER, CONVERT]));
}

/// Brings `@main` into the layouts that the definitions of a vendor's plugin want, without which nothing changes.
#[track_caller]
pub(crate) fn check_altered(registry: &Registry, params: &str, body: &str, expected: Expect) {
    let source = source(params, body);
    let run = |passes: &[&str]| run(registry, passes, &source, "", false);
    let once = run(&[INFER, ALTER]);
    assert_eq!(once, run(&[INFER, ALTER, ALTER]));
    let nobody = support::registry();
    let without = |passes: &[&str]| self::run(&nobody, passes, &source, "", false);
    assert_eq!(without(&[INFER]), without(&[INFER, ALTER]));
    expected.assert_eq(&main_of(&once));
}

/// What [`check`] compares, with the functions.
pub(crate) fn whole(desired: &str, params: &str, body: &str) -> String {
    let source = source(params, body);
    run(
        &support::registry(),
        &[INFER, CONVERT],
        &source,
        desired,
        false,
    )
}

fn source(params: &str, body: &str) -> String {
    source_of(17, params, body)
}

fn source_of(opset: i64, params: &str, body: &str) -> String {
    format!(r#"module {{ fn @main({params}) opset("" = {opset}, "acme" = 1) {{ {body} }} }}"#)
}

fn run(registry: &Registry, passes: &[&str], source: &str, desired: &str, own: bool) -> String {
    let text = passdock::testing::run_on_text(registry, passes, source, |context| {
        let desired = desired.split(';').filter(|one| !one.trim().is_empty());
        let desired = desired.map(|one| {
            let mut words = one.split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            let word = |word: &str| OptionValue::String(if own { "default" } else { word }.into());
            (name, OptionValue::List(words.map(word).collect()))
        });
        let desired = OptionValue::Table(desired.collect());
        let options = OptionValue::Table(vec![("desired_layouts".to_owned(), desired)]);
        context.config("relax.ConvertLayout", options)
    });
    assert!(text.starts_with("module"), "{text}");
    text
}

/// The lines of `@main`, without the constants that nobody asked for.
fn main_of(text: &str) -> String {
    let lines = text.lines().skip(2).take_while(|line| *line != "  }");
    lines.map(|line| format!("{}\n", line.trim())).collect()
}
