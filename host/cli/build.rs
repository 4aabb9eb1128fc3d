//! The source of the SDK as one packed file, for `passdock plugin new`: what its packages have, and
//! the licences. `src/command/plugin/new/sdk.rs` unpacks it.

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the repository that go in, and their places in the directory of the SDK. Tests stay
/// away, as from its packages.
const PARTS: [(&str, &str); 10] = [
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("plugin-api/Cargo.toml", "Cargo.toml"),
    ("plugin-api/build.rs", "build.rs"),
    ("plugin-api/src", "src"),
    ("plugin-api/abi/Cargo.toml", "abi/Cargo.toml"),
    ("plugin-api/abi/include", "abi/include"),
    ("plugin-api/abi/src", "abi/src"),
    ("plugin-share/Cargo.toml", "share/Cargo.toml"),
    ("plugin-share/src", "share/src"),
];
/// Where `plugin-share` finds the SDK: in the repository, and in the directory of the SDK. It lies there since cargo
/// takes no two SDKs, a vendored one and one of a checkout, in one build.
const SDK_OF_SHARE: [&str; 2] = ["path = \"../plugin-api\"", "path = \"..\""];
/// The shortest repetition that is worth naming.
const SHORTEST: usize = 6;
/// The places where a repetition is looked for.
const MOST_TRIED: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = here.join("../..");
    let mut plain = Vec::new();
    for (from, to) in PARTS {
        println!("cargo:rerun-if-changed={}", root.join(from).display());
        add(&root.join(from), to, &mut plain)?;
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("sdk.packed"), pack(&plain))?;
    Ok(())
}

/// Adds a file, or all files of a directory in the order of their names: the path, a line end, the
/// length in decimal, a line end, the bytes.
fn add(from: &Path, to: &str, plain: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    if !from.is_dir() {
        // A checkout may have other line ends.
        let mut text = fs::read_to_string(from)?.replace("\r\n", "\n");
        if to == "share/Cargo.toml" {
            let [there, here] = SDK_OF_SHARE;
            if !text.contains(there) {
                return Err(format!("plugin-share doesn't say `{there}`").into());
            }
            text = text.replace(there, here);
        }
        plain.extend(format!("{to}\n{}\n{text}", text.len()).bytes());
        return Ok(());
    }
    let entries = fs::read_dir(from)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{} isn't UTF-8", path.display()))?;
        add(&path, &format!("{to}/{name}"), plain)?;
    }
    Ok(())
}

/// Packs bytes: runs of new bytes (their number, then they), each with a repetition behind it (its
/// length, then how far back it stands); a length of 0 is the end. Numbers are in groups of seven
/// bits, the lowest first.
fn pack(plain: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut seen: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let (mut at, mut start) = (0, 0);
    while at < plain.len() {
        let (length, from) = longest(plain, at, &seen);
        let end = at + length.max(1);
        for place in at..end {
            if let Some(key) = plain.get(place..place + SHORTEST) {
                seen.entry(key).or_default().push(place);
            }
        }
        if length > 0 {
            number(at - start, &mut packed);
            packed.extend(&plain[start..at]);
            number(length, &mut packed);
            number(at - from, &mut packed);
            start = end;
        }
        at = end;
    }
    number(at - start, &mut packed);
    packed.extend(&plain[start..]);
    number(0, &mut packed);
    packed
}

/// The longest repetition at a place: its length, which may be 0, and where it stands before.
fn longest(plain: &[u8], at: usize, seen: &HashMap<&[u8], Vec<usize>>) -> (usize, usize) {
    let key = plain.get(at..at + SHORTEST);
    let places = key.and_then(|key| seen.get(key));
    let places = places.into_iter().flatten().rev().take(MOST_TRIED);
    let lengths = places.map(|&from| {
        let pairs = plain[from..].iter().zip(&plain[at..]);
        (pairs.take_while(|(a, b)| a == b).count(), from)
    });
    lengths.max_by_key(|(length, _)| *length).unwrap_or((0, 0))
}

fn number(mut value: usize, packed: &mut Vec<u8>) {
    while value >= 0x80 {
        packed.push(value as u8 | 0x80);
        value >>= 7;
    }
    packed.push(value as u8);
}
