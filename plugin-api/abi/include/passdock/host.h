/* The functions that a plugin may call. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_HOST_H
#define PASSDOCK_HOST_H

#include "view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct passdock_host passdock_host;

/* Strings of a module. Any thread. */
typedef struct passdock_symbol_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* The text of a symbol: it lives, and stays where it is, as long as the module. Empty for a
     * symbol that isn't. */
    passdock_str (*text)(const passdock_symbols *, passdock_symbol_id);
    /* The symbol of a text, made if it is new; NONE if the text isn't UTF-8 or too long. */
    passdock_symbol_id (*intern)(const passdock_symbols *, passdock_str);
    /* The symbol of a text; NONE if nothing in the module is called so. */
    passdock_symbol_id (*find)(const passdock_symbols *, passdock_str);
} passdock_symbol_api;

/* One function. Each edit is done whole, or refused and changes nothing. */
typedef struct passdock_function_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* The sentence of the last call on this handle that didn't answer OK; lives until the next. */
    passdock_str (*last_error)(const passdock_function *);
    /* A constant's bytes: all elements, of a splat too. They live until the next edit. They aren't
     * aligned, also not those of a string's offsets: copy elements out (`memcpy`). IO if the file that
     * holds them can't be read. */
    passdock_status (*constant_data)(const passdock_function *, passdock_const_id,
                                     passdock_bytes *out);
    passdock_status (*create_op)(passdock_function *, const passdock_op_desc *,
                                 const passdock_position *, passdock_op_id *out);
    /* Makes an op before `old`, moves all uses of the old results to the new ones, erases `old`. */
    passdock_status (*replace_op)(passdock_function *, passdock_op_id old, const passdock_op_desc *,
                                  passdock_op_id *out);
    /* Moves all uses of the old results to these values, one per result, and erases `old`. A value
       without a name gets that of the result it replaces. */
    passdock_status (*replace_op_with)(passdock_function *, passdock_op_id old,
                                       const passdock_value_id *values, size_t count);
    /* Erases an op whose results nobody uses, with its regions. */
    passdock_status (*erase_op)(passdock_function *, passdock_op_id);
    /* Moves an op inside its region, which it can't leave; not before what it uses, nor behind its
     * users. Into another region or function it is copied (`clone_ops`). */
    passdock_status (*move_op)(passdock_function *, passdock_op_id, const passdock_position *);
    /* Sets an operand slot, or the next one (index = number of slots); NONE leaves it out. */
    passdock_status (*set_operand)(passdock_function *, passdock_op_id, uint32_t index,
                                   passdock_value_id);
    passdock_status (*replace_uses)(passdock_function *, passdock_value_id from,
                                    passdock_value_id to);
    /* Sets an attribute of an op; op NONE: of the function. A `return` or `yield` has none. */
    passdock_status (*set_attr)(passdock_function *, passdock_op_id, const passdock_attr_desc *);
    /* Removes an attribute of an op; op NONE: of the function. NOT_FOUND if there is none of that name. */
    passdock_status (*remove_attr)(passdock_function *, passdock_op_id, passdock_symbol_id name);
    /* Refines a value's type: what the type doesn't say stays known, one that contradicts is refused. The
     * unknown type forgets what was known; a constant's is then that of its bytes. */
    passdock_status (*set_value_type)(passdock_function *, passdock_value_id, passdock_type_id);
    /* Names a value; a name that is taken gets a number. */
    passdock_status (*set_value_name)(passdock_function *, passdock_value_id, passdock_str);
    passdock_status (*add_type)(passdock_function *, const passdock_type_desc *,
                                passdock_type_id *out);
    /* A dim expression, brought into canonical form. */
    passdock_status (*add_expr)(passdock_function *, passdock_expr_kind, passdock_dim lhs,
                                passdock_dim rhs, passdock_dim *out);
    passdock_status (*add_constant)(passdock_function *, const passdock_constant_desc *,
                                    passdock_value_id *out);
    /* Removes a constant that nobody uses. */
    passdock_status (*erase_constant)(passdock_function *, passdock_const_id);
    passdock_status (*clone_region)(passdock_function *, const passdock_clone_desc *);
    /* Appends an argument to a region; to the body: a parameter, which changes the interface. */
    passdock_status (*add_arg)(passdock_function *, passdock_region_id, const passdock_port_desc *,
                               passdock_value_id *out);
    /* Ends a region: makes its `return` or `yield` if it has none, and sets its operands and ports. A
     * name or type that a port doesn't say stays what it was: of the port in its place if there are as
     * many as before, else of the port that had the value. Of a body that had results, this changes the
     * interface. */
    passdock_status (*set_results)(passdock_function *, passdock_region_id,
                                   const passdock_results_desc *);
    /* Says which version of a domain the function's ops mean; ONNX's own domain is "". Raising one that is
     * there changes the interface, and is for who sees to it that the function's ops mean what they meant.
     * Version 0 takes a domain back that none of the ops is of. Refused for another version below the one that is
     * there, for a domain to be taken back that an op is of, and for the 1,025th domain. "ai.onnx" is taken for "";
     * "onnx", and a negative version, is INVALID. */
    passdock_status (*set_opset)(passdock_function *, passdock_str domain, int64_t version);
    /* The location of what came from several places: each of them, once, in this order. NONE among
     * them says nothing; of one place it is that one's own location. */
    passdock_status (*fuse_locs)(passdock_function *, const passdock_loc_id *locs, size_t count,
                                 passdock_loc_id *out);
    /* Moves a region's ops and constants right before the op that holds it; `args` stand for the
     * region's arguments from now on. Nothing is copied: the region is left with its terminator,
     * whose operands can be used in the op's place, and the op is there until it is replaced. A name
     * that others have, too, gets a number. */
    passdock_status (*inline_region)(passdock_function *, passdock_region_id,
                                     const passdock_value_id *args, size_t count);
    /* Sets an op's location. */
    passdock_status (*set_loc)(passdock_function *, passdock_op_id, passdock_loc_id);
    /* A hash of a constant's bytes: equal bytes have equal ones. Of a large constant only a part is
     * read; a splat isn't spread. It is the same in each run on a machine, and not beyond. IO if the
     * file that holds the bytes can't be read. */
    passdock_status (*constant_hash)(const passdock_function *, passdock_const_id, uint64_t *out);
    /* Whether two constants have the same bytes: 1, or 0. Types aren't compared, lengths are before
     * anything is read. IO if a file that holds them can't be read. */
    passdock_status (*constants_equal)(const passdock_function *, passdock_const_id,
                                       passdock_const_id, uint32_t *out);
    /* The location that is a node's name. */
    passdock_status (*name_loc)(passdock_function *, passdock_str name, passdock_loc_id *out);
    /* Puts dims in the place of dim symbols, of all at once, in all types of the function; of its
     * parameters and results, this changes the interface. Refused if a size would be negative, or a
     * type would contradict what is known. */
    passdock_status (*replace_symbols)(passdock_function *, const passdock_symbol_id *symbols,
                                       const passdock_dim *dims, size_t count);
    /* Removes arguments that nobody uses, all or none; those behind them move up. Of the body:
     * parameters, which changes the interface. */
    passdock_status (*remove_args)(passdock_function *, const passdock_value_id *args, size_t count);
    /* Makes parameters that have a default the constants that they default to, all or none. The
     * values stay, with their names and uses; the interface changes. */
    passdock_status (*freeze_args)(passdock_function *, const passdock_value_id *args, size_t count);
    /* Copies ops to a place, with their types, attributes, locations and regions. Constants that they
     * use come along, unless `captures` names others for them; another value that they use and
     * don't make has to be among `captures`, or, of the edited function, visible at the place.
     * REFUSED if one has nothing that stands for it, or the ops aren't of one region. What refers to
     * an attribute parameter of its function refers to the one of that name here. */
    passdock_status (*clone_ops)(passdock_function *, const passdock_clone_ops_desc *);
    /* The type of another function of the module (a snapshot, or one that is edited) as a type of
     * this one, symbols of dims by their names. */
    passdock_status (*type_from)(passdock_function *, const passdock_function *source,
                                 passdock_type_id, passdock_type_id *out);
    /* Whether an op of this name may be a call: 1 if a function of the module, as it is now, has this
     * name, else 0. An operator that has the name, too, is PASSDOCK_TRAIT_AMBIGUOUS. Any name: a symbol
     * of the module. */
    uint32_t (*names_function)(const passdock_function *, passdock_symbol_id name);
    /* Replaces the body with a copy of that of another function of the module (a snapshot, or one that is
     * edited). Parameters are matched by position, and sizes that `source` names after its parameters
     * become those of this function's. Domains that only `source` imports are imported. REFUSED, and
     * nothing is changed, if the functions haven't as many parameters and results, of types that fit, or
     * an op would mean something else in this function's opset; `clone_region` and `clone_ops` refuse
     * such an op, too. */
    passdock_status (*replace_body)(passdock_function *, const passdock_function *source);
} passdock_function_api;

