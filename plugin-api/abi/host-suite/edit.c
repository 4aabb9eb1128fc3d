/* Edits of ops, values, regions and the interface of a function. */
#include "suite.h"

#define REJECTED PASSDOCK_STATUS_REJECTED

static passdock_position end_of(passdock_function_ref f) {
    passdock_position at = {PASSDOCK_NONE, PASSDOCK_NONE};
    at.region = f.view->body;
    return at;
}

static void check_creation(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_region_desc regions[2] = {PASSDOCK_REGION_DESC_INIT, PASSDOCK_REGION_DESC_INIT};
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_position at = end_of(f);
    passdock_value_id x = param(f, 0), u = passdock_result(f.view, first_op(f), 0), operands[3];
    passdock_type_id types[2];
    passdock_op_id op = PASSDOCK_NONE, u_op = first_op(f);
    uint32_t count = f.view->op_count;
    const passdock_op *record;
    passdock_range regions_of_op;

    operands[0] = x;
    operands[1] = PASSDOCK_NONE;
    operands[2] = u;
    types[0] = matrix_type(s, f, 2, 3);
    types[1] = PASSDOCK_NONE;
    regions[0].name = symbol(s, "one");
    regions[1].name = symbol(s, "two");
    regions[1].args = &port;
    regions[1].arg_count = 1;
    port.type_id = types[0];
    port.name = passdock_text("argument");
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = symbol(s, "number");
    attr.bits = 7;
    desc.name = symbol(s, "host_suite.Branch");
    desc.operands = operands;
    desc.operand_count = 3;
    desc.result_types = types;
    desc.result_count = 2;
    desc.attrs = &attr;
    desc.attr_count = 1;
    desc.regions = regions;
    desc.region_count = 2;
    CHECK(501, api->create_op(f.handle, &desc, &at, &op) == PASSDOCK_OK);
    record = op_of(f, op);
    CHECK(501, record != NULL && record->name == desc.name && record->parent == f.view->body);
    if (record == NULL) return;
    CHECK(501, f.view->op_count == count + 1 && record->next == last_op(f) && record->prev == u_op);
    regions_of_op = record->regions;
    CHECK(501, record->operands.len == 3 && passdock_operand(f.view, op, 1) == PASSDOCK_NONE);
    CHECK(501, passdock_operand(f.view, op, 0) == x && passdock_operand(f.view, op, 2) == u);
    CHECK(501, record->results.len == 2 && value_of(f, passdock_result(f.view, op, 0))->type_id == types[0]);
    CHECK(501, passdock_type_of(f.view, passdock_result(f.view, op, 1))->kind == PASSDOCK_TYPE_UNKNOWN);
    CHECK(502, record->regions.len == 2 && passdock_get_attr(f.view, op, attr.name) != NULL);
    at.region = passdock_id_at(f.view, regions_of_op, 1);
    CHECK(502, passdock_get_region(f.view, at.region)->args.len == 1);
    /* An operand has to be visible at the position: defined before it, in the region or around it. */
    desc.attr_count = desc.region_count = 0;
    at.before = u_op;
    CHECK(503, api->create_op(f.handle, &desc, &at, &op) == REJECTED);
    at.before = PASSDOCK_NONE;
    operands[2] = passdock_id_at(f.view, passdock_get_region(f.view, at.region)->args, 0);
    CHECK(503, api->create_op(f.handle, &desc, &at, &op) == PASSDOCK_OK && op_of(f, op)->parent == at.region);
    at.region = f.view->body;
    CHECK(503, api->create_op(f.handle, &desc, &at, &op) == REJECTED);
}

