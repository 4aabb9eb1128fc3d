/* Modules: functions, copies between them, outlining, and runs of other passes. */
#include "suite.h"

#define REJECTED PASSDOCK_STATUS_REJECTED

static passdock_position end_of(passdock_function_ref f) {
    passdock_position at = {PASSDOCK_NONE, PASSDOCK_NONE};
    at.region = f.view->body;
    return at;
}

void check_copies(const suite *s) {
    const passdock_function_api *api = s->host->functions;
    passdock_function_ref f = scratch(s, "host_suite.Copies"), other = scratch(s, "host_suite.Other");
    passdock_clone_desc desc = PASSDOCK_CLONE_DESC_INIT;
    passdock_capture captures[2];
    passdock_op_id op = first_op(other), source_op = op_named(s, s->main, "host_suite.Attributes");
    passdock_value_id results[2] = {77, 77}, args[2];
    passdock_type_id type;
    uint32_t count = f.view->op_count, other_count = other.view->op_count;

    desc.source = other;
    desc.ops = &op;
    desc.op_count = 1;
    desc.at = end_of(f);
    desc.results = results;
    desc.result_count = 1;
    CHECK(562, api->clone_ops(f.handle, &desc) == REJECTED && results[0] == 77);
    captures[0].value = param(other, 0);
    captures[0].replacement = param(f, 1);
    captures[1].value = param(other, 1);
    captures[1].replacement = param(f, 0);
    desc.captures = captures;
    desc.capture_count = 2;
    desc.result_count = 2;
    CHECK(562, api->clone_ops(f.handle, &desc) == PASSDOCK_STATUS_INVALID);
    desc.result_count = 1;
    CHECK(561, api->clone_ops(f.handle, &desc) == PASSDOCK_OK && f.view->op_count == count + 1);
    op = passdock_defining_op(f.view, results[0]);
    CHECK(561, op_of(f, op) != NULL && op_of(f, op)->name == symbol(s, "host_suite.Unary"));
    CHECK(561, passdock_operand(f.view, op, 0) == param(f, 1) && other.view->op_count == other_count);
    /* A region: the results are the copies of the operands of its terminator. */
    desc.region = other.view->body;
    desc.op_count = 0;
    desc.ops = NULL;
    CHECK(563, api->clone_ops(f.handle, &desc) == PASSDOCK_OK && f.view->op_count == count + 2);
    CHECK(563, passdock_operand(f.view, passdock_defining_op(f.view, results[0]), 0) == param(f, 1));
    /* Constants are copied with the ops that use them. */
    desc.source = s->main;
    desc.region = PASSDOCK_NONE;
    desc.ops = &source_op;
    desc.op_count = 1;
    captures[0].value = param(s->main, 0);
    captures[0].replacement = param(f, 0);
    desc.capture_count = 1;
    CHECK(564, api->clone_ops(f.handle, &desc) == PASSDOCK_OK);
    op = passdock_defining_op(f.view, results[0]);
    CHECK(564, passdock_operand(f.view, op, 1) == PASSDOCK_NONE);
    CHECK(564, value_of(f, passdock_operand(f.view, op, 2))->constant != PASSDOCK_NONE);
    CHECK(564, op_of(f, op)->attrs.len == op_of(s->main, source_op)->attrs.len);

    CHECK(565, api->type_from(f.handle, s->main.handle, value_of(s->main, param(s->main, 0))->type_id, &type) ==
                   PASSDOCK_OK);
    CHECK(565, ((const passdock_type *)passdock_at(&f.view->types, type, sizeof(passdock_type)))->dims.len == 2);
    CHECK(565, api->type_from(f.handle, s->main.handle, 0xfffffff0u, &type) == PASSDOCK_STATUS_STALE);
    CHECK(566, api->replace_body(f.handle, other.handle) == PASSDOCK_OK && f.view->op_count == other.view->op_count);
    args[0] = param(other, 1);
    api->remove_args(other.handle, args, 1);
    CHECK(566, api->replace_body(f.handle, other.handle) == REJECTED);
    check_view(s, f.view);
    check_view(s, other.view);
    remove_scratch(s, f);
    remove_scratch(s, other);
}

