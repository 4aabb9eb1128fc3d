//! Reading archives from NumPy, and malformed ones.

use expect_test::{Expect, expect};
use passdock_npy::read_npz_from;

/// `numpy.savez("stored.npz", b=numpy.float32(2), a=numpy.float32(1))`
const STORED: &[u8] = include_bytes!("data/stored.npz");
/// `numpy.savez_compressed("packed.npz", numpy.arange(6).reshape(2, 3), x=numpy.zeros(300, numpy.uint8))`
const PACKED: &[u8] = include_bytes!("data/packed.npz");

fn render(bytes: &[u8]) -> String {
    let arrays = match read_npz_from(bytes) {
        Ok(arrays) => arrays,
        Err(error) => return error.to_string(),
    };
    let each = arrays.iter().map(|(name, array)| {
        let dtype = array.dtype.name().unwrap_or("?");
        let ends = (array.data.first(), array.data.len());
        format!("{name}: {dtype}{:?} {ends:?}\n", array.shape)
    });
    each.collect()
}

#[track_caller]
fn check(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&render(bytes));
}

#[test]
fn numpy_archives_are_read() {
    check(
        STORED,
        expect![[r#"
        b: f32[] (Some(0), 4)
        a: f32[] (Some(0), 4)
    "#]],
    );
    check(
        PACKED,
        expect![[r#"
        x: u8[300] (Some(0), 300)
        arr_0: i64[2, 3] (Some(0), 48)
    "#]],
    );
}

/// Returns the archive with one byte changed in the first entry of its directory.
fn with_byte(at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = PACKED.to_vec();
    let entry = bytes.windows(4).position(|part| part == b"PK\x01\x02");
    bytes[entry.expect("an entry") + at] = byte;
    bytes
}

#[test]
fn invalid_archives_are_rejected() {
    check(b"", expect!["not a `.npz` file"]);
    check(
        b"not an archive, though it is as long as one",
        expect!["not a `.npz` file"],
    );
    check(&PACKED[40..], expect!["invalid entry `x.npy`: truncated"]);
    let (signature, flags, method, size) = (3, 8, 10, 24);
    check(
        &with_byte(signature, 9),
        expect!["truncated archive directory"],
    );
    check(
        &with_byte(flags, 1),
        expect!["invalid entry `x.npy`: encrypted"],
    );
    check(
        &with_byte(method, 12),
        expect!["invalid entry `x.npy`: unsupported compression method 12; expected 0 or 8"],
    );
    check(
        &with_byte(size, 7),
        expect!["invalid entry `x.npy`: corrupt compressed data"],
    );
}

#[test]
fn corrupt_archives_do_not_panic() {
    for bytes in [STORED, PACKED] {
        for end in 0..bytes.len() {
            assert!(read_npz_from(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for bits in [0xff, 0x01, 0x80] {
                let mut flipped = bytes.to_vec();
                flipped[at] ^= bits;
                // Any result is accepted, but the call must return.
                let _ = read_npz_from(&flipped);
            }
        }
    }
}
