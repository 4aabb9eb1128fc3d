//! Extensions of another plugin's op definition: the order of calls, and which plugin is blamed.

use expect_test::{Expect, expect};
use passdock_ir::text;
use passdock_ir::verify::verify;
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{OpCall, OpDef, OpError, OpResult, OpTraits};
use passdock_plugin_api::{PassContext, PassResult, StaticPlugin, Support};

use crate::support::{TestFrame, run};

/// Creates a plugin with these definitions.
macro_rules! of {
    ($name:literal: $($op:expr),*) => {{
        mod plugin_module {
            use super::*;
            passdock_plugin_api::prelude::plugin! {
                name: $name,
                ops: [$($op),*],
            }
        }
        plugin_module::PLUGIN
    }};
}

fn body(call: &OpCall, operator: &str) -> OpResult {
    call.set_body(&format!("fn @body(%x) {{ %y = {operator}(%x) return %y }}"))?;
    Ok(())
}

const DEFINITION: OpDef = OpDef::new("t.Op", 1)
    .traits(OpTraits::PURE)
    .decompose(|call| body(call, "t.OfDefinition"))
    .supports(&["npu"], |_| Err("the definition says so".into()));
const OLD: OpDef = OpDef::extending("t.Op", 1).decompose(|call| body(call, "t.OfVersion1"));
const NEW: OpDef = OpDef::extending("t.Op", 3).decompose(|call| body(call, "t.OfVersion3"));
const NEWER: OpDef = OpDef::extending("t.Op", 5).decompose(|call| body(call, "t.OfVersion5"));
const NONE: OpDef = OpDef::extending("t.Op", 1).decompose(|_| Err("not today".into()));
const PANICS: OpDef = OpDef::extending("t.Op", 1)
    .decompose(|_| panic!("oh"))
    .supports(&["gpu"], |_| panic!("oh"));
const SCALARS: OpDef =
    OpDef::extending("t.Op", 1).supports(&["npu"], |_| Err("it isn't of a scalar".into()));
const BARE: OpDef = OpDef::new("t.Op", 1);
const NPU: OpDef = OpDef::extending("t.Op", 1).supports(&["npu"], only_vectors);

const BOTH: OpDef = OpDef::extending("t.Op", 1).supports(&["npu", "gpu"], |call| {
    Err(OpError::new(format!("{} doesn't take it", call.target())))
});
/// Tries to add to the read-only function.
const ADDS: OpDef = OpDef::extending("t.Op", 1).supports(&["npu"], |call| {
    let unknown = sdk::TypeSpec::unknown();
    let one = sdk::Dim::constant(1);
    let results = [
        call.add_type(&unknown).err(),
        call.add_expr(sdk::ExprKind::ADD, one, one).err(),
        call.set_result_type(0, &unknown).err(),
    ];
    let messages = results.map(|error| error.map_or("OK".to_owned(), |error| error.to_string()));
    Err(messages.join(" ").into())
});
/// Its body needs a newer opset than the functions here import.
const TOO_NEW: OpDef = OpDef::extending("t.Op", 1).decompose(|call| {
    Ok(call.set_body("fn @b(%x) opset(\"t\" = 9) { %y = t.New(%x) return %y }")?)
});

fn only_vectors(call: &OpCall) -> OpResult {
    match call.operand_type(0).rank() {
        Some(1) => Ok(()),
        _ => Err(OpError::new("it isn't of a vector")),
    }
}

/// Runs a pass on a function with one op under these plugins, and prints the result.
#[track_caller]
fn check(
    plugins: &[StaticPlugin],
    pass: impl Fn(&mut sdk::Function, &PassContext) -> PassResult + Send + Sync + 'static,
    expected: Expect,
) {
    let module =
        "module { fn @main(%x: f32[2]) -> (%y) opset(\"t\" = 4) { %y = t.Op(%x) return %y } }";
    let module = text::parse(module).expect("a module");
    let result = match run(&module, &TestFrame::with_plugins(plugins), pass) {
        Ok(None) => "unchanged".to_owned(),
        Ok(Some(changed)) => {
            verify(&changed).expect("a good function");
            let op = changed.ops().next().expect("an op").1;
            changed.text(op.name).to_owned()
        }
        Err(error) => error,
    };
    expected.assert_eq(&result);
}

fn decompose(f: &mut sdk::Function, cx: &PassContext) -> PassResult {
    let op = f.iter().next().expect("an op");
    let values = cx.decompose(f, op)?.ok_or("it has none")?;
    f.replace_op_with(op, &values)?;
    Ok(())
}

fn check_support(
    target: &'static str,
    expected: Support,
) -> impl Fn(&mut sdk::Function, &PassContext) -> PassResult {
    move |f, cx| {
        let op = f.iter().next().expect("an op");
        assert_eq!(cx.supports(f, op, target)?, expected);
        Ok(())
    }
}

