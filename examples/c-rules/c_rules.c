/* A C plugin whose pass consists of rules in a string: the host parses them, matches them and rewrites.
 *
 * Build it with
 *     gcc -std=c11 -O2 -shared -fPIC -I ../../plugin-api/abi/include c_rules.c -o libc_rules.so
 * and pass its directory to passdock: `--plugin-dir .`. */
#include "passdock.h"

/* docs/rules.md describes the language. */
static const char rules[] =
    "rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }\n"
    "rule half_of_double { onnx.Mul(onnx.Add(%x, %x), ~0.5) => %x where float(%x) }\n"
    "rule erf_gelu {\n"
    "    onnx.Mul(onnx.Mul(%x, ~0.5), onnx.Add(onnx.Erf(onnx.Div(%x, ~1.41421356)), 1)) => onnx.Gelu(%x)\n"
    "}\n";

static passdock_status simplify(const passdock_host *host, void *state, passdock_context *context,
                                const passdock_function_ref *function,
                                const passdock_module_ref *module) {
    passdock_rewrite_desc rewrite = PASSDOCK_REWRITE_DESC_INIT;
    (void)state;
    (void)module;
    rewrite.rules = passdock_text(rules);
    if (host->ops->rewrite(context, function->handle, &rewrite) == PASSDOCK_OK)
        return PASSDOCK_OK;
    return passdock_fail(host, context, PASSDOCK_NONE, host->functions->last_error(function->handle));
}

PASSDOCK_MANIFEST("plugin.toml");

static const passdock_pass_entry passes[] = {
    {.name = PASSDOCK_STR("crules.transform.Simplify"),
     .run_function = simplify},
};

static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .passes = passes,
                                       .pass_count = 1,
                                       .pass_stride = sizeof passes[0]};

PASSDOCK_ENTRY(plugin);
