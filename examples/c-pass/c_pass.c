/* A plugin in C: replaces `Relu(Relu(x))` by `Relu(x)`.
 *
 * Build it with
 *     gcc -std=c11 -O2 -shared -fPIC -I ../../plugin-api/abi/include c_pass.c -o libc_pass.so
 * and put it into a directory that passdock is told of: `--plugin-dir .`. */
#include "passdock.h"

static const passdock_host *host;

/* The pass, on one function. */
static passdock_status fuse_double_relu(void *state, passdock_context *context,
                                        const passdock_function_ref *function,
                                        const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id relu = host->symbols->find(view->symbols, passdock_text("onnx.Relu"));
    passdock_op_id op;
    (void)state;
    (void)module;
    if (relu == PASSDOCK_NONE) return PASSDOCK_OK; /* nothing in the module is called so */

    /* The order doesn't matter here, so the arena is walked as it lies, nested regions included.
     * `view->ops.len` is read each time: edits may change it. */
    for (op = 0; op < view->ops.len; op++) {
        const passdock_op *outer = passdock_get_op(view, op);
        const passdock_op *inner;
        passdock_op_id inner_id;
        passdock_value_id inner_result;
        passdock_status status;
        if (outer == NULL || outer->name != relu) continue;
        inner_id = passdock_defining_op(view, passdock_operand(view, op, 0));
        inner = passdock_get_op(view, inner_id);
        if (inner == NULL || inner->name != relu) continue;

        inner_result = passdock_result(view, inner_id, 0);
        status = host->functions->replace_op_with(function->handle, op, &inner_result, 1);
        if (status != PASSDOCK_OK) {
            passdock_failure failure;
            memset(&failure, 0, sizeof failure);
            failure.struct_size = sizeof failure;
            failure.op = op;
            failure.message = host->functions->last_error(function->handle);
            host->context->fail(context, &failure);
            return PASSDOCK_FAILED;
        }
    }
    return PASSDOCK_OK;
}

/* What is said about the plugin; read without loading it. */
PASSDOCK_MANIFEST("c", "0.1.0",
                  PASSDOCK_PASS("c.transform.FuseDoubleRelu", "function", 1,
                                "summary = \"Replaces `Relu(Relu(x))` by `Relu(x)`.\"\n"));

/* How to call it. */
const passdock_plugin *passdock_plugin_v0(const passdock_host *the_host) {
    static const char name[] = "c.transform.FuseDoubleRelu";
    static passdock_pass_entry pass;
    static passdock_plugin plugin;

    /* A host without these is too old for this plugin. */
    if (!PASSDOCK_HAS(the_host->symbols, find) || !PASSDOCK_HAS(the_host->context, fail) ||
        !PASSDOCK_HAS(the_host->functions, replace_op_with)) {
        return NULL;
    }
    host = the_host;
    pass.name = passdock_text(name);
    pass.kind = PASSDOCK_FUNCTION_PASS;
    pass.run_function = fuse_double_relu;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.op_stride = sizeof(passdock_op_entry);
    return &plugin;
}
