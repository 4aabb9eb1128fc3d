/* Reports and helpers. */
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_RULE 1000
#define MAX_HOSTS 8

/* The hosts that loaded the plugin: `passdock plugin check` loads it into two. */
static const passdock_host *hosts[MAX_HOSTS];
static unsigned host_count;

static void write_line(const char *line) {
    const char *path = getenv("PASSDOCK_HOST_SUITE");
    FILE *file = path != NULL ? fopen(path, "a") : stderr;
    if (file == NULL) return;
    fprintf(file, "%s\n", line);
    if (file != stderr) fclose(file);
}

void report_check(int rule, int holds, const char *condition, const char *file, int line) {
    static volatile char passed[MAX_RULE];
    char text[512];
    if (holds && passed[rule]) return;
    if (holds) {
        passed[rule] = 1;
        snprintf(text, sizeof text, "pass %d", rule);
    } else {
        const char *name = strrchr(file, '/');
        snprintf(text, sizeof text, "FAIL %d %s:%d: %s", rule, name != NULL ? name + 1 : file, line, condition);
    }
    write_line(text);
}

void report_event(const char *event, int number) {
    char text[64];
    snprintf(text, sizeof text, "%s %d", event, number);
    write_line(text);
}

void attached_to(const passdock_host *host, const passdock_attach *attach) {
    passdock_str path = attach->path;
    if (host_count < MAX_HOSTS) hosts[host_count++] = host;
    CHECK(107, attach->struct_size >= sizeof *attach && attach->reserved == 0);
    CHECK(107, path.len == 0 || path.ptr[0] == '/' || (path.len > 2 && path.ptr[1] == ':'));
}

void entered_from(const passdock_host *host) {
    unsigned i, found = 0;
    for (i = 0; i < host_count; i++) found |= hosts[i] == host;
    CHECK(106, found);
}

int same_text(passdock_str text, const char *expected) {
    return text.len == strlen(expected) && (text.len == 0 || memcmp(text.ptr, expected, text.len) == 0);
}

passdock_symbol_id symbol(const suite *s, const char *text) {
    return s->host->symbols->intern(s->module->view->symbols, passdock_text(text));
}

passdock_function_ref scratch(const suite *s, const char *name) {
    const passdock_function_api *api = s->host->functions;
    passdock_function_desc desc = PASSDOCK_FUNCTION_DESC_INIT;
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc results = PASSDOCK_RESULTS_DESC_INIT;
    passdock_function_ref f = {NULL, NULL};
    passdock_value_id x, y, u;
    passdock_op_id op;
    desc.name = passdock_text(name);
    desc.opsets_of = symbol(s, "main");
    if (s->host->modules->create_function(s->module->handle, &desc, &f) != PASSDOCK_OK) {
        /* The suite can't continue without functions. */
        CHECK(604, !"create_function");
        abort();
    }
    port.type_id = matrix_type(s, f, 2, 3);
    port.name = passdock_text("x");
    api->add_arg(f.handle, f.view->body, &port, &x);
    port.name = passdock_text("y");
    api->add_arg(f.handle, f.view->body, &port, &y);
    op = body_op(s, f, "host_suite.Unary", &x, 1);
    u = passdock_result(f.view, op, 0);
    port.name = passdock_text("u");
    results.values = &u;
    results.ports = &port;
    results.count = 1;
    api->set_results(f.handle, f.view->body, &results);
    return f;
}

void remove_scratch(const suite *s, passdock_function_ref f) {
    s->host->modules->remove_function(s->module->handle, f.view->name);
}

passdock_type_id matrix_type(const suite *s, passdock_function_ref f, int64_t rows, int64_t columns) {
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_dim dims[2] = {{PASSDOCK_DIM_CONST, PASSDOCK_NONE, rows}, {PASSDOCK_DIM_CONST, PASSDOCK_NONE, columns}};
    passdock_type_id type = PASSDOCK_NONE;
    desc.kind = PASSDOCK_TYPE_TENSOR;
    desc.dtype = PASSDOCK_DTYPE_F32;
    desc.dims = dims;
    desc.dim_count = 2;
    s->host->functions->add_type(f.handle, &desc, &type);
    return type;
}

static const passdock_region *body_of(passdock_function_ref f) {
    return passdock_get_region(f.view, f.view->body);
}

passdock_value_id param(passdock_function_ref f, uint32_t index) {
    return passdock_id_at(f.view, body_of(f)->args, index);
}

passdock_op_id first_op(passdock_function_ref f) { return body_of(f)->first; }

passdock_op_id last_op(passdock_function_ref f) { return body_of(f)->last; }

passdock_op_id body_op(const suite *s, passdock_function_ref f, const char *name, const passdock_value_id *operands,
                       size_t count) {
    passdock_op_desc desc = PASSDOCK_OP_DESC_INIT;
    passdock_position at = {f.view->body, PASSDOCK_NONE};
    passdock_type_id type = matrix_type(s, f, 2, 3);
    passdock_op_id op = PASSDOCK_NONE;
    desc.name = symbol(s, name);
    desc.operands = operands;
    desc.operand_count = count;
    desc.result_types = &type;
    desc.result_count = 1;
    s->host->functions->create_op(f.handle, &desc, &at, &op);
    return op;
}

passdock_op_id op_named(const suite *s, passdock_function_ref f, const char *name) {
    passdock_symbol_id id = symbol(s, name);
    passdock_op_id op;
    for (op = 0; op < f.view->ops.len; op++) {
        const passdock_op *record = passdock_get_op(f.view, op);
        if (record != NULL && record->name == id) return op;
    }
    return PASSDOCK_NONE;
}

const passdock_op *op_of(passdock_function_ref f, passdock_op_id op) { return passdock_get_op(f.view, op); }

const passdock_value *value_of(passdock_function_ref f, passdock_value_id value) {
    return passdock_get_value(f.view, value);
}

typedef struct task {
    void (*run)(void *);
    void *state;
} task;

static void *run_task(void *argument) {
    task *t = (task *)argument;
    t->run(t->state);
    return NULL;
}

void on_thread(void (*run)(void *), void *state) {
    pthread_t thread;
    task t;
    t.run = run;
    t.state = state;
    if (pthread_create(&thread, NULL, run_task, &t) == 0) pthread_join(thread, NULL);
}
