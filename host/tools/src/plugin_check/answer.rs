//! The answer of a check: its verdict, and what led to it.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The most findings, and the most notes, that an answer keeps; it counts the others.
const MOST: usize = 40;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// Nothing was found.
    Pass,
    /// Something is wrong.
    Fail,
    /// The process of the check ended, or was ended, without an answer.
    Crashed,
    /// There was nothing to check, or no way to.
    Skipped,
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnswer {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// What is wrong, a sentence each; or why the check crashed or was skipped.
    pub reasons: Vec<String>,
    /// What one should know all the same.
    pub notes: Vec<String>,
    /// What passes made: to compare with another process's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PassOutput>,
    /// Whether the plugin can't be used at all, which isn't this check's finding: the reasons say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unusable: bool,
    /// The pass that ran when the check took too long: what gave no answer, so no process hands it on.
    #[serde(skip)]
    pub hung: Option<String>,
}

/// What a pass made of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassOutput {
    /// Of which pass and which sample, as the beginning of a sentence.
    what: String,
    /// All of the text, in short.
    hash: u64,
    /// The text up to [`MOST_TEXT`].
    text: String,
}

/// The most bytes of a text that are kept to show where another differs.
const MOST_TEXT: usize = 1 << 16;

impl PassOutput {
    pub(super) fn new(what: String, mut text: String) -> PassOutput {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        text.truncate(text.floor_char_boundary(MOST_TEXT));
        PassOutput {
            what,
            hash: hasher.finish(),
            text,
        }
    }
}

/// The first line in which two texts differ, as the end of a sentence.
pub(super) fn first_difference(one: &str, other: &str) -> String {
    let (mut lines, mut others) = (one.lines(), other.lines());
    for number in 1.. {
        let quoted = |line: Option<&str>| match line {
            Some(line) => format!("`{}`", line.trim()),
            None => "the end".to_owned(),
        };
        match (lines.next(), others.next()) {
            (None, None) => break,
            (line, other) if line == other => {}
            (line, other) => {
                return format!(
                    ": line {number} is {}, and then {}.",
                    quoted(line),
                    quoted(other)
                );
            }
        }
    }
    ".".to_owned()
}

impl CheckVerdict {
    /// Whether it counts against the plugin.
    pub fn is_bad(self) -> bool {
        matches!(self, CheckVerdict::Fail | CheckVerdict::Crashed)
    }

    /// The verdict's name.
    pub fn name(self) -> &'static str {
        match self {
            CheckVerdict::Pass => "pass",
            CheckVerdict::Fail => "fail",
            CheckVerdict::Crashed => "crashed",
            CheckVerdict::Skipped => "skipped",
        }
    }
}

impl CheckAnswer {
    /// An answer by what was found: a failure if anything was.
    pub(super) fn of(findings: Vec<String>, notes: Vec<String>) -> CheckAnswer {
        CheckAnswer {
            verdict: match findings.is_empty() {
                true => CheckVerdict::Pass,
                false => CheckVerdict::Fail,
            },
            reasons: shortened(findings),
            notes: shortened(notes),
            made: Vec::new(),
            unusable: false,
            hung: None,
        }
    }

    /// What is wrong, if anything is.
    pub(super) fn reasons_of_failure(self) -> Vec<String> {
        match self.verdict.is_bad() {
            true => self.reasons,
            false => Vec::new(),
        }
    }

    /// The answer of a check that there is nothing for.
    pub fn skipped(why: impl Into<String>) -> CheckAnswer {
        CheckAnswer::lone(CheckVerdict::Skipped, why.into())
    }

    /// The answer of a check that can't begin, because the plugin can't be used.
    pub(super) fn unusable(why: String) -> CheckAnswer {
        CheckAnswer {
            unusable: true,
            ..CheckAnswer::lone(CheckVerdict::Fail, why)
        }
    }

