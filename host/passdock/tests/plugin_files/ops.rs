//! Op definitions in plugin files, and extensions of them.

use expect_test::{Expect, expect};
use passdock::plugin::discover;
use passdock::plugin::discover::check_op_conflicts;

use super::{check_load, library, parts, search, temp_dir};

/// The struct of an op definition, as a C author declares it.
const OP: &str = "typedef struct { Str name; int64_t since; uint32_t min, max, fewest, most; uint64_t traits; \
    void *state, *infer, *evaluate; const void *attrs; uint32_t count, stride; \
    void *decompose, *layout, *alter; void *supports; const Str *targets; size_t target_count; } Op;";

#[test]
fn duplicate_op_definition_names_both_plugins() {
    let dir = temp_dir();
    for (name, pass) in [("a", "c.transform.One"), ("b", "c.transform.Two")] {
        let mut parts = parts(pass);
        parts.manifest += "[[op]]\nname = \"onnx.Relu\"\nsince = 6\n";
        if !parts.build(&library(dir.path(), name)) {
            return;
        }
    }
    let found = discover(&search(dir.path())).expect("the directory is there");
    let [a, b] = &found.plugins[..] else {
        panic!("two plugins were built: {found:?}");
    };
    check_op_conflicts(a, &[]).expect("no other plugin");
    let error = check_op_conflicts(b, std::slice::from_ref(a)).expect_err("both define it");
    expect!["cannot load plugin `DIR/b.so`: duplicate definition of `onnx.Relu since 6`, also in plugin `DIR/a.so`; \
            rename or remove one"].assert_eq(
        &error
            .to_string()
            .replace(&dir.path().display().to_string(), "DIR"),
    );
}

/// An extension must not repeat facts of the definition, which two plugins could then state differently.
#[test]
fn extension_must_not_repeat_the_definition() {
    let check = |entry: &str, expected: &Expect| {
        let mut parts = parts("c.transform.One");
        parts.manifest += "[[op]]\nname = \"onnx.Relu\"\nextends = true\n";
        let ops = format!("{{ .name = NAME(\"onnx.Relu\"), .since = 1, {entry} }}");
        parts.more += &format!("{OP}\nstatic const Op ops[] = {{ {ops} }};\n");
        parts.table = "{ sizeof(Plugin), 0, passes, 1, sizeof(Pass), ops, 1, sizeof(Op) }";
        check_load(&parts, expected);
    };
    check(
        ".decompose = run",
        &expect!["[pass c.transform.One of `DIR/plugin.so`]"],
    );
    let npu = ".targets = (const Str[]) { NAME(\"npu\") }, .target_count = 1";
    check(
        &format!(".supports = run, {npu}"),
        &expect!["[pass c.transform.One of `DIR/plugin.so`]"],
    );
    check(
        ".supports = run, .target_count = 1",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: invalid address of a list; \
                build the plugin again"
        ],
    );
    check(
        "/* functions of a later ABI only */",
        &expect!["[pass c.transform.One of `DIR/plugin.so`]"],
    );
    check(
        ".infer = run",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: extension of `onnx.Relu` \
                infers types, which only the definition may do; build the plugin again"
        ],
    );
    check(
        ".attrs = ops, .stride = 104",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: extension of `onnx.Relu` \
                lists attributes, which only the definition may do; build the plugin again"
        ],
    );
    check(
        ".decompose = run, .traits = 2",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: extension of `onnx.Relu` has \
                traits, which only the definition may do; build the plugin again"
        ],
    );
    check(
        ".decompose = run, .most = 1",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: extension of `onnx.Relu` \
                counts results, which only the definition may do; build the plugin again"
        ],
    );
    check(
        ".decompose = run, .min = 1",
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: extension of `onnx.Relu` \
                counts operands, which only the definition may do; build the plugin again"
        ],
    );
}

#[test]
fn several_plugins_extend_one_op() {
    let dir = temp_dir();
    let extends = [("a", "true"), ("b", "true"), ("c", "false")];
    for (name, extends) in extends {
        let mut parts = parts(&format!("{name}.transform.One"));
        parts.manifest += &format!("[[op]]\nname = \"onnx.Relu\"\nextends = {extends}\n");
        if !parts.build(&library(dir.path(), name)) {
            return;
        }
    }
    let found = discover(&search(dir.path())).expect("the directory is there");
    for plugin in &found.plugins {
        check_op_conflicts(plugin, &found.plugins[..found.plugins.len() - 1])
            .expect("only one defines it");
    }
}
