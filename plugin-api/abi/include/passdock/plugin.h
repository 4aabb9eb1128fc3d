/* The table of a plugin, and its two symbols. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_PLUGIN_H
#define PASSDOCK_PLUGIN_H

#include "host.h"
#include "instrument.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pass. All that is said about it stands in the manifest, under the same name. */
typedef struct passdock_pass_entry {
    passdock_str name;
    passdock_pass_kind kind;
    uint32_t reserved;
    void *state; /* the plugin's own, handed to `run_*`; may be null */
    /* Of a function or prim-function pass, else null: runs it on one function. `module` is the
     * module before the pass, to read. It may be null if the host has none. */
    passdock_status (*run_function)(void *state, passdock_context *,
                                    const passdock_function_ref *function,
                                    const passdock_module_ref *module);
    /* Of a module pass, else null. */
    passdock_status (*run_module)(void *state, passdock_context *,
                                  const passdock_module_ref *module);
} passdock_pass_entry;

/* Answers about one op; any thread, several at once. `function` is to read, until it returns. */
typedef passdock_status (*passdock_op_fn)(void *state, passdock_op_call *,
                                          const passdock_function_ref *function, passdock_op_id);

/* Traits: what a definition says of every op of its name. DEFINED, FOLDS, DECOMPOSES, AMBIGUOUS,
 * LEGALIZES, KNOWS_LAYOUT, ALTERS_LAYOUT and LATER are the host's answers; in a definition they are ignored. STATEFUL, READS, WRITES and ALLOCATES are
 * provisional: until version 1 of the contract what they mean may become narrower. */
#define PASSDOCK_TRAIT_DEFINED (UINT64_C(1) << 0)
#define PASSDOCK_TRAIT_PURE (UINT64_C(1) << 1) /* no effect but its results */
#define PASSDOCK_TRAIT_RANDOM (UINT64_C(1) << 2)
#define PASSDOCK_TRAIT_STATEFUL (UINT64_C(1) << 3)
#define PASSDOCK_TRAIT_COMMUTATIVE (UINT64_C(1) << 4)
#define PASSDOCK_TRAIT_ELEMENTWISE (UINT64_C(1) << 5)
#define PASSDOCK_TRAIT_IDEMPOTENT (UINT64_C(1) << 6)
#define PASSDOCK_TRAIT_IDENTITY (UINT64_C(1) << 7) /* the first result is the first operand */
#define PASSDOCK_TRAIT_GROWS (UINT64_C(1) << 8)    /* makes much out of little */
#define PASSDOCK_TRAIT_READS (UINT64_C(1) << 9)
#define PASSDOCK_TRAIT_WRITES (UINT64_C(1) << 10)
#define PASSDOCK_TRAIT_ALLOCATES (UINT64_C(1) << 11)
#define PASSDOCK_TRAIT_FOLDS (UINT64_C(1) << 12)      /* has an evaluation */
#define PASSDOCK_TRAIT_SHAPE_ONLY (UINT64_C(1) << 13) /* depends on its operands' types only */

#define PASSDOCK_TRAIT_DECOMPOSES (UINT64_C(1) << 14) /* has a body of other ops */
/* A function of the module has the operator's name. Which of both an op means is its runtime's to
 * say, so nothing else is said of it. */
#define PASSDOCK_TRAIT_AMBIGUOUS (UINT64_C(1) << 15)
/* How an op fuses: as ELEMENTWISE, or as the first of these that it has; with none of them it stays alone. */
#define PASSDOCK_TRAIT_INJECTIVE (UINT64_C(1) << 16)   /* moves, resizes, samples or quantizes elements */
#define PASSDOCK_TRAIT_REDUCTION (UINT64_C(1) << 17)   /* reduces axes */
#define PASSDOCK_TRAIT_OUT_FUSABLE (UINT64_C(1) << 18) /* elementwise ops behind it can become part of it */
#define PASSDOCK_TRAIT_LEGALIZES (UINT64_C(1) << 19)     /* has a `legalize` */
#define PASSDOCK_TRAIT_KNOWS_LAYOUT (UINT64_C(1) << 20)  /* has a `layout` */
#define PASSDOCK_TRAIT_ALTERS_LAYOUT (UINT64_C(1) << 21) /* has an `alter_layout` */
#define PASSDOCK_TRAIT_LATER (UINT64_C(1) << 22)         /* is defined only in a later version of its domain */

