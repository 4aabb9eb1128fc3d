//! Checks of a library made by hand, so that they run on every system, and of broken copies of it.

use expect_test::{Expect, expect};
use object::pe::ImageNtHeaders64;

use super::super::check_bytes;
use super::{Image, Kind};

/// The offsets of the headers' parts in the file.
const FILE_HEADER: usize = 0x44;
const OPTIONAL: usize = FILE_HEADER + 20;
const DIRECTORY: usize = OPTIONAL + 112;
const SECTIONS: usize = OPTIONAL + 240;
const SECTION: usize = 40;
/// The offset of `.rdata` in the file, and its address.
const DATA: (usize, u32) = (0x400, 0x2000);
const MANIFEST: &[u8] = b"[plugin]\nname = \"hand\"\0";

/// The parts of `.rdata`, as offsets in it.
const ADDRESSES: usize = 40;
const NAMES: usize = 48;
const ORDINALS: usize = 56;
const TEXTS: usize = 64;
const TEXT: usize = 0x200;

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// A library with two sections: one byte of code, and exports with a manifest.
fn library() -> Vec<u8> {
    let mut b = vec![0; 0x800];
    b[..2].copy_from_slice(b"MZ");
    put32(&mut b, 0x3c, 0x40);
    b[0x40..0x44].copy_from_slice(b"PE\0\0");
    put16(&mut b, FILE_HEADER, 0x8664);
    put16(&mut b, FILE_HEADER + 2, 2);
    put16(&mut b, FILE_HEADER + 16, 240);
    put16(&mut b, FILE_HEADER + 18, 0x2022);
    put16(&mut b, OPTIONAL, 0x20b);
    // The entry point, the alignments, the sizes of image and headers, the number of directories.
    for (at, value) in [
        (16, 0x1000),
        (32, 0x1000),
        (36, 0x200),
        (56, 0x3000),
        (60, 0x200),
        (108, 16),
    ] {
        put32(&mut b, OPTIONAL + at, value);
    }
    put32(&mut b, DIRECTORY, DATA.1);
    put32(&mut b, DIRECTORY + 4, 0x100);
    let sections = [
        (b".text\0\0\0", [1, 0x1000, 0x200, 0x200], 0x6000_0020),
        (
            b".rdata\0\0",
            [0x400, DATA.1, 0x400, DATA.0 as u32],
            0x4000_0040,
        ),
    ];
    for (at, (name, numbers, flags)) in sections.into_iter().enumerate() {
        let at = SECTIONS + at * SECTION;
        b[at..at + 8].copy_from_slice(name);
        for (i, number) in numbers.into_iter().enumerate() {
            put32(&mut b, at + 8 + 4 * i, number);
        }
        put32(&mut b, at + 36, flags);
    }
    let data = &mut b[DATA.0..];
    let rva = |at: usize| DATA.1 + at as u32;
    for (at, value) in [
        (16, 1),
        (20, 2),
        (24, 2),
        (28, rva(ADDRESSES)),
        (32, rva(NAMES)),
        (36, rva(ORDINALS)),
        // The manifest's address is the first, and its name too.
        (ADDRESSES, rva(TEXT)),
        (ADDRESSES + 4, 0x1000),
        (NAMES, rva(TEXTS)),
        (NAMES + 4, rva(TEXTS + 32)),
    ] {
        put32(data, at, value);
    }
    put16(data, ORDINALS + 2, 1);
    for (at, text) in [
        (TEXTS, &b"passdock_manifest_v0"[..]),
        (TEXTS + 32, b"passdock_plugin_v0"),
        (TEXT, MANIFEST),
    ] {
        data[at..at + text.len()].copy_from_slice(text);
    }
    b
}

/// What a check says of the bytes, whatever this machine is: the manifest, or why not.
fn checked(bytes: &[u8]) -> Result<&[u8], Kind> {
    let image = Image::<ImageNtHeaders64, _>::read(bytes, bytes.len() as u64)?;
    image.check()
}

#[test]
fn a_good_library_gives_its_manifest() {
    let bytes = library();
    let manifest = checked(&bytes).expect("a good library");
    assert!(manifest.starts_with(MANIFEST));
    assert_eq!(manifest.len(), 0x400 - TEXT);
}

