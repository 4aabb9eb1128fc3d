/* A plugin's table, and the guard that catches exceptions. Part of passdock.hpp, which has
 * the rules. */
#ifndef PASSDOCK_CPP_PLUGIN_HPP
#define PASSDOCK_CPP_PLUGIN_HPP

#include "analysis.hpp"
#include "definition.hpp"
#include "macros.hpp"
#include "module.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* The pass that an instrument is called for. Valid until the function returns. */
class pass_info {
public:
    explicit pass_info(const passdock_pass_info *info) : info_(info) {}
    std::string_view name() const { return text(info_->name); }
    /* The plugin that provides the pass, or empty. */
    std::string_view plugin() const { return text(info_->plugin); }
    uint32_t opt_level() const { return info_->opt_level; }
    std::vector<std::string_view> required() const {
        std::vector<std::string_view> result;
        for (size_t i = 0; i < info_->required_count; i++) result.push_back(text(info_->required[i]));
        return result;
    }
    /* The error message, in `pass_failed`. */
    std::string_view error() const { return text(info_->error); }

private:
    const passdock_pass_info *info_;
};

/* The base class of instruments. The constructor of a derived class takes a `passdock::context &` or
 * nothing. passdock/instrument.h documents when each function is called. An exception makes the run
 * fail. */
class instrument {
public:
    virtual ~instrument() = default;
    virtual void enter_pass_ctx(context &) {}
    virtual void exit_pass_ctx(context &) {}
    /* Returns false to skip the pass. */
    virtual bool should_run(context &, const module_view &, const pass_info &) { return true; }
    virtual void run_before_pass(context &, const module_view &, const pass_info &) {}
    virtual void run_after_pass(context &, const module_view &, const pass_info &) {}
    virtual void pass_failed(context &, const module_view &, const pass_info &) {}
    /* Returns the report, after all passes ran. */
    virtual std::string report(context &) { return {}; }
};

namespace detail {

/* Calls `body` and returns its status; OK if it returns nothing. */
template <class Body>
passdock_status status_of(Body &body) {
    if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return PASSDOCK_OK;
    } else {
        static_assert(std::is_same_v<decltype(body()), passdock_status>,
                      "a pass and a function of a definition return nothing or a passdock_status");
        return body();
    }
}

/* Runs `body` and returns its status. Passes an exception to `report`, which returns the status. A
 * passdock::error is a failure. Any other exception is a bug, which the ABI calls a panic. */
template <class Body, class Report>
passdock_status guarded(Body &&body, Report &&report) noexcept {
#if PASSDOCK_CPP_EXCEPTIONS
    try {
        return status_of(body);
    } catch (const stopped &) {
        return PASSDOCK_STATUS_FAILED;
    } catch (const error &thrown) {
        bool config = thrown.status() == PASSDOCK_STATUS_CONFIG;
        return report(thrown, config ? PASSDOCK_STATUS_CONFIG : PASSDOCK_STATUS_FAILED);
    } catch (const std::exception &thrown) {
        return report(thrown, PASSDOCK_STATUS_PANICKED);
    } catch (...) {
        return report("exception of a type other than std::exception", PASSDOCK_STATUS_PANICKED);
    }
#else
    static_cast<void>(report);
    return status_of(body);
#endif
}

/* Reports the reason of a failure to the context. */
class report_failure {
public:
    report_failure(const passdock_host *host, passdock_context *context) : host_(host), context_(context) {}

    passdock_status operator()(const error &thrown, passdock_status status) const noexcept {
        passdock_diagnostic reason = make_diagnostic(thrown.what(), status);
        reason.op = thrown.op().raw;
        reason.function = thrown.function().raw;
        return emit(reason, status);
    }
    passdock_status operator()(const std::exception &thrown, passdock_status status) const noexcept {
        return emit(make_diagnostic(thrown.what(), status), status);
    }
    passdock_status operator()(const char *message, passdock_status status) const noexcept {
        return emit(make_diagnostic(message, status), status);
    }

private:
    static passdock_diagnostic make_diagnostic(const char *message, passdock_status status) noexcept {
        passdock_diagnostic reason{};
        reason.struct_size = sizeof reason;
        reason.severity = status == PASSDOCK_STATUS_PANICKED ? PASSDOCK_SEVERITY_BUG : PASSDOCK_SEVERITY_ERROR;
        reason.flags = PASSDOCK_DIAGNOSTIC_REASON;
        reason.op = PASSDOCK_NONE;
        reason.message = passdock_text(message);
        return reason;
    }
    passdock_status emit(const passdock_diagnostic &reason, passdock_status status) const noexcept {
        if (PASSDOCK_HAS(host_->context, emit)) host_->context->emit(context_, &reason);
        return status;
    }
    const passdock_host *host_;
    passdock_context *context_;
};

