/* Helper functions to read a view. Part of passdock.h, which has the rules. */
#ifndef PASSDOCK_READ_H
#define PASSDOCK_READ_H

#include <string.h>

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a struct with `struct_size` contains a field. */
#define PASSDOCK_REACHES(record, field)                                                            \
    ((size_t)((const char *)&(record)->field - (const char *)(record)) +                           \
         sizeof((record)->field) <= (record)->struct_size)

/* Whether a table has a function: the table isn't null, contains the field, and the function isn't null. */
#define PASSDOCK_HAS(table, function)                                                              \
    ((table) != NULL && PASSDOCK_REACHES(table, function) && (table)->function != NULL)

/* Returns a record of a column, or null if the index is out of range. `size` is the size of the record. */
static inline const void *passdock_at(const passdock_column *column, uint32_t index, size_t size) {
    if (index >= column->len) return NULL;
    return (const char *)column->base + (size_t)index * size;
}

/* Returns a live op, or null. */
static inline const passdock_op *passdock_get_op(const passdock_function_view *view,
                                                 passdock_op_id id) {
    const passdock_op *op = (const passdock_op *)passdock_at(&view->ops, id, sizeof(passdock_op));
    return op != NULL && (op->flags & PASSDOCK_OP_DEAD) == 0 ? op : NULL;
}

/* Returns a live value, or null. */
static inline const passdock_value *passdock_get_value(const passdock_function_view *view,
                                                       passdock_value_id id) {
    const passdock_value *value = (const passdock_value *)passdock_at(&view->values, id, sizeof(passdock_value));
    return value != NULL && (value->flags & PASSDOCK_VALUE_DEAD) == 0 ? value : NULL;
}

/* Returns a live region, or null. */
static inline const passdock_region *passdock_get_region(const passdock_function_view *view,
                                                         passdock_region_id id) {
    const passdock_region *region = (const passdock_region *)passdock_at(&view->regions, id, sizeof(passdock_region));
    return region != NULL && (region->flags & PASSDOCK_REGION_DEAD) == 0 ? region : NULL;
}

/* Returns an id of a list, or NONE if the index is out of range. */
static inline uint32_t passdock_id_at(const passdock_function_view *view, passdock_range list,
                                      uint32_t index) {
    const uint32_t *id;
    if (index >= list.len) return PASSDOCK_NONE;
    id = (const uint32_t *)passdock_at(&view->ids, list.start + index, sizeof(uint32_t));
    return id != NULL ? *id : PASSDOCK_NONE;
}

/* Returns an operand, or NONE if it is omitted or the index is out of range. */
static inline passdock_value_id passdock_operand(const passdock_function_view *view,
                                                 passdock_op_id id, uint32_t index) {
    const passdock_op *op = passdock_get_op(view, id);
    const passdock_use *use;
    if (op == NULL || index >= op->operands.len) return PASSDOCK_NONE;
    use = (const passdock_use *)passdock_at(&view->uses, op->operands.start + index, sizeof(passdock_use));
    return use != NULL ? use->value : PASSDOCK_NONE;
}

/* Returns a result, or NONE if the index is out of range. */
static inline passdock_value_id passdock_result(const passdock_function_view *view,
                                                passdock_op_id id, uint32_t index) {
    const passdock_op *op = passdock_get_op(view, id);
    return op != NULL ? passdock_id_at(view, op->results, index) : PASSDOCK_NONE;
}

/* Returns the attribute with this name, or null. */
static inline const passdock_attr *passdock_get_attr(const passdock_function_view *view,
                                                     passdock_op_id id, passdock_symbol_id name) {
    const passdock_op *op = passdock_get_op(view, id);
    uint32_t i;
    for (i = 0; op != NULL && name != PASSDOCK_NONE && i < op->attrs.len; i++) {
        const passdock_attr *attr =
            (const passdock_attr *)passdock_at(&view->attrs, op->attrs.start + i, sizeof(passdock_attr));
        if (attr != NULL && attr->name == name) return attr;
    }
    return NULL;
}

/* Returns the type of a value, or null for NONE. */
static inline const passdock_type *passdock_type_of(const passdock_function_view *view,
                                                    passdock_value_id id) {
    const passdock_value *value = passdock_get_value(view, id);
    return value != NULL ? (const passdock_type *)passdock_at(&view->types, value->type_id, sizeof(passdock_type)) : NULL;
}

/* Returns the op that a value is a result of; NONE for arguments, constants, and NONE. */
static inline passdock_op_id passdock_defining_op(const passdock_function_view *view,
                                                  passdock_value_id id) {
    const passdock_value *value = passdock_get_value(view, id);
    if (value == NULL || (value->flags & PASSDOCK_VALUE_KIND) != PASSDOCK_VALUE_RESULT) {
        return PASSDOCK_NONE;
    }
    return value->def;
}

/* Returns a passdock_str for a C string, whose bytes it borrows. */
static inline passdock_str passdock_text(const char *text) {
    passdock_str str;
    str.ptr = text;
    str.len = strlen(text);
    return str;
}

/* Emits the reason of a failure, and returns FAILED: `return passdock_fail(host, context, op, message);`. `op`
 * may be NONE. */
static inline passdock_status passdock_fail(const passdock_host *host, passdock_context *context,
                                            passdock_op_id op, passdock_str message) {
    passdock_diagnostic diagnostic = PASSDOCK_DIAGNOSTIC_INIT;
    diagnostic.flags = PASSDOCK_DIAGNOSTIC_REASON;
    diagnostic.op = op;
    diagnostic.message = message;
    host->context->emit(context, &diagnostic);
    return PASSDOCK_STATUS_FAILED;
}

#ifdef __cplusplus
}
#endif

#endif /* PASSDOCK_READ_H */