/* A module. In a function pass it is the pass's input, and edits are refused.
 *
 * A function is called by an op of its name, "acme.Block": operand i is its parameter i, result i what
 * its body gives out at i, an attribute is the value of the attribute parameter of that name. That is
 * ONNX's call, whether `create_function`, `outline` or the model made the function. One whose name has no
 * domain ("block"), and a loop-level function, is called by an op `call` whose attribute `callee` is the
 * name; ONNX files can't say that. Types of the callee are types of the caller by `type_from`. */
typedef struct passdock_module_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* The sentence of the last call on this handle that didn't answer OK; lives until the next. */
    passdock_str (*last_error)(const passdock_module *);
    /* A read-only handle of a function as it is now. It is the plugin's until `release`, or until
     * the module's handle ends. */
    passdock_status (*snapshot)(const passdock_module *, passdock_symbol_id name,
                                passdock_function_ref *out);
    void (*release)(const passdock_module *, passdock_function_ref);
    /* A handle to edit a function in place: the same one each time. It lives until the function is
     * removed, or the next call of `run_pass` on this module. */
    passdock_status (*edit)(passdock_module *, passdock_symbol_id name, passdock_function_ref *out);
    /* Makes a function with an empty body, and hands it out as `edit` does. */
    passdock_status (*create_function)(passdock_module *, const passdock_function_desc *,
                                       passdock_function_ref *out);
    passdock_status (*remove_function)(passdock_module *, passdock_symbol_id name);
    /* Runs a registered pass or Sequential on the module, instruments included: whatever its level, also
     * if it is disabled, after what it requires, unless that ran and the module is unchanged since. A
     * pass may run itself, as long as that comes to an end: 64 passes run each other at most. Only a
     * module pass runs others. NOT_FOUND if none is called so; FAILED if it, or what it requires, failed. */
    passdock_status (*run_pass)(passdock_module *, passdock_context *, const passdock_run_desc *);
    /* Makes a graph function of ops, at the end of the module, and puts a call of it in their place,
     * which is behind what they use: ops between them that use what they make go behind the call. The
     * function has the opsets of theirs. Its parameters are the values that they use and don't
     * make, in the order in which they use them; constants that nobody else uses move into it. Its
     * results are those of the ops that others use. REFUSED if the ops aren't of one region, one ends
     * it, a value leaves them and comes back through others, nobody uses what they make, or one refers
     * to an attribute parameter. Answers the function's name and the call. A handle that `edit` gave
     * out lives on. */
    passdock_status (*outline)(passdock_module *, const passdock_outline_desc *,
                               passdock_symbol_id *function, passdock_op_id *call);
} passdock_module_api;

