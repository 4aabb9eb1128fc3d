/* A plugin in C++ that returns statuses, and compiles with and without exceptions. */
#include "passdock.hpp"

namespace {

passdock_status fail(passdock::function &f, passdock::context &cx) {
    return cx.fail(*f.ops().begin(), "The op isn't liked.");
}

passdock_status fail_module(passdock::module &m, passdock::context &cx) {
    for (passdock::symbol_id name : m.functions(PASSDOCK_FUNCTION_GRAPH)) {
        return cx.fail(*m.snapshot(name).ops().begin(), "The function isn't liked.", name);
    }
    return PASSDOCK_OK;
}

/* Erases an op that is in use, which the host rejects. */
void erase(passdock::function &f, passdock::context &) {
    f.erase_op(f.defining_op(f.operand(f.terminator(f.body()), 0)));
}

passdock_status infer(passdock::op_call &call) {
    return call.reject("The op is never valid.");
}

} // namespace

PASSDOCK_MANIFEST("returns.toml");

PASSDOCK_PLUGIN(plugin) {
    plugin.function_pass("returns.transform.Fail", fail);
    plugin.module_pass("returns.transform.FailModule", fail_module);
    plugin.function_pass("returns.transform.Nothing", [](passdock::function &, passdock::context &) { return PASSDOCK_OK; });
    plugin.function_pass("returns.transform.Erase", erase);
    plugin.op("returns.Op", 1, passdock::op_definition().operands(1, 1).infer(infer));
}
