/* Reading a function. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_READ_HPP
#define PASSDOCK_CPP_READ_HPP

#include "attribute.hpp"
#include "describe.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* Ops in program order, as of the time of the call: the function may be edited during the iteration. Ops
 * that are created meanwhile aren't visited, and erased ones are skipped. */
class op_range {
public:
    op_range(const passdock_function_view &view, std::vector<op_id> ids)
        : view_(&view), ids_(std::move(ids)) {}

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = op_id;
        using difference_type = std::ptrdiff_t;
        using pointer = const op_id *;
        using reference = op_id;

        iterator(const op_range &range, size_t index) : range_(&range), index_(index) { skip(); }
        op_id operator*() const { return range_->ids_[index_]; }
        iterator &operator++() {
            index_++;
            skip();
            return *this;
        }
        friend bool operator==(const iterator &a, const iterator &b) { return a.index_ == b.index_; }
        friend bool operator!=(const iterator &a, const iterator &b) { return a.index_ != b.index_; }

    private:
        void skip() {
            while (index_ < range_->ids_.size() &&
                   passdock_get_op(range_->view_, range_->ids_[index_].raw) == nullptr) {
                index_++;
            }
        }
        const op_range *range_;
        size_t index_;
    };
    iterator begin() const { return {*this, 0}; }
    iterator end() const { return {*this, ids_.size()}; }
    bool empty() const { return begin() == end(); }

private:
    const passdock_function_view *view_;
    std::vector<op_id> ids_;
};

/* A read-only function. Valid until the function that received it returns; it may be copied.
 *
 * For NONE or the id of an erased entity, getters return an empty result: NONE, an empty string, an
 * empty list, 0. So calls may be chained: `f.name(f.defining_op(f.operand(op, 0)))`. Pointers to records
 * are valid until the next edit. Lists are copies. The strings of symbols are valid as long as the
 * module. */
class function_view {
public:
    function_view(const passdock_host *host, passdock_function_ref ref) : host_(host), ref_(ref) {}

    /* ---- The C handle and tables, for calls without a wrapper */

    const passdock_host *host() const { return host_; }
    passdock_function *handle() const { return ref_.handle; }
    const passdock_function_view &view() const { return *ref_.view; }
    passdock_function_ref ref() const { return ref_; }
    const passdock_function_api *api() const { return host_->functions; }
    /* Throws the host's message if a call on this function didn't return OK. */
    void check(passdock_status status) const { detail::check(api(), handle(), status); }

    /* ---- Symbols */

    std::string_view text(symbol_id symbol) const {
        return passdock::text(PASSDOCK_CPP_CALL(host_->symbols, text)(view().symbols, symbol.raw));
    }
    /* Returns the symbol of a string, or NONE if the string isn't interned. */
    symbol_id find(std::string_view text) const {
        return symbol_id(PASSDOCK_CPP_CALL(host_->symbols, find)(view().symbols, str(text)));
    }
    /* Returns the symbol of a string, and interns the string if it is new. */
    symbol_id intern(std::string_view text) const { return detail::intern(host_, view().symbols, text); }

    /* ---- The function */

    std::string_view name() const { return text(symbol_id(view().name)); }
    symbol_id symbol() const { return symbol_id(view().name); }
#ifdef PASSDOCK_LOOPS
    bool is_prim() const { return view().kind == PASSDOCK_FUNCTION_PRIM; }
#endif
    uint64_t version() const { return view().version; }
    uint32_t op_count() const { return view().op_count; }
    region_id body() const { return region_id(view().body); }
    std::vector<value_id> parameters() const { return args(body()); }
    /* Returns an attribute of the function. */
    attribute attr(std::string_view name) const { return find_attr(view().function_attrs, name); }
    /* Returns the version of an imported domain. */
    std::optional<int64_t> opset(std::string_view domain) const {
        for (uint32_t i = 0; i < view().opsets.len; i++) {
            auto opset = at<passdock_opset>(view().opsets, i);
            if (opset != nullptr && text(symbol_id(opset->domain)) == domain) return opset->version;
        }
        return std::nullopt;
    }

    /* ---- Ops */

