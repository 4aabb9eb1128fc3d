/* Views of functions and modules, and descriptions of edits. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_VIEW_H
#define PASSDOCK_VIEW_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct passdock_str {
    const uint8_t *ptr; /* may be null if `len` is 0 */
    size_t len;
} passdock_str;

typedef struct passdock_bytes {
    const uint8_t *ptr; /* may be null if `len` is 0 */
    size_t len;
} passdock_bytes;

/* A dense array of records, numbers or ids. */
typedef struct passdock_column {
    const void *base; /* aligned for the record; may be null if `len` is 0 */
    uint32_t len;
    uint32_t reserved;
} passdock_column;

typedef uint32_t passdock_function_kind;
#define PASSDOCK_FUNCTION_GRAPH 1u /* `fn` */
#define PASSDOCK_FUNCTION_PRIM 2u  /* `prim`: loop level */

/* The host's own; a plugin only hands them back. */
typedef struct passdock_function passdock_function;
typedef struct passdock_module passdock_module;
typedef struct passdock_symbols passdock_symbols;
typedef struct passdock_context passdock_context;
typedef struct passdock_op_call passdock_op_call;

/* A function's arenas. */
typedef struct passdock_function_view {
    uint32_t struct_size;
    passdock_function_kind kind;
    passdock_symbol_id name; /* the function's canonical name */
    passdock_region_id body;
    uint64_t version;                /* grows with every edit */
    const passdock_symbols *symbols; /* lives as long as the module */
    passdock_column ops;             /* passdock_op */
    passdock_column values;          /* passdock_value */
    passdock_column uses;            /* passdock_use: operand slots */
    passdock_column regions;         /* passdock_region */
    passdock_column ports;           /* passdock_port */
    passdock_column attrs;           /* passdock_attr */
    passdock_column types;           /* passdock_type */
    passdock_column dims;            /* passdock_dim */
    passdock_column exprs;           /* passdock_dim_expr */
    passdock_column constants;       /* passdock_constant */
    passdock_column locs;            /* passdock_loc */
    passdock_column opsets;          /* passdock_opset */
    passdock_column ids;             /* uint32_t */
    passdock_column ints;            /* int64_t */
    passdock_column floats;          /* float */
    passdock_column strings;         /* passdock_range of `bytes` */
    passdock_column bytes;           /* uint8_t */
    passdock_range function_attrs;   /* the function's own, in `attrs` */
    uint32_t op_count;               /* live ops, terminators included */
    uint32_t reserved;
} passdock_function_view;

typedef struct passdock_function_entry {
    passdock_symbol_id name; /* PASSDOCK_NONE: it was removed during the pass; skip the entry */
    passdock_function_kind kind;
    uint32_t op_count;
    uint32_t reserved;
} passdock_function_entry;

/* A module's list of functions, in order. */
typedef struct passdock_module_view {
    uint32_t struct_size;
    uint32_t reserved;
    /* Grows when the list of functions changes; the function's own says the rest. Of the module that a function
     * pass may read it is of this call of the pass alone. */
    uint64_t version;
    const passdock_symbols *symbols;
    passdock_column functions; /* passdock_function_entry; `op_count` is as of then */
} passdock_module_view;

/* References that a plugin is handed. */
typedef struct passdock_function_ref {
    passdock_function *handle;
    const passdock_function_view *view;
} passdock_function_ref;

typedef struct passdock_module_ref {
    passdock_module *handle;
    const passdock_module_view *view;
} passdock_module_ref;

/* ---- Descriptions: what a plugin hands over to edit -------------------------------------------- */

typedef struct passdock_position {
    passdock_region_id region; /* ignored if `before` is set */
    passdock_op_id before;     /* the op behind; NONE: at the region's end, before its terminator if any */
} passdock_position;

/* A type to make; fields as in passdock_type. */
typedef struct passdock_type_desc {
    uint32_t struct_size;
    passdock_type_kind kind;
    passdock_dtype dtype;
    uint32_t lanes;
    uint32_t flags;
    passdock_symbol_id name;
    const passdock_dim *dims;
    size_t dim_count;
    const passdock_dim *layout; /* a buffer's strides and, last, its offset */
    size_t layout_count;
    const passdock_type_id *items; /* types it is made of */
    size_t item_count;
} passdock_type_desc;

/* An attribute to set. */
typedef struct passdock_attr_desc {
    uint32_t struct_size;
    passdock_attr_kind kind;
    passdock_symbol_id name;
    uint32_t flags;
    uint64_t bits;    /* INT; FLOAT (the float's bits, the rest 0); TENSOR, TYPE, REFERENCE (an id). The tensor
                         of an attribute is a constant that `add_constant` makes: what it answers is
                         a value, whose `constant` is the id. */
    const void *data; /* INTS: int64_t; FLOATS: float; STRING, OPAQUE: uint8_t;
                         STRINGS: passdock_bytes; TYPES, TENSORS: ids */
    size_t count;     /* elements of `data` */
    passdock_attr_kind stands_for; /* REFERENCE: the kind of value it stands for, or NONE, as else */
    uint32_t reserved;
} passdock_attr_desc;

