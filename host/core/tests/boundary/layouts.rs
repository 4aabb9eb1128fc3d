//! Ops in other layouts: a definition provides bodies, and a pass inserts them.

use expect_test::{Expect, expect};
use passdock_ir::text;
use passdock_ir::verify::verify;
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{OpCall, OpDef, OpResult, plugin};
use passdock_plugin_api::{Attr, PassContext, PassResult, ValueId};

use crate::support::{TestFrame, run};

const NHWC: &str = "NCHW->NHWC";

/// Accepts its data in NHWC on request, and always prefers blocks of 4.
const POOL: OpDef = OpDef::new("t.Pool", 1)
    .layout(pool_in)
    .alter_layout(pool_in_blocks)
    .decompose(pool_of_two);

fn pool_in(call: &OpCall) -> OpResult {
    if call.requested_layout(0) != Some(NHWC) {
        return Err("it is only known in NHWC".into());
    }
    assert_eq!(call.requested_layout(1), None);
    call.set_operand_layout(0, NHWC)?;
    call.set_result_layout(0, NHWC)?;
    set_body(call, "%y = t.PoolNHWC(%x, %mask)")
}

fn pool_in_blocks(call: &OpCall) -> OpResult {
    call.set_operand_layout(0, "NCHW->NCHW4c")?;
    set_body(call, "%y = t.PoolBlocks(%x, %mask)")
}

fn pool_of_two(call: &OpCall) -> OpResult {
    set_body(call, "%m = t.Mask(%x, %mask) %y = t.Max(%m)")
}

/// Sets ops as the body, without the mask operand if the op has none.
fn set_body(call: &OpCall, ops: &str) -> OpResult {
    let ops = match call.operand(1) {
        Some(_) => ops.to_owned(),
        None => ops.replace("%mask", "_"),
    };
    call.set_body(&format!("fn @body(%x, %mask) {{ {ops} return %y }}"))?;
    Ok(())
}

/// Misbehaves in the way that its attribute `does` selects.
const ODD: OpDef = OpDef::new("t.Odd", 1).layout(odd).infer(in_infer);

fn odd(call: &OpCall) -> OpResult {
    match call.attr(call.op(), "does") {
        Some(Attr::String(b"no such operand")) => call.set_operand_layout(7, NHWC)?,
        Some(Attr::String(b"no such result")) => call.set_result_layout(1, NHWC)?,
        Some(Attr::String(b"too long")) => call.set_result_layout(0, &"N".repeat(5000))?,
        Some(Attr::String(b"panics")) => panic!("oh"),
        Some(Attr::String(b"answers nothing")) => {}
        _ => call.set_body("fn @body(%x) { return %x, %x }")?,
    }
    Ok(())
}

fn in_infer(call: &OpCall) -> OpResult {
    assert_eq!(call.requested_layout(0), None);
    call.set_result_layout(0, NHWC)?;
    Ok(())
}

plugin! {
    name: "layouts",
    ops: [POOL, ODD],
}

fn source(op: &str) -> String {
    format!(
        "module {{ fn @main(%x: f32[2, 3, 4, 5]) -> (%y) opset(\"\" = 13, \"t\" = 1) {{
            %y = {op} loc(\"here\")
            return %y
        }} }}"
    )
}

/// Runs a pass on a function with one op, and prints the result.
#[track_caller]
fn check(
    op: &str,
    pass: impl Fn(&mut sdk::Function, &PassContext) -> PassResult + Send + Sync + 'static,
    expected: Expect,
) {
    let module = text::parse(&source(op)).expect("a module");
    let result = match run(&module, &TestFrame::with_ops_of(PLUGIN), pass) {
        Ok(None) => "unchanged".to_owned(),
        Ok(Some(changed)) => {
            verify(&changed).expect("a good function");
            text::print_function(&changed, &text::PrintOptions::default())
        }
        Err(error) => error,
    };
    expected.assert_eq(&result);
}

/// Replaces the op with its body in the wanted layouts, and reports the resulting layouts.
fn convert_layout(
    wanted: &'static [&'static str],
) -> impl Fn(&mut sdk::Function, &PassContext) -> PassResult {
    move |f, cx| {
        let op = f.iter().next().expect("an op");
        let laid_out_op = cx.layout(f, op, wanted)?;
        put(f, cx, laid_out_op)
    }
}

fn put(f: &mut sdk::Function, cx: &PassContext, laid_out_op: Option<sdk::LaidOut>) -> PassResult {
    let op = f.iter().next().expect("an op");
    let new = laid_out_op.ok_or("it stays")?;
    let args: Vec<ValueId> = f.operands(op).collect();
    let values = cx.insert_text(f, op, &new.body, &args, new.results.len())?;
    f.replace_op_with(op, &values)?;
    let created = f.iter().next().expect("an op");
    let layouts = format!("{} -> {}", new.operands.join(", "), new.results.join(", "));
    f.set_attr(created, "layouts", layouts.as_str())?;
    Ok(())
}

