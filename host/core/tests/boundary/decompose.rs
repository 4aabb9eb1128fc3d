//! Attributes and bodies of ops: a definition lists the former and returns the latter.

use expect_test::{Expect, expect};
use passdock_ir::text;
use passdock_ir::verify::verify;
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{AttrDef, AttrDefault, OpCall, OpDef, OpResult, attrs, plugin};
use passdock_plugin_api::{Attr, PassContext, PassResult};

use crate::support::{TestFrame, run};

const SCALED_ADD: OpDef = OpDef::new("t.ScaledAdd", 1)
    .operands(1, 2)
    .attrs(attrs![scale: float = 2.0])
    .decompose(scaled_add);

fn scaled_add(call: &OpCall) -> OpResult {
    if call.operand_count() == 2 && call.operand(1).is_none() {
        return Err("nothing is added".into());
    }
    let scale = match call.attr(call.op(), "scale") {
        Some(Attr::Float(scale)) => scale,
        _ => 2.0,
    };
    call.set_body(&format!(
        "fn @body(%x, %y) {{
            %scale = onnx.Constant() {{value_float = {scale:?}}}
            %scaled = onnx.Mul(%x, %scale)
            %sum = onnx.Add(%scaled, %y)
            return %sum, %scaled
        }}"
    ))?;
    Ok(())
}

/// Its body is the attribute `body`.
const AS_TOLD: OpDef = OpDef::new("t.AsTold", 1).decompose(as_told);

fn as_told(call: &OpCall) -> OpResult {
    if let Some(Attr::String(body)) = call.attr(call.op(), "body") {
        call.set_body(std::str::from_utf8(body).map_err(|e| e.to_string())?)?;
    }
    Ok(())
}

const BROKEN: OpDef = OpDef::new("t.Broken", 1).decompose(broken);

fn broken(_call: &OpCall) -> OpResult {
    panic!("oh")
}

const BODY_IN_INFER: OpDef = OpDef::new("t.Infers", 1).infer(body_in_infer);

fn body_in_infer(call: &OpCall) -> OpResult {
    call.set_body("fn @f() { return }")?;
    Ok(())
}

const NEEDS: OpDef = OpDef::new("t.Needs", 1).attrs(attrs![to: required int]);

plugin! {
    name: "bodies",
    ops: [SCALED_ADD, AS_TOLD, BROKEN, BODY_IN_INFER, NEEDS],
}

/// Replaces each op that has a body with its body.
fn decompose(f: &mut sdk::Function, cx: &PassContext) -> PassResult {
    for op in f.walk(f.body()).collect::<Vec<_>>() {
        if let Some(values) = cx.decompose(f, op)? {
            f.replace_op_with(op, &values)?;
        }
    }
    Ok(())
}

fn decomposed(function: &str) -> Result<String, String> {
    let module = text::parse(&format!("module {{ {function} }}")).map_err(|e| e.to_string())?;
    let changed = run(&module, &TestFrame::with_ops_of(PLUGIN), decompose)?;
    let Some(changed) = changed else {
        return Err("unchanged".to_owned());
    };
    verify(&changed).expect("a good function");
    Ok(text::print_function(
        &changed,
        &text::PrintOptions::default(),
    ))
}

#[track_caller]
fn check(function: &str, expected: Expect) {
    expected.assert_eq(&decomposed(function).unwrap_or_else(|error| error));
}

#[track_caller]
fn check_body(body: &str, expected: Expect) {
    let header = "fn @main(%x: f32[2]) -> (%y) opset(\"\" = 13, \"t\" = 1)";
    check(
        &format!("{header} {{ %y, _ = t.AsTold(%x, _) {{body = {body:?}}} return %y }}"),
        expected,
    );
}

