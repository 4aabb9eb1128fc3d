/* Op definitions. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_DEFINITION_HPP
#define PASSDOCK_CPP_DEFINITION_HPP

#include <deque>

#include "read.hpp"

namespace passdock {
inline namespace v0_4 {

/* What a definition is asked about: one op, to read, and the answers. It lives until the definition
 * returns.
 *
 * A definition that has no answer, or finds the op wrong, throws an `error` with the reason: in
 * `evaluate`, "there is no answer, as ..."; in `infer`, "the op is wrong: ..."; in `supports`, "the target
 * doesn't take it, as ...". Any other exception is a mistake of the definition's, and is reported as such. */
class op_call {
public:
    op_call(const passdock_host *host, passdock_op_call *handle, passdock_function_ref function, op_id op)
        : host_(host), handle_(handle), function_(host, function), op_(op) {}

    passdock_op_call *handle() const { return handle_; }
    const passdock_definition_api *api() const { return host_->definitions; }
    /* Throws the host's sentence if a call on this handle didn't answer OK. */
    void check(passdock_status status) const { detail::check(api(), handle_, status); }

    const function_view &function() const { return function_; }
    op_id op() const { return op_; }
    value_id operand(uint32_t index) const { return function_.operand(op_, index); }
    attribute attr(std::string_view name) const { return function_.attr(op_, name); }
    /* The type of an operand; of one that is left out, the unknown type. */
    type_spec operand_type(uint32_t index) const { return function_.spec(function_.type(operand(index))); }
    /* The elements of an operand, a small tensor of integers, as far as known. */
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
    /* The result, a small tensor of integers or booleans, holds these, row by row. */
    void set_result_dims(uint32_t index, const std::vector<passdock_dim> &dims) {
        check(PASSDOCK_CPP_CALL(api(), set_result_dims)(handle_, index, dims.data(), dims.size()));
    }
    passdock_dim add_expr(passdock_expr_kind kind, passdock_dim lhs, passdock_dim rhs) {
        passdock_dim made = unknown_dim();
        check(PASSDOCK_CPP_CALL(api(), add_expr)(handle_, kind, lhs, rhs, &made));
        return made;
    }
    type_id add_type(const type_spec &type) {
        type_id made;
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), add_type)(handle_, &desc, &made.raw);
        }));
        return made;
    }
    /* In `evaluate`: room of `len` bytes for a result's elements, all zero, little-endian; to be filled
     * before returning. Once per result. */
    uint8_t *allocate_result(uint32_t index, const type_spec &type, size_t len) {
        uint8_t *room = nullptr;
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), allocate_result)(handle_, index, &desc, len, &room);
        }));
        return room;
    }
    /* In `evaluate`: a result's elements, row by row. */
    template <class T>
    void set_result(uint32_t index, const type_spec &type, const std::vector<T> &elements) {
        uint8_t *room = allocate_result(index, type, elements.size() * sizeof(T));
        for (size_t i = 0; i < elements.size(); i++) write_element<T>(room + i * sizeof(T), elements[i]);
    }
    /* In `decompose`, `legalize`, `layout` and `alter_layout`: the op's body, as the IR text of one function. */
    void set_body(std::string_view text) {
        check(PASSDOCK_CPP_CALL(api(), set_body)(handle_, str(text)));
    }
    /* In `supports`, which only reads and can add no type or expression: the target that is asked about. */
    std::string_view target() const {
        passdock_str target{};
        check(PASSDOCK_CPP_CALL(api(), target)(handle_, &target));
        return text(target);
    }
    /* In `layout` and `alter_layout`: the layout that an operand is asked for in, or has; empty: as it is. */
    std::string_view wanted_layout(uint32_t index) const {
        passdock_str layout{};
        const passdock_status status = PASSDOCK_CPP_CALL(api(), wanted_layout)(handle_, index, &layout);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return {};
        check(status);
        return text(layout);
    }
    /* In the same: the layouts in which the body takes an operand and gives a result. */
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

/* The definition of an operator, which `(op, NAME, SINCE, definition)` of PASSDOCK_PLUGIN takes. Its
 * functions are called on any thread, several at once. */
class op_definition {
public:
    using answer = void (*)(op_call &);

    /* How many operands an op may have; UINT32_MAX: any number. */
    op_definition &operands(uint32_t least, uint32_t most) {
        least_ = least;
        most_ = most;
        return *this;
    }
    /* PASSDOCK_TRAIT_* */
    op_definition &traits(uint64_t traits) {
        traits_ = traits;
        return *this;
    }
    /* An attribute with the default that an op without it means. */
    op_definition &attr(std::string name, attr_value absent, std::string doc = {}) {
        attrs_.push_back({std::move(name), std::move(doc), std::move(absent), PASSDOCK_ATTR_NONE, PASSDOCK_ATTR_ENTRY_DEFAULT});
        return *this;
    }
    /* An attribute without a default, of a kind; `flags` may be PASSDOCK_ATTR_ENTRY_REQUIRED. */
    op_definition &attr_of(std::string name, passdock_attr_kind kind, std::string doc = {}, uint32_t flags = 0) {
        attrs_.push_back({std::move(name), std::move(doc), attr_value(0), kind, flags});
        return *this;
    }
    /* Says the types of the op's results, as far as they can be known, by attributes, versions of domains,
     * and the types and known elements of operands, and by nothing else that it can see: while these are
     * the same, the host doesn't ask again. */
    op_definition &infer(answer function) {
        infer_ = function;
        return *this;
    }
    /* Computes its results. Asked only when all operands are constant. */
    op_definition &evaluate(answer function) {
        evaluate_ = function;
        return *this;
    }
    /* Says what other ops it is made of. */
    op_definition &decompose(answer function) {
        decompose_ = function;
        return *this;
    }
    /* The same, for back ends that don't have it. */
    op_definition &legalize(answer function) {
        legalize_ = function;
        return *this;
    }
    /* Says what the op is in the layouts that it is asked for. */
    op_definition &layout(answer function) {
        layout_ = function;
        return *this;
    }
    /* Says what the op is in the layouts that its maker wants. */
    op_definition &alter_layout(answer function) {
        alter_layout_ = function;
        return *this;
    }
    /* Says whether `target` of the call takes the op: throws an `error` with the reason why not. It is asked about
     * these targets. */
    op_definition &supports(std::vector<std::string> targets, answer function) {
        targets_ = std::move(targets);
        supports_ = function;
        return *this;
    }

private:
    friend class plugin_table;
    struct attr_line {
        std::string name, doc;
        attr_value value;
        passdock_attr_kind kind; /* NONE: that of the value, which is the default */
        uint32_t flags;
    };
    uint32_t least_ = 0, most_ = UINT32_MAX;
    uint64_t traits_ = 0;
    std::vector<attr_line> attrs_;
    std::vector<std::string> targets_;
    answer infer_ = nullptr, evaluate_ = nullptr, decompose_ = nullptr, legalize_ = nullptr;
    answer layout_ = nullptr, alter_layout_ = nullptr, supports_ = nullptr;
};

} // namespace v0_4
} // namespace passdock

#endif /* PASSDOCK_CPP_DEFINITION_HPP */
