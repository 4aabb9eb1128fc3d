/* Analyses that a plugin defines. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_ANALYSIS_HPP
#define PASSDOCK_CPP_ANALYSIS_HPP

#include "function.hpp"

namespace passdock {
inline namespace PASSDOCK_CPP_VERSION {

/* An analysis that the host caches for the current state of a function, including for later passes of this
 * plugin: `own_analysis<costs>("costs", compute_costs).get(f)`.
 *
 * The result of `compute` may depend only on the function and on op definitions, and several threads may
 * read it at the same time. The destructor of T may run on any thread and must not call the host. Two
 * analyses with the same `compute` and the same key share their results. */
template <class T>
class own_analysis {
public:
    own_analysis(std::string key, T (*compute)(const function_view &)) : key_(std::move(key)), compute_(compute) {}

    /* Returns the result for the current state of the function, and computes it if it isn't cached. It is valid
     * until the next edit of the function or the end of its handle. */
    const T &get(const function_view &f) const {
        if (const T *cached = find(f)) return *cached;
        auto put = PASSDOCK_CPP_CALL(f.host()->analyses, put);
        std::unique_ptr<T> result(new T(compute_(f)));
        void *cached = nullptr;
        /* The host owns the data from here on, whatever `put` returns. */
        f.check(put(f.handle(), owner(), str(key_), result.release(), drop, &cached));
        return *static_cast<const T *>(cached);
    }
    /* Returns the cached result for the current state of the function, or null. */
    const T *find(const function_view &f) const {
        void *cached = nullptr;
        auto status = PASSDOCK_CPP_CALL(f.host()->analyses, get)(f.handle(), owner(), str(key_), &cached);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return nullptr;
        f.check(status);
        return static_cast<const T *>(cached);
    }
    /* Marks the result as valid for the current state of the function, although the pass edited it.
     * Returns whether there was one. */
    bool preserve(function &f) const {
        auto status = PASSDOCK_CPP_CALL(f.host()->analyses, preserve)(f.handle(), owner(), str(key_));
        if (status == PASSDOCK_STATUS_NOT_FOUND) return false;
        f.check(status);
        return true;
    }

private:
    /* A constant address in the plugin, unique for T. */
    const void *owner() const { return reinterpret_cast<const void *>(compute_); }
    static void drop(const passdock_host *, passdock_context *, void *data) noexcept {
        delete static_cast<T *>(data);
    }

    std::string key_;
    T (*compute_)(const function_view &);
};

} // namespace PASSDOCK_CPP_VERSION
} // namespace passdock

#endif /* PASSDOCK_CPP_ANALYSIS_HPP */
