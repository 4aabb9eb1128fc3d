/* A C++ plugin with a pass that merges two Transposes into one, and an instrument that counts the ops that
 * passes remove.
 *
 * Build it with
 *     g++ -std=c++17 -O2 -shared -fPIC -I ../../plugin-api/abi/include cpp_pass.cpp -o libcpp_pass.so
 * and pass its directory to passdock: `--plugin-dir .`. */
#include <algorithm>
#include <numeric>

#include "passdock.hpp"

namespace {

using permutation = std::vector<int64_t>;

/* Returns the permutation of a Transpose; nothing if it is unknown. Without the attribute, a Transpose
 * reverses the dims, so that the rank must be known. */
std::optional<permutation> permutation_of(const passdock::function_view &f, passdock::op_id op) {
    auto dims = f.dims(f.operand(op, 0));
    auto perm = f.attr_or(op, "perm", permutation());
    if (!perm || (!dims && !f.attr(op, "perm"))) return std::nullopt;

    permutation axes(dims ? dims->size() : perm->size());
    std::iota(axes.begin(), axes.end(), 0);
    if (!f.attr(op, "perm")) return permutation(axes.rbegin(), axes.rend());
    if (!std::is_permutation(perm->begin(), perm->end(), axes.begin(), axes.end())) {
        throw passdock::error("`perm` is not a permutation of the dims").at(op);
    }
    return perm;
}

void merge_transposes(passdock::function &f, passdock::context &cx) {
    const bool keep_identity = cx.config<bool>("cpp.Transpose", "keep_identity");
    const int64_t limit = cx.option<int64_t>("limit");
    int64_t merged = 0;

    for (passdock::op_id outer : f.ops_named("onnx.Transpose")) {
        if (limit != 0 && merged == limit) break;
        passdock::op_id inner = f.defining_op(f.operand(outer, 0));
        if (f.name(inner) != "onnx.Transpose") continue;
        auto first = permutation_of(f, inner), second = permutation_of(f, outer);
        if (!first || !second || first->size() != second->size()) continue;

        permutation both;
        for (int64_t axis : *second) both.push_back((*first)[static_cast<size_t>(axis)]);
        passdock::value_id x = f.operand(inner, 0);
        if (!keep_identity && std::is_sorted(both.begin(), both.end())) {
            f.replace_op_with(outer, x);
        } else {
            f.replace_op(outer, passdock::op_builder("onnx.Transpose").operand(x).attr("perm", both));
        }
        f.erase_if_unused(inner);
        merged++;
    }
}

/* An instance of the instrument. */
class removed_ops final : public passdock::instrument {
    void run_before_pass(passdock::context &, const passdock::module_view &m, const passdock::pass_info &) override {
        before_.push_back(count(m)); /* passes nest */
    }
    void run_after_pass(passdock::context &, const passdock::module_view &m, const passdock::pass_info &pass) override {
        int64_t removed = before_.back() - count(m);
        before_.pop_back();
        if (removed != 0) report_ += std::string(pass.name()) + " removed " + std::to_string(removed) + "\n";
    }
    void pass_failed(passdock::context &, const passdock::module_view &, const passdock::pass_info &) override {
        before_.pop_back();
    }
    std::string report(passdock::context &) override { return report_; }

    static int64_t count(const passdock::module_view &m) {
        int64_t ops = 0;
        for (const passdock_function_entry &entry : m.functions()) ops += entry.op_count;
        return ops;
    }
    std::vector<int64_t> before_;
    std::string report_;
};

} // namespace

PASSDOCK_MANIFEST("plugin.toml");

PASSDOCK_PLUGIN(plugin) {
    plugin.function_pass("cpp.transform.MergeTransposes", merge_transposes);
    plugin.instrument<removed_ops>("cpp.removed-ops");
}
