/* Reading attributes, and values to set. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_ATTRIBUTE_HPP
#define PASSDOCK_CPP_ATTRIBUTE_HPP

#include "base.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {
namespace detail {

/* Returns the symbol of a string, and interns the string if it is new. */
inline symbol_id intern(const passdock_host *host, const passdock_symbols *symbols,
                        std::string_view text) {
    symbol_id result(PASSDOCK_CPP_CALL(host->symbols, intern)(symbols, str(text)));
    if (!result) PASSDOCK_CPP_THROW("invalid name: too long or not UTF-8", PASSDOCK_STATUS_INVALID);
    return result;
}

template <class T>
T record_at(const passdock_column &column, uint32_t index) {
    auto found = static_cast<const T *>(passdock_at(&column, index, sizeof(T)));
    return found != nullptr ? *found : T();
}

inline std::string text_at(const passdock_function_view &view, passdock_range range) {
    if (range.len == 0 || range.start >= view.bytes.len || range.len > view.bytes.len - range.start) {
        return {};
    }
    return {static_cast<const char *>(view.bytes.base) + range.start, range.len};
}

/* Maps a C++ type to a kind of attribute: the kind, its name in messages, and how to read it. */
template <class T>
struct attr_traits {
    static_assert(sizeof(T) == 0, "an attribute is an int64_t, a float, a std::string, a const_id, a "
                                  "type_id, a region_id, or a std::vector of these");
};
template <>
struct attr_traits<int64_t> {
    static constexpr passdock_attr_kind kind = PASSDOCK_ATTR_INT, list = PASSDOCK_ATTR_INTS;
    static int64_t value(const passdock_function_view &, const passdock_attr &attr) {
        return static_cast<int64_t>(attr.bits);
    }
    static int64_t element(const passdock_function_view &view, uint32_t index) {
        return record_at<int64_t>(view.ints, index);
    }
};
template <>
struct attr_traits<float> {
    static constexpr passdock_attr_kind kind = PASSDOCK_ATTR_FLOAT, list = PASSDOCK_ATTR_FLOATS;
    static float value(const passdock_function_view &, const passdock_attr &attr) {
        auto bits = static_cast<uint32_t>(attr.bits);
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    static float element(const passdock_function_view &view, uint32_t index) {
        return record_at<float>(view.floats, index);
    }
};
template <>
struct attr_traits<std::string> {
    static constexpr passdock_attr_kind kind = PASSDOCK_ATTR_STRING, list = PASSDOCK_ATTR_STRINGS;
    static std::string value(const passdock_function_view &view, const passdock_attr &attr) {
        return text_at(view, attr.list);
    }
    static std::string element(const passdock_function_view &view, uint32_t index) {
        return text_at(view, record_at<passdock_range>(view.strings, index));
    }
};
template <class Id, passdock_attr_kind One, passdock_attr_kind List>
struct id_attr_traits {
    static constexpr passdock_attr_kind kind = One, list = List;
    static Id value(const passdock_function_view &, const passdock_attr &attr) {
        return Id(static_cast<uint32_t>(attr.bits));
    }
    static Id element(const passdock_function_view &view, uint32_t index) {
        return Id(record_at<uint32_t>(view.ids, index));
    }
};
template <>
struct attr_traits<const_id> : id_attr_traits<const_id, PASSDOCK_ATTR_TENSOR, PASSDOCK_ATTR_TENSORS> {};
template <>
struct attr_traits<type_id> : id_attr_traits<type_id, PASSDOCK_ATTR_TYPE, PASSDOCK_ATTR_TYPES> {};
template <>
struct attr_traits<region_id> : id_attr_traits<region_id, PASSDOCK_ATTR_REGION, PASSDOCK_ATTR_REGIONS> {};
template <class T>
struct attr_traits<std::vector<T>> {
    static constexpr passdock_attr_kind kind = attr_traits<T>::list;
    static std::vector<T> value(const passdock_function_view &view, const passdock_attr &attr) {
        std::vector<T> result;
        result.reserve(attr.list.len);
        for (uint32_t i = 0; i < attr.list.len; i++) {
            result.push_back(attr_traits<T>::element(view, attr.list.start + i));
        }
        return result;
    }
};

inline const char *attr_kind_name(passdock_attr_kind kind) {
    switch (kind) {
    case PASSDOCK_ATTR_INT: return "an integer";
    case PASSDOCK_ATTR_FLOAT: return "a float";
    case PASSDOCK_ATTR_STRING: return "a string";
    case PASSDOCK_ATTR_TENSOR: return "a tensor";
    case PASSDOCK_ATTR_TYPE: return "a type";
    case PASSDOCK_ATTR_REGION: return "a region";
    case PASSDOCK_ATTR_INTS: return "a list of integers";
    case PASSDOCK_ATTR_FLOATS: return "a list of floats";
    case PASSDOCK_ATTR_STRINGS: return "a list of strings";
    case PASSDOCK_ATTR_TENSORS: return "a list of tensors";
    case PASSDOCK_ATTR_TYPES: return "a list of types";
    case PASSDOCK_ATTR_REGIONS: return "a list of regions";
    case PASSDOCK_ATTR_REFERENCE: return "a reference to an attribute of the function";
    default: return "something else";
    }
}

} // namespace detail

/* An attribute of an op, valid until the next edit. False if the op doesn't have it. */
class attribute {
public:
    attribute() = default;
    attribute(const passdock_host *host, const passdock_function_view &view, const passdock_attr &record)
        : host_(host), view_(&view), record_(record) {}

