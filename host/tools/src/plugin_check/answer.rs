//! The answer of a check: its verdict, and what led to it.

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
    /// What passes made, as something short: to compare with another process's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<(String, u64)>,
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
        }
    }

    /// This answer, and what differs from that of another process.
    pub fn and_again(mut self, again: &CheckAnswer) -> CheckAnswer {
        if again.verdict.is_bad() && !self.verdict.is_bad() {
            return again.clone();
        }
        let differs = |(what, one): &(String, u64)| {
            let mut others = again.made.iter().filter(|(other, _)| other == what);
            others.next().is_some_and(|(_, other)| other != one)
        };
        let different = self.made.iter().filter(|made| differs(made));
        let said: Vec<String> = different
            .map(|(what, _)| format!("{what} is another module in another process."))
            .collect();
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

    fn made(hash: u64) -> CheckAnswer {
        CheckAnswer {
            made: vec![("`a.transform.B` on `c.ir`".to_owned(), hash)],
            ..CheckAnswer::of(Vec::new(), Vec::new())
        }
    }

    #[test]
    fn two_processes_make_the_same() {
        assert_eq!(made(1).and_again(&made(1)).verdict, CheckVerdict::Pass);
        let other = made(1).and_again(&made(2));
        assert_eq!(other.verdict, CheckVerdict::Fail);
        assert_eq!(
            other.reasons,
            ["`a.transform.B` on `c.ir` is another module in another process."]
        );
        let crashed = made(1).and_again(&CheckAnswer::crashed("It ended."));
        assert_eq!(crashed.verdict, CheckVerdict::Crashed);
    }

    #[test]
    fn an_answer_is_not_endless() {
        let many = (0..100).map(|at| at.to_string()).collect();
        let answer = CheckAnswer::of(many, Vec::new());
        assert_eq!(answer.reasons.len(), MOST + 1);
        assert_eq!(answer.reasons[MOST], "… and 60 more.");
    }
}
