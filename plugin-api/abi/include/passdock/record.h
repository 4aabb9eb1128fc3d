/* Versions, statuses, ids, and the records of a function's arenas. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_RECORD_H
#define PASSDOCK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PASSDOCK_ABI_MAJOR 0
#define PASSDOCK_ABI_MINOR 4
/* The oldest minor of this major that a side with this header understands. */
#define PASSDOCK_ABI_OLDEST_MINOR 4
#define PASSDOCK_IR_MAJOR 0
#define PASSDOCK_IR_MINOR 1

/* The oldest host that a plugin works with: the one that has all of this header. A plugin that asks
 * PASSDOCK_HAS before it uses what is newer defines an older one before it includes this header. */
#ifndef PASSDOCK_TARGET_MINOR
#define PASSDOCK_TARGET_MINOR PASSDOCK_ABI_MINOR
#endif
#if PASSDOCK_TARGET_MINOR < PASSDOCK_ABI_OLDEST_MINOR
#error "PASSDOCK_TARGET_MINOR is older than PASSDOCK_ABI_OLDEST_MINOR: such a host refuses what this header makes"
#elif PASSDOCK_TARGET_MINOR > PASSDOCK_ABI_MINOR
#error "PASSDOCK_TARGET_MINOR is newer than this header: take the header of that version"
#endif

typedef struct passdock_version {
    uint32_t major;
    uint32_t minor;
} passdock_version;

/* ---- Status ---------------------------------------------------------------------------------- */

/* The outcome of a call. On anything but OK nothing was changed, unless the call's comment says
 * otherwise, and `last_error` of the table that was called has the sentence that says why. A pass
 * that can't go on answers FAILED, after saying why with `passdock_context_api.fail`; the host then
 * throws away all that the pass did. */
typedef uint32_t passdock_status;
#define PASSDOCK_OK 0u
/* An id names nothing, or something erased. A mistake of the caller; forget the id. */
#define PASSDOCK_STATUS_STALE 1u
/* The edit would break an invariant of the IR. Leave it, or do another. */
#define PASSDOCK_STATUS_REFUSED 2u
/* An argument is malformed: a null pointer, text that isn't UTF-8, a length over the limit. */
#define PASSDOCK_STATUS_INVALID 3u
/* There is no such symbol, option, function, definition. */
#define PASSDOCK_STATUS_NOT_FOUND 4u
/* The host doesn't do this: it is too old, or not here. Go on without. */
#define PASSDOCK_STATUS_UNSUPPORTED 5u
/* The pass failed and said why. */
#define PASSDOCK_STATUS_FAILED 6u
/* The plugin panicked (or caught an exception) and said where. */
#define PASSDOCK_STATUS_PANICKED 7u
/* Bytes couldn't be read from the file that holds them. */
#define PASSDOCK_STATUS_IO 8u
/* An option of the pass is wrong for this model, and the pass said why: a mistake of the user. */
#define PASSDOCK_STATUS_CONFIG 9u

/* ---- Ids ------------------------------------------------------------------------------------- */

/* Positions in a function's arenas (symbols: in a module's). An id isn't used again while a pass
 * runs. PASSDOCK_NONE is no entity: an operand left out, the end of a list. */
#define PASSDOCK_NONE UINT32_MAX
typedef uint32_t passdock_op_id;
typedef uint32_t passdock_value_id;
typedef uint32_t passdock_region_id;
typedef uint32_t passdock_type_id;
typedef uint32_t passdock_const_id;
typedef uint32_t passdock_expr_id;
typedef uint32_t passdock_loc_id;
typedef uint32_t passdock_use_id;
typedef uint32_t passdock_symbol_id;

/* Symbols that every module has. Those below PASSDOCK_SYMBOL_FIRST that aren't listed here are
 * reserved: no text has them today. */
#define PASSDOCK_SYMBOL_EMPTY 0u
#define PASSDOCK_SYMBOL_RETURN 1u
#define PASSDOCK_SYMBOL_YIELD 2u
#define PASSDOCK_SYMBOL_CALL 3u
#define PASSDOCK_SYMBOL_IF 4u
#define PASSDOCK_SYMBOL_FOR 5u
#define PASSDOCK_SYMBOL_WHILE 6u
#define PASSDOCK_SYMBOL_TUPLE 7u
#define PASSDOCK_SYMBOL_TUPLE_GET 8u
#define PASSDOCK_SYMBOL_CALLEE 9u
#define PASSDOCK_SYMBOL_INDEX 10u
/* The first symbol that is a module's own. */
#define PASSDOCK_SYMBOL_FIRST 256u