static void check_replacement(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_value_id x = param(f, 0), old_result, other, values[2];
    passdock_op_id old = first_op(f), user, op = PASSDOCK_NONE, two;
    passdock_type_id type = value_of(f, passdock_result(f.view, old, 0))->type_id;

    old_result = passdock_result(f.view, old, 0);
    user = body_op(s, f, "host_suite.Unary", &old_result, 1);
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = symbol(s, "kept");
    CHECK(504, api->set_attr(f.handle, old, &attr) == PASSDOCK_OK);
    attr.name = symbol(s, "own");
    desc.name = symbol(s, "host_suite.Binary");
    values[0] = values[1] = x;
    desc.operands = values;
    desc.operand_count = 2;
    desc.flags = PASSDOCK_OP_DESC_TAKE_ATTRS;
    desc.attrs = &attr;
    desc.attr_count = 1;
    desc.result_count = 0;
    /* The result has users, so it needs a replacement. */
    CHECK(505, api->replace_op(f.handle, old, &desc, &op) == REJECTED && op_of(f, old) != NULL);
    type = PASSDOCK_NONE;
    desc.result_types = &type;
    desc.result_count = 1;
    CHECK(504, api->replace_op(f.handle, old, &desc, &op) == PASSDOCK_OK && op_of(f, old) == NULL);
    CHECK(504, passdock_operand(f.view, user, 0) == passdock_result(f.view, op, 0));
    CHECK(504, op_of(f, op)->next == user && op_of(f, op)->attrs.len == 2);
    CHECK(504, passdock_type_of(f.view, passdock_result(f.view, op, 0))->dims.len == 2);
    type = matrix_type(s, f, 9, 9);
    CHECK(505, api->replace_op(f.handle, op, &desc, &two) == REJECTED);

    other = passdock_result(f.view, op, 0);
    CHECK(506, api->replace_op_with(f.handle, op, values, 2) == PASSDOCK_STATUS_INVALID);
    CHECK(506, api->replace_op_with(f.handle, last_op(f), NULL, 0) == REJECTED);
    old_result = passdock_result(f.view, user, 0);
    CHECK(506, api->replace_op_with(f.handle, op, &old_result, 1) == REJECTED);
    CHECK(506, api->replace_op_with(f.handle, op, &x, 1) == PASSDOCK_OK && op_of(f, op) == NULL);
    CHECK(506, passdock_operand(f.view, user, 0) == x && value_of(f, other) == NULL);
}

static void check_erasure_and_moves(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_id first = first_op(f), second, third;
    passdock_value_id x = param(f, 0), u = passdock_result(f.view, first, 0), result;
    passdock_position at = end_of(f), elsewhere;
    uint32_t count = f.view->op_count;

    second = body_op(s, f, "host_suite.Unary", &u, 1);
    third = body_op(s, f, "host_suite.Unary", &x, 1);
    CHECK(507, api->erase_op(f.handle, first) == REJECTED && op_of(f, first) != NULL);
    CHECK(507, api->erase_op(f.handle, last_op(f)) == REJECTED);
    at.before = first;
    CHECK(508, api->move_op(f.handle, third, &at) == PASSDOCK_OK && first_op(f) == third);
    CHECK(508, op_of(f, third)->order < op_of(f, first)->order);
    CHECK(508, api->move_op(f.handle, second, &at) == REJECTED);
    at.before = PASSDOCK_NONE;
    CHECK(508, api->move_op(f.handle, first, &at) == REJECTED);
    CHECK(508, api->move_op(f.handle, third, &at) == PASSDOCK_OK && op_of(f, third)->next == last_op(f));
    elsewhere = at;
    second = op_named(s, f, "host_suite.Branch");
    if (second != PASSDOCK_NONE) {
        elsewhere.region = passdock_id_at(f.view, op_of(f, second)->regions, 0);
        CHECK(508, api->move_op(f.handle, third, &elsewhere) == REJECTED);
    }
    result = passdock_result(f.view, third, 0);
    CHECK(507, api->erase_op(f.handle, third) == PASSDOCK_OK && op_of(f, third) == NULL);
    CHECK(507, value_of(f, result) == NULL && f.view->op_count == count + 1);
}

static void check_operands(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_id op = first_op(f), later;
    passdock_value_id x = param(f, 0), y = param(f, 1), u = passdock_result(f.view, op, 0), result;
    uint32_t uses = value_of(f, y)->use_count;

    later = body_op(s, f, "host_suite.Unary", &u, 1);
    result = passdock_result(f.view, later, 0);
    CHECK(509, api->set_operand(f.handle, op, 0, y) == PASSDOCK_OK && passdock_operand(f.view, op, 0) == y);
    CHECK(509, value_of(f, y)->use_count == uses + 1);
    CHECK(509, api->set_operand(f.handle, op, 1, PASSDOCK_NONE) == PASSDOCK_OK && op_of(f, op)->operands.len == 2);
    CHECK(509, api->set_operand(f.handle, op, 4, x) == PASSDOCK_STATUS_INVALID);
    CHECK(509, api->set_operand(f.handle, op, 0, result) == REJECTED);
    CHECK(509, api->set_operand(f.handle, last_op(f), 1, x) == REJECTED);
    CHECK(510, api->replace_uses(f.handle, y, x) == PASSDOCK_OK && value_of(f, y)->use_count == 0);
    CHECK(510, passdock_operand(f.view, op, 0) == x);
    CHECK(510, api->replace_uses(f.handle, x, result) == REJECTED && passdock_operand(f.view, op, 0) == x);
}

