/* Ids, strings, errors. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_BASE_HPP
#define PASSDOCK_CPP_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "macros.hpp"

/* Returns a function of a host table. Throws if the host is too old to have it. */
#define PASSDOCK_CPP_CALL(table, name)                                                             \
    ::passdock::detail::table_function<&std::decay_t<decltype(*(table))>::name>((table), #name)

namespace passdock {
/* Plugins that were built with different versions of this header may be in one process, so their inline
 * functions must have different names. For the same reason no inline function here has a static
 * variable. */
inline namespace PASSDOCK_CPP_VERSION {

/* The id of one kind of entity. It is false if it is NONE. */
template <class Kind>
struct id {
    uint32_t raw = PASSDOCK_NONE;

    constexpr id() = default;
    constexpr explicit id(uint32_t raw_id) : raw(raw_id) {}
    constexpr explicit operator bool() const { return raw != PASSDOCK_NONE; }
    friend constexpr bool operator==(id a, id b) { return a.raw == b.raw; }
    friend constexpr bool operator!=(id a, id b) { return a.raw != b.raw; }
    friend constexpr bool operator<(id a, id b) { return a.raw < b.raw; }
};
using op_id = id<struct op_kind>;
using value_id = id<struct value_kind>;
using region_id = id<struct region_kind>;
using type_id = id<struct type_kind>;
using const_id = id<struct const_kind>;
using loc_id = id<struct loc_kind>;
using symbol_id = id<struct symbol_kind>;

/* Converts a string to a passdock_str, which borrows its bytes. */
inline passdock_str str(std::string_view text) {
    return {text.data(), text.size()};
}

/* Converts a passdock_str to a string view of the same bytes. */
inline std::string_view text(passdock_str str) {
    return str.len == 0 ? std::string_view() : std::string_view(str.ptr, str.len);
}

/* A borrowed array of elements. The function that returns it documents its lifetime. */
template <class T>
class array {
public:
    array() = default;
    array(const T *data, size_t size) : data_(data), size_(size) {}
    const T *data() const { return data_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T *begin() const { return data_; }
    const T *end() const { return data_ + size_; }
    const T &operator[](size_t index) const { return data_[index]; }

private:
    const T *data_ = nullptr;
    size_t size_ = 0;
};

/* An error: a message, a status, and the op that it is about, if any. If a pass doesn't catch it, the
 * pass fails with this message. */
class error : public std::runtime_error {
public:
    explicit error(const std::string &message, passdock_status status = PASSDOCK_STATUS_FAILED)
        : std::runtime_error(message), status_(status) {}

    /* Sets the op that the error is about: `throw passdock::error("...").at(op)`. */
    error &at(op_id op) {
        op_ = op;
        return *this;
    }
    /* Sets the op that the error is about, in a function other than the one that the pass runs on. */
    error &at(op_id op, symbol_id function) {
        function_ = function;
        return at(op);
    }
    passdock_status status() const { return status_; }
    op_id op() const { return op_; }
    symbol_id function() const { return function_; }

private:
    passdock_status status_;
    op_id op_;
    symbol_id function_{PASSDOCK_SYMBOL_EMPTY};
};

/* Thrown by a pass that can't continue after it has emitted an error. No further error is reported. */
struct stopped {};

namespace detail {

#if !PASSDOCK_CPP_EXCEPTIONS
/* Ends the process with the message of an error. */
[[noreturn]] inline void terminate_with(const error &reason) {
    std::fprintf(stderr, "%s\n", reason.what());
    std::abort();
}
#endif

/* Returns a function of a table. Throws an error UNSUPPORTED if the table doesn't have it. */
template <auto Function, class Table>
auto table_function(const Table *table, const char *name) {
    if (table != nullptr) {
        auto member = reinterpret_cast<const char *>(&(table->*Function));
        size_t end = static_cast<size_t>(member - reinterpret_cast<const char *>(table)) + sizeof(void *);
        if (end <= table->struct_size && table->*Function != nullptr) return table->*Function;
    }
    PASSDOCK_CPP_THROW("the host is too old for the plugin: it has no function `" + std::string(name) + "`",
                       PASSDOCK_STATUS_UNSUPPORTED);
}

/* Throws the message of `last_error` if the status isn't OK. */
template <class Table, class Handle>
void check(const Table *table, const Handle *handle, passdock_status status) {
    if (status == PASSDOCK_OK) return;
    std::string message(text(PASSDOCK_CPP_CALL(table, last_error)(handle)));
    if (message.empty()) message = "the host returned status " + std::to_string(status);
    PASSDOCK_CPP_THROW(message, status);
}

/* Converts ids to the numbers of the C ABI. */
template <class Kind>
std::vector<uint32_t> raw(const std::vector<id<Kind>> &ids) {
    std::vector<uint32_t> result;
    result.reserve(ids.size());
    for (id<Kind> each : ids) result.push_back(each.raw);
    return result;
}

template <class Id>
std::vector<Id> ids(const std::vector<uint32_t> &raw_ids) {
    std::vector<Id> result;
    result.reserve(raw_ids.size());
    for (uint32_t each : raw_ids) result.push_back(Id(each));
    return result;
}

/* The element type of constants with elements of a C++ type; NONE for types without one. */
template <class T>
inline constexpr passdock_dtype dtype_of = PASSDOCK_DTYPE_NONE;
template <>
inline constexpr passdock_dtype dtype_of<float> = PASSDOCK_DTYPE_F32;
template <>
inline constexpr passdock_dtype dtype_of<double> = PASSDOCK_DTYPE_F64;
template <>
inline constexpr passdock_dtype dtype_of<int8_t> = PASSDOCK_DTYPE_I8;
template <>
inline constexpr passdock_dtype dtype_of<uint8_t> = PASSDOCK_DTYPE_U8;
template <>
inline constexpr passdock_dtype dtype_of<int16_t> = PASSDOCK_DTYPE_I16;
template <>
inline constexpr passdock_dtype dtype_of<uint16_t> = PASSDOCK_DTYPE_U16;
template <>
inline constexpr passdock_dtype dtype_of<int32_t> = PASSDOCK_DTYPE_I32;
template <>
inline constexpr passdock_dtype dtype_of<uint32_t> = PASSDOCK_DTYPE_U32;
template <>
inline constexpr passdock_dtype dtype_of<int64_t> = PASSDOCK_DTYPE_I64;
template <>
inline constexpr passdock_dtype dtype_of<uint64_t> = PASSDOCK_DTYPE_U64;
template <>
inline constexpr passdock_dtype dtype_of<bool> = PASSDOCK_DTYPE_BOOL;

template <size_t Size>
struct unsigned_of_size;
template <>
struct unsigned_of_size<1> {
    using type = uint8_t;
};
template <>
struct unsigned_of_size<2> {
    using type = uint16_t;
};
template <>
struct unsigned_of_size<4> {
    using type = uint32_t;
};
template <>
struct unsigned_of_size<8> {
    using type = uint64_t;
};

} // namespace detail

/* Reads an element of a constant, which is little-endian on every machine. */
template <class T>
T read_element(const uint8_t *from) {
    using bits = typename detail::unsigned_of_size<sizeof(T)>::type;
    bits number = 0;
    for (size_t i = 0; i < sizeof(T); i++) {
        number = static_cast<bits>(number | static_cast<bits>(static_cast<bits>(from[i]) << (8 * i)));
    }
    if constexpr (std::is_same_v<T, bool>) {
        return number != 0;
    } else {
        T value;
        std::memcpy(&value, &number, sizeof value);
        return value;
    }
}

template <class T>
void write_element(uint8_t *to, T element) {
    typename detail::unsigned_of_size<sizeof(T)>::type number;
    std::memcpy(&number, &element, sizeof number);
    for (size_t i = 0; i < sizeof(T); i++) to[i] = static_cast<uint8_t>(number >> (8 * i));
}

/* ---- Dims -------------------------------------------------------------------------------------- */

inline passdock_dim dim(int64_t size) { return {PASSDOCK_DIM_CONST, PASSDOCK_NONE, size}; }
/* A dim that is a symbol of the function. */
inline passdock_dim dim(symbol_id symbol) {
    return {PASSDOCK_DIM_SYMBOL, PASSDOCK_NONE, static_cast<int64_t>(symbol.raw)};
}
inline passdock_dim unknown_dim() { return {PASSDOCK_DIM_UNKNOWN, PASSDOCK_NONE, 0}; }
/* The dims of a static shape. */
inline std::vector<passdock_dim> dims(const std::vector<int64_t> &shape) {
    std::vector<passdock_dim> result;
    for (int64_t size : shape) result.push_back(dim(size));
    return result;
}

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

template <class Kind>
struct std::hash<passdock::id<Kind>> {
    size_t operator()(passdock::id<Kind> id) const noexcept { return std::hash<uint32_t>()(id.raw); }
};

#endif /* PASSDOCK_CPP_BASE_HPP */
