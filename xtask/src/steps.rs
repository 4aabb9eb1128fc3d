//! A list of named steps: what passed, what failed, what was skipped and why.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;

/// The error of a step that can't be done on this machine.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// Steps done so far, and what became of each.
#[derive(Default)]
pub(crate) struct Steps {
    /// Only steps whose name contains this are done.
    only: String,
    done: Vec<(String, Duration, Outcome)>,
}

#[derive(PartialEq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Steps {
    /// Steps of which only those are done whose name contains `word`.
    pub(crate) fn only(word: &str) -> Self {
        Steps {
            only: word.to_owned(),
            done: Vec::new(),
        }
    }

    /// Does one step. A failure is remembered and the next step goes on.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        if !name.contains(&self.only) {
            return;
        }
        println!("\n── {name}");
        let start = Instant::now();
        let outcome = match work() {
            Ok(()) => Outcome::Passed,
            Err(error) => match error.downcast::<Skip>() {
                Ok(Skip(why)) => Outcome::Skipped(why),
                Err(error) => Outcome::Failed(format!("{error:#}")),
            },
        };
        match &outcome {
            Outcome::Passed => {}
            Outcome::Failed(why) => println!("FAILED: {why}"),
            Outcome::Skipped(why) => println!("skipped: {why}"),
        }
        self.done.push((name.to_owned(), start.elapsed(), outcome));
    }

    /// Prints a line for each step and the totals; true if all is well.
    pub(crate) fn summary(&self, skips_fail: bool) -> bool {
        println!();
        for (name, time, outcome) in &self.done {
            let (word, why) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
                Outcome::Skipped(why) => {
                    (if skips_fail { "FAILED" } else { "skipped" }, why.as_str())
                }
            };
            let why = why.lines().next().unwrap_or_default();
            let colon = if why.is_empty() { "" } else { ": " };
            println!("{word:8} {:6.1} s  {name}{colon}{why}", time.as_secs_f64());
        }
        let (passed, failed, skipped) = self.totals(skips_fail);
        if skips_fail
            && self
                .done
                .iter()
                .any(|(_, _, outcome)| matches!(outcome, Outcome::Skipped(_)))
        {
            println!("A skipped step counts as failed with --all.");
        }
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        passed + skipped > 0 && failed == 0
    }

    fn totals(&self, skips_fail: bool) -> (usize, usize, usize) {
        let passed = self
            .done
            .iter()
            .filter(|(_, _, outcome)| *outcome == Outcome::Passed)
            .count();
        let skipped = self
            .done
            .iter()
            .filter(|(_, _, outcome)| matches!(outcome, Outcome::Skipped(_)))
            .count();
        let failed = self.done.len() - passed - skipped;
        if skips_fail {
            (passed, failed + skipped, 0)
        } else {
            (passed, failed, skipped)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_skip_is_a_failure_only_when_asked() {
        let mut steps = Steps::default();
        steps.step("works", || Ok(()));
        steps.step("breaks", || bail!("it broke"));
        steps.step("cannot", || bail!(Skip("no such tool".into())));
        assert_eq!(steps.totals(false), (1, 1, 1));
        assert_eq!(steps.totals(true), (1, 2, 0));
        assert!(!steps.summary(false));
    }

    #[test]
    fn a_word_chooses_steps() {
        let mut steps = Steps::only("rust");
        steps.step("old rust", || Ok(()));
        steps.step("python", || bail!("not chosen"));
        assert_eq!(steps.totals(false), (1, 0, 0));
    }
}
