/* Statuses: unknown ids, malformed arguments, threads, and descriptions of other sizes. */
#include "suite.h"

#define UNKNOWN 0xfffffff0u /* no entity has this id, and it isn't NONE */

/* Whether a status is STALE, and the call left a message. */
static int is_stale(const passdock_function_api *api, passdock_function_ref f, passdock_status status) {
    return status == PASSDOCK_STATUS_STALE && api->last_error(f.handle).len > 0;
}

static void check_stale(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc op_desc = PASSDOCK_OP_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_constant_desc constant = PASSDOCK_CONSTANT_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE}, nowhere = {UNKNOWN, PASSDOCK_NONE};
    passdock_position before = {f.view->body, UNKNOWN};
    passdock_op_id op = first_op(f), ids[3] = {PASSDOCK_NONE, UNKNOWN, PASSDOCK_NONE}, out = 77;
    passdock_value_id x = param(f, 0), u = passdock_result(f.view, op, 0), unknown = UNKNOWN;
    passdock_symbol_id name = symbol(s, "host_suite.Unary");
    const passdock_metadata *metadata;
    passdock_bytes bytes;
    uint64_t hash;
    uint32_t equal, i;
    size_t count;
    passdock_op_id made = body_op(s, f, "host_suite.Unary", &x, 1);

    CHECK(403, api->erase_op(f.handle, made) == PASSDOCK_OK);
    CHECK(403, passdock_get_op(f.view, made) == NULL);
    ids[2] = made;
    CHECK(403, body_op(s, f, "host_suite.Unary", &x, 1) != made);
    op_desc.name = attr.name = name;
    attr.kind = PASSDOCK_ATTR_INT;
    /* NONE, an unknown id and the id of an erased op. */
    for (i = 0; i < 3; i++) {
        int rule = i == 0 ? 402 : i == 1 ? 401 : 403;
        CHECK(rule, is_stale(api, f, api->replace_op(f.handle, ids[i], &op_desc, &out)));
        CHECK(rule, is_stale(api, f, api->replace_op_with(f.handle, ids[i], NULL, 0)));
        CHECK(rule, is_stale(api, f, api->erase_op(f.handle, ids[i])));
        CHECK(rule, is_stale(api, f, api->move_op(f.handle, ids[i], &at)));
        CHECK(rule, is_stale(api, f, api->set_operand(f.handle, ids[i], 0, x)));
        CHECK(rule, i == 0 || is_stale(api, f, api->set_attr(f.handle, ids[i], &attr)));
        CHECK(rule, i == 0 || is_stale(api, f, api->remove_attr(f.handle, ids[i], name)));
        CHECK(rule, is_stale(api, f, api->set_loc(f.handle, ids[i], PASSDOCK_NONE)));
        CHECK(rule, is_stale(api, f, api->op_metadata(f.handle, ids[i], &metadata, &count)));
        CHECK(rule, is_stale(api, f, api->set_op_metadata(f.handle, ids[i], passdock_text("k"), passdock_text("t"))));
        CHECK(rule, is_stale(api, f, s->host->ops->infer(s->context, f.handle, ids[i])));
        CHECK(rule, is_stale(api, f, s->host->ops->check_op(s->context, f.handle, ids[i])));
    }
    CHECK(401, is_stale(api, f, api->move_op(f.handle, op, &before)));
    CHECK(401, is_stale(api, f, api->replace_uses(f.handle, UNKNOWN, x)));
    CHECK(401, is_stale(api, f, api->replace_uses(f.handle, x, UNKNOWN)));
    CHECK(401, is_stale(api, f, api->set_operand(f.handle, op, 0, UNKNOWN)));
    CHECK(401, is_stale(api, f, api->set_value_type(f.handle, UNKNOWN, 0)));
    CHECK(401, is_stale(api, f, api->set_value_type(f.handle, u, UNKNOWN)));
    CHECK(401, is_stale(api, f, api->set_value_name(f.handle, UNKNOWN, passdock_text("z"))));
    CHECK(401, is_stale(api, f, api->value_metadata(f.handle, UNKNOWN, &metadata, &count)));
    CHECK(401, is_stale(api, f, api->remove_args(f.handle, &unknown, 1)));
    CHECK(401, is_stale(api, f, api->constant_data(f.handle, UNKNOWN, &bytes)));
    CHECK(401, is_stale(api, f, api->constant_hash(f.handle, UNKNOWN, &hash)));
    CHECK(401, is_stale(api, f, api->constants_equal(f.handle, UNKNOWN, UNKNOWN, &equal)));
    CHECK(401, is_stale(api, f, api->erase_constant(f.handle, UNKNOWN)));
    CHECK(401, is_stale(api, f, api->add_arg(f.handle, UNKNOWN, &port, &out)));
    CHECK(401, is_stale(api, f, api->set_results(f.handle, UNKNOWN, &results)));
    CHECK(401, is_stale(api, f, api->inline_region(f.handle, UNKNOWN, NULL, 0)));
    CHECK(401, is_stale(api, f, api->set_loc(f.handle, op, UNKNOWN)));
    CHECK(401, is_stale(api, f, api->fuse_locs(f.handle, &unknown, 1, &out)));
    CHECK(401, is_stale(api, f, api->create_op(f.handle, &op_desc, &nowhere, &out)));
    constant.type_id = UNKNOWN;
    CHECK(401, is_stale(api, f, api->add_constant(f.handle, &constant, &out)));
    op_desc.operands = &unknown;
    op_desc.operand_count = 1;
    CHECK(401, is_stale(api, f, api->create_op(f.handle, &op_desc, &at, &out)));
    op_desc.operand_count = 0;
    op_desc.name = UNKNOWN;
    CHECK(401, is_stale(api, f, api->create_op(f.handle, &op_desc, &at, &out)));
    CHECK(407, out == 77);
}

