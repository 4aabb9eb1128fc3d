/* The running pass: settings, diagnostics, queries to op definitions. Part of passdock.hpp, which has
 * the rules. */
#ifndef PASSDOCK_CPP_CONTEXT_HPP
#define PASSDOCK_CPP_CONTEXT_HPP

#include "function.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* The value of an option or config field. Valid as long as the context. */
class setting {
public:
    setting() { value_.struct_size = sizeof value_; }
    /* `name` is used in error messages. */
    setting(const passdock_setting &value, std::string name) : name_(std::move(name)) {
        std::memcpy(&value_, &value, value.struct_size < sizeof value_ ? value.struct_size : sizeof value_);
    }

    passdock_setting_kind kind() const { return value_.kind; }
    bool is_set() const { return value_.kind != PASSDOCK_SETTING_NONE; }
    const std::string &name() const { return name_; }

    /* Returns the value as a T: a bool, an int64_t, a double, a std::string, a setting, or a std::vector
     * or std::map<std::string, ...> of these. A std::optional is empty if nothing is set. Throws if the
     * value is of another kind. */
    template <class T>
    T get() const {
        return reader<T>::read(*this);
    }
    /* Returns the elements of a list, or the entries of a table with their names. */
    std::vector<setting> items() const {
        std::vector<setting> result;
        if (value_.kind != PASSDOCK_SETTING_LIST && value_.kind != PASSDOCK_SETTING_TABLE) return result;
        auto at = reinterpret_cast<const char *>(value_.items);
        for (uint32_t i = 0; i < value_.item_count; i++, at += value_.item_stride) {
            auto item = reinterpret_cast<const passdock_setting_item *>(at);
            result.emplace_back(item->value, std::string(text(item->name)));
        }
        return result;
    }

private:
    template <class T>
    struct reader {
        static_assert(sizeof(T) == 0, "a setting is a bool, an int64_t, a double, a std::string, a "
                                      "passdock::setting, or a std::vector, std::map or std::optional of these");
    };
    void expect(bool matches, const char *expected) const {
        if (matches) return;
        PASSDOCK_CPP_THROW("invalid value for `" + name_ + "`: expected " + expected, PASSDOCK_STATUS_INVALID);
    }

    passdock_setting value_{};
    std::string name_;
};

template <>
struct setting::reader<setting> {
    static setting read(const setting &from) { return from; }
};
template <>
struct setting::reader<bool> {
    static bool read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_BOOL, "a bool");
        return from.value_.int_value != 0;
    }
};
template <>
struct setting::reader<int64_t> {
    static int64_t read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_INT, "an integer");
        return from.value_.int_value;
    }
};
template <>
struct setting::reader<double> {
    static double read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_FLOAT, "a float");
        return from.value_.float_value;
    }
};
template <>
struct setting::reader<std::string> {
    static std::string read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_STRING, "a string");
        return std::string(text(from.value_.string_value));
    }
};
template <class T>
struct setting::reader<std::optional<T>> {
    static std::optional<T> read(const setting &from) {
        if (!from.is_set()) return std::nullopt;
        return from.get<T>();
    }
};
template <class T>
struct setting::reader<std::vector<T>> {
    static std::vector<T> read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_LIST, "a list");
        std::vector<T> result;
        for (const setting &item : from.items()) result.push_back(item.get<T>());
        return result;
    }
};
template <class T>
struct setting::reader<std::map<std::string, T>> {
    static std::map<std::string, T> read(const setting &from) {
        from.expect(from.kind() == PASSDOCK_SETTING_TABLE, "a table");
        std::map<std::string, T> result;
        for (const setting &item : from.items()) result.emplace(item.name(), item.get<T>());
        return result;
    }
};

/* A span of the IR: an op, or a part of it. */
struct op_span {
    op_id op;
    passdock_op_part part = PASSDOCK_PART_OP;
    uint32_t index = 0;
    std::string attr = {};
    symbol_id function = symbol_id(PASSDOCK_SYMBOL_EMPTY); /* EMPTY: that of the diagnostic */

