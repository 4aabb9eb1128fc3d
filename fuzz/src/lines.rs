//! Mutations of IR text by lines and words, so that much of what comes out is still IR.

use crate::mutate::Random;

/// Mutates the text in the buffer; gives its new length. `plain` is libFuzzer's own mutation.
pub fn mutate(
    buffer: &mut [u8],
    len: usize,
    most: usize,
    seed: u32,
    plain: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random::new(seed);
    let changed = match std::str::from_utf8(&buffer[..len]) {
        Ok(text) if !random.one_in(10) => change(text, &mut random),
        _ => None,
    };
    match changed.filter(|text| text.len() <= most) {
        Some(text) => {
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            text.len()
        }
        None => plain(buffer, len, most),
    }
}

fn change(text: &str, random: &mut Random) -> Option<String> {
    if random.one_in(3) {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        pieces(&mut lines, random)?;
        return Some(lines.concat());
    }
    // In one line mostly: names come with their sigils.
    let mut words = words(text);
    let at = random.below(words.len());
    if random.one_in(2) {
        let first = words.get(at)?.as_bytes().first();
        let alike: Vec<&str> = words
            .iter()
            .filter(|word| word.as_bytes().first() == first)
            .copied()
            .collect();
        *words.get_mut(at)? = random.pick::<&str>(&alike);
    } else {
        pieces(&mut words, random)?;
    }
    Some(words.concat())
}

/// Takes a piece out, doubles it, or exchanges two.
fn pieces(pieces: &mut Vec<&str>, random: &mut Random) -> Option<()> {
    let (a, b) = (random.below(pieces.len()), random.below(pieces.len()));
    let piece = *pieces.get(a)?;
    match random.below(5) {
        0 => _ = pieces.remove(a),
        1 => pieces.insert(b, piece),
        2 => pieces.swap(a, b),
        3 => pieces[b] = piece,
        _ => {
            // A run of them, again: regions and functions among others.
            let run = pieces[a.min(b)..=a.max(b)].to_vec();
            if run.len() > 64 {
                return None;
            }
            let at = a.max(b) + 1;
            pieces.splice(at..at, run);
        }
    }
    Some(())
}

/// Words with their sigils, and what stands between them.
fn words(text: &str) -> Vec<&str> {
    let kind = |byte: u8| match byte {
        b'%' | b'@' | b'"' => 0,
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | 0x80.. => 1,
        b' ' | b'\n' => 2,
        _ => 3,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 1..=bytes.len() {
        let joins = bytes.get(at).is_some_and(|&byte| {
            let (before, here) = (kind(bytes[at - 1]), kind(byte));
            matches!((before, here), (0 | 1, 1) | (2, 2))
        });
        if !joins {
            words.push(&text[start..at]);
            start = at;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_sigils() {
        let text = "%0 = onnx.Relu(%x) : f32[n,2]\n";
        let expected = [
            "%0",
            " ",
            "=",
            " ",
            "onnx.Relu",
            "(",
            "%x",
            ")",
            " ",
            ":",
            " ",
            "f32",
            "[",
            "n",
            ",",
            "2",
            "]",
            "\n",
        ];
        assert_eq!(words(text), expected);
        assert_eq!(words("ä%\u{3b1}").concat(), "ä%\u{3b1}");
        assert!(words("").is_empty());
    }

    #[test]
    fn what_comes_out_is_text() {
        let text = "module {\n  fn @f(%\u{3b1}: f32[n]) {\n    return %\u{3b1}\n  }\n}\n";
        let mut different = 0;
        for seed in 0..10_000 {
            let mut buffer = [0; 4096];
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            let len = mutate(&mut buffer, text.len(), 4096, seed, |_, len, _| len);
            let new = std::str::from_utf8(&buffer[..len]).unwrap();
            different += usize::from(new != text);
        }
        assert!(different > 5000, "{different}");
    }
}
