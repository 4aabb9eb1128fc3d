//! Checks of a plugin, for its author: what the plugin says of itself, and what its passes, op
//! definitions and instruments do to a corpus of modules.
//!
//! Each of [`CHECKS`] has a name and is run by [`run`], which lets the plugin's code loose on this
//! process: whoever wants to live through a crash runs each in a process of its own, as `passdock
//! plugin check` does. [`Trail`] says then where it was.

mod answer;
mod corpus;
mod faults;
mod hosts;
mod instruments;
mod manifest;
mod ops;
mod options;
mod requirements;
mod same;
mod subject;
mod trail;

use std::path::PathBuf;

use passdock_core::PassError;
use passdock_driver::pipeline::Request;

pub use answer::{CheckAnswer, CheckVerdict};
use subject::Subject;
pub use trail::Trail;

/// A check of plugins.
#[derive(Clone, Copy)]
pub struct PluginCheck {
    /// The check's name.
    pub name: &'static str,
    /// What holds of a plugin that passes, in a sentence.
    pub description: &'static str,
    /// Whether it is run in two processes, whose answers have to be the same.
    pub twice: bool,
    work: Work,
}

/// The work of a check.
#[derive(Clone, Copy)]
enum Work {
    /// On the file alone.
    File(fn(&CheckedPlugin, &Trail) -> CheckAnswer),
    /// On the plugin among others, in a registry, loaded.
    Subject(fn(&Subject<'_>) -> CheckAnswer),
    /// As that, but the check loads it.
    Unloaded(fn(&Subject<'_>) -> CheckAnswer),
}

/// The plugin to check, and what it is checked with.
#[derive(Clone, Debug, Default)]
pub struct CheckedPlugin {
    /// The plugin's file.
    pub file: PathBuf,
    /// Where other plugins are, which its passes may require.
    pub plugins: Request,
    /// Models that its passes run on, beside the corpus.
    pub models: Vec<PathBuf>,
    /// Its passes that aren't run by themselves: those that were seen not to come to an end.
    pub without: Vec<String>,
}

/// All checks, in the order in which they are run.
pub const CHECKS: [PluginCheck; 15] = [
    PluginCheck {
        name: "manifest",
        description: "The manifest is read without a doubt, has summaries, and says what the library has.",
        twice: false,
        work: Work::File(manifest::manifest),
    },
    PluginCheck {
        name: "load",
        description: "The library loads, and once more in the same process.",
        twice: false,
        work: Work::File(manifest::load),
    },
    PluginCheck {
        name: "requirements",
        description: "The passes that passes require and Sequentials list are there, and go in no circle.",
        twice: false,
        work: Work::Subject(requirements::requirements),
    },
    PluginCheck {
        name: "panics",
        description: "No pass panics on the corpus.",
        twice: false,
        work: Work::Subject(faults::panics),
    },
    PluginCheck {
        name: "failures",
        description: "A pass that can't go on says why: no answer but OK comes without a sentence.",
        twice: false,
        work: Work::Subject(faults::failures),
    },
    PluginCheck {
        name: "verifier",
        description: "What passes make of the corpus is right, by the verifier, and by the definitions of operators.",
        twice: false,
        work: Work::Subject(faults::verifier),
    },
    PluginCheck {
        name: "interface",
        description: "Only passes with `changes_interface` change parameters, results and opsets.",
        twice: false,
        work: Work::Subject(faults::interface),
    },
    PluginCheck {
        name: "read-only",
        description: "No pass writes into what it was given: it edits by the host's functions.",
        twice: false,
        work: Work::Subject(faults::read_only),
    },
    PluginCheck {
        name: "options",
        description: "Passes run with the default, the limits and each choice of each option, and with empty lists and \
            lists of one.",
        twice: false,
        work: Work::Subject(options::options),
    },
    PluginCheck {
        name: "determinism",
        description: "A pass makes the same of the same module, in another process, too.",
        twice: true,
        work: Work::Subject(same::determinism),
    },
    PluginCheck {
        name: "threads",
        description: "Passes with `thread_safe` make the same on one thread and on several.",
        twice: false,
        work: Work::Subject(same::threads),
    },
    PluginCheck {
        name: "idempotence",
        description: "Only told, never failed: which passes change what they made before.",
        twice: false,
        work: Work::Subject(same::idempotence),
    },
    PluginCheck {
        name: "ops",
        description: "Op definitions answer on the corpus, and on calls made of what they say of themselves.",
        twice: false,
        work: Work::Subject(ops::ops),
    },
    PluginCheck {
        name: "instruments",
        description: "Instruments with default options watch passes and report without an error.",
        twice: false,
        work: Work::Subject(instruments::instruments),
    },
    PluginCheck {
        name: "older-hosts",
        description: "The plugin works in a host that has the tables of its `min_host`, and no extension.",
        twice: false,
        work: Work::Unloaded(hosts::older_hosts),
    },
];

/// Runs a check in this process, which may not live through it. `trail` hears what is done next.
///
/// # Errors
/// If there is no plugin in the file for any check but the first, a model can't be read, or the
/// directories of other plugins can't.
pub fn run(
    check: &PluginCheck,
    plugin: &CheckedPlugin,
    trail: &Trail,
) -> Result<CheckAnswer, PassError> {
    match check.work {
        Work::File(work) => Ok(work(plugin, trail)),
        Work::Subject(work) | Work::Unloaded(work) => {
            let subject = Subject::new(plugin, trail)?.and_then(|subject| match check.work {
                // Nothing that its passes do could be seen, and so nothing could be found.
                Work::Subject(_) => subject.loaded(),
                _ => Ok(subject),
            });
            Ok(match subject {
                Ok(subject) => work(&subject),
                Err(why) => CheckAnswer::unusable(why),
            })
        }
    }
}