static void check_malformed(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE};
    passdock_value_id x = param(f, 0), values[3];
    passdock_op_id op = first_op(f), last = last_op(f), out = PASSDOCK_NONE;
    passdock_str not_utf8 = {"\xff", 1}, null = {NULL, 4};
    passdock_function_view before;
    passdock_loc_id loc;
    passdock_bytes bytes;

    CHECK(404, api->create_op(f.handle, NULL, &at, &out) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->last_error(f.handle).len > 0);
    desc.name = symbol(s, "host_suite.Unary");
    CHECK(404, api->create_op(f.handle, &desc, NULL, &out) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->create_op(f.handle, &desc, &at, NULL) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->constant_data(f.handle, 0, NULL) != PASSDOCK_OK);
    desc.operand_count = 1;
    CHECK(404, api->create_op(f.handle, &desc, &at, &out) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->set_value_name(f.handle, x, null) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->replace_uses(NULL, x, x) == PASSDOCK_STATUS_INVALID);
    CHECK(405, api->set_value_name(f.handle, x, not_utf8) == PASSDOCK_STATUS_INVALID);
    CHECK(405, api->name_loc(f.handle, not_utf8, &loc) == PASSDOCK_STATUS_INVALID);
    CHECK(405, s->host->modules->run_pass(NULL, s->context, NULL) == PASSDOCK_STATUS_INVALID);
    /* Lists of 0 elements may be null. */
    desc.operand_count = 0;
    CHECK(406, api->create_op(f.handle, &desc, &at, &out) == PASSDOCK_OK);
    CHECK(406, api->replace_op_with(f.handle, out, NULL, 0) == PASSDOCK_OK);
    CHECK(406, api->remove_args(f.handle, NULL, 0) == PASSDOCK_OK);
    CHECK(406, api->freeze_args(f.handle, NULL, 0) == PASSDOCK_OK);
    CHECK(406, api->replace_symbols(f.handle, NULL, NULL, 0) == PASSDOCK_OK);
    /* A call that fails changes nothing, and its output isn't written. */
    before = *f.view;
    values[0] = values[1] = values[2] = x;
    out = 77;
    CHECK(407, api->erase_op(f.handle, last) == PASSDOCK_STATUS_REJECTED);
    CHECK(407, api->last_error(f.handle).len > 0);
    CHECK(407, api->replace_op_with(f.handle, op, values, 3) == PASSDOCK_STATUS_INVALID);
    desc.operands = values;
    desc.operand_count = 1;
    values[0] = passdock_result(f.view, op, 0);
    at.before = op;
    CHECK(407, api->create_op(f.handle, &desc, &at, &out) == PASSDOCK_STATUS_REJECTED && out == 77);
    CHECK(407, f.view->op_count == before.op_count && f.view->version == before.version);
    CHECK(407, f.view->values.len == before.values.len && f.view->uses.len == before.uses.len);
    /* Calls that take a const handle don't change the view. */
    before = *f.view;
    api->constant_data(f.handle, 0, &bytes);
    api->names_function(f.handle, symbol(s, "main"));
    s->host->ops->traits(f.handle, desc.name);
    s->host->ops->check_op(s->context, f.handle, op);
    CHECK(408, memcmp(&before, f.view, sizeof before) == 0);
}

