/* A plugin of the future, which passes unknown values to a host. It is built with a header in which each enumeration has
 * an additional value, `…_FUTURE` (`cargo xtask deep future`). It emits the host's results as notes. */
#include <stdio.h>

#include "passdock.h"

/* A flag that isn't defined yet. */
#define FLAG_FUTURE (1u << 30)

static void say(const passdock_host *host, passdock_context *context, passdock_severity severity, passdock_op_part part,
                const char *text) {
    passdock_label label = PASSDOCK_LABEL_INIT;
    passdock_diagnostic said = PASSDOCK_DIAGNOSTIC_INIT;
    label.flags = said.flags = FLAG_FUTURE; /* the diagnostic is emitted nevertheless */
    label.op = 0;
    label.part = part;
    label.future = said.future = 1;
    said.severity = severity;
    said.message = passdock_text(text);
    if (part != PASSDOCK_PART_OP) {
        said.labels = &label;
        said.label_count = 1;
    }
    host->context->emit(context, &said);
}

/* Emits the result of a call on a function. */
static void answered(const passdock_host *host, passdock_context *context, const char *what, passdock_status status, passdock_str error) {
    char text[256];
    if (status == PASSDOCK_OK) error = passdock_text("");
    snprintf(text, sizeof text, "%s: %u %.*s", what, (unsigned)status, (int)error.len, error.ptr);
    say(host, context, PASSDOCK_SEVERITY_NOTE, PASSDOCK_PART_OP, text);
}

/* Calls functions with a flag in each description that a current host doesn't know. */
static void ask_with_flags(const passdock_host *host, passdock_context *context, const passdock_module_ref *module,
                           const passdock_function_ref *f, passdock_symbol_id main_) {
    const passdock_module_api *modules = host->modules;
    const passdock_function_api *functions = host->functions;
    passdock_function_desc function = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_outline_desc outline = PASSDOCK_OUTLINE_DESC_INIT;
    passdock_run_desc run = PASSDOCK_RUN_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_region_desc region = PASSDOCK_REGION_DESC_INIT;
    passdock_op_desc op = PASSDOCK_OP_DESC_INIT;
    passdock_clone_desc clone = PASSDOCK_CLONE_DESC_INIT;
    passdock_text_desc text = PASSDOCK_TEXT_DESC_INIT;
    passdock_evaluate_desc evaluate = PASSDOCK_EVALUATE_DESC_INIT;
    passdock_rewrite_desc rewrite = PASSDOCK_REWRITE_DESC_INIT;
    passdock_position at = {0, PASSDOCK_NONE};
    passdock_function_ref made;
    passdock_symbol_id name;
    passdock_op_id op_id;
    passdock_value_id value;
    at.region = f->view->body;
    function.flags = outline.flags = run.flags = port.flags = results.flags = region.flags = FLAG_FUTURE;
    clone.flags = text.flags = evaluate.flags = rewrite.flags = FLAG_FUTURE;
    function.name = outline.name = passdock_text("acme.Made");
    outline.function = main_;
    run.name = passdock_text("future.transform.Answers");
    op.name = PASSDOCK_SYMBOL_IF;
    op.regions = &region;
    op.region_count = 1;
    region.name = main_;

#define TELL_OF(handle, api, call)                                              \
    do {                                                                        \
        passdock_status status = call;                                          \
        answered(host, context, "a flag", status, (api)->last_error(handle));         \
    } while (0)
    TELL_OF(module->handle, modules, modules->create_function(module->handle, &function, &made));
    TELL_OF(module->handle, modules, modules->outline(module->handle, &outline, &name, &op_id));
    TELL_OF(module->handle, modules, modules->run_pass(module->handle, context, &run));
    TELL_OF(f->handle, functions, functions->add_arg(f->handle, at.region, &port, &value));
    TELL_OF(f->handle, functions, functions->set_results(f->handle, at.region, &results));
    TELL_OF(f->handle, functions, functions->create_op(f->handle, &op, &at, &op_id));
    TELL_OF(f->handle, functions, functions->clone_ops(f->handle, &clone));
    TELL_OF(f->handle, functions, host->ops->insert_text(context, f->handle, &text));
    TELL_OF(f->handle, functions, host->ops->evaluate(context, f->handle, 0, &evaluate, &value, 1));
    TELL_OF(f->handle, functions,
            host->ops->evaluate_with(context, f->handle, 0, NULL, 0, &evaluate, &value, 1));
    TELL_OF(f->handle, functions, host->ops->rewrite(context, f->handle, &rewrite));
}