/* The smaller, the graver. One that the host doesn't know counts as the next milder one that it knows, and
 * the user is told. */
typedef uint32_t passdock_severity;
#define PASSDOCK_SEVERITY_BUG 10u
#define PASSDOCK_SEVERITY_ERROR 20u /* the pass counts as failed */
#define PASSDOCK_SEVERITY_WARNING 30u
#define PASSDOCK_SEVERITY_NOTE 40u
#define PASSDOCK_SEVERITY_HELP 50u

/* The part of an op that is meant. */
typedef uint32_t passdock_op_part;
#define PASSDOCK_PART_OP 0u      /* the whole op */
#define PASSDOCK_PART_NAME 1u    /* the op's name */
#define PASSDOCK_PART_OPERAND 2u /* the operand `index` */
#define PASSDOCK_PART_RESULT 3u  /* the result `index` */
#define PASSDOCK_PART_ATTR 4u    /* the attribute `attr` */

/* A place in the IR, which the user sees underlined. Of a part that isn't in the op's text, the
 * whole op is. */
typedef struct passdock_label {
    uint32_t struct_size;
    passdock_op_id op;
    passdock_op_part part;
    uint32_t index;
    passdock_symbol_id function; /* that the op is in; 0: that of the diagnostic */
    uint32_t flags;
    passdock_str attr;
    passdock_str text; /* a few words that stand under the place, or empty */
} passdock_label;

