//! Mutations of records of one length, so that each stays what it is when others come and go.

use crate::edits::STEP;
use crate::mutate::Random;

/// Mutates the bytes in the buffer, a header and steps behind it; gives their new number. `plain` is
/// libFuzzer's own mutation.
pub fn mutate(
    buffer: &mut [u8],
    len: usize,
    most: usize,
    seed: u32,
    plain: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random::new(seed);
    if len < 2 * STEP || random.one_in(12) {
        return plain(buffer, len, most);
    }
    let mut steps: Vec<[u8; STEP]> = buffer[..len]
        .chunks_exact(STEP)
        .map(|step| step.try_into().expect("as long as a step"))
        .collect();
    for _ in 0..1 + random.below(3) {
        let (a, b) = (random.below(steps.len()), random.below(steps.len()));
        match random.below(8) {
            0 if a > 0 && steps.len() > 2 => _ = steps.remove(a),
            1 => steps.insert(b.max(1), steps[a]),
            2 if a > 0 && b > 0 => steps.swap(a, b),
            3 => {
                let step = std::array::from_fn(|_| random.below(256) as u8);
                steps.insert(b.max(1), step);
            }
            4 => {
                let (from, to) = (a.min(b).max(1), a.max(b));
                let run: Vec<_> = steps[from.min(to)..=to].iter().take(16).copied().collect();
                steps.splice(to + 1..to + 1, run);
            }
            _ => {
                let byte = random.below(STEP);
                steps[a][byte] = match random.below(3) {
                    0 => random.below(256) as u8,
                    1 => steps[a][byte].wrapping_add(1),
                    _ => steps[b][byte],
                };
            }
        }
    }
    let new = steps.concat();
    let len = new.len().min(most);
    buffer[..len].copy_from_slice(&new[..len]);
    len
}