/* Requests values and kinds that a current host doesn't support. */
static passdock_status asks(const passdock_host *host, void *state, passdock_context *context, const passdock_module_ref *module) {
    const passdock_module_api *modules = host->modules;
    const passdock_function_api *functions = host->functions;
    passdock_symbol_id main_ = host->symbols->find(module->view->symbols, passdock_text("main"));
    passdock_symbol_id name = host->symbols->intern(module->view->symbols, passdock_text("acme.Op"));
    passdock_function_ref f, made;
    passdock_function_desc function = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_type_desc type = PASSDOCK_TYPE_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_op_desc op = PASSDOCK_OP_DESC_INIT;
    passdock_constant_desc constant = PASSDOCK_CONSTANT_DESC_INIT;
    passdock_position at = {0, PASSDOCK_NONE};
    passdock_dim dim = {PASSDOCK_DIM_FUTURE, PASSDOCK_NONE, 0}, two = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 2};
    passdock_type_id type_id;
    passdock_op_id op_id;
    passdock_value_id value;
    const float element = 1.0f;
    passdock_status status;
    (void)state;
    if (modules->edit(module->handle, main_, &f) != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    at.region = f.view->body;

    function.kind = PASSDOCK_FUNCTION_FUTURE;
    function.name = passdock_text("acme.Made");
    status = modules->create_function(module->handle, &function, &made);
    answered(host, context, "a function", status, modules->last_error(module->handle));

#define TELL(what, call)                                                        \
    do {                                                                        \
        status = call;                                                          \
        answered(host, context, what, status, functions->last_error(f.handle));       \
    } while (0)
    type.kind = PASSDOCK_TYPE_FUTURE;
    TELL("a type", functions->add_type(f.handle, &type, &type_id));
    type.kind = PASSDOCK_TYPE_TENSOR;
    type.dtype = PASSDOCK_DTYPE_F32;
    type.flags = FLAG_FUTURE;
    TELL("a flag of a type", functions->add_type(f.handle, &type, &type_id));
    type.flags = 0;
    type.dims = &dim;
    type.dim_count = 1;
    TELL("a dim", functions->add_type(f.handle, &type, &type_id));
    TELL("an expression", functions->add_expr(f.handle, PASSDOCK_EXPR_FUTURE, two, two, &dim));

    attr.name = name;
    attr.kind = PASSDOCK_ATTR_FUTURE;
    TELL("an attribute", functions->set_attr(f.handle, PASSDOCK_NONE, &attr));
    attr.kind = PASSDOCK_ATTR_INT;
    attr.flags = FLAG_FUTURE;
    TELL("a flag of an attribute", functions->set_attr(f.handle, PASSDOCK_NONE, &attr));
    attr.kind = PASSDOCK_ATTR_REFERENCE;
    attr.flags = 0;
    attr.bits = name;
    attr.stands_for = PASSDOCK_ATTR_FUTURE;
    TELL("what a reference stands for", functions->set_attr(f.handle, PASSDOCK_NONE, &attr));

    op.name = name;
    op.flags = FLAG_FUTURE;
    TELL("a flag of an op", functions->create_op(f.handle, &op, &at, &op_id));
    op.flags = 0;
    op.future = 1;
    TELL("a field of an op", functions->create_op(f.handle, &op, &at, &op_id));
    op.future = 0;
    TELL("one that says nothing", functions->create_op(f.handle, &op, &at, &op_id));
    functions->erase_op(f.handle, op_id);
    attr.kind = PASSDOCK_ATTR_INT;
    attr.stands_for = PASSDOCK_ATTR_NONE;
    attr.future = 1;
    op.attrs = &attr;
    op.attr_count = 1;
    op.attr_stride = sizeof attr;
    TELL("a field of an attribute in a list", functions->create_op(f.handle, &op, &at, &op_id));

    /* Models may have element types that a host doesn't know. They are valid types. */
    type.dtype = PASSDOCK_DTYPE_FUTURE;
    type.dims = NULL;
    type.dim_count = 0;
    TELL("an element type", functions->add_type(f.handle, &type, &type_id));
    constant.type_id = type_id;
    constant.data.ptr = (const uint8_t *)&element;
    constant.data.len = sizeof element;
    TELL("a constant of it", functions->add_constant(f.handle, &constant, &value));
    type.dtype = PASSDOCK_DTYPE_F32;
    TELL("a type", functions->add_type(f.handle, &type, &type_id));
    constant.type_id = type_id;
    constant.flags = FLAG_FUTURE;
    TELL("a flag of a constant", functions->add_constant(f.handle, &constant, &value));

    ask_with_flags(host, context, module, &f, main_);
    say(host, context, PASSDOCK_SEVERITY_FUTURE, PASSDOCK_PART_FUTURE, "this is of a severity between two");
    return PASSDOCK_OK;
}

