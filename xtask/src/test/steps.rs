//! A list of named steps: what passed, what failed, what was skipped or isn't here, and why.

use std::fmt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::shell;

/// The error of a step that needs a program, a package or a file that this machine doesn't have. A program that fails, a
/// download and a full disk are failures of the step.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// The error of a step that needs what even a machine of CI may be without: it is told of, and
/// fails nothing.
#[derive(Debug)]
pub(crate) struct NotHere(pub(crate) String);

impl fmt::Display for NotHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotHere {}

/// Steps done so far, and what became of each.
#[derive(Default)]
pub(crate) struct Steps {
    /// Only steps whose name contains this are done.
    only: String,
    done: Vec<Done>,
}

struct Done {
    name: String,
    time: Duration,
    outcome: Outcome,
}

impl Done {
    fn of(name: &str, work: impl FnOnce() -> Result<()>) -> Done {
        let start = Instant::now();
        let outcome = match work() {
            Ok(()) => Outcome::Passed,
            Err(error) => error.into(),
        };
        Done {
            name: name.to_owned(),
            time: start.elapsed(),
            outcome,
        }
    }
}

#[derive(PartialEq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
    NotHere(String),
}

impl Outcome {
    fn tell(&self) {
        match self {
            Outcome::Passed => {}
            Outcome::Failed(why) => println!("FAILED: {why}"),
            Outcome::Skipped(why) => println!("skipped: {why}"),
            Outcome::NotHere(why) => println!("not here: {why}"),
        }
    }
}

impl From<anyhow::Error> for Outcome {
    fn from(error: anyhow::Error) -> Self {
        match (error.downcast_ref(), error.downcast_ref()) {
            (Some(Skip(why)), _) => Outcome::Skipped(why.clone()),
            (_, Some(NotHere(why))) => Outcome::NotHere(why.clone()),
            _ => Outcome::Failed(format!("{error:#}")),
        }
    }
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
        let step = Done::of(name, work);
        step.outcome.tell();
        self.done.push(step);
    }

    /// Does steps that each take one processor, as many at a time as there are; what one prints is shown
    /// when it ends.
    pub(crate) fn side_by_side<W>(&mut self, steps: impl IntoIterator<Item = (&'static str, W)>)
    where
        W: FnOnce() -> Result<()> + Send,
    {
        let chosen = steps
            .into_iter()
            .filter(|(name, _)| name.contains(&self.only));
        let chosen = Mutex::new(chosen.collect::<Vec<_>>().into_iter());
        let done = Mutex::new(&mut self.done);
        let next = || chosen.lock().ok()?.next();
        let work = || {
            while let Some((name, work)) = next() {
                let (step, printed) = shell::keep_output(|| Done::of(name, work));
                let mut done = done.lock().expect("no step panicked while it was told of");
                print!("\n── {name}\n{printed}");
                step.outcome.tell();
                done.push(step);
            }
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..processors {
                scope.spawn(work);
            }
        });
    }

    /// Prints a line for each step and the totals; true if all is well.
    pub(crate) fn summary(&self, skips_fail: bool) -> bool {
        println!();
        for Done {
            name,
            time,
            outcome,
        } in &self.done
        {
            let (word, why) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
                Outcome::Skipped(why) => {
                    (if skips_fail { "FAILED" } else { "skipped" }, why.as_str())
                }
                Outcome::NotHere(why) => ("not here", why.as_str()),
            };
            let why = why.lines().next().unwrap_or_default();
            let colon = if why.is_empty() { "" } else { ": " };
            println!("{word:8} {:6.1} s  {name}{colon}{why}", time.as_secs_f64());
        }
        let totals = self.totals(skips_fail);
        if skips_fail && totals != self.totals(false) {
            println!("A skipped step counts as failed with --all.");
        }
        let Totals {
            passed,
            failed,
            skipped,
            not_here,
        } = totals;
        println!("{passed} passed, {failed} failed, {skipped} skipped, {not_here} not here");
        passed + skipped + not_here > 0 && failed == 0
    }

    fn totals(&self, skips_fail: bool) -> Totals {
        let mut totals = Totals::default();
        for step in &self.done {
            *match &step.outcome {
                Outcome::Passed => &mut totals.passed,
                Outcome::Failed(_) => &mut totals.failed,
                Outcome::Skipped(_) if skips_fail => &mut totals.failed,
                Outcome::Skipped(_) => &mut totals.skipped,
                Outcome::NotHere(_) => &mut totals.not_here,
            } += 1;
        }
        totals
    }
}

/// How many steps ended in which way.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    passed: usize,
    failed: usize,
    skipped: usize,
    not_here: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    fn totals(steps: &Steps, skips_fail: bool) -> [usize; 4] {
        let totals = steps.totals(skips_fail);
        [
            totals.passed,
            totals.failed,
            totals.skipped,
            totals.not_here,
        ]
    }

    #[test]
    fn a_skip_is_a_failure_only_when_asked() {
        let mut steps = Steps::default();
        steps.step("works", || Ok(()));
        steps.step("breaks", || bail!("it broke"));
        steps.step("cannot", || bail!(Skip("no such tool".into())));
        assert_eq!(totals(&steps, false), [1, 1, 1, 0]);
        assert_eq!(totals(&steps, true), [1, 2, 0, 0]);
        assert!(!steps.summary(false));
    }

    #[test]
    fn what_not_every_machine_has_is_told_and_fails_nothing() {
        let mut steps = Steps::default();
        steps.step("works", || Ok(()));
        steps.step("elsewhere", || bail!(NotHere("no such target".into())));
        assert_eq!(totals(&steps, true), [1, 0, 0, 1]);
        assert!(steps.summary(true));
    }

    #[test]
    fn steps_side_by_side_are_all_done_whatever_becomes_of_one() {
        let mut steps = Steps::only("number");
        let names = ["number 1", "number 2", "number 3", "another"];
        steps.side_by_side(names.map(|name| {
            let work = move || match name {
                "number 2" => bail!("it broke"),
                "another" => panic!("not chosen"),
                _ => Ok(()),
            };
            (name, work)
        }));
        assert_eq!(totals(&steps, true), [2, 1, 0, 0]);
    }

    #[test]
    fn a_word_chooses_steps() {
        let mut steps = Steps::only("rust");
        steps.step("old rust", || Ok(()));
        steps.step("python", || bail!("not chosen"));
        assert_eq!(totals(&steps, false), [1, 0, 0, 0]);
    }
}
