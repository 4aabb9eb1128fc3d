//! Mutations of numbers in binary files: offsets, counts and flags of headers and tables.

use crate::mutate::Random;

/// Mutates the bytes in the buffer; gives their new number. `plain` is libFuzzer's own mutation.
pub fn mutate(
    buffer: &mut [u8],
    len: usize,
    most: usize,
    seed: u32,
    plain: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random::new(seed);
    if len < 16 || random.one_in(4) {
        return plain(buffer, len, most);
    }
    let width = [1, 2, 4, 8][random.below(4)];
    // Headers and tables stand at the front mostly.
    let room = if random.one_in(2) { len.min(1024) } else { len };
    let place = |random: &mut Random| random.below((room - width) / width + 1) * width;
    let at = place(&mut random);
    let old = read(&buffer[at..at + width]);
    let new = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => len as u64,
        3 => random.below(len) as u64,
        4 => old.wrapping_add(1 + random.below(16) as u64),
        5 => old.wrapping_sub(1 + random.below(16) as u64),
        6 => old ^ (1 << random.below(8 * width)),
        // What stands elsewhere: addresses for offsets, one table for another.
        _ => {
            let from = place(&mut random);
            read(&buffer[from..from + width])
        }
    };
    buffer[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
    len
}

fn read(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}
