/* The host suite: a plugin that checks what passdock.h promises. docs/host-suite.md describes its
 * use. */
#include "suite.h"

/* Whether the module is module.ir. The passes do nothing for other modules. */
static int is_module_of_suite(const passdock_host *host, const passdock_module_view *view) {
    const passdock_function_entry *entry =
        (const passdock_function_entry *)passdock_at(&view->functions, 1, sizeof *entry);
    return entry != NULL && entry->name != PASSDOCK_NONE &&
           same_text(host->symbols->text(view->symbols, entry->name), "host_suite.Callee");
}

static int state_of_module, state_of_functions;
int suite_is_running;

static passdock_status run_all(const passdock_host *host, void *state, passdock_context *context,
                               const passdock_module_ref *module) {
    suite s;
    entered_from(host);
    if (!is_module_of_suite(host, module->view)) return PASSDOCK_OK;
    CHECK(108, state == &state_of_module);
    s.host = host = host_to_check(host);
    s.context = context;
    s.module = module;
    check_host(host);
    check_symbols(host, module->view->symbols);
    if (host->modules->edit(module->handle, symbol(&s, "main"), &s.main) != PASSDOCK_OK) {
        CHECK(603, !"edit");
        return PASSDOCK_OK;
    }
    suite_is_running = 1;
    check_view(&s, s.main.view);
    check_main(&s);
    check_statuses(&s);
    check_descriptions(&s);
    check_ops(&s);
    check_values(&s);
    check_attributes(&s);
    check_types(&s);
    check_constants(&s);
    check_copies(&s);
    check_module(&s);
    check_context(host, context);
    check_queries(&s);
    check_texts(&s);
    check_analyses(&s);
    check_runs(&s);
    suite_is_running = 0;
    return PASSDOCK_OK;
}

/* Adds 1 to the attribute `mark` of the function `@main`. */
static void mark(const passdock_host *host, const passdock_function_ref *function) {
    const passdock_function_view *view = function->view;
    passdock_attr_desc desc = PASSDOCK_ATTR_DESC_INIT;
    uint32_t i;
    desc.kind = PASSDOCK_ATTR_INT;
    desc.name = host->symbols->intern(view->symbols, passdock_text("mark"));
    for (i = 0; i < view->function_attrs.len; i++) {
        const passdock_attr *attr = (const passdock_attr *)passdock_at(
            &view->attrs, view->function_attrs.start + i, sizeof *attr);
        if (attr->name == desc.name) desc.bits = attr->bits;
    }
    desc.bits++;
    host->functions->set_attr(function->handle, PASSDOCK_NONE, &desc);
}

static passdock_status run_function(const passdock_host *host, void *state, passdock_context *context,
                                    const passdock_function_ref *function, const passdock_module_ref *module) {
    passdock_function_ref other;
    passdock_symbol_id main_name;
    suite s;
    entered_from(host);
    if (module == NULL || module->handle == NULL || !is_module_of_suite(host, module->view)) return PASSDOCK_OK;
    CHECK(108, state == &state_of_functions);
    s.host = host = host_to_check(host);
    s.context = context;
    s.module = module;
    s.main = *function;
    main_name = symbol(&s, "main");
    check_view(&s, function->view);
    /* The module of a function pass is read-only. */
    CHECK(621, host->modules->edit(module->handle, main_name, &other) == PASSDOCK_STATUS_REJECTED);
    CHECK(621, host->modules->remove_function(module->handle, main_name) == PASSDOCK_STATUS_REJECTED);
    CHECK(621, host->modules->snapshot(module->handle, main_name, &other) == PASSDOCK_OK);
    CHECK(621, host->functions->names_function(function->handle, symbol(&s, "host_suite.Callee")) == 1);
    host->modules->release(module->handle, other);
    if (function->view->name == main_name) mark(host, function);
    return PASSDOCK_OK;
}

/* A pass that the instrument skips. */
static passdock_status run_skipped(const passdock_host *host, void *state, passdock_context *context,
                                   const passdock_function_ref *function, const passdock_module_ref *module) {
    (void)state;
    (void)context;
    (void)function;
    entered_from(host);
    (void)module;
    CHECK(904, !suite_is_running || !is_observed());
    return PASSDOCK_OK;
}

/* The passes that fail after an edit. The state is the status that they return. */
static passdock_status fail(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function, const passdock_module_ref *module) {
    passdock_status status = *(const passdock_status *)state;
    passdock_diagnostic diagnostic = PASSDOCK_DIAGNOSTIC_INIT;
    entered_from(host);
    (void)module;
    if (!suite_is_running) return PASSDOCK_OK;
    mark(host, function);
    diagnostic.message = passdock_text("the host suite tests how this pass fails");
    if (status != PASSDOCK_OK) diagnostic.flags = PASSDOCK_DIAGNOSTIC_REASON;
    CHECK(712, host->context->emit(context, &diagnostic) == PASSDOCK_OK);
    return status;
}

static passdock_status statuses[] = {PASSDOCK_STATUS_FAILED, PASSDOCK_STATUS_CONFIG, PASSDOCK_STATUS_PANICKED,
                                     PASSDOCK_OK, 77};

#define PASS(pass_name, function, pass_state) \
    {.name = PASSDOCK_STR("host_suite.transform." pass_name), .state = pass_state, function}
#define FUNCTION_PASS(pass_name, function, pass_state) \
    PASS(pass_name, .run_function = function, pass_state)
static const passdock_pass_entry passes[] = {
    PASS("All", .run_module = run_all, &state_of_module),
    FUNCTION_PASS("Function", run_function, &state_of_functions),
    FUNCTION_PASS("Skipped", run_skipped, NULL),
    FUNCTION_PASS("Fail", fail, &statuses[0]),
    FUNCTION_PASS("Config", fail, &statuses[1]),
    FUNCTION_PASS("Panic", fail, &statuses[2]),
    FUNCTION_PASS("EmitError", fail, &statuses[3]),
    FUNCTION_PASS("Odd", fail, &statuses[4]),
};

static const passdock_plugin plugin = {
    .struct_size = sizeof plugin,
    .passes = passes,
    .pass_count = sizeof passes / sizeof *passes,
    .pass_stride = sizeof *passes,
    .ops = suite_ops,
    .op_count = SUITE_OPS,
    .op_stride = sizeof *suite_ops,
    .instruments = &suite_instrument,
    .instrument_count = 1,
    .instrument_stride = sizeof suite_instrument,
};

const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {
    attached_to(host, attach);
    return &plugin;
}

PASSDOCK_MANIFEST("plugin.toml");
