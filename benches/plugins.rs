//! Plugins: finding and loading many, beside what the system's loader alone takes.
//!
//! A library is loaded once in a process, so each figure is one run; start it again for another.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use passdock::Registry;
use passdock_benches::{Figure, is_quick, plugin, report, report_ratio};

fn main() {
    let original = std::fs::read(plugin()).expect("the benchmarks' plugin");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [few, many] = if is_quick() { [2, 10] } else { [100, 1000] };
    for count in [few, many] {
        let ours = copies(&original, &dir.path().join(format!("ours{count}")), count);
        let theirs = copies(&original, &dir.path().join(format!("theirs{count}")), count);
        // The first to load finds the system's own libraries cold.
        let system = timed(count, || theirs.iter().for_each(|path| open(path)));
        let host = timed(count, || {
            let registry = Registry::new();
            let at = ours[0].parent().expect("their directory");
            registry
                .load_dir(at, &Default::default())
                .expect("a directory of plugins");
            for name in registry.pass_names() {
                registry
                    .get_pass(&name)
                    .and_then(|pass| pass.work().map(drop))
                    .expect("a pass");
            }
        });
        let what = format!("load {count} plugins, all needed, beside dlopen");
        report_ratio(&what, host, system, "<= 1.3 x");
    }
    let all = copies(&original, &dir.path().join("some"), many);
    let start = timed(1, || {
        let registry = Registry::new();
        let at = all[0].parent().expect("their directory");
        registry
            .load_dir(at, &Default::default())
            .expect("a directory of plugins");
        for number in [7, many / 2, many - 1] {
            let name = format!("b{number:04}.transform.Empty");
            registry
                .get_pass(&name)
                .and_then(|pass| pass.work().map(drop))
                .expect("a pass");
        }
    });
    report(
        "start with 1,000 plugins, 3 needed",
        start,
        "<= 20 ms cold, <= 5 ms warm",
    );
}

fn timed(items: usize, run: impl FnOnce()) -> Figure {
    let start = Instant::now();
    run();
    Figure {
        nanos: start.elapsed().as_nanos() as f64 / items as f64,
    }
}

/// Writes copies of the plugin, each with names of its own.
fn copies(original: &[u8], dir: &Path, count: usize) -> Vec<PathBuf> {
    std::fs::create_dir(dir).expect("a new directory");
    let write = |number: usize| {
        let own = format!("b{number:04}");
        let mut bytes = original.to_vec();
        for name in ["bench.transform", "bench.idle", "bench\"\n"] {
            rename(&mut bytes, name.as_bytes(), own.as_bytes());
        }
        let path = dir.join(format!("lib{own}.{}", std::env::consts::DLL_EXTENSION));
        std::fs::write(&path, bytes).expect("a copy");
        path
    };
    (0..count).map(write).collect()
}

/// Writes `new` over the beginning of each `old`.
fn rename(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let mut at = 0;
    while let Some(found) = bytes[at..]
        .windows(old.len())
        .position(|window| window == old)
    {
        bytes[at + found..at + found + new.len()].copy_from_slice(new);
        at += found + old.len();
    }
}

#[allow(unsafe_code, reason = "the figure is what the system's loader takes")]
fn open(path: &Path) {
    // SAFETY: the benchmarks' own plugin, whose initialisation does nothing.
    let library = unsafe { libloading::Library::new(path) }.expect("a library");
    // As the host does: never closed.
    std::mem::forget(library);
}