/* Returns values that a current host doesn't know. */
static passdock_status answers(const passdock_host *host, void *state, passdock_context *context, const passdock_module_ref *module) {
    (void)host;
    (void)state;
    (void)context;
    (void)module;
    return PASSDOCK_STATUS_FUTURE;
}

static passdock_status infer(const passdock_host *host, void *state, passdock_op_call *call, const passdock_function_ref *function,
                             passdock_op_id op) {
    (void)host;
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return PASSDOCK_STATUS_FUTURE;
}

PASSDOCK_MANIFEST_TEXT("name = 'future'\nversion = '0.1.0'\n"
                       "[[pass]]\nname = 'future.transform.Asks'\nkind = 'module'\n"
                       "[[pass]]\nname = 'future.transform.Answers'\nkind = 'module'\n"
                       "[[pass]]\nname = 'future.transform.Loop'\nkind = 'loop'\n"
                       "[[op]]\nname = 'future.Op'\n");

const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {
    static passdock_pass_entry passes[3];
    static passdock_attr_entry attrs[1];
    static passdock_op_entry op;
    static passdock_plugin plugin;
    (void)host;
    (void)attach;
    passes[0].name = passdock_text("future.transform.Asks");
    passes[0].run_module = asks;
    passes[1].name = passdock_text("future.transform.Answers");
    passes[1].run_module = answers;
    passes[2].name = passdock_text("future.transform.Loop");
    attrs[0].name = passdock_text("a");
    attrs[0].kind = PASSDOCK_ATTR_FUTURE;
    attrs[0].flags = PASSDOCK_ATTR_ENTRY_DEFAULT | FLAG_FUTURE;
    op.name = passdock_text("future.Op");
    op.since = 1;
    op.max_operands = UINT32_MAX;
    op.max_results = UINT32_MAX;
    op.traits = PASSDOCK_TRAIT_PURE | UINT64_C(1) << 40;
    op.infer = infer;
    op.attrs = attrs;
    op.attr_count = 1;
    op.attr_stride = sizeof attrs[0];
    plugin.struct_size = sizeof plugin;
    plugin.passes = passes;
    plugin.pass_count = 3;
    plugin.pass_stride = sizeof passes[0];
    plugin.ops = &op;
    plugin.op_count = 1;
    plugin.op_stride = sizeof op;
    return &plugin;
}
