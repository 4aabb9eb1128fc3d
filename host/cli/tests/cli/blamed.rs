//! Who is named when something fails that isn't the pass's own mistake.

use expect_test::{Expect, expect};

use crate::support::Bench;

fn odd(how: &str) -> String {
    format!(
        "module {{
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17, \"bad\" = 1) {{
    %a = const f32[2] [1.0, 2.0]
    %z = bad.Odd(%a) {{how = \"{how}\"}} : f32[2]
    %y = onnx.Add(%x, %z) : f32[2]
    return %y
  }}
}}
"
    )
}

/// What is said of a model under a pass, without paths.
#[track_caller]
fn check(model: &str, pass: &str, output: &str, status: i32, expected: Expect) {
    let bench = Bench::new();
    bench.write("m.ir", model);
    let words = [
        "run",
        "m.ir",
        "--passes",
        pass,
        "-o",
        output,
        "--reproducer-dir",
        "d",
    ];
    let ran = bench.run(words, "");
    assert_eq!(ran.status, status, "{}", ran.stderr);
    let said = ran.stderr.replace(&bench.plugins(), "");
    expected.assert_eq(said.split("note[reproducer]").next().unwrap_or_default());
}

#[test]
fn a_definition_that_panics_is_its_plugins_mistake() {
    check(
        &odd("panics"),
        "FoldConstant",
        "o.ir",
        1,
        expect![[r#"
        error[pass-failed]: The definition of op0 (bad.Odd), of plugin `libpassdock_misbehaving.so`, failed: panicked at tests/bad-plugins/misbehaving/src/odd_op.rs:40:5: no table for this Odd
         --> m.ir:4:5
          |
        4 |     %z = bad.Odd(%a) {how = "panics"} : f32[2]
          |     ^^^^^^^^^^^^^^^^
          |
          = in pass relax.transform.FoldConstant of plugin `libpassdock_relax.so`, function @main, op0 (bad.Odd)
    "#]],
    );
    check(
        &odd("infer panics"),
        "InferType",
        "o.ir",
        0,
        expect![[r#"
        warning[relax::infer-type]: The definition of op0 (bad.Odd), of plugin `libpassdock_misbehaving.so`, failed: panicked at tests/bad-plugins/misbehaving/src/odd_op.rs:40:5: no table for this Odd
         --> m.ir:4:5
          |
        4 |     %z = bad.Odd(%a) {how = "infer panics"} : f32[2]
          |     ^^^^^^^^^^^^^^^^
          |
          = in pass relax.transform.InferType of plugin `libpassdock_relax.so`, function @main, op0 (bad.Odd)
          = help: The type that the model declares was kept.
    "#]],
    );
}

#[test]
fn an_evaluation_of_another_type_shows_both() {
    check(
        &odd("contradicts"),
        "FoldConstant",
        "o.ir",
        1,
        expect![[r#"
            error[pass-failed]: The definition of op0 (bad.Odd), of plugin `libpassdock_misbehaving.so`, evaluates %z to f32[3], but its type is f32[2].
             --> m.ir:4:5
              |
            4 |     %z = bad.Odd(%a) {how = "contradicts"} : f32[2]
              |     ^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.FoldConstant of plugin `libpassdock_relax.so`, function @main, op0 (bad.Odd)
        "#]],
    );
}

/// What changed the model before it couldn't be written is named.
#[test]
fn passes_before_a_failed_export() {
    let model = odd("panics")
        .replace("bad.Odd", "onnx.Relu")
        .replace(" {how = \"panics\"}", "");
    let loops = "  prim @p(%a: buffer<f32[2]>) {\n    for %i in 0..2 serial {\n      %v = tir.load(%a, %i) : f32\n      tir.store(%v, %a, %i)\n    }\n  }\n}\n";
    let model = format!("{}{loops}", model.trim_end().trim_end_matches('}'));
    check(
        &model,
        "FoldConstant",
        "o.onnx",
        1,
        expect![[r#"
            error[write]: The result can't be written to `o.onnx`: @p: it is a function of loops, and ONNX has only graphs; remove it before exporting.
             |
             = note: passes that changed the model since it was read: `relax.transform.FoldConstant`
        "#]],
    );
    check(
        &model,
        "CanonicalizeBindings",
        "o.onnx",
        1,
        expect![[r#"
            error[write]: The result can't be written to `o.onnx`: @p: it is a function of loops, and ONNX has only graphs; remove it before exporting.
        "#]],
    );
}

/// A library that its system refuses: the pass that needs it is named, and so is an instrument.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_plugin_that_cannot_be_loaded() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    bench.write("m.ir", crate::support::RELUS);
    for (name, from, to) in [
        ("passdock_tap", "\"tap.", "\"top."),
        ("passdock_tir", "\"tir.", "\"tor."),
    ] {
        let mut bytes = std::fs::read(crate::support::plugin(name)).expect("a plugin");
        let library = b"libc.so.6\0";
        for at in 0..bytes.len() - library.len() {
            if bytes[at..].starts_with(library) {
                bytes[at..at + 9].copy_from_slice(b"libq.so.6");
            }
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
        bench.write(&format!("plugins/{name}.so"), bytes);
    }
    for (words, expected) in [
        (
            "--passes tor.transform.UnrollLoop",
            expect![[r#"
            error[plugin]: Plugin `plugins/passdock_tir.so` can't be used: the system refuses to load it: libq.so.6: cannot open shared object file: No such file or directory.
             |
             = note: the pass `tor.transform.UnrollLoop` needs it
        "#]],
        ),
        (
            "--passes FoldConstant --instrument top.tap",
            expect![[r#"
            error[plugin]: Plugin `plugins/passdock_tap.so` can't be used: the system refuses to load it: libq.so.6: cannot open shared object file: No such file or directory.
             |
             = note: the instrument `top.tap` needs it
        "#]],
        ),
    ] {
        let ran = bench.passdock(&format!("run m.ir --plugin-dir plugins {words}"));
        assert_eq!(ran.status, 3, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    }
}
