/* Op definitions, which check what the host gives to them, queries to them, and texts: IR text and rules. */
#include "suite.h"

#define REJECTED PASSDOCK_STATUS_REJECTED
#define NOT_FOUND PASSDOCK_STATUS_NOT_FOUND

static int state_of_unary;

static passdock_status reject(const passdock_host *host, passdock_op_call *call, const char *reason) {
    host->definitions->reject(call, passdock_text(reason));
    return REJECTED;
}

/* Describes the type of an operand with at most 4 dims. */
static passdock_type_desc described(const passdock_function_view *view, passdock_op_id op, passdock_dim dims[4]) {
    const passdock_type *type = passdock_type_of(view, passdock_operand(view, op, 0));
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    uint32_t i;
    if (type == NULL || type->kind != PASSDOCK_TYPE_TENSOR || type->dims.len > 4) return desc;
    for (i = 0; i < type->dims.len; i++) {
        dims[i] = *(const passdock_dim *)passdock_at(&view->dims, type->dims.start + i, sizeof *dims);
    }
    desc.kind = type->kind;
    desc.dtype = type->dtype;
    desc.flags = type->flags;
    desc.dims = dims;
    desc.dim_count = type->dims.len;
    return desc;
}

/* Infers the type of the first operand for the first result. */
static passdock_status infer_same(const passdock_host *host, void *state, passdock_op_call *call,
                                  const passdock_function_ref *function, passdock_op_id op) {
    passdock_dim dims[4];
    passdock_type_desc desc = described(function->view, op, dims);
    (void)state;
    entered_from(host);
    return desc.kind == PASSDOCK_TYPE_UNKNOWN ? NOT_FOUND
                                              : host->definitions->set_result_type(call, 0, &desc);
}

static passdock_status infer_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                   const passdock_function_ref *function, passdock_op_id op) {
    const passdock_host *host = host_to_check(original);
    const passdock_definition_api *api = host->definitions;
    const passdock_function_view *view = function->view;
    passdock_dim dims[4], more = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 0}, sum;
    passdock_type_desc desc = described(view, op, dims), other = desc;
    const passdock_type *types = (const passdock_type *)view->types.base;
    passdock_type first = types[0];
    const passdock_dim *known;
    passdock_type_id added;
    size_t count;
    int i;

    CHECK(841, state == &state_of_unary && passdock_get_op(view, op) != NULL);
    if (desc.kind == PASSDOCK_TYPE_UNKNOWN) return NOT_FOUND;
    if (!suite_is_running) return api->set_result_type(call, 0, &desc);
    CHECK(842, api->set_result_type(call, 9, &desc) == PASSDOCK_STATUS_INVALID);
    CHECK(842, api->last_error(call).len > 0);
    CHECK(842, api->operand_dims(call, 9, &known, &count) == PASSDOCK_STATUS_INVALID);
    CHECK(842, api->set_result_dims(call, 9, dims, 1) == PASSDOCK_STATUS_INVALID);
    CHECK(843, api->add_expr(call, PASSDOCK_EXPR_ADD, dims[0], dims[0], &sum) == PASSDOCK_OK);
    /* The columns may move, but what the definition has read stays valid. */
    for (i = 0; i < 100; i++) {
        more.value = 1000 + i;
        other.dims = &more;
        other.dim_count = 1;
        CHECK(844, api->add_type(call, &other, &added) == PASSDOCK_OK && added < view->types.len);
    }
    CHECK(844, memcmp(types, &first, sizeof first) == 0);
    CHECK(843, api->set_result_type(call, 0, &desc) == PASSDOCK_OK);
    return PASSDOCK_OK;
}

/* Returns the bytes of a constant operand. */
static passdock_bytes operand_data(const passdock_host *host, const passdock_function_ref *function,
                                   passdock_op_id op) {
    const passdock_value *value = passdock_get_value(function->view, passdock_operand(function->view, op, 0));
    passdock_bytes bytes = {NULL, 0};
    if (value != NULL) host->functions->constant_data(function->handle, value->constant, &bytes);
    return bytes;
}