/* Something that the user is told. */
typedef struct passdock_diagnostic {
    uint32_t struct_size;
    passdock_severity severity;
    passdock_op_id op; /* the op that it is about, or NONE; not read if there are labels */
    uint32_t flags;
    passdock_str code;    /* short and stable ("acme::bad-axis"), or empty */
    passdock_str message; /* a sentence */
    passdock_str help;    /* advice what to do, or empty */
    passdock_symbol_id function; /* that the op is in; 0: the one that the pass works on */
    uint32_t label_stride;       /* sizeof(passdock_label), if there are labels */
    const passdock_label *labels; /* the first is what it is about */
    size_t label_count;
    const passdock_str *notes; /* more sentences */
    size_t note_count;
} passdock_diagnostic;

/* The reason why a pass failed or panicked. */
typedef struct passdock_failure {
    uint32_t struct_size;
    passdock_op_id op; /* the op that it failed on, or NONE */
    passdock_str message;
    passdock_str file; /* of a panic: the source file; else empty */
    uint32_t line;     /* from 1; 0: unknown */
    uint32_t column;
    passdock_symbol_id function; /* that the op is in; 0: the one that the pass works on */
    uint32_t flags;
} passdock_failure;

/* A diagnostic and its parts to start from, as the descriptions of view.h. */
#define PASSDOCK_LABEL_INIT                                                                        \
    {sizeof(passdock_label), PASSDOCK_NONE, PASSDOCK_PART_OP, 0, 0, 0, {NULL, 0}, {NULL, 0}}
#define PASSDOCK_DIAGNOSTIC_INIT                                                                   \
    {sizeof(passdock_diagnostic), PASSDOCK_SEVERITY_ERROR, PASSDOCK_NONE, 0, {NULL, 0}, {NULL,     \
     0}, {NULL, 0}, 0, sizeof(passdock_label), NULL, 0, NULL, 0}
#define PASSDOCK_FAILURE_INIT                                                                      \
    {sizeof(passdock_failure), PASSDOCK_NONE, {NULL, 0}, {NULL, 0}, 0, 0, 0, 0}

typedef uint32_t passdock_setting_kind;
#define PASSDOCK_SETTING_NONE 0u
#define PASSDOCK_SETTING_BOOL 1u /* `int_value` is 0 or 1 */
#define PASSDOCK_SETTING_INT 2u
#define PASSDOCK_SETTING_FLOAT 3u
#define PASSDOCK_SETTING_STRING 4u
#define PASSDOCK_SETTING_LIST 5u  /* `items`, without names */
#define PASSDOCK_SETTING_TABLE 6u /* `items`, with names: entries that the user named */

typedef struct passdock_setting_item passdock_setting_item;

/* The value of an option or config field. The reader sets `struct_size` before the call; the host
 * fills as much as both know, and says in `struct_size` how much that is. */