void check_ops(const suite *s) {
    static void (*const parts[])(const suite *, passdock_function_ref) = {check_creation, check_replacement,
                                                                          check_erasure_and_moves, check_operands};
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        passdock_function_ref f = scratch(s, "host_suite.Ops");
        parts[i](s, f);
        check_view(s, f.view);
        remove_scratch(s, f);
    }
}

static void check_types_and_names(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_op_desc op_desc = PASSDOCK_OP_DESC_INIT;
    passdock_position at = end_of(f);
    passdock_type_id unranked, type = matrix_type(s, f, 2, 3);
    passdock_value_id x = param(f, 0), value;
    passdock_op_id op;
    passdock_type_id none = PASSDOCK_NONE;

    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_F32;
    desc.flags = PASSDOCK_TYPE_FLAG_UNRANKED;
    CHECK(511, api->add_type(f.handle, &desc, &unranked) == PASSDOCK_OK);
    op_desc.name = symbol(s, "host_suite.Unary");
    op_desc.operands = &x;
    op_desc.operand_count = 1;
    op_desc.result_types = &none;
    op_desc.result_count = 1;
    CHECK(511, api->create_op(f.handle, &op_desc, &at, &op) == PASSDOCK_OK);
    value = passdock_result(f.view, op, 0);
    CHECK(511, api->set_value_type(f.handle, value, unranked) == PASSDOCK_OK);
    CHECK(511, api->set_value_type(f.handle, value, type) == PASSDOCK_OK && value_of(f, value)->type_id == type);
    /* Unknown parts keep the current type, and a contradiction is rejected. */
    CHECK(511, api->set_value_type(f.handle, value, unranked) == PASSDOCK_OK && value_of(f, value)->type_id == type);
    CHECK(511, api->set_value_type(f.handle, value, matrix_type(s, f, 3, 3)) == REJECTED);
    desc.kind = PASSDOCK_TYPE_UNKNOWN;
    desc.dtype = PASSDOCK_DTYPE_NONE;
    desc.flags = 0;
    CHECK(511, api->add_type(f.handle, &desc, &type) == PASSDOCK_OK);
    CHECK(511, api->set_value_type(f.handle, value, type) == PASSDOCK_OK);
    CHECK(511, passdock_type_of(f.view, value)->kind == PASSDOCK_TYPE_UNKNOWN);

    CHECK(512, api->set_value_name(f.handle, value, passdock_text("fresh")) == PASSDOCK_OK);
    CHECK(512, value_of(f, value)->name == symbol(s, "fresh"));
    CHECK(512, api->set_value_name(f.handle, value, passdock_text("x")) == PASSDOCK_OK);
    CHECK(512, value_of(f, value)->name != symbol(s, "x") && value_of(f, value)->name != PASSDOCK_NONE);
}

static void check_interface(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_port_desc ports[2] = {PASSDOCK_PORT_DESC_INIT, PASSDOCK_PORT_DESC_INIT};
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_value_id z, values[2], x = param(f, 0), args[2];
    const passdock_region *body;
    const passdock_port *port;

    ports[0].name = passdock_text("z");
    ports[0].type_id = matrix_type(s, f, 4, 4);
    CHECK(513, api->add_arg(f.handle, f.view->body, &ports[0], &z) == PASSDOCK_OK && param(f, 2) == z);
    CHECK(513, value_of(f, z)->type_id == ports[0].type_id && value_of(f, z)->name == symbol(s, "z"));
    values[0] = x;
    values[1] = z;
    ports[0].name = passdock_text("first");
    ports[0].type_id = PASSDOCK_NONE;
    results.values = values;
    results.ports = ports;
    results.count = 2;
    CHECK(514, api->set_results(f.handle, f.view->body, &results) == PASSDOCK_OK);
    body = passdock_get_region(f.view, f.view->body);
    CHECK(514, body->ports.len == 2 && passdock_operand(f.view, body->last, 1) == z);
    port = (const passdock_port *)passdock_at(&f.view->ports, body->ports.start, sizeof *port);
    CHECK(514, port->name == symbol(s, "first"));
    /* A port without a name keeps its name. */
    ports[0].name = passdock_text("");
    CHECK(514, api->set_results(f.handle, f.view->body, &results) == PASSDOCK_OK);
    body = passdock_get_region(f.view, f.view->body);
    port = (const passdock_port *)passdock_at(&f.view->ports, body->ports.start, sizeof *port);
    CHECK(514, port->name == symbol(s, "first"));
    /* An argument with a user stays, and so do all of them. */
    args[0] = param(f, 1);
    args[1] = z;
    CHECK(515, api->remove_args(f.handle, args, 2) == REJECTED && param(f, 2) == z);
    CHECK(515, api->remove_args(f.handle, args, 1) == PASSDOCK_OK && param(f, 1) == z && param(f, 2) == PASSDOCK_NONE);
    CHECK(515, value_of(f, z)->index == 1);
    CHECK(516, api->freeze_args(f.handle, &x, 1) == REJECTED);
}