#[test]
fn last_registered_extension_is_called_first() {
    let (definition, new, none) = (of!("d": DEFINITION), of!("n": NEW), of!("o": NONE));
    check(&[definition], decompose, expect!["t.OfDefinition"]);
    check(&[definition, new], decompose, expect!["t.OfVersion3"]);
    check(&[new, definition], decompose, expect!["t.OfVersion3"]);
    check(&[new, definition, none], decompose, expect!["t.OfVersion3"]);
    check(&[definition, none], decompose, expect!["t.OfDefinition"]);
    check(&[none], decompose, expect!["failed: it has none [main]"]);
}

#[test]
fn newest_supported_version_of_a_plugin_is_called() {
    check(
        &[of!("p": NEW, OLD, NEWER)],
        decompose,
        expect!["t.OfVersion3"],
    );
    check(
        &[of!("p": NEWER)],
        decompose,
        expect!["failed: it has none [main]"],
    );
}

#[test]
fn plugin_may_extend_its_own_definition() {
    check(
        &[of!("p": DEFINITION, OLD)],
        decompose,
        expect!["t.OfVersion1"],
    );
}

#[test]
fn traits_include_those_of_extensions() {
    let traits = |expected: OpTraits| {
        move |f: &mut sdk::Function, _: &PassContext| {
            let op = f.iter().next().expect("an op");
            assert_eq!(f.traits(op), expected);
            Ok(())
        }
    };
    let (definition, new) = (of!("d": BARE), of!("n": NEW));
    let defined = OpTraits::DEFINED;
    check(&[definition], traits(defined), expect!["unchanged"]);
    check(
        &[definition, new],
        traits(defined.with(OpTraits::ILLEGAL)),
        expect![[r#"
            panicked: assertion `left == right` failed
              left: OpTraits(540673)
             right: OpTraits(524289) [main]"#]],
    );
    check(
        &[new],
        traits(OpTraits::DECOMPOSES.with(OpTraits::ILLEGAL)),
        expect!["unchanged"],
    );
}

#[test]
fn first_extension_for_a_target_decides_support() {
    let (definition, npu) = (of!("d": DEFINITION), of!("n": NPU));
    let unsupported = |reason: &str| Support::Unsupported(reason.to_owned());
    check(
        &[definition],
        check_support("npu", unsupported("the definition says so")),
        expect!["unchanged"],
    );
    check(
        &[definition, npu],
        check_support("npu", Support::Supported),
        expect!["unchanged"],
    );
    check(
        &[npu, of!("s": SCALARS)],
        check_support("npu", unsupported("it isn't of a scalar")),
        expect!["unchanged"],
    );
    check(
        &[definition, npu],
        check_support("gpu", Support::Unknown),
        expect!["unchanged"],
    );
    check(
        &[],
        check_support("npu", Support::Unknown),
        expect!["unchanged"],
    );
}

#[test]
fn definition_may_cover_several_targets() {
    let both = of!("b": BOTH);
    let unsupported = |reason: &str| Support::Unsupported(reason.to_owned());
    check(
        &[both],
        check_support("npu", unsupported("npu doesn't take it")),
        expect!["unchanged"],
    );
    check(
        &[both],
        check_support("gpu", unsupported("gpu doesn't take it")),
        expect!["unchanged"],
    );
    check(
        &[both],
        check_support("dsp", Support::Unknown),
        expect!["unchanged"],
    );
}

#[test]
fn supports_callback_cannot_edit_the_function() {
    let only_reads = ["`supports` of a definition cannot edit the function"; 3].join(" ");
    check(
        &[of!("a": ADDS)],
        check_support("npu", Support::Unsupported(only_reads)),
        expect!["unchanged"],
    );
}

#[test]
fn body_with_newer_opset_is_an_error() {
    check(
        &[of!("d": DEFINITION), of!("n": TOO_NEW)],
        decompose,
        expect![
            "failed: the body of op0 (t.Op) does not match the op: `t.New` of `@b` (opset 9) differs in meaning in \
                `@main` (opset 4): no plugin defines it in both versions [main, op0 (t.Op)]"
        ],
    );
}

#[test]
fn errors_of_an_extension_name_its_plugin() {
    let (definition, panics) = (of!("d": DEFINITION), of!("guilty": PANICS));
    check(
        &[definition, panics],
        decompose,
        expect![
            "failed: the definition of op0 (t.Op) of plugin `guilty` (built in) failed: panicked at \
                host/core/tests/boundary/extensions.rs:40:20: oh [main, op0 (t.Op)]"
        ],
    );
    check(
        &[definition, panics],
        check_support("gpu", Support::Unknown),
        expect![
            "failed: the definition of op0 (t.Op) of plugin `guilty` (built in) failed: panicked at \
                host/core/tests/boundary/extensions.rs:41:29: oh [main, op0 (t.Op)]"
        ],
    );
}
