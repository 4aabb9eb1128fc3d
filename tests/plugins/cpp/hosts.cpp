/* A program that attaches a plugin to two hosts with almost no functions. Each has a separate table, and a call of a
 * missing function is an error of the pass. */
#include <cstddef>
#include <cstdio>

#include "throws.cpp"

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
    if (first->instruments[0].state == second->instruments[0].state) return fails("states know their host");
    if (first->pass_count != 2 || first->op_count != 1 || first->instrument_count != 1) {
        return fails("all parts are in the table");
    }

    const passdock_instrument_entry &instrument = first->instruments[0];
    void *instance = nullptr;
    if (instrument.create(instrument.state, nullptr, &instance) != PASSDOCK_STATUS_FAILED || instance != nullptr) {
        return fails("an instrument that can't be made isn't");
    }
    if (reason != "the host is too old for the plugin: it has no function `option`") {
        return fails("what the host lacks is said");
    }
    return 0;
}