static void check_domains_and_locations(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_id op = first_op(f);
    passdock_loc_id a, b, both, same, locs[3];
    const passdock_loc *loc;
    uint32_t count = f.view->opsets.len;

    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite.other"), 3) == PASSDOCK_OK);
    CHECK(517, f.view->opsets.len == count + 1);
    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite.other"), 2) == REJECTED);
    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite.other"), 4) == PASSDOCK_OK);
    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite.other"), 0) == PASSDOCK_OK);
    CHECK(517, f.view->opsets.len == count);
    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite"), 0) == REJECTED);
    CHECK(517, api->set_opset(f.handle, passdock_text("host_suite"), -1) == PASSDOCK_STATUS_INVALID);
    CHECK(517, api->set_opset(f.handle, passdock_text("onnx"), 18) == PASSDOCK_STATUS_INVALID);
    CHECK(517, api->set_opset(f.handle, passdock_text("ai.onnx"), 17) == PASSDOCK_OK);
    CHECK(517, f.view->opsets.len == count);

    CHECK(518, api->name_loc(f.handle, passdock_text("node a"), &a) == PASSDOCK_OK);
    CHECK(518, api->name_loc(f.handle, passdock_text("node b"), &b) == PASSDOCK_OK && a != b);
    CHECK(518, api->set_loc(f.handle, op, a) == PASSDOCK_OK && op_of(f, op)->loc == a);
    locs[0] = a;
    locs[1] = PASSDOCK_NONE;
    locs[2] = b;
    CHECK(518, api->fuse_locs(f.handle, locs, 3, &both) == PASSDOCK_OK);
    loc = (const passdock_loc *)passdock_at(&f.view->locs, both, sizeof *loc);
    CHECK(518, loc != NULL && loc->kind == PASSDOCK_LOC_FUSED && loc->b == 2);
    locs[2] = a;
    CHECK(518, api->fuse_locs(f.handle, locs, 3, &same) == PASSDOCK_OK && same == a);
}

static int has_metadata(passdock_status status, const passdock_metadata *metadata, size_t count) {
    return status == PASSDOCK_OK && count == 1 && same_text(metadata->key, "k") && same_text(metadata->text, "t");
}

static void check_metadata(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_id op = first_op(f);
    passdock_value_id u = passdock_result(f.view, op, 0);
    passdock_str k = passdock_text("k"), t = passdock_text("t"), none = {NULL, 0};
    const passdock_metadata *metadata = NULL;
    passdock_status status;
    size_t count = 7;

    CHECK(519, api->op_metadata(f.handle, op, &metadata, &count) == PASSDOCK_OK && count == 0);
    CHECK(519, api->set_op_metadata(f.handle, op, k, t) == PASSDOCK_OK);
    status = api->op_metadata(f.handle, op, &metadata, &count);
    CHECK(519, has_metadata(status, metadata, count));
    CHECK(519, api->set_op_metadata(f.handle, op, k, none) == PASSDOCK_OK);
    CHECK(519, api->op_metadata(f.handle, op, &metadata, &count) == PASSDOCK_OK && count == 0);
    CHECK(519, api->set_value_metadata(f.handle, u, k, t) == PASSDOCK_OK);
    status = api->value_metadata(f.handle, u, &metadata, &count);
    CHECK(519, has_metadata(status, metadata, count));
}