#[test]
fn each_wrong_library_has_its_sentence() {
    type Break = fn(&mut Vec<u8>);
    let cases: &[(Break, Expect)] = &[
        (
            |b| b.truncate(0x20),
            expect![
                "it is cut off: its header needs 64 bytes and the file has 32; copy or build it again"
            ],
        ),
        (
            |b| b.truncate(0x100),
            expect![
                "it is cut off: its header needs 328 bytes and the file has 256; copy or build it again"
            ],
        ),
        (
            |b| b.truncate(0x150),
            expect![
                "it is cut off: its list of sections needs 408 bytes and the file has 336; copy or build it again"
            ],
        ),
        (
            |b| b.truncate(0x7ff),
            expect![
                "it is cut off: one of its sections needs 2048 bytes and the file has 2047; copy or build it again"
            ],
        ),
        (
            |b| put32(b, 0x3c, u32::MAX),
            expect![
                "it is cut off: its header needs 4294967431 bytes and the file has 2048; copy or build it again"
            ],
        ),
        (
            |b| put16(b, FILE_HEADER + 18, 0x22),
            expect!["it isn't a shared library (an executable); a plugin here is a `.so`"],
        ),
        (
            |b| put16(b, FILE_HEADER + 2, 0),
            expect!["it is damaged: it has 0 sections; copy or build it again"],
        ),
        (
            |b| put16(b, FILE_HEADER + 2, 97),
            expect!["it is damaged: it has 97 sections; copy or build it again"],
        ),
        (
            |b| put32(b, SECTIONS + SECTION + 12, 0x1000),
            expect![
                "it is damaged: its sections overlap or aren't in order; copy or build it again"
            ],
        ),
        (
            |b| put32(b, SECTIONS + SECTION + 12, 0x2010),
            expect!["it is damaged: one of its sections is misaligned; copy or build it again"],
        ),
        (
            |b| put32(b, OPTIONAL + 56, 0x2200),
            expect![
                "it is damaged: one of its sections lies outside the image; copy or build it again"
            ],
        ),
        (
            |b| put32(b, OPTIONAL + 32, 3),
            expect![
                "it is damaged: its sections have an impossible alignment; copy or build it again"
            ],
        ),
        (
            |b| put32(b, OPTIONAL + 16, 0x2000),
            expect!["it is damaged: its entry point lies outside its code; copy or build it again"],
        ),
        // Imports that lie nowhere, and a directory that goes on behind its section.
        (
            |b| {
                put32(b, DIRECTORY + 8, 0xffff_f000);
                put32(b, DIRECTORY + 12, 0xffff_ffff);
            },
            expect!["it is damaged: its imports aren't in the file; copy or build it again"],
        ),
        (
            |b| put32(b, DIRECTORY + 4, 0x401),
            expect!["it is damaged: its exports aren't in the file; copy or build it again"],
        ),
        (
            |b| put32(b, DIRECTORY, 0),
            expect![
                "it doesn't export `passdock_plugin_v0`; write `export_plugin!(PLUGIN);` in the library's crate, or in C define the symbol with default visibility"
            ],
        ),
        (
            |b| b[DATA.0 + TEXTS + 32 + 17] = b'1',
            expect![
                "it doesn't export `passdock_plugin_v0`; write `export_plugin!(PLUGIN);` in the library's crate, or in C define the symbol with default visibility"
            ],
        ),
        (
            |b| b[DATA.0 + TEXTS + 19] = b'1',
            expect![
                "it doesn't export `passdock_manifest_v0`; write `export_plugin!(PLUGIN);` in the library's crate, or in C define the symbol with default visibility"
            ],
        ),
        (
            |b| b[DATA.0 + TEXTS] = b'q',
            expect!["it is damaged: its exported names aren't in order; copy or build it again"],
        ),
        // Numbers of names and addresses that the directory doesn't hold.
        (
            |b| put32(b, DATA.0 + 24, u32::MAX),
            expect![
                "it is damaged: a table can't be read (Invalid PE export name pointer table); copy or build it again"
            ],
        ),
        (
            |b| put32(b, DATA.0 + 20, 1),
            expect![
                "it is damaged: a table can't be read (Invalid PE export address index); copy or build it again"
            ],
        ),
        (
            |b| put32(b, DATA.0 + NAMES, 0xffff_ff00),
            expect![
                "it is damaged: a table can't be read (Invalid PE export name pointer); copy or build it again"
            ],
        ),
        // Addresses of the two symbols: of data, in no section, of code, of another library.
        (
            |b| put32(b, DATA.0 + ADDRESSES + 4, DATA.1 + TEXT as u32),
            expect!["it exports `passdock_plugin_v0` as data, it must be a function"],
        ),
        (
            |b| put32(b, DATA.0 + ADDRESSES + 4, 0xffff_ffff),
            expect!["it is damaged: its entry lies in no section; copy or build it again"],
        ),
        (
            |b| put32(b, DATA.0 + ADDRESSES, 0x1000),
            expect!["it exports `passdock_manifest_v0` as code, it must be an array of bytes"],
        ),
        (
            |b| put32(b, DATA.0 + ADDRESSES, 0x2900),
            expect!["it is damaged: its manifest lies in no section; copy or build it again"],
        ),
        (
            |b| {
                put32(b, DATA.0 + ADDRESSES, DATA.1 + 0x90);
                b[DATA.0 + 0x90..][..6].copy_from_slice(b"acme.f");
            },
            expect![
                "it exports `passdock_manifest_v0` as something of another library, it must be defined in it"
            ],
        ),
        // The section is longer in memory than in the file, and the manifest is there.
        (
            |b| {
                put32(b, SECTIONS + SECTION + 8, 0x800);
                put32(b, DATA.0 + ADDRESSES, DATA.1 + 0x500);
            },
            expect!["it is damaged: its manifest isn't in the file; copy or build it again"],
        ),
    ];
    for (breaks, expected) in cases {
        let mut bytes = library();
        breaks(&mut bytes);
        let said = checked(&bytes).map_or_else(|kind| kind.to_string(), |_| String::new());
        expected.assert_eq(&said.replace(super::super::EXPECTED, "a `.so`"));
    }
}

