/* Editing a function. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_FUNCTION_HPP
#define PASSDOCK_CPP_FUNCTION_HPP

#include "read.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* A function to read and edit. An edit succeeds, or changes nothing and throws the host's
 * message. The status is REJECTED if it would break an invariant of the IR; this error may be caught. */
class function : public function_view {
public:
    using function_view::function_view;

    /* ---- Ops */

    op_id create_op(const op_builder &op, position at) {
        passdock_position position = at.raw();
        return make_op(op, 1, [&](const passdock_op_desc &desc, passdock_op_id *out) {
            return PASSDOCK_CPP_CALL(api(), create_op)(handle(), &desc, &position, out);
        });
    }
    /* Creates an op before `old`, moves all uses of the results of `old` to its results, and erases
     * `old`. Types, names and the location default to those of `old`. */
    op_id replace_op(op_id old, const op_builder &op) {
        return make_op(op, result_count(old), [&](const passdock_op_desc &desc, passdock_op_id *out) {
            return PASSDOCK_CPP_CALL(api(), replace_op)(handle(), old.raw, &desc, out);
        });
    }
    /* Moves all uses of the results of `old` to other values, one for each result, and erases `old`. */
    void replace_op_with(op_id old, const std::vector<value_id> &values) {
        std::vector<uint32_t> raw = detail::raw(values);
        check(PASSDOCK_CPP_CALL(api(), replace_op_with)(handle(), old.raw, raw.data(), raw.size()));
    }
    void replace_op_with(op_id old, value_id value) {
        check(PASSDOCK_CPP_CALL(api(), replace_op_with)(handle(), old.raw, &value.raw, 1));
    }
    /* Erases an op without users, with its regions. */
    void erase_op(op_id op) { check(PASSDOCK_CPP_CALL(api(), erase_op)(handle(), op.raw)); }
    /* Erases an op if it has no users, and returns whether it did. It doesn't check for side effects:
     * see `traits`. */
    bool erase_if_unused(op_id op) {
        if (this->op(op) == nullptr) return false;
        for (value_id result : results(op)) {
            if (use_count(result) != 0) return false;
        }
        erase_op(op);
        return true;
    }
    /* Moves an op within its region. It can't move before the definition of an operand or after a user. */
    void move_op(op_id op, position at) {
        passdock_position position = at.raw();
        check(PASSDOCK_CPP_CALL(api(), move_op)(handle(), op.raw, &position));
    }
    /* Sets an operand, or appends one (index = number of operands); NONE omits it. */
    void set_operand(op_id op, uint32_t index, value_id value) {
        check(PASSDOCK_CPP_CALL(api(), set_operand)(handle(), op.raw, index, value.raw));
    }
    void set_attr(op_id op, std::string_view name, const attr_value &value) {
        std::vector<passdock_bytes> strings;
        passdock_attr_desc desc = value.desc(intern(name), strings);
        check(PASSDOCK_CPP_CALL(api(), set_attr)(handle(), op.raw, &desc));
    }
    void remove_attr(op_id op, std::string_view name) {
        check(PASSDOCK_CPP_CALL(api(), remove_attr)(handle(), op.raw, intern(name).raw));
    }
    /* Sets or removes an attribute of the function. */
    void set_attr(std::string_view name, const attr_value &value) { set_attr(op_id(), name, value); }
    void remove_attr(std::string_view name) { remove_attr(op_id(), name); }
    void set_loc(op_id op, loc_id loc) {
        check(PASSDOCK_CPP_CALL(api(), set_loc)(handle(), op.raw, loc.raw));
    }
    /* Returns the location of an op that was merged from several ops. */
    loc_id fuse_locs(const std::vector<loc_id> &locs) {
        std::vector<uint32_t> raw = detail::raw(locs);
        loc_id result;
        check(PASSDOCK_CPP_CALL(api(), fuse_locs)(handle(), raw.data(), raw.size(), &result.raw));
        return result;
    }
    /* Returns the location of an ONNX node with this name. */
    loc_id name_loc(std::string_view name) {
        loc_id result;
        check(PASSDOCK_CPP_CALL(api(), name_loc)(handle(), str(name), &result.raw));
        return result;
    }

    /* ---- Values and types */

