/* Op definitions. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_DEFINITION_HPP
#define PASSDOCK_CPP_DEFINITION_HPP

#include <deque>

#include "read.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* A call of an op definition: the op, read-only, and the results. Valid until the definition returns.
 *
 * To reject, a definition throws an `error` with the reason, or returns `reject("...")`. In `evaluate`:
 * there is no result. In `infer`: the op is invalid. In `supports`: the target doesn't support the op. Any
 * other exception is reported as a bug of the definition. */
class op_call {
public:
    op_call(const passdock_host *host, passdock_op_call *handle, passdock_function_ref function, op_id op)
        : host_(host), handle_(handle), function_(host, function), op_(op) {}

    passdock_op_call *handle() const { return handle_; }
    const passdock_definition_api *api() const { return host_->definitions; }
    /* Throws the host's message if a call on this handle didn't return OK. */
    void check(passdock_status status) const { detail::check(api(), handle_, status); }

    /* Rejects the op and returns the status that the definition returns. */
    [[nodiscard]] passdock_status reject(std::string_view reason) {
        PASSDOCK_CPP_CALL(api(), reject)(handle_, str(reason));
        return PASSDOCK_STATUS_REJECTED;
    }

    const function_view &function() const { return function_; }
    op_id op() const { return op_; }
    value_id operand(uint32_t index) const { return function_.operand(op_, index); }
    attribute attr(std::string_view name) const { return function_.attr(op_, name); }
    /* Returns the type of an operand; for an omitted operand, the unknown type. */
    type_spec operand_type(uint32_t index) const { return function_.spec(function_.type(operand(index))); }
    /* Returns the known elements of an operand, a small integer tensor. */
    std::optional<std::vector<passdock_dim>> operand_dims(uint32_t index) const {
        const passdock_dim *dims = nullptr;
        size_t count = 0;
        auto status = PASSDOCK_CPP_CALL(api(), operand_dims)(handle_, index, &dims, &count);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return std::nullopt;
        check(status);
        return std::vector<passdock_dim>(dims, dims + count);
    }

    void set_result_type(uint32_t index, const type_spec &type) {
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), set_result_type)(handle_, index, &desc);
        }));
    }
    /* Sets the known elements of a result, a small tensor of integers or booleans, in row-major order. */
    void set_result_dims(uint32_t index, const std::vector<passdock_dim> &dims) {
        check(PASSDOCK_CPP_CALL(api(), set_result_dims)(handle_, index, dims.data(), dims.size()));
    }
    passdock_dim add_expr(passdock_expr_kind kind, passdock_dim lhs, passdock_dim rhs) {
        passdock_dim result = unknown_dim();
        check(PASSDOCK_CPP_CALL(api(), add_expr)(handle_, kind, lhs, rhs, &result));
        return result;
    }
    type_id add_type(const type_spec &type) {
        type_id result;
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), add_type)(handle_, &desc, &result.raw);
        }));
        return result;
    }
    /* In `evaluate`: allocates `len` zeroed bytes for the elements of a result, which are little-endian.
     * May be called once for each result; fill the memory before the definition returns. */
    uint8_t *allocate_result(uint32_t index, const type_spec &type, size_t len) {
        uint8_t *data = nullptr;
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), allocate_result)(handle_, index, &desc, len, &data);
        }));
        return data;
    }
    /* In `evaluate`: sets the elements of a result, in row-major order. */
    template <class T>
    void set_result(uint32_t index, const type_spec &type, const std::vector<T> &elements) {
        uint8_t *data = allocate_result(index, type, elements.size() * sizeof(T));
        for (size_t i = 0; i < elements.size(); i++) write_element<T>(data + i * sizeof(T), elements[i]);
    }
    /* In `decompose`, `layout` and `alter_layout`: sets the op's body, as IR text of one
     * function. */
    void set_body(std::string_view text) {
        check(PASSDOCK_CPP_CALL(api(), set_body)(handle_, str(text)));
    }
    /* In `supports`, which can't add types or expressions: returns the target in question. */
    std::string_view target() const {
        passdock_str target{};
        check(PASSDOCK_CPP_CALL(api(), target)(handle_, &target));
        return text(target);
    }
    /* In `layout` and `alter_layout`: returns the requested or available layout of an operand; empty:
     * unchanged. */
    std::string_view requested_layout(uint32_t index) const {
        passdock_str layout{};
        const passdock_status status = PASSDOCK_CPP_CALL(api(), requested_layout)(handle_, index, &layout);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return {};
        check(status);
        return text(layout);
    }
    /* In `layout` and `alter_layout`: sets the layout in which the body takes an operand or returns a
     * result. */
    void set_operand_layout(uint32_t index, std::string_view layout) {
        check(PASSDOCK_CPP_CALL(api(), set_operand_layout)(handle_, index, str(layout)));
    }
    void set_result_layout(uint32_t index, std::string_view layout) {
        check(PASSDOCK_CPP_CALL(api(), set_result_layout)(handle_, index, str(layout)));
    }

