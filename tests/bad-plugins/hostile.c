/* A plugin in C whose manifest, diagnostics and errors contain active characters, for the tests of untrusted text. With
 * the environment variable REFUSE, it rejects the host. */
#include <stdlib.h>

#include "passdock.h"

/* A terminal's color and title, C1, right-to-left, invisible characters, markup, and a line that looks like output. */
#define HOSTILE                                                                                     \
    "\033[31m\033]0;t\007\302\2335m\177\342\200\256\342\200\213\302\255\363\240\201\201</script>\r\nforged"

static passdock_status emit(const passdock_host *host, passdock_context *context,
                            passdock_severity severity) {
    passdock_str notes[1];
    passdock_label label;
    passdock_diagnostic diagnostic;
    memset(&label, 0, sizeof label);
    label.struct_size = sizeof label;
    label.op = 0;
    label.part = PASSDOCK_PART_NAME;
    label.text = passdock_text("label " HOSTILE);
    notes[0] = passdock_text("note " HOSTILE);
    memset(&diagnostic, 0, sizeof diagnostic);
    diagnostic.struct_size = sizeof diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = passdock_text("h::code" HOSTILE);
    diagnostic.message = passdock_text("message " HOSTILE);
    diagnostic.help = passdock_text("help " HOSTILE);
    diagnostic.label_stride = sizeof label;
    diagnostic.labels = &label;
    diagnostic.label_count = 1;
    diagnostic.notes = notes;
    diagnostic.note_count = 1;
    return host->context->emit(context, &diagnostic);
}

static passdock_status complain(const passdock_host *host, void *state, passdock_context *context,
                                const passdock_function_ref *function,
                                const passdock_module_ref *module) {
    (void)state;
    (void)function;
    (void)module;
    return emit(host, context, PASSDOCK_SEVERITY_WARNING);
}

static passdock_status fail(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    (void)state;
    (void)function;
    (void)module;
    emit(host, context, PASSDOCK_SEVERITY_ERROR);
    return PASSDOCK_STATUS_FAILED;
}

static passdock_status create(const passdock_host *host, void *state, passdock_context *context,
                              void **out) {
    (void)host;
    (void)state;
    (void)context;
    *out = NULL;
    return PASSDOCK_OK;
}

PASSDOCK_MANIFEST("hostile.toml");

const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {
    static passdock_pass_entry passes[2];
    static passdock_op_entry ops[1];
    static passdock_instrument_entry instruments[1];
    static passdock_plugin plugin;
    (void)host;
    if (getenv("REFUSE") != NULL) {
        attach->reason = passdock_text("reason " HOSTILE);
        return NULL;
    }
    passes[0].name = passdock_text("h.transform.Complain");
    passes[0].run_function = complain;
    passes[1].name = passdock_text("h.transform.Fail");
    passes[1].run_function = fail;
    ops[0].name = passdock_text("\"d\342\200\256\342\200\213\302\255\".Op");
    ops[0].since = 1;
    ops[0].max_operands = UINT32_MAX;
    ops[0].max_results = UINT32_MAX;
    instruments[0].name = passdock_text("h.watch");
    instruments[0].create = create;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 2;
    plugin.passes = passes;
    plugin.pass_stride = sizeof passes[0];
    plugin.op_count = 1;
    plugin.ops = ops;
    plugin.op_stride = sizeof ops[0];
    plugin.instrument_count = 1;
    plugin.instruments = instruments;
    plugin.instrument_stride = sizeof instruments[0];
    return &plugin;
}
