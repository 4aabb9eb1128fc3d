//! A pass that writes where it must not.

use crate::support::{Bench, RELUS};

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
