/* The op definitions of the suite, which check what the host gives to a definition. */
#include "suite.h"

static int state_of_unary;

static passdock_status reject(const passdock_host *host, passdock_op_call *call, const char *reason) {
    host->definitions->reject(call, passdock_text(reason));
    return PASSDOCK_STATUS_REJECTED;
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
    return desc.kind == PASSDOCK_TYPE_UNKNOWN ? PASSDOCK_STATUS_NOT_FOUND
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
    if (desc.kind == PASSDOCK_TYPE_UNKNOWN) return PASSDOCK_STATUS_NOT_FOUND;
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
static passdock_bytes operand_data(const passdock_host *host, const passdock_function_ref *function, passdock_op_id op) {
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

    CHECK(851, bytes.ptr != NULL);
    CHECK(851, host->definitions->allocate_result(call, 9, &desc, bytes.len, &out) == PASSDOCK_STATUS_INVALID);
    status = host->definitions->allocate_result(call, 0, &desc, bytes.len, &out);
    /* The second query has a limit that is too small. */
    CHECK(852, status == PASSDOCK_OK || (status == PASSDOCK_STATUS_NOT_FOUND && out == NULL));
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
    static const char body[] = "fn @body(%x) { %y = conformance.Binary(%x, %x) return %y }";
    const passdock_host *host = host_to_check(original);
    passdock_str not_utf8 = {"\xff", 1};
    (void)state;
    (void)function;
    (void)op;
    CHECK(853, host->definitions->set_body(call, not_utf8) == PASSDOCK_STATUS_INVALID);
    CHECK(853, host->definitions->set_body(call, passdock_text(body)) == PASSDOCK_OK);
    return PASSDOCK_OK;
}

/* The state is the layout that the caller of the query is expected to request or to offer. */
static passdock_status layout_unary(const passdock_host *original, void *state, passdock_op_call *call,
                                    const passdock_function_ref *function, passdock_op_id op) {
    static const char body[] = "fn @body(%x) { %y = conformance.Unary(%x) return %y }";
    const passdock_host *host = host_to_check(original);
    const passdock_definition_api *api = host->definitions;
    passdock_str requested = {NULL, 0};
    (void)state;
    (void)function;
    (void)op;
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
    CHECK(855, host->definitions->target(call, &target) == PASSDOCK_OK && same_text(target, "conformance.cpu"));
    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_F64;
    desc.dims = &dim;
    desc.dim_count = 1;
    CHECK(856, host->definitions->add_type(call, &desc, &added) == PASSDOCK_STATUS_REJECTED);
    CHECK(856, host->definitions->add_expr(call, PASSDOCK_EXPR_ADD, dim, dim, &sum) == PASSDOCK_STATUS_REJECTED);
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
    if (desc.dtype == PASSDOCK_DTYPE_I64) {
        CHECK(857, api->operand_dims(call, 0, &known, &count) == PASSDOCK_OK && count == 2);
        CHECK(857, count == 2 && known[0].value == 2 && known[1].value == 3);
        if (count != 2) return PASSDOCK_OK;
        memcpy(dims, known, sizeof two * 2);
    } else {
        CHECK(857, api->operand_dims(call, 0, &known, &count) == PASSDOCK_STATUS_NOT_FOUND);
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
    return reject(host_to_check(host), call, "it is always wrong");
}

static const passdock_attr_entry attrs_of_unary[] = {
    {.name = PASSDOCK_STR("scale"),
     .doc = PASSDOCK_STR("A factor."),
     .kind = PASSDOCK_ATTR_INT,
     .flags = PASSDOCK_ATTR_ENTRY_DEFAULT,
     .bits = 1},
};
static const passdock_str targets[] = {PASSDOCK_STR("conformance.cpu")};

#define DEFINITION(op_name, min, max, ...)                                                               \
    {.name = PASSDOCK_STR("conformance." op_name), .since = 1, .min_operands = min, .max_operands = max, \
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
