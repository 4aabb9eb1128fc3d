//! Outlining and inlining by a plugin, which is linked in and loaded.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use expect_test::{Expect, expect};
use passdock::testing::{run_on_text, run_with_options};
use passdock::{LoadOptions, Registry};
use passdock_tests::{library, standard_registry};

const EVERY: &str = "outliner.transform.OutlineEvery";
const INLINE: &str = "relax.transform.InlineFunctions";

fn registry() -> Registry {
    let registry = standard_registry();
    registry
        .load_static(passdock_test_plugins::outliner::PLUGIN)
        .expect("a good plugin");
    registry
}

#[track_caller]
fn check(passes: &[&str], source: &str, expected: Expect) {
    let linked = run_on_text(&registry(), passes, source, |context| context);
    let registry = standard_registry();
    registry
        .load_plugin(&library("passdock_outliner"), &LoadOptions::default())
        .expect("a plugin");
    let loaded = run_on_text(&registry, passes, source, |context| context);
    assert_eq!(linked, loaded);
    expected.assert_eq(&loaded);
}

const LAYERS: &str = r#"module {
  fn @main(%x: f32[n,8], %w: f32[8]) -> (%y: f32[n,8]) opset("" = 17) {
    %half = const f32[1] [0.5]
    %s = onnx.Mul(%x, %half) : f32[n,8] loc("enc/l.0/scale")
    %a = onnx.Add(%s, %w) : f32[n,8] loc("enc/l.0/add")
    %g = onnx.Relu(%a) : f32[n,8] loc("enc/l.0/relu")
    %b = onnx.Add(%g, %w) : f32[n,8] loc("enc/l.1/add")
    %h = onnx.Relu(%b) : f32[n,8] loc("enc/l.1/relu")
    %o = onnx.Sub(%h, %g) : f32[n,8] loc("residual")
    %q = onnx.Neg(%o) : f32[n,8] loc("enc/l.1/late")
    return %q
  }
}
"#;

#[test]
fn contiguous_blocks_are_outlined() {
    check(
        &["outliner.transform.OutlineBlocks"],
        LAYERS,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8], %w: f32[8]) -> (%y: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %g = blocks.enc_l_0(%x, %w) : f32[n,8]
                %b = onnx.Add(%g, %w) : f32[n,8] loc("enc/l.1/add")
                %h = onnx.Relu(%b) : f32[n,8] loc("enc/l.1/relu")
                %o = onnx.Sub(%h, %g) : f32[n,8] loc("residual")
                %q = onnx.Neg(%o) : f32[n,8] loc("enc/l.1/late")
                return %q
              }
              fn @blocks.enc_l_0(%x: f32[n,8], %w: f32[8]) -> (%g: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %half = const f32[1] [0.5]
                %s = onnx.Mul(%x, %half) : f32[n,8] loc("enc/l.0/scale")
                %a = onnx.Add(%s, %w) : f32[n,8] loc("enc/l.0/add")
                %g = onnx.Relu(%a) : f32[n,8] loc("enc/l.0/relu")
                return %g
              }
            }
        "#]],
    );
}

#[test]
fn duplicate_function_names_are_numbered() {
    let twice = LAYERS
        .replace("l.1/late", "l.2/late")
        .replace("enc/l.1", "enc/l_0");
    check(
        &["outliner.transform.OutlineBlocks"],
        &twice,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8], %w: f32[8]) -> (%y: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %g = blocks.enc_l_0(%x, %w) : f32[n,8]
                %h = blocks.enc_l_0_1(%g, %w) : f32[n,8]
                %o = onnx.Sub(%h, %g) : f32[n,8] loc("residual")
                %q = blocks.enc_l_2(%o) : f32[n,8]
                return %q
              }
              fn @blocks.enc_l_0(%x: f32[n,8], %w: f32[8]) -> (%g: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %half = const f32[1] [0.5]
                %s = onnx.Mul(%x, %half) : f32[n,8] loc("enc/l.0/scale")
                %a = onnx.Add(%s, %w) : f32[n,8] loc("enc/l.0/add")
                %g = onnx.Relu(%a) : f32[n,8] loc("enc/l.0/relu")
                return %g
              }
              fn @blocks.enc_l_0_1(%g: f32[n,8], %w: f32[8]) -> (%h: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %b = onnx.Add(%g, %w) : f32[n,8] loc("enc/l_0/add")
                %h = onnx.Relu(%b) : f32[n,8] loc("enc/l_0/relu")
                return %h
              }
              fn @blocks.enc_l_2(%o: f32[n,8]) -> (%q: f32[n,8]) opset("" = 17, "blocks" = 1) {
                %q = onnx.Neg(%o) : f32[n,8] loc("enc/l.2/late")
                return %q
              }
            }
        "#]],
    );
}

/// A name is in use if the module has a function with it, or an op that such a function would turn into a call. Changes
/// of another copy of the module don't matter.
#[test]
fn names_in_other_module_copies_are_ignored() {
    let (registry, one) = (registry(), "outliner.transform.OutlineBlocks");
    let module = passdock_ir::text::parse(LAYERS).expect("a module");
    let context = passdock::PassContext::builder().registry(&registry);
    let context = context.build().expect("a context");
    let pass = registry.get_pass(one).expect("a pass");
    let run = || {
        let created =
            context.scope(|_| passdock::Sequential::new([pass.clone()]).call(module.clone()));
        passdock_ir::text::print(&created.expect("it runs"))
    };
    let (first, second) = (run(), run());
    assert!(first.contains("fn @blocks.enc_l_0("), "{first}");
    assert_eq!(first, second);

    let unknown = LAYERS.replace("onnx.Neg", "blocks.enc_l_0");
    let created = run_on_text(&registry, &[one], &unknown, |context| context);
    assert!(created.contains("fn @blocks.enc_l_0_1("), "{created}");
    assert!(!created.contains("fn @blocks.enc_l_0("), "{created}");
}

