//! Nothing but a status and a sentence comes out of a pass.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::mock::{run_pass, Failure};
use passdock_plugin_api::Status;

fn does_its_work(f: &mut Function, cx: &PassContext) -> PassResult {
    assert_eq!(cx.opt_level(), 2);
    for op in f.ops_named("onnx.Relu") {
        f.set_attr(op, "seen", 1)?;
    }
    Ok(())
}

fn fails(f: &mut Function, _cx: &PassContext) -> PassResult {
    let op = f.ops_named("onnx.Relu").next().ok_or("there is no Relu")?;
    Err(PassError::new("this Relu is one too many").at(op))
}

fn edits_wrongly(f: &mut Function, _cx: &PassContext) -> PassResult {
    for op in f.ops_named("onnx.Relu") {
        f.replace_op_with(op, &[])?;
    }
    Ok(())
}

fn panics(f: &mut Function, _cx: &PassContext) -> PassResult {
    let nothing = f.ops_named("acme.Nothing").next();
    nothing.expect("something");
    Ok(())
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("while being dropped");
    }
}

fn panics_with_a_bomb(_f: &mut Function, _cx: &PassContext) -> PassResult {
    std::panic::panic_any(Bomb)
}

plugin! {
    name: "gate",
    passes: [
        function "gate.transform.does_its_work" => does_its_work,
        function "gate.transform.fails" => fails,
        function "gate.transform.edits_wrongly" => edits_wrongly,
        function "gate.transform.panics" => panics,
        function "gate.transform.panics_with_a_bomb" => panics_with_a_bomb,
    ],
}

fn run(pass: &str) -> (Status, Option<Failure>) {
    let build = |f: &mut Function| {
        let mut b = FunctionBuilder::new(f);
        let a = b.value("onnx.Relu", []).unwrap();
        b.finish(&[a]).unwrap();
    };
    let name = format!("gate.transform.{}", pass);
    run_pass(&PLUGIN, &name, build, |f| {
        let relu = f.ops_named("onnx.Relu").next().unwrap();
        let seen = f.int(relu, "seen").is_some();
        assert_eq!(seen, pass == "does_its_work");
    })
}

#[test]
fn a_pass_that_works_answers_ok() {
    assert_eq!(run("does_its_work"), (Status::OK, None));
}

#[test]
fn a_failure_carries_its_sentence_and_op() {
    let (status, failure) = run("fails");
    assert_eq!(status, Status::FAILED);
    let failure = failure.unwrap();
    assert_eq!(failure.message, "this Relu is one too many");
    assert_eq!(failure.op, Some(OpId(0)));

    let (status, failure) = run("edits_wrongly");
    assert_eq!(status, Status::FAILED);
    let failure = failure.unwrap();
    assert_eq!(
        failure.message,
        "op0 has 1 results, and 0 values were given for them"
    );
    assert_eq!(failure.op, Some(OpId(0)));
}

#[test]
fn a_panic_carries_its_message_and_place() {
    for _ in 0..2 {
        let (status, failure) = run("panics");
        assert_eq!(status, Status::PANICKED);
        let failure = failure.unwrap();
        assert_eq!(failure.message, "something");
        assert!(failure.file.ends_with("gate.rs"), "{}", failure.file);
        assert!(failure.line > 0);
    }
}

#[test]
fn a_panic_whose_payload_panics_is_contained_too() {
    let (status, failure) = run("panics_with_a_bomb");
    assert_eq!(status, Status::PANICKED);
    assert_eq!(failure.unwrap().message, "a panic whose payload isn't text");
}

#[test]
fn outside_the_gate_panics_are_what_they_were() {
    assert_eq!(PassContext::current(|cx| cx.opt_level()), None);
    run("panics");
    let panic = std::panic::catch_unwind(|| panic!("mine")).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}
