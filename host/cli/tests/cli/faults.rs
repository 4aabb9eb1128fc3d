//! Passes that misbehave: the model is as it was, and the error says who did what where.

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS};

#[track_caller]
fn check(pass: &str, source: &str, expected: Expect) {
    let bench = Bench::new();
    bench.write("m.ir", source);
    let words = format!("run m.ir --passes relax.transform.FoldConstant,{pass} -o out.ir");
    let ran = bench.passdock(&words);
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(bench.files(), ["m.ir", "out.ir.reproducer"]);
    assert_eq!(bench.read("m.ir"), source);
    // Where the libraries lie differs from one machine to the next.
    let error = ran
        .stderr
        .lines()
        .map(|line| match line.split_once("plugin `") {
            Some((before, after)) => {
                let (path, rest) = after.split_once('`').unwrap_or((after, ""));
                let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
                format!("{before}plugin `{file}`{rest}\n")
            }
            None => format!("{line}\n"),
        });
    expected.assert_eq(&error.collect::<String>());
}

#[test]
fn a_pass_that_panics() {
    check(
        "bad.transform.Panic",
        RELUS,
        expect![[r#"
            error[pass-panicked]: The pass panicked at tests/bad-plugins/misbehaving/src/lib.rs:13:18: the weights have to be there.
             |
             = in pass bad.transform.Panic of plugin `libpassdock_misbehaving.so`, function @main
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_fails() {
    check(
        "bad.transform.Fail",
        RELUS,
        expect![[r#"
            error[pass-failed]: This op has an axis that is out of range.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Fail of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_emits_an_error() {
    check(
        "bad.transform.Complain",
        RELUS,
        expect![[r#"
            warning[bad::slow]: This op is slow.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
            error[bad::wrong]: This op is wrong.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
              = help: Remove it.
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_changes_the_interface() {
    check(
        "bad.transform.ChangeInterface",
        RELUS,
        expect![[r#"
            error[pass-failed]: The pass changed the function's interface without having declared it: the result `y` is gone.
             |
             = in pass bad.transform.ChangeInterface of plugin `libpassdock_misbehaving.so`, function @main
             = help: Declare `changes_interface` in the pass's `plugin!` entry.
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_module_pass_that_changes_the_interface() {
    check(
        "bad.transform.ChangeMain",
        RELUS,
        expect![[r#"
            error[pass-failed]: The pass changed the function's interface without having declared it: the result `y` is gone.
             |
             = in pass bad.transform.ChangeMain of plugin `libpassdock_misbehaving.so`, function @main
             = help: Declare `changes_interface` in the pass's `plugin!` entry.
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_changes_an_opset() {
    check(
        "bad.transform.ChangeOpset",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }
}
"#,
        expect![[r#"
            error[pass-failed]: The function's version of the domain `` is 17 and can't become 18: its ops would mean something else.
             |
             = in pass bad.transform.ChangeOpset of plugin `libpassdock_misbehaving.so`, function @main
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_uses_what_it_erased() {
    check(
        "bad.transform.UseStale",
        RELUS,
        expect![[r#"
            error[pass-failed]: op0 was erased.
             |
             = in pass bad.transform.UseStale of plugin `libpassdock_misbehaving.so`, function @main, op0
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_removes_what_is_called() {
    check(
        "bad.transform.RemoveCallee",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) {
    %0 = call(%x) {callee = "helper"} : f32[2]
    return %0
  }
  fn @helper(%x: f32[2]) -> (%y: f32[2]) {
    return %x
  }
}
"#,
        expect![[r#"
            error[verify]: op0 (call) calls @helper, and the module has no such function.
             --> m.ir:3:5
              |
            3 |     %0 = call(%x) {callee = "helper"} : f32[2]
              |     ^^^^^^^^^^^^^
              |
              = in pass bad.transform.RemoveCallee of plugin `libpassdock_misbehaving.so`, function @main, op0 (call)
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn a_pass_that_runs_what_cant_be_run() {
    check(
        "bad.transform.RunUnknown",
        RELUS,
        expect![[r#"
            error[pass-failed]: There is no pass `bad.transform.Mising`.
             |
             = in pass bad.transform.RunUnknown of plugin `libpassdock_misbehaving.so`
             = help: `passdock list passes` shows what there is.
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
    check(
        "bad.transform.RunItself",
        RELUS,
        expect![[r#"
            error[pass-failed]: More than 64 passes run each other, down to `bad.transform.RunItself`.
             |
             = in pass bad.transform.RunItself of plugin `libpassdock_misbehaving.so`
             = help: A pass that runs itself, or one that runs it, has to come to an end.
            note[reproducer]: A reproducer is in `out.ir.reproducer`.
             |
             = help: Run it again: `passdock replay out.ir.reproducer`.
        "#]],
    );
}

#[test]
fn required_passes_that_are_missing_or_go_in_circles() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let check = |pass: &str, expected: Expect| {
        let ran = bench.passdock(&format!("run m.ir --passes {pass} -o out.ir"));
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    };
    check(
        "bad.transform.RequireMissing",
        expect![[r#"
            error[unknown-pass]: There is no pass `bad.transform.Mising`.
             |
             = note: required by `bad.transform.RequireMissing`
             = help: `passdock list passes` shows what there is.
        "#]],
    );
    check(
        "bad.transform.CycleA",
        expect![[r#"
        error[required-cycle]: Passes require each other: bad.transform.CycleA -> bad.transform.CycleB -> bad.transform.CycleA.
         |
         = help: Take one of them out of the other's `required`.
    "#]],
    );
    assert_eq!(bench.files(), ["m.ir"]);
}

/// Nobody looks at a function that a pass didn't edit: the writer is the first to fail over it, and
/// the command ends as with any other failure.
#[test]
fn a_pass_that_writes_into_the_hosts_memory() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for output in ["out.ir", "out.onnx"] {
        let ran = bench.passdock(&format!(
            "run m.ir --passes bad.transform.Scribble -o {output}"
        ));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("passdock itself failed: "),
            "{}",
            ran.stderr
        );
        assert_eq!(bench.files(), ["m.ir"]);
    }
    let all = "run m.ir --passes bad.transform.Scribble -o out.ir --verify all";
    let ran = bench.passdock(all);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("error[verify]: op"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("in pass bad.transform.Scribble"),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.files(), ["m.ir"]);
}
