//! Mutations of protobuf messages that keep them messages: lengths around a change are made to fit,
//! so most of what comes out is parsed to its end. What breaks the format itself is left to
//! libFuzzer's own mutations, which run now and then instead.

use std::ops::Range;

use crate::wire::{Field, fields, put_bytes, put_tag, put_varint, varint};

/// How deep a mutation looks for a place.
const MAX_DEPTH: usize = 64;

/// Numbers where counts, kinds and lengths go wrong.
const NUMBERS: [u64; 20] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    10,
    16,
    20,
    22,
    64,
    127,
    128,
    0xffff,
    0x7fff_ffff,
    1 << 31,
    1 << 62,
    u64::MAX,
];

/// Texts that mean something in an ONNX file.
const TEXTS: [&str; 18] = [
    "",
    "x",
    "y",
    "Constant",
    "Identity",
    "If",
    "Loop",
    "ai.onnx",
    "onnx",
    "value",
    "value_ints",
    "value_strings",
    "location",
    "offset",
    "length",
    "../x",
    "-1",
    "18446744073709551615",
];

/// Numbers from a seed (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Random {
        Random(u64::from(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// A message inside a file, with those around it.
struct Place {
    /// The fields that lead there, outermost first, their records as they stand in the file.
    path: Vec<Field>,
    /// The message's bytes.
    body: Range<usize>,
    /// Its fields, counted from where it begins.
    fields: Vec<Field>,
}

/// Goes down from the root, and stops somewhere.
fn descend(file: &[u8], random: &mut Random) -> Option<Place> {
    let mut place = Place {
        path: Vec::new(),
        body: 0..file.len(),
        fields: fields(file)?,
    };
    let deepest = random.below(MAX_DEPTH);
    while place.path.len() < deepest && !place.fields.is_empty() {
        // Several tries: most fields of a message are numbers and names.
        let inner = (0..4).find_map(|_| {
            let field = random.pick(&place.fields).clone();
            let body = absolute(&place.body, &field.value);
            let inside = fields(&file[body.clone()])?;
            (field.wire == 2 && !inside.is_empty()).then_some((field, body, inside))
        });
        let Some((mut field, body, inside)) = inner else {
            break;
        };
        field.record = absolute(&place.body, &field.record);
        place.path.push(field);
        (place.body, place.fields) = (body, inside);
        if random.one_in(6) {
            break;
        }
    }
    Some(place)
}

fn absolute(base: &Range<usize>, range: &Range<usize>) -> Range<usize> {
    base.start + range.start..base.start + range.end
}

/// The file with another body of the message at a place; lengths around it fit.
fn with_body(file: &[u8], place: &Place, mut body: Vec<u8>) -> Vec<u8> {
    for (depth, field) in place.path.iter().enumerate().rev() {
        let outer = match depth.checked_sub(1).map(|above| &place.path[above]) {
            Some(above) => above.record.end - above.value.len()..above.record.end,
            None => 0..file.len(),
        };
        let mut record = file[outer.start..field.record.start].to_vec();
        put_bytes(&mut record, field.number, &body);
        record.extend_from_slice(&file[field.record.end..outer.end]);
        body = record;
    }
    body
}

/// A record from somewhere in a file.
fn any_record(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let place = descend(file, random)?;
    let field = (!place.fields.is_empty()).then(|| random.pick(&place.fields))?;
    Some(file[absolute(&place.body, &field.record)].to_vec())
}

/// A name or other bytes that hold no message, from somewhere in a file.
fn any_text(file: &[u8], random: &mut Random) -> Vec<u8> {
    if random.one_in(3) {
        return random.pick(&TEXTS).as_bytes().to_vec();
    }
    for _ in 0..4 {
        let Some(place) = descend(file, random) else {
            break;
        };
        let short: Vec<&Field> = place
            .fields
            .iter()
            .filter(|field| field.wire == 2 && field.value.len() < 64)
            .collect();
        if !short.is_empty() {
            let field = random.pick(&short);
            return file[absolute(&place.body, &field.value)].to_vec();
        }
    }
    Vec::new()
}

/// Changes one field of one message.
fn change(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let place = descend(file, random)?;
    let all = &file[place.body.clone()];
    let at = random.below(place.fields.len());
    let Some(field) = place.fields.get(at) else {
        let mut body = Vec::new();
        put_tag(&mut body, 1 + random.below(26) as u32, 0);
        put_varint(&mut body, *random.pick(&NUMBERS));
        return Some(with_body(file, &place, body));
    };
    let (before, after) = (&all[..field.record.start], &all[field.record.end..]);
    let (record, value) = (&all[field.record.clone()], &all[field.value.clone()]);
    let number = field.number;
    let mut new = Vec::new();
    match random.below(16) {
        0 => {}
        1 => new = record.repeat(2 + random.below(3)),
        2 => {
            // In the place of another one.
            let other = random.pick(&place.fields).record.clone();
            let (first, last) = if other.start < field.record.start {
                (other, field.record.clone())
            } else {
                (field.record.clone(), other)
            };
            if first == last {
                return None;
            }
            let parts = [
                &all[..first.start],
                &all[last.clone()],
                &all[first.end..last.start],
                &all[first],
                &all[last.end..],
            ];
            return Some(with_body(file, &place, parts.concat()));
        }
        3 | 4 => {
            new = record.to_vec();
            new.extend(any_record(file, random)?);
        }
        5 => {
            new = record.to_vec();
            put_bytes(&mut new, number, &any_text(file, random));
        }
        6 => {
            put_tag(&mut new, 1 + random.below(26) as u32, field.wire);
            new.extend_from_slice(&record[record.len() - rest_of(record)..]);
        }
        7 => {
            // Inside itself, as a graph is in a graph.
            let mut inner = value.to_vec();
            for _ in 0..1 + random.below(3) {
                let mut outer = Vec::new();
                put_bytes(&mut outer, number, &inner);
                inner = outer;
            }
            put_bytes(&mut new, number, &inner);
        }
        8 if field.wire == 2 => new = record.repeat(1 << random.below(7)),
        9 => {
            // Many numbers, packed.
            let count = 1 << random.below(8);
            put_bytes(
                &mut new,
                number,
                &vec![random.below(256) as u8 & 0x7f; count],
            );
        }
        _ => match field.wire {
            0 => {
                let (old, _) = varint(value, 0)?;
                let number_now = match random.below(4) {
                    0 => old.wrapping_add(1),
                    1 => old.wrapping_sub(1),
                    2 => old ^ 1 << random.below(64),
                    _ => *random.pick(&NUMBERS),
                };
                put_tag(&mut new, number, 0);
                put_varint(&mut new, number_now);
            }
            // A message is seldom worth more as a text.
            2 if !value.is_empty() && fields(value).is_some() && !random.one_in(8) => {
                new = any_record(file, random)?;
            }
            2 => {
                let text = match random.below(4) {
                    0 => flipped(value, random),
                    _ => any_text(file, random),
                };
                put_bytes(&mut new, number, &text);
            }
            wire => {
                put_tag(&mut new, number, wire);
                new.extend(flipped(value, random));
            }
        },
    }
    Some(with_body(file, &place, [before, &new, after].concat()))
}

/// How many bytes of a record follow its tag.
fn rest_of(record: &[u8]) -> usize {
    record.len() - varint(record, 0).map_or(0, |(_, after)| after)
}

fn flipped(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.is_empty() {
        return vec![random.next() as u8];
    }
    let at = random.below(bytes.len());
    // What was ASCII stays so, mostly.
    let bits = if random.one_in(8) { 8 } else { 7 };
    bytes[at] ^= 1 << random.below(bits);
    bytes
}

/// Mutates the file of `len` bytes in the buffer; gives its new length. `plain` is libFuzzer's own
/// mutation.
pub fn mutate(
    buffer: &mut [u8],
    len: usize,
    most: usize,
    seed: u32,
    plain: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random::new(seed);
    if random.one_in(32) {
        return plain(buffer, len, most);
    }
    let mut file = buffer[..len].to_vec();
    let mut changed = false;
    let times = *random.pick(&[1, 1, 1, 2, 4]);
    for _ in 0..times {
        if let Some(new) = change(&file, &mut random).filter(|new| new.len() <= most) {
            (file, changed) = (new, true);
        }
    }
    if !changed {
        return plain(buffer, len, most);
    }
    buffer[..file.len()].copy_from_slice(&file);
    file.len()
}

/// Puts a part of the second file into the first: in the place of a field of the same number, so that
/// a node becomes another file's node.
pub fn cross(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Random::new(seed);
    let mut file = crossed(first, second, &mut random).unwrap_or_else(|| first.to_vec());
    if file.len() > out.len() {
        file.truncate(0);
        file.extend_from_slice(&first[..first.len().min(out.len())]);
    }
    out[..file.len()].copy_from_slice(&file);
    file.len()
}

fn crossed(first: &[u8], second: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let into = descend(first, random)?;
    let from = descend(second, random)?;
    let all = &first[into.body.clone()];
    for _ in 0..8 {
        let new = (!from.fields.is_empty()).then(|| random.pick(&from.fields))?;
        let place = into.fields.iter().find(|field| field.number == new.number);
        if let Some(place) = place {
            let record = &second[absolute(&from.body, &new.record)];
            let keep = if random.one_in(2) {
                place.record.end
            } else {
                place.record.start
            };
            let parts = [&all[..keep], record, &all[place.record.end..]];
            return Some(with_body(first, &into, parts.concat()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{1: {1: "a", 2: 7, 5: {1: "b"}}, 2: "name", 3: 1.0}`
    fn file() -> Vec<u8> {
        let (mut inner, mut outer, mut file) = (Vec::new(), Vec::new(), Vec::new());
        put_bytes(&mut inner, 1, b"b");
        put_bytes(&mut outer, 1, b"a");
        put_tag(&mut outer, 2, 0);
        put_varint(&mut outer, 7);
        put_bytes(&mut outer, 5, &inner);
        put_bytes(&mut file, 1, &outer);
        put_bytes(&mut file, 2, b"name");
        put_tag(&mut file, 3, 5);
        file.extend(1.0_f32.to_le_bytes());
        file
    }

    #[test]
    fn what_comes_out_is_a_message() {
        let mut buffer = [0; 4096];
        let mut different = 0;
        for seed in 0..20_000 {
            let old = file();
            buffer[..old.len()].copy_from_slice(&old);
            let len = mutate(&mut buffer, old.len(), 4096, seed, |_, len, _| len);
            let new = &buffer[..len];
            assert!(fields(new).is_some(), "{seed}: {new:?}");
            different += usize::from(new != old);
            let len = cross(&old, &file(), &mut [0; 4096], seed);
            assert!(len >= 4);
        }
        assert!(different > 15_000, "{different}");
    }

    #[test]
    fn a_body_is_put_back_where_it_was() {
        let file = file();
        for seed in 0..200 {
            let place = descend(&file, &mut Random::new(seed)).unwrap();
            let body = file[place.body.clone()].to_vec();
            assert_eq!(with_body(&file, &place, body), file);
        }
    }
}
