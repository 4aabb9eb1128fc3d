//! Plugin files with flipped bits: all errors are reported, and no invalid model is written.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Bench, RELUS, Ran, compile_c_plugin};

/// The variable with the number of bits to flip, which `cargo xtask deep flips` sets.
const COUNT: &str = "PASSDOCK_FLIPS";

/// The default number of flipped bits, and a time limit that is enough for a run.
const ORDINARY: u64 = 240;
const ENOUGH: Duration = Duration::from_secs(8);

/// Returns the model that the intact plugin produces.
fn expected() -> String {
    RELUS.replacen("onnx.Relu(%x) :", "onnx.Relu(%x) {seen = 1} :", 1)
}

#[test]
fn flipped_bits_never_crash_silently_or_miscompile() {
    let variable = std::env::var(COUNT).ok();
    let count = variable.as_deref().map_or(Ok(ORDINARY), str::parse);
    let count: u64 = count.expect("a number of bits");
    let is_ordinary = variable.is_none();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                let bench = Bench::new();
                bench.write("m.ir", RELUS);
                let flags = ["-pthread", "-O1"];
                let Some(library) = compile_c_plugin(&bench, "tests/bad-plugins/crash.c", &flags)
                else {
                    return;
                };
                let good = fs::read(library).expect("the plugin");
                assert_eq!(run(&bench, None).status, 0, "the intact plugin");
                for seed in (half..count).step_by(2) {
                    if is_ordinary && start.elapsed() > ENOUGH {
                        return;
                    }
                    flip(&bench, &good, seed);
                }
            });
        }
    });
}

/// Flips the bit that a seed selects, and checks the result.
fn flip(bench: &Bench, good: &[u8], seed: u64) {
    let mut bytes = good.to_vec();
    let bit = random(seed) % (good.len() as u64 * 8);
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
    let about = format!("bit {bit} of {}, seed {seed}", good.len());
    bench.write("plugin.so", &bytes);
    // Only some of the runs: these commands read the file in the same way.
    if seed.is_multiple_of(8) {
        for words in ["list --plugin plugin.so", "inspect plugin.so"] {
            let ran = bench.run_with(&[("FAULT", "edit")], words.split(' '), "");
            check_exit(&ran, &format!("{about}, {words}"));
        }
    }
    let ran = run(bench, Some(&about));
    let out = bench.exists("out.ir").then(|| bench.read("out.ir"));
    if ran.status != 0 {
        assert_eq!(out, None, "{about}: {}", ran.stderr);
        return;
    }
    let out = out.unwrap_or_else(|| panic!("{about}: nothing was written\n{}", ran.stdout));
    // A flipped bit in the code may result in a different pass, which does less or sets other attributes. The result
    // must still be a valid model.
    let passes = ran.stdout.contains("c.transform.Crash  changed");
    let is_right = out == expected() || out == RELUS && !passes || is_other_edit(&out);
    assert!(is_right, "{about}:\n{out}\n{}", ran.stdout);
}

/// Returns `true` if a model differs from the input only in attributes.
fn is_other_edit(out: &str) -> bool {
    let without = |line: &str| match (line.find(" {"), line.find("} :")) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &line[..from], &line[to + 1..]),
        _ => line.to_owned(),
    };
    out.lines()
        .map(without)
        .eq(RELUS.lines().map(str::to_owned))
}

fn run(bench: &Bench, about: Option<&str>) -> Ran {
    _ = fs::remove_file(bench.path("out.ir"));
    _ = fs::remove_dir_all(bench.path("out.ir.reproducer"));
    let words = "run m.ir --plugin plugin.so --passes c.transform.Crash -o out.ir --timeout 2";
    let ran = bench.run_with(&[("FAULT", "edit")], words.split(' '), "");
    if let Some(about) = about {
        check_exit(&ran, about);
    }
    ran
}

/// Checks that the command exited normally, and printed an error if it failed.
fn check_exit(ran: &Ran, about: &str) {
    let stderr = &ran.stderr;
    assert!(
        (0..=3).contains(&ran.status),
        "{about}: {} {stderr}",
        ran.status
    );
    assert!(
        ran.status == 0 || stderr.contains("error["),
        "{about}: {stderr}"
    );
    assert!(!stderr.contains("panicked at"), "{about}: {stderr}");
}

/// Returns the pseudorandom number for a seed (SplitMix64).
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