#[test]
fn body_replaces_its_op() {
    check(
        r#"fn @main(%x: f32[2], %z: f32[2]) -> (%y) opset("" = 13, "t" = 1) {
            %y = t.ScaledAdd(%x, %z) {scale = 0.5} : f32[2] loc("here")
            return %y
        }"#,
        expect![[r#"
            fn @main(%x: f32[2], %z: f32[2]) -> (%y) opset("" = 13, "t" = 1) {
              %0 = onnx.Constant() {value_float = 0.5} loc("here")
              %1 = onnx.Mul(%x, %0) loc("here")
              %y = onnx.Add(%1, %z) : f32[2] loc("here")
              return %y
            }
        "#]],
    );
}

#[test]
fn mismatched_body_is_rejected() {
    // The op has one operand, the body two parameters.
    check(
        "fn @main(%x: f32[2]) -> (%y) { %y = t.ScaledAdd(%x) return %y }",
        expect![
            "failed: the body of op0 (t.ScaledAdd) does not match the op: wrong number of parameters: expected 1, \
                found 2 [main, op0 (t.ScaledAdd)]"
        ],
    );
    check_body(
        "fn @f(%a, %b) { %0 = onnx.Relu(%b) return %0, %0 }",
        expect![
            "failed: the body of op0 (t.AsTold) does not match the op: it uses operand 1, which the op omits [main, \
                op0 (t.AsTold)]"
        ],
    );
    check_body(
        "fn @f(%a, %b) { %0 = onnx.Relu(%a) return %0 }",
        expect![
            "failed: the body of op0 (t.AsTold) does not match the op: expected 2 results, found 1 [main, op0 \
                (t.AsTold)]"
        ],
    );
    check_body(
        "fn @f(%a, %b) opset(\"\" = 14) { return %a, %a }",
        expect![[r#"
            fn @main(%x: f32[2]) -> (%y) opset("" = 13, "t" = 1) {
              return %x
            }
        "#]],
    );
    check_body(
        "fn @f(%a, %b) opset(\"u\" = 1) { return %a, %a }",
        expect![[r#"
            fn @main(%x: f32[2]) -> (%y) opset("" = 13, "t" = 1) {
              return %x
            }
        "#]],
    );
    check_body(
        "fn @f(%a, %b) { %0 = u.Relu(%a) return %0, %0 }",
        expect![
            "failed: the body of op0 (t.AsTold) does not match the op: the function has no opset for the domain of \
                `u.Relu` [main, op0 (t.AsTold)]"
        ],
    );
    check_body(
        "fn @f(%a, %b) { %0 = onnx.Relu(%c) return %0 }",
        expect![
            "failed: could not parse the body of op0 (t.AsTold): 1:32: unknown value `%c`; did you mean `%a`? [main, \
                op0 (t.AsTold)]"
        ],
    );
    check_body(
        "fn @f(%a, %b) { return %a, %a } fn @g() { return }",
        expect![
            "failed: could not parse the body of op0 (t.AsTold): 1:33: expected end of input after the function, \
                found `fn` [main, op0 (t.AsTold)]"
        ],
    );
    check_body(
        "prim @f(%a, %b) { return %a, %a }",
        expect![
            "failed: could not parse the body of op0 (t.AsTold): 1:1: expected a function (`fn @body(…) {`), found \
                `prim` [main, op0 (t.AsTold)]"
        ],
    );
}

#[test]
fn body_may_return_its_parameters() {
    check_body(
        "fn @f(%a, %b) opset(\"\" = 13) { return %a, %a }",
        expect![[r#"
            fn @main(%x: f32[2]) -> (%y) opset("" = 13, "t" = 1) {
              return %x
            }
        "#]],
    );
}

#[test]
fn op_without_body_is_unchanged() {
    for op in [
        "u.A(%x)",
        "t.ScaledAdd(%x, _)",
        "t.AsTold(%x)",
        "t.Infers(%x)",
    ] {
        let function = format!("fn @main(%x: f32[2]) {{ %0 = {op} return %0 }}");
        assert_eq!(decomposed(&function), Err("unchanged".to_owned()), "{op}");
    }
}

#[test]
fn panic_in_definition_is_an_error() {
    check(
        "fn @main(%x: f32[2]) { %0 = t.Broken(%x) return %0 }",
        expect![
            "failed: the definition of op0 (t.Broken) of plugin `bodies` (built in) failed: panicked at \
                host/core/tests/boundary/decompose.rs:49:5: oh [main, op0 (t.Broken)]"
        ],
    );
}

#[test]
fn body_in_infer_is_rejected() {
    let function = "module { fn @main(%x: f32[2]) { %0 = t.Infers(%x) return %0 } }";
    let module = text::parse(function).expect("valid IR");
    let result = run(&module, &TestFrame::with_ops_of(PLUGIN), |f, cx| {
        let op = f.ops_named("t.Infers").next().ok_or("no op")?;
        Ok(cx.infer(f, op)?)
    });
    expect![
        "failed: op0 (t.Infers) is invalid: only `decompose`, `layout` and `alter_layout` of a \
            definition can set a body [main, op0 (t.Infers)]"
    ]
    .assert_eq(&result.expect_err("`infer` must not set a body"));
}

/// Returns the errors about the ops that have a definition.
fn check_op(ops: &str) -> String {
    let function = format!("module {{ fn @main(%x: f32[2]) {{ {ops} return %x }} }}");
    let module = text::parse(&function).expect("valid IR");
    let result = run(&module, &TestFrame::with_ops_of(PLUGIN), |f, cx| {
        let errors: Vec<String> = f
            .walk(f.body())
            .filter_map(|op| Some(cx.check_op(f, op).err()?.message))
            .collect();
        Err(errors.join("\n").into())
    });
    result.expect_err("the pass fails")
}

#[test]
fn operands_and_attributes_are_checked() {
    expect![["
        failed: unknown attribute `scales` of t.ScaledAdd; did you mean `scale`?
        expected attribute `scale` of t.ScaledAdd to be of type float, found int; unknown attribute `mode` of \
          t.ScaledAdd
        missing attribute `to` of t.Needs
        t.ScaledAdd expects 1 to 2 operands, found 0 [main]"]].assert_eq(&check_op(
        "%0 = t.ScaledAdd(%x, %x) {scale = 0.5}
         %1 = t.ScaledAdd(%x, %x)
         %2 = t.ScaledAdd(%x, %x) {scales = 0.5}
         %3 = t.ScaledAdd(%x, %x) {scale = 1, mode = \"fast\"}
         %4 = t.AsTold(%x) {anything = 1}
         %5 = t.Needs() {}
         %6 = t.Needs() {to = 1}
         %7 = t.ScaledAdd()",
    ));
}

#[test]
fn attrs_macro_creates_definitions() {
    const ALL: &[AttrDef] = attrs![
        /// Along it.
        axis: int = -1,
        to: required int,
        type: type,
        perm: ints = [1, 0],
        names: strings = ["a", "b"],
    ];
    let attributes: Vec<String> = ALL.iter().map(|attr| format!("{attr:?}")).collect();
    expect![[r#"
        AttrDef { name: "axis", kind: AttrKind(1), required: false, default: Some(Int(-1)), doc: " Along it." }
        AttrDef { name: "to", kind: AttrKind(1), required: true, default: None, doc: "" }
        AttrDef { name: "type", kind: AttrKind(5), required: false, default: None, doc: "" }
        AttrDef { name: "perm", kind: AttrKind(7), required: false, default: Some(Ints([1, 0])), doc: "" }
        AttrDef { name: "names", kind: AttrKind(9), required: false, default: Some(Strings(["a", "b"])), doc: "" }"#]]
    .assert_eq(&attributes.join("\n"));
    assert_eq!(ALL[3].default, Some(AttrDefault::Ints(&[1, 0])));
}
