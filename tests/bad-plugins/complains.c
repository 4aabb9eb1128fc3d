/* A plugin in C that emits diagnostics about ops, for the tests of diagnostics. */
#include "passdock.h"

/* Warns about each `onnx.Relu` whose operand is the result of another one, with labels on both. */
static passdock_status warn(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id relu = host->symbols->find(view->symbols, passdock_text("onnx.Relu"));
    passdock_op_id op;
    (void)state;
    (void)module;
    for (op = 0; op < view->ops.len; op++) {
        const passdock_op *outer = passdock_get_op(view, op);
        passdock_op_id inner = passdock_defining_op(view, passdock_operand(view, op, 0));
        const passdock_op *made = passdock_get_op(view, inner);
        passdock_label labels[2];
        passdock_str notes[1];
        passdock_diagnostic diagnostic;
        if (outer == NULL || outer->name != relu || made == NULL || made->name != relu) continue;

        memset(labels, 0, sizeof labels);
        labels[0].struct_size = labels[1].struct_size = sizeof labels[0];
        labels[0].op = op;
        labels[0].part = PASSDOCK_PART_OPERAND;
        labels[0].text = passdock_text("is never negative");
        labels[1].op = inner;
        labels[1].part = PASSDOCK_PART_NAME;
        labels[1].text = passdock_text("because of this");
        notes[0] = passdock_text("`Relu(Relu(x))` equals `Relu(x)`");
        memset(&diagnostic, 0, sizeof diagnostic);
        diagnostic.struct_size = sizeof diagnostic;
        diagnostic.severity = PASSDOCK_SEVERITY_WARNING;
        diagnostic.code = passdock_text("c::double-relu");
        diagnostic.message = passdock_text("op has no effect");
        diagnostic.help = passdock_text("run `c.transform.FuseDoubleRelu`");
        diagnostic.label_stride = sizeof labels[0];
        diagnostic.labels = labels;
        diagnostic.label_count = 2;
        diagnostic.notes = notes;
        diagnostic.note_count = 1;
        if (host->context->emit(context, &diagnostic) != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    }
    return PASSDOCK_OK;
}

/* Emits an error and fails without a message. */
static passdock_status give_up(const passdock_host *host, void *state, passdock_context *context,
                               const passdock_function_ref *function,
                               const passdock_module_ref *module) {
    passdock_diagnostic diagnostic;
    (void)state;
    (void)function;
    (void)module;
    memset(&diagnostic, 0, sizeof diagnostic);
    diagnostic.struct_size = sizeof diagnostic;
    diagnostic.severity = PASSDOCK_SEVERITY_ERROR;
    diagnostic.op = PASSDOCK_NONE;
    diagnostic.message = passdock_text("cannot continue");
    if (host->context->emit(context, &diagnostic) != PASSDOCK_OK) return PASSDOCK_OK;
    return PASSDOCK_STATUS_FAILED;
}

PASSDOCK_MANIFEST_TEXT("name = 'complains'\nversion = '0.1.0'\nrequires = ['relax >= 0.1', 'onnx-ops']\n"
                       "[[pass]]\nname = 'c.transform.Warn'\nkind = 'function'\n"
                       "[[pass]]\nname = 'c.transform.GiveUp'\nkind = 'function'\n");

const passdock_plugin *passdock_plugin_v1(const passdock_host *host,
                                         passdock_attach *attach) {
    static const char warn_name[] = "c.transform.Warn";
    static const char give_up_name[] = "c.transform.GiveUp";
    static passdock_pass_entry passes[2];
    static passdock_plugin plugin;
    (void)host;

    (void)attach;
    passes[0].name = passdock_text(warn_name);
    passes[0].run_function = warn;
    passes[1].name = passdock_text(give_up_name);
    passes[1].run_function = give_up;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 2;
    plugin.passes = passes;
    plugin.pass_stride = sizeof passes[0];
    plugin.op_stride = sizeof(passdock_op_entry);
    return &plugin;
}
