/* The exported symbols of a plugin: its entry function and its manifest. Part of passdock.h, which has the
 * rules. */
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

/* Defines the manifest with the content of a file: PASSDOCK_MANIFEST("plugin.toml");
 *
 * The file has the keys of the table `[plugin]`, without its header, and then the other tables. The macro
 * adds the header and the keys that depend on the build: the versions, `extensions` and `panic`. The page
 * "Plugin manifests" of passdock's documentation lists all keys. The most common ones are:
 *
 *     name = "acme"
 *     version = "0.1.0"
 *     license = "MIT"                       # optional, like all keys below except names, kinds and types
 *     requires = ["vendor >= 1.2, < 2"]     # plugins without which the host must not load this one
 *
 *     [[pass]]                              # a passdock_pass_entry of the same name
 *     name = "acme.transform.Tile"
 *     kind = "function"                     # or "module"
 *     opt_level = 1                         # the lowest level at which it runs
 *     summary = "Splits convolutions into tiles."
 *     required = ["relax.transform.InferType"] # passes that run before it
 *     phase = "late"                        # runs it in pipelines that don't list it; or "early", "simplify", "lower"
 *     thread_safe = true                    # may run for several functions at once
 *     changes_interface = true              # may change the parameters and results of `@main`
 *     [[pass.option]]
 *     name = "size"
 *     type = "int"                          # "bool", "float", "string", "strings", "rules", "ints", "values"
 *     default = 32
 *     min = 1
 *     doc = "The edge of a tile in elements."
 *
 *     [[sequential]]                        # a named list of passes, without an entry in the table
 *     name = "acme.Cleanup"
 *     passes = ["acme.transform.Tile", { name = "tir.transform.UnrollLoop", options = { auto_max_step = 4 } }]
 *
 *     [[config]]                            # a setting for the whole run, for `config` of passdock_context_api
 *     key = "acme.Target"
 *     [[config.field]]
 *     name = "cores"
 *     type = "int"
 *     default = 8
 *
 *     [[op]]                                # a passdock_op_entry with the same name and version, in the same order
 *     name = "acme.Silu"
 *     since = 1
 *
 *     [[instrument]]                        # a passdock_instrument_entry of the same name
 *     name = "acme.growth"
 *     summary = "Reports the passes that add ops."
 *
 * `passdock plugin check --only manifest LIBRARY` checks whether it is valid and matches the tables.
 *
 * The assembler looks for the file in PASSDOCK_MANIFEST_DIR ("src/"), by default in the current directory and
 * in the directories of `-I`. With link-time optimization, it runs when the library is linked, without `-I`.
 * Build rules must list the file as a dependency. MSVC has no such assembler: use clang-cl or
 * PASSDOCK_MANIFEST_TEXT. Use either macro once in a plugin, outside of functions. */
#define PASSDOCK_MANIFEST(file)                                                                    \
    __asm__(PASSDOCK_ASM_BEGIN PASSDOCK_ASM_SYMBOL ":\n"                                           \
            ".ascii \"" PASSDOCK_MANIFEST_HEAD("\\n") "\"\n"                                       \
            ".incbin \"" PASSDOCK_MANIFEST_DIR file "\"\n"                                         \
            ".byte 0\n" PASSDOCK_ASM_END)

#ifndef PASSDOCK_MANIFEST_DIR
#define PASSDOCK_MANIFEST_DIR ""
#endif

/* Defines the manifest with a string literal, which has the content of the file. */
#define PASSDOCK_MANIFEST_TEXT(text)                                                               \
    const char passdock_manifest_v1[] = PASSDOCK_MANIFEST_HEAD("\n") text

/* The effect of a panic or exception, for the manifest: "none" (there are none), "unwind" (the plugin
 * catches it and returns PANICKED) or "abort" (it terminates the process). passdock.hpp sets it. */
#ifndef PASSDOCK_PANIC
#define PASSDOCK_PANIC "none"
#endif

#ifdef PASSDOCK_LOOPS
#define PASSDOCK_EXTENSIONS "'" PASSDOCK_LOOPS_EXTENSION "'"
#else
#define PASSDOCK_EXTENSIONS
#endif

/* The part of the manifest before the file, with a given line break. */
#define PASSDOCK_MANIFEST_HEAD(br)                                                                 \
    "[plugin]" br "abi = '" PASSDOCK_VERSION_TEXT(PASSDOCK_ABI_MAJOR, PASSDOCK_ABI_MINOR) "'" br    \
    "min_host = '" PASSDOCK_VERSION_TEXT(PASSDOCK_ABI_MAJOR, PASSDOCK_MIN_HOST_MINOR) "'" br       \
    "ir = '" PASSDOCK_VERSION_TEXT(PASSDOCK_IR_MAJOR, PASSDOCK_IR_MINOR) "'" br                    \
    "language = '" PASSDOCK_VERSION_TEXT(PASSDOCK_LANGUAGE_MAJOR, PASSDOCK_LANGUAGE_MINOR) "'" br  \
    "extensions = [" PASSDOCK_EXTENSIONS "]" br "panic = '" PASSDOCK_PANIC "'" br
#define PASSDOCK_VERSION_TEXT(major, minor) PASSDOCK_TEXT(major) "." PASSDOCK_TEXT(minor)
#define PASSDOCK_TEXT(x) PASSDOCK_TEXT_OF(x)
#define PASSDOCK_TEXT_OF(x) #x

/* Directives that begin and end the exported symbol, in a section near the library's headers. */
#define PASSDOCK_ASM_SYMBOL PASSDOCK_TEXT(__USER_LABEL_PREFIX__) "passdock_manifest_v1"
#if defined(__APPLE__)
#define PASSDOCK_ASM_BEGIN                                                                         \
    ".pushsection __DATA,__passdock\n.globl " PASSDOCK_ASM_SYMBOL "\n"                             \
    ".no_dead_strip " PASSDOCK_ASM_SYMBOL "\n"
#define PASSDOCK_ASM_END ".popsection\n"
#elif defined(_WIN32)
#define PASSDOCK_ASM_BEGIN                                                                         \
    ".section .drectve,\"yn\"\n.ascii \" -export:passdock_manifest_v1,data\"\n"                   \
    ".section .passdk,\"dr\"\n.globl " PASSDOCK_ASM_SYMBOL "\n"
#define PASSDOCK_ASM_END ".text\n"
#else
#define PASSDOCK_ASM_BEGIN                                                                         \
    ".pushsection .passdock,\"a\"\n.globl " PASSDOCK_ASM_SYMBOL "\n"                               \
    ".type " PASSDOCK_ASM_SYMBOL ", %object\n"
#define PASSDOCK_ASM_END ".size " PASSDOCK_ASM_SYMBOL ", . - " PASSDOCK_ASM_SYMBOL "\n.popsection\n"
#endif

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_MANIFEST_H */
