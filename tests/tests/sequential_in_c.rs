//! A plugin in C with a Sequential and a config key, declared in a file of TOML.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::{LoadOptions, PassContext, PassError, Registry, Sequential};
use passdock_ir::text;
use passdock_tests::build_c_plugin;
use tempfile::TempDir;

const MANIFEST: &str = r#"name = "c"
version = "1.0.0"

[[pass]]
name = "c.transform.Says"
kind = "module"
summary = "Says what is set."
config = "c.Says"
option = [{ name = "limit", type = "int", default = 1 }]

[[pass]]
name = "c.transform.Runs"
kind = "module"

[[sequential]]
name = "c.Cleanup"
opt_level = 1
passes = ["c.transform.Says", { name = "c.transform.Says", options = { limit = 4 } }]
summary = "Says it twice."
required = ["c.transform.Says"]

[[config]]
key = "c.Says"
field = [{ name = "limit", type = "int", default = 1 }]

[[config]]
key = "c.Target"
field = [
    { name = "cores", type = "int", default = 8, min = 1, doc = "How many." },
    { name = "arch", type = "string", default = "x86", choices = ["x86", "arm"] },
]

[[config]]
key = "c.verbose"
field = [{ name = "", type = "bool", default = false }]
"#;

/// Emits notes with the values of its config key and its option.
const SOURCE: &str = r#"
#include <stdio.h>
#include "passdock.h"


static int64_t number(passdock_setting *setting) { return setting->int_value; }

static passdock_status says(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_module_ref *m) {
    static const char key[] = "c.Target", cores[] = "cores", arch[] = "arch", option[] = "limit";
    static const char verbose[] = "c.verbose", code[] = "c::says";
    char text[200];
    passdock_setting set[4];
    passdock_diagnostic note;
    passdock_str field[2];
    int i;
    (void)state; (void)m;
    field[0] = passdock_text(cores);
    field[1] = passdock_text(arch);
    memset(set, 0, sizeof set);
    for (i = 0; i < 4; i++) set[i].struct_size = sizeof set[i];
    for (i = 0; i < 2; i++) {
        if (host->context->config(context, passdock_text(key), field[i], &set[i]) != PASSDOCK_OK)
            return PASSDOCK_STATUS_FAILED;
    }
    /* A key that is a value itself. */
    field[0].len = 0;
    if (host->context->config(context, passdock_text(verbose), field[0], &set[2]) != PASSDOCK_OK)
        return PASSDOCK_STATUS_FAILED;
    if (host->context->option(context, passdock_text(option), &set[3]) != PASSDOCK_OK)
        return PASSDOCK_STATUS_FAILED;
    snprintf(text, sizeof text, "%lld cores of %.*s, %s, limit %lld", (long long)number(&set[0]),
             (int)set[1].string_value.len, set[1].string_value.ptr,
             set[2].int_value ? "verbose" : "silent", (long long)number(&set[3]));
    memset(&note, 0, sizeof note);
    note.struct_size = sizeof note;
    note.severity = PASSDOCK_SEVERITY_NOTE;
    note.op = PASSDOCK_NONE;
    note.code = passdock_text(code);
    note.message = passdock_text(text);
    return host->context->emit(context, &note);
}

static passdock_status runs(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_module_ref *m) {
    static const char name[] = "c.Cleanup";
    passdock_run_desc run = PASSDOCK_RUN_DESC_INIT;
    (void)state;
    run.name = passdock_text(name);
    return host->modules->run_pass(m->handle, context, &run);
}

PASSDOCK_MANIFEST("says.toml");

static const passdock_pass_entry passes[] = {
    {.name = PASSDOCK_STR("c.transform.Says"), .run_module = says},
    {.name = PASSDOCK_STR("c.transform.Runs"), .run_module = runs},
};
static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .passes = passes,
                                       .pass_count = 2,
                                       .pass_stride = sizeof passes[0]};
PASSDOCK_ENTRY(plugin);
"#;

fn build(manifest: &str, source: &str) -> Option<(TempDir, PathBuf)> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("says.c");
    std::fs::write(dir.path().join("says.toml"), manifest).expect("writes the manifest");
    std::fs::write(&file, source).expect("writes the source");
    let library = build_c_plugin(&file, dir.path())?;
    Some((dir, library))
}

