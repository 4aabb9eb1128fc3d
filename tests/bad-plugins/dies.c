/* A plugin in C that ends the process, or spoils it, as the variable FAULT says: for the tests of what is told of that.
 * Its pass does it; with AT, another part of it: "constructor", "create", "before" or another callback of its
 * instrument, "infer" of its op. With ONLY, functions are spared that have no op of that name. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passdock.h"

static volatile int zero;
static volatile int *volatile nowhere;

static int fall(void) { return nowhere[2]; }

static int sink(volatile int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return zero == 0 ? sink(depth + 1) + room[0] : 0;
}

static void *on_a_thread(void *state) {
    fall();
    return state;
}

static void at_exit_status(void) { _exit(9); }

static void at_exit_crash(void) { fall(); }

static int is(const char *fault) {
    const char *asked = getenv("FAULT");
    return asked != NULL && strcmp(asked, fault) == 0;
}

static const passdock_host *host;

/* Whether this part of the plugin is to do it. */
static int is_at(const char *part) {
    const char *asked = getenv("AT");
    return strcmp(asked == NULL ? "pass" : asked, part) == 0;
}

/* Whether a function is spared. */
static int is_spared(const passdock_function_ref *function) {
    const char *only = getenv("ONLY");
    passdock_symbol_id name;
    passdock_op_id op;
    if (only == NULL || function == NULL) return 0;
    name = host->symbols->find(function->view->symbols, passdock_text(only));
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        if (found != NULL && found->name == name) return 0;
    }
    return 1;
}

/* The ops of a function, without its terminator. */
static uint32_t ops(const passdock_function_ref *function) {
    passdock_op_id op;
    uint32_t count = 0;
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        if (found != NULL && found->results.len > 0) count++;
    }
    return count;
}

/* Puts the operand of the first op in its place. */
static passdock_status take_one_out(const passdock_function_ref *function) {
    passdock_op_id op;
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        passdock_value_id operand = passdock_operand(function->view, op, 0);
        if (found != NULL && found->results.len == 1 && operand != PASSDOCK_NONE)
            return host->functions->replace_op_with(function->handle, op, &operand, 1);
    }
    return PASSDOCK_OK;
}

/* Starts a process that goes on for long, and holds what this one has open. */
static void start_another(void) {
    if (fork() == 0) {
        sleep(600);
        _exit(0);
    }
}

static passdock_status work(void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    pthread_t thread;
    (void)state;
    (void)context;
    (void)module;
    if (is_spared(function)) return PASSDOCK_OK;
    if (is("fork")) start_another();
    if (is("fork and hang")) {
        start_another();
        for (;;) pause();
    }
    if (is("fork and _exit")) {
        start_another();
        _exit(3);
    }
    if (is("exit 3")) exit(3);
    if (is("segv, fpe below 4 ops")) {
        if (ops(function) < 4) raise(SIGFPE);
        fall();
    }
    if (is("segv the second time")) {
        static int times;
        if (times++ > 0) fall();
        return take_one_out(function);
    }
    if (is("segv below 3 ops") && ops(function) < 3) fall();
    if (is("segv")) fall();
    if (is("abort")) abort();
    if (is("fpe")) zero = raise(SIGFPE);
    if (is("ill")) __builtin_trap();
    if (is("stack")) sink(0);
    if (is("exit")) exit(0);
    if (is("quick_exit")) quick_exit(0);
    if (is("_exit")) _exit(0);
    if (is("exec")) execl("/bin/true", "true", (char *)NULL);
    if (is("kill")) kill(getpid(), SIGKILL);
    if (is("hang"))
        for (;;) pause();
    if (is("spin"))
        while (!zero) continue;
    if (is("thread")) {
        pthread_create(&thread, NULL, on_a_thread, NULL);
        pthread_join(thread, NULL);
    }
    if (is("print")) printf("printed by the plugin\n");
    if (is("atexit status")) atexit(at_exit_status);
    if (is("atexit crash")) atexit(at_exit_crash);
    if (is("chdir") && chdir("/") != 0) return PASSDOCK_STATUS_FAILED;
    return PASSDOCK_OK;
}

/* What the parts do that aren't the pass. */
static passdock_status at(const char *part) {
    return is_at(part) ? work(NULL, NULL, NULL, NULL) : PASSDOCK_OK;
}

static passdock_status work_at_pass(void *state, passdock_context *context,
                                    const passdock_function_ref *function,
                                    const passdock_module_ref *module) {
    return is_at("pass") ? work(state, context, function, module) : PASSDOCK_OK;
}

__attribute__((constructor)) static void constructor(void) { at("constructor"); }

static passdock_status infer(void *state, passdock_op_call *call,
                             const passdock_function_ref *function, passdock_op_id op) {
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return at("infer");
}

static passdock_status create(void *state, passdock_context *context, void **out) {
    (void)state;
    (void)context;
    *out = NULL;
    return at("create");
}

static void destroy(void *instance) {
    (void)instance;
    at("destroy");
}

static passdock_status enter(void *instance, passdock_context *context) {
    (void)instance;
    (void)context;
    return at("enter");
}

static passdock_status before(void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)instance;
    (void)context;
    (void)module;
    (void)pass;
    return at("before");
}

static passdock_status after(void *instance, passdock_context *context,
                             const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)instance;
    (void)context;
    (void)module;
    (void)pass;
    return at("after");
}

PASSDOCK_MANIFEST("dies", "0.1.0",
                  PASSDOCK_PASS("c.transform.Dies", "function", 0,
                                "summary = \"Does what it mustn't.\"\n")
                  PASSDOCK_OP("dies.Op", 1)
                  PASSDOCK_INSTRUMENT("dies.watch", ""));

const passdock_plugin *passdock_plugin_v0(const passdock_host *the_host, passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_op_entry op;
    static passdock_instrument_entry instrument;
    static passdock_plugin plugin;
    (void)attach;
    host = the_host;
    if (is("load")) fall();
    pass.name = passdock_text("c.transform.Dies");
    pass.kind = PASSDOCK_PASS_FUNCTION;
    pass.run_function = work_at_pass;
    op.name = passdock_text("dies.Op");
    op.since = 1;
    op.min_operands = 1;
    op.max_operands = 1;
    op.infer = infer;
    instrument.name = passdock_text("dies.watch");
    instrument.create = create;
    instrument.destroy = destroy;
    instrument.enter_pass_ctx = enter;
    instrument.run_before_pass = before;
    instrument.run_after_pass = after;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.ops = &op;
    plugin.op_count = 1;
    plugin.op_stride = sizeof op;
    plugin.instruments = &instrument;
    plugin.instrument_count = 1;
    plugin.instrument_stride = sizeof instrument;
    return &plugin;
}
