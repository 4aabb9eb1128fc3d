/* The tables of the host, symbols, and views: records that refer to each other, and the content of module.ir. */
#include "suite.h"

/* Whether a table covers that of this header, and has all of its functions. */
static int is_complete(const void *table, size_t size) {
    const uint32_t *head = (const uint32_t *)table;
    void *const *functions = (void *const *)((const char *)table + 8);
    size_t i;
    if (table == NULL || head[0] < size || head[1] != 0) return 0;
    for (i = 0; i < (size - 8) / sizeof *functions; i++) {
        if (functions[i] == NULL) return 0;
    }
    return 1;
}

void check_host(const passdock_host *host) {
    const void *loops = host->get_extension(host, passdock_text(PASSDOCK_LOOPS_EXTENSION));
    passdock_str empty = {NULL, 0};
    CHECK(101, host->struct_size >= sizeof *host && host->reserved == 0);
    CHECK(102, is_complete(host->symbols, sizeof *host->symbols));
    CHECK(102, is_complete(host->functions, sizeof *host->functions));
    CHECK(102, is_complete(host->modules, sizeof *host->modules));
    CHECK(102, is_complete(host->context, sizeof *host->context));
    CHECK(102, is_complete(host->ops, sizeof *host->ops));
    CHECK(102, is_complete(host->definitions, sizeof *host->definitions));
    CHECK(102, is_complete(host->analyses, sizeof *host->analyses));
    CHECK(103, host->abi.major == PASSDOCK_ABI_MAJOR && host->ir.major == PASSDOCK_IR_MAJOR);
    CHECK(104, host->name.len > 0 && host->version.len > 0);
    CHECK(105, host->get_extension(host, passdock_text("host_suite.none/1")) == NULL);
    CHECK(105, host->get_extension(host, empty) == NULL);
    CHECK(105, host->get_extension(host, passdock_text(PASSDOCK_LOOPS_EXTENSION)) == loops);
}

typedef struct elsewhere {
    const passdock_host *host;
    const passdock_symbols *symbols;
    passdock_symbol_id known, interned;
    passdock_str text;
} elsewhere;

static void use_symbols(void *state) {
    elsewhere *e = (elsewhere *)state;
    e->known = e->host->symbols->find(e->symbols, passdock_text("main"));
    e->interned = e->host->symbols->intern(e->symbols, passdock_text("host_suite thread"));
    e->text = e->host->symbols->text(e->symbols, e->interned);
}

void check_symbols(const passdock_host *host, const passdock_symbols *symbols) {
    static const char *const known[] = {"", "return", "yield", "if", "for", "while", "tuple", "tuple_get", "index"};
    const passdock_symbol_api *api = host->symbols;
    passdock_str with_nul = {"a\0b", 3}, not_utf8 = {"\xff", 1}, text;
    passdock_symbol_id one = api->intern(symbols, passdock_text("host_suite one")), more;
    elsewhere e = {NULL, NULL, 0, 0, {NULL, 0}};
    char name[32];
    unsigned i;

    CHECK(201, one != PASSDOCK_NONE && one >= PASSDOCK_SYMBOL_FIRST);
    CHECK(201, api->intern(symbols, passdock_text("host_suite one")) == one);
    text = api->text(symbols, one);
    CHECK(201, same_text(text, "host_suite one"));
    CHECK(202, api->find(symbols, passdock_text("host_suite one")) == one);
    CHECK(202, api->find(symbols, passdock_text("host_suite none")) == PASSDOCK_NONE);
    CHECK(202, api->find(symbols, passdock_text("host_suite none")) == PASSDOCK_NONE);
    CHECK(203, api->text(symbols, PASSDOCK_NONE).len == 0 && api->text(symbols, PASSDOCK_NONE - 1).len == 0);
    CHECK(204, api->intern(symbols, not_utf8) == PASSDOCK_NONE && api->find(symbols, not_utf8) == PASSDOCK_NONE);
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(205, same_text(api->text(symbols, i), known[i]));
        CHECK(205, api->intern(symbols, passdock_text(known[i])) == i);
    }
    more = api->intern(symbols, with_nul);
    CHECK(206, more != PASSDOCK_NONE && more != api->intern(symbols, passdock_text("a")));
    CHECK(206, api->text(symbols, more).len == 3 && memcmp(api->text(symbols, more).ptr, "a\0b", 3) == 0);
    for (i = 0; i < 1000; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26 % 26);
        name[2] = (char)('a' + i / 676);
        strcpy(name + 3, " host_suite");
        api->intern(symbols, passdock_text(name));
    }
    CHECK(207, api->text(symbols, one).ptr == text.ptr && same_text(text, "host_suite one"));
    e.host = host;
    e.symbols = symbols;
    on_thread(use_symbols, &e);
    CHECK(208, e.known == api->find(symbols, passdock_text("main")));
    CHECK(208, e.interned == api->find(symbols, passdock_text("host_suite thread")));
    CHECK(208, same_text(e.text, "host_suite thread"));
}