typedef struct passdock_setting {
    uint32_t struct_size;
    passdock_setting_kind kind;
    int64_t int_value;
    double float_value;
    passdock_str string_value; /* lives as long as the context, as `items` do */
    const passdock_setting_item *items;
    uint32_t item_count;
    uint32_t item_stride;
} passdock_setting;

/* An element of a list or a table of settings. */
struct passdock_setting_item {
    passdock_str name; /* empty in a list */
    passdock_setting value;
};

typedef uint32_t passdock_pass_kind;
#define PASSDOCK_PASS_FUNCTION 1u      /* runs on each graph function */
#define PASSDOCK_PASS_PRIM_FUNCTION 2u /* runs on each prim function */
#define PASSDOCK_PASS_MODULE 3u        /* runs on the module */

/* The running pass. */
typedef struct passdock_context_api {
    uint32_t struct_size;
    uint32_t reserved;
    uint32_t (*opt_level)(const passdock_context *);
    /* An option of the running pass: its default, overridden by config, overridden by the
     * pipeline. NOT_FOUND if the manifest declares none of that name. */
    passdock_status (*option)(const passdock_context *, passdock_str name, passdock_setting *out);
    /* A registered config value: a key, and the field of a struct (or empty). What nobody set has its
     * default; NOT_FOUND if no such key or field is registered. */
    passdock_status (*config)(const passdock_context *, passdock_str key, passdock_str field,
                              passdock_setting *out);
    /* Tells the user something, when the pass has returned; the host copies it. After a BUG or an
     * ERROR the pass counts as failed, whatever it answers. A pass that can't go on after one
     * answers FAILED and needn't call `fail`. */
    passdock_status (*emit)(passdock_context *, const passdock_diagnostic *);
    /* Says why the pass is about to answer FAILED or PANICKED; the last call counts. */
    void (*fail)(passdock_context *, const passdock_failure *);
    /* The context on top of this thread's stack; null outside a pass. It lives until the pass that
     * is asking returns. */
    passdock_context *(*current)(const passdock_host *);
    /* Whether a pass or Sequential of that name is registered (OK or NOT_FOUND), and of which kind: a Sequential
     * is of the kind MODULE. */
    passdock_status (*find_pass)(const passdock_context *, passdock_str name,
                                 passdock_pass_kind *out);
    /* The sentence of the last call on this handle that didn't answer OK; lives until the next. */
    passdock_str (*last_error)(const passdock_context *);
    /* Asked before each rewrite that a rule of this name is about to do: REFUSED if the user disabled
     * the rule, or is looking for the rewrite that breaks a model and wants no more of them. */
    passdock_status (*may_rewrite)(const passdock_context *, passdock_str rule);
    /* Counts a rewrite by a rule, which the report shows by name. */
    void (*rewrote)(passdock_context *, passdock_str rule);
    /* Rewrites a function by rules until none applies. The function's `last_error` says what is wrong with
     * them, or went wrong, and the status is that of what went wrong. What was rewritten before stays. */
    passdock_status (*rewrite)(passdock_context *, passdock_function *, const passdock_rewrite_desc *);
} passdock_context_api;

struct passdock_attr_entry;

