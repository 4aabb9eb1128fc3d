//! Checks of plugin files before they are loaded, and provenance statements.

mod lock;
mod provenance;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod signature;

use crate::support::{Bench, RELUS, Ran, plugin_elsewhere};

/// Returns a bench with a model and a pipeline that uses the plugin `tap` in the directory `plugins`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    bench.write(
        "p.toml",
        "passes = ['FoldConstant', 'tap.transform.Nothing']\n[plugins]\ndirs = ['plugins']\n",
    );
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let tap = plugin_elsewhere("passdock-tap");
    std::fs::copy(tap, bench.path("plugins/tap.so")).expect("a copy of the plugin");
    bench
}

/// Replaces everything in a text that depends on the machine or the build: hashes, versions, the platform, and the
/// directory of the standard plugins.
fn shown(bench: &Bench, text: &str) -> String {
    let hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let text = text.replace(&bench.plugins(), "");
    let text = text.replace(&platform, "PLATFORM");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let words = words.map(|word| {
        let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        match hash(end) {
            true => word.replace(end, "HASH"),
            false => word.to_owned(),
        }
    });
    words.collect()
}

/// Returns the exit status and the messages of a command.
fn outcome(bench: &Bench, ran: &Ran) -> String {
    let messages = folded(&shown(bench, &ran.stderr));
    format!("{messages}exit status {}\n", ran.status)
}

/// Folds long lines.
fn folded(text: &str) -> String {
    const WIDTH: usize = 100;
    let mut folded = String::new();
    for line in text.lines() {
        let mut width = 0;
        for word in line.split_inclusive(' ') {
            if width + word.len() > WIDTH {
                folded.push_str("\n        ");
                width = 8;
            }
            folded.push_str(word);
            width += word.len();
        }
        folded.push('\n');
    }
    let lines = folded.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