#[test]
fn op_is_converted_to_the_requested_layout() {
    check(
        "t.Pool(%x, _)",
        convert_layout(&[NHWC, ""]),
        expect![[r#"
            fn @main(%x: f32[2,3,4,5]) -> (%y) opset("" = 13, "t" = 1) {
              %y = t.PoolNHWC(%x, _) {layouts = "NCHW->NHWC,  -> NCHW->NHWC"} loc("here")
              return %y
            }
        "#]],
    );
    check(
        "t.Pool(%x, _)",
        convert_layout(&["", ""]),
        expect!["failed: it stays [main]"],
    );
    check(
        "t.Unknown(%x)",
        convert_layout(&[NHWC]),
        expect!["failed: it stays [main]"],
    );
    check(
        "t.Pool(%x, _)",
        convert_layout(&[NHWC]),
        expect!["failed: expected 2 layouts, one per operand, found 1 [main, op0 (t.Pool), here]"],
    );
}

#[test]
fn op_is_converted_to_its_preferred_layout() {
    let alter = |f: &mut sdk::Function, cx: &PassContext| {
        let op = f.iter().next().expect("an op");
        let laid_out_op = cx.alter_layout(f, op, &["", ""])?;
        put(f, cx, laid_out_op)
    };
    check(
        "t.Pool(%x, %x)",
        alter,
        expect![[r#"
        fn @main(%x: f32[2,3,4,5]) -> (%y) opset("" = 13, "t" = 1) {
          %y = t.PoolBlocks(%x, %x) {layouts = "NCHW->NCHW4c,  -> "} loc("here")
          return %y
        }
    "#]],
    );
    check(
        "t.Odd(%x)",
        |f, cx| {
            let op = f.iter().next().expect("an op");
            assert_eq!(cx.alter_layout(f, op, &[""])?, None);
            Ok(())
        },
        expect!["unchanged"],
    );
}

#[test]
fn traits_list_the_available_callbacks() {
    check(
        "t.Pool(%x, _)",
        |f, _cx| {
            let op = f.iter().next().expect("an op");
            let traits = f.traits(op);
            assert!(traits.knows_layout() && traits.alters_layout() && traits.decomposes());
            assert!(!traits.folds());
            Ok(())
        },
        expect!["unchanged"],
    );
}

#[track_caller]
fn check_odd(does: &str, expected: Expect) {
    let op = format!("t.Odd(%x) {{does = \"{does}\"}}");
    check(&op, convert_layout(&[NHWC]), expected);
}

#[test]
fn invalid_layouts_are_rejected() {
    check_odd("no such operand", expect!["failed: it stays [main]"]);
    check_odd("no such result", expect!["failed: it stays [main]"]);
    check_odd("too long", expect!["failed: it stays [main]"]);
    check_odd(
        "panics",
        expect![
            "failed: the definition of op0 (t.Odd) of plugin `layouts` (built in) failed: panicked at \
                host/core/tests/boundary/layouts.rs:57:42: oh [main, op0 (t.Odd), here]"
        ],
    );
    check_odd("answers nothing", expect!["failed: it stays [main]"]);
    check(
        "t.Odd(%x)",
        |f, cx| {
            let op = f.iter().next().expect("an op");
            cx.infer(f, op)?;
            Ok(())
        },
        expect![
            "failed: op0 (t.Odd) is invalid: only `layout` and `alter_layout` of a definition have layouts [main, \
                op0 (t.Odd), here]"
        ],
    );
}

#[test]
fn mismatched_text_is_rejected() {
    let insert = |text: &'static str, results: usize| {
        move |f: &mut sdk::Function, cx: &PassContext| -> PassResult {
            let op = f.iter().next().expect("an op");
            let x = f.params()[0];
            cx.insert_text(f, op, text, &[x], results)?;
            Ok(())
        }
    };
    check(
        "onnx.Relu(%x)",
        insert("fn @body(%x) { return %x }", 2),
        expect![
            "failed: the body of op0 (onnx.Relu) does not match the op: expected 2 values, found 1 [main, op0 \
                (onnx.Relu), here]"
        ],
    );
    check(
        "onnx.Relu(%x)",
        insert("fn @body() { return }", 0),
        expect![
            "failed: the body of op0 (onnx.Relu) does not match the op: wrong number of parameters: expected 1, \
                found 0 [main, op0 (onnx.Relu), here]"
        ],
    );
    check(
        "onnx.Relu(%x)",
        insert("fn @body(%x) { ", 0),
        expect![
            "failed: could not parse the body of op0 (onnx.Relu): 1:1: missing `}` at the end of the body that \
                starts here [main, op0 (onnx.Relu), here]"
        ],
    );
    check(
        "onnx.Relu(%x)",
        insert("fn @body(%x) { %y = u.Op(%x) return %y }", 1),
        expect![
            "failed: the body of op0 (onnx.Relu) does not match the op: the function has no opset for the domain of \
                `u.Op` [main, op0 (onnx.Relu), here]"
        ],
    );
    check(
        "onnx.Relu(%x)",
        insert("fn @body(%x) { %y = onnx.Neg(%x) return %y, %x }", 2),
        expect![[r#"
            fn @main(%x: f32[2,3,4,5]) -> (%y) opset("" = 13, "t" = 1) {
              %0 = onnx.Neg(%x) loc("here")
              %y = onnx.Relu(%x) loc("here")
              return %y
            }
        "#]],
    );
}
