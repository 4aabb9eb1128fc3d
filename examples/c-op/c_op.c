/* A C plugin that defines an operator: `acme.ScaledAdd(x, y) {scale}` computes `scale * x + y` elementwise.
 *
 * Build it with
 *     gcc -std=c11 -O2 -shared -fPIC -I ../../plugin-api/abi/include c_op.c -o libc_op.so
 * and pass its directory to passdock: `--plugin-dir .`. */
#include "passdock.h"

#define MAX_RANK 16
#define DEFAULT_SCALE 1.0f

static const passdock_host *host;

/* Reports why the function has no result. */
static passdock_status reject(passdock_op_call *call, const char *reason) {
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
static passdock_status infer(void *state, passdock_op_call *call,
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
static int elements(const passdock_function_ref *function, passdock_value_id id,
                    passdock_bytes *out) {
    const passdock_value *value = passdock_get_value(function->view, id);
    return value != NULL && value->constant != PASSDOCK_NONE &&
           host->functions->constant_data(function->handle, value->constant, out) == PASSDOCK_OK;
}

/* Computes the result. The host calls this only if all operands are constant. */
static passdock_status evaluate(void *state, passdock_op_call *call,
                                const passdock_function_ref *function, passdock_op_id op) {
    const passdock_function_view *view = function->view;
    passdock_value_id x = passdock_operand(view, op, 0), y = passdock_operand(view, op, 1);
    passdock_symbol_id name = host->symbols->find(view->symbols, passdock_text("scale"));
    const passdock_attr *attr = passdock_get_attr(view, op, name);
    const passdock_type *x_type = passdock_type_of(view, x), *y_type = passdock_type_of(view, y);
    float scale = DEFAULT_SCALE;
    passdock_dim dims[MAX_RANK];
    passdock_type_desc desc = PASSDOCK_TYPE_DESC_INIT;
    passdock_bytes a, b;
    passdock_status status;
    uint8_t *room;
    size_t i;
    (void)state;

    if (attr != NULL) {
        uint32_t bits = (uint32_t)attr->bits;
        if (attr->kind != PASSDOCK_ATTR_FLOAT) return reject(call, "`scale` is not a float");
        memcpy(&scale, &bits, sizeof scale);
    }
    /* A function has one record for each type, so pointers can be compared. */
    if (x_type == NULL || x_type != y_type || x_type->dtype != PASSDOCK_DTYPE_F32 ||
        !describe(view, x, &desc, dims)) {
        return reject(call, "only f32 operands of the same shape can be evaluated");
    }
    if (!elements(function, x, &a) || !elements(function, y, &b) || a.len != b.len) {
        return reject(call, "could not read the operands");
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
PASSDOCK_MANIFEST("acme", "0.1.0", PASSDOCK_OP("acme.ScaledAdd", 1));

/* The entry point, which returns the table of the plugin's functions. */
const passdock_plugin *passdock_plugin_v0(const passdock_host *the_host,
                                         passdock_attach *attach) {
    static const float default_scale = DEFAULT_SCALE;
    static passdock_attr_entry scale;
    static passdock_op_entry scaled_add;
    static passdock_plugin plugin;
    uint32_t bits;

    if (host != NULL && host != the_host) {
        attach->reason = passdock_text("only one host per process is supported, and another one is attached");
        return NULL;
    }
    host = the_host;

    memcpy(&bits, &default_scale, sizeof bits);
    scale.name = passdock_text("scale");
    scale.doc = passdock_text("Factor of the first operand.");
    scale.kind = PASSDOCK_ATTR_FLOAT;
    scale.flags = PASSDOCK_ATTR_ENTRY_DEFAULT;
    scale.bits = bits;

    scaled_add.name = passdock_text("acme.ScaledAdd");
    scaled_add.since = 1;
    scaled_add.min_operands = 2;
    scaled_add.max_operands = 2;
    scaled_add.traits = PASSDOCK_TRAIT_PURE | PASSDOCK_TRAIT_ELEMENTWISE;
    scaled_add.infer = infer;
    scaled_add.evaluate = evaluate;
    scaled_add.attrs = &scale;
    scaled_add.attr_count = 1;
    scaled_add.attr_stride = sizeof scale;

    plugin.struct_size = sizeof plugin;
    plugin.pass_stride = sizeof(passdock_pass_entry);
    plugin.op_stride = sizeof scaled_add;
    plugin.ops = &scaled_add;
    plugin.op_count = 1;
    plugin.instrument_stride = sizeof(passdock_instrument_entry);
    return &plugin;
}
