//! The validation of real libraries, built here by the system's C compiler, and of damaged copies of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::check;

const MANIFEST: &str =
    r#"[plugin]\nname = \"c\"\nversion = \"1\"\nabi = \"1.0\"\nir = \"1.0\"\npanic = \"none\"\n"#;

/// A directory with a library. Without a C compiler, the test is skipped with a message.
struct Built {
    dir: TempDir,
    lib: PathBuf,
}

fn build(source: &str, flags: &[&str]) -> Option<Built> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let c = dir.path().join("plugin.c");
    std::fs::write(&c, source).expect("writes the source");
    let lib = dir.path().join("plugin.so");
    let status = Command::new("cc")
        .args(flags)
        .arg("-o")
        .arg(&lib)
        .arg(&c)
        .status();
    match status {
        Ok(status) => assert!(status.success(), "cc rejects {source}"),
        Err(error) => {
            skip(&format!("could not run cc: {error}"));
            return None;
        }
    }
    Some(Built { dir, lib })
}

#[allow(clippy::print_stderr, reason = "a skipped test prints a message")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

fn valid_source() -> String {
    format!(
        "void *passdock_plugin_v1(void *host) {{ return host; }}\n\
         const char passdock_manifest_v1[] = \"{MANIFEST}\";\n"
    )
}

fn valid_lib() -> Option<Built> {
    if !cfg!(target_os = "linux") {
        skip("ELF libraries are built on Linux only");
        return None;
    }
    build(&valid_source(), &["-shared", "-fPIC"])
}

#[track_caller]
fn expect_error(lib: &Path, expected: &str) {
    let error = check(lib).expect_err("the file is broken").to_string();
    assert!(error.contains(expected), "{error}\n{expected}");
}

#[test]
fn valid_library_yields_its_manifest() {
    for flags in [
        &["-shared", "-fPIC"][..],
        &["-shared", "-fPIC", "-s"],
        &["-shared", "-fPIC", "-Wl,--hash-style=sysv"],
        &["-shared", "-fPIC", "-Wl,--hash-style=both", "-g"],
    ] {
        if !cfg!(target_os = "linux") {
            return skip("ELF libraries are built on Linux only");
        }
        let Some(built) = build(&valid_source(), flags) else {
            return;
        };
        let checked = check(&built.lib).expect("a valid library");
        assert_eq!(checked.0.plugin.name, "c", "{flags:?}");
    }
}

/// Libraries in C, their compiler flags, and part of the error message about each.
#[test]
fn invalid_libraries_are_rejected() {
    const ENTRY: &str = "void *passdock_plugin_v1(void *h) { return h; }";
    if !cfg!(target_os = "linux") {
        return skip("ELF libraries are built on Linux only");
    }
    let so = "-shared -fPIC";
    let entry_and = |rest: &str| format!("{ENTRY}\n{rest}");
    for (source, flags, expected) in [
        (
            "int nothing(void) { return 0; }".to_owned(),
            so,
            "missing symbol `passdock_plugin_v1`",
        ),
        (entry_and(""), so, "missing symbol `passdock_manifest_v1`"),
        (
            "int passdock_plugin_v1 = 1; const char passdock_manifest_v1[] = \"\";".to_owned(),
            so,
            "expected symbol `passdock_plugin_v1` to be a function, found data",
        ),
        (
            entry_and("void passdock_manifest_v1(void) {}"),
            so,
            "expected symbol `passdock_manifest_v1` to be an array of bytes, found code",
        ),
        (
            entry_and("const char *passdock_manifest_v1 = \"[plugin]\";"),
            so,
            "the text is empty; declare the symbol as an array with the text, not as a pointer to it",
        ),
        (
            entry_and("char passdock_manifest_v1[2000000] = { [0 ... 1999998] = 'a' };"),
            so,
            "the manifest has 1048577 bytes, but the limit is 1048576",
        ),
        (
            entry_and("char passdock_manifest_v1[100];"),
            so,
            "symbol `passdock_manifest_v1` has no data in the file; initialize it",
        ),
        (
            "int main(void) { return 0; }".to_owned(),
            "-pie -fPIE",
            "missing symbol",
        ),
        (
            "int x;".to_owned(),
            "-c",
            "expected a shared library (`.so`), found an object file",
        ),
    ] {
        let flags: Vec<&str> = flags.split(' ').collect();
        let Some(built) = build(&source, &flags) else {
            return;
        };
        expect_error(&built.lib, expected);
    }
}

#[test]
fn non_library_files_are_rejected() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("plugin.so");
    expect_error(&path, "check its path and permissions");
    for (bytes, expected) in [
        (&b""[..], "the file is empty; build it again"),
        (b"\x7fELF", "an unknown file format"),
        (b"int main() { return 0; }", "an unknown file format"),
        (
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0",
            "copy or build it again",
        ),
        (b"!<arch>\nx               ", "an unknown file format"),
    ] {
        std::fs::write(&path, bytes).expect("a file");
        expect_error(&path, expected);
    }
    expect_error(dir.path(), "not a regular file; pass a shared library");
}

#[test]
fn library_for_another_architecture_is_rejected() {
    let Some(built) = valid_lib() else { return };
    let mut bytes = std::fs::read(&built.lib).expect("a file");
    let other = built.dir.path().join("other.so");
    bytes[18] = if cfg!(target_arch = "aarch64") {
        62
    } else {
        183
    };
    std::fs::write(&other, bytes).expect("a file");
    expect_error(&other, "build it for this machine");
}

#[test]
fn truncated_libraries_are_rejected() {
    let Some(built) = valid_lib() else { return };
    let bytes = std::fs::read(&built.lib).expect("a file");
    let cut = built.dir.path().join("cut.so");
    for len in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        std::fs::write(&cut, &bytes[..len]).expect("a file");
        let error = check(&cut).expect_err("cut off");
        assert!(!error.to_string().is_empty(), "{len}");
    }
}

/// Random damage never causes a panic, a hang or running code. Accepted files have a complete manifest.
#[test]
fn random_damage_does_not_panic() {
    let Some(built) = valid_lib() else { return };
    let bytes = std::fs::read(&built.lib).expect("a file");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..4_000 {
        let mut copy = bytes.clone();
        for _ in 0..1 + random.below(8) {
            // Half of the damage is at the beginning, where headers and tables are.
            let range = if random.below(2) == 0 {
                1024
            } else {
                copy.len()
            };
            let at = random.below(range.min(copy.len()));
            copy[at] = match random.below(4) {
                0 => 0,
                1 => 0xFF,
                2 => copy[at] ^ (1 << random.below(8)),
                _ => random.below(256) as u8,
            };
        }
        if random.below(8) == 0 {
            copy.truncate(random.below(copy.len()));
        }
        if let Ok(found) = super::manifest_in(&copy) {
            assert!(found.len() <= copy.len());
        }
    }
    for _ in 0..4_000 {
        let len = 4 + random.below(512);
        let mut noise: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        let magics: [&[u8]; 6] = [
            b"\x7fELF\x02\x01\x01\0",
            b"\x7fELF\x01\x01\x01\0",
            b"\xcf\xfa\xed\xfe",
            b"\xca\xfe\xba\xbe",
            b"MZ",
            b"!<arch>\n",
        ];
        let magic = magics[random.below(magics.len())];
        let n = magic.len().min(noise.len());
        noise[..n].copy_from_slice(&magic[..n]);
        assert!(super::manifest_in(&noise).is_err());
    }
}

/// xorshift64*: the same damage on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}
