/* Modules. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_MODULE_HPP
#define PASSDOCK_CPP_MODULE_HPP

#include "context.hpp"
#include "function.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* A read-only snapshot of a function. The destructor releases it. It must be destroyed before the
 * function that received the module returns. */
class snapshot : public function_view {
public:
    snapshot(const passdock_host *host, const passdock_module *module, passdock_function_ref ref)
        : function_view(host, ref), module_(module) {}
    snapshot(snapshot &&other) noexcept : function_view(other), module_(other.module_) {
        other.module_ = nullptr;
    }
    snapshot(const snapshot &) = delete;
    snapshot &operator=(const snapshot &) = delete;
    snapshot &operator=(snapshot &&) = delete;
    ~snapshot() {
        if (module_ != nullptr) host()->modules->release(module_, ref());
    }

private:
    const passdock_module *module_; /* null: moved from */
};

/* A read-only module. Valid until the function that received it returns; it may be copied. */
class module_view {
public:
    module_view(const passdock_host *host, passdock_module_ref ref) : host_(host), ref_(ref) {}

    const passdock_host *host() const { return host_; }
    passdock_module *handle() const { return ref_.handle; }
    const passdock_module_view &view() const { return *ref_.view; }
    const passdock_module_api *api() const { return host_->modules; }
    /* Throws the host's message if a call on this module didn't return OK. */
    void check(passdock_status status) const { detail::check(api(), handle(), status); }

    std::string_view text(symbol_id symbol) const {
        return passdock::text(PASSDOCK_CPP_CALL(host_->symbols, text)(view().symbols, symbol.raw));
    }
    /* Returns the symbol of a string, or NONE if the string isn't interned. */
    symbol_id find(std::string_view text) const {
        return symbol_id(PASSDOCK_CPP_CALL(host_->symbols, find)(view().symbols, str(text)));
    }
    symbol_id intern(std::string_view text) const { return detail::intern(host_, view().symbols, text); }

    /* Returns the functions of the module, in order. */
    std::vector<passdock_function_entry> functions() const {
        std::vector<passdock_function_entry> result;
        for (uint32_t i = 0; i < view().functions.len; i++) {
            auto entry = detail::record_at<passdock_function_entry>(view().functions, i);
            if (entry.name != PASSDOCK_NONE) result.push_back(entry);
        }
        return result;
    }
    /* Returns the names of the functions of a kind, as a list that edits don't change. */
    std::vector<symbol_id> functions(passdock_function_kind kind) const {
        std::vector<symbol_id> result;
        for (const passdock_function_entry &entry : functions()) {
            if (entry.kind == kind) result.push_back(symbol_id(entry.name));
        }
        return result;
    }
    /* Returns a snapshot of the current state of a function. */
    passdock::snapshot snapshot(symbol_id name) const {
        passdock_function_ref ref{};
        check(PASSDOCK_CPP_CALL(api(), snapshot)(handle(), name.raw, &ref));
        return {host_, handle(), ref};
    }
    passdock::snapshot snapshot(std::string_view name) const { return snapshot(named(name)); }

protected:
    /* Returns the symbol of a function's name. Throws if the string isn't interned. */
    symbol_id named(std::string_view name) const {
        symbol_id found = find(name);
        if (!found) {
            PASSDOCK_CPP_THROW("the module has no function `@" + std::string(name) + "`", PASSDOCK_STATUS_NOT_FOUND);
        }
        return found;
    }

private:
    const passdock_host *host_;
    passdock_module_ref ref_;
};

/* A module to read and edit. */
class module : public module_view {
public:
    using module_view::module_view;

    /* Returns a function to edit in place. It is valid until the function is removed, or until the next
     * `run_pass` on this module. */
    function edit(symbol_id name) {
        passdock_function_ref ref{};
        check(PASSDOCK_CPP_CALL(api(), edit)(handle(), name.raw, &ref));
        return {host(), ref};
    }
    function edit(std::string_view name) { return edit(named(name)); }
    /* Creates a function with an empty body, to edit as with `edit`. It imports the opsets of another
     * function; NONE: no opsets. */
    function create_function(std::string_view name, symbol_id opsets_of,
                             passdock_function_kind kind = PASSDOCK_FUNCTION_GRAPH) {
        passdock_function_desc desc{};
        desc.struct_size = sizeof desc;
        desc.kind = kind;
        desc.name = str(name);
        desc.opsets_of = opsets_of.raw;
        passdock_function_ref ref{};
        check(PASSDOCK_CPP_CALL(api(), create_function)(handle(), &desc, &ref));
        return {host(), ref};
    }
    void remove_function(symbol_id name) {
        check(PASSDOCK_CPP_CALL(api(), remove_function)(handle(), name.raw));
    }
    void remove_function(std::string_view name) { remove_function(named(name)); }
    /* Moves ops of one region of a function into a new function, and replaces them with a call. Returns the name
     * of the new function and the call. */
    std::pair<symbol_id, op_id> outline(symbol_id function, const std::vector<op_id> &ops, std::string_view name) {
        std::vector<uint32_t> raw = detail::raw(ops);
        passdock_outline_desc desc = PASSDOCK_OUTLINE_DESC_INIT;
        desc.function = function.raw;
        desc.ops = raw.data();
        desc.op_count = raw.size();
        desc.name = str(name);
        std::pair<symbol_id, op_id> result;
        check(PASSDOCK_CPP_CALL(api(), outline)(handle(), &desc, &result.first.raw, &result.second.raw));
        return result;
    }
    /* Runs a registered pass or Sequential on the module, at any level. */
    void run_pass(context &cx, std::string_view name) {
        passdock_run_desc desc = PASSDOCK_RUN_DESC_INIT;
        desc.name = str(name);
        check(PASSDOCK_CPP_CALL(api(), run_pass)(handle(), cx.handle(), &desc));
    }
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_MODULE_HPP */