    /* Returns the record of an op, or null. */
    const passdock_op *op(op_id id) const { return passdock_get_op(&view(), id.raw); }
    /* Returns the op's name, domain included: "onnx.Conv". */
    std::string_view name(op_id id) const {
        auto record = op(id);
        return record != nullptr ? text(symbol_id(record->name)) : std::string_view();
    }
    uint32_t operand_count(op_id id) const { return op(id) != nullptr ? op(id)->operands.len : 0; }
    uint32_t result_count(op_id id) const { return op(id) != nullptr ? op(id)->results.len : 0; }
    /* Returns an operand, or NONE if it is omitted. */
    value_id operand(op_id id, uint32_t index) const {
        return value_id(passdock_operand(&view(), id.raw, index));
    }
    value_id result(op_id id, uint32_t index = 0) const {
        return value_id(passdock_result(&view(), id.raw, index));
    }
    std::vector<value_id> operands(op_id id) const {
        std::vector<value_id> result;
        for (uint32_t i = 0, count = operand_count(id); i < count; i++) result.push_back(operand(id, i));
        return result;
    }
    std::vector<value_id> results(op_id id) const {
        auto record = op(id);
        return record != nullptr ? list<value_id>(record->results) : std::vector<value_id>();
    }
    std::vector<region_id> regions(op_id id) const {
        auto record = op(id);
        return record != nullptr ? list<region_id>(record->regions) : std::vector<region_id>();
    }
    /* Returns the region that contains the op. */
    region_id parent(op_id id) const {
        return region_id(op(id) != nullptr ? op(id)->parent : PASSDOCK_NONE);
    }
    op_id next(op_id id) const { return op_id(op(id) != nullptr ? op(id)->next : PASSDOCK_NONE); }
    op_id prev(op_id id) const { return op_id(op(id) != nullptr ? op(id)->prev : PASSDOCK_NONE); }
    loc_id loc(op_id id) const { return loc_id(op(id) != nullptr ? op(id)->loc : PASSDOCK_NONE); }
    /* Returns the attribute with this name; false if the op doesn't have it. */
    attribute attr(op_id id, std::string_view name) const {
        auto record = op(id);
        return find_attr(record != nullptr ? record->attrs : passdock_range{0, 0}, name);
    }
    /* Returns the value of an attribute, or `default_value` if the op doesn't have it. Returns nothing if the
     * value is of another kind, or depends on the caller of the function. */
    template <class T>
    std::optional<T> attr_or(op_id id, std::string_view name, T default_value) const {
        attribute found = attr(id, name);
        if (!found) return default_value;
        return found.template get_if<T>();
    }
    /* Returns the traits of the op's name as PASSDOCK_TRAIT_*, or 0 if there is no definition. */
    uint64_t traits(op_id id) const {
        auto record = op(id);
        return record != nullptr ? PASSDOCK_CPP_CALL(host_->ops, traits)(handle(), record->name) : 0;
    }
    /* Whether the module has a function of this name, which an op of the name calls. */
    bool names_function(symbol_id name) const {
        return PASSDOCK_CPP_CALL(api(), names_function)(handle(), name.raw) != 0;
    }

    /* Returns all ops, terminators included. Ops of nested regions follow the op that contains them. */
    op_range ops() const { return {view(), walk(body(), symbol_id(), true)}; }
    /* Returns the ops with this name. */
    op_range ops_named(std::string_view name) const {
        symbol_id symbol = find(name);
        return {view(), symbol ? walk(body(), symbol, true) : std::vector<op_id>()};
    }
    /* Returns the ops of a region, without nested ones. */
    op_range ops_in(region_id region) const { return {view(), walk(region, symbol_id(), false)}; }

    /* ---- Regions */

    const passdock_region *region(region_id id) const { return passdock_get_region(&view(), id.raw); }
    /* Returns the op that contains the region; NONE for the body. */
    op_id parent(region_id id) const {
        return op_id(region(id) != nullptr ? region(id)->parent : PASSDOCK_NONE);
    }
    std::vector<value_id> args(region_id id) const {
        auto record = region(id);
        return record != nullptr ? list<value_id>(record->args) : std::vector<value_id>();
    }
    /* Returns the last op of the region: `return` or `yield`, once the region is complete. */
    op_id terminator(region_id id) const {
        return op_id(region(id) != nullptr ? region(id)->last : PASSDOCK_NONE);
    }

    /* ---- Values */