/* ---- Records --------------------------------------------------------------------------------- */

/* Those of this header are final: none gets a field, ever. */

/* `len` entries of a pool, from `start`. */
typedef struct passdock_range {
    uint32_t start;
    uint32_t len;
} passdock_range;

/* An op. Its meaning is its name and the function's version of the name's domain. */
typedef struct passdock_op {
    passdock_symbol_id name; /* the canonical spelling, domain included: "onnx.Conv", "return" */
    uint32_t flags;
    passdock_range operands; /* slots in `uses` */
    passdock_range results;  /* value ids in `ids` */
    passdock_range attrs;    /* in `attrs` */
    passdock_range regions;  /* region ids in `ids` */
    passdock_region_id parent;
    passdock_op_id prev; /* the op before it in its region */
    passdock_op_id next;
    passdock_loc_id loc;
    uint64_t order; /* in one region, `a` stands before `b` if a.order < b.order */
} passdock_op;
#define PASSDOCK_OP_DEAD 1u      /* erased */
#define PASSDOCK_OP_TOUCHED 2u   /* fields of the op changed since it was imported */
#define PASSDOCK_OP_ANNOTATED 4u /* its file says more of it than this does: documentation, metadata */

typedef struct passdock_value {
    passdock_type_id type_id;
    passdock_symbol_id name; /* or NONE */
    uint32_t flags;          /* a kind in the low bits, and flags */
    uint32_t def;            /* the op, region or constant that defines it */
    uint32_t index;          /* the index of the result or argument */
    passdock_use_id first_use;
    uint32_t use_count;
    passdock_const_id constant; /* the constant it is, or the default of a parameter */
} passdock_value;
#define PASSDOCK_VALUE_KIND 15u /* mask of the kind */
#define PASSDOCK_VALUE_RESULT 0u
#define PASSDOCK_VALUE_ARG 1u
#define PASSDOCK_VALUE_CONST 2u
#define PASSDOCK_VALUE_DEAD 16u
#define PASSDOCK_VALUE_TOUCHED 32u
#define PASSDOCK_VALUE_ABSENT 64u    /* a result that its op leaves out */
#define PASSDOCK_VALUE_DECLARED 128u /* the type was declared in the imported file */
#define PASSDOCK_VALUE_SCRATCH 256u  /* a constant of `evaluate_with` that nobody used */

/* An operand slot, which is also a node of its value's use list. */
typedef struct passdock_use {
    passdock_value_id value; /* or NONE: left out */
    passdock_op_id user;     /* NONE: no longer used */
    passdock_use_id next;
    passdock_use_id prev;
} passdock_use;

/* A region: arguments, ops in order, a terminator (`return` or `yield`). */
typedef struct passdock_region {
    passdock_op_id parent;   /* NONE: the body */
    passdock_symbol_id name; /* among its op's regions: "then_branch" */
    passdock_range args;     /* value ids in `ids` */
    passdock_range ports;    /* in `ports`: what its terminator's operands go out by */
    passdock_op_id first;
    passdock_op_id last;
    uint32_t flags;
    passdock_loc_id loc;
} passdock_region;
#define PASSDOCK_REGION_DEAD 1u
#define PASSDOCK_REGION_TOUCHED 2u /* something in it, at any depth, changed */

/* A port: what a region gives out at one position. */
typedef struct passdock_port {
    passdock_symbol_id name;  /* or NONE */
    passdock_type_id type_id; /* the declared type, or NONE */
    uint32_t flags;
    uint32_t reserved;
} passdock_port;
#define PASSDOCK_PORT_TOUCHED 2u

