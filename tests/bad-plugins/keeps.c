/* A plugin in C that breaks a rule for handles, memory or threads, for the tests of `passdock plugin check`. The
 * environment variable BREAKS selects the rule. What the plugin keeps for too long usually still works in a host that
 * doesn't check. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "passdock.h"

static int breaks(const char *rule) {
    const char *selected = getenv("BREAKS");
    return selected != NULL && strcmp(selected, rule) == 0;
}

/* What the plugin keeps. */
static const passdock_function_view *kept_view;
static passdock_function *kept_handle;
static passdock_context *kept_context;
static const passdock_host *kept_host;
static passdock_str kept_text;
static const passdock_dim *kept_dims;
static volatile uint32_t sink, shared;

/* An edit that changes nothing else. */
static passdock_status mark(const passdock_host *host, const passdock_function_ref *function, uint64_t number) {
    passdock_attr_desc attr = PASSDOCK_ATTR_DESC_INIT;
    attr.kind = PASSDOCK_ATTR_INT;
    attr.name = host->symbols->intern(function->view->symbols, passdock_text("mark"));
    attr.bits = number;
    return host->functions->set_attr(function->handle, PASSDOCK_NONE, &attr);
}

static void *call(void *state) {
    (void)state;
    kept_host->functions->names_function(kept_handle, 0);
    return NULL;
}

static void call_on_thread(const passdock_host *host, passdock_function *handle) {
    pthread_t thread;
    kept_host = host;
    kept_handle = handle;
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, NULL);
}

/* Stores a number where other threads can overwrite it, and returns what is there later. */
static uint32_t race(uint32_t number) {
    shared = number;
    usleep(200);
    return shared;
}

static void read_text(passdock_str text) {
    if (text.len > 0) sink += (uint32_t)text.ptr[0];
}

static passdock_status work(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function, const passdock_module_ref *module) {
    const passdock_function_view *view = function->view;
    const passdock_op *ops = (const passdock_op *)view->ops.base;
    const passdock_metadata *metadata;
    passdock_bytes bytes = {NULL, 0};
    passdock_column column = {NULL, 0, 0};
    passdock_setting setting = {sizeof setting, 0, 0, 0, {NULL, 0}, NULL, 0, 0};
    passdock_status status;
    passdock_str text;
    size_t count;
    (void)state;
    (void)module;
    if (breaks("view")) {
        if (kept_view != NULL) sink += kept_view->op_count;
        kept_view = view;
    } else if (breaks("handle")) {
        if (kept_handle != NULL) host->functions->names_function(kept_handle, view->name);
        kept_handle = function->handle;
    } else if (breaks("column")) {
        mark(host, function, 1);
        if (view->ops.len > 0) sink += ops[0].flags;
    } else if (breaks("constant")) {
        status = host->functions->constant_data(function->handle, 0, &bytes);
        mark(host, function, 1);
        if (status == PASSDOCK_OK && bytes.len > 0) sink += bytes.ptr[0];
    } else if (breaks("error")) {
        host->functions->erase_op(function->handle, PASSDOCK_NONE);
        text = host->functions->last_error(function->handle);
        host->functions->names_function(function->handle, view->name);
        read_text(text);
    } else if (breaks("metadata")) {
        host->functions->set_op_metadata(function->handle, 0, passdock_text("key"), passdock_text("text"));
        status = host->functions->op_metadata(function->handle, 0, &metadata, &count);
        host->functions->names_function(function->handle, view->name);
        if (status == PASSDOCK_OK && count > 0) read_text(metadata[0].text);
    } else if (breaks("analysis")) {
        host->analyses->column(function->handle, passdock_text(PASSDOCK_ANALYSIS_ORDER), &column);
        mark(host, function, 1);
        if (column.len > 0) sink += ((const passdock_op_order *)column.base)->position;
    } else if (breaks("option")) {
        read_text(kept_text);
        host->context->option(context, passdock_text("mode"), &setting);
        kept_text = setting.string_value;
    } else if (breaks("const") || breaks("const after an edit")) {
        if (breaks("const after an edit")) mark(host, function, 1);
        if (view->ops.len > 0) ((passdock_op *)view->ops.base)[0].flags |= PASSDOCK_OP_TOUCHED << 8;
    } else if (breaks("thread")) {
        call_on_thread(host, function->handle);
    } else if (breaks("race")) {
        return mark(host, function, race(view->op_count));
    }
    return PASSDOCK_OK;
}