    void replace_uses(value_id from, value_id to) {
        check(PASSDOCK_CPP_CALL(api(), replace_uses)(handle(), from.raw, to.raw));
    }
    /* Refines the type of a value; the unknown type resets it. */
    void set_type(value_id value, type_id type) {
        check(PASSDOCK_CPP_CALL(api(), set_value_type)(handle(), value.raw, type.raw));
    }
    void set_type(value_id value, const type_spec &type) { set_type(value, add_type(type)); }
    /* Sets the name of a value. If it is in use, a number is appended. */
    void set_name(value_id value, std::string_view name) {
        check(PASSDOCK_CPP_CALL(api(), set_value_name)(handle(), value.raw, str(name)));
    }
    /* Sets an entry of the metadata. An empty text removes it. */
    void set_metadata(op_id op, std::string_view key, std::string_view text) {
        check(PASSDOCK_CPP_CALL(api(), set_op_metadata)(handle(), op.raw, str(key), str(text)));
    }
    void set_metadata(value_id value, std::string_view key, std::string_view text) {
        check(PASSDOCK_CPP_CALL(api(), set_value_metadata)(handle(), value.raw, str(key), str(text)));
    }
    type_id add_type(const type_spec &type) {
        type_id result;
        check(type.described([&](const passdock_type_desc &desc) {
            return PASSDOCK_CPP_CALL(api(), add_type)(handle(), &desc, &result.raw);
        }));
        return result;
    }
    /* Returns a dim expression, for example PASSDOCK_EXPR_ADD of two dims, in canonical form. */
    passdock_dim add_expr(passdock_expr_kind kind, passdock_dim lhs, passdock_dim rhs) {
        passdock_dim result = unknown_dim();
        check(PASSDOCK_CPP_CALL(api(), add_expr)(handle(), kind, lhs, rhs, &result));
        return result;
    }
    /* Replaces dim symbols with dims, simultaneously, in all types of the function. */
    void replace_symbols(const std::vector<std::pair<symbol_id, passdock_dim>> &pairs) {
        std::vector<uint32_t> symbols;
        std::vector<passdock_dim> dims;
        for (const auto &each : pairs) {
            symbols.push_back(each.first.raw);
            dims.push_back(each.second);
        }
        check(PASSDOCK_CPP_CALL(api(), replace_symbols)(handle(), symbols.data(), dims.data(), dims.size()));
    }
    /* Sets the version of a domain that the function imports. */
    void set_opset(std::string_view domain, int64_t version) {
        check(PASSDOCK_CPP_CALL(api(), set_opset)(handle(), str(domain), version));
    }

    /* ---- Constants */

    value_id add_constant(const constant_spec &constant) {
        passdock_constant_desc desc{};
        desc.struct_size = sizeof desc;
        desc.flags = constant.splat ? PASSDOCK_CONSTANT_DESC_SPLAT : 0;
        desc.type_id = constant.type.raw;
        desc.region = constant.region.raw;
        desc.name = str(constant.name);
        desc.data = {constant.data.data(), constant.data.size()};
        value_id result;
        check(PASSDOCK_CPP_CALL(api(), add_constant)(handle(), &desc, &result.raw));
        return result;
    }
    /* Creates a tensor constant from elements in row-major order, visible in the whole function. To use
     * it as an attribute, pass the `constant` of the value. */
    template <class T>
    value_id add_constant(const std::vector<int64_t> &shape, const std::vector<T> &elements,
                          std::string_view name = {}) {
        static_assert(detail::dtype_of<T> != PASSDOCK_DTYPE_NONE, "T is not an element type");
        std::vector<uint8_t> bytes(elements.size() * sizeof(T));
        for (size_t i = 0; i < elements.size(); i++) {
            write_element<T>(bytes.data() + i * sizeof(T), elements[i]);
        }
        constant_spec spec{add_type(type_spec::tensor(detail::dtype_of<T>, shape)), {bytes.data(), bytes.size()}, name};
        return add_constant(spec);
    }
    /* Erases a constant without users. */
    void erase_constant(const_id constant) {
        check(PASSDOCK_CPP_CALL(api(), erase_constant)(handle(), constant.raw));
    }

    /* ---- Regions, parameters and results */

    /* Replaces the body with a copy of the body of another function of the module. */
    void replace_body(const function_view &source) {
        check(PASSDOCK_CPP_CALL(api(), replace_body)(handle(), source.handle()));
    }

