//! `trusted_keys` and `--require-signed`.
//!
//! The plugin is one of `tests/old-plugins`, which don't change. `minisign -S -m c_pass-gcc.so` signed it with two
//! keys, whose secret parts were deleted. `legacy.minisig` was written with `-l`.

use expect_test::expect;

use super::{folded, outcome};
use crate::support::{Bench, RELUS, REPOSITORY, plugin_elsewhere};

const VENDOR: &str = "RWRfXWYZPYLqR55FoZi3knbxk1T+kruT6hA6PquwrAP9K0MabaKtR1Y2";

const SIGNED: &str = include_str!("vendor.minisig");
const BY_OTHER: &str = include_str!("other.minisig");
const LEGACY: &str = include_str!("legacy.minisig");

/// Returns a bench with the plugin, and pipelines with and without the vendor's key.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let library = format!("{REPOSITORY}/tests/old-plugins/abi-1.0/c_pass-gcc.so");
    bench.write("c.so", std::fs::read(library).expect("the plugin"));
    let pipeline =
        "passes = ['FoldConstant', 'c.transform.FuseDoubleRelu']\n[plugins]\nfiles = ['c.so']\n";
    bench.write("no-keys.toml", pipeline);
    bench.write(
        "keys.toml",
        format!("{pipeline}trusted_keys = ['{VENDOR}']\n"),
    );
    bench
}