/* A port to make: what a region gives out, or takes, at one position. */
typedef struct passdock_port_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_type_id type_id; /* or NONE */
    uint32_t reserved;
    passdock_str name; /* empty: none */
} passdock_port_desc;

/* The results to give a region. */
typedef struct passdock_results_desc {
    uint32_t struct_size;
    uint32_t flags;
    const passdock_value_id *values;
    const passdock_port_desc *ports; /* the port of each value */
    size_t count;                    /* of values, and of ports */
    uint32_t port_stride;            /* sizeof(passdock_port_desc) */
    uint32_t reserved;
} passdock_results_desc;

/* A region to make, empty. */
typedef struct passdock_region_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_symbol_id name;
    uint32_t arg_stride; /* sizeof(passdock_port_desc) */
    const passdock_port_desc *args;
    size_t arg_count;
} passdock_region_desc;

/* An op to make. */
typedef struct passdock_op_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_symbol_id name;
    passdock_loc_id loc; /* a location; NONE: for `replace_op`, that of the replaced op */
    const passdock_value_id *operands; /* NONE entries are left out */
    size_t operand_count;
    const passdock_type_id *result_types; /* NONE: for `replace_op`, that of the replaced result,
                                             else unknown */
    size_t result_count;
    const passdock_attr_desc *attrs;
    size_t attr_count;
    const passdock_region_desc *regions;
    size_t region_count;
    uint32_t attr_stride;   /* sizeof(passdock_attr_desc), if there are attributes */
    uint32_t region_stride; /* sizeof(passdock_region_desc), if there are regions */
} passdock_op_desc;
/* For `replace_op`: the new op takes the old one's regions, or its attributes (before `attrs`). */
#define PASSDOCK_OP_DESC_TAKE_REGIONS 1u
#define PASSDOCK_OP_DESC_TAKE_ATTRS 2u

/* A constant to make. */
typedef struct passdock_constant_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_type_id type_id;  /* a tensor type whose dims are all constant */
    passdock_region_id region; /* the region it is visible in; NONE: the whole function */
    passdock_str name;         /* empty: none; one that is taken gets a number */
    passdock_bytes data;       /* elements, little-endian, packed as ONNX packs them; strings: n + 1
                                  uint64_t offsets, then the bytes they bound; of any alignment */
} passdock_constant_desc;
#define PASSDOCK_CONSTANT_DESC_SPLAT 1u /* `data` is one element */

/* A region to copy, without its terminator, to a place in a function. */
typedef struct passdock_clone_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_region_id region;
    uint32_t reserved;
    passdock_function_ref source; /* the function that holds it; null handle: the edited one */
    passdock_position at;
    const passdock_value_id *args; /* the values that stand for its arguments */
    size_t arg_count;              /* as many as it has */
    const passdock_value_id (*captures)[2]; /* pairs (value seen from inside, value here); from the
                                               same function, others stand for themselves */
    size_t capture_count;
    passdock_value_id *results; /* receives what stands for each operand of its terminator */
    size_t result_count;        /* as many as the terminator has operands */
} passdock_clone_desc;

/* Ops to copy, with what is nested in them, to a place in a function. */
typedef struct passdock_clone_ops_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_function_ref source; /* the function that holds them; null handle: the edited one */
    const passdock_op_id *ops;    /* of one region, in any order; the copies have the program's */
    size_t op_count;
    passdock_position at;
    const passdock_value_id (*captures)[2]; /* pairs (value that the ops use and don't make, value here) */
    size_t capture_count;
    passdock_value_id *results; /* receives what stands for the results of the first op of the list,
                                   then for those of the next, and so on */
    size_t result_count;        /* as many as the ops have results */
} passdock_clone_ops_desc;

/* Ops as text, to copy to the place before an op. */
typedef struct passdock_text_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_op_id op; /* the op that they come from: they stand before it, and have its location */
    uint32_t reserved;
    passdock_str text; /* the IR text of one function, as for `set_body` of passdock_definition_api */
    const passdock_value_id *args; /* the values that stand for its parameters; NONE for one that nothing uses */
    size_t arg_count;              /* as many as it has */
    passdock_value_id *results;    /* receives what stands for each value that it returns */
    size_t result_count;           /* as many as it returns */
} passdock_text_desc;

/* An op in other layouts, as its definition says. The reader sets `struct_size` before the call, as of a
 * passdock_setting.
 *
 * A layout is "NCHW->NHWC": a capital for each axis in the order in which the op has them, then in the order in
 * which they lie; "NCHW->NCHW4c": the axis C in blocks of 4, whose number stays in C's place. */
typedef struct passdock_laid_out {
    uint32_t struct_size;
    uint32_t reserved;
    const passdock_str *operands; /* the layout of each operand; empty: as it is */
    size_t operand_count;
    const passdock_str *results; /* the layout of each result; empty: as it is */
    size_t result_count;
    passdock_str body; /* the op in these layouts, for `insert_text` of passdock_op_api */
} passdock_laid_out;