/* Evaluates the negated operand, of type f32. */
static passdock_status evaluate_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                      const passdock_function_ref *function, passdock_op_id op) {
    const passdock_host *host = host_to_check(original);
    passdock_dim dims[4];
    passdock_type_desc desc = described(function->view, op, dims);
    passdock_bytes bytes = operand_data(host, function, op);
    uint8_t *out = NULL;
    passdock_status status;
    size_t i, zeros = 0;
    (void)state;

    if (!suite_is_running || desc.dtype != PASSDOCK_DTYPE_F32) return NOT_FOUND;
    CHECK(851, bytes.ptr != NULL);
    CHECK(851, host->definitions->allocate_result(call, 9, &desc, bytes.len, &out) == PASSDOCK_STATUS_INVALID);
    status = host->definitions->allocate_result(call, 0, &desc, bytes.len, &out);
    /* The second query has a limit that is too small. */
    CHECK(852, status == PASSDOCK_OK || (status == NOT_FOUND && out == NULL));
    if (status != PASSDOCK_OK) return status;
    for (i = 0; i < bytes.len; i++) zeros += out[i] == 0;
    CHECK(851, zeros == bytes.len);
    for (i = 0; i + 4 <= bytes.len; i += 4) {
        float x;
        memcpy(&x, bytes.ptr + i, 4);
        x = -x;
        memcpy(out + i, &x, 4);
    }
    return PASSDOCK_OK;
}

static passdock_status decompose_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                       const passdock_function_ref *function, passdock_op_id op) {
    static const char body[] = "fn @body(%x) { %y = host_suite.Binary(%x, %x) return %y }";
    const passdock_host *host = host_to_check(original);
    passdock_str not_utf8 = {"\xff", 1};
    (void)state;
    (void)function;
    (void)op;
    if (!suite_is_running) return NOT_FOUND;
    CHECK(853, host->definitions->set_body(call, not_utf8) == PASSDOCK_STATUS_INVALID);
    CHECK(853, host->definitions->set_body(call, passdock_text(body)) == PASSDOCK_OK);
    return PASSDOCK_OK;
}

/* Both `layout` and `alter_layout`. */
static passdock_status layout_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                    const passdock_function_ref *function, passdock_op_id op) {
    static const char body[] = "fn @body(%x) { %y = host_suite.Unary(%x) return %y }";
    const passdock_host *host = host_to_check(original);
    const passdock_definition_api *api = host->definitions;
    passdock_str requested = {NULL, 0};
    (void)state;
    (void)function;
    (void)op;
    if (!suite_is_running) return NOT_FOUND;
    CHECK(854, api->requested_layout(call, 0, &requested) == PASSDOCK_OK && same_text(requested, "AB->BA"));
    CHECK(854, api->requested_layout(call, 9, &requested) == PASSDOCK_STATUS_INVALID);
    CHECK(854, api->set_operand_layout(call, 9, requested) == PASSDOCK_STATUS_INVALID);
    CHECK(854, api->set_operand_layout(call, 0, requested) == PASSDOCK_OK);
    CHECK(854, api->set_result_layout(call, 9, requested) == PASSDOCK_STATUS_INVALID);
    CHECK(854, api->set_result_layout(call, 0, requested) == PASSDOCK_OK);
    CHECK(854, api->set_body(call, passdock_text(body)) == PASSDOCK_OK);
    return PASSDOCK_OK;
}

/* The target supports ops without the attribute `scale`. */
static passdock_status supports_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                      const passdock_function_ref *function, passdock_op_id op) {
    const passdock_host *host = host_to_check(original);
    passdock_dim dim = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 123456}, sum;
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_type_id added;
    passdock_str target = {NULL, 0};
    (void)state;
    if (!suite_is_running) return NOT_FOUND;
    CHECK(855, host->definitions->target(call, &target) == PASSDOCK_OK && same_text(target, "host_suite.cpu"));
    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_F64;
    desc.dims = &dim;
    desc.dim_count = 1;
    CHECK(856, host->definitions->add_type(call, &desc, &added) == REJECTED);
    CHECK(856, host->definitions->add_expr(call, PASSDOCK_EXPR_ADD, dim, dim, &sum) == REJECTED);
    if (passdock_get_op(function->view, op)->attrs.len > 0) return reject(host, call, "it has a scale");
    return PASSDOCK_OK;
}

