/* A C plugin with a pass that replaces `Relu(Relu(x))` with `Relu(x)`, and an instrument that counts the
 * passes that ran.
 *
 * Build it with
 *     gcc -std=c11 -O2 -shared -fPIC -I ../../plugin-api/abi/include c_pass.c -o libc_pass.so
 * and pass its directory to passdock: `--plugin-dir .`. */
#include <stdio.h>
#include <stdlib.h>

#include "passdock.h"

/* Runs the pass on one function. */
static passdock_status fuse_double_relu(const passdock_host *host, void *state,
                                        passdock_context *context,
                                        const passdock_function_ref *function,
                                        const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id relu = host->symbols->find(view->symbols, passdock_text("onnx.Relu"));
    passdock_op_id op;
    (void)state;
    (void)module;
    if (relu == PASSDOCK_NONE) return PASSDOCK_OK; /* the module doesn't use the name */

    /* The order doesn't matter here, so this iterates over the arena, which includes the ops of nested
     * regions. `view->ops.len` is read each time, because edits may change it. */
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
            return passdock_fail(host, context, op, host->functions->last_error(function->handle));
        }
    }
    return PASSDOCK_OK;
}

/* The state of an instance of the instrument. */
typedef struct counter {
    unsigned ran, vetoed;
    int64_t limit;
    char report[80];
} counter;

static passdock_status counter_create(const passdock_host *host, void *state,
                                      passdock_context *context, void **out) {
    static const char limit[] = "limit";
    passdock_setting setting;
    counter *made = (counter *)calloc(1, sizeof *made);
    (void)state;
    if (made == NULL) return PASSDOCK_STATUS_FAILED;
    memset(&setting, 0, sizeof setting);
    setting.struct_size = sizeof setting;
    /* The manifest declares the option, so the host provides it as an int. */
    if (host->context->option(context, passdock_text(limit), &setting) != PASSDOCK_OK) {
        free(made);
        return PASSDOCK_STATUS_FAILED;
    }
    made->limit = setting.int_value;
    *out = made;
    return PASSDOCK_OK;
}

static void counter_destroy(const passdock_host *host, void *instance, passdock_context *context) {
    (void)host;
    (void)context;
    free(instance);
}

/* Vetoes all passes after the limit. */
static passdock_status counter_should_run(const passdock_host *host, void *instance,
                                          passdock_context *context,
                                          const passdock_module_ref *module,
                                          const passdock_pass_info *pass, uint32_t *out) {
    counter *it = (counter *)instance;
    (void)host;
    (void)context;
    (void)module;
    (void)pass;
    if (it->limit > 0 && it->ran >= it->limit) {
        it->vetoed++;
        *out = 0;
    }
    return PASSDOCK_OK;
}

static passdock_status counter_after(const passdock_host *host, void *instance,
                                     passdock_context *context,
                                     const passdock_module_ref *module,
                                     const passdock_pass_info *pass) {
    (void)host;
    (void)context;
    (void)module;
    (void)pass;
    ((counter *)instance)->ran++;
    return PASSDOCK_OK;
}

static passdock_status counter_report(const passdock_host *host, void *instance,
                                      passdock_context *context, passdock_str *out) {
    counter *it = (counter *)instance;
    (void)host;
    (void)context;
    snprintf(it->report, sizeof it->report, "%u passes ran, %u were vetoed", it->ran, it->vetoed);
    *out = passdock_text(it->report); /* owned by the instance, valid until its next call */
    return PASSDOCK_OK;
}

/* The manifest, which the host reads without loading the plugin. */
PASSDOCK_MANIFEST("plugin.toml");

static const passdock_pass_entry passes[] = {
    {.name = PASSDOCK_STR("c.transform.FuseDoubleRelu"),
     .run_function = fuse_double_relu},
};

/* The host doesn't call functions that are null. */
static const passdock_instrument_entry instruments[] = {
    {.name = PASSDOCK_STR("c.counter"),
     .create = counter_create,
     .destroy = counter_destroy,
     .should_run = counter_should_run,
     .run_after_pass = counter_after,
     .report = counter_report},
};

static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .passes = passes,
                                       .pass_count = 1,
                                       .pass_stride = sizeof passes[0],
                                       .instruments = instruments,
                                       .instrument_count = 1,
                                       .instrument_stride = sizeof instruments[0]};

PASSDOCK_ENTRY(plugin);