/* Reports the reason of a rejection by an op definition. */
class report_rejection {
public:
    report_rejection(const passdock_host *host, passdock_op_call *call) : host_(host), call_(call) {}

    passdock_status operator()(const error &thrown, passdock_status) const noexcept {
        switch (thrown.status()) {
        /* The status "nothing is known" of the host is passed on. */
        case PASSDOCK_STATUS_NOT_FOUND: return reject(thrown.what(), PASSDOCK_STATUS_NOT_FOUND);
        case PASSDOCK_STATUS_INVALID:
        case PASSDOCK_STATUS_STALE: return reject(thrown.what(), PASSDOCK_STATUS_PANICKED);
        default: return reject(thrown.what(), PASSDOCK_STATUS_REJECTED);
        }
    }
    passdock_status operator()(const std::exception &thrown, passdock_status status) const noexcept {
        return reject(thrown.what(), status);
    }
    passdock_status operator()(const char *message, passdock_status status) const noexcept {
        return reject(message, status);
    }

private:
    passdock_status reject(const char *reason, passdock_status status) const noexcept {
        if (PASSDOCK_HAS(host_->definitions, reject)) host_->definitions->reject(call_, passdock_text(reason));
        return status;
    }
    const passdock_host *host_;
    passdock_op_call *call_;
};

/* The state of an entry: a part of the plugin. */
struct state {
    virtual ~state() = default;
};
template <class Part>
struct state_with : state {
    explicit state_with(Part state_value) : value(std::move(state_value)) {}
    Part value;
};

/* ---- The functions of the table's entries */

template <class Pass>
passdock_status run_function(const passdock_host *host, void *state, passdock_context *handle,
                             const passdock_function_ref *ref, const passdock_module_ref *module_ref) noexcept {
    auto pass = static_cast<const state_with<Pass> *>(state);
    return guarded(
        [&] {
            function f(host, *ref);
            context cx(host, handle);
            if constexpr (std::is_invocable_v<Pass, function &, context &, const module_view *>) {
                std::optional<module_view> m;
                if (module_ref != nullptr) m.emplace(host, *module_ref);
                return pass->value(f, cx, m ? &*m : nullptr);
            } else {
                return pass->value(f, cx);
            }
        },
        report_failure(host, handle));
}

template <class Pass>
passdock_status run_module(const passdock_host *host, void *state, passdock_context *handle,
                           const passdock_module_ref *ref) noexcept {
    auto pass = static_cast<const state_with<Pass> *>(state);
    return guarded(
        [&] {
            class module m(host, *ref); /* a line that starts with `module` declares a module */
            context cx(host, handle);
            return pass->value(m, cx);
        },
        report_failure(host, handle));
}

/* An instance of an instrument, and its last report. */
struct instance {
    std::unique_ptr<instrument> object;
    std::string last_report;
};

template <class Instrument>
passdock_status create_instrument(const passdock_host *host, void *, passdock_context *handle, void **out) noexcept {
    return guarded(
        [&] {
            auto result = std::make_unique<instance>();
            context cx(host, handle);
            if constexpr (std::is_constructible_v<Instrument, context &>) {
                result->object = std::make_unique<Instrument>(cx);
            } else {
                result->object = std::make_unique<Instrument>();
            }
            *out = result.release();
        },
        report_failure(host, handle));
}

inline void destroy_instrument(const passdock_host *, void *data, passdock_context *) noexcept {
    delete static_cast<instance *>(data);
}

/* Calls a function of an instance. */
template <class Body>
passdock_status watch(const passdock_host *host, void *data, passdock_context *handle, Body body) noexcept {
    return guarded(
        [&] {
            context cx(host, handle);
            body(*static_cast<instance *>(data), cx);
        },
        report_failure(host, handle));
}

template <void (instrument::*Method)(context &)>
passdock_status watch_context(const passdock_host *host, void *data, passdock_context *handle) noexcept {
    return watch(host, data, handle, [](instance &current, context &cx) { ((*current.object).*Method)(cx); });
}

