/* Attributes, types, dim expressions and constants. */
#include "suite.h"

#define REJECTED PASSDOCK_STATUS_REJECTED

static const passdock_attr *set(const suite *s, passdock_function_ref f, passdock_attr_desc desc) {
    static const passdock_attr none;
    const passdock_attr *attr;
    if (s->host->functions->set_attr(f.handle, first_op(f), &desc) != PASSDOCK_OK) return &none;
    attr = passdock_get_attr(f.view, first_op(f), desc.name);
    return attr != NULL && attr->kind == desc.kind ? attr : &none;
}

static const void *at(const passdock_column *column, const passdock_attr *attr, uint32_t index, size_t size) {
    static const char nothing[64];
    const void *record = passdock_at(column, attr->list.start + index, size);
    return index < attr->list.len && record != NULL ? record : nothing;
}

void check_attributes(const suite *s) {
    const passdock_function_api *api = s->host->functions;
    passdock_function_ref f = scratch(s, "host_suite.Attributes");
    passdock_attr_desc desc = PASSDOCK_ATTR_DESC_INIT, bare;
    passdock_constant_desc constant = PASSDOCK_CONSTANT_DESC_INIT;
    const int64_t ints[2] = {-1, INT64_MAX};
    const float floats[2] = {0.5f, -2.0f};
    const float numbers[6] = {0};
    passdock_str strings[2] = {{"\xff\0", 2}, {"b", 1}};
    passdock_op_id op = first_op(f), last = last_op(f);
    uint32_t ids[2], tensor;
    const passdock_constant *record;
    passdock_value_id value = PASSDOCK_NONE;
    const passdock_range *range;

    desc.name = symbol(s, "attribute");
    bare = desc;
    desc.kind = PASSDOCK_ATTR_INT;
    desc.bits = (uint64_t)-3;
    CHECK(531, set(s, f, desc)->bits == (uint64_t)-3);
    desc.kind = PASSDOCK_ATTR_FLOAT;
    desc.bits = 0x3fc00000;
    CHECK(531, set(s, f, desc)->bits == 0x3fc00000);
    desc = bare;
    desc.kind = PASSDOCK_ATTR_STRING;
    desc.data = "a\0\xff";
    desc.count = 3;
    CHECK(532, memcmp(at(&f.view->bytes, set(s, f, desc), 0, 1), "a\0\xff", 3) == 0);
    desc.kind = PASSDOCK_ATTR_OPAQUE;
    CHECK(532, memcmp(at(&f.view->bytes, set(s, f, desc), 0, 1), "a\0\xff", 3) == 0);
    desc.kind = PASSDOCK_ATTR_INTS;
    desc.data = ints;
    desc.count = 2;
    CHECK(532, *(const int64_t *)at(&f.view->ints, set(s, f, desc), 1, 8) == INT64_MAX);
    desc.kind = PASSDOCK_ATTR_FLOATS;
    desc.data = floats;
    CHECK(532, *(const float *)at(&f.view->floats, set(s, f, desc), 1, 4) == -2.0f);
    desc.kind = PASSDOCK_ATTR_STRINGS;
    desc.data = strings;
    range = (const passdock_range *)at(&f.view->strings, set(s, f, desc), 0, sizeof *range);
    CHECK(532, range->len == 2 && memcmp(passdock_at(&f.view->bytes, range->start, 1), "\xff\0", 2) == 0);
    /* Empty lists. */
    desc.count = 0;
    desc.data = NULL;
    CHECK(532, set(s, f, desc)->kind == PASSDOCK_ATTR_STRINGS && set(s, f, desc)->list.len == 0);

    constant.type_id = matrix_type(s, f, 2, 3);
    constant.data.ptr = (const uint8_t *)numbers;
    constant.data.len = sizeof numbers;
    api->add_constant(f.handle, &constant, &value);
    ids[0] = ids[1] = value_of(f, value)->constant;
    desc = bare;
    desc.kind = PASSDOCK_ATTR_TENSOR;
    desc.bits = ids[0];
    tensor = (uint32_t)set(s, f, desc)->bits;
    record = (const passdock_constant *)passdock_at(&f.view->constants, tensor, sizeof *record);
    CHECK(533, record != NULL && record->value == PASSDOCK_NONE && record->byte_len == sizeof numbers);
    CHECK(533, api->erase_constant(f.handle, tensor) == REJECTED);
    desc.bits = 0xfffffff0u;
    CHECK(533, api->set_attr(f.handle, op, &desc) == PASSDOCK_STATUS_STALE);
    desc.kind = PASSDOCK_ATTR_TENSORS;
    desc.bits = 0;
    desc.data = ids;
    desc.count = 2;
    CHECK(533, *(const uint32_t *)at(&f.view->ids, set(s, f, desc), 1, 4) < f.view->constants.len);
    desc.kind = PASSDOCK_ATTR_TYPES;
    ids[0] = ids[1] = constant.type_id;
    CHECK(533, *(const uint32_t *)at(&f.view->ids, set(s, f, desc), 1, 4) == constant.type_id);
    desc = bare;
    desc.kind = PASSDOCK_ATTR_TYPE;
    desc.bits = constant.type_id;
    CHECK(533, set(s, f, desc)->bits == constant.type_id);

    CHECK(534, api->remove_attr(f.handle, op, desc.name) == PASSDOCK_OK);
    CHECK(534, passdock_get_attr(f.view, op, desc.name) == NULL);
    CHECK(534, api->remove_attr(f.handle, op, desc.name) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(534, api->set_attr(f.handle, last, &desc) == REJECTED);
    desc.kind = PASSDOCK_ATTR_INT;
    CHECK(535, api->set_attr(f.handle, PASSDOCK_NONE, &desc) == PASSDOCK_OK);
    CHECK(535, f.view->function_attrs.len == 1);
    CHECK(535, api->remove_attr(f.handle, PASSDOCK_NONE, desc.name) == PASSDOCK_OK);
    CHECK(535, f.view->function_attrs.len == 0);
    CHECK(535, api->remove_attr(f.handle, PASSDOCK_NONE, desc.name) == PASSDOCK_STATUS_NOT_FOUND);
    check_view(s, f.view);
    remove_scratch(s, f);
    /* The attribute of a region goes with its op. */
    op = op_named(s, s->main, "host_suite.Branch");
    CHECK(534, api->remove_attr(s->main.handle, op, symbol(s, "then_branch")) == REJECTED);
}

/* Interns a type twice, and returns it if both ids are equal. */
static const passdock_type *type_of(const suite *s, passdock_function_ref f, passdock_type_desc desc) {
    static const passdock_type none;
    passdock_type_id one = PASSDOCK_NONE, two = PASSDOCK_NONE;
    const passdock_type *type;
    if (s->host->functions->add_type(f.handle, &desc, &one) != PASSDOCK_OK) return &none;
    if (s->host->functions->add_type(f.handle, &desc, &two) != PASSDOCK_OK || one != two) return &none;
    type = (const passdock_type *)passdock_at(&f.view->types, one, sizeof *type);
    return type != NULL && type->kind == desc.kind ? type : &none;
}

static passdock_dim constant_dim(int64_t size) {
    passdock_dim dim = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 0};
    dim.value = size;
    return dim;
}

