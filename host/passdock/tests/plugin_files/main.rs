//! Discovery and loading of valid and invalid plugin files: which plugins are found, the message for each error, and
//! that no code runs before it is needed.
#![allow(
    clippy::print_stderr,
    missing_docs,
    reason = "a skipped test says so; a test crate has no readers of its API"
)]

mod entry;
mod ops;

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect, expect_file};
use passdock::Registry;
use passdock::plugin::{Plugin, SearchDir, discover, host};
use tempfile::TempDir;

/// The structs of the plugin ABI, as a C author declares them.
const C: &str = r#"
#include <stddef.h>
#include <stdint.h>
typedef struct { const char *ptr; size_t len; } Str;
typedef struct { Str name; void *state; void *fn, *module; } Pass;
typedef struct {
    uint32_t struct_size, reserved;
    const void *passes;
    uint32_t pass_count, pass_stride;
    const void *ops;
    uint32_t op_count, op_stride;
} Plugin;
typedef struct { uint32_t struct_size, reserved; Str path, reason; } Attach;
static uint32_t run(void *h, void *s, void *c, void *f, void *m) {
    (void)h; (void)s; (void)c; (void)f; (void)m;
    return 0;
}
#define NAME(text) { text, sizeof(text) - 1 }
"#;

/// A plugin with one function pass, whose parts a test may replace.
struct Parts {
    manifest: String,
    passes: &'static str,
    table: &'static str,
    entry: &'static str,
    more: String,
}

fn parts(pass: &str) -> Parts {
    Parts {
        manifest: manifest("1.0", pass),
        passes: "{ NAME(PASS), 0, run, 0 }",
        table: "{ sizeof(Plugin), 0, passes, 1, sizeof(Pass), 0, 0, 0 }",
        entry: "return &plugin;",
        more: format!("#define PASS \"{pass}\"\n"),
    }
}

fn manifest(abi: &str, pass: &str) -> String {
    format!(
        "[plugin]\nname = \"c\"\nabi = \"{abi}\"\nir = \"1.0\"\npanic = \"none\"\n\
         [[pass]]\nname = \"{pass}\"\nkind = \"function\"\n"
    )
}

impl Parts {
    fn source(&self) -> String {
        let manifest = self.manifest.replace('"', "\\\"").replace('\n', "\\n");
        format!(
            "{C}{}\n\
             static const Pass passes[] = {{ {} }};\n\
             static const Plugin plugin = {};\n\
             const void *passdock_plugin_v1(const void *host, Attach *attach) {{\n\
             (void)host; (void)attach; {} }}\n\
             const char passdock_manifest_v1[] = \"{manifest}\";\n",
            self.more, self.passes, self.table, self.entry,
        )
    }

    /// Builds the library. Prints a message and returns `false` without a C compiler.
    fn build(&self, path: &Path) -> bool {
        let source = path.with_extension("c");
        std::fs::write(&source, self.source()).expect("writes the source");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(path)
            .arg(&source)
            .status();
        match status {
            Ok(status) => assert!(status.success(), "cc rejects {}", self.source()),
            Err(error) => eprintln!("skipped: cc can't be run: {error}"),
        }
        path.exists()
    }
}

fn temp_dir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn library(dir: &Path, name: &str) -> PathBuf {
    dir.join(name)
        .with_extension(std::env::consts::DLL_EXTENSION)
}

fn search(dir: &Path) -> [SearchDir; 1] {
    [SearchDir {
        path: dir.to_path_buf(),
        required: true,
        mixed: false,
    }]
}

