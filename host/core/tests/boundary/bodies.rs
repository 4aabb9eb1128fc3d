//! Bodies from other functions: their meaning, their imports, and rejections before anything changes.

use expect_test::{Expect, expect};
use passdock_ir::text::{self, print_function};
use passdock_ir::verify::verify;
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{OpDef, Position};
use passdock_plugin_api::record::Capture;
use passdock_plugin_api::{EditError, PassContext};

use crate::support::{TestFrame, run};

mod operators {
    use super::*;
    passdock_plugin_api::prelude::plugin! {
        name: "operators",
        // `t.Soft` has another meaning since version 5. `t.New` was added in it.
        ops: [OpDef::new("t.Soft", 1), OpDef::new("t.Soft", 5), OpDef::new("t.Same", 1), OpDef::new("t.New", 5),
              OpDef::new("onnx.Soft", 1), OpDef::new("onnx.Soft", 5)],
    }
}

const MAIN: &str = "fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset(\"t\" = 4) \
                    { %c = const f32[1] [1.0] %y = t.Old(%x, %c) : f32[n,3] return %y }";

/// Runs a pass that edits `@main` with access to another function. Returns `@main`, or the errors.
fn edit_main(
    main: &str,
    other: &str,
    edit: impl Fn(&mut sdk::Function, &sdk::Function, &PassContext) -> Result<(), EditError>
    + Send
    + Sync
    + 'static,
) -> String {
    let module = text::parse(&format!("module {{ {main} {other} }}")).expect("a module");
    let frame = TestFrame::with_plugins(&[operators::PLUGIN]);
    let result = run(&module, &frame, move |f, cx| {
        let module = cx.module().expect("the module");
        let version = f.version();
        let result = edit(f, &module.snapshot("t.other")?, cx);
        let is_same = result.is_ok() || f.version() == version;
        assert!(is_same, "rejected before anything changes");
        Ok(result?)
    });
    match result {
        Ok(Some(changed)) => {
            verify(&changed).expect("a good function");
            print_function(&changed, &Default::default())
        }
        Ok(None) => "unchanged".to_owned(),
        Err(error) => error,
    }
}

#[track_caller]
fn check_replaced(other: &str, expected: Expect) {
    let printed = edit_main(MAIN, other, |f, other, _| f.replace_body(other));
    expected.assert_eq(&printed);
}