    op_span(op_id id) : op(id) {}
    static op_span name(op_id op) { return {op, PASSDOCK_PART_NAME, 0, {}}; }
    static op_span operand(op_id op, uint32_t index) { return {op, PASSDOCK_PART_OPERAND, index, {}}; }
    static op_span result(op_id op, uint32_t index) { return {op, PASSDOCK_PART_RESULT, index, {}}; }
    static op_span attribute(op_id op, std::string name) {
        return {op, PASSDOCK_PART_ATTR, 0, std::move(name)};
    }
    /* Returns the same span in a function other than the diagnostic's. */
    op_span in(symbol_id name) const {
        op_span result = *this;
        result.function = name;
        return result;
    }

private:
    op_span(op_id span_op, passdock_op_part span_part, uint32_t span_index, std::string name)
        : op(span_op), part(span_part), index(span_index), attr(std::move(name)) {}
};

/* A message to the user: `diagnostic::warning("...").label(op, "here").help("...")`. */
class diagnostic {
public:
    diagnostic(passdock_severity severity, std::string message)
        : severity_(severity), message_(std::move(message)) {}
    static diagnostic warning(std::string message) { return {PASSDOCK_SEVERITY_WARNING, std::move(message)}; }
    static diagnostic note(std::string message) { return {PASSDOCK_SEVERITY_NOTE, std::move(message)}; }
    /* An error, which makes the pass fail. */
    static diagnostic error(std::string message) { return {PASSDOCK_SEVERITY_ERROR, std::move(message)}; }

    /* A short, stable identifier: "acme::bad-axis". */
    diagnostic &code(std::string text) {
        code_ = std::move(text);
        return *this;
    }
    /* Adds a location, with a short text below it. The first location is the primary one. */
    diagnostic &label(op_span span, std::string text = {}) {
        labels_.emplace_back(std::move(span), std::move(text));
        return *this;
    }
    /* Adds a note. */
    diagnostic &with_note(std::string text) {
        notes_.push_back(std::move(text));
        return *this;
    }
    /* Sets a suggestion for a fix. */
    diagnostic &help(std::string text) {
        help_ = std::move(text);
        return *this;
    }
    /* Sets the function of the locations. The default is the one that the pass runs on. */
    diagnostic &in(symbol_id function) {
        function_ = function;
        return *this;
    }

    /* Calls `use` with the C description, which is valid until `use` returns. */
    template <class Use>
    auto described(Use use) const {
        std::vector<passdock_label> labels;
        for (const auto &[span, text] : labels_) {
            passdock_label label{};
            label.struct_size = sizeof label;
            label.op = span.op.raw;
            label.part = span.part;
            label.index = span.index;
            label.function = span.function.raw;
            label.attr = str(span.attr);
            label.text = str(text);
            labels.push_back(label);
        }
        std::vector<passdock_str> notes;
        for (const std::string &each : notes_) notes.push_back(str(each));
        passdock_diagnostic desc{};
        desc.struct_size = sizeof desc;
        desc.severity = severity_;
        desc.op = PASSDOCK_NONE;
        desc.code = str(code_);
        desc.message = str(message_);
        desc.help = str(help_);
        desc.function = function_.raw;
        desc.label_stride = sizeof(passdock_label);
        desc.labels = labels.data();
        desc.label_count = labels.size();
        desc.notes = notes.data();
        desc.note_count = notes.size();
        return use(desc);
    }

private:
    passdock_severity severity_;
    std::string message_, code_, help_;
    std::vector<std::pair<op_span, std::string>> labels_;
    std::vector<std::string> notes_;
    symbol_id function_{PASSDOCK_SYMBOL_EMPTY};
};

/* Whether a target supports an op, according to op definitions. */
struct support {
    enum kind { supported, unsupported, unknown } kind;
    std::string reason; /* the reason, if it is unsupported */
};

/* The context of a running pass or instrument. Valid until the function that received it returns. */
class context {
public:
    context(const passdock_host *host, passdock_context *handle) : host_(host), handle_(handle) {}

    const passdock_host *host() const { return host_; }
    passdock_context *handle() const { return handle_; }
    const passdock_context_api *api() const { return host_->context; }
    /* Throws the host's message if a call on this context didn't return OK. */
    void check(passdock_status status) const { detail::check(api(), handle_, status); }

    /* ---- Settings */

