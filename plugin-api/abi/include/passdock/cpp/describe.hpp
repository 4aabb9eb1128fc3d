/* Descriptions of types, ops and constants to create. Part of passdock.hpp, which has the rules.
 *
 * Each owns its data, except `constant_spec`, and sets the sizes and strides of the C structs. */
#ifndef PASSDOCK_CPP_DESCRIBE_HPP
#define PASSDOCK_CPP_DESCRIBE_HPP

#include "attribute.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* A type to intern. Its fields are those of passdock_type. */
struct type_spec {
    passdock_type_kind kind = PASSDOCK_TYPE_UNKNOWN;
    passdock_dtype dtype = PASSDOCK_DTYPE_NONE;
    uint32_t lanes = 0;
    uint32_t flags = 0;
    symbol_id name;
    std::vector<passdock_dim> dims;
    std::vector<passdock_dim> layout; /* a buffer's strides and, last, its offset */
    std::vector<type_id> items;       /* component types */

    static type_spec tensor(passdock_dtype dtype, std::vector<passdock_dim> dims) {
        type_spec spec;
        spec.kind = PASSDOCK_TYPE_TENSOR;
        spec.dtype = dtype;
        spec.dims = std::move(dims);
        return spec;
    }
    static type_spec tensor(passdock_dtype dtype, const std::vector<int64_t> &shape) {
        return tensor(dtype, passdock::dims(shape));
    }
    static type_spec unranked(passdock_dtype dtype) {
        type_spec spec = tensor(dtype, std::vector<passdock_dim>());
        spec.flags = PASSDOCK_TYPE_FLAG_UNRANKED;
        return spec;
    }
#ifdef PASSDOCK_LOOPS
    static type_spec scalar(passdock_dtype dtype, uint32_t lanes = 1) {
        type_spec spec;
        spec.kind = PASSDOCK_TYPE_SCALAR;
        spec.dtype = dtype;
        spec.lanes = lanes;
        return spec;
    }
#endif
    /* A type that consists of other types: a tuple, a sequence, an optional. */
    static type_spec composite(passdock_type_kind kind, std::vector<type_id> items) {
        type_spec spec;
        spec.kind = kind;
        spec.items = std::move(items);
        return spec;
    }
    bool is_ranked_tensor() const {
        return kind == PASSDOCK_TYPE_TENSOR && (flags & PASSDOCK_TYPE_FLAG_UNRANKED) == 0;
    }

    /* Calls `use` with the C description, which is valid until `use` returns. */
    template <class Use>
    auto described(Use use) const {
        std::vector<uint32_t> raw_items = detail::raw(items);
        passdock_type_desc desc{};
        desc.struct_size = sizeof desc;
        desc.kind = kind;
        desc.dtype = dtype;
        desc.lanes = lanes;
        desc.flags = flags;
        desc.name = name.raw;
        desc.dims = dims.data();
        desc.dim_count = dims.size();
        desc.layout = layout.data();
        desc.layout_count = layout.size();
        desc.items = raw_items.data();
        desc.item_count = raw_items.size();
        return use(desc);
    }
};

/* A port to create: the type and name of one argument or result of a region. */
struct port {
    type_id type;
    std::string name; /* empty: none */

    /* Returns the C description, which points to the name. */
    passdock_port_desc desc() const {
        passdock_port_desc desc{};
        desc.struct_size = sizeof desc;
        desc.type_id = type.raw;
        desc.name = str(name);
        return desc;
    }
    static std::vector<passdock_port_desc> described(const std::vector<port> &ports) {
        std::vector<passdock_port_desc> descs;
        for (const port &each : ports) {
            descs.push_back(each.desc());
        }
        return descs;
    }
};

/* The position of an op. */
struct position {
    region_id region;
    op_id before_op;

    static position before(op_id op) { return {region_id(), op}; }
    /* The end of a region, before its terminator if it has one. */
    static position end_of(region_id region) { return {region, op_id()}; }
    passdock_position raw() const { return {region.raw, before_op.raw}; }
};

/* An op to create: `op_builder("onnx.Transpose").operand(x).attr("perm", perm)`. */
class op_builder {
public:
    /* `name` is canonical, domain included. */
    explicit op_builder(std::string_view name) : name_(name) {}