#[test]
fn replaced_body_uses_parameters_and_dims() {
    check_replaced(
        "fn @t.other(%a: f32[k,m]) -> (%b: f32[k,m]) opset(\"t\" = 9, \"u\" = 2) {
           %s = u.Own(%a) : f32[k,other]
           %b = t.Same(%s) : f32[k,m]
           return %b
         }",
        expect![[r#"
            fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("t" = 4, "u" = 2) {
              %s = u.Own(%x) : f32[n,?]
              %b = t.Same(%s) : f32[n,3]
              return %b
            }
        "#]],
    );
    check_replaced(
        "fn @t.other(%a: f32[n,3]) -> (%b) { return %a }",
        expect![[r#"
            fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("t" = 4) {
              return %x
            }
        "#]],
    );
}

#[test]
fn different_interface_is_rejected() {
    let cases = [
        "(%a: f32[n,3], %b) -> (%c) { return %a }",
        "(%a: f32[n,3]) -> (%c, %d) { return %a, %a }",
        "(%a: f32[n,3]) -> () { return }",
        "(%a: f32[n,4]) -> (%c) { return %a }",
        "(%a: f32[n]) -> (%c) { return %a }",
        "(%a: f32[n,3]) -> (%c: i64[n,3]) { %c = t.Cast(%a) return %c }",
        "(%a: seq<f32[n,3]>) -> (%c) { %c = t.First(%a) return %c }",
    ];
    let replace =
        |f: &mut sdk::Function, other: &sdk::Function, _: &PassContext| f.replace_body(other);
    let messages = cases.map(|case| edit_main(MAIN, &format!("fn @t.other{case}"), replace));
    expect![["
        failed: cannot replace the body of `@main` with that of `@t.other`: wrong number of parameters: expected 1, \
          found 2 [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: wrong number of results: expected 1, \
          found 2 [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: wrong number of results: expected 1, \
          found 0 [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: expected type `f32[n,3]` for parameter 0, \
          found `f32[n,4]` [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: expected type `f32[n,3]` for parameter 0, \
          found `f32[n]` [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: expected type `f32[n,3]` for result 0, \
          found `i64[n,3]` [main]
        failed: cannot replace the body of `@main` with that of `@t.other`: expected type `f32[n,3]` for parameter 0, \
          found `seq<f32[n,3]>` [main]"]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn ops_with_different_meaning_are_rejected() {
    let mut all = String::new();
    for (op, version) in [("Soft", 9), ("New", 9), ("Unknown", 3)] {
        let other = format!(
            "fn @t.other(%a: f32[n,3]) -> (%b) opset(\"t\" = {version}) {{ %b = t.{op}(%a) return %b }}"
        );
        let message = edit_main(MAIN, &other, |f, other, _| f.replace_body(other));
        let region = edit_main(MAIN, &other, |f, other, _| {
            let (at, x) = (Position::end_of(f.body()), f.params()[0]);
            f.clone_region_from(other, other.body(), at, &[x], &[])
                .map(|_| ())
        });
        let ops = edit_main(MAIN, &other, |f, other, _| {
            let at = Position::end_of(f.body());
            let capture = Capture {
                value: other.params()[0],
                replacement: f.params()[0],
            };
            let ops: Vec<_> = other.first_op(other.body()).into_iter().collect();
            f.clone_ops_from(other, &ops, at, &[capture]).map(|_| ())
        });
        assert!(
            message == region && message == ops,
            "{message}\n{region}\n{ops}"
        );
        all += &(message + "\n");
    }
    for (other_version, main_version) in [(1, 7), (7, 1)] {
        let main = MAIN.replace("\"t\" = 4", &format!("\"\" = {main_version}"));
        let other = format!(
            "fn @t.other(%a: f32[n,3]) -> (%b) opset(\"\" = {other_version}) {{ %b = onnx.Soft(%a) return %b }}"
        );
        let message = edit_main(&main, &other, |f, other, _| f.replace_body(other));
        all += &(message + "\n");
    }
    expect![["
        failed: `t.Soft` of `@t.other` (opset 9) differs in meaning in `@main` (opset 4): its version is 5 in \
          `@t.other` and 1 in `@main` [main]
        failed: `t.New` of `@t.other` (opset 9) differs in meaning in `@main` (opset 4): opset 4 does not have it \
          [main]
        failed: `t.Unknown` of `@t.other` (opset 3) differs in meaning in `@main` (opset 4): no plugin defines it \
          in both versions [main]
        failed: `onnx.Soft` of `@t.other` (opset 1) differs in meaning in `@main` (opset 7): its version is 1 in \
          `@t.other` and 5 in `@main`; run `relax.transform.RaiseOpset` with `to = 7` on `@t.other` first [main]
        failed: `onnx.Soft` of `@t.other` (opset 7) differs in meaning in `@main` (opset 1): its version is 5 in \
          `@t.other` and 1 in `@main`; run `relax.transform.RaiseOpset` with `to = 7` on `@main` first [main]
    "]].assert_eq(&all);
}

#[test]
fn body_of_other_opset_is_accepted_if_equivalent() {
    let with = |text: &'static str| {
        edit_main(MAIN, "fn @t.other() { return }", move |f, _, cx| {
            cx.replace_body(f, text)
        })
    };
    let same = "fn @f(%x) opset(\"t\" = 9, \"u\" = 2) { %a = t.Same(%x) %b = u.Own(%a) return %b }";
    expect![[r#"
        fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("t" = 4, "u" = 2) {
          %c = const f32[1] [1.0]
          %0 = t.Same(%x)
          %1 = u.Own(%0)
          return %1
        }
    "#]]
    .assert_eq(&with(same));
    let other = "fn @f(%x) opset(\"t\" = 9) { %a = t.Soft(%x) return %a }";
    expect!["failed: the body of op1 (return) does not match the op: `t.Soft` of `@f` (opset 9) differs in meaning in \
            `@main` (opset 4): its version is 5 in `@f` and 1 in `@main` [main, op1 (return)]"].assert_eq(&with(other));
    let no_opset = "fn @f(%x) { %a = u.Own(%x) return %a }";
    expect!["failed: the body of op1 (return) does not match the op: the function has no opset for the domain of \
            `u.Own` [main, op1 (return)]"].assert_eq(&with(no_opset));
}
