//! Checks of a plugin for its author: the manifest, and the passes, op definitions and instruments on a set of modules.
//!
//! [`run`] runs one of [`CHECKS`] in this process, which the plugin's code may terminate. `passdock plugin check`
//! therefore starts a process for each check. [`Trail`] records the step at which such a process terminated.

mod callbacks;
mod corpus;
mod determinism;
mod generated;
mod instruments;
mod manifest;
mod ops;
mod options;
mod passes;
mod properties;
mod result;
mod subject;
mod tensor;
mod threads;
mod trail;

use std::ops::Range;
use std::path::PathBuf;

use passdock_core::boundary;
pub use passdock_core::boundary::CANNOT_LEND;
use passdock_driver::pipeline::Request;

pub use result::{CheckResult, CheckVerdict};
use subject::Subject;
pub use trail::Trail;

/// A check of plugins.
#[derive(Clone, Copy)]
pub struct PluginCheck {
    /// The check's name.
    pub name: &'static str,
    /// The property that the check tests, as a sentence.
    pub description: &'static str,
    /// Whether the check of the built-in modules runs in two processes, whose outputs are compared.
    pub twice: bool,
    /// Whether `--fuzz` has the check: it runs on random modules or calls.
    pub fuzzed: bool,
    /// Whether the check itself loads the library.
    loads: bool,
    /// The maximum number of ops of a model that the check runs on.
    max_ops: usize,
    check: fn(&Subject<'_>) -> CheckResult,
}

/// The plugin to check, and the files that the checks use.
#[derive(Clone, Debug, Default)]
pub struct CheckedPlugin {
    /// The plugin's file.
    pub file: PathBuf,
    /// Other plugins, which the plugin's passes may require.
    pub plugins: Request,
    /// Models that the passes run on, in addition to the built-in modules.
    pub models: Vec<PathBuf>,
    /// Passes that are skipped, because they hung in another check.
    pub without: Vec<String>,
    /// The seeds of random modules and calls, which replace the built-in ones.
    pub seeds: Option<Range<u64>>,
}

/// All checks, in the order in which they run.
pub const CHECKS: [PluginCheck; 8] = [
    PluginCheck {
        loads: true,
        ..PluginCheck::new(
            "manifest",
            "The manifest has summaries and no unknown keys, and matches the library, which loads twice.",
            manifest::manifest,
        )
    },
    PluginCheck {
        fuzzed: true,
        ..PluginCheck::new(
            "passes",
            "Passes run on the corpus: names resolve, nothing panics, errors have a message, results verify, and only \
             passes with `changes_interface` change an interface.",
            passes::passes,
        )
    },
    PluginCheck {
        fuzzed: true,
        // Each edit copies the function.
        max_ops: 5_000,
        ..PluginCheck::new(
            "memory",
            "Passes, op definitions and instruments don't write to the host's memory, use handles only on their \
             thread, and use handles and memory only as long as the header allows.",
            callbacks::memory,
        )
    },
    PluginCheck::new(
        "options",
        "Passes run with the default, the limits and all choices of each option, and with empty and one-element lists.",
        options::options,
    ),
    PluginCheck {
        fuzzed: true,
        twice: true,
        ..PluginCheck::new(
            "determinism",
            "Passes produce the same module in each run, in another process, and on several threads.",
            determinism::determinism,
        )
    },
    PluginCheck {
        fuzzed: true,
        ..PluginCheck::new(
            "ops",
            "Op definitions work on the corpus, and on calls that are generated from their declarations: nothing \
             panics, and `infer`, `evaluate`, the bodies and the traits agree.",
            ops::ops,
        )
    },
    PluginCheck::new(
        "instruments",
        "Instruments with default options observe passes and report without an error.",
        instruments::instruments,
    ),
    PluginCheck {
        loads: true,
        ..PluginCheck::new(
            "older-hosts",
            "The plugin works in a host with the tables of its `min_host` and without extensions.",
            callbacks::older_hosts,
        )
    },
];

impl PluginCheck {
    const fn new(
        name: &'static str,
        description: &'static str,
        check: fn(&Subject<'_>) -> CheckResult,
    ) -> PluginCheck {
        PluginCheck {
            name,
            description,
            twice: false,
            fuzzed: false,
            loads: false,
            max_ops: usize::MAX,
            check,
        }
    }
}

/// Runs a check in this process, which the plugin may terminate. `trail` records each step.
pub fn run(check: &PluginCheck, plugin: &CheckedPlugin, trail: &Trail) -> CheckResult {
    let mut subject = match Subject::new(check.name, plugin, trail) {
        Ok(subject) => subject,
        Err(error) => return CheckResult::unusable(error.to_string()),
    };
    let notes = subject.leave_out_large_samples(check.max_ops);
    if !check.loads {
        trail.at(Trail::LOADING);
        if let Err(error) = subject.plugin.load(boundary::host()) {
            return CheckResult::unusable(error.to_string());
        }
    }
    let mut result = (check.check)(&subject);
    result.notes.extend(notes);
    result
}