private:
    const passdock_host *host_;
    passdock_op_call *handle_;
    function_view function_;
    op_id op_;
};

/* The definition of an operator, or an extension of one. The host calls its functions on any thread, and on
 * several threads at the same time. */
class op_definition {
public:
    /* A function or a lambda without captures, which takes an `op_call &` and returns nothing or a
     * passdock_status. */
    class callback {
    public:
        callback() = default;
        template <class Function, class = std::enable_if_t<std::is_invocable_v<Function, op_call &>>>
        callback(Function function) {
            if constexpr (std::is_void_v<std::invoke_result_t<Function, op_call &>>) {
                without_status_ = function;
            } else {
                with_status_ = function;
            }
        }
        explicit operator bool() const { return without_status_ != nullptr || with_status_ != nullptr; }
        passdock_status operator()(op_call &call) const {
            if (with_status_ != nullptr) return with_status_(call);
            without_status_(call);
            return PASSDOCK_OK;
        }

    private:
        void (*without_status_)(op_call &) = nullptr;
        passdock_status (*with_status_)(op_call &) = nullptr;
    };

    /* Sets the minimum and maximum number of operands; UINT32_MAX: no limit. */
    op_definition &operands(uint32_t min, uint32_t max) {
        min_operands_ = min;
        max_operands_ = max;
        return *this;
    }
    /* Sets the minimum and maximum number of results; UINT32_MAX: no limit. */
    op_definition &results(uint32_t min, uint32_t max) {
        min_results_ = min;
        max_results_ = max;
        return *this;
    }
    /* Sets the traits, PASSDOCK_TRAIT_*. */
    op_definition &traits(uint64_t traits) {
        traits_ = traits;
        return *this;
    }
    /* Adds an attribute with a default value. */
    op_definition &attr(std::string name, attr_value default_value, std::string doc = {}) {
        attrs_.push_back({std::move(name), std::move(doc), std::move(default_value), PASSDOCK_ATTR_NONE,
                          PASSDOCK_ATTR_ENTRY_DEFAULT});
        return *this;
    }
    /* Adds an attribute of a kind without a default. `flags` may be PASSDOCK_ATTR_ENTRY_REQUIRED. */
    op_definition &attr_of_kind(std::string name, passdock_attr_kind kind, std::string doc = {}, uint32_t flags = 0) {
        attrs_.push_back({std::move(name), std::move(doc), attr_value(0), kind, flags});
        return *this;
    }
    /* Sets the type inference. It may depend only on attributes, versions of domains, and the types and
     * known elements of operands: as long as these are the same, the host may reuse the result. */
    op_definition &infer(callback function) {
        infer_ = function;
        return *this;
    }
    /* Sets the evaluation, which is called only if all operands are constant. */
    op_definition &evaluate(callback function) {
        evaluate_ = function;
        return *this;
    }
    /* Sets the decomposition into other ops. */
    op_definition &decompose(callback function) {
        decompose_ = function;
        return *this;
    }
    /* Sets the function that describes the op in requested layouts. */
    op_definition &layout(callback function) {
        layout_ = function;
        return *this;
    }
    /* Sets the function that describes the op in the layouts that the vendor prefers. */
    op_definition &alter_layout(callback function) {
        alter_layout_ = function;
        return *this;
    }
    /* Sets the function that decides whether one of these targets supports the op. If the target
     * doesn't, it rejects with the reason. */
    op_definition &supports(std::vector<std::string> targets, callback function) {
        targets_ = std::move(targets);
        supports_ = function;
        return *this;
    }

private:
    friend class plugin_table;
    struct attr_declaration {
        std::string name, doc;
        attr_value value;
        passdock_attr_kind kind; /* NONE: the kind of `value`, the default */
        uint32_t flags;
    };
    uint32_t min_operands_ = 0, max_operands_ = UINT32_MAX;
    uint32_t min_results_ = 0, max_results_ = UINT32_MAX;
    uint64_t traits_ = 0;
    std::vector<attr_declaration> attrs_;
    std::vector<std::string> targets_;
    callback infer_, evaluate_, decompose_, layout_, alter_layout_, supports_;
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_DEFINITION_HPP */