/* Infers the elements of `Shape`: the dims of a matrix, or the operand's own elements. */
static passdock_status infer_shape(const passdock_host *original, void *state, passdock_op_call *call,
                                   const passdock_function_ref *function, passdock_op_id op) {
    const passdock_host *host = host_to_check(original);
    const passdock_definition_api *api = host->definitions;
    passdock_dim dims[4], two = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 2};
    passdock_type_desc desc = described(function->view, op, dims), result = PASSDOCK_TYPE_DESC_INIT;
    const passdock_dim *known = NULL;
    size_t count = 0;
    (void)state;
    entered_from(original);
    if (!suite_is_running) return NOT_FOUND;
    if (desc.dtype == PASSDOCK_DTYPE_I64) {
        CHECK(857, api->operand_dims(call, 0, &known, &count) == PASSDOCK_OK && count == 2);
        CHECK(857, count == 2 && known[0].value == 2 && known[1].value == 3);
        if (count != 2) return PASSDOCK_OK;
        memcpy(dims, known, sizeof two * 2);
    } else {
        CHECK(857, api->operand_dims(call, 0, &known, &count) == NOT_FOUND);
    }
    result.kind = PASSDOCK_TYPE_TENSOR;
    result.dtype = PASSDOCK_DTYPE_I64;
    result.dims = &two;
    result.dim_count = 1;
    CHECK(857, api->set_result_type(call, 0, &result) == PASSDOCK_OK);
    CHECK(857, api->set_result_dims(call, 0, dims, 2) == PASSDOCK_OK);
    return PASSDOCK_OK;
}

static passdock_status infer_wrong(const passdock_host *host, void *state, passdock_op_call *call,
                                   const passdock_function_ref *function, passdock_op_id op) {
    (void)state;
    (void)function;
    (void)op;
    entered_from(host);
    if (!suite_is_running) return NOT_FOUND;
    return reject(host_to_check(host), call, "it is always wrong");
}

static const passdock_attr_entry attrs_of_unary[] = {
    {.name = PASSDOCK_STR("scale"),
     .doc = PASSDOCK_STR("A factor."),
     .kind = PASSDOCK_ATTR_INT,
     .flags = PASSDOCK_ATTR_ENTRY_DEFAULT,
     .bits = 1},
};
static const passdock_str targets[] = {PASSDOCK_STR("host_suite.cpu")};

#define DEFINITION(op_name, min, max, ...)                                                               \
    {.name = PASSDOCK_STR("host_suite." op_name), .since = 1, .min_operands = min, .max_operands = max, \
     .min_results = 1, __VA_ARGS__}
const passdock_op_entry suite_ops[SUITE_OPS] = {
    DEFINITION("Attributes", 1, 3, .max_results = 1, .infer = infer_same),
    DEFINITION("Binary", 2, 2, .max_results = 1, .infer = infer_same, .traits = PASSDOCK_TRAIT_COMMUTATIVE),
    DEFINITION("Branch", 0, UINT32_MAX, .max_results = UINT32_MAX),
    DEFINITION("Shape", 1, 1, .max_results = 1, .infer = infer_shape),
    DEFINITION("Two", 1, 2, .max_results = 2, .infer = infer_same),
    DEFINITION("Unary", 1, 1, .max_results = 1, .traits = PASSDOCK_TRAIT_PURE | PASSDOCK_TRAIT_ELEMENTWISE,
               .state = &state_of_unary, .infer = infer_unary, .evaluate = evaluate_unary, .attrs = attrs_of_unary,
               .attr_count = 1, .attr_stride = sizeof *attrs_of_unary, .decompose = decompose_unary,
               .layout = layout_unary, .alter_layout = layout_unary, .supports = supports_unary, .targets = targets,
               .target_count = 1),
    DEFINITION("Wrong", 0, 1, .max_results = 1, .infer = infer_wrong),
};

