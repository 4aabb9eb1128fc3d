/* A plugin in C++ in which every part throws, for the tests of the gate. */
#include "passdock.hpp"

namespace {

/* Throws the error that the option selects, about the first op. */
void throw_it(passdock::function &f, passdock::context &cx) {
    passdock::op_id first = *f.ops().begin();
    std::string what = cx.option<std::string>("what");
    if (what == "error") throw passdock::error("The op isn't liked.").at(first);
    if (what == "exception") static_cast<void>(std::string().at(3));
    if (what == "number") throw 42;
    if (what == "rejection") f.erase_op(f.defining_op(f.operand(f.terminator(f.body()), 0)));
    if (what == "type") static_cast<void>(cx.option<int64_t>("what"));
    if (what == "unknown") static_cast<void>(cx.option<bool>("waht"));
    if (what == "stopped") {
        cx.emit(passdock::diagnostic::error("It was said before.").label(first, "here").code("throws::said"));
        throw passdock::stopped();
    }
}

void throw_in_module(passdock::module &m, passdock::context &) {
    for (passdock::symbol_id name : m.functions(PASSDOCK_FUNCTION_GRAPH)) {
        passdock::function f = m.edit(name);
        throw passdock::error("The function isn't liked.").at(*f.ops().begin(), name);
    }
}

struct thrower final : passdock::instrument {
    explicit thrower(passdock::context &cx) : where_(cx.option<std::string>("where")) { here("create"); }
    void enter_pass_ctx(passdock::context &) override { here("enter"); }
    void run_before_pass(passdock::context &, const passdock::module_view &, const passdock::pass_info &) override {
        here("before");
    }
    std::string report(passdock::context &) override {
        here("report");
        return {};
    }

private:
    void here(const char *place) const {
        if (where_ == place) throw std::runtime_error(std::string("thrown in ") + place);
    }
    std::string where_;
};

void infer(passdock::op_call &call) {
    if (call.attr("wrong")) throw passdock::error("`wrong` is set");
    if (call.attr("buggy")) throw std::logic_error("a mistake in C++");
}

} // namespace

PASSDOCK_MANIFEST("throws.toml");

PASSDOCK_PLUGIN(plugin) {
    plugin.function_pass("throws.transform.Function", throw_it);
    plugin.module_pass("throws.transform.Module", throw_in_module);
    plugin.instrument<thrower>("throws.thrower");
    plugin.op("throws.Op", 1, passdock::op_definition().operands(1, 1).infer(infer));
}