/* Asking op definitions, in a pass. `last_error` of passdock_function_api has an error's sentence. */
typedef struct passdock_op_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* PASSDOCK_TRAIT_* of an op by its name in this function; 0 if nobody defines it. */
    uint64_t (*traits)(const passdock_function *, passdock_symbol_id name);
    /* Infers the types of an op's results and refines them. OK also if nothing is known. REFUSED if the
     * definition calls the op wrong, or says what contradicts what is known; types that were found
     * beside that stay. */
    passdock_status (*infer)(passdock_context *, passdock_function *, passdock_op_id);
    /* Evaluates an op whose operands are all constant and makes a constant of each of its results;
     * `count` = number of results. NOT_FOUND if it can't be evaluated, or a result would be larger
     * than `max_bytes`. The function's `last_error` says why. */
    passdock_status (*evaluate)(passdock_context *, passdock_function *, passdock_op_id,
                                const passdock_evaluate_desc *, passdock_value_id *out, size_t count);
    /* Copies the body that the definition of an op gives it to the place before the op,
     * and answers what stands for each of the op's results; `count` = number of results. The op
     * stays, to be replaced with these. NOT_FOUND if it has no body; the function's `last_error`
     * says why. */
    passdock_status (*decompose)(passdock_context *, passdock_function *, passdock_op_id,
                                 passdock_value_id *out, size_t count);

    /* As `evaluate`, with these in place of the op's operands, of which there are as many; the op
     * stays as it is. The constants are scratch (PASSDOCK_VALUE_SCRATCH): making and erasing them is
     * no edit, they may be operands of further calls, and as soon as an op uses one it is a constant
     * like others. The caller erases those that no op will use. If the results are small integers,
     * `infer` knows them from now on. NOT_FOUND if there is no answer: `last_error` of the function is the
     * reason alone, without a subject and a full stop. */
    passdock_status (*evaluate_with)(passdock_context *, passdock_function *, passdock_op_id,
                                     const passdock_value_id *operands, size_t operand_count,
                                     const passdock_evaluate_desc *, passdock_value_id *out,
                                     size_t count);

    /* What `infer` found of the elements of a result, a small tensor of integers, row by
     * row, while this pass had the function. They live until the next call on the function.
     * NOT_FOUND if nothing is known. */
    passdock_status (*known_dims)(const passdock_function *, passdock_value_id,
                                  const passdock_dim **out, size_t *count);

    /* REFUSED if an op hasn't as many operands as its definition says, or not the attributes
     * that it lists; the function's `last_error` says in what. OK also if nothing is known. */
    passdock_status (*check_op)(passdock_context *, const passdock_function *, passdock_op_id);

    /* REFUSED if an op couldn't be right with these in place of its operands, of which there
     * are as many: its definition's `infer` is asked, and nothing that it says is kept. `last_error`
     * of the function is the reason alone, without a subject and a full stop. OK also if nothing is known. */
    passdock_status (*infer_with)(passdock_context *, passdock_function *, passdock_op_id,
                                  const passdock_value_id *operands, size_t operand_count);

    /* The attributes that the definition of an op lists, with their defaults: `count` entries, `stride`
     * bytes apart, which live for ever. NOT_FOUND if nothing is known. */
    passdock_status (*attributes)(passdock_context *, const passdock_function *, passdock_op_id,
                                  const struct passdock_attr_entry **out, uint32_t *count,
                                  uint32_t *stride);

    /* As `decompose`, with the body that the op's definition gives it for back ends. */
    passdock_status (*legalize)(passdock_context *, passdock_function *, passdock_op_id,
                                passdock_value_id *out, size_t count);

    /* What the definition of an op makes of it in other layouts. `wanted` has one for each of its
     * operands, as passdock_laid_out says; empty: as it is. What `out` says lives until the next call of
     * `layout` or `alter_layout` on the function. NOT_FOUND if the op stays as it is: `last_error` of the function
     * is the reason alone. */
    passdock_status (*layout)(passdock_context *, passdock_function *, passdock_op_id,
                              const passdock_str *wanted, size_t count, passdock_laid_out *out);
    /* As `layout`, in the layouts that the op's definition wants; `given` has those that its operands
     * can be had in without an op more. */
    passdock_status (*alter_layout)(passdock_context *, passdock_function *, passdock_op_id,
                                    const passdock_str *given, size_t count, passdock_laid_out *out);
    /* Copies ops as text to the place before an op. */
    passdock_status (*insert_text)(passdock_context *, passdock_function *, const passdock_text_desc *);
    /* Whether a target takes an op, as the definitions of its operator say that speak for the target.
     * REFUSED if it doesn't: `last_error` of the function is the reason alone. NOT_FOUND if no definition
     * speaks for the target. Another status: a definition failed. */
    passdock_status (*supports)(passdock_context *, const passdock_function *, passdock_op_id,
                                passdock_str target);
} passdock_op_api;