    /* Copies the ops of a region, without its terminator, from this function or another one. `args`
     * replace the region's arguments, and `captures` maps values of the other function to values of this
     * one. Returns the copy of each operand of the terminator. */
    std::vector<value_id> clone_region(region_id region, position at, const std::vector<value_id> &args,
                                       const std::vector<std::pair<value_id, value_id>> &captures = {},
                                       const function_view *source = nullptr) {
        const function_view &from = source != nullptr ? *source : *this;
        std::vector<value_id> region_args = from.args(region);
        if (region_args.size() != args.size()) {
            PASSDOCK_CPP_THROW("`clone_region` expects one value per argument of the region", PASSDOCK_STATUS_INVALID);
        }
        std::vector<uint32_t> results(from.operand_count(from.terminator(region)));
        std::vector<passdock_capture> pairs;
        for (size_t i = 0; i < args.size(); i++) pairs.push_back({region_args[i].raw, args[i].raw});
        for (const std::pair<value_id, value_id> &pair : captures) pairs.push_back({pair.first.raw, pair.second.raw});
        passdock_clone_desc desc = PASSDOCK_CLONE_DESC_INIT;
        desc.region = region.raw;
        if (source != nullptr) desc.source = source->ref();
        desc.at = at.raw();
        desc.captures = pairs.data();
        desc.capture_count = pairs.size();
        desc.results = results.data();
        desc.result_count = results.size();
        check(PASSDOCK_CPP_CALL(api(), clone_ops)(handle(), &desc));
        return detail::ids<value_id>(results);
    }
    /* Converts a type of another function of the module to a type of this one. */
    type_id type_from(const function_view &source, type_id type) {
        type_id result;
        check(PASSDOCK_CPP_CALL(api(), type_from)(handle(), source.handle(), type.raw, &result.raw));
        return result;
    }
    /* Moves the ops and constants of a region directly before the op that contains it, without a copy. */
    void inline_region(region_id region, const std::vector<value_id> &args) {
        std::vector<uint32_t> raw = detail::raw(args);
        check(PASSDOCK_CPP_CALL(api(), inline_region)(handle(), region.raw, raw.data(), raw.size()));
    }
    /* Appends an argument to a region. For the body it is a parameter, and the interface changes. */
    value_id add_arg(region_id region, const port &arg) {
        passdock_port_desc desc = arg.desc();
        value_id result;
        check(PASSDOCK_CPP_CALL(api(), add_arg)(handle(), region.raw, &desc, &result.raw));
        return result;
    }
    /* Sets the results of a region. `ports` has one for each value, or is empty; names and types that
     * ports omit don't change. */
    void set_results(region_id region, const std::vector<value_id> &values, std::vector<port> ports = {}) {
        if (ports.empty()) ports.resize(values.size());
        if (ports.size() != values.size()) {
            PASSDOCK_CPP_THROW("`set_results` expects one port per value, or none", PASSDOCK_STATUS_INVALID);
        }
        std::vector<uint32_t> raw = detail::raw(values);
        std::vector<passdock_port_desc> descs = port::described(ports);
        passdock_results_desc desc{};
        desc.struct_size = sizeof desc;
        desc.port_stride = sizeof(passdock_port_desc);
        desc.values = raw.data();
        desc.ports = descs.data();
        desc.count = raw.size();
        check(PASSDOCK_CPP_CALL(api(), set_results)(handle(), region.raw, &desc));
    }
    /* Removes unused arguments, all of them or none; for the body, parameters. */
    void remove_args(const std::vector<value_id> &args) {
        std::vector<uint32_t> raw = detail::raw(args);
        check(PASSDOCK_CPP_CALL(api(), remove_args)(handle(), raw.data(), raw.size()));
    }
    /* Converts parameters with a default into constants, all of them or none. */
    void freeze_args(const std::vector<value_id> &args) {
        std::vector<uint32_t> raw = detail::raw(args);
        check(PASSDOCK_CPP_CALL(api(), freeze_args)(handle(), raw.data(), raw.size()));
    }

private:
    template <class Make>
    op_id make_op(const op_builder &op, uint32_t results, Make make) {
        op_id result;
        check(op.described([this](std::string_view name) { return intern(name); }, results,
                           [&](const passdock_op_desc &desc) { return make(desc, &result.raw); }));
        return result;
    }
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_FUNCTION_HPP */