/* Creates an op with one operand and a result of unknown type. */
static passdock_op_id op_on(const suite *s, passdock_function_ref f, const char *name, passdock_value_id operand) {
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE};
    passdock_type_id none = PASSDOCK_NONE;
    passdock_op_id op = PASSDOCK_NONE;
    desc.name = symbol(s, name);
    desc.operands = &operand;
    desc.operand_count = 1;
    desc.result_types = &none;
    desc.result_count = 1;
    s->host->functions->create_op(f.handle, &desc, &at, &op);
    return op;
}

static passdock_value_id numbers(const suite *s, passdock_function_ref f) {
    passdock_constant_desc desc = PASSDOCK_CONSTANT_DESC_INIT;
    const float data[6] = {1, 2, 3, 4, 5, 6};
    passdock_value_id value = PASSDOCK_NONE;
    desc.type_id = matrix_type(s, f, 2, 3);
    desc.data.ptr = (const uint8_t *)data;
    desc.data.len = sizeof data;
    s->host->functions->add_constant(f.handle, &desc, &value);
    return value;
}

static int has_error(const suite *s, passdock_function_ref f) {
    return s->host->functions->last_error(f.handle).len > 0;
}

static void check_inference(const suite *s, passdock_function_ref f) {
    const passdock_op_api *api = s->host->ops;
    passdock_op_id unary = op_on(s, f, "host_suite.Unary", param(f, 0)), binary, shape, again;
    passdock_op_id wrong = op_on(s, f, "host_suite.Wrong", param(f, 0));
    passdock_op_id branch = op_on(s, f, "host_suite.Branch", param(f, 0));
    passdock_value_id value = passdock_result(f.view, unary, 0), x = param(f, 0);
    uint64_t traits = api->traits(f.handle, symbol(s, "host_suite.Unary"));
    const passdock_attr_entry *attrs = NULL;
    const passdock_dim *dims = NULL;
    uint32_t attr_count = 0, stride = 0;
    size_t count = 0;

    CHECK(831, (traits & PASSDOCK_TRAIT_PURE) && (traits & PASSDOCK_TRAIT_ELEMENTWISE));
    CHECK(831, (traits & PASSDOCK_TRAIT_DEFINED) && (traits & PASSDOCK_TRAIT_FOLDS));
    CHECK(831, (traits & PASSDOCK_TRAIT_DECOMPOSES) && (traits & PASSDOCK_TRAIT_KNOWS_LAYOUT));
    CHECK(831, (traits & PASSDOCK_TRAIT_ALTERS_LAYOUT) && !(traits & PASSDOCK_TRAIT_COMMUTATIVE));
    CHECK(831, api->traits(f.handle, symbol(s, "host_suite.Undefined")) == 0);
    CHECK(832, api->check_op(s->context, f.handle, unary) == PASSDOCK_OK);
    binary = op_on(s, f, "host_suite.Binary", x);
    CHECK(832, api->check_op(s->context, f.handle, binary) == REJECTED && has_error(s, f));
    CHECK(833, api->infer(s->context, f.handle, unary) == PASSDOCK_OK);
    CHECK(833, value_of(f, value)->type_id == value_of(f, x)->type_id);
    CHECK(833, api->infer(s->context, f.handle, branch) == PASSDOCK_OK);
    CHECK(834, api->infer(s->context, f.handle, wrong) == REJECTED && has_error(s, f));
    CHECK(835, api->infer_with(s->context, f.handle, unary, &x, 1) == PASSDOCK_OK);
    CHECK(835, api->infer_with(s->context, f.handle, wrong, &x, 1) == REJECTED);
    CHECK(835, same_text(s->host->functions->last_error(f.handle), "it is always wrong"));

    shape = op_on(s, f, "host_suite.Shape", x);
    again = op_on(s, f, "host_suite.Shape", passdock_result(f.view, shape, 0));
    CHECK(838, api->known_dims(f.handle, passdock_result(f.view, shape, 0), &dims, &count) == NOT_FOUND);
    CHECK(838, api->infer(s->context, f.handle, shape) == PASSDOCK_OK);
    CHECK(838, api->known_dims(f.handle, passdock_result(f.view, shape, 0), &dims, &count) == PASSDOCK_OK);
    CHECK(838, count == 2 && dims[0].kind == PASSDOCK_DIM_CONST && dims[0].value == 2 && dims[1].value == 3);
    CHECK(838, api->infer(s->context, f.handle, again) == PASSDOCK_OK);

    CHECK(839, api->attributes(s->context, f.handle, unary, &attrs, &attr_count, &stride) == PASSDOCK_OK);
    CHECK(839, attr_count == 1 && stride >= sizeof *attrs && same_text(attrs->name, "scale") && attrs->bits == 1);
    CHECK(839, api->attributes(s->context, f.handle, branch, &attrs, &attr_count, &stride) == NOT_FOUND);
}

