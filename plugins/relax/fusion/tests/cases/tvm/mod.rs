//! The cases of TVM's own tests, in ONNX's operators: which ops become one. What ONNX has no word for is said by the nearest one.

mod relax_fuse_ops;
mod relax_patterns;
mod relax_regions;
mod relay_annotate;
mod relay_fuse_ops;
mod relay_partition;
mod relay_regions;

use std::collections::HashMap;

use passdock_plugin_api::OptionValue;

use crate::support;

const INFER: &str = "relax.transform.InferType";
const FUSE: &str = "relax.transform.FuseOps";
const FIND: &str = "relax.transform.FuseOpsByPattern";
const ANNOTATE: &str = "relax.transform.AnnotateTarget";
const MERGE: &str = "relax.transform.MergeRegions";
const PARTITION: &str = "relax.transform.PartitionGraph";

/// Fuses the ops of `@main`, and compares the kernels that it calls, by their ops. A second run has to change nothing.
#[track_caller]
fn check_fused(params: &str, body: &str, kernels: &[&str]) {
    check_fused_within("max_depth = 256", params, body, kernels);
}

/// As [`check_fused`], with options.
#[track_caller]
fn check_fused_within(options: &str, params: &str, body: &str, kernels: &[&str]) {
    let run = |text: &str| support::run_options(FUSE, options, text);
    let once = run(&typed(params, body));
    assert_eq!(once, run(&once));
    assert_eq!(groups(&once, "Primitive"), kernels, "{once}");
}

/// Looks for patterns in `@main`, and compares the functions that it calls then. A second run has to change nothing.
#[track_caller]
fn check_found(options: &str, params: &str, body: &str, found: &[&str]) {
    let run = |text: &str| support::run_options(FIND, options, text);
    let once = run(&typed(params, body));
    assert_eq!(once, run(&once));
    assert_eq!(groups(&once, "Composite"), found, "{once}");
}

/// Divides `@main` among targets, each with the names of the ops that it takes, and compares the partitions.
#[track_caller]
fn check_merged(targets: &[(&str, &str)], params: &str, body: &str, partitions: &[&str]) {
    check_divided(&[MERGE, PARTITION], targets, params, body, partitions);
}

/// As [`check_merged`], but what targets take isn't put together.
#[track_caller]
fn check_partitioned(targets: &[(&str, &str)], params: &str, body: &str, partitions: &[&str]) {
    check_divided(&[PARTITION], targets, params, body, partitions);
}

#[track_caller]
fn check_divided(
    passes: &[&str],
    targets: &[(&str, &str)],
    params: &str,
    body: &str,
    partitions: &[&str],
) {
    let registry = support::registry();
    let mut text = typed(params, body);
    for (target, ops) in targets {
        let ops = ops.split(' ').map(|op| OptionValue::String(op.to_owned()));
        let options = vec![
            (
                "target".to_owned(),
                OptionValue::String((*target).to_owned()),
            ),
            ("ops".to_owned(), OptionValue::List(ops.collect())),
        ];
        text = passdock::testing::run_on_text(&registry, &[ANNOTATE], &text, |context| {
            context.config("relax.AnnotateTarget", OptionValue::Table(options.clone()))
        });
    }
    let made = passdock::testing::run_on_text(&registry, passes, &text, |context| context);
    assert_eq!(groups(&made, "Codegen"), partitions, "{made}");
}

/// A module of this function, with types.
#[track_caller]
fn typed(params: &str, body: &str) -> String {
    let source =
        format!(r#"module {{ fn @main({params}) opset("" = 20, "acme" = 1) {{ {body} }} }}"#);
    let text = support::run(INFER, &source);
    assert!(text.starts_with("module"), "{text}");
    text
}

/// The functions with an attribute that others call, call by call, each as the names of its ops.
fn groups(text: &str, mark: &str) -> Vec<String> {
    let (mut callers, mut groups) = (Vec::new(), HashMap::new());
    for function in text.split("  fn @").skip(1) {
        let (head, body) = function.split_once('\n').unwrap_or((function, ""));
        let name = head.split('(').next().unwrap_or_default();
        let made = body.lines().filter_map(|line| line.split_once(" = "));
        let ops: Vec<&str> = made
            .filter_map(|(_, op)| Some(op.split_once('(')?.0))
            .collect();
        match head.contains(&format!("{mark} = ")) {
            true => {
                let own = ops.iter().map(|op| op.rsplit('.').next().unwrap_or(op));
                _ = groups.insert(name, own.collect::<Vec<_>>().join(" "));
            }
            false => callers.push(ops),
        }
    }
    let calls = callers.iter().flatten();
    calls.filter_map(|op| groups.get(op).cloned()).collect()
}
