//! Finding and loading many plugins, compared with the system's loader alone.
//!
//! A process loads a library only once, and the loader gets slower with each library. Each time is
//! therefore measured in a new process.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "a child prints its time")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use passdock::Registry;
use passdock_benches::{Figure, is_quick, report, report_ratio};
use passdock_tests::library;

/// The plugins that the run with few plugins needs.
const NEEDED: [usize; 3] = [1, 5, 9];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["child", what, dir] = words[..] {
        let time = child(what, dir.as_ref());
        return println!("{}", time.as_nanos());
    }
    let original = std::fs::read(library("passdock_bench")).expect("the benchmarks' plugin");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let counts = if is_quick() { [2, 10] } else { [100, 1000] };
    let dirs = counts.map(|count| {
        let plugins = dir.path().join(count.to_string());
        copies(&original, &plugins, count);
        plugins
    });
    for (count, plugins) in counts.iter().zip(&dirs) {
        // Warm-up: the first run has cold files and a cold loader.
        run("load", plugins);
        let [system, host] = medians([&|| run("dlopen", plugins), &|| run("load", plugins)]);
        let of = |time: Duration| Figure {
            nanos: time.as_nanos() as f64 / *count as f64,
        };
        let what = format!("load {count} plugins, all needed, over dlopen");
        report_ratio(&what, of(host), of(system), "(for scale)");
    }
    let [_, many] = &dirs;
    let [start] = medians([&|| run("start", many)]);
    let figure = Figure {
        nanos: start.as_nanos() as f64,
    };
    report("start with 1,000 plugins, 3 needed", figure, "<= 20 ms");
}

/// Returns the medians of times that are measured alternately.
fn medians<const N: usize>(take: [&dyn Fn() -> Duration; N]) -> [Duration; N] {
    let rounds = if is_quick() { 1 } else { 9 };
    let times: Vec<[Duration; N]> = (0..rounds).map(|_| take.map(|take| take())).collect();
    std::array::from_fn(|at| {
        let mut times: Vec<Duration> = times.iter().map(|round| round[at]).collect();
        times.sort_unstable();
        times[rounds / 2]
    })
}

/// Runs `what` of [`child`] in a new process and returns the time that it reports.
fn run(what: &str, plugins: &Path) -> Duration {
    let exe = std::env::current_exe().expect("this program");
    let mut command = Command::new(exe);
    let ran = command.args(["child", what]).arg(plugins);
    let ran = ran.output().expect("it starts");
    let nanos = String::from_utf8_lossy(&ran.stdout).trim().parse();
    let error = String::from_utf8_lossy(&ran.stderr);
    Duration::from_nanos(nanos.unwrap_or_else(|_| panic!("{what} failed: {error}")))
}

fn child(what: &str, plugins: &Path) -> Duration {
    let start = Instant::now();
    if what == "dlopen" {
        let mut files: Vec<PathBuf> = std::fs::read_dir(plugins)
            .expect("their directory")
            .map(|file| file.expect("an entry").path())
            .collect();
        files.sort();
        files.iter().for_each(|file| open(file));
        return start.elapsed();
    }
    let registry = Registry::new();
    registry
        .load_dir(plugins, &Default::default())
        .expect("a directory of plugins");
    let names = match what {
        "load" => registry.pass_names(),
        _ => NEEDED
            .iter()
            .map(|number| format!("b{number:04}.transform.Empty"))
            .collect(),
    };
    for name in names {
        registry
            .get_pass(&name)
            .and_then(|pass| pass.work().map(drop))
            .expect("a pass");
    }
    start.elapsed()
}

/// Writes copies of the plugin, each with its own names.
fn copies(original: &[u8], dir: &Path, count: usize) {
    std::fs::create_dir(dir).expect("a new directory");
    for number in 0..count {
        let own = format!("b{number:04}");
        let mut bytes = original.to_vec();
        for name in ["bench.transform", "bench.idle", "bench\"\n"] {
            rename(&mut bytes, name.as_bytes(), own.as_bytes());
        }
        let file = format!("lib{own}.{}", std::env::consts::DLL_EXTENSION);
        std::fs::write(dir.join(file), &bytes).expect("a copy");
    }
}

/// Overwrites the beginning of each `old` with `new`.
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
    // SAFETY: it is the benchmarks' own plugin, whose initialization does nothing.
    let library = unsafe { libloading::Library::new(path) }.expect("a library");
    // The host never closes a library either.
    std::mem::forget(library);
}