static void check_exprs(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_dim two = constant_dim(2), three = constant_dim(3), one = constant_dim(1), out, same, n = one;
    n.kind = PASSDOCK_DIM_SYMBOL;
    n.value = symbol(s, "n");
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_ADD, two, three, &out) == PASSDOCK_OK);
    CHECK(543, out.kind == PASSDOCK_DIM_CONST && out.value == 5);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_MUL, n, one, &out) == PASSDOCK_OK);
    CHECK(543, out.kind == PASSDOCK_DIM_SYMBOL && out.value == n.value);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_FLOORDIV, constant_dim(7), two, &out) == PASSDOCK_OK);
    CHECK(543, out.value == 3);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_MOD, constant_dim(7), two, &out) == PASSDOCK_OK && out.value == 1);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_MIN, two, three, &out) == PASSDOCK_OK && out.value == 2);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_MAX, two, three, &out) == PASSDOCK_OK && out.value == 3);
    CHECK(543, api->add_expr(f.handle, PASSDOCK_EXPR_BROADCAST, one, n, &out) == PASSDOCK_OK);
    CHECK(543, out.kind == PASSDOCK_DIM_SYMBOL && out.value == n.value);
    CHECK(544, api->add_expr(f.handle, PASSDOCK_EXPR_ADD, n, two, &out) == PASSDOCK_OK);
    CHECK(544, api->add_expr(f.handle, PASSDOCK_EXPR_ADD, two, n, &same) == PASSDOCK_OK);
    CHECK(544, out.kind == PASSDOCK_DIM_EXPR && same.kind == out.kind && same.value == out.value);
    CHECK(544, (uint64_t)out.value < f.view->exprs.len);
    n.kind = PASSDOCK_DIM_EXPR;
    n.value = 0xfffffff;
    CHECK(544, api->add_expr(f.handle, PASSDOCK_EXPR_ADD, n, two, &out) == PASSDOCK_STATUS_STALE);
}

