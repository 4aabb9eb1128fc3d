//! Reading files from NumPy, and malformed ones.

use expect_test::{Expect, expect};
use passdock_npy::read_from;

/// Returns a file of version 1 with this header.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, by_columns: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {by_columns}, 'shape': {shape}, }}   \n")
}

fn render(bytes: &[u8]) -> String {
    match read_from(bytes) {
        Ok(array) => {
            let name = array.dtype.name().unwrap_or("?");
            format!("{name}{:?} {:?}", array.shape, array.data)
        }
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(files: &[Vec<u8>], expected: Expect) {
    let lines: String = files.iter().map(|file| render(file) + "\n").collect();
    expected.assert_eq(&lines);
}

#[test]
fn elements_are_little_endian_in_row_major_order() {
    let six = [1, 2, 3, 4, 5, 6];
    check(
        &[
            file(&header("<f4", "False", "()"), &1.5_f32.to_le_bytes()),
            file(&header(">i4", "False", "(2,)"), &[0, 0, 0, 1, 0, 0, 0, 2]),
            file(&header(">c8", "False", "(1,)"), &[1, 2, 3, 4, 5, 6, 7, 8]),
            file(&header("|b1", "False", "(3,)"), &[0, 1, 7]),
            file(&header("|u1", "False", "(2, 3)"), &six),
            file(&header("|u1", "True", "(2, 3)"), &six),
            file(&header("|u1", "True", "(1, 2, 3)"), &six),
            file(&header("<u2", "True", "(3, 1)"), &six),
            file(&header("<V2", "False", "(1,)"), &[0x80, 0x3f]),
            file(&header("<f8", "False", "(0, 3)"), &[]),
            file(&header("<f8", "True", "(3L, 0L)"), &[]),
        ],
        expect![[r#"
            f32[] [0, 0, 192, 63]
            i32[2] [1, 0, 0, 0, 2, 0, 0, 0]
            c64[1] [4, 3, 2, 1, 8, 7, 6, 5]
            bool[3] [0, 1, 1]
            u8[2, 3] [1, 2, 3, 4, 5, 6]
            u8[2, 3] [1, 3, 5, 2, 4, 6]
            u8[1, 2, 3] [1, 3, 5, 2, 4, 6]
            u16[3, 1] [1, 2, 3, 4, 5, 6]
            bf16[1] [128, 63]
            f64[0, 3] []
            f64[3, 0] []
        "#]],
    );
}

#[test]
fn later_versions_have_longer_header_lengths() {
    let text = header("|u1", "False", "(1,)");
    let later = |version: u8| {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(9);
        bytes
    };
    check(
        &[later(2), later(3), later(4)],
        expect![[r#"
            u8[1] [9]
            u8[1] [9]
            invalid header: expected version 1 to 3, found 4
        "#]],
    );
}

#[test]
fn invalid_files_are_rejected() {
    let records = "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }";
    check(
        &[
            b"".to_vec(),
            b"PK\x03\x04 and more bytes".to_vec(),
            file(records, &[0; 4]),
            file(&header("|O", "False", "(1,)"), &[0; 8]),
            file(&header("<U2", "False", "(1,)"), &[0; 8]),
            file(&header("<f16", "False", "(1,)"), &[0; 16]),
            file(&header("<V1", "False", "(1,)"), &[0]),
            file(&header("<f4", "False", "(2,)"), &[0; 7]),
            file(&header("<f4", "False", "(2,)"), &[0; 9]),
            file(&header("<f4", "False", "(9223372036854775807, 9)"), &[0; 8]),
            file(&header("<f4", "False", "(9223372036854775807, 9, 0)"), &[]),
            file(&header("<f4", "False", "(99999999999999999999,)"), &[0; 8]),
            file(&header("<f4", "False", "(-1,)"), &[0; 8]),
            file(&header("<f4", "Maybe", "(1,)"), &[0; 4]),
            file("{'descr': '<f4', 'shape': (1,)}", &[0; 4]),
            file("{'descr': '<f4', 'colour': 'red'}", &[0; 4]),
            file("{'descr': '<f4'", &[0; 4]),
            file("[1, 2]", &[]),
            file(
                &header("<f4", "False", &format!("({})", "1,".repeat(65))),
                &[0; 4],
            ),
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'".to_vec(),
            b"\x93NUMPY\x01\x00\xff\xff{'descr'".to_vec(),
        ],
        expect![[r#"
            not a `.npy` file
            not a `.npy` file
            unsupported elements: records with several fields; expected numbers or bools
            unsupported elements: Python objects; expected numbers or bools
            unsupported elements: strings; expected numbers or bools
            unsupported elements: `<f16`; expected numbers or bools
            unsupported elements: `<V1`; expected numbers or bools
            expected 8 bytes of elements for shape [2], found 7
            expected 8 bytes of elements for shape [2], found 9
            invalid header: shape [9223372036854775807, 9] is too large
            invalid header: shape [9223372036854775807, 9, 0] is too large
            invalid header: invalid `shape`
            invalid header: invalid `shape`
            invalid header: invalid `fortran_order`
            invalid header: missing `fortran_order`
            invalid header: missing `fortran_order`
            invalid header: missing `fortran_order`
            invalid header: missing `descr`
            invalid header: invalid `shape`
            invalid header: the length of 4294967295 bytes exceeds 65536
            not a `.npy` file
        "#]],
    );
}

#[test]
fn random_bytes_do_not_panic() {
    let valid = file(&header("<f4", "True", "(2, 3)"), &[7; 24]);
    let mut seed = 1_u32;
    for _ in 0..20_000 {
        let mut bytes = valid.clone();
        for _ in 0..1 + seed % 4 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = seed as usize / 7 % bytes.len();
            bytes[at] = (seed >> 24) as u8;
        }
        bytes.truncate(bytes.len() - (seed as usize >> 8) % 3);
        let _ = read_from(&bytes[..]);
    }
}
