/* A plugin in C whose pass has the fault that FAULT selects, for the tests of `passdock plugin check`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "passdock.h"

enum fault { NONE, SEGFAULT, EXIT, HANG, COUNT, PROCESS, STATUS, SILENT, SILENT_CONFIG, REJECT, REFUSE_OPTION, OTHER_NAME, UNKNOWN_KEY, REFUSE_AGAIN, EXTENSION };

/* Sets the attribute `mark` of the function. */
static passdock_status mark(const passdock_host *host, const passdock_function_ref *function, uint64_t number) {
    passdock_attr_desc attr;
    memset(&attr, 0, sizeof attr);
    attr.struct_size = sizeof attr;
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = host->symbols->intern(function->view->symbols, passdock_text("mark"));
    attr.bits = number;
    return host->functions->set_attr(function->handle, PASSDOCK_NONE, &attr);
}

/* Uses an optional extension of the host as if every host had it. */
static passdock_status analyze(const passdock_host *host, const passdock_function_ref *function) {
    const passdock_version *loops = host->get_extension(host, passdock_text(PASSDOCK_LOOPS_EXTENSION));
    return mark(host, function, loops->major);
}

/* Fails with a message. */
static passdock_status reject(const passdock_host *host, passdock_context *context) {
    return passdock_fail(host, context, PASSDOCK_NONE, passdock_text("unsupported function"));
}

static passdock_status work(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    static uint64_t runs;
    (void)state;
    (void)module;
    switch ((int)FAULT) {
    case SEGFAULT:
        fputs("about to fall\n", stderr);
        *(volatile int *)8 = 0;
        break;
    case EXIT: exit(0);
    case HANG:
        for (;;) pause();
    case COUNT: return mark(host, function, ++runs);
    case PROCESS: return mark(host, function, (uint64_t)getpid());
    case STATUS: return 77;
    case SILENT: return PASSDOCK_STATUS_FAILED;
    case SILENT_CONFIG: return PASSDOCK_STATUS_CONFIG;
    case REJECT: return reject(host, context);
    case REFUSE_OPTION:
        reject(host, context);
        return PASSDOCK_STATUS_CONFIG;
    case EXTENSION: return analyze(host, function);
    default: break;
    }
    return PASSDOCK_OK;
}

PASSDOCK_MANIFEST_TEXT("name = 'unsound'\nversion = '0.1.0'\n"
                       "[[pass]]\nname = 'c.transform.Unsound'\nkind = 'function'\n"
                       "summary = \"Does what it mustn't.\"\nthread_safe = true\n" LINES);

const passdock_plugin *passdock_plugin_v1(const passdock_host *host,
                                         passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_plugin plugin;
    static int attached;
    (void)host;

    if (FAULT == REFUSE_AGAIN && attached) {
        attach->reason = passdock_text("already loaded");
        return NULL;
    }
    attached = 1;
    pass.name = FAULT == OTHER_NAME ? passdock_text("c.transform.Sound")
                                    : passdock_text("c.transform.Unsound");
    pass.run_function = work;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.op_stride = sizeof(passdock_op_entry);
    return &plugin;
}
