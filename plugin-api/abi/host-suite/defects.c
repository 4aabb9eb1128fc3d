/* Defects of a host, to test the suite itself. With `-DDEFECTS`, the environment variable DEFECT selects one. */
#include "suite.h"

#ifndef DEFECTS
const passdock_host *host_to_check(const passdock_host *host) { return host; }
#else
#include <stdlib.h>

static const passdock_host *real;

/* Interns the strings that it looks for. */
static passdock_symbol_id find(const passdock_symbols *symbols, passdock_str text) {
    return real->symbols->intern(symbols, text);
}

static const void *get_extension(const passdock_host *host, passdock_str id) {
    (void)id;
    return host;
}

static passdock_str last_error(const passdock_function *f) {
    passdock_str none = {NULL, 0};
    (void)f;
    return none;
}

static passdock_status erase_op(passdock_function *f, passdock_op_id op) {
    passdock_status status = real->functions->erase_op(f, op);
    return status == PASSDOCK_STATUS_REJECTED ? PASSDOCK_OK : status;
}

static passdock_status set_attr(passdock_function *f, passdock_op_id op, const passdock_attr_desc *desc) {
    passdock_attr_desc copy = *desc;
    copy.reserved = 0;
    return real->functions->set_attr(f, op, &copy);
}

static passdock_status constant_data(const passdock_function *f, passdock_const_id constant, passdock_bytes *out) {
    passdock_status status = real->functions->constant_data(f, constant, out);
    return status == PASSDOCK_STATUS_STALE ? PASSDOCK_STATUS_INVALID : status;
}

static passdock_status snapshot(const passdock_module *m, passdock_symbol_id name, passdock_function_ref *out) {
    return real->modules->edit((passdock_module *)m, name, out);
}

static passdock_status run_pass(passdock_module *m, passdock_context *context, const passdock_run_desc *desc) {
    passdock_status status = real->modules->run_pass(m, context, desc);
    return status == PASSDOCK_STATUS_FAILED ? PASSDOCK_OK : status;
}

static passdock_status option(const passdock_context *context, passdock_str name, passdock_setting *out) {
    passdock_setting all = {sizeof all, 0, 0, 0, {NULL, 0}, NULL, 0, 0};
    passdock_status status = real->context->option(context, name, &all);
    if (status == PASSDOCK_OK && out != NULL) *out = all;
    return out == NULL ? PASSDOCK_STATUS_INVALID : status;
}

static passdock_status put(const passdock_function *f, const void *owner, passdock_str key, void *data,
                           passdock_drop_analysis drop, void **out) {
    passdock_status status = real->analyses->put(f, owner, key, data, drop, out);
    if (status == PASSDOCK_OK) real->analyses->put(f, owner, key, data, drop, out);
    return status;
}

static passdock_status infer_with(passdock_context *context, passdock_function *f, passdock_op_id op,
                                  const passdock_value_id *operands, size_t count) {
    (void)operands;
    (void)count;
    return real->ops->infer(context, f, op);
}

static passdock_status target(passdock_op_call *call, passdock_str *out) {
    (void)call;
    *out = passdock_text("host_suite.gpu");
    return PASSDOCK_OK;
}

/* Copies a table and replaces one of its functions. */
#define DEFECT(name, field, table)                       \
    if (strcmp(selected, #name) == 0) {                  \
        table = *real->field;                            \
        table.name = name;                               \
        copy.field = &table;                             \
    }

const passdock_host *host_to_check(const passdock_host *host) {
    static passdock_host copy;
    static passdock_symbol_api symbols;
    static passdock_function_api functions;
    static passdock_module_api modules;
    static passdock_context_api context;
    static passdock_op_api ops;
    static passdock_definition_api definitions;
    static passdock_analysis_api analyses;
    const char *selected = getenv("DEFECT");
    if (selected == NULL || host == &copy) return host;
    real = host;
    copy = *host;
    if (strcmp(selected, "get_extension") == 0) copy.get_extension = get_extension;
    DEFECT(find, symbols, symbols)
    DEFECT(last_error, functions, functions)
    DEFECT(erase_op, functions, functions)
    DEFECT(set_attr, functions, functions)
    DEFECT(constant_data, functions, functions)
    DEFECT(snapshot, modules, modules)
    DEFECT(run_pass, modules, modules)
    DEFECT(option, context, context)
    DEFECT(infer_with, ops, ops)
    DEFECT(target, definitions, definitions)
    DEFECT(put, analyses, analyses)
    return &copy;
}
#endif
