/* The instrument of the suite, which checks the order and the arguments of callbacks. */
#include "suite.h"

/* The calls on an instance. */
typedef struct observer {
    int number;
    int is_entered;
    int is_left;
    /* The passes that run, and whether the last callback was `should_run`. */
    int depth;
    int decided;
} observer;

static observer observers[64];
static int observer_count, state_of_instrument;

int is_observed(void) {
    int i;
    for (i = 0; i < observer_count; i++) {
        if (observers[i].depth > 0) return 1;
    }
    return 0;
}

static passdock_status create(const passdock_host *host, void *state, passdock_context *context, void **out) {
    passdock_setting value;
    observer *o = &observers[observer_count];
    entered_from(host);
    memset(&value, 0, sizeof value);
    value.struct_size = sizeof value;
    CHECK(902, state == &state_of_instrument);
    CHECK(906, host->context->option(context, passdock_text("limit"), &value) == PASSDOCK_OK && value.int_value == 3);
    if (observer_count + 1 < 64) observer_count++;
    o->number = observer_count;
    report_event("create", o->number);
    *out = o;
    return PASSDOCK_OK;
}

static observer *check_instance(void *instance) {
    observer *o = (observer *)instance;
    CHECK(902, o >= observers && o < observers + 64 && o->number > 0);
    return o;
}

static void destroy(const passdock_host *host, void *instance, passdock_context *context) {
    observer *o = check_instance(instance);
    entered_from(host);
    CHECK(901, context != NULL && o->depth == 0 && o->is_entered == o->is_left);
    report_event("destroy", o->number);
}

static passdock_status enter(const passdock_host *host, void *instance, passdock_context *context) {
    observer *o = check_instance(instance);
    entered_from(host);
    CHECK(901, context != NULL && o->depth == 0 && o->is_entered == o->is_left);
    o->is_entered++;
    return PASSDOCK_OK;
}

static passdock_status leave(const passdock_host *host, void *instance, passdock_context *context) {
    observer *o = check_instance(instance);
    entered_from(host);
    CHECK(901, context != NULL && o->depth == 0 && o->is_entered == o->is_left + 1);
    o->is_left++;
    return PASSDOCK_OK;
}

/* The arguments of each callback around a pass. */
static observer *check_pass(const passdock_host *host, void *instance, const passdock_module_ref *module,
                            const passdock_pass_info *pass, int has_failed) {
    observer *o = check_instance(instance);
    passdock_function_ref f;
    passdock_symbol_id name;
    entered_from(host);
    CHECK(901, o->is_entered == o->is_left + 1);
    CHECK(903, pass->struct_size >= sizeof *pass && pass->name.len > 0 && (pass->error.len > 0) == has_failed);
    CHECK(903, pass->required_count == 0 || pass->required != NULL);
    if (pass->name.len > 12 && memcmp(pass->name.ptr, "host_suite.t", 13) == 0) {
        CHECK(903, same_text(pass->plugin, "host_suite"));
    }
    /* The module is read-only. */
    host = host_to_check(host);
    if (module->view->functions.len > 0) {
        name = ((const passdock_function_entry *)module->view->functions.base)->name;
        CHECK(905, host->modules->edit(module->handle, name, &f) == PASSDOCK_STATUS_REJECTED);
        CHECK(905, host->modules->remove_function(module->handle, name) == PASSDOCK_STATUS_REJECTED);
        CHECK(905, host->modules->snapshot(module->handle, name, &f) == PASSDOCK_OK && f.view->op_count > 0);
        host->modules->release(module->handle, f);
    }
    return o;
}

static passdock_status should_run(const passdock_host *host, void *instance, passdock_context *context,
                                  const passdock_module_ref *module, const passdock_pass_info *pass, uint32_t *out) {
    observer *o = check_pass(host, instance, module, pass, 0);
    (void)context;
    CHECK(904, *out == 1);
    *out = !same_text(pass->name, "host_suite.transform.Skipped");
    o->decided = 1;
    return PASSDOCK_OK;
}

static passdock_status before(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    observer *o = check_pass(host, instance, module, pass, 0);
    passdock_run_desc desc = PASSDOCK_RUN_DESC_INIT;
    CHECK(901, o->decided);
    CHECK(904, !same_text(pass->name, "host_suite.transform.Skipped"));
    desc.name = passdock_text("host_suite.transform.Function");
    CHECK(907, host->modules->run_pass(module->handle, context, &desc) != PASSDOCK_OK);
    o->decided = 0;
    o->depth++;
    return PASSDOCK_OK;
}

static passdock_status after(const passdock_host *host, void *instance, passdock_context *context,
                             const passdock_module_ref *module, const passdock_pass_info *pass) {
    observer *o = check_pass(host, instance, module, pass, 0);
    (void)context;
    CHECK(901, o->depth > 0);
    o->depth--;
    return PASSDOCK_OK;
}

static passdock_status failed(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    observer *o = check_pass(host, instance, module, pass, 1);
    passdock_symbol_id mark = host->symbols->find(module->view->symbols, passdock_text("mark")), name;
    passdock_function_ref f;
    uint32_t i;
    (void)context;
    CHECK(901, o->depth > 0);
    o->depth--;
    /* The module before the pass: without the edits of the pass. */
    name = host->symbols->find(module->view->symbols, passdock_text("main"));
    if (host->modules->snapshot(module->handle, name, &f) != PASSDOCK_OK) return PASSDOCK_OK;
    for (i = 0; i < f.view->function_attrs.len; i++) {
        const passdock_attr *attr = (const passdock_attr *)passdock_at(
            &f.view->attrs, f.view->function_attrs.start + i, sizeof *attr);
        CHECK(908, attr->name != mark);
    }
    host->modules->release(module->handle, f);
    return PASSDOCK_OK;
}

static passdock_status report(const passdock_host *host, void *instance, passdock_context *context,
                              passdock_str *out) {
    observer *o = check_instance(instance);
    entered_from(host);
    CHECK(901, context != NULL && o->depth == 0);
    *out = passdock_text("the host suite observed passes");
    return PASSDOCK_OK;
}

const passdock_instrument_entry suite_instrument = {
    .name = PASSDOCK_STR("host_suite.observer"),
    .state = &state_of_instrument,
    .create = create,
    .destroy = destroy,
    .enter_pass_ctx = enter,
    .exit_pass_ctx = leave,
    .should_run = should_run,
    .run_before_pass = before,
    .run_after_pass = after,
    .pass_failed = failed,
    .report = report,
};
