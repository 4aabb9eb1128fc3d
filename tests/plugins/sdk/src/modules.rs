//! Modules: several functions at once, snapshots, other passes.

use crate::dump::dump;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{Name, Status};

/// Snapshots don't change when the module or the function does.
pub fn snapshots_stay(m: &mut Module, cx: &PassContext) -> PassResult {
    let main = m.snapshot("main")?;
    let result = m.create("helper", FunctionKind::GRAPH, Some(Name::Text("main")))?;
    let mut b = FunctionBuilder::new(result);
    let x = b.param("x", TypeId::NONE)?;
    let y = b.value("onnx.Neg", [x])?;
    b.finish(&[y])?;
    assert_eq!(result.opset(""), Some(17));
    let helper = m.snapshot("helper")?;
    let before = [dump(&main), dump(&helper)];

    let f = m.edit("main")?;
    let x = f.params()[0];
    for op in f.ops_named("onnx.Relu") {
        f.replace_op_with(op, &[x])?;
    }
    m.remove("helper")?;
    m.run_pass(cx, "sdk.transform.Keep")
        .expect_err("the chain isn't there any more");
    m.run_pass(cx, "doc.transform.MakeType")?;
    for entry in m.functions() {
        m.edit(entry.name)?.set_function_attr("k", 1)?;
    }
    assert_eq!([dump(&main), dump(&helper)], before);
    assert_eq!(main.iter().count(), 4);
    assert_eq!(
        main.order()?.position(main.ops().nth(2).ok_or("no op")?),
        Some(2)
    );
    assert_eq!(
        m.snapshot("helper").err().map(|e| e.status),
        Some(Status::NOT_FOUND)
    );
    Ok(())
}

/// Copies ops between two edited functions, then from a snapshot.
pub fn copy(m: &mut Module, _cx: &PassContext) -> PassResult {
    let error = m
        .edit_both("main", "main")
        .err()
        .ok_or("one function twice")?;
    assert_eq!(error.status, Status::INVALID);
    let result = m.create("copy", FunctionKind::GRAPH, Some(Name::Text("main")))?;
    let ty = result.add_type(&TypeSpec::shaped(DType::F32, &[2, 3]))?;
    let body = result.body();
    result.add_arg(body, "x", ty)?;
    let snapshot = m.snapshot("main")?;
    let (main, copy) = m.edit_both("main", "copy")?;
    let (body, at) = (copy.body(), Position::end_of(copy.body()));
    let x = copy.params()[0];
    let once = copy.clone_region_from(main, main.body(), at, &[x], &[])?;
    let twice = copy.clone_region_from(&snapshot, snapshot.body(), at, &once, &[])?;
    copy.set_results(body, &twice)?;
    assert_eq!(copy.op_count(), 7);
    Ok(())
}

/// Passes run other passes, including themselves, and those may fail.
pub fn run_others(m: &mut Module, cx: &PassContext) -> PassResult {
    let before = m.version();
    let error = m.run_pass(cx, "sdk.transform.Fails").expect_err("it fails");
    assert!(error.message.contains("one too many"), "{}", error);
    let unknown = m.run_pass(cx, "sdk.transform.Nobody");
    assert!(unknown.is_err());
    assert_eq!(m.version(), before);
    m.run_pass(cx, "sdk.transform.ReplaceWithValues")?;
    assert_eq!(m.snapshot("main")?.op_count(), 3);
    Ok(())
}