void check_types(const suite *s) {
    passdock_function_ref f = scratch(s, "host_suite.Types");
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT, bare;
    passdock_dim dims[3];
    passdock_type_id items[3];
    const passdock_type *type;

    bare = desc;
    dims[0] = constant_dim(2);
    dims[1] = constant_dim(0);
    dims[1].kind = PASSDOCK_DIM_SYMBOL;
    dims[1].value = symbol(s, "n");
    dims[2] = constant_dim(0);
    dims[2].kind = PASSDOCK_DIM_UNKNOWN;
    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_BF16;
    desc.dims = dims;
    desc.dim_count = 3;
    type = type_of(s, f, desc);
    CHECK(541, type->dtype == PASSDOCK_DTYPE_BF16 && type->dims.len == 3);
    CHECK(541, (type->flags & PASSDOCK_TYPE_FLAG_UNRANKED) == 0);
    CHECK(541, ((const passdock_dim *)passdock_at(&f.view->dims, type->dims.start + 1, 16))->value == dims[1].value);
    desc.dim_count = 0;
    desc.flags = PASSDOCK_TYPE_FLAG_UNRANKED;
    CHECK(541, (type_of(s, f, desc)->flags & PASSDOCK_TYPE_FLAG_UNRANKED) != 0);
    desc.flags = 0;
    type = type_of(s, f, desc);
    CHECK(541, type->kind == PASSDOCK_TYPE_TENSOR && (type->flags & PASSDOCK_TYPE_FLAG_UNRANKED) == 0);
    desc.kind = PASSDOCK_TYPE_SPARSE;
    desc.dim_count = 2;
    CHECK(542, type_of(s, f, desc)->dims.len == 2);
    items[0] = items[1] = items[2] = matrix_type(s, f, 2, 3);
    desc = bare;
    desc.items = items;
    desc.item_count = 1;
    desc.kind = PASSDOCK_TYPE_SEQUENCE;
    CHECK(542, type_of(s, f, desc)->aux.len == 1);
    desc.kind = PASSDOCK_TYPE_OPTIONAL;
    CHECK(542, type_of(s, f, desc)->aux.len == 1);
    desc.kind = PASSDOCK_TYPE_MAP;
    desc.dtype = PASSDOCK_DTYPE_I64;
    CHECK(542, type_of(s, f, desc)->dtype == PASSDOCK_DTYPE_I64 && type_of(s, f, desc)->aux.len == 1);
    desc.dtype = PASSDOCK_DTYPE_NONE;
    desc.item_count = 3;
    desc.kind = PASSDOCK_TYPE_TUPLE;
    type = type_of(s, f, desc);
    CHECK(542, type->aux.len == 3 && passdock_id_at(f.view, type->aux, 2) == items[2]);
    desc.kind = PASSDOCK_TYPE_FUNCTION;
    desc.lanes = 1;
    CHECK(542, type_of(s, f, desc)->aux.len == 3 && type_of(s, f, desc)->lanes == 1);
    desc = bare;
    desc.kind = PASSDOCK_TYPE_OPAQUE;
    desc.name = symbol(s, "host_suite.Handle");
    CHECK(542, type_of(s, f, desc)->name == desc.name);
    CHECK(542, type_of(s, f, bare)->kind == PASSDOCK_TYPE_UNKNOWN);
    items[0] = 0xfffffff0u;
    desc = bare;
    desc.kind = PASSDOCK_TYPE_SEQUENCE;
    desc.items = items;
    desc.item_count = 1;
    CHECK(542, s->host->functions->add_type(f.handle, &desc, items) == PASSDOCK_STATUS_STALE);
    check_exprs(s, f);
    check_view(s, f.view);
    remove_scratch(s, f);
}

static passdock_const_id constant_of(passdock_function_ref f, passdock_value_id value) {
    return value_of(f, value) != NULL ? value_of(f, value)->constant : PASSDOCK_NONE;
}

