/* Analyses of a plugin's own. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_ANALYSIS_HPP
#define PASSDOCK_CPP_ANALYSIS_HPP

#include "function.hpp"

namespace passdock {
inline namespace v0_4 {

/* What an analysis worked out of a function: the host's to keep, or, where the host keeps nothing, this
 * object's. It is good until the function's next edit or the end of its handle. */
template <class T>
class analysed {
public:
    const T &operator*() const { return *data_; }
    const T *operator->() const { return data_; }

private:
    template <class>
    friend class own_analysis;
    explicit analysed(const T *kept) : data_(kept) {}
    explicit analysed(std::unique_ptr<T> own) : data_(own.get()), own_(std::move(own)) {}

    const T *data_;
    std::unique_ptr<T> own_;
};

/* An analysis of the plugin's own, which the host keeps for a function as it is, for later passes of this
 * plugin, too: `own_analysis<costs>("costs", work_out_costs).of(f)`. A T must not call the host when it is
 * destroyed, which may be on any thread. What `make` says depends on the function and the op definitions
 * alone, and may be read on several threads at once. Two analyses of one `make` are one if their keys are. */
template <class T>
class own_analysis {
public:
    own_analysis(std::string key, T (*make)(const function_view &)) : key_(std::move(key)), make_(make) {}

    /* What is known of the function as it is; worked out and kept if nobody has. */
    analysed<T> of(const function_view &f) const {
        const passdock_analysis_api *analyses = api(f);
        if (const T *kept = find(f, analyses)) return analysed<T>(kept);
        std::unique_ptr<T> made(new T(make_(f)));
        if (analyses == nullptr) return analysed<T>(std::move(made));
        auto put = PASSDOCK_CPP_CALL(analyses, put);
        void *kept = nullptr;
        /* From here on the data is the host's, whatever it answers. */
        f.check(put(f.handle(), owner(), str(key_), made.release(), drop, &kept));
        return analysed<T>(static_cast<const T *>(kept));
    }
    /* What is kept for the function as it is; null if nothing is. */
    const T *find(const function_view &f) const { return find(f, api(f)); }
    /* Says that what was right before this pass's edits is right after them; whether there was something. */
    bool preserve(function &f) const {
        const passdock_analysis_api *analyses = api(f);
        if (analyses == nullptr) return false;
        auto status = PASSDOCK_CPP_CALL(analyses, preserve)(f.handle(), owner(), str(key_));
        if (status == PASSDOCK_STATUS_NOT_FOUND) return false;
        f.check(status);
        return true;
    }

private:
    /* Null in a host without analyses. */
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
    /* An address of the plugin's that stays, and that goes with one T. */
    const void *owner() const { return reinterpret_cast<const void *>(make_); }
    static void drop(void *data) { delete static_cast<T *>(data); }

    std::string key_;
    T (*make_)(const function_view &);
};

} // namespace v0_4
} // namespace passdock

#endif /* PASSDOCK_CPP_ANALYSIS_HPP */