/* An attribute that an operator has. The default counts only with the flag. */
typedef struct passdock_attr_entry {
    passdock_str name;
    passdock_str doc;        /* may be empty */
    passdock_attr_kind kind; /* the kind of its value */
    uint32_t flags;
    uint64_t bits;    /* the default: INT; FLOAT (the float's bits, the rest 0) */
    const void *data; /* the default: INTS: int64_t; FLOATS: float; STRING: char; STRINGS: passdock_str */
    size_t count;     /* elements of `data` */
} passdock_attr_entry;
#define PASSDOCK_ATTR_ENTRY_REQUIRED 1u /* an op without it is wrong */
#define PASSDOCK_ATTR_ENTRY_DEFAULT 2u  /* an op without it means the default */

/* An op definition; or what a plugin adds to one that may be another's, if its manifest says
 * `extends = true`: then it has any of `legalize`, `layout`, `alter_layout` and `supports` alone (no traits, no
 * number of operands), and is asked before the definition. */
typedef struct passdock_op_entry {
    passdock_str name;     /* canonical, domain included */
    int64_t since;         /* the first version of its domain with this meaning */
    uint32_t min_operands;
    uint32_t max_operands; /* UINT32_MAX: any number */
    uint64_t traits;
    void *state;             /* the plugin's own; may be null */
    /* Says the types of results by attributes, versions of domains, and the types and known elements of
     * operands, and by nothing else that it can see: while these are the same, a host needn't ask again;
     * null: types aren't inferred. */
    passdock_op_fn infer;
    passdock_op_fn evaluate; /* null: never folded */
    const passdock_attr_entry *attrs; /* the attributes it may have; null: not said */
    uint32_t attr_count;
    uint32_t attr_stride;
    passdock_op_fn decompose; /* null: it isn't made of others */
    /* Sets a body, as `decompose`, for back ends that don't have the op; null: it stays as it is. */
    passdock_op_fn legalize;
    /* Says what the op is in the layouts that it is asked for: `wanted_layout`, `set_operand_layout`,
     * `set_result_layout`, `set_body`; null: it can't be in another. */
    passdock_op_fn layout;
    /* The same, in the layouts that its maker wants; null: it wants none. */
    passdock_op_fn alter_layout;
    /* Whether the target that `target` of passdock_definition_api names takes the op: OK; or `refuse` says
     * why not; or NOT_FOUND, and another definition is asked; null: nothing is said. */
    passdock_op_fn supports;
    const passdock_str *targets; /* those that `supports` speaks for */
    size_t target_count;
} passdock_op_entry;

typedef struct passdock_plugin passdock_plugin;
struct passdock_plugin {
    uint32_t struct_size;
    uint32_t pass_count;
    const passdock_pass_entry *passes; /* `pass_stride` bytes apart */
    uint32_t pass_stride;
    uint32_t op_stride;
    const passdock_op_entry *ops; /* `op_stride` bytes apart */
    uint32_t op_count;
    uint32_t reserved;
    const passdock_instrument_entry *instruments; /* `instrument_stride` bytes apart */
    uint32_t instrument_count;
    uint32_t instrument_stride;
    /* An optional power of the plugin's by its id, for ever; null if it hasn't it. May be null. Any
     * thread. */
    const void *(*get_extension)(const passdock_plugin *, passdock_str id);
};

/* What a plugin is told when it is attached to a host, and may answer beside its table. */
typedef struct passdock_attach {
    uint32_t struct_size;
    uint32_t reserved;
    passdock_str path;   /* the library's file, absolute; empty if it is part of the program, or the path
                            isn't UTF-8 */
    passdock_str reason; /* set by the plugin that answers null: why, in a sentence that lives as long
                            as the library */
} passdock_attach;

/* ---- The two symbols --------------------------------------------------------------------------- */

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

#endif /* PASSDOCK_PLUGIN_H */
