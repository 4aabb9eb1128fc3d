//! Sequences side by side: what stays in order, and what two have in common.

use rustc_hash::FxHashMap;

/// The most work that aligning two sequences may be, in steps.
const MAX_STEPS: usize = 1 << 25;
/// The most differences that are looked for: the memory grows with their square.
const MAX_EDITS: usize = 1 << 11;

/// The places of a longest increasing subsequence.
pub(super) fn longest_increasing<T: Ord>(numbers: &[T]) -> Vec<usize> {
    // Per length: where the sequence of that length with the least end ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; numbers.len()];
    for (at, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers[end] < *number);
        if length > 0 {
            before[at] = ends[length - 1];
        }
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut places = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        places.push(at);
        next = Some(before[at]).filter(|&at| at != usize::MAX);
    }
    places.reverse();
    places
}

/// Pairs of places that hold the same, in order in both: as many as there can be, or, where that
/// would take too long, the first with the first, the second with the second of each number.
pub(super) fn common(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let backwards = rest_a.iter().rev().zip(rest_b.iter().rev());
    let end = backwards.take_while(|(a, b)| a == b).count();
    let middle_a = &rest_a[..rest_a.len() - end];
    let middle_b = &rest_b[..rest_b.len() - end];
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    if !middle_a.is_empty() && !middle_b.is_empty() {
        let middle =
            shortest_edits(middle_a, middle_b).unwrap_or_else(|| by_occurrence(middle_a, middle_b));
        pairs.extend(middle.into_iter().map(|(i, j)| (start + i, start + j)));
    }
    pairs.extend((0..end).map(|at| (a.len() - end + at, b.len() - end + at)));
    pairs
}

/// Pairs of what is left on either side and has the same number, in order between pairs that are.
pub(super) fn between<T: Ord + Copy>(
    pairs: &[(T, T)],
    [mut rest_a, mut rest_b]: [&[T]; 2],
    number: impl Fn(usize, T) -> u64,
) -> Vec<(T, T)> {
    let partners: Vec<T> = pairs.iter().map(|pair| pair.1).collect();
    let kept = longest_increasing(&partners).into_iter();
    let mut made = Vec::new();
    for end in kept.map(|at| Some(pairs[at])).chain([None]) {
        let before = |rest: &[T], end: Option<T>| match end {
            Some(end) => rest.partition_point(|at| *at < end),
            None => rest.len(),
        };
        let (gap_a, gap_b);
        (gap_a, rest_a) = rest_a.split_at(before(rest_a, end.map(|end| end.0)));
        (gap_b, rest_b) = rest_b.split_at(before(rest_b, end.map(|end| end.1)));
        if gap_a.is_empty() || gap_b.is_empty() {
            continue;
        }
        let [a, b] = [(0, gap_a), (1, gap_b)]
            .map(|(side, gap)| -> Vec<u64> { gap.iter().map(|&at| number(side, at)).collect() });
        made.extend(
            common(&a, &b)
                .into_iter()
                .map(|(i, j)| (gap_a[i], gap_b[j])),
        );
    }
    made
}

/// Myers' algorithm; `None` if the sequences differ too much.
fn shortest_edits(a: &[u64], b: &[u64]) -> Option<Vec<(usize, usize)>> {
    let sum = a.len() + b.len();
    let most = MAX_EDITS.min(sum);
    // Per number of edits: how far each diagonal was reached before.
    let mut reached: Vec<Vec<u32>> = Vec::new();
    let mut steps = 0;
    for edits in 0..=most {
        let last: &[u32] = reached.last().map_or(&[], Vec::as_slice);
        let mut row = vec![0; 2 * edits + 1];
        for at in 0..=2 * edits {
            // Diagonals of the wrong parity can't be reached with so many edits.
            if at % 2 == 1 {
                continue;
            }
            let mut x = from_last(last, edits, at).0;
            let mut y = x + edits - at;
            // Off the edge: nothing is reached there.
            if x > a.len() || y > b.len() {
                row[at] = x as u32;
                continue;
            }
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
                steps += 1;
            }
            row[at] = x as u32;
            if x == a.len() && y == b.len() {
                reached.push(row);
                return Some(trace(&reached, a.len(), b.len()));
            }
        }
        steps += edits;
        if steps > MAX_STEPS {
            return None;
        }
        reached.push(row);
    }
    None
}