#[test]
fn a_library_for_another_machine() {
    for (machine, magic, name) in [
        (0x14c, 0x10b, "a Windows library for i386"),
        (0x1c4, 0x10b, "a Windows library for arm"),
        (0xaa64, 0x20b, "a Windows library for aarch64"),
        (0x9999, 0x20b, "a Windows library for unknown"),
    ] {
        if cfg!(all(windows, target_arch = "aarch64")) && machine == 0xaa64 {
            continue;
        }
        let mut bytes = library();
        put16(&mut bytes, FILE_HEADER, machine);
        put16(&mut bytes, OPTIONAL, magic);
        let Err(error) = check_bytes(&bytes[..], bytes.len() as u64) else {
            panic!("{name}: it should be refused");
        };
        let said = error.to_string();
        assert!(said.contains(name), "{said}");
        assert!(said.contains("build it for this machine"), "{said}");
    }
    let bytes = library();
    let found = check_bytes(&bytes[..], bytes.len() as u64);
    assert_eq!(
        found.is_ok(),
        cfg!(all(windows, target_arch = "x86_64")),
        "a whole library is one for Windows only"
    );
}

#[test]
fn what_only_begins_like_a_library() {
    let said = |bytes: &[u8]| match check_bytes(bytes, bytes.len() as u64) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    expect!["it is cut off: its header needs 64 bytes and the file has 18; copy or build it again"]
        .assert_eq(&said(b"MZ                "));
    let bytes = library();
    expect!["it is cut off: its header needs 90 bytes and the file has 80; copy or build it again"]
        .assert_eq(&said(&bytes[..0x50]));
    let mut bytes = library();
    bytes[0x40] = b'N';
    assert!(said(&bytes).contains("a program of MS-DOS"));
}

#[test]
fn every_cut_is_noticed() {
    let bytes = library();
    for len in 0..bytes.len() {
        assert!(checked(&bytes[..len]).is_err(), "{len}");
    }
}

/// Random damage never panics or hangs; whatever passes has a manifest of the file.
#[test]
fn random_damage_is_survived() {
    let bytes = library();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |n: usize| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    };
    let mut passed = 0;
    for _ in 0..20_000 {
        let mut copy = bytes.clone();
        for _ in 0..1 + below(4) {
            // Where headers and tables stand.
            let at = match below(2) {
                0 => below(0x198),
                _ => DATA.0 + below(0x60),
            };
            copy[at] = match below(4) {
                0 => 0,
                1 => 0xFF,
                2 => copy[at] ^ (1 << below(8)),
                _ => below(256) as u8,
            };
        }
        if let Ok(manifest) = checked(&copy) {
            assert!(manifest.len() <= copy.len());
            passed += 1;
        }
    }
    assert!(passed > 0, "the damage leaves nothing whole");
}