#[test]
fn sequential_runs_and_config_key_is_read() {
    let Some((_dir, library)) = build(MANIFEST, SOURCE) else {
        return;
    };
    let registry = Registry::new();
    registry
        .load_plugin(&library, &LoadOptions::default())
        .expect("a plugin");
    let module = text::parse("module {\n}\n").unwrap_or_else(|error| panic!("{error:?}"));
    let run = |name: &str, config: &[(&str, &str)]| {
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = messages.clone();
        let mut context = PassContext::builder()
            .registry(&registry)
            .on_diagnostic(move |one| sink.lock().unwrap().push(one.message));
        for (key, value) in config {
            let value: toml::Table = format!("value = {value}").parse().expect("TOML");
            context = context.config(*key, value["value"].clone());
        }
        let pass = registry.get_pass(name)?;
        let context = context.build()?;
        context.scope(|_| Sequential::new([pass]).call(module.clone()))?;
        let messages = messages.lock().unwrap().join("\n");
        Ok::<String, PassError>(messages)
    };
    expect![[r#"
        8 cores of x86, silent, limit 1
        8 cores of x86, silent, limit 1
        8 cores of x86, silent, limit 4"#]]
    .assert_eq(&run("c.Cleanup", &[]).expect("it runs"));
    let config = [
        ("c.Target", "{ cores = 64 }"),
        ("c.verbose", "true"),
        ("c.Says", "{ limit = 3 }"),
    ];
    expect![[r#"
        64 cores of x86, verbose, limit 3
        64 cores of x86, verbose, limit 3
        64 cores of x86, verbose, limit 4"#]]
    .assert_eq(&run("c.Cleanup", &config).expect("it runs"));
    expect![[r#"
        64 cores of x86, verbose, limit 3
        64 cores of x86, verbose, limit 3
        64 cores of x86, verbose, limit 4"#]]
    .assert_eq(&run("c.transform.Runs", &config).expect("it runs"));
    for wrong in ["{ core = 1 }", "{ cores = 0 }", "{ arch = 'risc' }"] {
        assert!(run("c.Cleanup", &[("c.Target", wrong)]).is_err(), "{wrong}");
    }
}

#[test]
fn config_key_without_table_is_rejected() {
    let manifest = MANIFEST.replace("key = \"c.Says\"", "key = \"c.Other\"");
    let Some((_dir, library)) = build(&manifest, SOURCE) else {
        return;
    };
    let result = Registry::new().load_plugin(&library, &LoadOptions::default());
    let message = result.expect_err("it contradicts itself").to_string();
    let path = library.display().to_string();
    expect!["cannot load plugin `FILE`: invalid `config` of `c.transform.Says` in the manifest: expected the `key` \
            of a `[[config]]` table with fields for the pass's options, found `c.Says`"]
    .assert_eq(&message.replace(&path, "FILE"));
}

/// Entries that need a newer host are skipped, including one of two definitions of an operator. The rest is used.
#[test]
fn entries_for_newer_hosts_are_skipped() {
    let newer = r#"
[[sequential]]
name = "c.Newer"
passes = [{ name = "c.transform.Says", min_host = "1.999" }]

[[op]]
name = "c.Op"
since = 2
min_host = "1.999"

[[op]]
name = "c.Op"
"#;
    let table = "static const passdock_plugin plugin = {";
    let ops = r#"
static const passdock_op_entry ops[] = {
    {.name = PASSDOCK_STR("c.Op"), .since = 2},
    {.name = PASSDOCK_STR("c.Op"), .since = 1},
};
static const passdock_plugin plugin = {.ops = ops, .op_count = 2, .op_stride = sizeof ops[0], "#;
    assert!(SOURCE.contains(table));
    let source = SOURCE.replace(table, ops);
    let Some((_dir, library)) = build(&(MANIFEST.to_owned() + newer), &source) else {
        return;
    };
    let registry = Registry::new();
    registry
        .load_plugin(&library, &LoadOptions::default())
        .expect("a plugin");
    assert!(registry.get_pass("c.Cleanup").is_ok());
    let message = registry.get_pass("c.Newer").expect_err("left out");
    let path = library.display().to_string();
    expect!["no pass is named `c.Newer`; update passdock, or correct the plugin's manifest (in plugin `FILE`: skipped \
            sequential `c.Newer`: unsupported plugin ABI 1.999 of child `c.transform.Says`)"]
    .assert_eq(&message.to_string().replace(&path, "FILE"));
}