/* Answering in an op definition: the handle is the one that `infer` or another function of a
 * passdock_op_entry got, until it returns. Beside these, a definition may call what only reads:
 * passdock_symbol_api, and of passdock_function_api what takes a const function. These calls may add
 * to the columns of the function's view; what was read before stays readable until the definition
 * returns. `supports` only reads: to it, what would add a type or an expression is REFUSED. */
typedef struct passdock_definition_api {
    uint32_t struct_size;
    uint32_t reserved;
    /* The sentence of the last call on this handle that didn't answer OK; lives until the next. */
    passdock_str (*last_error)(const passdock_op_call *);
    /* INVALID, as of the others, if the op has no result of this index. */
    passdock_status (*set_result_type)(passdock_op_call *, uint32_t index,
                                       const passdock_type_desc *);
    /* The result, a small tensor of integers or booleans, holds these, row by row. More than 256 may be dropped. */
    passdock_status (*set_result_dims)(passdock_op_call *, uint32_t index, const passdock_dim *,
                                       size_t count);
    /* The elements of an operand, as far as known, as dims that live until the definition returns;
     * NOT_FOUND if nothing is. */
    passdock_status (*operand_dims)(passdock_op_call *, uint32_t index, const passdock_dim **out,
                                    size_t *count);
    passdock_status (*add_expr)(passdock_op_call *, passdock_expr_kind, passdock_dim lhs,
                                passdock_dim rhs, passdock_dim *out);
    passdock_status (*add_type)(passdock_op_call *, const passdock_type_desc *,
                                passdock_type_id *out);
    /* In `evaluate`: room for a result's elements, all zero, the host's, not aligned; to be filled
     * before returning. Once per result. NOT_FOUND if `len` is over the limit that the asker set. */
    passdock_status (*allocate_result)(passdock_op_call *, uint32_t index,
                                       const passdock_type_desc *, size_t len, uint8_t **out);
    /* Says why the definition is about to answer REFUSED: it has no answer (`evaluate`), or the op
     * is wrong (`infer`: the types that it has set before are kept). */
    void (*refuse)(passdock_op_call *, passdock_str reason);
    /* In `decompose`, `legalize`, `layout` and `alter_layout` of a passdock_op_entry: the op's body, copied by the host. It is the IR text of
     * one function, "fn @body(%0, %1) { %2 = onnx.Mul(%0, %1) return %2 }", written for this very op:
     * its parameter i is the op's operand slot i (that of an operand that is left out may not be
     * used), its first results are the op's, and it has the opsets of the op's function. */
    passdock_status (*set_body)(passdock_op_call *, passdock_str text);
    /* In `layout` and `alter_layout`: the layout (see passdock_laid_out) that an operand is asked for in, or has;
     * NOT_FOUND if it is as it is. It lives until the definition returns. */
    passdock_status (*wanted_layout)(passdock_op_call *, uint32_t index, passdock_str *out);
    /* In the same: the layouts in which the body takes an operand and gives a result. What isn't said, or empty, is
     * as it is. */
    passdock_status (*set_operand_layout)(passdock_op_call *, uint32_t index, passdock_str layout);
    passdock_status (*set_result_layout)(passdock_op_call *, uint32_t index, passdock_str layout);
    /* In `supports`: the target that is asked about. It lives until the definition returns. */
    passdock_status (*target)(passdock_op_call *, passdock_str *out);
} passdock_definition_api;

/* Everything the host offers. */
struct passdock_host {
    uint32_t struct_size;
    uint32_t reserved;
    passdock_version abi;
    passdock_version ir;
    const passdock_symbol_api *symbols;
    const passdock_function_api *functions;
    const passdock_module_api *modules;
    const passdock_context_api *context;
    const passdock_op_api *ops;
    const passdock_definition_api *definitions;
    /* An optional power by its id, for ever; null if the host doesn't have it. Any thread. */
    const void *(*get_extension)(const passdock_host *, passdock_str id);
};

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_HOST_H */