    /* Appends an operand; NONE omits it. */
    op_builder &operand(value_id value) {
        operands_.push_back(value.raw);
        return *this;
    }
    op_builder &operands(const std::vector<value_id> &values) {
        for (value_id value : values) operand(value);
        return *this;
    }
    op_builder &attr(std::string_view name, attr_value value) {
        attrs_.emplace_back(name, std::move(value));
        return *this;
    }
    /* Appends a result. NONE is an unknown type, or in `replace_op` the type of the replaced result. */
    op_builder &result(type_id type = type_id()) {
        results_.push_back(type.raw);
        counted_ = true;
        return *this;
    }
    /* Sets the number of results to 0. The default is one result, or in `replace_op` the number of the
     * replaced op. */
    op_builder &no_results() {
        results_.clear();
        counted_ = true;
        return *this;
    }
    /* Appends an empty region with arguments. */
    op_builder &region(std::string_view name, std::vector<port> args = {}) {
        regions_.emplace_back(name, std::move(args));
        return *this;
    }
    op_builder &loc(loc_id loc) {
        loc_ = loc;
        return *this;
    }
    /* For `replace_op`: moves the regions of the old op to the new one. */
    op_builder &take_regions() {
        flags_ |= PASSDOCK_OP_DESC_TAKE_REGIONS;
        return *this;
    }
    /* For `replace_op`: copies the attributes of the old op; those of `attr` override them. */
    op_builder &take_attrs() {
        flags_ |= PASSDOCK_OP_DESC_TAKE_ATTRS;
        return *this;
    }

    /* Calls `use` with the C description, which is valid until `use` returns. `intern` returns symbols.
     * `result_count` is the default number of results. */
    template <class Intern, class Use>
    auto described(Intern intern, uint32_t result_count, Use use) const {
        std::vector<uint32_t> results = results_;
        if (!counted_) results.assign(result_count, PASSDOCK_NONE);
        std::vector<passdock_attr_desc> attrs;
        std::vector<std::vector<passdock_bytes>> strings(attrs_.size());
        for (size_t i = 0; i < attrs_.size(); i++) {
            attrs.push_back(attrs_[i].second.desc(intern(attrs_[i].first), strings[i]));
        }
        std::vector<std::vector<passdock_port_desc>> args;
        for (const auto &each : regions_) args.push_back(port::described(each.second));
        std::vector<passdock_region_desc> regions;
        for (size_t i = 0; i < regions_.size(); i++) {
            passdock_region_desc region{};
            region.struct_size = sizeof region;
            region.name = regions_[i].first.empty() ? PASSDOCK_NONE : intern(regions_[i].first).raw;
            region.args = args[i].data();
            region.arg_count = args[i].size();
            region.arg_stride = sizeof(passdock_port_desc);
            regions.push_back(region);
        }
        passdock_op_desc desc{};
        desc.struct_size = sizeof desc;
        desc.flags = flags_;
        desc.name = intern(name_).raw;
        desc.loc = loc_.raw;
        desc.operands = operands_.data();
        desc.operand_count = operands_.size();
        desc.result_types = results.data();
        desc.result_count = results.size();
        desc.attrs = attrs.data();
        desc.attr_count = attrs.size();
        desc.regions = regions.data();
        desc.region_count = regions.size();
        desc.attr_stride = sizeof(passdock_attr_desc);
        desc.region_stride = sizeof(passdock_region_desc);
        return use(desc);
    }

private:
    std::string name_;
    std::vector<uint32_t> operands_;
    std::vector<uint32_t> results_;
    std::vector<std::pair<std::string, attr_value>> attrs_;
    std::vector<std::pair<std::string, std::vector<port>>> regions_;
    loc_id loc_;
    uint32_t flags_ = 0;
    bool counted_ = false;
};

/* A constant to create. It borrows its elements. */
struct constant_spec {
    type_id type;                 /* a tensor type with constant dims */
    array<uint8_t> data;          /* little-endian, packed as in ONNX */
    std::string_view name = {};   /* empty: none */
    region_id region = region_id(); /* the region it is visible in; NONE: the whole function */
    bool splat = false;           /* `data` is one element that fills the shape */
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_DESCRIBE_HPP */
