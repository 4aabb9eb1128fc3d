/* A plugin in C that writes to read-only memory, for the test of `testing.immutable_module` and for those of arbitrary
 * words in the view. `-DOP` builds an operator instead of a pass. */
#include <stdio.h>
#include <stdlib.h>

#include "passdock.h"

/* Writes a word to the view, as the environment variable SCRIBBLE specifies: `COLUMN WORD VALUE`. Columns are numbered in
 * the order of the view's header; the header itself is column 18. Indices of words wrap around at the column's end. */
static passdock_status write_word(passdock_function_view *view, const char *where) {
    static const size_t sizes[18] = {
        sizeof(passdock_op),       sizeof(passdock_value), sizeof(passdock_use),
        sizeof(passdock_region),   sizeof(passdock_port),  sizeof(passdock_attr),
        sizeof(passdock_type),     sizeof(passdock_dim),   sizeof(passdock_dim_expr),
        sizeof(passdock_constant), sizeof(passdock_loc),   sizeof(passdock_opset),
        sizeof(uint32_t),          sizeof(int64_t),        sizeof(float),
        sizeof(passdock_range),    sizeof(uint8_t),        sizeof(uint8_t)};
    const passdock_column *columns = &view->ops;
    unsigned column, word, value;
    size_t end = sizeof *view;
    char *base = (char *)view;
    if (sscanf(where, "%u %u %u", &column, &word, &value) != 3 || column > 18) abort();
    if (column == 17) return PASSDOCK_OK;
    if (column < 17) {
        base = (char *)columns[column].base;
        end = columns[column].len * sizes[column];
    }
    if (end < sizeof value) return PASSDOCK_OK;
    memcpy(base + word % (end / sizeof value) * sizeof value, &value, sizeof value);
    return PASSDOCK_OK;
}

/* The status of the pass, which `-DSTATUS=PASSDOCK_STATUS_REJECTED` changes. */
#ifndef STATUS
#define STATUS PASSDOCK_OK
#endif

/* Changes the first op to `onnx.Neg` despite the view's `const`, or writes as SCRIBBLE specifies. */
static passdock_status scribble(const passdock_host *host, void *state, passdock_context *context,
                                const passdock_function_ref *function,
                                const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id neg = host->symbols->find(view->symbols, passdock_text("onnx.Neg"));
    passdock_op *op = (passdock_op *)passdock_get_op(view, 0);
    const char *where = getenv("SCRIBBLE");
    (void)state;
    (void)context;
    (void)module;
    if (where != NULL) return write_word((passdock_function_view *)view, where);
    if (op == NULL || neg == PASSDOCK_NONE) return PASSDOCK_OK;
    op->name = neg;
    return STATUS;
}

#ifdef OP
/* Renames the op instead of inferring types. */
static passdock_status infer(const passdock_host *host, void *state, passdock_op_call *call,
                             const passdock_function_ref *function, passdock_op_id op) {
    (void)state;
    (void)call;
    ((passdock_op *)passdock_get_op(function->view, op))->name =
        host->symbols->find(function->view->symbols, passdock_text("main"));
    return PASSDOCK_OK;
}

static const passdock_op_entry ops[] = {
    {.name = PASSDOCK_STR("c.Scribble"), .since = 1, .max_operands = 1, .max_results = 1, .infer = infer},
};

PASSDOCK_MANIFEST_TEXT("name = 'scribbles'\nversion = '0.1.0'\n[[op]]\nname = 'c.Scribble'\n");
#else
PASSDOCK_MANIFEST_TEXT("name = 'scribbles'\nversion = '0.1.0'\n"
                       "[[pass]]\nname = 'c.transform.Scribble'\nkind = 'function'\n");
#endif

const passdock_plugin *passdock_plugin_v1(const passdock_host *host,
                                         passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_plugin plugin;
    (void)host;

    (void)attach;
    pass.name = passdock_text("c.transform.Scribble");
    pass.run_function = scribble;
    plugin.struct_size = sizeof plugin;
    plugin.pass_stride = sizeof pass;
    plugin.op_stride = sizeof(passdock_op_entry);
#ifdef OP
    plugin.op_count = 1;
    plugin.ops = ops;
#else
    plugin.pass_count = 1;
    plugin.passes = &pass;
#endif
    return &plugin;
}
