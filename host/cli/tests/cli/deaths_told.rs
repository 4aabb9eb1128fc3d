//! What is told of a death beside the pass: instruments, definitions, and what a plugin started.

use std::time::{Duration, Instant};

use crate::deaths::bench;
use crate::support::{Bench, Ran};

/// An op that a plugin defines, for a pass of another one to ask about.
const DEFINED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17, "dies" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = dies.Op(%0)
    return %1
  }
}
"#;

fn with(bench: &Bench, fault: &str, at: &str, words: &str) -> Ran {
    let variables = [("FAULT", fault), ("AT", at)];
    bench.run_with(&variables, words.split_whitespace(), "")
}

#[test]
fn an_instrument_that_dies_is_told_with_the_pass_that_it_was_called_around() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType \
                 --instrument dies.watch";
    for (fault, said) in [
        (
            "segv",
            "error[crashed]: The instrument `dies.watch` crashed: SIGSEGV, ",
        ),
        (
            "_exit",
            "error[crashed]: The instrument `dies.watch` ended the process with status 0.",
        ),
    ] {
        let ran = with(&bench, fault, "after", words);
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        for said in [
            "in pass relax.transform.InferType of plugin",
            "it is in `plugin.so`",
            "`passdock replay out.ir.reproducer --plugin plugin.so`",
        ] {
            assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        }
        let table = "relax.transform.InferType  FAILED";
        assert!(ran.stdout.contains(table), "{fault}: {}", ran.stdout);
        let words = "replay out.ir.reproducer --plugin plugin.so";
        let ran = with(&bench, fault, "after", words);
        let same = "the same failure: crashed in relax.transform.InferType";
        assert!(ran.stdout.contains(same), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn an_instrument_that_dies_around_no_pass_is_told() {
    let Some(bench) = bench() else { return };
    for at in ["create", "enter"] {
        for fault in ["segv", "_exit"] {
            let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies \
                         --instrument dies.watch";
            let ran = with(&bench, fault, at, words);
            assert_eq!(ran.status, 1, "{at}: {fault}: {}", ran.stderr);
            let said = "error[crashed]: The instrument `dies.watch` ";
            assert!(ran.stderr.contains(said), "{at}: {fault}: {}", ran.stderr);
            assert_eq!(bench.files(), ["m.ir", "plugin.so"], "{at}: {fault}");
        }
    }
}

#[test]
fn in_process_an_instrument_is_told_with_the_pass() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --in-process --plugin plugin.so --passes relax.transform.InferType \
                 --instrument dies.watch";
    let ran = with(&bench, "segv", "after", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = "it was called around the pass `relax.transform.InferType`";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn a_definition_that_dies_is_told_with_its_plugin_which_the_replay_names() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let words = "run d.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType";
    let ran = with(&bench, "segv", "infer", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for said in [
        "error[crashed]: The definition of `dies.Op` crashed: SIGSEGV, ",
        "in pass relax.transform.InferType of plugin",
        "it is in `plugin.so`",
        // Whoever runs the passes again never came to load it.
        "`passdock replay out.ir.reproducer --plugin plugin.so`",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let about = bench.read("out.ir.reproducer/reproducer.toml");
    assert!(about.contains("file = \"plugin.so\""), "{about}");
    let words = "replay out.ir.reproducer --plugin plugin.so";
    let ran = with(&bench, "segv", "infer", words);
    let same = "the same failure: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(same), "{}", ran.stdout);
    // Another end isn't the same.
    let ran = with(&bench, "abort", "infer", words);
    let other = "another failure; it was: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(other), "{}", ran.stdout);
}

#[test]
fn exit_tells_its_status() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies";
    let ran = with(&bench, "exit 3", "pass", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = match cfg!(all(target_os = "linux", target_env = "gnu")) {
        true => "It ended the process with status 3.",
        false => "It ended the process.",
    };
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// What a plugin started has the run's standard error open: nobody would see its end for ten minutes.
#[test]
fn what_a_plugin_starts_ends_with_the_run() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies";
    for (fault, status) in [("fork", 0), ("fork and _exit", 1)] {
        let start = Instant::now();
        let ran = with(&bench, fault, "pass", words);
        assert_eq!(ran.status, status, "{fault}: {}", ran.stderr);
        let time = start.elapsed();
        assert!(time < Duration::from_secs(60), "{fault}: {time:?}");
    }
}
