/* A plugin of the future, which hands values to a host that the host doesn't know: it is built with a header where
 * each enumeration has a value more, `…_FUTURE` (`cargo xtask test future`). It says what the host answers. */
#include <stdio.h>

#include "passdock.h"

/* A flag that no word of flags has today. */
#define FLAG_FUTURE (1u << 30)

static const passdock_host *host;

static void say(passdock_context *context, passdock_severity severity, passdock_op_part part,
                const char *text) {
    passdock_label label;
    passdock_diagnostic said;
    memset(&label, 0, sizeof label);
    memset(&said, 0, sizeof said);
    label.struct_size = sizeof label;
    label.part = part;
    label.future = 1;
    said.struct_size = sizeof said;
    said.future = 1;
    said.severity = severity;
    said.op = PASSDOCK_NONE;
    said.message = passdock_text(text);
    if (part != PASSDOCK_PART_OP) {
        said.labels = &label;
        said.label_count = 1;
        said.label_stride = sizeof label;
    }
    host->context->emit(context, &said);
}

/* Says what came of a call on a function. */
static void answered(passdock_context *context, const char *what, passdock_status status, passdock_str error) {
    char text[256];
    if (status == PASSDOCK_OK) error = passdock_text("");
    snprintf(text, sizeof text, "%s: %u %.*s", what, (unsigned)status, (int)error.len, (const char *)error.ptr);
    say(context, PASSDOCK_SEVERITY_NOTE, PASSDOCK_PART_OP, text);
}

/* Asks for what a host of today can't do. */
static passdock_status asks(void *state, passdock_context *context, const passdock_module_ref *module) {
    const passdock_module_api *modules = host->modules;
    const passdock_function_api *functions = host->functions;
    passdock_symbol_id main_ = host->symbols->find(module->view->symbols, passdock_text("main"));
    passdock_symbol_id name = host->symbols->intern(module->view->symbols, passdock_text("acme.Op"));
    passdock_function_ref f, made;
    passdock_function_desc function;
    passdock_type_desc type;
    passdock_attr_desc attr;
    passdock_op_desc op;
    passdock_constant_desc constant;
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

    memset(&function, 0, sizeof function);
    function.struct_size = sizeof function;
    function.kind = PASSDOCK_FUNCTION_FUTURE;
    function.name = passdock_text("acme.Made");
    function.opsets_of = PASSDOCK_NONE;
    status = modules->create_function(module->handle, &function, &made);
    answered(context, "a function", status, modules->last_error(module->handle));

#define TELL(what, call)                                                        \
    do {                                                                        \
        status = call;                                                          \
        answered(context, what, status, functions->last_error(f.handle));       \
    } while (0)
    memset(&type, 0, sizeof type);
    type.struct_size = sizeof type;
    type.name = PASSDOCK_NONE;
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

    memset(&attr, 0, sizeof attr);
    attr.struct_size = sizeof attr;
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

    memset(&op, 0, sizeof op);
    op.struct_size = sizeof op;
    op.name = name;
    op.loc = PASSDOCK_NONE;
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

    /* Models may have element types that a host doesn't know: they are types like others. */
    type.dtype = PASSDOCK_DTYPE_FUTURE;
    type.dims = NULL;
    type.dim_count = 0;
    TELL("an element type", functions->add_type(f.handle, &type, &type_id));
    memset(&constant, 0, sizeof constant);
    constant.struct_size = sizeof constant;
    constant.type_id = type_id;
    constant.region = PASSDOCK_NONE;
    constant.data.ptr = (const uint8_t *)&element;
    constant.data.len = sizeof element;
    TELL("a constant of it", functions->add_constant(f.handle, &constant, &value));
    type.dtype = PASSDOCK_DTYPE_F32;
    TELL("a type", functions->add_type(f.handle, &type, &type_id));
    constant.type_id = type_id;
    constant.flags = FLAG_FUTURE;
    TELL("a flag of a constant", functions->add_constant(f.handle, &constant, &value));

    say(context, PASSDOCK_SEVERITY_FUTURE, PASSDOCK_PART_FUTURE, "this is of a severity between two");
    return PASSDOCK_OK;
}

/* Answers what a host of today doesn't know. */
static passdock_status answers(void *state, passdock_context *context, const passdock_module_ref *module) {
    (void)state;
    (void)context;
    (void)module;
    return PASSDOCK_STATUS_FUTURE;
}

static passdock_status infer(void *state, passdock_op_call *call, const passdock_function_ref *function,
                             passdock_op_id op) {
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return PASSDOCK_STATUS_FUTURE;
}

PASSDOCK_MANIFEST("future", "0.1.0",
                  PASSDOCK_PASS("future.transform.Asks", "module", 0, "")
                  PASSDOCK_PASS("future.transform.Answers", "module", 0, "")
                  PASSDOCK_PASS("future.transform.Loop", "loop", 0, "")
                  PASSDOCK_OP("future.Op", 1));

const passdock_plugin *passdock_plugin_v0(const passdock_host *the_host, passdock_attach *attach) {
    static passdock_pass_entry passes[3];
    static passdock_attr_entry attrs[1];
    static passdock_op_entry op;
    static passdock_plugin plugin;
    (void)attach;
    host = the_host;
    passes[0].name = passdock_text("future.transform.Asks");
    passes[0].kind = PASSDOCK_PASS_MODULE;
    passes[0].run_module = asks;
    passes[1].name = passdock_text("future.transform.Answers");
    passes[1].kind = PASSDOCK_PASS_MODULE;
    passes[1].run_module = answers;
    passes[2].name = passdock_text("future.transform.Loop");
    passes[2].kind = PASSDOCK_PASS_FUTURE;
    attrs[0].name = passdock_text("a");
    attrs[0].kind = PASSDOCK_ATTR_FUTURE;
    attrs[0].flags = PASSDOCK_ATTR_ENTRY_DEFAULT | FLAG_FUTURE;
    op.name = passdock_text("future.Op");
    op.since = 1;
    op.max_operands = UINT32_MAX;
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