    const passdock_value *value(value_id id) const { return passdock_get_value(&view(), id.raw); }
    /* Returns the name of a value, or an empty string. */
    std::string_view name(value_id id) const {
        auto record = value(id);
        bool named = record != nullptr && record->name != PASSDOCK_NONE;
        return named ? text(symbol_id(record->name)) : std::string_view();
    }
    /* Returns the op that the value is a result of; NONE for arguments and constants. */
    op_id defining_op(value_id id) const { return op_id(passdock_defining_op(&view(), id.raw)); }
    uint32_t use_count(value_id id) const { return value(id) != nullptr ? value(id)->use_count : 0; }
    /* Returns the users of a value. An op occurs once for each of its operands that is the value. */
    std::vector<op_id> users(value_id id) const {
        std::vector<op_id> result;
        auto record = value(id);
        passdock_use_id next = record != nullptr ? record->first_use : PASSDOCK_NONE;
        while (auto use = at<passdock_use>(view().uses, next)) {
            result.push_back(op_id(use->user));
            next = use->next;
        }
        return result;
    }
    /* Returns the constant of a value, including the default of a parameter; else NONE. */
    const_id constant(value_id id) const {
        return const_id(value(id) != nullptr ? value(id)->constant : PASSDOCK_NONE);
    }
    bool is_constant(value_id id) const {
        auto record = value(id);
        return record != nullptr && (record->flags & PASSDOCK_VALUE_KIND) == PASSDOCK_VALUE_CONST;
    }

    /* ---- Types */

    type_id type(value_id id) const {
        return type_id(value(id) != nullptr ? value(id)->type_id : PASSDOCK_NONE);
    }
    /* Returns the record of a type, or null. */
    const passdock_type *type(type_id id) const { return at<passdock_type>(view().types, id.raw); }
    /* Returns a copy of a type, to change it or to pass it to another call. */
    type_spec spec(type_id id) const;
    /* Returns the element type, if it is known and the type has one. */
    std::optional<passdock_dtype> dtype(value_id id) const {
        auto record = type(type(id));
        if (record == nullptr || record->dtype == PASSDOCK_DTYPE_NONE) return std::nullopt;
        return record->dtype;
    }
    /* Returns the dims of a tensor, if its rank is known. */
    std::optional<std::vector<passdock_dim>> dims(value_id id) const {
        auto record = type(type(id));
        bool ranked = record != nullptr && record->kind == PASSDOCK_TYPE_TENSOR &&
                      (record->flags & PASSDOCK_TYPE_FLAG_UNRANKED) == 0;
        if (!ranked) return std::nullopt;
        return records<passdock_dim>(view().dims, record->dims);
    }
    /* Returns the sizes of a tensor, if all are known. */
    std::optional<std::vector<int64_t>> shape(value_id id) const {
        auto known = dims(id);
        if (!known) return std::nullopt;
        std::vector<int64_t> sizes;
        for (const passdock_dim &each : *known) {
            if (each.kind != PASSDOCK_DIM_CONST) return std::nullopt;
            sizes.push_back(each.value);
        }
        return sizes;
    }

    /* ---- Constants */

    const passdock_constant *constant(const_id id) const {
        return at<passdock_constant>(view().constants, id.raw);
    }
    /* Returns all bytes of a constant. They are valid until the next edit. */
    array<uint8_t> data(const_id id) const {
        passdock_bytes bytes{};
        check(PASSDOCK_CPP_CALL(api(), constant_data)(handle(), id.raw, &bytes));
        return {bytes.ptr, bytes.len};
    }
    /* Returns the elements of a value, if it is a constant (not the default of a parameter) with the
     * element type of T. */
    template <class T>
    std::optional<std::vector<T>> elements(value_id id) const {
        static_assert(detail::dtype_of<T> != PASSDOCK_DTYPE_NONE, "T is not an element type");
        if (!is_constant(id) || dtype(id) != detail::dtype_of<T>) return std::nullopt;
        array<uint8_t> bytes = data(constant(id));
        std::vector<T> result;
        result.reserve(bytes.size() / sizeof(T));
        for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
            result.push_back(read_element<T>(bytes.data() + i));
        }
        return result;
    }
    uint64_t hash(const_id id) const {
        uint64_t result = 0;
        check(PASSDOCK_CPP_CALL(api(), constant_hash)(handle(), id.raw, &result));
        return result;
    }
    /* Whether two constants have the same bytes; types aren't compared. */
    bool equal(const_id a, const_id b) const {
        uint32_t result = 0;
        check(PASSDOCK_CPP_CALL(api(), constants_equal)(handle(), a.raw, b.raw, &result));
        return result != 0;
    }

    /* ---- Metadata: keys and texts that no operator reads. In an ONNX file they are `metadata_props`. */

    std::vector<std::pair<std::string, std::string>> metadata(op_id id) const {
        return entries([&](const passdock_metadata **out, size_t *count) {
            return PASSDOCK_CPP_CALL(api(), op_metadata)(handle(), id.raw, out, count);
        });
    }
    std::vector<std::pair<std::string, std::string>> metadata(value_id id) const {
        return entries([&](const passdock_metadata **out, size_t *count) {
            return PASSDOCK_CPP_CALL(api(), value_metadata)(handle(), id.raw, out, count);
        });
    }

    /* ---- Inferred values and analyses */

    /* Returns the elements of a small integer tensor that `infer` found. */
    std::optional<std::vector<passdock_dim>> known_dims(value_id id) const {
        const passdock_dim *dims = nullptr;
        size_t count = 0;
        auto status = PASSDOCK_CPP_CALL(host_->ops, known_dims)(handle(), id.raw, &dims, &count);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return std::nullopt;
        check(status);
        return std::vector<passdock_dim>(dims, dims + count);
    }
    /* Returns an analysis of the host, for example PASSDOCK_ANALYSIS_LIVENESS with passdock_liveness as
     * the record. The records are valid until the next edit. */
    template <class Record>
    array<Record> analysis(std::string_view name) const {
        passdock_column column{};
        check(PASSDOCK_CPP_CALL(host_->analyses, column)(handle(), str(name), &column));
        return {static_cast<const Record *>(column.base), column.len};
    }

