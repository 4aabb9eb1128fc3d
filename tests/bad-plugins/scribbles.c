/* A plugin in C that writes where it may only read, for the test of `testing.immutable_module`. */
#include "passdock.h"

static const passdock_host *host;

/* Makes `onnx.Neg` of the first op, past the view's `const`. */
static passdock_status scribble(void *state, passdock_context *context,
                                const passdock_function_ref *function,
                                const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id neg = host->symbols->find(view->symbols, passdock_text("onnx.Neg"));
    passdock_op *op = (passdock_op *)passdock_get_op(view, 0);
    (void)state;
    (void)context;
    (void)module;
    if (op == NULL || neg == PASSDOCK_NONE) return PASSDOCK_STATUS_FAILED;
    op->name = neg;
    return PASSDOCK_OK;
}

PASSDOCK_MANIFEST("scribbles", "0.1.0", PASSDOCK_PASS("c.transform.Scribble", "function", 0, ""));

const passdock_plugin *passdock_plugin_v0(const passdock_host *the_host,
                                         passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_plugin plugin;

    (void)attach;
    host = the_host;
    pass.name = passdock_text("c.transform.Scribble");
    pass.kind = PASSDOCK_PASS_FUNCTION;
    pass.run_function = scribble;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.op_stride = sizeof(passdock_op_entry);
    return &plugin;
}