static int in_range(passdock_range range, passdock_column column) {
    return range.start <= column.len && range.len <= column.len - range.start;
}

static const void *at(const passdock_column *column, uint32_t index, size_t size) {
    return passdock_at(column, index, size);
}

static int is_aligned(passdock_column column, size_t alignment) {
    return column.len == 0 || (column.base != NULL && (uintptr_t)column.base % alignment == 0);
}

static void check_columns(const passdock_function_view *view) {
    const passdock_column *column;
    CHECK(302, is_aligned(view->ops, 8) && is_aligned(view->values, 4) && is_aligned(view->uses, 4));
    CHECK(302, is_aligned(view->regions, 4) && is_aligned(view->ports, 4) && is_aligned(view->attrs, 8));
    CHECK(302, is_aligned(view->types, 4) && is_aligned(view->dims, 8) && is_aligned(view->exprs, 8));
    CHECK(302, is_aligned(view->constants, 8) && is_aligned(view->locs, 4) && is_aligned(view->opsets, 8));
    CHECK(302, is_aligned(view->ids, 4) && is_aligned(view->ints, 8) && is_aligned(view->floats, 4));
    CHECK(302, is_aligned(view->strings, 4) && is_aligned(view->bytes, 1));
    for (column = &view->ops; column <= &view->bytes; column++) CHECK(302, column->reserved == 0);
}

/* Whether the kind of an attribute is known and its value is in range. */
static int is_attr(const passdock_function_view *view, const passdock_attr *attr) {
    switch (attr->kind) {
    case PASSDOCK_ATTR_STRING:
    case PASSDOCK_ATTR_OPAQUE: return in_range(attr->list, view->bytes);
    case PASSDOCK_ATTR_INTS: return in_range(attr->list, view->ints);
    case PASSDOCK_ATTR_FLOATS: return in_range(attr->list, view->floats);
    case PASSDOCK_ATTR_STRINGS: return in_range(attr->list, view->strings);
    case PASSDOCK_ATTR_TENSORS:
    case PASSDOCK_ATTR_TYPES:
    case PASSDOCK_ATTR_REGIONS: return in_range(attr->list, view->ids);
    case PASSDOCK_ATTR_TENSOR: return attr->bits < view->constants.len;
    case PASSDOCK_ATTR_TYPE: return attr->bits < view->types.len;
    case PASSDOCK_ATTR_REGION: return attr->bits < view->regions.len;
    default: return 1;
    }
}

static void check_attrs(const passdock_function_view *view, passdock_range attrs) {
    uint32_t i;
    CHECK(308, in_range(attrs, view->attrs));
    for (i = 0; i < attrs.len && in_range(attrs, view->attrs); i++) {
        const passdock_attr *attr =
            (const passdock_attr *)at(&view->attrs, attrs.start + i, sizeof *attr);
        CHECK(308, attr->name != PASSDOCK_NONE && is_attr(view, attr));
    }
}

