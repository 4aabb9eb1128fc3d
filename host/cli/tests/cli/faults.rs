//! Passes that write to read-only memory of the host.

#[cfg(unix)]
use crate::support::compile_c_plugin;
use crate::support::{Bench, RELUS};

/// A function that a pass didn't edit isn't verified after it. The writer fails first, and the command fails as usual.
#[test]
fn write_to_host_memory_is_reported() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for output in ["out.ir", "out.onnx"] {
        let ran = bench.passdock(&format!(
            "run m.ir --passes bad.transform.Scribble -o {output}"
        ));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(
            ran.stderr
                .contains("error[broken]: invalid IR because pass `bad.transform.Scribble` wrote"),
            "{}",
            ran.stderr
        );
        assert_eq!(bench.files(), ["m.ir"]);
    }
    let all = "run m.ir --passes bad.transform.Scribble -o out.ir --verify all";
    let ran = bench.passdock(all);
    assert_eq!(ran.status, 1);
    for expected in [
        "error[broken]: invalid IR because pass `bad.transform.Scribble` wrote",
        "in pass bad.transform.Scribble of plugin",
    ] {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    assert_eq!(bench.files(), ["m.ir"]);
}

/// A function with entries in all columns of its view.
#[cfg(unix)]
const RICH: &str = r#"module {
  fn @main(%x: f32[n,3], %c: bool[]) -> (%y: f32[?,3], %z: f32[2,3]) opset("" = 17, "acme" = 1)
    attributes {note = "a text", level = 3} {
    %w = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %s = const i64[2] [-1, 3]
    %0 = onnx.Add(%w, %w) : f32[2,3] loc("sum")
    %1 = onnx.Reshape(%x, %s) {allowzero = 0} : f32[?,3] loc("shape")
    %2 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[?,3]
      region then_branch -> (%t: f32[?,3]) {
        %t = onnx.Relu(%1) : f32[?,3]
        yield %t
      }
      region else_branch {
        %e = acme.Clip(%1) {bounds = [0.0, 1.0], axes = [0, 1], names = ["a", "b"]} : f32[n*2,3]
        yield %e
      }
    %3 = onnx.Transpose(%2) {perm = [0, 1]} : f32[?,3]
    return %3, %0
  }
}
"#;

/// Writes to any word of a function's view don't cause a panic or a hang. The writer is named if it is known, and a
/// pass that fails because of the corruption isn't blamed.
#[cfg(unix)]
#[test]
fn write_to_any_word_does_not_panic() {
    let bench = Bench::new();
    bench.write("m.ir", RICH);
    if compile_c_plugin(&bench, "tests/bad-plugins/scribbles.c", &[]).is_none() {
        return;
    }
    let later = "c.transform.Scribble,relax.transform.InferType,relax.transform.FoldConstant";
    let runs = [
        "--passes c.transform.Scribble --verify all",
        &format!("--passes {later}"),
        "--passes c.transform.Scribble -o out.onnx",
    ];
    let mut failures = [0; 3];
    // First, cyclic op lists: links from an op to itself or back.
    let circles = [
        (0, 11, 0),
        (0, 29, 1),
        (0, 65, 0),
        (0, 119, 2),
        (2, 2, 0),
        (1, 5, 3),
    ];
    let some = (0_u32..18).flat_map(|column| {
        let values = [u32::MAX, 0x7fff_ffff];
        let words = [0, 7];
        let each = words.into_iter().zip(values);
        each.map(move |(word, value)| (column, word + column, value))
    });
    for (column, word, value) in circles.into_iter().chain(some) {
        let scribble = format!("{column} {word} {value}");
        for (run, failures) in runs.iter().zip(&mut failures) {
            let words = format!("run m.ir --plugin plugin.so --in-process {run}");
            let ran = bench.run_with(&[("SCRIBBLE", &scribble)], words.split_whitespace(), "");
            let about = format!("{scribble}, {run}: {}\n{}", ran.status, ran.stderr);
            assert!(matches!(ran.status, 0 | 1), "{about}");
            assert!(!ran.stderr.contains("panicked at"), "{about}");
            if ran.status == 0 {
                continue;
            }
            *failures += 1;
            assert!(ran.stderr.contains("error["), "{about}");
            let is_blamed = ran.stderr.contains("c.transform.Scribble");
            // The corrupt words may be valid IR, which a later pass rejects for other reasons.
            let is_valid_ir = ran.stderr.contains("contradicts") || run.contains("onnx");
            assert!(is_blamed || is_valid_ir, "{about}");
        }
    }
    assert!(
        failures[0] > 10 && failures[1] > 10 && failures[2] > 0,
        "{failures:?}"
    );
}