static passdock_status work_on_module(const passdock_host *host, void *state, passdock_context *context,
                                      const passdock_module_ref *module) {
    const passdock_function_entry *entries = (const passdock_function_entry *)module->view->functions.base;
    passdock_function_desc desc = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_function_ref function;
    (void)state;
    (void)context;
    if (module->view->functions.len == 0) return PASSDOCK_OK;
    if (breaks("snapshot") &&
        host->modules->snapshot(module->handle, entries[0].name, &function) == PASSDOCK_OK) {
        host->modules->release(module->handle, function);
        sink += function.view->op_count;
    }
    desc.name = passdock_text("keeps.New");
    if (breaks("functions") &&
        host->modules->create_function(module->handle, &desc, &function) == PASSDOCK_OK) {
        sink += entries[0].op_count;
    }
    return PASSDOCK_OK;
}

static passdock_status infer(const passdock_host *host, void *state, passdock_op_call *op_call,
                             const passdock_function_ref *function, passdock_op_id op) {
    passdock_type_desc type = PASSDOCK_TYPE_DESC_INIT;
    passdock_dim dim = {PASSDOCK_DIM_CONST, PASSDOCK_NONE, 0};
    passdock_status status;
    uint32_t operands, i;
    size_t count;
    (void)state;
    if (breaks("dims")) {
        if (kept_dims != NULL) sink += kept_dims[0].kind;
        kept_dims = NULL;
        operands = passdock_get_op(function->view, op)->operands.len;
        for (i = 0; i < operands && kept_dims == NULL; i++) {
            status = host->definitions->operand_dims(op_call, i, &kept_dims, &count);
            if (status != PASSDOCK_OK || count == 0) kept_dims = NULL;
        }
    }
    if (breaks("thread of definition")) call_on_thread(host, function->handle);
    if (breaks("race of definitions")) {
        type.kind = PASSDOCK_TYPE_TENSOR;
        type.dtype = PASSDOCK_DTYPE_F32;
        dim.value = race(op + passdock_get_op(function->view, op)->operands.len);
        type.dims = &dim;
        type.dim_count = 1;
        return host->definitions->set_result_type(op_call, 0, &type);
    }
    return PASSDOCK_OK;
}

static passdock_status create(const passdock_host *host, void *state, passdock_context *context, void **out) {
    (void)state;
    if (breaks("handle in create") && kept_context != NULL) host->context->opt_level(kept_context);
    kept_context = context;
    *out = NULL;
    return PASSDOCK_OK;
}

static passdock_status before(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)instance;
    (void)context;
    if (breaks("name")) {
        read_text(kept_text);
        kept_text = pass->name;
    }
    if (breaks("handle and const in instrument")) host->context->opt_level(kept_context);
    if ((breaks("const in instrument") || breaks("handle and const in instrument")) && module->view->functions.len > 0) {
        ((passdock_function_entry *)module->view->functions.base)[0].op_count++;
    }
    return PASSDOCK_OK;
}

static const passdock_pass_entry passes[] = {
    {.name = PASSDOCK_STR("keeps.transform.Pass"), .run_function = work},
    {.name = PASSDOCK_STR("keeps.transform.Module"), .run_module = work_on_module},
};
static const passdock_op_entry ops[] = {
    {.name = PASSDOCK_STR("keeps.Op"), .since = 1, .max_operands = 3, .min_results = 1, .max_results = 1, .infer = infer},
};
static const passdock_instrument_entry instruments[] = {
    {.name = PASSDOCK_STR("keeps.watcher"), .create = create, .run_before_pass = before},
};
static const passdock_plugin plugin = {
    .struct_size = sizeof plugin,
    .passes = passes,
    .pass_count = 2,
    .pass_stride = sizeof passes[0],
    .ops = ops,
    .op_count = 1,
    .op_stride = sizeof ops[0],
    .instruments = instruments,
    .instrument_count = 1,
    .instrument_stride = sizeof instruments[0],
};

PASSDOCK_MANIFEST_TEXT(
    "name = \"keeps\"\n"
    "version = \"0.1.0\"\n"
    "[[pass]]\n"
    "name = \"keeps.transform.Pass\"\n"
    "kind = \"function\"\n"
    "opt_level = 0\n"
    "summary = \"Breaks a rule.\"\n"
    "thread_safe = true\n"
    "[[pass.option]]\n"
    "name = \"mode\"\n"
    "type = \"string\"\n"
    "default = \"a\"\n"
    "doc = \"Any.\"\n"
    "[[pass]]\n"
    "name = \"keeps.transform.Module\"\n"
    "kind = \"module\"\n"
    "opt_level = 0\n"
    "summary = \"Breaks a rule.\"\n"
    "[[op]]\n"
    "name = \"keeps.Op\"\n"
    "since = 1\n"
    "[[instrument]]\n"
    "name = \"keeps.watcher\"\n"
    "summary = \"Breaks a rule.\"\n");
PASSDOCK_ENTRY(plugin);
