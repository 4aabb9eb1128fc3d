/* Queries to op definitions, and texts: IR text and rules. */
#include "suite.h"

#define REJECTED PASSDOCK_STATUS_REJECTED
#define NOT_FOUND PASSDOCK_STATUS_NOT_FOUND

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
    passdock_op_id unary = op_on(s, f, "conformance.Unary", param(f, 0)), binary, shape, again;
    passdock_op_id wrong = op_on(s, f, "conformance.Wrong", param(f, 0));
    passdock_op_id branch = op_on(s, f, "conformance.Branch", param(f, 0));
    passdock_value_id value = passdock_result(f.view, unary, 0), x = param(f, 0);
    uint64_t traits = api->traits(f.handle, symbol(s, "conformance.Unary"));
    const passdock_attr_entry *attrs = NULL;
    const passdock_dim *dims = NULL;
    uint32_t attr_count = 0, stride = 0;
    size_t count = 0;

    CHECK(831, (traits & PASSDOCK_TRAIT_PURE) && (traits & PASSDOCK_TRAIT_ELEMENTWISE));
    CHECK(831, (traits & PASSDOCK_TRAIT_DEFINED) && (traits & PASSDOCK_TRAIT_FOLDS));
    CHECK(831, (traits & PASSDOCK_TRAIT_DECOMPOSES) && (traits & PASSDOCK_TRAIT_KNOWS_LAYOUT));
    CHECK(831, (traits & PASSDOCK_TRAIT_ALTERS_LAYOUT) && !(traits & PASSDOCK_TRAIT_COMMUTATIVE));
    CHECK(831, api->traits(f.handle, symbol(s, "conformance.Undefined")) == 0);
    CHECK(832, api->check_op(s->context, f.handle, unary) == PASSDOCK_OK);
    binary = op_on(s, f, "conformance.Binary", x);
    CHECK(832, api->check_op(s->context, f.handle, binary) == REJECTED && has_error(s, f));
    CHECK(833, api->infer(s->context, f.handle, unary) == PASSDOCK_OK);
    CHECK(833, value_of(f, value)->type_id == value_of(f, x)->type_id);
    CHECK(833, api->infer(s->context, f.handle, branch) == PASSDOCK_OK);
    CHECK(834, api->infer(s->context, f.handle, wrong) == REJECTED && has_error(s, f));
    CHECK(835, api->infer_with(s->context, f.handle, unary, &x, 1) == PASSDOCK_OK);
    CHECK(835, api->infer_with(s->context, f.handle, wrong, &x, 1) == REJECTED);
    CHECK(835, same_text(s->host->functions->last_error(f.handle), "it is always wrong"));

    shape = op_on(s, f, "conformance.Shape", x);
    again = op_on(s, f, "conformance.Shape", passdock_result(f.view, shape, 0));
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
    passdock_op_id op = op_on(s, f, "conformance.Unary", constant), dynamic = first_op(f);
    passdock_op_id branch = op_on(s, f, "conformance.Branch", constant);
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
    passdock_op_id unary = first_op(f), branch = op_on(s, f, "conformance.Branch", param(f, 0));
    passdock_str wanted = passdock_text("AB->BA"), cpu = passdock_text("conformance.cpu");
    passdock_value_id out = PASSDOCK_NONE;
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    passdock_laid_out laid_out;
    uint32_t count = f.view->op_count;

    CHECK(840, api->decompose(s->context, f.handle, unary, &out, 1) == PASSDOCK_OK);
    CHECK(840, f.view->op_count == count + 1 && op_of(f, unary) != NULL && value_of(f, out) != NULL);
    CHECK(840, op_of(f, passdock_defining_op(f.view, out))->name == symbol(s, "conformance.Binary"));
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
    CHECK(846, api->supports(s->context, f.handle, unary, passdock_text("conformance.gpu")) == NOT_FOUND);
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
        passdock_function_ref f = scratch(s, "conformance.Queries");
        parts[i](s, f);
        check_view(s, f.view);
        remove_scratch(s, f);
    }
}

void check_texts(const suite *s) {
    static const char rule[] = "rule one { conformance.Unary(conformance.Unary(%x)) => conformance.Unary(%x) }";
    const passdock_op_api *api = s->host->ops;
    passdock_function_ref f = scratch(s, "conformance.Texts");
    passdock_text_desc desc = PASSDOCK_TEXT_DESC_INIT;
    passdock_rewrite_desc rewrite = PASSDOCK_REWRITE_DESC_INIT;
    passdock_value_id x = param(f, 0), out = PASSDOCK_NONE, u = passdock_result(f.view, first_op(f), 0);
    passdock_op_id op = first_op(f);
    uint32_t count = f.view->op_count;

    desc.op = op;
    desc.text = passdock_text("fn @body(%a) { %b = conformance.Unary(%a) %c = conformance.Binary(%b, %a) return %c }");
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
    op = body_op(s, f, "conformance.Unary", &u, 1);
    u = passdock_result(f.view, op, 0);
    op = body_op(s, f, "conformance.Binary", &u, 1);
    rewrite.rules = passdock_text(rule);
    CHECK(863, api->rewrite(s->context, f.handle, &rewrite) == PASSDOCK_OK);
    CHECK(863, passdock_operand(f.view, passdock_defining_op(f.view, passdock_operand(f.view, op, 0)), 0) == x);
    rewrite.rules = passdock_text("rule one { conformance.Unary(%x) => %y }");
    CHECK(864, api->rewrite(s->context, f.handle, &rewrite) != PASSDOCK_OK && has_error(s, f));
    check_view(s, f.view);
    remove_scratch(s, f);
}