#[test]
fn signatures_are_verified_with_trusted_keys() {
    let bench = bench();
    let broken = SIGNED.replacen("acme 1.0", "acme 2.0", 1);
    let mut table = String::new();
    for (name, signature) in [
        ("no signature", None),
        ("signature of a trusted key", Some(SIGNED)),
        ("signature of another key", Some(BY_OTHER)),
        ("legacy signature", Some(LEGACY)),
        ("changed comment", Some(&*broken)),
        ("empty signature file", Some("")),
    ] {
        let path = bench.path("c.so.minisig");
        match signature {
            Some(signature) => std::fs::write(path, signature).expect("a file"),
            None => _ = std::fs::remove_file(path),
        }
        for words in [
            "check keys.toml",
            "check keys.toml --require-signed",
            "check no-keys.toml --require-signed",
        ] {
            let ran = bench.passdock(words);
            let line = ran.stderr.lines().next().unwrap_or("OK");
            table += &folded(&format!("{name}, {words}:\n  {line}\n"));
        }
    }
    expect![[r#"
        no signature, check keys.toml:
          OK
        no signature, check keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: `c.so.minisig` does not exist
        no signature, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: `c.so.minisig` does not exist
        signature of a trusted key, check keys.toml:
          OK
        signature of a trusted key, check keys.toml --require-signed:
          OK
        signature of a trusted key, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                47EA823D19665D5F, but no key is trusted
        signature of another key, check keys.toml:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                251ED637D058EFE4, which is not trusted; trusted keys: 47EA823D19665D5F
        signature of another key, check keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                251ED637D058EFE4, which is not trusted; trusted keys: 47EA823D19665D5F
        signature of another key, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                251ED637D058EFE4, but no key is trusted
        legacy signature, check keys.toml:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature has minisign's
                legacy format, which `minisign -S -l` writes; sign the file without `-l`
        legacy signature, check keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature has minisign's
                legacy format, which `minisign -S -l` writes; sign the file without `-l`
        legacy signature, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                47EA823D19665D5F, but no key is trusted
        changed comment, check keys.toml:
          error[signature]: plugin `c` in `c.so` has no valid signature: the file or the comment differs
                from what was signed
        changed comment, check keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the file or the comment differs
                from what was signed
        changed comment, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: the signature is of key
                47EA823D19665D5F, but no key is trusted
        empty signature file, check keys.toml:
          error[signature]: plugin `c` in `c.so` has no valid signature: `c.so.minisig` is not a signature
                of minisign; sign the file again
        empty signature file, check keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: `c.so.minisig` is not a signature
                of minisign; sign the file again
        empty signature file, check no-keys.toml --require-signed:
          error[signature]: plugin `c` in `c.so` has no valid signature: `c.so.minisig` is not a signature
                of minisign; sign the file again
    "#]].assert_eq(&table);
}

#[test]
fn changed_plugin_is_not_loaded() {
    let bench = bench();
    bench.write("c.so.minisig", SIGNED);
    let ran = bench.passdock("run keys.toml m.ir --require-signed -o out.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mut bytes = std::fs::read(bench.path("c.so")).expect("the plugin");
    bytes.push(0);
    bench.write("c.so", bytes);
    let outcomes = ["", " --in-process"].map(|option| {
        let words = format!("run keys.toml m.ir -o changed.ir{option}");
        outcome(&bench, &bench.passdock(&words))
    });
    assert_eq!(outcomes[0], outcomes[1]);
    expect![[r#"
        error[signature]: plugin `c` in `c.so` has no valid signature: the file or the comment differs from
                what was signed
         |
         = help: get the signed plugin from its vendor; if you built it, sign it: `minisign -S -m FILE`; if
                you trust another key, add it to `trusted_keys`
        exit status 3
    "#]].assert_eq(&outcomes[0]);
    assert!(!bench.exists("changed.ir"));
}

#[test]
fn signature_is_installed_with_the_plugin() {
    let bench = bench();
    bench.write("c.so.minisig", SIGNED);
    let pipeline =
        format!("passes = ['c.transform.FuseDoubleRelu']\nplugins.trusted_keys = ['{VENDOR}']\n");
    bench.write("installed.toml", pipeline);
    assert_eq!(bench.passdock("plugin install c.so").status, 0);
    let ran = bench.passdock("check installed.toml --require-signed");
    assert_eq!(outcome(&bench, &ran), "exit status 0\n");
}

/// Other plugins need a signature in the directories of the program, too.
#[test]
fn only_standard_plugins_are_trusted_like_the_program() {
    let bench = bench();
    let ran = bench.passdock("run m.ir --require-signed -o out.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = bench.passdock("run m.ir --passes tap.transform.Nothing --require-signed");
    let message = folded(&ran.stderr.replace(&bench.plugins(), ""));
    expect![[r#"
        error[signature]: plugin `tap` in `libpassdock_tap.so` has no valid signature:
                `libpassdock_tap.so.minisig` does not exist
         |
         = help: add the public key of the plugin's vendor to `trusted_keys` in `[plugins]` of the pipeline
    "#]].assert_eq(&message);
    let relax = plugin_elsewhere("passdock-tap").with_file_name("../libpassdock_relax.so");
    std::fs::copy(relax, bench.path("relax.so")).expect("a copy of the plugin");
    let ran = bench.passdock("run m.ir --plugin relax.so --require-signed");
    expect![[r#"
        error[signature]: plugin `relax` in `relax.so` has no valid signature: `relax.so.minisig` does not
                exist
         |
         = help: add the public key of the plugin's vendor to `trusted_keys` in `[plugins]` of the pipeline
        exit status 3
    "#]].assert_eq(&outcome(&bench, &ran));
}

#[test]
fn invalid_keys_and_signature_files_are_errors() {
    let bench = bench();
    for key in ["", "RW", "minisign public key", &VENDOR[..40]] {
        let pipeline = format!("passes = []\n[plugins]\ntrusted_keys = ['{key}']\n");
        bench.write("p.toml", pipeline);
        let ran = bench.passdock("check p.toml");
        assert!(
            ran.stderr.contains("is not a public key of minisign"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.status, 2);
    }
    bench.write("c.so.minisig", [0xff, 0x1b, b'['].repeat(100_000));
    expect![[r#"
        error[signature]: plugin `c` in `c.so` has no valid signature: could not read `c.so.minisig`:
                stream did not contain valid UTF-8
         |
         = help: get the signed plugin from its vendor; if you built it, sign it: `minisign -S -m FILE`; if
                you trust another key, add it to `trusted_keys`
        exit status 3
    "#]].assert_eq(&outcome(&bench, &bench.passdock("check keys.toml")));
    expect![[r#"
        warning[signature]: could not read `c.so.minisig`: stream did not contain valid UTF-8
        exit status 0
    "#]]
    .assert_eq(&outcome(&bench, &bench.passdock("inspect c.so")));
    bench.write("c.so.minisig", SIGNED);
    let ran = bench.passdock("inspect c.so");
    assert!(
        ran.stdout
            .contains("signature of key 47EA823D19665D5F, not verified\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        bench.passdock("inspect c.so --json").json()["signature_key"],
        "47EA823D19665D5F"
    );
}