protected:
    template <class Record>
    const Record *at(const passdock_column &column, uint32_t index) const {
        return static_cast<const Record *>(passdock_at(&column, index, sizeof(Record)));
    }

private:
    template <class Record>
    std::vector<Record> records(const passdock_column &column, passdock_range range) const {
        std::vector<Record> result;
        result.reserve(range.len);
        for (uint32_t i = 0; i < range.len; i++) {
            if (auto record = at<Record>(column, range.start + i)) result.push_back(*record);
        }
        return result;
    }
    /* Returns the entries that a query for metadata returns, or nothing for an invalid id. */
    template <class Query>
    std::vector<std::pair<std::string, std::string>> entries(Query query) const {
        const passdock_metadata *out = nullptr;
        size_t count = 0;
        std::vector<std::pair<std::string, std::string>> pairs;
        if (query(&out, &count) != PASSDOCK_OK) return pairs;
        for (size_t i = 0; i < count; i++) pairs.emplace_back(passdock::text(out[i].key), passdock::text(out[i].text));
        return pairs;
    }
    template <class Id>
    std::vector<Id> list(passdock_range range) const {
        return detail::ids<Id>(records<uint32_t>(view().ids, range));
    }
    attribute find_attr(passdock_range range, std::string_view name) const {
        for (uint32_t i = 0; i < range.len; i++) {
            auto attr = at<passdock_attr>(view().attrs, range.start + i);
            /* There are few of them: comparing strings is faster than finding the symbol. */
            if (attr != nullptr && text(symbol_id(attr->name)) == name) return {host_, view(), *attr};
        }
        return {};
    }
    /* Uses an explicit stack, because regions may be nested deeper than the thread's stack allows. */
    std::vector<op_id> walk(region_id start_region, symbol_id name, bool nested) const {
        std::vector<op_id> result;
        std::vector<op_id> stack;
        auto first = [&](region_id id) { return op_id(region(id) != nullptr ? region(id)->first : PASSDOCK_NONE); };
        if (op_id start = first(start_region)) stack.push_back(start);
        while (!stack.empty()) {
            op_id id = stack.back();
            stack.pop_back();
            auto record = op(id);
            if (record == nullptr) continue;
            if (!name || record->name == name.raw) result.push_back(id);
            if (record->next != PASSDOCK_NONE) stack.push_back(op_id(record->next));
            if (!nested || record->regions.len == 0) continue;
            std::vector<region_id> inside = regions(id);
            for (auto each = inside.rbegin(); each != inside.rend(); ++each) {
                if (op_id start = first(*each)) stack.push_back(start);
            }
        }
        return result;
    }

    const passdock_host *host_;
    passdock_function_ref ref_;
};

inline type_spec function_view::spec(type_id id) const {
    type_spec spec;
    auto record = type(id);
    if (record == nullptr) return spec;
    spec.kind = record->kind;
    spec.dtype = record->dtype;
    spec.lanes = record->lanes;
    spec.flags = record->flags;
    spec.name = symbol_id(record->name);
    spec.dims = records<passdock_dim>(view().dims, record->dims);
    switch (record->kind) {
#ifdef PASSDOCK_LOOPS
    case PASSDOCK_TYPE_BUFFER: spec.layout = records<passdock_dim>(view().dims, record->aux); break;
#endif
    case PASSDOCK_TYPE_TUPLE:
    case PASSDOCK_TYPE_SEQUENCE:
    case PASSDOCK_TYPE_OPTIONAL:
    case PASSDOCK_TYPE_MAP:
    case PASSDOCK_TYPE_FUNCTION: spec.items = list<type_id>(record->aux); break;
    default: break;
    }
    return spec;
}

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_READ_HPP */
