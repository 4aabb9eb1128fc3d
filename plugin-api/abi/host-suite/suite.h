/* The declarations that the parts of the suite share. rules.h lists the rules, main.c is the program that reports them. */
#ifndef SUITE_H
#define SUITE_H

#include "passdock.h"

/* The module pass that runs: what its functions got, and the function `@main` of module.ir. */
typedef struct suite {
    const passdock_host *host;
    passdock_context *context;
    const passdock_module_ref *module;
    passdock_function_ref main;
} suite;

/* Reports whether a rule holds. A rule may have several checks: all of them have to hold. */
#define CHECK(rule, condition) report_check((rule), (condition) ? 1 : 0, #condition, __FILE__, __LINE__)
void report_check(int rule, int holds, const char *condition, const char *file, int line);
/* Reports something that happened, for rules about the whole run: "put", "drop", "create", "destroy" with a number. */
void report_event(const char *event, int number);
/* Whether the pass `All` runs. Otherwise the definitions and the passes that fail do nothing. */
extern int suite_is_running;
/* Each function of the plugin calls this first: the host has to be the one that loaded the plugin. */
void entered_from(const passdock_host *host);
void attached_to(const passdock_host *host, const passdock_attach *attach);

/* The parts. */
void check_host(const passdock_host *host);
void check_symbols(const passdock_host *host, const passdock_symbols *symbols);
void check_view(const suite *s, const passdock_function_view *view);
void check_main(const suite *s);
void check_statuses(const suite *s);
void check_descriptions(const suite *s);
void check_ops(const suite *s);
void check_values(const suite *s);
void check_copies(const suite *s);
void check_attributes(const suite *s);
void check_types(const suite *s);
void check_constants(const suite *s);
void check_module(const suite *s);
void check_runs(const suite *s);
void check_context(const passdock_host *host, passdock_context *context);
void check_analyses(const suite *s);
void check_queries(const suite *s);
void check_texts(const suite *s);
enum { SUITE_OPS = 7 };
extern const passdock_op_entry suite_ops[SUITE_OPS];
extern const passdock_instrument_entry suite_instrument;
/* Whether an instance of the instrument observes passes. */
int is_observed(void);

/* With `-DDEFECTS`, a host with the defect that the environment variable DEFECT names; else the host itself. */
const passdock_host *host_to_check(const passdock_host *host);

/* Helpers. `body` functions work on the body, before its terminator if it has one. */
int same_text(passdock_str text, const char *expected);
passdock_symbol_id symbol(const suite *s, const char *text);
/* Creates a function of module.ir's domain: `fn @NAME(%x: f32[2,3], %y: f32[2,3]) { %u = Unary(%x) return %u }`. */
passdock_function_ref scratch(const suite *s, const char *name);
void remove_scratch(const suite *s, passdock_function_ref f);
passdock_type_id matrix_type(const suite *s, passdock_function_ref f, int64_t rows, int64_t columns);
passdock_value_id param(passdock_function_ref f, uint32_t index);
passdock_op_id first_op(passdock_function_ref f);
passdock_op_id last_op(passdock_function_ref f);
passdock_op_id body_op(const suite *s, passdock_function_ref f, const char *name, const passdock_value_id *operands,
                       size_t count);
/* Finds the op of a name in a function. */
passdock_op_id op_named(const suite *s, passdock_function_ref f, const char *name);
const passdock_op *op_of(passdock_function_ref f, passdock_op_id op);
const passdock_value *value_of(passdock_function_ref f, passdock_value_id value);

/* Calls `run` on another thread, and waits for it. */
void on_thread(void (*run)(void *), void *state);

#endif
