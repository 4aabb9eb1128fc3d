/* A program that attaches a plugin to two hosts, which offer next to nothing: each has a table of its own,
 * and what a host lacks is an error of the pass. */
#include <cstddef>
#include <cstdio>

#include "everything.cpp"

namespace {

std::string reason;

void remember(passdock_context *, const passdock_failure *failure) {
    reason = passdock::text(failure->message);
}

int fails(const char *what) {
    std::fprintf(stderr, "It should hold that %s.\n", what);
    return 1;
}

} // namespace

int main() {
    passdock_context_api context{};
    context.struct_size = offsetof(passdock_context_api, current);
    context.fail = remember;
    passdock_host hosts[2] = {};
    for (passdock_host &host : hosts) {
        host.struct_size = sizeof host;
        host.context = &context;
    }
    passdock_attach told{};
    told.struct_size = sizeof told;
    const passdock_plugin *first = passdock_plugin_v0(&hosts[0], &told);
    const passdock_plugin *second = passdock_plugin_v0(&hosts[1], &told);
    if (first == nullptr || second == nullptr || first == second) return fails("each host has a table");
    if (passdock_plugin_v0(&hosts[0], &told) != first) return fails("the same host has the same table");
    if (first->passes[0].state == second->passes[0].state) return fails("states know their host");
    if (first->pass_count != 4 || first->op_count != 2 || first->instrument_count != 0) {
        return fails("all parts are in the table");
    }

    passdock_module_view view{};
    view.struct_size = sizeof view;
    passdock_module_ref module{nullptr, &view};
    const passdock_pass_entry &pass = first->passes[3];
    if (pass.run_module(pass.state, nullptr, &module) != PASSDOCK_FAILED) return fails("the pass fails");
    if (reason != "This host has no `find`. Run the plugin in a newer one.") {
        return fails("what the host lacks is said");
    }
    return 0;
}