static void check_evaluation(const suite *s, passdock_function_ref f) {
    const passdock_op_api *api = s->host->ops;
    const passdock_function_api *functions = s->host->functions;
    passdock_value_id constant = numbers(s, f), out = 77, scratch_value = PASSDOCK_NONE;
    passdock_op_id op = op_on(s, f, "host_suite.Unary", constant), dynamic = first_op(f);
    passdock_op_id branch = op_on(s, f, "host_suite.Branch", constant);
    passdock_evaluate_desc desc = PASSDOCK_EVALUATE_DESC_INIT;
    passdock_bytes bytes = {NULL, 0};
    float number = 0;
    uint32_t ops = f.view->op_count;

    desc.max_bytes = 1000;
    CHECK(836, api->evaluate(s->context, f.handle, dynamic, &desc, &out, 1) == NOT_FOUND && has_error(s, f));
    CHECK(836, api->evaluate(s->context, f.handle, branch, &desc, &out, 1) == NOT_FOUND && has_error(s, f));
    CHECK(836, out == 77 && f.view->op_count == ops);
    CHECK(836, api->evaluate(s->context, f.handle, op, &desc, &out, 1) == PASSDOCK_OK);
    CHECK(836, value_of(f, out) != NULL && !(value_of(f, out)->flags & PASSDOCK_VALUE_SCRATCH));
    CHECK(836, functions->constant_data(f.handle, value_of(f, out)->constant, &bytes) == PASSDOCK_OK);
    CHECK(836, bytes.len == 24 && (memcpy(&number, bytes.ptr + 20, 4), number == -6.0f));
    desc.max_bytes = 23;
    CHECK(852, api->evaluate(s->context, f.handle, op, &desc, &out, 1) == NOT_FOUND);
    desc.max_bytes = 24;
    CHECK(837, api->evaluate_with(s->context, f.handle, dynamic, &constant, 1, &desc, &scratch_value, 1) ==
                   PASSDOCK_OK);
    CHECK(837, value_of(f, scratch_value) != NULL && (value_of(f, scratch_value)->flags & PASSDOCK_VALUE_SCRATCH));
    CHECK(837, passdock_operand(f.view, dynamic, 0) == param(f, 0));
    CHECK(837, functions->set_operand(f.handle, dynamic, 0, scratch_value) == PASSDOCK_OK);
    CHECK(837, !(value_of(f, scratch_value)->flags & PASSDOCK_VALUE_SCRATCH));
}