    explicit operator bool() const { return view_ != nullptr; }
    passdock_attr_kind kind() const { return record_.kind; }
    const passdock_attr &record() const { return record_; }
    /* Whether its value is a T: an int64_t, a float, a std::string, a const_id, a type_id, a region_id,
     * or a std::vector of these. */
    template <class T>
    bool is() const {
        return view_ != nullptr && record_.kind == detail::attr_traits<T>::kind;
    }
    /* Returns its value if the attribute exists and is a T. */
    template <class T>
    std::optional<T> get_if() const {
        if (!is<T>()) return std::nullopt;
        return detail::attr_traits<T>::value(*view_, record_);
    }
    /* Returns its value. Throws if the attribute doesn't exist or isn't a T. */
    template <class T>
    T get() const {
        if (is<T>()) return detail::attr_traits<T>::value(*view_, record_);
        if (view_ == nullptr) PASSDOCK_CPP_THROW("missing attribute");
        auto name = text(PASSDOCK_CPP_CALL(host_->symbols, text)(view_->symbols, record_.name));
        PASSDOCK_CPP_THROW("invalid attribute `" + std::string(name) + "`: expected " +
                           detail::attr_kind_name(detail::attr_traits<T>::kind) + ", found " +
                           detail::attr_kind_name(record_.kind));
    }

private:
    const passdock_host *host_ = nullptr;
    const passdock_function_view *view_ = nullptr;
    passdock_attr record_{};
};

/* The value of an attribute to set: an integer, a float, a string, a const_id, a type_id, or a
 * std::vector of these. It owns its data. */
class attr_value {
public:
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    attr_value(T number) {
        if constexpr (std::is_floating_point_v<T>) {
            auto rounded = static_cast<float>(number);
            uint32_t bits;
            std::memcpy(&bits, &rounded, sizeof bits);
            kind_ = PASSDOCK_ATTR_FLOAT;
            bits_ = bits;
        } else {
            kind_ = PASSDOCK_ATTR_INT;
            bits_ = static_cast<uint64_t>(static_cast<int64_t>(number));
        }
    }
    attr_value(const char *text) : attr_value(std::string_view(text)) {}
    attr_value(const std::string &text) : attr_value(std::string_view(text)) {}
    attr_value(std::string_view text) : kind_(PASSDOCK_ATTR_STRING), strings_{std::string(text)} {}
    attr_value(const_id id) : kind_(PASSDOCK_ATTR_TENSOR), bits_(id.raw) {}
    attr_value(type_id id) : kind_(PASSDOCK_ATTR_TYPE), bits_(id.raw) {}
    attr_value(std::vector<int64_t> list) : kind_(PASSDOCK_ATTR_INTS), ints_(std::move(list)) {}
    attr_value(std::vector<float> list) : kind_(PASSDOCK_ATTR_FLOATS), floats_(std::move(list)) {}
    attr_value(std::vector<std::string> list) : kind_(PASSDOCK_ATTR_STRINGS), strings_(std::move(list)) {}
    attr_value(const std::vector<const_id> &list) : kind_(PASSDOCK_ATTR_TENSORS), ids_(detail::raw(list)) {}
    attr_value(const std::vector<type_id> &list) : kind_(PASSDOCK_ATTR_TYPES), ids_(detail::raw(list)) {}
    /* A reference to an attribute parameter of the function, whose value is of the kind `stands_for`. */
    static attr_value reference(symbol_id parameter, passdock_attr_kind stands_for) {
        attr_value value(0);
        value.kind_ = PASSDOCK_ATTR_REFERENCE;
        value.bits_ = parameter.raw;
        value.stands_for_ = stands_for;
        return value;
    }

    passdock_attr_kind kind() const { return kind_; }
    uint64_t bits() const { return bits_; }
    /* Returns the description with a name. It points into this value and into `strings`. */
    passdock_attr_desc desc(symbol_id name, std::vector<passdock_bytes> &strings) const {
        passdock_attr_desc desc{};
        desc.struct_size = sizeof desc;
        desc.kind = kind_;
        desc.name = name.raw;
        desc.bits = bits_;
        desc.stands_for = stands_for_;
        switch (kind_) {
        case PASSDOCK_ATTR_INTS: set(desc, ints_); break;
        case PASSDOCK_ATTR_FLOATS: set(desc, floats_); break;
        case PASSDOCK_ATTR_TENSORS:
        case PASSDOCK_ATTR_TYPES: set(desc, ids_); break;
        case PASSDOCK_ATTR_STRING: set(desc, strings_.front()); break;
        case PASSDOCK_ATTR_STRINGS:
            strings.clear();
            for (const std::string &each : strings_) {
                strings.push_back({reinterpret_cast<const uint8_t *>(each.data()), each.size()});
            }
            set(desc, strings);
            break;
        default: break;
        }
        return desc;
    }

private:
    template <class List>
    static void set(passdock_attr_desc &desc, const List &list) {
        desc.data = list.data();
        desc.count = list.size();
    }

    passdock_attr_kind kind_;
    passdock_attr_kind stands_for_ = PASSDOCK_ATTR_NONE;
    uint64_t bits_ = 0;
    std::vector<int64_t> ints_;
    std::vector<float> floats_;
    std::vector<std::string> strings_;
    std::vector<uint32_t> ids_;
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_ATTRIBUTE_HPP */