/// Regions, constants in regions, tensors in attributes, expressions, omitted results.
const KINDS: &str = r#"module {
  fn @main(%c: bool[], %x: f32[n,n*2]) -> (%first: f32[n,n*2], %last: f32[*]) opset("" = 17, "every" = 1) {
    %two = const f32[1] [2.0]
    %inner = const f32[1] [3.0]
    %m = onnx.Mul(%x, %two) : f32[n,n*2] loc("mul")
    %r = onnx.Scale(%m) {like = tensor f32[2] [1.0, 2.0], of = type seq<f32[n*2+1]>} : f32[n,n*2]
    %d, _ = onnx.Dropout(%r, _, _) : f32[n,n*2], ? loc("drop", "second")
    %i = onnx.If(%c) {then_branch = region, else_branch = region} : f32[n,n*2] loc("if")
      region then_branch -> (%taken) {
        %p = onnx.Sub(%d, %inner) : f32[n,n*2]
        %q = onnx.Exp(%p) : f32[n,n*2]
        %t = onnx.Abs(%q) : f32[n,n*2]
        yield %t
      }
      region else_branch -> (%e) {
        %own = const f32[1,2] [4.0, 5.0]
        yield %own
      }
    %u = acme.Unknown(%i)
    %y = onnx.Add(%i, %two) : f32[n,n*2]
    return %y, %u
  }
}
"#;

/// Outlining and then inlining a function yields the original.
#[test]
fn outlining_and_inlining_round_trips() {
    let plain = run_on_text(&registry(), &[], KINDS, |context| context);
    let twice = "outliner.transform.CopyBack,outliner.transform.CopyBack";
    for back in [INLINE, twice] {
        for count in 1..=6 {
            let outlined = run_with_options(&registry(), EVERY, &format!("count = {count}"), KINDS);
            assert!(outlined.contains("fn @every.Group"), "{outlined}");
            let passes: Vec<&str> = back.split(',').collect();
            let again = run_on_text(&registry(), &passes, &outlined, |context| context);
            let (main, _) = again.split_once("  fn @every").unwrap_or((&again, ""));
            // Copies are named while the results of the calls still have the names.
            let main = match back {
                INLINE => main.to_owned(),
                _ => main.replace("_1", "") + "}\n",
            };
            assert_eq!(main, plain, "{count}, {back}");
        }
    }
}

#[test]
fn groups_of_two_ops_are_outlined() {
    check(
        &[EVERY],
        KINDS,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[n,n*2]) -> (%first: f32[n,n*2], %last: f32[*]) opset("" = 17, "every" = 1) {
                %two = const f32[1] [2.0]
                %r = every.Group_2(%x, %two) : f32[n,n*2]
                %i = every.Group_3(%r, %c) : f32[n,n*2]
                %u, %y = every.Group_4(%i, %two) : ?, f32[n,n*2]
                return %y, %u
              }
              fn @every.Group(%d: f32[n,n*2]) -> (%q: f32[n,n*2]) opset("" = 17, "every" = 1) {
                %inner = const f32[1] [3.0]
                %p = onnx.Sub(%d, %inner) : f32[n,n*2]
                %q = onnx.Exp(%p) : f32[n,n*2]
                return %q
              }
              fn @every.Group_1(%q: f32[n,n*2]) -> (%t: f32[n,n*2]) opset("" = 17, "every" = 1) {
                %t = onnx.Abs(%q) : f32[n,n*2]
                return %t
              }
              fn @every.Group_2(%x: f32[n,n*2], %two: f32[1]) -> (%r: f32[n,n*2]) opset("" = 17, "every" = 1) {
                %m = onnx.Mul(%x, %two) : f32[n,n*2] loc("mul")
                %r = onnx.Scale(%m) {like = tensor f32[2] [1.0, 2.0], of = type seq<f32[n*2+1]>} : f32[n,n*2]
                return %r
              }
              fn @every.Group_3(%r: f32[n,n*2], %c: bool[]) -> (%i: f32[n,n*2]) opset("" = 17, "every" = 1) {
                %d, _ = onnx.Dropout(%r, _, _) : f32[n,n*2], ? loc("drop", "second")
                %i = onnx.If(%c) {then_branch = region, else_branch = region} : f32[n,n*2] loc("if")
                  region then_branch -> (%taken) {
                    %q = every.Group(%d) : f32[n,n*2]
                    %t = every.Group_1(%q) : f32[n,n*2]
                    yield %t
                  }
                  region else_branch -> (%e) {
                    %own = const f32[1,2] [4.0, 5.0]
                    yield %own
                  }
                return %i
              }
              fn @every.Group_4(%i: f32[n,n*2], %two: f32[1]) -> (%u, %y: f32[n,n*2]) opset("" = 17, "every" = 1) {
                %u = acme.Unknown(%i)
                %y = onnx.Add(%i, %two) : f32[n,n*2]
                return %u, %y
              }
            }
        "#]],
    );
}
