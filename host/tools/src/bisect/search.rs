//! Binary search among the modules of one run, some of which can't be judged.

use std::collections::BTreeSet;

use passdock_ir::Module;

use super::{Verdict, nothing};
use passdock_core::{PassError, PassRun};

/// The untouched module, then the one after each pass that changed something.
pub(super) struct States<'r> {
    untouched: &'r Module,
    runs: &'r [PassRun],
}

/// The last state known to be good, and the first known to be bad. Between them are those that
/// can't be told.
pub(super) struct Found {
    pub(super) good: usize,
    pub(super) bad: usize,
}

impl<'r> States<'r> {
    pub(super) fn new(untouched: &'r Module, runs: &'r [PassRun]) -> States<'r> {
        States { untouched, runs }
    }

    pub(super) fn search(
        &self,
        judge: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
    ) -> Result<Found, PassError> {
        match judge("before any pass".to_owned(), self.untouched)? {
            Verdict::Good => {}
            Verdict::Bad => {
                return Err(nothing(
                    "The model is bad before any pass.",
                    "The check has to call it good, a command with status 0; no pass is to blame here.",
                ));
            }
            Verdict::Unknown => {
                return Err(nothing(
                    "The check can't tell whether the untouched model is good.",
                    "Without a good model there is nothing to compare with.",
                ));
            }
        }
        if self.runs.is_empty() {
            return Err(nothing(
                "No pass changes the model: there is nothing to find.",
                "`passdock explain` shows what runs, and why or why not.",
            ));
        }
        let last = self.runs.len();
        match self.judge(last, judge)? {
            Verdict::Bad => {}
            Verdict::Good => {
                return Err(nothing(
                    "The check calls what the whole pipeline makes good: there is no pass to find.",
                    "A command calls a model bad by a status that is neither 0 nor 125, `numerics` one that computes \
                     something else.",
                ));
            }
            Verdict::Unknown => {
                return Err(nothing(
                    "The check can't tell whether the model after the whole pipeline is bad.",
                    "Shorten the pipeline to where it can.",
                ));
            }
        }
        let ends = Found { good: 0, bad: last };
        between(ends, &mut |at| self.judge(at, judge))
    }

    fn judge(
        &self,
        at: usize,
        judge: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
    ) -> Result<Verdict, PassError> {
        let run = &self.runs[at - 1];
        let candidate = format!(
            "after {at} of {}: {}",
            self.runs.len(),
            run.pass.info().name
        );
        judge(candidate, &run.after)
    }
}

/// Judges what is between a good state and a bad one until all that is left between two can't be told.
pub(super) fn between(
    mut found: Found,
    judge: &mut dyn FnMut(usize) -> Result<Verdict, PassError>,
) -> Result<Found, PassError> {
    let mut untold = BTreeSet::new();
    // The one nearest to the middle that may tell something.
    let middle = |found: &Found, untold: &BTreeSet<usize>| {
        let middle = (found.good + found.bad) / 2;
        let below = (found.good + 1..=middle).rev();
        let above = middle + 1..found.bad;
        let told = |at: &usize| !untold.contains(at);
        let (below, above) = (below.into_iter().find(told), above.into_iter().find(told));
        let distance = |at: &usize| (2 * at).abs_diff(found.good + found.bad);
        below.into_iter().chain(above).min_by_key(distance)
    };
    while let Some(at) = middle(&found, &untold) {
        match judge(at)? {
            Verdict::Good => found.good = at,
            Verdict::Bad => found.bad = at,
            Verdict::Unknown => _ = untold.insert(at),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use passdock_core::{PassInfo, create_host_pass};

    /// Which states are found around the first bad one, and how many checks that takes.
    fn find(states: usize, first_bad: usize, untold: &[usize]) -> (usize, usize, usize) {
        let module = Module::new();
        let run = |_| PassRun {
            pass: create_host_pass(PassInfo::new("p"), |module, _| Ok(module.clone())),
            requested_by: None,
            before: module.clone(),
            after: module.clone(),
        };
        let runs: Vec<PassRun> = (0..states).map(run).collect();
        let untold: BTreeSet<usize> = untold.iter().copied().collect();
        let mut checks = 0;
        let mut judge = |candidate: String, _: &Module| {
            checks += 1;
            let at = candidate
                .split(' ')
                .nth(1)
                .and_then(|word| word.parse().ok());
            let at: usize = at.unwrap_or(0);
            Ok(match at {
                at if untold.contains(&at) => Verdict::Unknown,
                at if at >= first_bad => Verdict::Bad,
                _ => Verdict::Good,
            })
        };
        let found = States::new(&module, &runs).search(&mut judge).unwrap();
        (found.good, found.bad, checks)
    }

    #[test]
    fn every_place_is_found() {
        for first_bad in 1..=100 {
            let (good, bad, checks) = find(100, first_bad, &[]);
            assert_eq!((good, bad), (first_bad - 1, first_bad));
            assert!(checks <= 2 + 7, "{first_bad}: {checks} checks");
        }
    }

    #[test]
    fn what_cannot_be_told_is_gone_around() {
        // Beside the place, it makes a range; elsewhere it only costs a check.
        assert_eq!(find(100, 50, &[50]), (49, 51, 9));
        let (good, bad, checks) = find(100, 50, &[49, 50, 51]);
        assert_eq!((good, bad), (48, 52));
        assert!(checks <= 9 + 3, "{checks} checks");
        let (good, bad, _) = find(100, 20, &[50, 51, 52, 25]);
        assert_eq!((good, bad), (19, 20));
        // All between the ends.
        let all: Vec<usize> = (1..10).collect();
        assert_eq!(find(10, 4, &all), (0, 10, 11));
    }
}