    uint32_t opt_level() const { return PASSDOCK_CPP_CALL(api(), opt_level)(handle_); }
    /* Returns an option that the manifest declares: `cx.option<int64_t>("limit")`. See `setting::get`. */
    template <class T = setting>
    T option(std::string_view name) const {
        passdock_setting value{};
        value.struct_size = sizeof value;
        auto status = PASSDOCK_CPP_CALL(api(), option)(handle_, str(name), &value);
        return read<T>(status, value, "option", std::string(name));
    }
    /* Returns a field of a registered config key. For a key without fields, `field` is "". */
    template <class T = setting>
    T config(std::string_view key, std::string_view field = {}) const {
        passdock_setting value{};
        value.struct_size = sizeof value;
        auto status = PASSDOCK_CPP_CALL(api(), config)(handle_, str(key), str(field), &value);
        std::string name(key);
        if (!field.empty()) name.append(".").append(field);
        return read<T>(status, value, "config field", std::move(name));
    }
    /* Whether the host shows diagnostics of a severity. */
    bool shows(passdock_severity severity) const {
        return PASSDOCK_CPP_CALL(api(), shows)(handle_, severity) == 1;
    }
    /* Whether the program cancelled the run. A pass that takes long asks now and then, and throws an error. */
    bool is_cancelled() const { return PASSDOCK_CPP_CALL(api(), is_cancelled)(handle_) == 1; }
    /* Returns the name of the host: "passdock". */
    std::string_view host_name() const { return text(host_->name); }
    /* Returns the version of the host: "1.0.0". */
    std::string_view host_version() const { return text(host_->version); }
    /* Returns the kind of the registered pass with this name, if there is one. */
    std::optional<passdock_pass_kind> find_pass(std::string_view name) const {
        passdock_pass_kind kind = 0;
        auto status = PASSDOCK_CPP_CALL(api(), find_pass)(handle_, str(name), &kind);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return std::nullopt;
        check(status);
        return kind;
    }

    /* ---- Diagnostics */

    void emit(const diagnostic &message) {
        check(message.described([this](const passdock_diagnostic &desc) {
            return PASSDOCK_CPP_CALL(api(), emit)(handle_, &desc);
        }));
    }

    /* Emits the reason why the pass fails, and returns the status that it returns: `return cx.fail(op, "...")`.
     * `op` may be NONE. `function` is its function, if the pass runs on a module. */
    [[nodiscard]] passdock_status fail(op_id op, std::string_view message,
                         symbol_id function = symbol_id(PASSDOCK_SYMBOL_EMPTY)) {
        passdock_diagnostic reason = PASSDOCK_DIAGNOSTIC_INIT;
        reason.flags = PASSDOCK_DIAGNOSTIC_REASON;
        reason.op = op.raw;
        reason.function = function.raw;
        reason.message = str(message);
        check(PASSDOCK_CPP_CALL(api(), emit)(handle_, &reason));
        return PASSDOCK_STATUS_FAILED;
    }

    /* ---- Rewriting */

    /* Applies rules, the text of a `.rules` file, to a function until a fixed point. */
    void rewrite(function &f, std::string_view rules) {
        passdock_rewrite_desc desc = PASSDOCK_REWRITE_DESC_INIT;
        desc.rules = str(rules);
        f.check(PASSDOCK_CPP_CALL(host_->ops, rewrite)(handle_, f.handle(), &desc));
    }
    /* Inserts ops before an op: IR text of one function, whose parameters `args` replace. Returns the value of each
     * result. */
    std::vector<value_id> insert_text(function &f, op_id op, std::string_view text, const std::vector<value_id> &args,
                                      size_t result_count) {
        std::vector<uint32_t> raw = detail::raw(args), results(result_count);
        passdock_text_desc desc = PASSDOCK_TEXT_DESC_INIT;
        desc.op = op.raw;
        desc.text = str(text);
        desc.args = raw.data();
        desc.arg_count = raw.size();
        desc.results = results.data();
        desc.result_count = results.size();
        f.check(PASSDOCK_CPP_CALL(host_->ops, insert_text)(handle_, f.handle(), &desc));
        return detail::ids<value_id>(results);
    }
    /* Whether a rule with this name may do another rewrite. For rewrites in code. */
    bool may_rewrite(std::string_view rule) const {
        return PASSDOCK_CPP_CALL(api(), may_rewrite)(handle_, str(rule)) == PASSDOCK_OK;
    }
    /* Counts a rewrite by a rule. */
    void rewrote(std::string_view rule) { PASSDOCK_CPP_CALL(api(), rewrote)(handle_, str(rule)); }

    /* ---- Queries to op definitions */

