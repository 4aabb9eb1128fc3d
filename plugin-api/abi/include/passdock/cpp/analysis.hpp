/* Analyses that a plugin defines. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_ANALYSIS_HPP
#define PASSDOCK_CPP_ANALYSIS_HPP

#include "function.hpp"

namespace passdock {
inline namespace v0_4 {

/* The result of an analysis, valid until the next edit of the function or the end of its handle. It
 * belongs to the host, or to this object if the host doesn't support analyses. */
template <class T>
class analyzed {
public:
    const T &operator*() const { return *data_; }
    const T *operator->() const { return data_; }

private:
    template <class>
    friend class own_analysis;
    explicit analyzed(const T *kept) : data_(kept) {}
    explicit analyzed(std::unique_ptr<T> own) : data_(own.get()), own_(std::move(own)) {}

    const T *data_;
    std::unique_ptr<T> own_;
};

/* An analysis that the host caches for the current state of a function, including for later passes of this
 * plugin: `own_analysis<costs>("costs", compute_costs).of(f)`.
 *
 * The result of `make` may depend only on the function and on op definitions, and several threads may
 * read it at the same time. The destructor of T may run on any thread and must not call the host. Two
 * analyses with the same `make` and the same key share their results. */
template <class T>
class own_analysis {
public:
    own_analysis(std::string key, T (*make)(const function_view &)) : key_(std::move(key)), make_(make) {}

    /* Returns the result for the current state of the function, and computes it if it isn't cached. */
    analyzed<T> of(const function_view &f) const {
        const passdock_analysis_api *analyses = api(f);
        if (const T *kept = find(f, analyses)) return analyzed<T>(kept);
        std::unique_ptr<T> made(new T(make_(f)));
        if (analyses == nullptr) return analyzed<T>(std::move(made));
        auto put = PASSDOCK_CPP_CALL(analyses, put);
        void *kept = nullptr;
        /* The host owns the data from here on, whatever `put` returns. */
        f.check(put(f.handle(), owner(), str(key_), made.release(), drop, &kept));
        return analyzed<T>(static_cast<const T *>(kept));
    }
    /* Returns the cached result for the current state of the function, or null. */
    const T *find(const function_view &f) const { return find(f, api(f)); }
    /* Marks the result as valid for the current state of the function, although the pass edited it.
     * Returns whether there was one. */
    bool preserve(function &f) const {
        const passdock_analysis_api *analyses = api(f);
        if (analyses == nullptr) return false;
        auto status = PASSDOCK_CPP_CALL(analyses, preserve)(f.handle(), owner(), str(key_));
        if (status == PASSDOCK_STATUS_NOT_FOUND) return false;
        f.check(status);
        return true;
    }

private:
    /* Null if the host doesn't support analyses. */
    static const passdock_analysis_api *api(const function_view &f) {
        auto extension = PASSDOCK_CPP_CALL(f.host(), get_extension);
        return static_cast<const passdock_analysis_api *>(extension(f.host(), str(PASSDOCK_ANALYSIS_EXTENSION)));
    }
    const T *find(const function_view &f, const passdock_analysis_api *analyses) const {
        if (analyses == nullptr) return nullptr;
        void *kept = nullptr;
        auto status = PASSDOCK_CPP_CALL(analyses, get)(f.handle(), owner(), str(key_), &kept);
        if (status == PASSDOCK_STATUS_NOT_FOUND) return nullptr;
        f.check(status);
        return static_cast<const T *>(kept);
    }
    /* A constant address in the plugin, unique for T. */
    const void *owner() const { return reinterpret_cast<const void *>(make_); }
    static void drop(void *data) { delete static_cast<T *>(data); }

    std::string key_;
    T (*make_)(const function_view &);
};

} // namespace v0_4
} // namespace passdock

#endif /* PASSDOCK_CPP_ANALYSIS_HPP */
