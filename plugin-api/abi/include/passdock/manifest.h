/* The two symbols of a plugin, and macros that write its manifest. Part of passdock.h, which has the rules. */
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

/* Called by a host before anything else of the plugin; on any thread. Answers the plugin's table for
 * this host, or null if it doesn't want this host and says in `attach->reason` why; a second call with
 * the same host answers the same table. A host calls entries one at a time; of two in a process, a program and a
 * module in it, each may call this one while the other does. Of the host, it may call `get_extension` only; `attach` is
 * there until it returns. There may be several hosts in a process, a program and a module in it, and they share the
 * library: a plugin that has room for one host refuses others. It must not refer to itself by its
 * name: in a program that exports symbols, that would be the program's. */
PASSDOCK_EXPORT const passdock_plugin *passdock_plugin_v0(const passdock_host *host,
                                                          passdock_attach *attach);

/* TOML text, ended by a NUL, at most 1 MiB. */
extern PASSDOCK_EXPORT const char passdock_manifest_v0[];

#define PASSDOCK_TEXT_OF(x) #x
#define PASSDOCK_TEXT(x) PASSDOCK_TEXT_OF(x)

/* Defines the manifest. `passes` is any number of PASSDOCK_PASS, PASSDOCK_SEQUENTIAL, PASSDOCK_CONFIG,
 * PASSDOCK_OP, PASSDOCK_OP_EXTENSION and PASSDOCK_INSTRUMENT, one after the other. Write no version by hand. */
#define PASSDOCK_MANIFEST(name, version, passes) PASSDOCK_MANIFEST_OF(name, version, "none", passes)

/* As PASSDOCK_MANIFEST, with what becomes of a panic, or an exception: "none" (there is none), "unwind"
 * (the plugin catches it and answers PANICKED) or "abort" (it ends the process). */
#define PASSDOCK_MANIFEST_OF(name, version, panic, passes)                                         \
    PASSDOCK_IN_SECTION const char passdock_manifest_v0[] =                                        \
        "[plugin]\nname = \"" name "\"\nversion = \"" version "\"\n"                               \
        "abi = \"" PASSDOCK_TEXT(PASSDOCK_ABI_MAJOR) "." PASSDOCK_TEXT(PASSDOCK_ABI_MINOR) "\"\n"  \
        "min_host = \"" PASSDOCK_TEXT(PASSDOCK_ABI_MAJOR) "."                                      \
        PASSDOCK_TEXT(PASSDOCK_TARGET_MINOR) "\"\n"                                                \
        "ir = \"" PASSDOCK_TEXT(PASSDOCK_IR_MAJOR) "." PASSDOCK_TEXT(PASSDOCK_IR_MINOR) "\"\n"     \
        "panic = \"" panic "\"\n" passes

/* One pass: its name, its kind ("function", "prim_function" or "module"), its level, and further
 * lines of TOML ("required = [\"...\"]\nsummary = \"...\"\n") or "". Besides those: thread_safe and
 * changes_interface (true), phase ("early", "simplify", "late", "lower"), aliases (other names of it), and,
 * after all others, [[pass.option]] tables with name, type, doc and either default or mandatory = true; of
 * an int also min and max, of a string choices. The types are "bool", "int", "float", "string", "strings",
 * "rules" (files of rules) and, for tables whose entries the user names, "ints" and "values"; the table
 * with rest = true gets each option that isn't declared. */
#define PASSDOCK_PASS(name, kind, opt_level, lines)                                                \
    "\n[[pass]]\nname = \"" name "\"\nkind = \"" kind "\"\n"                                       \
    "opt_level = " PASSDOCK_TEXT(opt_level) "\n" lines

/* One Sequential, which is passes in order under a name: its name ("acme.Cleanup"; it is found by it as a
 * pass is), its level, its children as the inside of a TOML list, and further lines of TOML ("required =
 * [\"...\"]\nsummary = \"...\"\n") or "". A child is the name of a pass, of this plugin or of another, or of
 * another Sequential; one that has options is a table:
 *     PASSDOCK_SEQUENTIAL("acme.Cleanup", 1,
 *                         "\"acme.transform.Fuse\", "
 *                         "{ name = \"tir.transform.UnrollLoop\", options = { auto_max_step = 4 } }",
 *                         "summary = \"Cleans up.\"\n")
 * Nothing in the plugin's table stands for it, and no code of the plugin runs for it. */
#define PASSDOCK_SEQUENTIAL(name, opt_level, children, lines)                                      \
    "\n[[sequential]]\nname = \"" name "\"\nopt_level = " PASSDOCK_TEXT(opt_level) "\n"              \
    "passes = [" children "]\n" lines

/* One config key, which is set for a whole run (`[context.config]`, `--config acme.Target.cores=4`) and
 * read by `config` of passdock_context_api: its name, and its fields, one PASSDOCK_CONFIG_FIELD after the
 * other. Two plugins may declare the same key with the same fields.
 * A pass whose lines say "config = \"acme.Target\"\n" takes the fields that are called as its own options
 * from the key where the pipeline doesn't set them: then a PASSDOCK_CONFIG of this plugin has to declare
 * the key, with the options' types. */
#define PASSDOCK_CONFIG(key, fields) "\n[[config]]\nkey = \"" key "\"\n" fields

/* One field of a config key: its name, its type ("bool", "int", "float", "string", "strings", "ints" or
 * "values", as of options), its default as the text of a TOML value ("false", "8", "0.5", "\"on\"",
 * "[\"a\"]", "{}"), and further lines of TOML or "": doc = "...", min and max of an int, choices of a string.
 * A key that is a value itself has one field, whose name is "". */
#define PASSDOCK_CONFIG_FIELD(name, type, default_value, lines)                                    \
    "[[config.field]]\nname = \"" name "\"\ntype = \"" type "\"\n"                                   \
    "default = " default_value "\n" lines

/* One op definition: its canonical name and the first version of its domain that it is for, as in its
 * passdock_op_entry; in the same order. */
#define PASSDOCK_OP(name, since) PASSDOCK_OP_OF(name, since, "")

/* The same with further lines of TOML. Each entry may have the line "min_host = \"0.4\"\n": a host that is
 * older leaves out that entry, and uses the rest of the plugin. */
#define PASSDOCK_OP_OF(name, since, lines)                                                         \
    "\n[[op]]\nname = \"" name "\"\nsince = " PASSDOCK_TEXT(since) "\n" lines

/* What a plugin adds to the definition of an operator, which may be another plugin's: as PASSDOCK_OP. Its
 * passdock_op_entry has no infer, evaluate, decompose, attrs, traits and number of operands. */
#define PASSDOCK_OP_EXTENSION(name, since) PASSDOCK_OP(name, since) "extends = true\n"

/* One instrument: its name, and further lines of TOML ("summary = \"...\"\n"; its options, each
 * "[[instrument.option]]\nname = \"...\"\ntype = \"int\"\ndefault = 1\n") or "". */
#define PASSDOCK_INSTRUMENT(name, lines) "\n[[instrument]]\nname = \"" name "\"\n" lines

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_MANIFEST_H */
