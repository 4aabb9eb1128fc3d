/* The exported symbols of a plugin, and macros that generate its manifest. Part of passdock.h, which has
 * the rules. */
#ifndef PASSDOCK_MANIFEST_H
#define PASSDOCK_MANIFEST_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define PASSDOCK_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define PASSDOCK_EXPORT __attribute__((visibility("default")))
#else
#define PASSDOCK_EXPORT
#endif

#if defined(__APPLE__)
#define PASSDOCK_IN_SECTION __attribute__((section("__DATA,__passdock"), used))
#elif defined(_MSC_VER)
#pragma section(".passdk", read)
#define PASSDOCK_IN_SECTION __declspec(allocate(".passdk"))
#elif defined(_WIN32)
#define PASSDOCK_IN_SECTION __attribute__((section(".passdk"), used))
#elif defined(__GNUC__)
#define PASSDOCK_IN_SECTION __attribute__((section(".passdock"), used))
#else
#define PASSDOCK_IN_SECTION
#endif

/* Returns the plugin's table. If the plugin rejects the host, it returns null and sets `attach->reason`.
 *
 * The host calls it before any other function of the plugin, on any thread, one call at a time. Several
 * hosts may share a process and the library, for example a program and a Python module in it; they may
 * call it concurrently. As each callback gets the host that calls, one constant table serves all hosts.
 *
 * The function may only call `get_extension` of the host. `attach` is valid until it returns. It must
 * not refer to itself by name: in a program that exports symbols, the name may resolve to another
 * function. */
PASSDOCK_EXPORT const passdock_plugin *passdock_plugin_v1(const passdock_host *host,
                                                          passdock_attach *attach);

/* Defines the entry function, which returns a constant table: PASSDOCK_ENTRY(plugin); */
#define PASSDOCK_ENTRY(table)                                                                      \
    const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) { \
        (void)host;                                                                                \
        (void)attach;                                                                              \
        return &(table);                                                                           \
    }                                                                                              \
    struct passdock_plugin

/* The manifest: TOML text with a terminating NUL, at most 1 MiB. */
extern PASSDOCK_EXPORT const char passdock_manifest_v1[];

#define PASSDOCK_TEXT_OF(x) #x
#define PASSDOCK_TEXT(x) PASSDOCK_TEXT_OF(x)

/* Defines the manifest. `passes` is a sequence of PASSDOCK_PASS, PASSDOCK_SEQUENTIAL, PASSDOCK_CONFIG,
 * PASSDOCK_OP, PASSDOCK_OP_EXTENSION and PASSDOCK_INSTRUMENT, without separators. PASSDOCK_LICENSE,
 * PASSDOCK_HOMEPAGE and PASSDOCK_REQUIRES may be before them. The macro fills in all versions. */
#define PASSDOCK_MANIFEST(name, version, passes) PASSDOCK_MANIFEST_OF(name, version, "none", passes)

/* Like PASSDOCK_MANIFEST, with the effect of a panic or exception: "none" (there are none), "unwind" (the
 * plugin catches it and returns PANICKED) or "abort" (it terminates the process). */
#define PASSDOCK_MANIFEST_OF(name, version, panic, passes)                                         \
    PASSDOCK_IN_SECTION const char passdock_manifest_v1[] =                                        \
        "[plugin]\nname = \"" name "\"\nversion = \"" version "\"\n"                               \
        "abi = \"" PASSDOCK_TEXT(PASSDOCK_ABI_MAJOR) "." PASSDOCK_TEXT(PASSDOCK_ABI_MINOR) "\"\n"  \
        "min_host = \"" PASSDOCK_TEXT(PASSDOCK_ABI_MAJOR) "."                                      \
        PASSDOCK_TEXT(PASSDOCK_MIN_HOST_MINOR) "\"\n"                                                \
        "ir = \"" PASSDOCK_TEXT(PASSDOCK_IR_MAJOR) "." PASSDOCK_TEXT(PASSDOCK_IR_MINOR) "\"\n"     \
        "language = \"" PASSDOCK_TEXT(PASSDOCK_LANGUAGE_MAJOR) "."                                  \
        PASSDOCK_TEXT(PASSDOCK_LANGUAGE_MINOR) "\"\n" PASSDOCK_EXTENSIONS                            \
        "panic = \"" panic "\"\n" passes

#ifdef PASSDOCK_LOOPS
#define PASSDOCK_EXTENSIONS "extensions = [\"" PASSDOCK_LOOPS_EXTENSION "\"]\n"
#else
#define PASSDOCK_EXTENSIONS ""
#endif

/* The license of the plugin, preferably as an SPDX expression ("MIT OR Apache-2.0"). */
#define PASSDOCK_LICENSE(license) "license = \"" license "\"\n"

