/* Analyses: an optional power of the host. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_ANALYSIS_H
#define PASSDOCK_ANALYSIS_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The id for which `get_extension` of passdock_host answers a passdock_analysis_api. */
#define PASSDOCK_ANALYSIS_EXTENSION "passdock.analysis.v0"

/* The host's analyses: the names that `column` takes. */
#define PASSDOCK_ANALYSIS_LIVENESS "liveness" /* a passdock_liveness per value id */
#define PASSDOCK_ANALYSIS_ORDER "order"       /* a passdock_op_order per op id */
#define PASSDOCK_ANALYSIS_EFFECTS "effects"   /* a passdock_op_effects per op id */
#define PASSDOCK_ANALYSIS_NAMES "names"       /* a passdock_name_use per name, in program order */

/* The last use of a value. */
typedef struct passdock_liveness {
    /* The last op in the value's own region that uses it, or that holds an op which does: behind
     * it, nobody needs the value. NONE if nobody uses it at all. */
    passdock_op_id last_use;
} passdock_liveness;

/* The place of an op in the whole function: op `a` is run before op `b` if its position is smaller;
 * `b` is nested in `a` if a.position < b.position && b.position < a.end. */
typedef struct passdock_op_order {
    uint32_t position; /* the number of ops before it, in all regions; PASSDOCK_NONE: it is gone */
    uint32_t end;      /* the position behind the last op that is nested in it */
    uint32_t depth;    /* of the region that it stands in; the body is at 0 */
} passdock_op_order;

/* The effects of running an op beside giving results, in PASSDOCK_TRAIT_*. */
typedef struct passdock_op_effects {
    /* Traits of its definition. `return`, `yield`, `tuple` and `tuple_get` are PURE. */
    uint64_t traits;
    /* Of it and of everything nested in it: PURE if all are; RANDOM, STATEFUL, READS, WRITES,
     * ALLOCATES if one is. */
    uint64_t effects;
} passdock_op_effects;

/* A name that the function uses. */
typedef struct passdock_name_use {
    passdock_symbol_id name;
    uint32_t count;       /* the number of ops */
    passdock_op_id first; /* the first of them in program order */
    uint32_t flags;       /* PASSDOCK_NAME_CALLEE */
    uint64_t traits;      /* traits as in passdock_op_effects; 0 of a callee */
} passdock_name_use;
/* Not the name of ops, but what they say in their attribute `callee`. */
#define PASSDOCK_NAME_CALLEE 1u

/* Analyses of a function. They are found again, also by later passes, as long as the function is
 * what it was; the first edit ends them. `last_error` of the function has an error's sentence.
 *
 * A plugin's own analysis is opaque to the host: `data`, kept under a key for the function as it is
 * now. It must depend on the function and the op definitions alone (traits too, AMBIGUOUS among them),
 * not on options, config or other functions, nor on which there are (`names_function`): passes that
 * have others find it too. It may be read on several threads at once. */
typedef struct passdock_analysis_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* The host's analysis of a name, worked out if it isn't there yet, in time linear in the
     * function. The records are the host's, and live until the function's next edit or the end of
     * its handle. NOT_FOUND if this host has no analysis of that name. */
    passdock_status (*column)(const passdock_function *, passdock_str name, passdock_column *out);
    /* The data that the plugin keeps under a key: good until the function's next edit or the end of its
     * handle. NOT_FOUND, without a sentence, if nothing is kept for the function as it is. `owner` is
     * an address of the plugin's (of its passdock_plugin, say), the same each time: it tells its keys
     * from those of others. With null the data is shared by all plugins of the process: the key then says whose it
     * is, what it is, and how it is laid out ("acme.Cost/1"). */
    passdock_status (*get)(const passdock_function *, const void *owner, passdock_str key,
                           void **out);
    /* Gives `data` to the host, whatever the answer is, and answers in `out` what is kept, which
     * lives as with `get`. It is `data`, or what was kept under the key already. The host calls
     * `drop` once, when the data is of no use any more: on any thread, during a call or after the
     * pass. It calls nothing of the host but `fail` of `current`, if it went wrong. `data` isn't null;
     * `drop` may be. REFUSED if the function has 4,096 analyses: what belongs together has one key. */
    passdock_status (*put)(const passdock_function *, const void *owner, passdock_str key,
                           void *data, void (*drop)(void *data), void **out);
    /* Says that what is kept under a key is right for the function as it is now, although this pass
     * edited it. NOT_FOUND if nothing is kept that was right when the pass began, or since. */
    passdock_status (*preserve)(passdock_function *, const void *owner, passdock_str key);
} passdock_analysis_api;

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_ANALYSIS_H */
