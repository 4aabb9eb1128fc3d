/* A program that attaches a plugin to two hosts with almost no functions. They share its table, and a call of a missing
 * function is reported to the host that called. */
#include <cstddef>
#include <cstdio>

#include "throws.cpp"

namespace {

passdock_status remember(passdock_context *context, const passdock_diagnostic *reason) {
    *reinterpret_cast<std::string *>(context) = passdock::text(reason->message);
    return PASSDOCK_OK;
}

int fails(const char *what) {
    std::fprintf(stderr, "It should hold that %s.\n", what);
    return 1;
}

} // namespace

int main() {
    passdock_context_api context{};
    context.struct_size = offsetof(passdock_context_api, find_pass);
    context.emit = remember;
    passdock_host hosts[2] = {};
    for (passdock_host &host : hosts) {
        host.struct_size = sizeof host;
        host.context = &context;
    }
    passdock_attach told{};
    told.struct_size = sizeof told;
    const passdock_plugin *first = passdock_plugin_v1(&hosts[0], &told);
    const passdock_plugin *second = passdock_plugin_v1(&hosts[1], &told);
    if (first == nullptr || first != second) return fails("both hosts have the same table");
    if (first->pass_count != 2 || first->op_count != 1 || first->instrument_count != 1) {
        return fails("all parts are in the table");
    }

    const passdock_instrument_entry &instrument = first->instruments[0];
    for (passdock_host &host : hosts) {
        std::string reason;
        auto context_of_call = reinterpret_cast<passdock_context *>(&reason);
        void *instance = nullptr;
        passdock_status status = instrument.create(&host, instrument.state, context_of_call, &instance);
        if (status != PASSDOCK_STATUS_FAILED || instance != nullptr) return fails("an instrument without options fails");
        if (reason != "the host is too old for the plugin: it has no function `option`") {
            return fails("the missing function is reported to the caller");
        }
    }
    return 0;
}