typedef struct foreign {
    const suite *s;
    passdock_function_ref f;
    passdock_status edited, read, emitted, listed;
} foreign;

static void use_handles(void *state) {
    foreign *call = (foreign *)state;
    const passdock_host *host = call->s->host;
    passdock_diagnostic diagnostic = PASSDOCK_DIAGNOSTIC_INIT;
    passdock_function_ref out;
    uint64_t hash;
    call->edited = host->functions->erase_op(call->f.handle, first_op(call->f));
    call->read = host->functions->constant_hash(call->f.handle, 0, &hash);
    call->emitted = host->context->emit(call->s->context, &diagnostic);
    call->listed = host->modules->snapshot(call->s->module->handle, call->f.view->name, &out);
}

void check_statuses(const suite *s) {
    passdock_function_ref f = scratch(s, "host_suite.Statuses");
    const passdock_function_view *view = f.view;
    uint64_t version = view->version;
    foreign call = {NULL, {NULL, NULL}, 0, 0, 0, 0};
    check_stale(s, f);
    check_malformed(s, f);
    CHECK(410, f.view == view && view->version > version);
    call.s = s;
    call.f = f;
    on_thread(use_handles, &call);
    CHECK(409, call.edited == PASSDOCK_STATUS_INVALID && call.read == PASSDOCK_STATUS_INVALID);
    CHECK(409, call.emitted == PASSDOCK_STATUS_INVALID && call.listed == PASSDOCK_STATUS_INVALID);
    check_view(s, f.view);
    remove_scratch(s, f);
}

/* A description followed by more fields than any version of the host has. */
typedef struct later_op {
    passdock_op_desc desc;
    char more[1024];
} later_op;
typedef struct later_attr {
    passdock_attr_desc desc;
    char more[1024];
} later_attr;

static void check_sizes(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc init = PASSDOCK_OP_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE};
    passdock_op_id out;
    later_op later;
    later_attr list[2];

    init.name = symbol(s, "host_suite.Unary");
    init.struct_size = 0;
    CHECK(411, api->create_op(f.handle, &init, &at, &out) == PASSDOCK_STATUS_INVALID);
    init.struct_size = sizeof later;
    memset(&later, 0, sizeof later);
    later.desc = init;
    CHECK(412, api->create_op(f.handle, &later.desc, &at, &out) == PASSDOCK_OK);
    later.more[sizeof later.more - 1] = 1;
    CHECK(412, api->create_op(f.handle, &later.desc, &at, &out) == PASSDOCK_STATUS_UNSUPPORTED);
    /* Without the fields from `attrs` on. What follows isn't read. */
    init.struct_size = (uint32_t)((char *)&init.attrs - (char *)&init);
    init.attr_count = 1;
    CHECK(413, api->create_op(f.handle, &init, &at, &out) == PASSDOCK_OK);
    CHECK(413, op_of(f, out) != NULL && op_of(f, out)->attrs.len == 0);
    /* The stride leads to the next element. */
    attr.struct_size = sizeof list[0];
    init.struct_size = sizeof init;
    init.attrs = &list[0].desc;
    init.attr_count = 2;
    init.attr_stride = sizeof list[0];
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = symbol(s, "a");
    attr.bits = 1;
    memset(list, 0, sizeof list);
    list[0].desc = list[1].desc = attr;
    list[1].desc.name = symbol(s, "b");
    CHECK(417, api->create_op(f.handle, &init, &at, &out) == PASSDOCK_OK);
    CHECK(417, op_of(f, out) != NULL && op_of(f, out)->attrs.len == 2);
    list[1].more[sizeof list[1].more - 1] = 1;
    CHECK(417, api->create_op(f.handle, &init, &at, &out) == PASSDOCK_STATUS_UNSUPPORTED);
}

/* Whether the host rejects a description with an unknown flag. The other fields are invalid, but flags come first. */
#define FLAG(rule, name, call)                                      \
    do {                                                            \
        name.flags = 1u << 30;                                      \
        CHECK(rule, (call) == PASSDOCK_STATUS_UNSUPPORTED);         \
        name.flags = 0;                                             \
    } while (0)
