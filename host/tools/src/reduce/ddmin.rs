//! Delta debugging: a minimal subset that still passes a test.

/// Returns a subset of `all` that passes `test` and from which no single element can be removed. `all` itself has to
/// pass. (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input".)
pub(crate) fn ddmin<T: Clone, E>(
    mut all: Vec<T>,
    test: &mut dyn FnMut(&[T]) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    let mut pieces = 2;
    while all.len() > 1 {
        let size = all.len().div_ceil(pieces);
        let pieces_alone = all.chunks(size).map(|piece| (piece.to_vec(), 2));
        // With two pieces, the complement of one is the other.
        let starts = (0..all.len()).step_by(size).filter(|_| pieces > 2);
        let rests = starts.map(|start| {
            let end = (start + size).min(all.len());
            let rest = [&all[..start], &all[end..]].concat();
            (rest, (pieces - 1).max(2))
        });
        let mut smaller = None;
        for (part, next) in pieces_alone.chain(rests) {
            if test(&part)? {
                smaller = Some((part, next));
                break;
            }
        }
        match smaller {
            Some((part, next)) => (all, pieces) = (part, next),
            None if size == 1 => break,
            None => pieces = (pieces * 2).min(all.len()),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Minimizes 0..1000 if these numbers are needed. Returns the result and the number of tests.
    fn minimize(needed: &[u32]) -> (Vec<u32>, usize) {
        let mut tests = 0;
        let mut test = |part: &[u32]| -> Result<bool, Infallible> {
            tests += 1;
            Ok(needed.iter().all(|number| part.contains(number)))
        };
        let Ok(remaining) = ddmin((0..1000).collect(), &mut test);
        (remaining, tests)
    }

    #[test]
    fn ddmin_keeps_needed_elements_with_few_tests() {
        for needed in [
            &[0][..],
            &[999],
            &[437],
            &[3, 4],
            &[0, 999],
            &[1, 400, 401, 998],
        ] {
            let (remaining, tests) = minimize(needed);
            assert_eq!(remaining, needed);
            assert!(tests <= 64 * needed.len(), "{needed:?}: {tests} tests");
        }
    }
}