template <void (instrument::*Method)(context &, const module_view &, const pass_info &)>
passdock_status watch_pass(const passdock_host *host, void *data, passdock_context *handle,
                           const passdock_module_ref *module, const passdock_pass_info *pass) noexcept {
    return watch(host, data, handle, [&](instance &current, context &cx) {
        ((*current.object).*Method)(cx, module_view(host, *module), pass_info(pass));
    });
}

inline passdock_status watch_should_run(const passdock_host *host, void *data, passdock_context *handle,
                                        const passdock_module_ref *module, const passdock_pass_info *pass,
                                        uint32_t *out) noexcept {
    return watch(host, data, handle, [&](instance &current, context &cx) {
        *out = current.object->should_run(cx, module_view(host, *module), pass_info(pass)) ? 1 : 0;
    });
}

inline passdock_status watch_report(const passdock_host *host, void *data, passdock_context *handle,
                                    passdock_str *out) noexcept {
    return watch(host, data, handle, [&](instance &current, context &cx) {
        current.last_report = current.object->report(cx);
        *out = str(current.last_report);
    });
}

/* The functions of an op definition. */
struct op_functions {
    op_definition::callback infer, evaluate, decompose, layout, alter_layout, supports;
};

template <op_definition::callback op_functions::*Which>
passdock_status call_op_function(const passdock_host *host, void *state, passdock_op_call *handle,
                                 const passdock_function_ref *ref, passdock_op_id op) noexcept {
    auto functions = static_cast<const state_with<op_functions> *>(state);
    return guarded(
        [&] {
            op_call call(host, handle, *ref, op_id(op));
            return (functions->value.*Which)(call);
        },
        report_rejection(host, handle));
}

} // namespace detail

/* A plugin's table, filled by PASSDOCK_PLUGIN, and the same for all hosts. Each name is a string literal, and is in
 * the manifest, too. The table is never freed, because libraries are never unloaded, and never moves, because the C
 * tables point into it. */
class plugin_table {
public:
    /* Fills the table. If that fails, the table has the reason. */
    explicit plugin_table(void (*fill)(plugin_table &)) noexcept {
        detail::guarded(
            [&] {
                fill(*this);
                finish();
            },
            [&](const auto &reason, passdock_status status) noexcept {
                reason_ = permanent(reason);
                return status;
            });
    }
    plugin_table(const plugin_table &) = delete;
    plugin_table &operator=(const plugin_table &) = delete;

    /* Adds a function pass: `void pass(passdock::function &, passdock::context &)`, or a callable object with these
     * arguments. It may return a passdock_status instead, and may take a third argument, `const
     * passdock::module_view *`: the module before the pass, or null. */
    template <class Pass>
    void function_pass(std::string_view name, Pass pass) {
        passdock_pass_entry entry{};
        entry.name = str(name);
        entry.state = bind(std::move(pass));
        entry.run_function = detail::run_function<Pass>;
        passes_.push_back(entry);
    }
    /* Adds a module pass: `void pass(passdock::module &, passdock::context &)`. It may return a passdock_status. */
    template <class Pass>
    void module_pass(std::string_view name, Pass pass) {
        passdock_pass_entry entry{};
        entry.name = str(name);
        entry.state = bind(std::move(pass));
        entry.run_module = detail::run_module<Pass>;
        passes_.push_back(entry);
    }
    /* Adds an instrument, a class derived from passdock::instrument. */
    template <class Instrument>
    void instrument(std::string_view name) {
        using base = passdock::instrument;
        static_assert(std::is_base_of_v<base, Instrument>, "an instrument is derived from passdock::instrument");
        passdock_instrument_entry entry{};
        entry.name = str(name);
        entry.create = detail::create_instrument<Instrument>;
        entry.destroy = detail::destroy_instrument;
        entry.enter_pass_ctx = detail::watch_context<&base::enter_pass_ctx>;
        entry.exit_pass_ctx = detail::watch_context<&base::exit_pass_ctx>;
        entry.should_run = detail::watch_should_run;
        entry.run_before_pass = detail::watch_pass<&base::run_before_pass>;
        entry.run_after_pass = detail::watch_pass<&base::run_after_pass>;
        entry.pass_failed = detail::watch_pass<&base::pass_failed>;
        entry.report = detail::watch_report;
        instruments_.push_back(entry);
    }
    /* Adds an op definition, or an extension, in the order of the manifest. `since` is the first version of its domain
     * that it applies to. */
    void op(std::string_view name, int64_t since, op_definition definition) {
        using detail::op_functions;
        definitions_.push_back(std::move(definition));
        const op_definition &stored = definitions_.back();
        passdock_op_entry entry{};
        entry.name = str(name);
        entry.since = since;
        entry.min_operands = stored.min_operands_;
        entry.max_operands = stored.max_operands_;
        entry.min_results = stored.min_results_;
        entry.max_results = stored.max_results_;
        entry.traits = stored.traits_;
        entry.state = bind(op_functions{stored.infer_, stored.evaluate_, stored.decompose_, stored.layout_,
                                      stored.alter_layout_, stored.supports_});
        if (stored.infer_) entry.infer = detail::call_op_function<&op_functions::infer>;
        if (stored.evaluate_) entry.evaluate = detail::call_op_function<&op_functions::evaluate>;
        if (stored.decompose_) entry.decompose = detail::call_op_function<&op_functions::decompose>;
        if (stored.layout_) entry.layout = detail::call_op_function<&op_functions::layout>;
        if (stored.alter_layout_) entry.alter_layout = detail::call_op_function<&op_functions::alter_layout>;
        if (stored.supports_) entry.supports = detail::call_op_function<&op_functions::supports>;
        auto &targets = targets_.emplace_back();
        for (const std::string &target : stored.targets_) targets.push_back(str(target));
        entry.targets = targets.data();
        entry.target_count = targets.size();
        if (!stored.attrs_.empty()) {
            const auto &attrs = attr_entries(stored);
            entry.attrs = attrs.data();
            entry.attr_count = static_cast<uint32_t>(attrs.size());
        }
        entry.attr_stride = sizeof(passdock_attr_entry);
        ops_.push_back(entry);
    }