static void check_creation(const suite *s, passdock_function_ref f) {
    const passdock_function_api *api = s->host->functions;
    passdock_constant_desc desc = PASSDOCK_CONSTANT_DESC_INIT;
    passdock_type_desc type = PASSDOCK_TYPE_DESC_INIT;
    passdock_value_id value = PASSDOCK_NONE, splat = PASSDOCK_NONE, other;
    const float data[6] = {1, 2, 3, 4, 5, 6};
    const passdock_constant *record;
    passdock_bytes bytes = {NULL, 0};
    passdock_dim n = {PASSDOCK_DIM_SYMBOL, PASSDOCK_NONE, 0};
    float number = 0;
    uint32_t equal = 7;
    uint64_t one = 1, two = 2;
    char copy[1 + sizeof data];

    desc.type_id = matrix_type(s, f, 2, 3);
    desc.name = passdock_text("weights");
    /* The data may have any alignment. */
    memcpy(copy + 1, data, sizeof data);
    desc.data.ptr = (const uint8_t *)copy + 1;
    desc.data.len = sizeof data;
    CHECK(551, api->add_constant(f.handle, &desc, &value) == PASSDOCK_OK);
    copy[1]++;
    record = (const passdock_constant *)passdock_at(&f.view->constants, constant_of(f, value), sizeof *record);
    CHECK(551, record != NULL && record->value == value && record->byte_len == sizeof data);
    CHECK(551, value_of(f, value)->name == symbol(s, "weights"));
    CHECK(551, (value_of(f, value)->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_CONST);
    CHECK(552, api->constant_data(f.handle, constant_of(f, value), &bytes) == PASSDOCK_OK);
    CHECK(552, bytes.len == sizeof data && memcmp(bytes.ptr, data, sizeof data) == 0);
    desc.flags = PASSDOCK_CONSTANT_DESC_SPLAT;
    desc.data.ptr = (const uint8_t *)data;
    desc.data.len = sizeof *data;
    CHECK(551, api->add_constant(f.handle, &desc, &splat) == PASSDOCK_OK);
    CHECK(551, value_of(f, splat)->name != symbol(s, "weights"));
    record = (const passdock_constant *)passdock_at(&f.view->constants, constant_of(f, splat), sizeof *record);
    CHECK(551, record != NULL && record->byte_len == sizeof data);
    CHECK(552, api->constant_data(f.handle, constant_of(f, splat), &bytes) == PASSDOCK_OK);
    CHECK(552, bytes.len == sizeof data && (memcpy(&number, bytes.ptr + 20, 4), number == 1.0f));
    CHECK(553, api->constant_hash(f.handle, constant_of(f, value), &one) == PASSDOCK_OK);
    CHECK(553, api->constants_equal(f.handle, constant_of(f, value), constant_of(f, splat), &equal) == PASSDOCK_OK);
    CHECK(553, equal == 0);
    desc.flags = 0;
    copy[1]--;
    desc.data.ptr = (const uint8_t *)copy + 1;
    desc.data.len = sizeof data;
    CHECK(551, api->add_constant(f.handle, &desc, &other) == PASSDOCK_OK);
    CHECK(553, api->constants_equal(f.handle, constant_of(f, value), constant_of(f, other), &equal) == PASSDOCK_OK);
    CHECK(553, equal == 1);
    CHECK(553, api->constant_hash(f.handle, constant_of(f, other), &two) == PASSDOCK_OK && one == two);

    desc.data.len = sizeof data - 1;
    CHECK(554, api->add_constant(f.handle, &desc, &splat) == REJECTED);
    n.value = symbol(s, "n");
    type.kind = PASSDOCK_TYPE_TENSOR;
    type.dtype = PASSDOCK_DTYPE_F32;
    type.dims = &n;
    type.dim_count = 1;
    api->add_type(f.handle, &type, &desc.type_id);
    CHECK(554, api->add_constant(f.handle, &desc, &splat) == REJECTED);
    CHECK(555, api->set_operand(f.handle, first_op(f), 0, value) == PASSDOCK_OK);
    CHECK(555, api->erase_constant(f.handle, constant_of(f, value)) == REJECTED);
    CHECK(555, api->set_operand(f.handle, first_op(f), 0, param(f, 0)) == PASSDOCK_OK);
    CHECK(555, api->erase_constant(f.handle, constant_of(f, value)) == PASSDOCK_OK && value_of(f, value) == NULL);
}

void check_constants(const suite *s) {
    const passdock_function_api *api = s->host->functions;
    passdock_function_ref f = scratch(s, "host_suite.Constants");
    passdock_op_id a = op_named(s, s->main, "host_suite.Attributes"), two = op_named(s, s->main, "host_suite.Two");
    passdock_const_id w = constant_of(s->main, passdock_operand(s->main.view, a, 2));
    passdock_const_id words = constant_of(s->main, passdock_operand(s->main.view, two, 1));
    passdock_bytes bytes = {NULL, 0};
    uint64_t offsets[3] = {0};
    float number = 0;

    check_creation(s, f);
    check_view(s, f.view);
    remove_scratch(s, f);
    /* The constants of module.ir. */
    CHECK(552, api->constant_data(s->main.handle, w, &bytes) == PASSDOCK_OK && bytes.len == 24);
    CHECK(552, bytes.len == 24 && (memcpy(&number, bytes.ptr + 20, 4), number == 6.0f));
    CHECK(556, api->constant_data(s->main.handle, words, &bytes) == PASSDOCK_OK && bytes.len == 24 + 5);
    if (bytes.len == 24 + 5) memcpy(offsets, bytes.ptr, sizeof offsets);
    CHECK(556, offsets[0] == 0 && offsets[1] == 2 && offsets[2] == 5);
    CHECK(556, bytes.len == 29 && memcmp(bytes.ptr + 24, "abcde", 5) == 0);
}
