//! Plugins' files with single bits flipped: whatever they come to, it is told, and nothing wrong is written.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Bench, RELUS, Ran, in_c};

/// The variable that says how many bits are flipped: `cargo xtask deep flips` sets it.
const COUNT: &str = "PASSDOCK_FLIPS";

/// The number of bits that are flipped otherwise, and the time that is enough for them.
const ORDINARY: u64 = 240;
const ENOUGH: Duration = Duration::from_secs(8);

/// What the good plugin makes of the model.
fn expected() -> String {
    RELUS.replacen("onnx.Relu(%x) :", "onnx.Relu(%x) {seen = 1} :", 1)
}

#[test]
fn no_flipped_bit_dies_silently_or_writes_what_is_wrong() {
    let asked = std::env::var(COUNT).ok();
    let count = asked.as_deref().map_or(Ok(ORDINARY), str::parse);
    let count: u64 = count.expect("a number of bits");
    let is_ordinary = asked.is_none();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                let bench = Bench::new();
                bench.write("m.ir", RELUS);
                let flags = ["-pthread", "-O1"];
                let Some(library) = in_c(&bench, "tests/bad-plugins/dies.c", &flags) else {
                    return;
                };
                let good = fs::read(library).expect("the plugin");
                assert_eq!(run(&bench, None).status, 0, "the good twin");
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

/// Flips the bit that a seed stands for, and looks what comes of it.
fn flip(bench: &Bench, good: &[u8], seed: u64) {
    let mut bytes = good.to_vec();
    let bit = random(seed) % (good.len() as u64 * 8);
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
    let about = format!("bit {bit} of {}, seed {seed}", good.len());
    bench.write("plugin.so", &bytes);
    // A few of each: they take the same way to the file.
    if seed.is_multiple_of(8) {
        for words in ["list --plugin plugin.so", "inspect plugin.so"] {
            let ran = bench.run_with(&[("FAULT", "edit")], words.split(' '), "");
            is_told(&ran, &format!("{about}, {words}"));
        }
    }
    let ran = run(bench, Some(&about));
    let out = bench.exists("out.ir").then(|| bench.read("out.ir"));
    if ran.status != 0 {
        assert_eq!(out, None, "{about}: {}", ran.stderr);
        return;
    }
    let out = out.unwrap_or_else(|| panic!("{about}: nothing was written\n{}", ran.stdout));
    // A flipped bit of the code may be another pass, which does less, or sets something else: what it leaves is a
    // model that is as it says.
    let passes = ran.stdout.contains("c.transform.Dies  changed");
    let is_right = out == expected() || out == RELUS && !passes || is_other_edit(&out);
    assert!(is_right, "{about}:\n{out}\n{}", ran.stdout);
}

/// Whether a model is the one that was read, but for attributes.
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
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies -o out.ir --timeout 2";
    let ran = bench.run_with(&[("FAULT", "edit")], words.split(' '), "");
    if let Some(about) = about {
        is_told(&ran, about);
    }
    ran
}

/// The command ended by itself, and said so if it failed.
fn is_told(ran: &Ran, about: &str) {
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

/// A number that a seed stands for (SplitMix64).
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