    /* Returns the table. If it couldn't be filled, returns null and sets the reason. */
    const passdock_plugin *attach(passdock_attach *attach) const noexcept {
        if (table_.struct_size != 0) return &table_;
        attach->reason = reason_;
        return nullptr;
    }

private:
    void finish() {
        table_.struct_size = sizeof table_;
        table_.passes = passes_.data();
        table_.pass_count = static_cast<uint32_t>(passes_.size());
        table_.pass_stride = sizeof(passdock_pass_entry);
        table_.ops = ops_.data();
        table_.op_count = static_cast<uint32_t>(ops_.size());
        table_.op_stride = sizeof(passdock_op_entry);
        table_.instruments = instruments_.data();
        table_.instrument_count = static_cast<uint32_t>(instruments_.size());
        table_.instrument_stride = sizeof(passdock_instrument_entry);
    }
    static passdock_str permanent(const char *reason) noexcept { return passdock_text(reason); }
    /* Returns a copy that is never freed: the host may read it as long as the library is loaded. */
    static passdock_str permanent(const std::exception &reason) noexcept {
        const size_t size = std::strlen(reason.what());
        char *message = new (std::nothrow) char[size + 1];
        if (message == nullptr) return passdock_text("out of memory");
        std::memcpy(message, reason.what(), size + 1);
        return {message, size};
    }
    template <class Part>
    void *bind(Part part) {
        auto result = std::make_unique<detail::state_with<Part>>(std::move(part));
        void *state = result.get();
        states_.push_back(std::move(result));
        return state;
    }
    const std::vector<passdock_attr_entry> &attr_entries(const op_definition &definition) {
        std::vector<passdock_attr_entry> &entries = attrs_.emplace_back();
        for (const auto &attr : definition.attrs_) {
            /* As in `set_attr`, an element of a list of strings is a pointer and a length. */
            passdock_attr_desc desc = attr.value.desc(symbol_id(), strings_.emplace_back());
            passdock_attr_entry entry{};
            entry.name = str(attr.name);
            entry.doc = str(attr.doc);
            entry.flags = attr.flags;
            entry.kind = attr.kind;
            if (attr.kind == PASSDOCK_ATTR_NONE) {
                entry.kind = desc.kind;
                entry.bits = desc.bits;
                entry.data = desc.data;
                entry.count = desc.count;
            }
            entries.push_back(entry);
        }
        return entries;
    }

    passdock_plugin table_{};
    passdock_str reason_{};
    std::vector<passdock_pass_entry> passes_;
    std::vector<passdock_op_entry> ops_;
    std::vector<passdock_instrument_entry> instruments_;
    std::vector<std::unique_ptr<detail::state>> states_;
    /* Deques, because there are pointers to the elements. */
    std::deque<op_definition> definitions_;
    std::deque<std::vector<passdock_attr_entry>> attrs_;
    std::deque<std::vector<passdock_str>> targets_;
    std::deque<std::vector<passdock_bytes>> strings_;
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_PLUGIN_HPP */
