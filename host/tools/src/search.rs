//! The binary search of bisect, blame and reduce for the first bad state.

use passdock_core::{ErrorKind, PassError};
use passdock_driver::oracle::Verdict;
use rustc_hash::FxHashSet;

/// Checks that a pipeline turns a good model into a bad one.
///
/// # Errors
/// If it doesn't, or if the check is inconclusive.
pub(crate) fn require_broken(
    before: Verdict,
    after: impl FnOnce() -> Result<Verdict, PassError>,
) -> Result<(), PassError> {
    let (message, help) = match before {
        Verdict::Bad => (
            "the test reports the input model as bad",
            "use a test that reports the input model as good, such as a command that exits with 0",
        ),
        Verdict::Unknown => (
            "the test is inconclusive for the input model",
            "use a command whose exit status is 0 for the input model, and neither 0 nor 125 for the result",
        ),
        Verdict::Good => match after()? {
            Verdict::Bad => return Ok(()),
            Verdict::Unknown => (
                "the test is inconclusive for the result of the pipeline",
                "shorten the pipeline until the test is conclusive",
            ),
            Verdict::Good => (
                "the test reports the result of the pipeline as good",
                "use a command whose exit status for the result is neither 0 nor 125, or `numerics` to compare outputs",
            ),
        },
    };
    Err(PassError::new(ErrorKind::Check, message).help(help))
}

/// Narrows the range between a good and a bad state until no testable state is between them. `oracle` returns the
/// verdict on the state with an index.
pub(crate) fn first_bad<E>(
    (mut good, mut bad): (usize, usize),
    oracle: &mut dyn FnMut(usize) -> Result<Verdict, E>,
) -> Result<(usize, usize), E> {
    let mut unknown: FxHashSet<usize> = FxHashSet::default();
    loop {
        // The state nearest to the middle without an inconclusive verdict.
        let distance = |at: &usize| (2 * at).abs_diff(good + bad);
        let middle = good.midpoint(bad);
        let below = (good + 1..=middle).rev().find(|at| !unknown.contains(at));
        let above = (middle + 1..bad).find(|at| !unknown.contains(at));
        let Some(at) = below.into_iter().chain(above).min_by_key(distance) else {
            return Ok((good, bad));
        };
        match oracle(at)? {
            Verdict::Good => good = at,
            Verdict::Bad => bad = at,
            Verdict::Unknown => _ = unknown.insert(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Returns the last good and the first bad state of 0 to 100, and the number of checks.
    fn find(first: usize, unknown: &[usize]) -> (usize, usize, usize) {
        let mut checks = 0;
        let mut verdict = |at: usize| -> Result<Verdict, Infallible> {
            checks += 1;
            Ok(match at {
                at if unknown.contains(&at) => Verdict::Unknown,
                at if at >= first => Verdict::Bad,
                _ => Verdict::Good,
            })
        };
        let Ok((good, bad)) = first_bad((0, 100), &mut verdict);
        (good, bad, checks)
    }

    #[test]
    fn first_bad_state_is_found() {
        for first in 1..=100 {
            let (good, bad, checks) = find(first, &[]);
            assert_eq!((good, bad), (first - 1, first));
            assert!(checks <= 7, "{first}: {checks} checks");
        }
    }

    #[test]
    fn inconclusive_states_are_skipped() {
        // Next to the first bad state, an inconclusive one widens the range; elsewhere it costs one check.
        assert_eq!(find(50, &[50]), (49, 51, 7));
        let (good, bad, checks) = find(50, &[49, 50, 51]);
        assert_eq!((good, bad), (48, 52));
        assert!(checks <= 10, "{checks} checks");
        let (good, bad, _) = find(20, &[50, 51, 52, 25]);
        assert_eq!((good, bad), (19, 20));
        let all: Vec<usize> = (1..100).collect();
        assert_eq!(find(40, &all), (0, 100, 99));
    }
}