/* The kind of an attribute's value: how it is kept. */
typedef uint32_t passdock_attr_kind;
#define PASSDOCK_ATTR_NONE 0u      /* an attribute parameter without a default */
#define PASSDOCK_ATTR_INT 1u       /* `bits` is an int64_t */
#define PASSDOCK_ATTR_FLOAT 2u     /* the low half of `bits` is a float */
#define PASSDOCK_ATTR_STRING 3u    /* `list` is a range of `bytes` */
#define PASSDOCK_ATTR_TENSOR 4u    /* `bits` is a constant id */
#define PASSDOCK_ATTR_TYPE 5u      /* `bits` is a type id */
#define PASSDOCK_ATTR_REGION 6u    /* `bits` is a region id of the op */
#define PASSDOCK_ATTR_INTS 7u      /* `list` is a range of `ints` */
#define PASSDOCK_ATTR_FLOATS 8u    /* `list` is a range of `floats` */
#define PASSDOCK_ATTR_STRINGS 9u   /* `list` is a range of `strings` */
#define PASSDOCK_ATTR_TENSORS 10u  /* `list` is a range of `ids`, constants */
#define PASSDOCK_ATTR_TYPES 11u    /* `list` is a range of `ids`, types */
#define PASSDOCK_ATTR_REGIONS 12u  /* `list` is a range of `ids`, regions of the op */
#define PASSDOCK_ATTR_REFERENCE 13u /* `bits` is the symbol of an attribute parameter */
#define PASSDOCK_ATTR_OPAQUE 14u   /* `list` is a range of `bytes`, the importer's business */

typedef struct passdock_attr {
    passdock_symbol_id name;
    passdock_attr_kind kind;
    uint64_t bits;       /* a value that fits */
    passdock_range list; /* a value that doesn't */
    uint32_t flags;
    passdock_attr_kind stands_for; /* of a REFERENCE: the kind of value it stands for, or NONE */
} passdock_attr;
#define PASSDOCK_ATTR_FLAG_PARAM 1u /* of a function: a parameter that callers may set */

/* An element type: those below 0x8000 are ONNX's TensorProto.DataType. */
typedef uint32_t passdock_dtype;
#define PASSDOCK_DTYPE_NONE 0u
#define PASSDOCK_DTYPE_F32 1u
#define PASSDOCK_DTYPE_U8 2u
#define PASSDOCK_DTYPE_I8 3u
#define PASSDOCK_DTYPE_U16 4u
#define PASSDOCK_DTYPE_I16 5u
#define PASSDOCK_DTYPE_I32 6u
#define PASSDOCK_DTYPE_I64 7u
#define PASSDOCK_DTYPE_STRING 8u
#define PASSDOCK_DTYPE_BOOL 9u
#define PASSDOCK_DTYPE_F16 10u
#define PASSDOCK_DTYPE_F64 11u
#define PASSDOCK_DTYPE_U32 12u
#define PASSDOCK_DTYPE_U64 13u
#define PASSDOCK_DTYPE_C64 14u
#define PASSDOCK_DTYPE_C128 15u
#define PASSDOCK_DTYPE_BF16 16u
#define PASSDOCK_DTYPE_F8E4M3FN 17u
#define PASSDOCK_DTYPE_F8E4M3FNUZ 18u
#define PASSDOCK_DTYPE_F8E5M2 19u
#define PASSDOCK_DTYPE_F8E5M2FNUZ 20u
#define PASSDOCK_DTYPE_U4 21u
#define PASSDOCK_DTYPE_I4 22u
#define PASSDOCK_DTYPE_F4E2M1 23u
#define PASSDOCK_DTYPE_F8E8M0 24u
#define PASSDOCK_DTYPE_U2 25u
#define PASSDOCK_DTYPE_I2 26u
#define PASSDOCK_DTYPE_F6E2M3 27u
#define PASSDOCK_DTYPE_F6E3M2 28u
#define PASSDOCK_DTYPE_INDEX 0x8000u /* the type of loop counters */

typedef uint32_t passdock_type_kind;
#define PASSDOCK_TYPE_UNKNOWN 0u
#define PASSDOCK_TYPE_TENSOR 1u   /* dtype, dims (unless UNRANKED) */
#define PASSDOCK_TYPE_SCALAR 2u   /* dtype, lanes */
#define PASSDOCK_TYPE_BUFFER 3u   /* dtype, dims, aux = strides and offset in `dims`, name = scope */
#define PASSDOCK_TYPE_TUPLE 4u    /* aux = type ids */
#define PASSDOCK_TYPE_SEQUENCE 5u /* aux = one type id */
#define PASSDOCK_TYPE_OPTIONAL 6u /* aux = one type id */
#define PASSDOCK_TYPE_MAP 7u      /* dtype = key, aux = one type id, the value */
#define PASSDOCK_TYPE_OPAQUE 8u   /* name */
#define PASSDOCK_TYPE_FUNCTION 9u /* aux = parameters, then `lanes` results */
#define PASSDOCK_TYPE_SPARSE 10u  /* dtype, dims */