static void check_forms(const suite *s, passdock_function_ref f) {
    const passdock_op_api *api = s->host->ops;
    passdock_op_id unary = first_op(f), branch = op_on(s, f, "host_suite.Branch", param(f, 0));
    passdock_str wanted = passdock_text("AB->BA"), cpu = passdock_text("host_suite.cpu");
    passdock_value_id out = PASSDOCK_NONE;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_laid_out laid_out;
    uint32_t count = f.view->op_count;

    CHECK(840, api->decompose(s->context, f.handle, unary, &out, 1) == PASSDOCK_OK);
    CHECK(840, f.view->op_count == count + 1 && op_of(f, unary) != NULL && value_of(f, out) != NULL);
    CHECK(840, op_of(f, passdock_defining_op(f.view, out))->name == symbol(s, "host_suite.Binary"));
    CHECK(840, op_of(f, passdock_defining_op(f.view, out))->next == unary);
    CHECK(840, api->decompose(s->context, f.handle, branch, &out, 1) == NOT_FOUND && has_error(s, f));
    memset(&laid_out, 0, sizeof laid_out);
    laid_out.struct_size = sizeof laid_out;
    CHECK(845, api->layout(s->context, f.handle, unary, &wanted, 1, &laid_out) == PASSDOCK_OK);
    CHECK(845, laid_out.operand_count == 1 && same_text(laid_out.operands[0], "AB->BA"));
    CHECK(845, laid_out.result_count == 1 && same_text(laid_out.results[0], "AB->BA") && laid_out.body.len > 0);
    CHECK(845, api->alter_layout(s->context, f.handle, unary, &wanted, 1, &laid_out) == PASSDOCK_OK);
    CHECK(845, api->layout(s->context, f.handle, branch, &wanted, 1, &laid_out) == NOT_FOUND);
    CHECK(845, api->layout(s->context, f.handle, unary, NULL, 0, &laid_out) == PASSDOCK_STATUS_INVALID);
    CHECK(846, api->supports(s->context, f.handle, unary, cpu) == PASSDOCK_OK);
    CHECK(846, api->supports(s->context, f.handle, unary, passdock_text("host_suite.gpu")) == NOT_FOUND);
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = symbol(s, "scale");
    s->host->functions->set_attr(f.handle, unary, &attr);
    CHECK(846, api->supports(s->context, f.handle, unary, cpu) == REJECTED);
    CHECK(846, same_text(s->host->functions->last_error(f.handle), "it has a scale"));
}

void check_queries(const suite *s) {
    static void (*const parts[])(const suite *, passdock_function_ref) = {check_inference, check_evaluation,
                                                                          check_forms};
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        passdock_function_ref f = scratch(s, "host_suite.Queries");
        parts[i](s, f);
        check_view(s, f.view);
        remove_scratch(s, f);
    }
}

void check_texts(const suite *s) {
    static const char rule[] = "rule one { host_suite.Unary(host_suite.Unary(%x)) => host_suite.Unary(%x) }";
    const passdock_op_api *api = s->host->ops;
    passdock_function_ref f = scratch(s, "host_suite.Texts");
    passdock_text_desc desc = PASSDOCK_TEXT_DESC_INIT;
    passdock_rewrite_desc rewrite = PASSDOCK_REWRITE_DESC_INIT;
    passdock_value_id x = param(f, 0), out = PASSDOCK_NONE, u = passdock_result(f.view, first_op(f), 0);
    passdock_op_id op = first_op(f);
    uint32_t count = f.view->op_count;

    desc.op = op;
    desc.text = passdock_text("fn @body(%a) { %b = host_suite.Unary(%a) %c = host_suite.Binary(%b, %a) return %c }");
    desc.args = &x;
    desc.arg_count = 1;
    desc.results = &out;
    desc.result_count = 1;
    CHECK(861, api->insert_text(s->context, f.handle, &desc) == PASSDOCK_OK && f.view->op_count == count + 2);
    CHECK(861, passdock_operand(f.view, passdock_defining_op(f.view, out), 1) == x);
    CHECK(861, op_of(f, passdock_defining_op(f.view, out))->next == op);
    desc.arg_count = 0;
    CHECK(862, api->insert_text(s->context, f.handle, &desc) == REJECTED);
    desc.arg_count = 1;
    desc.text = passdock_text("fn @body(%a) { return");
    CHECK(862, api->insert_text(s->context, f.handle, &desc) == REJECTED && has_error(s, f));
    CHECK(862, f.view->op_count == count + 2);
    op = body_op(s, f, "host_suite.Unary", &u, 1);
    u = passdock_result(f.view, op, 0);
    op = body_op(s, f, "host_suite.Binary", &u, 1);
    rewrite.rules = passdock_text(rule);
    CHECK(863, api->rewrite(s->context, f.handle, &rewrite) == PASSDOCK_OK);
    CHECK(863, passdock_operand(f.view, passdock_defining_op(f.view, passdock_operand(f.view, op, 0)), 0) == x);
    rewrite.rules = passdock_text("rule one { host_suite.Unary(%x) => %y }");
    CHECK(864, api->rewrite(s->context, f.handle, &rewrite) == REJECTED && has_error(s, f));
    check_view(s, f.view);
    remove_scratch(s, f);
}