/// Compares the results of loading plugins, each below its title, with the expected ones.
#[track_caller]
fn check_loads(
    plugins: impl IntoIterator<Item = (&'static str, Parts)>,
    expected: expect_test::ExpectFile,
) {
    let loaded = plugins
        .into_iter()
        .map(|(title, parts)| Some(format!("# {title}\n{}\n", load(&parts)?)));
    if let Some(loaded) = loaded.collect::<Option<Vec<String>>>() {
        expected.assert_eq(&loaded.join("\n"));
    }
}

#[track_caller]
fn check_load(parts: &Parts, expected: &Expect) {
    if let Some(loaded) = load(parts) {
        expected.assert_eq(&loaded);
    }
}

/// Returns the passes of a plugin or the error of loading it. Returns `None` without a C compiler.
fn load(parts: &Parts) -> Option<String> {
    let dir = temp_dir();
    let lib = library(dir.path(), "plugin");
    if !parts.build(&lib) {
        return None;
    }
    let plugin = Plugin::open(&lib).expect("the file is fine");
    let output = match plugin.load(host()) {
        Ok(loaded) => {
            let passes = plugin.manifest().passes.iter().zip(loaded.passes());
            let passes =
                passes.map(|(pass, _)| format!("pass {} of {}", pass.name(), plugin.origin()));
            format!("[{}]", passes.collect::<Vec<_>>().join(", "))
        }
        Err(error) => error.to_string(),
    };
    Some(output.replace(&dir.path().display().to_string(), "DIR"))
}

/// A description of a defect, and a function that creates it.
type Case = (&'static str, fn(&mut Parts));

#[test]
fn malformed_tables_are_rejected_with_a_reason() {
    let cases: &[Case] = &[
        ("a valid plugin", |_| {}),
        ("no table", |p| p.entry = "return 0;"),
        ("no table, with a reason", |p| {
            p.more += "static char why[] = \"it needs a license\";\n";
            p.entry = "attach->reason.ptr = why; attach->reason.len = sizeof why - 1; return 0;";
        }),
        ("a misaligned table", |p| {
            p.entry = "return (const char *)&plugin + 1;"
        }),
        ("a table of three bytes", |p| {
            p.table = "{ 3, 0, passes, 1, sizeof(Pass), 0, 0, 0 }"
        }),
        ("a table of four GB", |p| {
            p.table = "{ 0xDEADBEEF, 0, passes, 1, sizeof(Pass), 0, 0, 0 }"
        }),
        ("a null list of passes", |p| {
            p.table = "{ sizeof(Plugin), 0, 0, 1, sizeof(Pass), 0, 0, 0 }"
        }),
        ("passes of three bytes", |p| {
            p.table = "{ sizeof(Plugin), 0, passes, 1, 3, 0, 0, 0 }"
        }),
        (
            "too many passes",
            |p| p.table = "{ sizeof(Plugin), 0, passes, 4000000000u, sizeof(Pass), 0, 0, 0 }",
        ),
        ("a table without the manifest's pass", |p| {
            p.table = "{ sizeof(Plugin), 0, 0, 0, 0, 0, 0, 0 }"
        }),
        ("a name without an address", |p| {
            p.passes = "{ { 0, 3 }, 1, 0, 0, run, 0 }"
        }),
        ("a name that isn't UTF-8", |p| {
            p.passes = "{ NAME(\"\\xff\\xfe\"), 0, run, 0 }"
        }),
        ("a pass that differs from the manifest", |p| {
            p.passes = "{ NAME(\"c.transform.Two\"), 0, run, 0 }"
        }),
        ("a pass without a function", |p| {
            p.passes = "{ NAME(PASS), 0, 0, run }"
        }),
        ("a pass that the manifest lacks", |p| {
            p.passes = "{ NAME(PASS), 0, run, 0 }, { NAME(\"c.transform.More\"), 0, run, 0 }";
            p.table = "{ sizeof(Plugin), 0, passes, 2, sizeof(Pass), 0, 0, 0 }";
        }),
        ("an op without a name", |p| {
            p.more.push_str("static const char op[128];\n");
            p.table = "{ sizeof(Plugin), 0, passes, 1, sizeof(Pass), op, 1, 96 }";
        }),
    ];
    let parts = cases.iter().map(|(title, change)| {
        let mut parts = parts("c.transform.One");
        change(&mut parts);
        (*title, parts)
    });
    check_loads(parts, expect_file!["tables.txt"]);
}

/// A newer plugin has longer records, of which this host reads the known part.
#[test]
fn longer_records_of_newer_minor_are_read() {
    let mut parts = parts("c.transform.One");
    parts.manifest = manifest("1.9", "c.transform.One")
        + "[[pass]]\nname = \"c.transform.Two\"\nkind = \"function\"\n";
    parts.manifest = parts
        .manifest
        .replace("abi = \"1.9\"", "abi = \"1.9\"\nmin_host = \"1.0\"");
    parts.more += "typedef struct { Pass known; uint64_t newer[5]; } Longer;\n\
        static const Longer longer[] = {\n\
        { { NAME(\"c.transform.One\"), 0, run, 0 }, { 1, 2, 3, 4, 5 } },\n\
        { { NAME(\"c.transform.Two\"), 0, run, 0 }, { 1, 2, 3, 4, 5 } } };\n";
    parts.table = "{ sizeof(Plugin), 0, longer, 2, sizeof(Longer), 0, 0, 0 }";
    check_load(
        &parts,
        &expect![
            "[pass c.transform.One of `DIR/plugin.so`, pass c.transform.Two of `DIR/plugin.so`]"
        ],
    );
}

/// A pass that this host can't run is skipped. The other passes of its plugin run.
#[test]
fn pass_of_unknown_kind_is_skipped() {
    let mut parts = parts("c.transform.One");
    parts.manifest += "[[pass]]\nname = \"c.transform.Shade\"\nkind = \"shader\"\n";
    parts.passes = "{ NAME(\"c.transform.Shade\"), 0, run, 0 }, { NAME(PASS), 0, run, 0 }";
    parts.table = "{ sizeof(Plugin), 0, passes, 2, sizeof(Pass), 0, 0, 0 }";
    check_load(
        &parts,
        &expect![[r#"[pass c.transform.One of `DIR/plugin.so`]"#]],
    );

    let dir = temp_dir();
    if !parts.build(&library(dir.path(), "plugin")) {
        return;
    }
    let registry = Registry::new();
    registry
        .load_dir(dir.path(), &Default::default())
        .expect("the directory is there");
    let error = registry.get_pass("c.transform.Shade").expect_err("skipped");
    let output = error.to_string();
    expect!["no pass is named `c.transform.Shade`; update passdock, or correct the plugin's manifest (in plugin \
            `DIR/plugin.so`: skipped pass `c.transform.Shade`: unsupported kind `shader`)"]
    .assert_eq(&output.replace(&dir.path().display().to_string(), "DIR"));
}

/// The size of the table shows which members it has. A table that ends before the instruments has none.
#[test]
fn instruments_of_table_match_the_manifest() {
    const WATCH: &str = "{ NAME(\"c.watch\"), 0, create, { 0 } }";
    const OTHER: &str = "{ NAME(\"c.other\"), 0, create, { 0 } }";
    const EMPTY: &str = "{ NAME(\"c.watch\"), 0, 0, { 0 } }";
    let cases = [
        (
            "an instrument",
            "sizeof(Newer)",
            "sizeof(Instrument)",
            WATCH,
        ),
        (
            "instruments beyond the table's size",
            "sizeof(Plugin)",
            "sizeof(Instrument)",
            WATCH,
        ),
        (
            "an instrument that differs from the manifest",
            "sizeof(Newer)",
            "sizeof(Instrument)",
            OTHER,
        ),
        (
            "an instrument without a function",
            "sizeof(Newer)",
            "sizeof(Instrument)",
            EMPTY,
        ),
        ("instruments of 16 bytes", "sizeof(Newer)", "16", WATCH),
    ];
    let parts = cases.map(|(title, size, stride, instruments)| {
        let mut parts = parts("c.transform.One");
        parts.manifest += "[[instrument]]\nname = \"c.watch\"\n";
        parts.more += "typedef struct { Str name; void *state, *create, *more[8]; } Instrument;\n\
            typedef struct { Plugin first; const void *instruments; uint32_t count, stride; } Newer;\n\
            static uint32_t create(void *h, void *s, void *c, void **o) {\n\
            (void)h; (void)s; (void)c; *o = 0; return 0; }\n";
        parts.more += &format!(
            "static const Instrument all[] = {{ {instruments} }};\n\
             static const Pass one[] = {{ {{ NAME(PASS), 0, run, 0 }} }};\n\
             static const Newer newer = {{ {{ {size}, 0, one, 1, sizeof(Pass), 0, 0, 0 }}, all, 1, {stride} }};\n"
        );
        parts.entry = "(void)plugin; (void)create; return &newer;";
        (title, parts)
    });
    check_loads(parts, expect_file!["instruments.txt"]);
}

#[test]
fn loader_error_names_the_path() {
    let mut parts = parts("c.transform.One");
    parts.more += "extern int nobody_defines_this(void);\n\
                   int uses(void) { return nobody_defines_this(); }\n";
    check_load(
        &parts,
        &expect![
            "cannot load plugin `DIR/plugin.so`: the system's loader failed: DIR/plugin.so: undefined symbol: \
                nobody_defines_this"
        ],
    );
}

#[test]
fn other_abi_major_is_rejected_without_running_code() {
    let dir = temp_dir();
    let marker = dir.path().join("ran");
    let mut parts = parts("c.transform.One");
    parts.manifest = manifest("7.0", "c.transform.One");
    parts.more += &constructor_code(&marker);
    let lib = library(dir.path(), "plugin");
    if !parts.build(&lib) {
        return;
    }
    let error = Plugin::open(&lib).expect_err("another major").to_string();
    expect!["cannot load plugin `DIR/plugin.so`: unsupported plugin ABI 7.0, expected 1.x; build the plugin against \
            passdock-plugin-api for ABI 1, or use a passdock of ABI 7"]
    .assert_eq(&error.replace(&dir.path().display().to_string(), "DIR"));
    assert!(!marker.exists());
}

/// Returns code that runs when the library is loaded, and creates a file.
fn constructor_code(file: &Path) -> String {
    format!(
        "#include <stdio.h>\n\
         __attribute__((constructor)) static void mark(void) {{\n\
             FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f);\n}}\n",
        file.display()
    )
}

#[test]
fn discovery_does_not_load_the_library() {
    let dir = temp_dir();
    let marker = dir.path().join("ran");
    let mut parts = parts("c.transform.One");
    parts.more += &constructor_code(&marker);
    if !parts.build(&library(dir.path(), "plugin")) {
        return;
    }
    let found = discover(&search(dir.path())).expect("the directory is there");
    assert_eq!(found.plugins.len(), 1);
    let plugin = &found.plugins[0];
    assert_eq!(plugin.manifest().passes[0].name(), "c.transform.One");
    assert!(!marker.exists() && !plugin.is_loaded());
    let loaded = plugin.load(host()).expect("loads");
    assert!(loaded.passes().len() == 1 && marker.exists() && plugin.is_loaded());
}

/// Libraries with the same symbol names, loaded one after the other. Each must resolve its own symbols.
#[test]
fn plugins_with_equal_symbols_are_independent() {
    let dir = temp_dir();
    for i in 0..20 {
        let parts = parts(&format!("c.transform.P{i}"));
        if !parts.build(&library(dir.path(), &format!("p{i:02}"))) {
            return;
        }
    }
    let found = discover(&search(dir.path())).expect("the directory is there");
    assert_eq!(found.plugins.len(), 20);
    for (i, plugin) in found.plugins.iter().enumerate() {
        let name = format!("c.transform.P{i}");
        assert_eq!(plugin.manifest().passes[0].name(), name);
        assert_eq!(plugin.load(host()).expect("loads").passes().len(), 1);
    }
}

#[test]
fn file_with_changed_manifest_is_rejected_on_load() {
    let dir = temp_dir();
    let lib = library(dir.path(), "plugin");
    let rebuilt = library(dir.path(), "rebuilt");
    if !parts("c.transform.One").build(&lib) {
        return;
    }
    let same = Plugin::open(&lib).expect("a valid plugin");
    let [other, checked] = [(), ()].map(|()| Plugin::open(&lib).expect("a valid plugin"));
    assert!(checked.pin().expect("the same file").is_some());
    parts("c.transform.One").build(&rebuilt);
    std::fs::rename(&rebuilt, &lib).expect("renames");
    assert!(same.load(host()).is_ok(), "rebuilt with an equal manifest");
    assert!(checked.load(host()).is_err(), "its contents were checked");
    assert!(checked.pin().is_err());
    parts("c.transform.Two").build(&rebuilt);
    std::fs::rename(&rebuilt, &lib).expect("renames");
    let error = other
        .load(host())
        .map(drop)
        .expect_err("the manifest changed")
        .to_string();
    expect!["cannot load plugin `DIR/plugin.so`: the file changed after its manifest was read; run the command again"]
    .assert_eq(&error.replace(&dir.path().display().to_string(), "DIR"));
}

#[test]
fn invalid_files_of_a_directory_are_reported() {
    let dir = temp_dir();
    let good = library(dir.path(), "good");
    if !parts("c.transform.One").build(&good) {
        return;
    }
    let bytes = std::fs::read(&good).expect("reads");
    std::fs::write(library(dir.path(), "cut"), &bytes[..bytes.len() / 2]).expect("writes");
    std::fs::write(library(dir.path(), "noise"), b"not a library").expect("writes");
    std::fs::write(library(dir.path(), "empty"), b"").expect("writes");
    std::fs::write(dir.path().join("readme.txt"), b"no library").expect("writes");
    std::fs::write(library(dir.path(), ".hidden"), b"being copied").expect("writes");
    std::fs::create_dir(library(dir.path(), "folder")).expect("makes a directory");
    std::fs::create_dir(dir.path().join("nested")).expect("makes a directory");
    std::fs::copy(&good, library(&dir.path().join("nested"), "deep")).expect("copies");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&good, library(dir.path(), "link")).expect("links");
    let found = discover(&search(dir.path())).expect("the directory is there");
    let mut output: Vec<String> = found
        .plugins
        .iter()
        .map(|p| p.origin().to_string())
        .collect();
    output.extend(found.unreadable.iter().map(|e| e.to_string()));
    let output = output
        .join("\n")
        .replace(&dir.path().display().to_string(), "DIR");
    expect![[r#"
        `DIR/good.so`
        cannot load plugin `DIR/cut.so`: the file is truncated or damaged; copy or build it again
        cannot load plugin `DIR/empty.so`: the file is empty; build it again
        cannot load plugin `DIR/folder.so`: not a regular file; pass a shared library
        cannot load plugin `DIR/noise.so`: expected a shared library (`.so`), found an unknown file format"#]]
    .assert_eq(&output);
}

/// A library for another system is an error if there is no other plugin, and a note if a pass is missing. It isn't
/// reported if the plugin exists for this system, too.
#[test]
#[cfg(target_os = "linux")]
fn library_of_another_system_is_reported() {
    let dir = temp_dir();
    let messages = |pass: &str| {
        let registry = passdock::Registry::new();
        let loaded = registry.load_dir(dir.path(), &Default::default());
        loaded.expect("the directory is there");
        let warnings = registry.unreadable();
        let error = registry.get_pass(pass).map(drop).expect_err("missing");
        let mut output: Vec<String> = warnings.iter().map(|e| format!("warning: {e}")).collect();
        output.extend(error.notes.clone());
        output
            .join("\n")
            .replace(&dir.path().display().to_string(), "DIR")
    };
    std::fs::write(dir.path().join("acme.dll"), b"MZ").expect("writes");
    expect![[r#"
        warning: cannot load plugin `DIR/acme.dll`: expected a shared library (`.so`), found an unknown file format
        cannot load plugin `DIR/acme.dll`: expected a shared library (`.so`), found an unknown file format"#]]
    .assert_eq(&messages("acme.transform.One"));
    if !parts("c.transform.One").build(&dir.path().join("libc.so")) {
        return;
    }
    expect!["cannot load plugin `DIR/acme.dll`: expected a shared library (`.so`), found an unknown file format"]
        .assert_eq(&messages("acme.transform.One"));
    let both = dir.path().join("c.dll");
    std::fs::rename(dir.path().join("acme.dll"), both).expect("renames");
    expect![""].assert_eq(&messages("c.transform.Two"));
}

/// If a pass is missing, libraries next to the program are reported if they may be plugins.
#[test]
#[cfg(target_os = "linux")]
fn libraries_without_plugin_symbols_are_reported() {
    let dir = temp_dir();
    for (name, code) in [("z", "zip"), ("old", "passdock_other")] {
        let source = dir.path().join(name).with_extension("c");
        std::fs::write(&source, format!("int {code}(void) {{ return 1; }}")).expect("writes");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(library(dir.path(), name))
            .arg(&source);
        if !cc.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: cc can't be run");
            return;
        }
    }
    let registry = Registry::new();
    let dirs = search(dir.path()).map(|dir| SearchDir { mixed: true, ..dir });
    let loaded = registry.load_dirs_with(&dirs, &Default::default(), &mut Err);
    loaded.expect("the directory is there");
    let error = registry.get_pass("a.transform.B").map(drop);
    let notes = error.expect_err("missing").notes.join("\n");
    expect!["cannot load plugin `DIR/old.so`: missing symbol `passdock_plugin_v1`; write `export_plugin!(PLUGIN);` \
            in the library's crate, or in C define the symbol with default visibility"]
    .assert_eq(&notes.replace(&dir.path().display().to_string(), "DIR"));
}

#[test]
fn missing_directory_is_an_error_if_required() {
    let missing = SearchDir {
        path: PathBuf::from("no/such/directory"),
        required: true,
        mixed: false,
    };
    let error = discover(std::slice::from_ref(&missing)).expect_err("missing");
    expect!["could not read plugin directory `no/such/directory`: No such file or directory (os error 2); correct its \
            name or create it"].assert_eq(&error.to_string());
    let optional = SearchDir {
        required: false,
        ..missing
    };
    assert!(
        discover(&[optional])
            .expect("may be missing")
            .plugins
            .is_empty()
    );
}

/// Plugin files that the SDK and gcc built for ABI version 0.3, before the first stable one.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn plugins_of_old_abi_are_rejected_from_the_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/old-plugins");
    let error_of = |file: &str| {
        let loaded = Plugin::open(&folder.join(file));
        let error = loaded.expect_err("an old plugin").to_string();
        error.replace(&folder.display().to_string(), "DIR")
    };
    expect!["cannot load plugin `DIR/hello_pass-abi-0.3.so`: symbol `passdock_plugin_v0` is from another major \
            version of the plugin ABI, expected `passdock_plugin_v1`; build the plugin against passdock-plugin-api \
            for ABI 1"]
    .assert_eq(&error_of("hello_pass-abi-0.3.so"));
    expect!["cannot load plugin `DIR/c_pass-abi-0.3.so`: symbol `passdock_plugin_v0` is from another major version \
            of the plugin ABI, expected `passdock_plugin_v1`; build the plugin against passdock-plugin-api for ABI 1"]
    .assert_eq(&error_of("c_pass-abi-0.3.so"));
}