#define RESERVED(rule, name, call)                                  \
    do {                                                            \
        name.reserved = 1;                                          \
        CHECK(rule, (call) == PASSDOCK_STATUS_UNSUPPORTED);         \
        name.reserved = 0;                                          \
    } while (0)

static void check_flags(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc op = PASSDOCK_OP_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_constant_desc constant = PASSDOCK_CONSTANT_DESC_INIT;
    passdock_type_desc type = PASSDOCK_TYPE_DESC_INIT;
    passdock_clone_desc clone = PASSDOCK_CLONE_DESC_INIT;
    passdock_text_desc text = PASSDOCK_TEXT_DESC_INIT;
    passdock_outline_desc outline = PASSDOCK_OUTLINE_DESC_INIT;
    passdock_function_desc function = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_run_desc run = PASSDOCK_RUN_DESC_INIT;
    passdock_evaluate_desc evaluate = PASSDOCK_EVALUATE_DESC_INIT;
    passdock_rewrite_desc rewrite = PASSDOCK_REWRITE_DESC_INIT;
    passdock_region_desc region = PASSDOCK_REGION_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE};
    passdock_dim dim = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 1};
    passdock_function_ref created;
    passdock_op_id out;

    op.name = attr.name = region.name = symbol(s, "host_suite.Unary");
    attr.kind = PASSDOCK_ATTR_INT;
    function.name = outline.name = passdock_text("host_suite.New");
    FLAG(414, op, api->create_op(f.handle, &op, &at, &out));
    FLAG(414, attr, api->set_attr(f.handle, first_op(f), &attr));
    FLAG(414, port, api->add_arg(f.handle, f.view->body, &port, &out));
    FLAG(414, results, api->set_results(f.handle, f.view->body, &results));
    FLAG(414, constant, api->add_constant(f.handle, &constant, &out));
    FLAG(414, clone, api->clone_ops(f.handle, &clone));
    FLAG(414, text, s->host->ops->insert_text(s->context, f.handle, &text));
    FLAG(414, outline, s->host->modules->outline(s->module->handle, &outline, &out, &out));
    FLAG(414, function, s->host->modules->create_function(s->module->handle, &function, &created));
    FLAG(414, run, s->host->modules->run_pass(s->module->handle, s->context, &run));
    FLAG(414, evaluate, s->host->ops->evaluate(s->context, f.handle, first_op(f), &evaluate, &out, 1));
    FLAG(414, rewrite, s->host->ops->rewrite(s->context, f.handle, &rewrite));
    op.regions = &region;
    op.region_count = 1;
    FLAG(414, region, api->create_op(f.handle, &op, &at, &out));
    op.region_count = 0;
    RESERVED(415, attr, api->set_attr(f.handle, first_op(f), &attr));
    RESERVED(415, port, api->add_arg(f.handle, f.view->body, &port, &out));
    RESERVED(415, results, api->set_results(f.handle, f.view->body, &results));
    RESERVED(415, clone, api->clone_ops(f.handle, &clone));
    RESERVED(415, text, s->host->ops->insert_text(s->context, f.handle, &text));
    RESERVED(415, outline, s->host->modules->outline(s->module->handle, &outline, &out, &out));
    attr.kind = 1000;
    CHECK(416, api->set_attr(f.handle, first_op(f), &attr) == PASSDOCK_STATUS_UNSUPPORTED);
    type.kind = 1000;
    CHECK(416, api->add_type(f.handle, &type, &out) == PASSDOCK_STATUS_UNSUPPORTED);
    type.kind = PASSDOCK_TYPE_TENSOR;
    type.dtype = PASSDOCK_DTYPE_F32;
    type.flags = 1u << 30;
    CHECK(414, api->add_type(f.handle, &type, &out) == PASSDOCK_STATUS_UNSUPPORTED);
    function.kind = 1000;
    CHECK(416, s->host->modules->create_function(s->module->handle, &function, &created) ==
                   PASSDOCK_STATUS_UNSUPPORTED);
    CHECK(416, api->add_expr(f.handle, 1000, dim, dim, &dim) == PASSDOCK_STATUS_UNSUPPORTED);
}

void check_descriptions(const suite *s) {
    passdock_function_ref f = scratch(s, "host_suite.Descriptions");
    check_sizes(s, f);
    check_flags(s, f);
    check_view(s, f.view);
    remove_scratch(s, f);
}