/* Ops to make a function of. */
typedef struct passdock_outline_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_symbol_id function; /* the function that holds them */
    uint32_t reserved;
    const passdock_op_id *ops;   /* of one region, in any order */
    size_t op_count;
    passdock_str name; /* of the new function, canonical, with a domain: "acme.Block"; one that is taken gets
                          a number */
} passdock_outline_desc;

/* A function to make, with an empty body. */
typedef struct passdock_function_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_function_kind kind;
    passdock_symbol_id opsets_of; /* a function whose opset versions it has; NONE: it has none */
    passdock_str name;            /* canonical */
} passdock_function_desc;

/* A pass to run. */
typedef struct passdock_run_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_str name; /* of a registered pass or Sequential */
} passdock_run_desc;

/* An evaluation. */
typedef struct passdock_evaluate_desc {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t max_bytes; /* the most bytes that a result may have */
} passdock_evaluate_desc;

/* Rules to rewrite by. */
typedef struct passdock_rewrite_desc {
    uint32_t struct_size;
    uint32_t flags;
    passdock_str rules; /* the text of a `.rules` file, which is read once */
} passdock_rewrite_desc;

/* Each description to start from, with its size and strides, and NONE in each id that isn't said:
 * `passdock_op_desc op = PASSDOCK_OP_DESC_INIT;`. One that is cleared instead has ids of 0, which
 * are the first op, value, type, ... */
#define PASSDOCK_TYPE_DESC_INIT                                                                    \
    {sizeof(passdock_type_desc), PASSDOCK_TYPE_UNKNOWN, 0, 0, 0, PASSDOCK_NONE, NULL, 0, NULL,     \
     0, NULL, 0}
#define PASSDOCK_ATTR_DESC_INIT                                                                    \
    {sizeof(passdock_attr_desc), PASSDOCK_ATTR_NONE, PASSDOCK_NONE, 0, 0, NULL, 0,                 \
     PASSDOCK_ATTR_NONE, 0}
#define PASSDOCK_PORT_DESC_INIT {sizeof(passdock_port_desc), 0, PASSDOCK_NONE, 0, {NULL, 0}}
#define PASSDOCK_RESULTS_DESC_INIT                                                                 \
    {sizeof(passdock_results_desc), 0, NULL, NULL, 0, sizeof(passdock_port_desc), 0}
#define PASSDOCK_REGION_DESC_INIT                                                                  \
    {sizeof(passdock_region_desc), 0, PASSDOCK_NONE, sizeof(passdock_port_desc), NULL, 0}
#define PASSDOCK_OP_DESC_INIT                                                                      \
    {sizeof(passdock_op_desc), 0, PASSDOCK_NONE, PASSDOCK_NONE, NULL, 0, NULL, 0, NULL, 0,         \
     NULL, 0, sizeof(passdock_attr_desc), sizeof(passdock_region_desc)}
#define PASSDOCK_CONSTANT_DESC_INIT                                                                \
    {sizeof(passdock_constant_desc), 0, PASSDOCK_NONE, PASSDOCK_NONE, {NULL, 0}, {NULL, 0}}
#define PASSDOCK_CLONE_DESC_INIT                                                                   \
    {sizeof(passdock_clone_desc), 0, PASSDOCK_NONE, 0, {NULL, NULL}, {PASSDOCK_NONE,               \
     PASSDOCK_NONE}, NULL, 0, NULL, 0, NULL, 0}
#define PASSDOCK_CLONE_OPS_DESC_INIT                                                               \
    {sizeof(passdock_clone_ops_desc), 0, {NULL, NULL}, NULL, 0, {PASSDOCK_NONE, PASSDOCK_NONE},    \
     NULL, 0, NULL, 0}
#define PASSDOCK_TEXT_DESC_INIT                                                                    \
    {sizeof(passdock_text_desc), 0, PASSDOCK_NONE, 0, {NULL, 0}, NULL, 0, NULL, 0}
#define PASSDOCK_OUTLINE_DESC_INIT                                                                 \
    {sizeof(passdock_outline_desc), 0, PASSDOCK_NONE, 0, NULL, 0, {NULL, 0}}
#define PASSDOCK_FUNCTION_DESC_INIT                                                                \
    {sizeof(passdock_function_desc), 0, PASSDOCK_FUNCTION_GRAPH, PASSDOCK_NONE, {NULL, 0}}
#define PASSDOCK_RUN_DESC_INIT {sizeof(passdock_run_desc), 0, {NULL, 0}}
#define PASSDOCK_EVALUATE_DESC_INIT {sizeof(passdock_evaluate_desc), 0, 0}
#define PASSDOCK_REWRITE_DESC_INIT {sizeof(passdock_rewrite_desc), 0, {NULL, 0}}

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_VIEW_H */
