//! Comparing the logs of a scenario in both systems.
//!
//! A test is named by the number of its rule, and its doc comment is the rule: `KEEP.` or `FIX.`, the rule, and what
//! TVM does instead. `list.rs` generates `docs/conformance.md` from the doc comments.

use std::collections::BTreeMap;
use std::panic::{Location, resume_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use expect_test::expect_file;

use crate::ours::{Passdock, Way};
use crate::system::{Done, Log, System};
use crate::tvm::Tvm;

/// A scenario, which runs in either system. Created by [`rule!`](crate::rule).
pub(crate) trait Scenario: Copy + Send + Sync {
    fn play<S: System>(self, s: &S) -> Done<S>;
}

/// Creates a scenario, to be compared by a method of [`Rule`]: `rule!(|s| s.run(cx(), [pass("Leaf")]))`.
#[macro_export]
macro_rules! rule {
    (|$s:ident| $body:expr) => {{
        #[derive(Clone, Copy)]
        struct Play;
        impl $crate::rule::Scenario for Play {
            fn play<S: $crate::system::System>(self, $s: &S) -> $crate::system::Done<S> {
                $body
            }
        }
        $crate::rule::Rule::new(Play)
    }};
}

pub(crate) struct Rule<P> {
    scenario: P,
    ways: Vec<Way>,
}

impl<P: Scenario> Rule<P> {
    pub(crate) fn new(scenario: P) -> Rule<P> {
        let ways = Vec::new();
        Rule { scenario, ways }
    }

    /// Also runs the scenario with a plugin's passes: linked in, loaded, and mixed with the program's.
    pub(crate) fn plugins(mut self) -> Self {
        self.ways = Way::PLUGIN.into();
        self
    }

    /// Checks that TVM does the same. Error messages may differ.
    #[track_caller]
    pub(crate) fn keep(self, title: &str) {
        let (log, theirs) = (self.ours(), play(self.scenario, Tvm::new));
        check(title, &log);
        assert_eq!(wordless(&log), wordless(&theirs), "TVM keeps this rule");
    }

    /// Checks that TVM does something else.
    #[track_caller]
    pub(crate) fn fix(self, title: &str) {
        let (log, theirs) = (self.ours(), play(self.scenario, Tvm::new));
        check_both(title, &log, &theirs);
        assert_ne!(wordless(&log), wordless(&theirs), "TVM breaks this rule");
    }

    /// Checks that TVM does the same with another message.
    #[track_caller]
    pub(crate) fn fix_message(self, title: &str) {
        let (log, theirs) = (self.ours(), play(self.scenario, Tvm::new));
        check_both(title, &log, &theirs);
        assert_eq!(wordless(&log), wordless(&theirs), "TVM does the same");
        assert_ne!(log, theirs, "TVM has a worse message");
    }

    fn ours(&self) -> String {
        let log = play(self.scenario, |log| Passdock::new(log, Way::Host));
        for &way in &self.ways {
            let other = play(self.scenario, |log| Passdock::new(log, way));
            assert_eq!(log, other, "the same by the way {way:?}");
        }
        log
    }
}

/// Compares a log with the section of this title in the file of `logs` that is named like the caller's file.
/// `UPDATE_EXPECT=1` updates the section.
#[track_caller]
pub(crate) fn check(title: &str, log: &str) {
    // Tests of one file run in parallel.
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let caller = Path::new(Location::caller().file());
    let file = Path::new(LOGS).join(caller.file_name().expect("a name"));
    let file = file.with_extension("txt");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let mut sections: BTreeMap<&str, &str> = sections(&text).collect();
    sections.insert(title, log);
    let sections = sections
        .iter()
        .map(|(title, log)| format!("# {title}\n{}\n", log.trim_end()));
    let sections: Vec<String> = sections.collect();
    expect_file![file].assert_eq(&sections.join("\n"));
}

/// Like [`check`], with TVM's log.
#[track_caller]
fn check_both(title: &str, ours: &str, tvm: &str) {
    check(title, &format!("{}\nTVM:\n{tvm}", ours.trim_end()));
}

pub(crate) const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/logs");

/// Returns the sections of a file of logs: `# TITLE`, and the log up to the next title.
pub(crate) fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let sections = text.strip_prefix("# ").unwrap_or_default().split("\n\n# ");
    sections.filter_map(|section| section.split_once('\n'))
}

/// The outputs of both systems, for tests that aren't scenarios: TOML, Rust's types, a renderer.
pub(crate) struct ByHand {
    ours: String,
    tvm: String,
}

/// Compares outputs that a test computed without a scenario.
pub(crate) fn by_hand(ours: impl ToString, tvm: impl ToString) -> ByHand {
    let (ours, tvm) = (ours.to_string(), tvm.to_string());
    ByHand { ours, tvm }
}

impl ByHand {
    /// Checks the output; TVM's differs in its wording only.
    #[track_caller]
    pub(crate) fn keep(self, title: &str) {
        check_both(title, &self.ours, &self.tvm);
    }

    /// Checks that TVM does something else.
    #[track_caller]
    pub(crate) fn fix(self, title: &str) {
        assert_ne!(self.ours, self.tvm, "TVM breaks this rule");
        self.keep(title);
    }
}

/// Runs a scenario on a new thread, which has its own default context.
pub(crate) fn play<P: Scenario, S: System>(
    scenario: P,
    system: impl FnOnce(&Log) -> S + Send,
) -> String {
    let log = Log::default();
    let played = thread::scope(|scope| {
        // The reference implementation is recursive, as TVM is.
        let thread = thread::Builder::new().stack_size(64 << 20);
        let thread = thread.spawn_scoped(scope, || {
            let s = system(&log);
            let done = scenario.play(&s);
            s.log_failure(done);
        });
        thread.expect("a thread").join()
    });
    played.unwrap_or_else(|panic| resume_unwind(panic));
    log.text()
}

/// Removes the messages of errors and warnings from a log, but not their codes.
fn wordless(log: &str) -> String {
    let code = |line: &str| {
        let at = ["error[", "warning["]
            .iter()
            .find_map(|word| line.find(word))?;
        let end = at + line[at..].find(']')?;
        Some(line[..=end].to_owned())
    };
    let lines = log
        .lines()
        .map(|line| code(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}