/* A type. In one function, equal ids are equal types. */
typedef struct passdock_type {
    passdock_type_kind kind;
    passdock_dtype dtype;
    uint32_t lanes;
    uint32_t flags;
    passdock_range dims;
    passdock_range aux;      /* more, by kind: in `dims` or in `ids` */
    passdock_symbol_id name; /* a name, by kind; the denotation of a tensor */
    uint32_t reserved;
} passdock_type;
#define PASSDOCK_TYPE_FLAG_UNRANKED 1u  /* a tensor whose rank isn't known */
#define PASSDOCK_TYPE_FLAG_MAY_ALIAS 2u /* a buffer that other buffers may overlap */

typedef uint32_t passdock_dim_kind;
#define PASSDOCK_DIM_UNKNOWN 0u /* equal to nothing, itself included */
#define PASSDOCK_DIM_CONST 1u   /* `value` is the size */
#define PASSDOCK_DIM_SYMBOL 2u  /* `value` is a symbol id, scoped to the function */
#define PASSDOCK_DIM_EXPR 3u    /* `value` is an expression id */

typedef struct passdock_dim {
    passdock_dim_kind kind;
    passdock_symbol_id denotation; /* ONNX's, or NONE */
    int64_t value;
} passdock_dim;

typedef uint32_t passdock_expr_kind;
#define PASSDOCK_EXPR_ADD 1u
#define PASSDOCK_EXPR_MUL 2u
#define PASSDOCK_EXPR_FLOORDIV 3u
#define PASSDOCK_EXPR_MOD 4u
#define PASSDOCK_EXPR_MIN 5u
#define PASSDOCK_EXPR_MAX 6u
#define PASSDOCK_EXPR_BROADCAST 7u /* the size that two broadcast to: the other one of one that is 1 */

/* A dim expression in canonical form. In one function, equal ids are equal expressions. */
typedef struct passdock_dim_expr {
    passdock_expr_kind kind;
    uint32_t reserved;
    passdock_dim lhs;
    passdock_dim rhs;
} passdock_dim_expr;

typedef uint32_t passdock_storage;
#define PASSDOCK_STORAGE_INLINE 1u
#define PASSDOCK_STORAGE_MAPPED 2u   /* in the mapped model file */
#define PASSDOCK_STORAGE_EXTERNAL 3u /* in another file */
#define PASSDOCK_STORAGE_SPLAT 4u    /* one element that fills the shape */

/* A constant. Its bytes are read with `passdock_function_api.constant_data`. */
typedef struct passdock_constant {
    passdock_value_id value; /* or the parameter it is the default of; NONE: an attribute's */
    passdock_type_id type_id; /* a tensor type of known shape */
    passdock_region_id region; /* the region it is visible in */
    passdock_storage storage;
    uint32_t flags;
    passdock_loc_id loc;
    passdock_op_id anchor; /* of one that was an op in the file: the op it stood before */
    uint32_t reserved;
    uint64_t byte_len; /* of all elements, also of a splat */
} passdock_constant;
#define PASSDOCK_CONSTANT_DEAD 1u
#define PASSDOCK_CONSTANT_TOUCHED 2u
#define PASSDOCK_CONSTANT_NODE 4u /* was a `Constant` node in the file, and goes out as one */
#define PASSDOCK_CONSTANT_KEPT 8u /* its bytes stay in the file, as an input, also when it is gone */

/* The version of a domain that a function's ops mean; "" is ONNX's own domain. */
typedef struct passdock_opset {
    passdock_symbol_id domain;
    uint32_t reserved;
    int64_t version;
} passdock_opset;

typedef uint32_t passdock_loc_kind;
#define PASSDOCK_LOC_NAME 1u  /* `name` is an ONNX node's name */
#define PASSDOCK_LOC_TEXT 2u  /* `name` is a file, `a` a line, `b` a column, both from 1 */
#define PASSDOCK_LOC_FUSED 3u /* `a` and `b`: start and length of location ids in `ids` */

typedef struct passdock_loc {
    passdock_loc_kind kind;
    passdock_symbol_id name;
    uint32_t a;
    uint32_t b;
} passdock_loc;

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_RECORD_H */