/// The place where diagonal `at` of a row is entered, and whether from the one above.
///
/// Row `edits` has diagonals `x - y` from `-edits` to `edits`; place `at` is diagonal
/// `at - edits`.
fn from_last(last: &[u32], edits: usize, at: usize) -> (usize, bool) {
    if edits == 0 {
        return (0, false);
    }
    // In the last row the diagonal below is at `at - 2`, the one above at `at`.
    let below = at.checked_sub(2).map(|place| last[place] as usize + 1);
    let above = last.get(at).map(|&x| x as usize);
    match (below, above) {
        (Some(below), Some(above)) if below > above => (below, false),
        (Some(below), None) => (below, false),
        (_, Some(above)) => (above, true),
        (None, None) => (0, true),
    }
}

/// Goes back from the end and collects what was common.
fn trace(reached: &[Vec<u32>], mut x: usize, mut y: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for edits in (0..reached.len()).rev() {
        let at = x + edits - y;
        let last = edits.checked_sub(1).map_or(&[][..], |row| &reached[row]);
        let (start, down) = from_last(last, edits, at);
        while x > start {
            (x, y) = (x - 1, y - 1);
            pairs.push((x, y));
        }
        if edits > 0 {
            (x, y) = if down { (x, y - 1) } else { (x - 1, y) };
        }
    }
    pairs.reverse();
    pairs
}

/// The first with the first, the second with the second of each number.
fn by_occurrence(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut places: FxHashMap<u64, std::collections::VecDeque<usize>> = FxHashMap::default();
    for (at, &number) in b.iter().enumerate() {
        places.entry(number).or_default().push_back(at);
    }
    let pair = |(at, number): (usize, &u64)| Some((at, places.get_mut(number)?.pop_front()?));
    a.iter().enumerate().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a longest common subsequence, by the book.
    fn longest(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (at, y) in b.iter().enumerate() {
                let up = row[at + 1];
                row[at + 1] = if x == y { corner + 1 } else { up.max(row[at]) };
                corner = up;
            }
        }
        row[b.len()]
    }

    #[test]
    fn as_much_is_common_as_can_be() {
        let mut state = 1_u64;
        let mut below = |end: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % end
        };
        for round in 0..2_000 {
            let kinds = 1 + below(4);
            let (long, other) = (below(12), below(12));
            let a: Vec<u64> = (0..long).map(|_| below(kinds)).collect();
            let b: Vec<u64> = (0..other).map(|_| below(kinds)).collect();
            let pairs = common(&a, &b);
            assert!(
                pairs.iter().all(|&(i, j)| a[i] == b[j]),
                "{round}: {a:?} {b:?} {pairs:?}"
            );
            assert!(
                pairs
                    .windows(2)
                    .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1),
                "{round}: {a:?} {b:?} {pairs:?}"
            );
            assert_eq!(
                pairs.len(),
                longest(&a, &b),
                "{round}: {a:?} {b:?} {pairs:?}"
            );
        }
    }

    #[test]
    fn what_differs_too_much_is_paired_by_occurrence() {
        let a: Vec<u64> = (0..40_000).collect();
        let b: Vec<u64> = (0..40_000).rev().collect();
        assert_eq!(common(&a, &b).len(), 40_000);
    }

    #[test]
    fn the_longest_increase_is_found() {
        assert_eq!(longest_increasing(&[3, 0, 1, 4, 2]), [1, 2, 4]);
        assert_eq!(longest_increasing::<u32>(&[]), [0; 0]);
    }
}
