//! The result of a check.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// The check found no fault.
    #[default]
    Pass,
    /// The check found faults.
    Fail,
    /// The process of the check crashed or was terminated without a result.
    Crashed,
    /// The check doesn't apply to the plugin, or can't run.
    Skipped,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// The faults, or the reason for a crash or a skipped check.
    pub reasons: Vec<String>,
    /// Observations that aren't faults.
    pub notes: Vec<String>,
    /// Hashes of the outputs by pass and sample, to compare with another process.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, u64>,
    /// Whether the plugin can't be loaded, so that no other check can run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unusable: bool,
    /// The pass that was running when the check exceeded its time limit.
    #[serde(skip)]
    pub hung: Option<String>,
}

impl CheckVerdict {
    /// Whether the verdict counts against the plugin.
    pub fn is_bad(self) -> bool {
        matches!(self, CheckVerdict::Fail | CheckVerdict::Crashed)
    }

    /// Returns the verdict's name.
    pub fn name(self) -> &'static str {
        match self {
            CheckVerdict::Pass => "passed",
            CheckVerdict::Fail => "failed",
            CheckVerdict::Crashed => "crashed",
            CheckVerdict::Skipped => "skipped",
        }
    }
}

impl CheckResult {
    /// Creates the result of a check: a pass if there are no findings.
    pub(super) fn new(findings: Vec<String>, notes: Vec<String>) -> CheckResult {
        CheckResult {
            verdict: match findings.is_empty() {
                true => CheckVerdict::Pass,
                false => CheckVerdict::Fail,
            },
            reasons: findings,
            notes,
            ..CheckResult::default()
        }
    }

    /// Creates the result of a skipped check.
    pub fn skipped(reason: impl Into<String>) -> CheckResult {
        CheckResult {
            verdict: CheckVerdict::Skipped,
            ..CheckResult::new(vec![reason.into()], Vec::new())
        }
    }

    /// Creates the result of a check whose process terminated early.
    pub fn crashed(reason: impl Into<String>) -> CheckResult {
        CheckResult {
            verdict: CheckVerdict::Crashed,
            ..CheckResult::new(vec![reason.into()], Vec::new())
        }
    }

    /// Creates the result for a plugin that can't be loaded.
    pub(super) fn unusable(reason: String) -> CheckResult {
        CheckResult {
            unusable: true,
            ..CheckResult::new(vec![reason], Vec::new())
        }
    }

    /// Merges the result of the same check in another process. Differences of the outputs are faults.
    #[must_use]
    pub fn repeated(mut self, other: CheckResult) -> CheckResult {
        if other.verdict.is_bad() && !self.verdict.is_bad() {
            return other;
        }
        for (what, hash) in &self.outputs {
            if other.outputs.get(what).is_some_and(|other| other != hash) {
                self.verdict = CheckVerdict::Fail;
                let reason = format!("{what}: output differs between processes");
                self.reasons.push(reason);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_outputs_are_compared() {
        let result_with = |hash| CheckResult {
            outputs: BTreeMap::from([("`a.transform.B` on c.ir".to_owned(), hash)]),
            ..CheckResult::default()
        };
        assert_eq!(
            result_with(1).repeated(result_with(1)).verdict,
            CheckVerdict::Pass
        );
        let different = result_with(1).repeated(result_with(2));
        assert_eq!(different.verdict, CheckVerdict::Fail);
        let reason = "`a.transform.B` on c.ir: output differs between processes";
        assert_eq!(different.reasons, [reason]);
        let crashed = result_with(1).repeated(CheckResult::crashed("the process exited"));
        assert_eq!(crashed.verdict, CheckVerdict::Crashed);
    }
}