/* Checks an op and its lists. */
static void check_op(const passdock_function_view *view, passdock_op_id id, const passdock_op *op) {
    uint32_t i;
    CHECK(303, in_range(op->operands, view->uses) && in_range(op->results, view->ids));
    CHECK(303, in_range(op->regions, view->ids) && (op->loc == PASSDOCK_NONE || op->loc < view->locs.len));
    for (i = 0; i < op->operands.len; i++) {
        const passdock_use *use = (const passdock_use *)at(&view->uses, op->operands.start + i, sizeof *use);
        CHECK(304, use != NULL && use->user == id);
        CHECK(304, use != NULL && (use->value == PASSDOCK_NONE || passdock_get_value(view, use->value) != NULL));
    }
    for (i = 0; i < op->results.len; i++) {
        const passdock_value *value = passdock_get_value(view, passdock_result(view, id, i));
        CHECK(305, value != NULL && (value->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_RESULT);
        CHECK(305, value != NULL && value->def == id && value->index == i);
    }
    for (i = 0; i < op->regions.len; i++) {
        const passdock_region *region = passdock_get_region(view, passdock_id_at(view, op->regions, i));
        CHECK(303, region != NULL && region->parent == id);
    }
    check_attrs(view, op->attrs);
}

/* Checks the list of ops of a region. Returns their number. */
static uint32_t check_region(const passdock_function_view *view, passdock_region_id id) {
    const passdock_region *region = passdock_get_region(view, id);
    passdock_op_id op, before = PASSDOCK_NONE;
    uint32_t i, count = 0;
    uint64_t order = 0;
    for (op = region->first; op != PASSDOCK_NONE && count <= view->ops.len; op = passdock_get_op(view, op)->next) {
        const passdock_op *record = passdock_get_op(view, op);
        CHECK(303, record != NULL && record->parent == id && record->prev == before);
        if (record == NULL) return count;
        CHECK(303, count == 0 || record->order > order);
        check_op(view, op, record);
        order = record->order;
        before = op;
        count++;
    }
    CHECK(303, region->last == before);
    if (before != PASSDOCK_NONE) {
        const passdock_op *last = passdock_get_op(view, before);
        int is_complete = last->name == PASSDOCK_SYMBOL_RETURN || last->name == PASSDOCK_SYMBOL_YIELD;
        CHECK(306, in_range(region->ports, view->ports));
        CHECK(306, region->ports.len == (is_complete ? last->operands.len : 0));
    }
    for (i = 0; i < region->args.len; i++) {
        const passdock_value *arg = passdock_get_value(view, passdock_id_at(view, region->args, i));
        CHECK(305, arg != NULL && (arg->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_ARG);
        CHECK(305, arg != NULL && arg->def == id && arg->index == i);
    }
    return count;
}

static void check_uses(const passdock_function_view *view, passdock_value_id id, const passdock_value *value) {
    passdock_use_id next = value->first_use, before = PASSDOCK_NONE;
    uint32_t count = 0;
    while (next != PASSDOCK_NONE && count <= view->uses.len) {
        const passdock_use *use = (const passdock_use *)at(&view->uses, next, sizeof *use);
        CHECK(304, use != NULL && use->value == id && use->prev == before);
        if (use == NULL) return;
        before = next;
        next = use->next;
        count++;
    }
    CHECK(304, count == value->use_count);
}

static void check_constants_of(const passdock_function_view *view) {
    passdock_const_id id;
    for (id = 0; id < view->constants.len; id++) {
        const passdock_constant *constant = (const passdock_constant *)at(&view->constants, id, sizeof *constant);
        const passdock_value *value = passdock_get_value(view, constant->value);
        if ((constant->flags & PASSDOCK_CONSTANT_DEAD) != 0) continue;
        CHECK(307, constant->type_id < view->types.len && constant->reserved == 0);
        CHECK(307, constant->value == PASSDOCK_NONE || (value != NULL && value->constant == id));
    }
}

void check_view(const suite *s, const passdock_function_view *view) {
    uint32_t i, ops = 0;
    CHECK(301, view->struct_size >= sizeof *view && view->reserved == 0);
    CHECK(301, view->kind == PASSDOCK_FUNCTION_GRAPH && view->symbols == s->module->view->symbols);
    CHECK(301, passdock_get_region(view, view->body) != NULL);
    check_columns(view);
    for (i = 0; i < view->regions.len; i++) {
        const passdock_region *region = passdock_get_region(view, i);
        CHECK(303, region == NULL || (region->parent == PASSDOCK_NONE) == (i == view->body));
        if (region != NULL) ops += check_region(view, i);
    }
    CHECK(301, ops == view->op_count);
    for (i = 0; i < view->values.len; i++) {
        const passdock_value *value = passdock_get_value(view, i);
        if (value == NULL) continue;
        CHECK(305, value->type_id < view->types.len);
        check_uses(view, i, value);
    }
    for (i = 0; i < view->types.len; i++) {
        const passdock_type *type = (const passdock_type *)at(&view->types, i, sizeof *type);
        CHECK(309, in_range(type->dims, view->dims) && type->reserved == 0);
        CHECK(309, type->kind != PASSDOCK_TYPE_TENSOR || type->dtype != PASSDOCK_DTYPE_NONE);
    }
    check_constants_of(view);
    check_attrs(view, view->function_attrs);
}

static const passdock_attr *attr_of(const suite *s, passdock_op_id op, const char *name) {
    static const passdock_attr none;
    const passdock_attr *attr = passdock_get_attr(s->main.view, op, symbol(s, name));
    return attr != NULL ? attr : &none;
}

static const passdock_value *operand_of(const suite *s, passdock_op_id op, uint32_t index) {
    return passdock_get_value(s->main.view, passdock_operand(s->main.view, op, index));
}

/* Checks `@main` of module.ir. */
void check_main(const suite *s) {
    const passdock_function_view *view = s->main.view;
    const passdock_module_view *module = s->module->view;
    passdock_op_id a = op_named(s, s->main, "host_suite.Attributes"), two = op_named(s, s->main, "host_suite.Two");
    passdock_op_id branch = op_named(s, s->main, "host_suite.Branch");
    const passdock_op *op = passdock_get_op(view, a);
    const passdock_type *type;
    const passdock_dim *dim;
    const passdock_loc *loc;
    const passdock_value *value;
    float real;
    uint32_t bits, i, opsets = 0;

    CHECK(310, op != NULL && op->operands.len == 3 && passdock_operand(view, a, 1) == PASSDOCK_NONE);
    if (op == NULL) return;
    CHECK(311, attr_of(s, a, "int")->kind == PASSDOCK_ATTR_INT && (int64_t)attr_of(s, a, "int")->bits == -2);
    bits = (uint32_t)attr_of(s, a, "float")->bits;
    memcpy(&real, &bits, sizeof real);
    CHECK(311, attr_of(s, a, "float")->kind == PASSDOCK_ATTR_FLOAT && real == 1.5f);
    CHECK(311, attr_of(s, a, "string")->kind == PASSDOCK_ATTR_STRING && attr_of(s, a, "string")->list.len == 4);
    CHECK(311, memcmp(at(&view->bytes, attr_of(s, a, "string")->list.start, 1), "text", 4) == 0);
    CHECK(311, attr_of(s, a, "ints")->kind == PASSDOCK_ATTR_INTS && attr_of(s, a, "ints")->list.len == 2);
    CHECK(311, *(const int64_t *)at(&view->ints, attr_of(s, a, "ints")->list.start + 1, 8) == -2);
    CHECK(311, attr_of(s, a, "floats")->kind == PASSDOCK_ATTR_FLOATS && attr_of(s, a, "floats")->list.len == 2);
    CHECK(311, *(const float *)at(&view->floats, attr_of(s, a, "floats")->list.start, 4) == 0.5f);
    CHECK(311, attr_of(s, a, "strings")->kind == PASSDOCK_ATTR_STRINGS && attr_of(s, a, "strings")->list.len == 2);
    CHECK(311, ((const passdock_range *)at(&view->strings, attr_of(s, a, "strings")->list.start + 1, 8))->len == 2);
    CHECK(311, attr_of(s, a, "tensor")->kind == PASSDOCK_ATTR_TENSOR);
    CHECK(311, attr_of(s, a, "type")->kind == PASSDOCK_ATTR_TYPE);
    CHECK(311, attr_of(s, a, "opaque")->kind == PASSDOCK_ATTR_OPAQUE && attr_of(s, a, "opaque")->list.len == 2);
    CHECK(311, attr_of(s, branch, "then_branch")->kind == PASSDOCK_ATTR_REGION);
    CHECK(312, passdock_get_attr(view, a, PASSDOCK_NONE) == NULL);
    loc = (const passdock_loc *)at(&view->locs, op->loc, sizeof *loc);
    CHECK(312, loc != NULL && loc->kind == PASSDOCK_LOC_NAME);
    CHECK(312, loc != NULL && same_text(s->host->symbols->text(view->symbols, loc->name), "first"));

    value = operand_of(s, a, 0);
    type = (const passdock_type *)at(&view->types, value->type_id, sizeof *type);
    CHECK(313, type->kind == PASSDOCK_TYPE_TENSOR && type->dtype == PASSDOCK_DTYPE_F32 && type->dims.len == 2);
    dim = (const passdock_dim *)at(&view->dims, type->dims.start, sizeof *dim);
    CHECK(313, dim[0].kind == PASSDOCK_DIM_SYMBOL && dim[1].kind == PASSDOCK_DIM_CONST && dim[1].value == 3);
    CHECK(313, same_text(s->host->symbols->text(view->symbols, (passdock_symbol_id)dim[0].value), "n"));
    CHECK(313, same_text(s->host->symbols->text(view->symbols, value->name), "x"));
    value = passdock_get_value(view, passdock_result(view, two, 1));
    CHECK(314, value != NULL && (value->flags & PASSDOCK_VALUE_ABSENT) != 0);
    value = operand_of(s, a, 2);
    CHECK(314, (value->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_CONST && value->def == value->constant);
    value = passdock_get_value(view, param(s->main, 2));
    CHECK(314, (value->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_ARG && value->constant != PASSDOCK_NONE);
    for (i = 0; i < view->opsets.len; i++) {
        const passdock_opset *opset = (const passdock_opset *)at(&view->opsets, i, sizeof *opset);
        if (opset->domain == symbol(s, "host_suite")) opsets += opset->version == 1;
        if (opset->domain == PASSDOCK_SYMBOL_EMPTY) opsets += opset->version == 17;
    }
    CHECK(314, opsets == 2);

    CHECK(315, module->struct_size >= sizeof *module && module->reserved == 0 && module->functions.len >= 2);
    for (i = 0; i < 2; i++) {
        const passdock_function_entry *entry =
            (const passdock_function_entry *)at(&module->functions, i, sizeof *entry);
        const char *name = i == 0 ? "main" : "host_suite.Callee";
        CHECK(315, same_text(s->host->symbols->text(module->symbols, entry->name), name));
        CHECK(315, entry->kind == PASSDOCK_FUNCTION_GRAPH && entry->reserved == 0);
        CHECK(315, i > 0 || entry->op_count == view->op_count);
    }
}
