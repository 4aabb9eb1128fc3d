/* A C plugin that defines an operator: `acme.ScaledAdd(x, y) {scale}` computes `scale * x + y` elementwise.
 *
 * Build it with
 *     gcc -std=c11 -O2 -shared -fPIC -I ../../plugin-api/abi/include c_op.c -o libc_op.so
 * and pass its directory to passdock: `--plugin-dir .`. */
#include "passdock.h"

#define MAX_RANK 16

/* Reports why the function has no result. */
static passdock_status reject(const passdock_host *host, passdock_op_call *call, const char *reason) {
    host->definitions->reject(call, passdock_text(reason));
    return PASSDOCK_STATUS_REJECTED;
}

/* Describes a value's type in `desc` and `dims`. Returns 0 if it isn't a tensor of known rank. */
static int describe(const passdock_function_view *view, passdock_value_id value,
                    passdock_type_desc *desc, passdock_dim dims[MAX_RANK]) {
    const passdock_type *type = passdock_type_of(view, value);
    uint32_t i;
    if (type == NULL || type->kind != PASSDOCK_TYPE_TENSOR ||
        (type->flags & PASSDOCK_TYPE_FLAG_UNRANKED) != 0 || type->dims.len > MAX_RANK) {
        return 0;
    }
    for (i = 0; i < type->dims.len; i++) {
        dims[i] = *(const passdock_dim *)passdock_at(&view->dims, type->dims.start + i,
                                                    sizeof(passdock_dim));
    }
    desc->kind = type->kind;
    desc->dtype = type->dtype;
    desc->dims = dims;
    desc->dim_count = type->dims.len;
    return 1;
}

/* Infers the type of the result, which is that of both operands, from the first operand with a known type. */
static passdock_status infer(const passdock_host *host, void *state, passdock_op_call *call,
                             const passdock_function_ref *function, passdock_op_id op) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        passdock_dim dims[MAX_RANK];
        passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
        if (describe(function->view, passdock_operand(function->view, op, i), &desc, dims)) {
            return host->definitions->set_result_type(call, 0, &desc);
        }
    }
    return PASSDOCK_OK; /* unknown types aren't an error */
}

/* Gets the elements of a constant operand. Returns 0 if they aren't available. */
static int elements(const passdock_host *host, const passdock_function_ref *function,
                    passdock_value_id id, passdock_bytes *out) {
    const passdock_value *value = passdock_get_value(function->view, id);
    return value != NULL && value->constant != PASSDOCK_NONE &&
           host->functions->constant_data(function->handle, value->constant, out) == PASSDOCK_OK;
}

/* Computes the result. The host calls this only if all operands are constant. */
static passdock_status evaluate(const passdock_host *host, void *state, passdock_op_call *call,
                                const passdock_function_ref *function, passdock_op_id op) {
    const passdock_function_view *view = function->view;
    passdock_value_id x = passdock_operand(view, op, 0), y = passdock_operand(view, op, 1);
    passdock_symbol_id name = host->symbols->find(view->symbols, passdock_text("scale"));
    const passdock_attr *attr = passdock_get_attr(view, op, name);
    const passdock_type *x_type = passdock_type_of(view, x), *y_type = passdock_type_of(view, y);
    float scale = 1.0f;
    passdock_dim dims[MAX_RANK];
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_bytes a, b;
    passdock_status status;
    uint8_t *room;
    size_t i;
    (void)state;

    if (attr != NULL) {
        uint32_t bits = (uint32_t)attr->bits;
        if (attr->kind != PASSDOCK_ATTR_FLOAT) return reject(host, call, "`scale` is not a float");
        memcpy(&scale, &bits, sizeof scale);
    }
    /* A function has one record for each type, so pointers can be compared. */
    if (x_type == NULL || x_type != y_type || x_type->dtype != PASSDOCK_DTYPE_F32 ||
        !describe(view, x, &desc, dims)) {
        return reject(host, call, "only f32 operands of the same shape can be evaluated");
    }
    if (!elements(host, function, x, &a) || !elements(host, function, y, &b) || a.len != b.len) {
        return reject(host, call, "could not read the operands");
    }
    status = host->definitions->allocate_result(call, 0, &desc, a.len, &room);
    if (status != PASSDOCK_OK) return status;
    for (i = 0; i + sizeof(float) <= a.len; i += sizeof(float)) {
        float p, q;
        memcpy(&p, a.ptr + i, sizeof p);
        memcpy(&q, b.ptr + i, sizeof q);
        p = scale * p + q;
        memcpy(room + i, &p, sizeof p);
    }
    return PASSDOCK_OK;
}

/* The manifest, which the host reads without loading the plugin. */
PASSDOCK_MANIFEST("plugin.toml");

static const passdock_attr_entry attrs[] = {
    {.name = PASSDOCK_STR("scale"),
     .doc = PASSDOCK_STR("Factor of the first operand."),
     .kind = PASSDOCK_ATTR_FLOAT,
     .flags = PASSDOCK_ATTR_ENTRY_DEFAULT,
     .bits = 0x3f800000}, /* 1.0f */
};

static const passdock_op_entry ops[] = {
    {.name = PASSDOCK_STR("acme.ScaledAdd"),
     .since = 1,
     .min_operands = 2,
     .max_operands = 2,
     .min_results = 1,
     .max_results = 1,
     .traits = PASSDOCK_TRAIT_PURE | PASSDOCK_TRAIT_ELEMENTWISE,
     .infer = infer,
     .evaluate = evaluate,
     .attrs = attrs,
     .attr_count = 1,
     .attr_stride = sizeof attrs[0]},
};

static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .ops = ops,
                                       .op_count = 1,
                                       .op_stride = sizeof ops[0]};

PASSDOCK_ENTRY(plugin);
