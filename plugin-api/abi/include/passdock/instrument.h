/* Instruments: what watches passes run, and may veto them. Part of passdock.h, which has the rules.
 *
 * A plugin lists its instruments in its table and in its manifest. The host makes an instance of an
 * instrument each time a pipeline or a program names it, and calls, in the order in which they are
 * named,
 *
 *   enter_pass_ctx   before the context is entered;
 *   should_run, run_before_pass, run_after_pass or pass_failed   around each pass, nested and
 *                    required ones included;
 *   report           when all passes ran, before the context is left;
 *   exit_pass_ctx    after the context was left.
 *
 *  Threads    The functions of one instance are called one at a time, on the thread that enters the
 *             context or runs the pass. Those of different instances may be called at once.
 *  Context    Alive until the function returns. `option` gives the instrument's own options, `emit`
 *             says something to the user (an error among it makes the callback fail), `fail` says
 *             why it is about to answer something other than OK; `opt_level`, `config` and `find_pass`
 *             answer as in a pass. Of `run_before_pass` and its like `current` is this same context.
 *  Module     To read, alive until the function returns. It is the module before the pass; in
 *             `run_after_pass` the one that the pass made; in `pass_failed` the one before, which
 *             it is again. Edits are refused.
 *  Calls      Beside what is said here, an instrument may call what only reads: of
 *             passdock_module_api `snapshot` and `release`, of passdock_function_api and
 *             passdock_op_api what takes a const function, and analyses.
 *  Answers    Any status but OK makes the run fail, with what `fail` said. In `pass_failed` it is
 *             a note beside the pass's error. */
#ifndef PASSDOCK_INSTRUMENT_H
#define PASSDOCK_INSTRUMENT_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pass that an instrument is called about; alive until the function returns. */
typedef struct passdock_pass_info {
    uint32_t struct_size;
    uint32_t opt_level;
    passdock_str name;
    passdock_str plugin;          /* the plugin that gives the pass, or empty */
    const passdock_str *required; /* names of passes */
    size_t required_count;
    passdock_str error; /* in `pass_failed`: why, in a sentence; else empty */
} passdock_pass_info;

typedef passdock_status (*passdock_watch_context)(void *instance, passdock_context *);
typedef passdock_status (*passdock_watch_pass)(void *instance, passdock_context *,
                                               const passdock_module_ref *,
                                               const passdock_pass_info *);

/* An instrument. All functions but `create` may be null. */
typedef struct passdock_instrument_entry {
    passdock_str name; /* NAMESPACE.name */
    void *state;       /* the plugin's own, handed to `create`; may be null */
    /* Makes an instance: what the other functions get, null if it needs nothing. */
    passdock_status (*create)(void *state, passdock_context *, void **out);
    /* Frees an instance. Nothing is called on it any more. No context is there but `current`, for
     * `fail`: the run fails then. */
    void (*destroy)(void *instance);
    passdock_watch_context enter_pass_ctx;
    passdock_watch_context exit_pass_ctx;
    /* `*out` is 1; 0 vetoes the pass. All instruments are asked. Not asked of passes that the
     * context requires. */
    passdock_status (*should_run)(void *instance, passdock_context *, const passdock_module_ref *,
                                  const passdock_pass_info *, uint32_t *out);
    passdock_watch_pass run_before_pass;
    passdock_watch_pass run_after_pass;
    passdock_watch_pass pass_failed;
    /* The report: what there is to show, or an empty text. It lives until the next call on the instance. */
    passdock_status (*report)(void *instance, passdock_context *, passdock_str *out);
} passdock_instrument_entry;

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_INSTRUMENT_H */