static void check_functions(const suite *s) {
    const passdock_module_api *api = s->host->modules;
    passdock_module *m = s->module->handle;
    const passdock_module_view *view = s->module->view;
    passdock_function_desc desc = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_function_ref f, same, snapshot, none = {NULL, NULL};
    passdock_symbol_id unknown = symbol(s, "host_suite.Nothing"), name;
    passdock_value_id x;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    uint64_t version = view->version;
    uint32_t count = view->functions.len;

    CHECK(601, api->snapshot(m, symbol(s, "main"), &snapshot) == PASSDOCK_OK);
    CHECK(601, snapshot.view->op_count == s->main.view->op_count && snapshot.handle != s->main.handle);
    CHECK(602, s->host->functions->add_arg(snapshot.handle, snapshot.view->body, &port, &x) == REJECTED);
    CHECK(602, s->host->functions->last_error(snapshot.handle).len > 0);
    api->release(m, snapshot);
    CHECK(601, api->snapshot(m, unknown, &snapshot) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(601, api->last_error(m).len > 0);
    CHECK(603, api->edit(m, symbol(s, "main"), &same) == PASSDOCK_OK);
    CHECK(603, same.handle == s->main.handle && same.view == s->main.view);
    CHECK(603, api->edit(m, unknown, &same) == PASSDOCK_STATUS_NOT_FOUND);

    desc.name = passdock_text("host_suite.Nothing");
    CHECK(604, api->create_function(m, &desc, &f) == PASSDOCK_OK && view->functions.len == count + 1);
    name = f.view->name;
    CHECK(604, name == unknown && view->version > version && f.view->op_count == 0);
    CHECK(604, api->create_function(m, &desc, &same) == REJECTED);
    desc.name = passdock_text("not a..name");
    CHECK(604, api->create_function(m, &desc, &same) == PASSDOCK_STATUS_INVALID);
    CHECK(605, s->host->functions->names_function(s->main.handle, name) == 1);
    CHECK(605, s->host->functions->names_function(s->main.handle, symbol(s, "host_suite.Unary")) == 0);
    CHECK(606, api->remove_function(m, name) == PASSDOCK_OK);
    CHECK(606, api->remove_function(m, name) == PASSDOCK_STATUS_STALE);
    CHECK(606, s->host->functions->names_function(s->main.handle, name) == 0);
    CHECK(404, api->edit(m, symbol(s, "main"), NULL) == PASSDOCK_STATUS_INVALID);
    CHECK(404, api->create_function(m, NULL, &none) == PASSDOCK_STATUS_INVALID && none.handle == NULL);
}

static void check_outlining(const suite *s) {
    const passdock_module_api *api = s->host->modules;
    passdock_function_ref f = scratch(s, "host_suite.Outlined"), g;
    passdock_outline_desc desc = PASSDOCK_OUTLINE_DESC_INIT;
    passdock_op_id ops[2], call = PASSDOCK_NONE;
    passdock_symbol_id name = PASSDOCK_NONE, again;
    passdock_value_id x = param(f, 0);

    ops[0] = first_op(f);
    ops[1] = last_op(f);
    desc.function = f.view->name;
    desc.ops = ops;
    desc.op_count = 2;
    desc.name = passdock_text("host_suite.Block");
    CHECK(608, api->outline(s->module->handle, &desc, &name, &call) == REJECTED);
    desc.op_count = 1;
    CHECK(607, api->outline(s->module->handle, &desc, &name, &call) == PASSDOCK_OK);
    CHECK(607, same_text(s->host->symbols->text(s->module->view->symbols, name), "host_suite.Block"));
    CHECK(607, op_of(f, call) != NULL && op_of(f, call)->name == name && passdock_operand(f.view, call, 0) == x);
    CHECK(607, op_of(f, ops[0]) == NULL && first_op(f) == call);
    CHECK(607, api->edit(s->module->handle, name, &g) == PASSDOCK_OK && g.view->op_count == 2);
    check_view(s, g.view);
    /* A name that is in use gets a number. */
    desc.ops = &call;
    CHECK(608, api->outline(s->module->handle, &desc, &again, &call) == PASSDOCK_OK && again != name);
    desc.name = passdock_text("onnx.Block");
    CHECK(608, api->outline(s->module->handle, &desc, &again, &call) == REJECTED);
    desc.name = passdock_text("..");
    CHECK(608, api->outline(s->module->handle, &desc, &again, &call) == PASSDOCK_STATUS_INVALID);
    remove_scratch(s, f);
    api->edit(s->module->handle, symbol(s, "host_suite.Block_1"), &f);
    remove_scratch(s, f);
    remove_scratch(s, g);
}

void check_module(const suite *s) {
    check_functions(s);
    check_outlining(s);
}

static passdock_status run(const suite *s, const char *name) {
    passdock_run_desc desc = PASSDOCK_RUN_DESC_INIT;
    desc.name = passdock_text(name);
    return s->host->modules->run_pass(s->module->handle, s->context, &desc);
}

static const passdock_attr *mark_of(const suite *s) {
    passdock_symbol_id name = symbol(s, "mark");
    uint32_t i;
    for (i = 0; i < s->main.view->function_attrs.len; i++) {
        const passdock_attr *attr = (const passdock_attr *)passdock_at(
            &s->main.view->attrs, s->main.view->function_attrs.start + i, sizeof *attr);
        if (attr->name == name) return attr;
    }
    return NULL;
}

/* Runs other passes. `s->main` isn't valid afterwards. */
void check_runs(const suite *s) {
    static const char *const failing[] = {"host_suite.transform.Fail", "host_suite.transform.Config",
                                          "host_suite.transform.Panic", "host_suite.transform.EmitError",
                                          "host_suite.transform.Odd"};
    suite again = *s;
    passdock_pass_kind kind = 0;
    unsigned i;

    CHECK(611, s->host->context->find_pass(s->context, passdock_text(failing[0]), &kind) == PASSDOCK_OK);
    CHECK(611, kind == PASSDOCK_PASS_FUNCTION);
    CHECK(611, s->host->context->find_pass(s->context, passdock_text("host_suite.Both"), &kind) == PASSDOCK_OK);
    CHECK(611, kind == PASSDOCK_PASS_MODULE);
    CHECK(611, s->host->context->find_pass(s->context, passdock_text("host_suite.transform.None"), &kind) ==
                   PASSDOCK_STATUS_NOT_FOUND);
    CHECK(611, s->host->context->last_error(s->context).len > 0);
    CHECK(612, run(s, "host_suite.transform.None") == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(612, s->host->modules->last_error(s->module->handle).len > 0);
    /* The edits of a pass that fails are dropped. */
    for (i = 0; i < sizeof failing / sizeof *failing; i++) {
        CHECK(613, run(s, failing[i]) == PASSDOCK_STATUS_FAILED);
        CHECK(613, s->host->modules->last_error(s->module->handle).len > 0);
        CHECK(613, s->host->modules->edit(s->module->handle, symbol(s, "main"), &again.main) == PASSDOCK_OK);
        CHECK(613, mark_of(&again) == NULL);
    }
    /* Those of one that succeeds are kept. */
    CHECK(614, run(s, "host_suite.transform.Function") == PASSDOCK_OK);
    CHECK(614, s->host->modules->edit(s->module->handle, symbol(s, "main"), &again.main) == PASSDOCK_OK);
    CHECK(614, mark_of(&again) != NULL && mark_of(&again)->bits == 1);
    CHECK(904, run(s, "host_suite.transform.Skipped") == PASSDOCK_OK);
    CHECK(615, run(s, "host_suite.Both") == PASSDOCK_OK);
    CHECK(615, s->host->modules->edit(s->module->handle, symbol(s, "main"), &again.main) == PASSDOCK_OK);
    CHECK(615, mark_of(&again) != NULL && mark_of(&again)->bits == 3);
}
