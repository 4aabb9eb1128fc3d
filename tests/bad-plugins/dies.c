/* A plugin in C whose one pass ends the process, or spoils it, as the variable FAULT says: for the tests of what is
 * told of that. */
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

static passdock_status work(void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    pthread_t thread;
    (void)state;
    (void)context;
    (void)function;
    (void)module;
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

PASSDOCK_MANIFEST("dies", "0.1.0",
                  PASSDOCK_PASS("c.transform.Dies", "function", 0,
                                "summary = \"Does what it mustn't.\"\n"));

const passdock_plugin *passdock_plugin_v0(const passdock_host *host, passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_plugin plugin;
    (void)host;
    (void)attach;
    if (is("load")) fall();
    pass.name = passdock_text("c.transform.Dies");
    pass.kind = PASSDOCK_PASS_FUNCTION;
    pass.run_function = work;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.op_stride = sizeof(passdock_op_entry);
    return &plugin;
}