    /* Infers the types of an op's results and refines them. */
    void infer(function &f, op_id op) {
        f.check(PASSDOCK_CPP_CALL(host_->ops, infer)(handle_, f.handle(), op.raw));
    }
    /* Evaluates an op whose operands are constant, and creates a constant for each result. Returns
     * nothing if the op can't be evaluated or a result is larger than `max_bytes`. */
    std::optional<std::vector<value_id>> evaluate(function &f, op_id op, uint64_t max_bytes) {
        passdock_evaluate_desc desc = PASSDOCK_EVALUATE_DESC_INIT;
        desc.max_bytes = max_bytes;
        return query_results(f, op, [&](passdock_value_id *out, size_t count) {
            return PASSDOCK_CPP_CALL(host_->ops, evaluate)(handle_, f.handle(), op.raw, &desc, out, count);
        });
    }
    /* Evaluates an op with other operands. The results are scratch constants: the caller erases those
     * that no op uses. */
    std::optional<std::vector<value_id>> evaluate_with(function &f, op_id op, const std::vector<value_id> &operands,
                                                       uint64_t max_bytes) {
        std::vector<uint32_t> raw = detail::raw(operands);
        passdock_evaluate_desc desc = PASSDOCK_EVALUATE_DESC_INIT;
        desc.max_bytes = max_bytes;
        return query_results(f, op, [&](passdock_value_id *out, size_t count) {
            return PASSDOCK_CPP_CALL(host_->ops, evaluate_with)(handle_, f.handle(), op.raw, raw.data(),
                                                                raw.size(), &desc, out, count);
        });
    }
    /* Inserts the decomposition of an op before the op, and returns a replacement for each result.
     * Returns nothing if there is none. */
    std::optional<std::vector<value_id>> decompose(function &f, op_id op) {
        return query_results(f, op, [&](passdock_value_id *out, size_t count) {
            return PASSDOCK_CPP_CALL(host_->ops, decompose)(handle_, f.handle(), op.raw, out, count);
        });
    }
    /* Checks whether a target supports an op, according to op definitions. */
    support supports(function &f, op_id op, std::string_view target) {
        auto status = PASSDOCK_CPP_CALL(host_->ops, supports)(handle_, f.handle(), op.raw, str(target));
        if (status == PASSDOCK_STATUS_NOT_FOUND) return {support::unknown, {}};
        if (auto reason = rejection(f, status)) return {support::unsupported, *reason};
        return {support::supported, {}};
    }
    /* Checks the number of operands and the attributes of an op. Returns an error message, or nothing. */
    std::optional<std::string> check_op(function &f, op_id op) {
        return rejection(f, PASSDOCK_CPP_CALL(host_->ops, check_op)(handle_, f.handle(), op.raw));
    }
    /* Checks whether the op would be valid with other operands. Returns the reason if it wouldn't. */
    std::optional<std::string> infer_with(function &f, op_id op, const std::vector<value_id> &operands) {
        std::vector<uint32_t> raw = detail::raw(operands);
        return rejection(f, PASSDOCK_CPP_CALL(host_->ops, infer_with)(handle_, f.handle(), op.raw, raw.data(),
                                                                      raw.size()));
    }

private:
    template <class T>
    T read(passdock_status status, const passdock_setting &value, const char *what, std::string name) const {
        if (status == PASSDOCK_STATUS_NOT_FOUND) {
            PASSDOCK_CPP_THROW(std::string("unknown ") + what + " `" + name + "`; declare it in the manifest",
                               status);
        }
        check(status);
        return setting(value, std::move(name)).get<T>();
    }
    template <class Call>
    static std::optional<std::vector<value_id>> query_results(function &f, op_id op, Call call) {
        std::vector<uint32_t> values(f.result_count(op), PASSDOCK_NONE);
        passdock_status status = call(values.data(), values.size());
        if (status == PASSDOCK_STATUS_NOT_FOUND) return std::nullopt;
        f.check(status);
        return detail::ids<value_id>(values);
    }
    static std::optional<std::string> rejection(function &f, passdock_status status) {
        if (status == PASSDOCK_STATUS_REJECTED) {
            return std::string(text(PASSDOCK_CPP_CALL(f.api(), last_error)(f.handle())));
        }
        f.check(status);
        return std::nullopt;
    }

    const passdock_host *host_;
    passdock_context *handle_;
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_CONTEXT_HPP */
