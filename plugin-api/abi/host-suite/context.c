/* The context of a pass: settings, diagnostics, rewrites. Analyses. */
#include "suite.h"

static passdock_setting setting(uint32_t size) {
    passdock_setting value;
    memset(&value, 0xff, sizeof value);
    value.struct_size = size;
    return value;
}

static passdock_setting option(const passdock_host *host, passdock_context *context, const char *name) {
    passdock_setting value = setting(sizeof value);
    CHECK(701, host->context->option(context, passdock_text(name), &value) == PASSDOCK_OK);
    return value;
}

static const passdock_setting_item *item(const passdock_setting *value, uint32_t index) {
    return (const passdock_setting_item *)((const char *)value->items + (size_t)index * value->item_stride);
}

static void check_settings(const passdock_host *host, passdock_context *context) {
    const passdock_context_api *api = host->context;
    passdock_setting value = option(host, context, "flag");
    CHECK(702, value.kind == PASSDOCK_SETTING_BOOL && value.int_value == 1);
    value = option(host, context, "number");
    CHECK(702, value.kind == PASSDOCK_SETTING_INT && value.int_value == -5);
    value = option(host, context, "real");
    CHECK(702, value.kind == PASSDOCK_SETTING_FLOAT && value.float_value == 0.25);
    value = option(host, context, "text");
    CHECK(702, value.kind == PASSDOCK_SETTING_STRING && same_text(value.string_value, "hello"));
    value = option(host, context, "texts");
    CHECK(703, value.kind == PASSDOCK_SETTING_LIST && value.item_count == 2);
    CHECK(703, value.item_stride >= sizeof(passdock_setting_item));
    if (value.kind == PASSDOCK_SETTING_LIST && value.item_count == 2) {
        CHECK(703, item(&value, 1)->value.kind == PASSDOCK_SETTING_STRING && item(&value, 1)->name.len == 0);
        CHECK(703, same_text(item(&value, 1)->value.string_value, "b"));
    }
    value = option(host, context, "table");
    CHECK(703, value.kind == PASSDOCK_SETTING_TABLE && value.item_count == 1);
    if (value.kind == PASSDOCK_SETTING_TABLE && value.item_count == 1) {
        CHECK(703, same_text(item(&value, 0)->name, "key") && item(&value, 0)->value.int_value == 4);
    }
    value = setting(sizeof value);
    CHECK(704, api->option(context, passdock_text("missing"), &value) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(704, api->last_error(context).len > 0 && value.int_value == -1);
    CHECK(704, api->option(context, passdock_text("flag"), NULL) == PASSDOCK_STATUS_INVALID);
    /* A struct of an older plugin: the host fills only what is there. */
    value = setting((uint32_t)((char *)&value.float_value - (char *)&value));
    CHECK(705, api->option(context, passdock_text("number"), &value) == PASSDOCK_OK);
    CHECK(705, value.struct_size == 16 && value.int_value == -5 && value.item_stride == 0xffffffffu);

    value = setting(sizeof value);
    CHECK(706, api->config(context, passdock_text("host_suite.Target"), passdock_text("cores"), &value) ==
                   PASSDOCK_OK);
    CHECK(706, value.kind == PASSDOCK_SETTING_INT && value.int_value == 8);
    CHECK(706, api->config(context, passdock_text("host_suite.Target"), passdock_text("none"), &value) ==
                   PASSDOCK_STATUS_NOT_FOUND);
    CHECK(706, api->config(context, passdock_text("host_suite.None"), passdock_text(""), &value) ==
                   PASSDOCK_STATUS_NOT_FOUND);
}

/* A diagnostic followed by more fields than any version of the host has. */
typedef struct later_diagnostic {
    passdock_diagnostic desc;
    char more[1024];
} later_diagnostic;

void check_context(const passdock_host *host, passdock_context *context) {
    static const passdock_severity severities[] = {PASSDOCK_SEVERITY_WARNING, PASSDOCK_SEVERITY_NOTE,
                                                   PASSDOCK_SEVERITY_HELP, PASSDOCK_SEVERITY_DEBUG, 55};
    const passdock_context_api *api = host->context;
    passdock_diagnostic diagnostic = PASSDOCK_DIAGNOSTIC_INIT;
    passdock_label label = PASSDOCK_LABEL_INIT;
    later_diagnostic later;
    passdock_str note = {"\xff is not UTF-8", 14};
    size_t i;

    check_settings(host, context);
    CHECK(711, api->shows(context, PASSDOCK_SEVERITY_ERROR) == 1 && api->shows(context, PASSDOCK_SEVERITY_BUG) == 1);
    CHECK(711, api->shows(context, PASSDOCK_SEVERITY_DEBUG) <= 1 && api->shows(context, 77) <= 1);
    diagnostic.message = passdock_text("a message of the host suite");
    diagnostic.code = passdock_text("host_suite::test");
    label.op = 0;
    label.text = passdock_text("here");
    diagnostic.labels = &label;
    diagnostic.label_count = 1;
    diagnostic.notes = &note;
    diagnostic.note_count = 1;
    for (i = 0; i < sizeof severities / sizeof *severities; i++) {
        diagnostic.severity = severities[i];
        CHECK(712, api->emit(context, &diagnostic) == PASSDOCK_OK);
    }
    diagnostic.severity = PASSDOCK_SEVERITY_DEBUG;
    diagnostic.flags = 1u << 30;
    label.flags = 1u << 30;
    label.part = 77;
    CHECK(713, api->emit(context, &diagnostic) == PASSDOCK_OK);
    diagnostic.label_count = 0;
    diagnostic.struct_size = sizeof later;
    memset(&later, 0, sizeof later);
    later.desc = diagnostic;
    later.more[sizeof later.more - 1] = 1;
    CHECK(713, api->emit(context, &later.desc) == PASSDOCK_OK);
    CHECK(713, api->emit(context, NULL) == PASSDOCK_STATUS_INVALID);
    CHECK(714, api->is_cancelled(context) == 0);
    CHECK(715, api->may_rewrite(context, passdock_text("host_suite rule")) == PASSDOCK_OK);
    api->rewrote(context, passdock_text("host_suite rule"));
}

/* The data of an analysis: its number among all of this process. */
static int next_number = 1;

static void drop(const passdock_host *host, passdock_context *context, void *data) {
    entered_from(host);
    CHECK(826, context != NULL && *(int *)data != 0);
    report_event("drop", *(int *)data);
    *(int *)data = 0;
}

static int numbers[64];

static passdock_status put(const suite *s, passdock_function_ref f, const void *owner, const char *key, int **out) {
    int number = next_number++;
    void *stored = NULL;
    passdock_status status;
    if (number >= 64) return PASSDOCK_STATUS_FAILED;
    numbers[number] = number;
    report_event("put", number);
    status = s->host->analyses->put(f.handle, owner, passdock_text(key), &numbers[number], drop, &stored);
    *out = (int *)stored;
    return status;
}

static void check_columns(const suite *s) {
    const passdock_analysis_api *api = s->host->analyses;
    passdock_function *f = s->main.handle;
    const passdock_function_view *view = s->main.view;
    passdock_op_id a = op_named(s, s->main, "host_suite.Attributes");
    passdock_value_id result = passdock_result(view, a, 0);
    passdock_column column = {NULL, 0, 0};
    const passdock_liveness *liveness;
    const passdock_op_order *order;
    const passdock_op_effects *effects;
    const passdock_name_use *names;
    uint32_t i, unary = 0;

    CHECK(811, api->column(f, passdock_text(PASSDOCK_ANALYSIS_LIVENESS), &column) == PASSDOCK_OK);
    CHECK(811, column.len == view->values.len);
    liveness = (const passdock_liveness *)column.base;
    CHECK(811, liveness[result].last_use == op_named(s, s->main, "host_suite.Two"));
    CHECK(812, api->column(f, passdock_text(PASSDOCK_ANALYSIS_ORDER), &column) == PASSDOCK_OK);
    CHECK(812, column.len == view->ops.len);
    order = (const passdock_op_order *)column.base;
    CHECK(812, order[a].position == 0 && order[a].depth == 0 && order[last_op(s->main)].position > 0);
    CHECK(813, api->column(f, passdock_text(PASSDOCK_ANALYSIS_EFFECTS), &column) == PASSDOCK_OK);
    CHECK(813, column.len == view->ops.len);
    effects = (const passdock_op_effects *)column.base;
    CHECK(813, (effects[a].effects & PASSDOCK_TRAIT_PURE) == 0);
    CHECK(813, (effects[last_op(s->main)].traits & PASSDOCK_TRAIT_PURE) != 0);
    CHECK(814, api->column(f, passdock_text(PASSDOCK_ANALYSIS_NAMES), &column) == PASSDOCK_OK);
    names = (const passdock_name_use *)column.base;
    for (i = 0; i < column.len; i++) {
        if (names[i].name == symbol(s, "host_suite.Unary")) unary = names[i].count;
    }
    CHECK(814, unary == 2);
    CHECK(815, api->column(f, passdock_text("host_suite none"), &column) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(815, s->host->functions->last_error(f).len > 0);
}

void check_analyses(const suite *s) {
    const passdock_analysis_api *api = s->host->analyses;
    static const char owner[1], stranger[1];
    passdock_function_ref f = scratch(s, "host_suite.Analyses");
    passdock_str key = passdock_text("cost"), shared = passdock_text("host_suite.Cost/1");
    int *one = NULL, *two = NULL;
    void *found = NULL;
    passdock_value_id x = param(f, 0);

    check_columns(s);
    CHECK(821, api->get(f.handle, owner, key, &found) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(821, s->host->functions->last_error(f.handle).len == 0 && found == NULL);
    CHECK(822, put(s, f, owner, "cost", &one) == PASSDOCK_OK && one != NULL);
    CHECK(822, api->get(f.handle, owner, key, &found) == PASSDOCK_OK && found == one);
    /* For a key that is set, the existing data stays, and the host drops the other one. */
    CHECK(822, put(s, f, owner, "cost", &two) == PASSDOCK_OK && two == one);
    CHECK(823, api->get(f.handle, stranger, key, &found) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(823, put(s, f, NULL, "host_suite.Cost/1", &two) == PASSDOCK_OK);
    CHECK(823, api->get(f.handle, NULL, shared, &found) == PASSDOCK_OK && found == two);
    CHECK(824, api->put(f.handle, owner, key, NULL, drop, &found) == PASSDOCK_STATUS_INVALID);
    /* An edit invalidates analyses, unless the pass preserves them. */
    body_op(s, f, "host_suite.Unary", &x, 1);
    CHECK(825, api->get(f.handle, owner, key, &found) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(825, api->preserve(f.handle, owner, key) == PASSDOCK_OK);
    CHECK(825, api->get(f.handle, owner, key, &found) == PASSDOCK_OK && found == one);
    CHECK(825, api->get(f.handle, NULL, shared, &found) == PASSDOCK_STATUS_NOT_FOUND);
    CHECK(825, api->preserve(f.handle, owner, passdock_text("nothing")) == PASSDOCK_STATUS_NOT_FOUND);
    body_op(s, f, "host_suite.Unary", &x, 1);
    CHECK(822, put(s, f, owner, "cost", &two) == PASSDOCK_OK && two != one);
    remove_scratch(s, f);
    /* One for the passes that run later. */
    put(s, s->main, owner, "kept", &one);
}