/* The address of the plugin's web page. */
#define PASSDOCK_HOMEPAGE(address) "homepage = \"" address "\"\n"

/* The plugins that it requires, optionally with versions, as the elements of a TOML list:
 * PASSDOCK_REQUIRES("'acme >= 1.2, < 2', 'relax'"). If one isn't registered with such a version, the host
 * doesn't load this plugin. */
#define PASSDOCK_REQUIRES(plugins) "requires = [" plugins "]\n"

/* A pass: its name, its kind ("function", "prim_function" or "module"), its level, and further lines of
 * TOML ("required = [\"...\"]\nsummary = \"...\"\n") or "".
 *
 * Other keys are thread_safe and changes_interface (true), phase ("early", "simplify", "late", "lower")
 * and aliases (other names of the pass). [[pass.option]] tables come last. They have a name, a type, a
 * doc, and either a default or mandatory = true. An int may have min and max, a string choices. The
 * types are "bool", "int", "float", "string", "strings" and "rules" (rule files). "ints" and "values"
 * are tables whose keys the user chooses. The table with rest = true receives the undeclared options. */
#define PASSDOCK_PASS(name, kind, opt_level, lines)                                                \
    "\n[[pass]]\nname = \"" name "\"\nkind = \"" kind "\"\n"                                       \
    "opt_level = " PASSDOCK_TEXT(opt_level) "\n" lines

/* A Sequential, which is a named list of passes: its name ("acme.Cleanup"), its level, its children as the
 * elements of a TOML list, and further lines of TOML ("required = [\"...\"]\nsummary = \"...\"\n") or "". A
 * child is the name of a pass or Sequential, of this plugin or another; a child with options is a table:
 *     PASSDOCK_SEQUENTIAL("acme.Cleanup", 1,
 *                         "\"acme.transform.Fuse\", "
 *                         "{ name = \"tir.transform.UnrollLoop\", options = { auto_max_step = 4 } }",
 *                         "summary = \"Cleans up.\"\n")
 * It has no entry in the plugin's table. */
#define PASSDOCK_SEQUENTIAL(name, opt_level, children, lines)                                      \
    "\n[[sequential]]\nname = \"" name "\"\nopt_level = " PASSDOCK_TEXT(opt_level) "\n"              \
    "passes = [" children "]\n" lines

/* A config key: its name, and a PASSDOCK_CONFIG_FIELD for each field, without separators. A key is set
 * for a whole run (`[context.config]`, `--config acme.Target.cores=4`) and read with `config` of
 * passdock_context_api. Two plugins may declare the same key with the same fields.
 *
 * A pass with the line "config = \"acme.Target\"\n" takes options that the pipeline doesn't set from the
 * fields of the same name. The plugin must then declare the key with a PASSDOCK_CONFIG, and with the
 * types of the options. */
#define PASSDOCK_CONFIG(key, fields) "\n[[config]]\nkey = \"" key "\"\n" fields

/* A field of a config key: its name, its type ("bool", "int", "float", "string", "strings", "ints" or
 * "values", as for options), its default as a TOML value ("false", "8", "0.5", "\"on\"", "[\"a\"]",
 * "{}"), and further lines of TOML or "": doc = "...", min and max of an int, choices of a string. A key
 * without fields has one field with the name "". */
#define PASSDOCK_CONFIG_FIELD(name, type, default_value, lines)                                    \
    "[[config.field]]\nname = \"" name "\"\ntype = \"" type "\"\n"                                   \
    "default = " default_value "\n" lines

/* An op definition: its canonical name, and the first version of its domain that it applies to. They
 * must be those of the passdock_op_entry, in the same order. */
#define PASSDOCK_OP(name, since) PASSDOCK_OP_OF(name, since, "")

/* Like PASSDOCK_OP, with further lines of TOML. Any entry of the manifest may have the line "min_host =
 * \"0.4\"\n": an older host skips the entry and uses the rest of the plugin. */
#define PASSDOCK_OP_OF(name, since, lines)                                                         \
    "\n[[op]]\nname = \"" name "\"\nsince = " PASSDOCK_TEXT(since) "\n" lines

/* An extension of an operator that may be defined by another plugin. The arguments are those of
 * PASSDOCK_OP. Its passdock_op_entry has no infer, evaluate, decompose, attrs, traits and number of
 * operands. */
#define PASSDOCK_OP_EXTENSION(name, since) PASSDOCK_OP(name, since) "extends = true\n"

/* An instrument: its name, and further lines of TOML ("summary = \"...\"\n"; its options, each
 * "[[instrument.option]]\nname = \"...\"\ntype = \"int\"\ndefault = 1\n") or "". */
#define PASSDOCK_INSTRUMENT(name, lines) "\n[[instrument]]\nname = \"" name "\"\n" lines

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_MANIFEST_H */