    /// This answer after those of other checks: what one of them has found isn't said again.
    #[must_use]
    pub fn after<'a>(
        mut self,
        mut earlier: impl Iterator<Item = (&'static str, &'a CheckAnswer)>,
    ) -> CheckAnswer {
        let is_said = |(_, other): &(&str, &CheckAnswer)| {
            let is_same = || {
                self.reasons
                    .iter()
                    .all(|reason| other.reasons.contains(reason))
            };
            other.verdict.is_bad() && (self.unusable || self.verdict.is_bad() && is_same())
        };
        match earlier.find(is_said) {
            Some((name, _)) if self.unusable => {
                CheckAnswer::skipped(format!("The plugin can't be used: see `{name}`."))
            }
            Some((name, other)) => {
                self.reasons = vec![format!("As `{name}` says.")];
                self.notes.retain(|note| !other.notes.contains(note));
                self
            }
            None => self,
        }
    }

    /// The answer of a check whose process ended early.
    pub fn crashed(why: impl Into<String>) -> CheckAnswer {
        CheckAnswer::lone(CheckVerdict::Crashed, why.into())
    }

    fn lone(verdict: CheckVerdict, why: String) -> CheckAnswer {
        CheckAnswer {
            verdict,
            reasons: vec![why],
            notes: Vec::new(),
            made: Vec::new(),
            unusable: false,
            hung: None,
        }
    }

    /// This answer, and what differs from that of another process.
    pub fn and_again(mut self, again: &CheckAnswer) -> CheckAnswer {
        if again.verdict.is_bad() && !self.verdict.is_bad() {
            return again.clone();
        }
        let different = self.made.iter().filter_map(|one| {
            let other = again.made.iter().find(|other| other.what == one.what)?;
            let place = || first_difference(&one.text, &other.text);
            let said = || {
                format!(
                    "{} is another module in another process{}",
                    one.what,
                    place()
                )
            };
            (one.hash != other.hash).then(said)
        });
        let said: Vec<String> = different.collect();
        if !said.is_empty() {
            self.verdict = CheckVerdict::Fail;
            self.reasons.extend(said);
            self.reasons = shortened(self.reasons);
        }
        self
    }
}

/// So many sentences, and how many more there are.
fn shortened(mut all: Vec<String>) -> Vec<String> {
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(format!("… and {more} more."));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> CheckAnswer {
        let what = "What `a.transform.B` makes of c.ir".to_owned();
        CheckAnswer {
            made: vec![PassOutput::new(what, text.to_owned())],
            ..CheckAnswer::of(Vec::new(), Vec::new())
        }
    }

    #[test]
    fn two_processes_make_the_same() {
        assert_eq!(
            made("a\nb").and_again(&made("a\nb")).verdict,
            CheckVerdict::Pass
        );
        let other = made("a\nb").and_again(&made("a\n  c"));
        assert_eq!(other.verdict, CheckVerdict::Fail);
        assert_eq!(
            other.reasons,
            [
                "What `a.transform.B` makes of c.ir is another module in another process: line 2 is `b`, \
                 and then `c`."
            ]
        );
        let crashed = made("a\nb").and_again(&CheckAnswer::crashed("It ended."));
        assert_eq!(crashed.verdict, CheckVerdict::Crashed);
    }

    #[test]
    fn a_difference_is_shown_by_its_first_line() {
        assert_eq!(
            first_difference("a", "a\nb"),
            ": line 2 is the end, and then `b`."
        );
        assert_eq!(first_difference("a", "a"), ".");
        // Behind what is kept of the texts.
        let long = "x\n".repeat(MOST_TEXT);
        let other = made(&long).and_again(&made(&(long.clone() + "y")));
        assert!(
            other.reasons[0].ends_with("in another process."),
            "{:?}",
            other.reasons
        );
    }

    #[test]
    fn what_one_check_found_is_said_once() {
        let mut found = CheckAnswer::of(vec!["It is broken.".to_owned()], Vec::new());
        found.notes.push("It was the wind.".to_owned());
        let none = || std::iter::empty();
        let unusable = CheckAnswer::unusable("It is broken.".to_owned());
        assert_eq!(unusable.clone().after(none()).verdict, CheckVerdict::Fail);
        let skipped = unusable.after([("manifest", &found)].into_iter());
        assert_eq!(skipped.verdict, CheckVerdict::Skipped);
        assert_eq!(
            skipped.reasons,
            ["The plugin can't be used: see `manifest`."]
        );
        let again = found.clone().after([("manifest", &found)].into_iter());
        assert_eq!(again.verdict, CheckVerdict::Fail);
        assert_eq!(again.reasons, ["As `manifest` says."]);
        assert!(again.notes.is_empty());
    }

    #[test]
    fn an_answer_is_not_endless() {
        let many = (0..100).map(|at| at.to_string()).collect();
        let answer = CheckAnswer::of(many, Vec::new());
        assert_eq!(answer.reasons.len(), MOST + 1);
        assert_eq!(answer.reasons[MOST], "… and 60 more.");
    }
}