/* Inlines a region, and replaces its op with the operands of the region's terminator. */
static void check_inlining(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_region_desc region_desc = PASSDOCK_REGION_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_position at = end_of(f), inside = {PASSDOCK_NONE, PASSDOCK_NONE};
    passdock_value_id x = param(f, 0), arg, value;
    passdock_type_id type = matrix_type(s, f, 2, 3);
    passdock_op_id op = PASSDOCK_NONE, inner = PASSDOCK_NONE;
    const passdock_region *region;

    region_desc.args = &port;
    region_desc.arg_count = 1;
    region_desc.name = symbol(s, "body");
    port.type_id = type;
    desc.name = symbol(s, "host_suite.Branch");
    desc.regions = &region_desc;
    desc.region_count = 1;
    desc.result_types = &type;
    desc.result_count = 1;
    CHECK(520, api->create_op(f.handle, &desc, &at, &op) == PASSDOCK_OK);
    if (op_of(f, op) == NULL) return;
    inside.region = passdock_id_at(f.view, op_of(f, op)->regions, 0);
    arg = passdock_id_at(f.view, passdock_get_region(f.view, inside.region)->args, 0);
    desc.name = symbol(s, "host_suite.Unary");
    desc.region_count = 0;
    desc.operands = &arg;
    desc.operand_count = 1;
    CHECK(520, api->create_op(f.handle, &desc, &inside, &inner) == PASSDOCK_OK);
    value = passdock_result(f.view, inner, 0);
    results.values = &value;
    results.ports = &port;
    results.count = 1;
    port.type_id = PASSDOCK_NONE;
    CHECK(520, api->set_results(f.handle, inside.region, &results) == PASSDOCK_OK);
    region = passdock_get_region(f.view, inside.region);
    CHECK(520, op_of(f, region->last)->name == PASSDOCK_SYMBOL_YIELD);
    CHECK(521, api->inline_region(f.handle, f.view->body, &x, 1) == REJECTED);
    CHECK(520, api->inline_region(f.handle, inside.region, &x, 1) == PASSDOCK_OK);
    CHECK(520, op_of(f, inner)->parent == f.view->body && op_of(f, inner)->next == op);
    CHECK(520, passdock_operand(f.view, inner, 0) == x);
    region = passdock_get_region(f.view, inside.region);
    CHECK(520, region->first == region->last && passdock_operand(f.view, region->last, 0) == value);
    CHECK(520, api->replace_op_with(f.handle, op, &value, 1) == PASSDOCK_OK);
    CHECK(521, passdock_get_region(f.view, inside.region) == NULL);
}

static void check_symbols_of_dims(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_symbol_id n = symbol(s, "rows");
    passdock_dim dim = {PASSDOCK_DIM_SYMBOL, PASSDOCK_NONE, 0}, five = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 5};
    passdock_value_id arg = PASSDOCK_NONE;
    const passdock_type *type;

    dim.value = n;
    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_F32;
    desc.dims = &dim;
    desc.dim_count = 1;
    CHECK(522, api->add_type(f.handle, &desc, &port.type_id) == PASSDOCK_OK);
    CHECK(522, api->add_arg(f.handle, f.view->body, &port, &arg) == PASSDOCK_OK);
    five.value = -5;
    CHECK(522, api->replace_symbols(f.handle, &n, &five, 1) == REJECTED);
    five.value = 5;
    CHECK(522, api->replace_symbols(f.handle, &n, &five, 1) == PASSDOCK_OK);
    type = passdock_type_of(f.view, arg);
    dim = *(const passdock_dim *)passdock_at(&f.view->dims, type->dims.start, sizeof dim);
    CHECK(522, dim.kind == PASSDOCK_DIM_CONST && dim.value == 5);
}

/* Freezes the parameter of module.ir that has a default. */
static void check_freezing(const suite *s) {
    passdock_value_id d = param(s->main, 2);
    const passdock_value *value;
    CHECK(516, s->host->functions->freeze_args(s->main.handle, &d, 1) == PASSDOCK_OK);
    value = value_of(s->main, d);
    CHECK(516, value != NULL && (value->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_CONST);
    CHECK(516, value != NULL && value->name == symbol(s, "d") && value->use_count == 1);
    CHECK(516, param(s->main, 2) == PASSDOCK_NONE);
}

void check_values(const suite *s) {
    static void (*const parts[])(const suite *, passdock_function_ref) = {
        check_types_and_names, check_interface, check_domains_and_locations,
        check_metadata,        check_inlining,  check_symbols_of_dims};
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        passdock_function_ref f = scratch(s, "host_suite.Values");
        parts[i](s, f);
        check_view(s, f.view);
        remove_scratch(s, f);
    }
    check_freezing(s);
    check_view(s, s->main.view);
}
