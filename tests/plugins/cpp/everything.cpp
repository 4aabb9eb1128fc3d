/* A plugin in C++ that calls most functions of passdock.hpp, and fails if a result isn't the expected one.
 * It runs on `everything.ir`; its operator is that of `examples/c-op`. */
#include <algorithm>
#include <atomic>
#include <map>

#define PASSDOCK_LOOPS
#include "passdock.hpp"

namespace {

using passdock::op_builder;
using passdock::op_id;
using passdock::position;
using passdock::type_spec;
using passdock::value_id;

void expect(bool holds, const char *what) {
    if (!holds) throw passdock::error(std::string("It should hold that ") + what + ".");
}

/* Returns the status of a rejected call; OK if it wasn't rejected. */
template <class Body>
passdock_status status_of(Body body) {
    try {
        body();
        return PASSDOCK_OK;
    } catch (const passdock::error &error) {
        return *error.what() != '\0' ? error.status() : PASSDOCK_OK;
    }
}

/* Returns the error that a body throws. */
template <class Body>
std::string said(Body body) {
    try {
        body();
        return "";
    } catch (const passdock::error &error) {
        return error.what();
    }
}

void read_it(const passdock::function_view &f) {
    expect(f.name() == "main" && !f.is_prim() && f.opset("") == 17 && !f.opset("acme"), "the function is @main");
    std::vector<value_id> parameters = f.parameters();
    expect(parameters.size() == 2 && f.name(parameters[0]) == "x", "the parameters are %x and %flag");
    value_id x = parameters[0];
    expect(f.dtype(x) == PASSDOCK_DTYPE_F32 && f.dims(x)->size() == 2 && !f.shape(x), "%x has two dims, one of them a symbol");
    expect(f.dims(x)->at(0).kind == PASSDOCK_DIM_SYMBOL && f.dims(x)->at(1).value == 4, "%x is f32[n,4]");

    op_id relu = *f.ops_named("onnx.Relu").begin();
    expect(f.users(x).size() == f.use_count(x) && !f.defining_op(x), "the users of %x are counted");
    expect(f.name(f.defining_op(f.result(relu))) == "onnx.Relu", "a result has its op");
    expect(!f.attr(relu, "alpha") && f.attr_or<int64_t>(relu, "alpha", 7) == 7, "an absent attribute is its default");
    expect(f.name(op_id()).empty() && !f.operand(op_id(), 0) && f.users(value_id()).empty(), "NONE has no value");

    op_id given = *f.ops_named("acme.Given").begin();
    expect(f.attr(given, "i").get<int64_t>() == -3 && f.attr(given, "f").get<float>() == 0.5f, "numbers are read");
    expect(f.attr(given, "s").get<std::string>() == "text", "a string is read");
    expect(f.attr_or(given, "is", std::vector<int64_t>()) == std::vector<int64_t>({1, -2}), "integers are read");
    expect(f.attr(given, "fs").get<std::vector<float>>() == std::vector<float>({1.5f, 2.0f}), "floats are read");
    expect(f.attr(given, "ss").get<std::vector<std::string>>() == std::vector<std::string>({"a", "", "b"}), "strings are read");
    expect(!f.attr_or<int64_t>(given, "s", 1), "an attribute of another kind is absent");
    expect(status_of([&] { f.attr(given, "s").get<int64_t>(); }) == PASSDOCK_STATUS_FAILED, "reading another kind is an error");

    auto elements = f.elements<int64_t>(f.operand(given, 1));
    expect(elements == std::vector<int64_t>({5, -6}), "a constant's elements are read");
    expect(!f.elements<float>(f.operand(given, 1)) && !f.elements<float>(x), "other values have no elements of that type");
    passdock::const_id constant = f.constant(f.operand(given, 1));
    expect(f.equal(constant, constant) && f.hash(constant) == f.hash(constant) && f.data(constant).size() == 16,
           "a constant is itself");

    op_id branch = *f.ops_named("if").begin();
    expect(f.regions(branch).size() == 2 && f.parent(f.regions(branch)[0]) == branch, "`if` has two regions");
    size_t all = 0, outside = 0;
    for (op_id op : f.ops()) all += f.op(op) != nullptr ? 1 : 0;
    for (op_id op : f.ops_in(f.body())) outside += f.parent(op) == f.body() ? 1 : 0;
    expect(all == f.op_count() && outside + 4 == all, "all ops are visited");
    std::vector<op_id> order;
    for (op_id op : f.ops()) order.push_back(op);
    auto positions = f.analysis<passdock_op_order>(PASSDOCK_ANALYSIS_ORDER);
    for (size_t i = 0; i < order.size(); i++) expect(positions[order[i].raw].position == i, "ops come in program order");
    expect(f.loc(relu) == f.loc(relu) && f.next(f.prev(f.terminator(f.body()))) == f.terminator(f.body()), "ops are a list");
}

void note_it(passdock::function &f) {
    op_id relu = *f.ops_named("onnx.Relu").begin();
    value_id x = f.parameters()[0];
    f.set_metadata(relu, "source", "net.cpp");
    f.set_metadata(x, "unit", "metres");
    expect(f.metadata(relu).at(0).second == "net.cpp" && f.metadata(x).at(0).first == "unit", "metadata is set");
    f.set_metadata(relu, "source", "");
    f.set_metadata(x, "unit", "");
    expect(f.metadata(relu).empty() && f.metadata(x).empty(), "and removed");
}

/* An analysis of the plugin: the ops of a function by name. Counts its computations. */
using counts = std::map<std::string, size_t>;
std::atomic<size_t> counted{0};

counts count_ops(const passdock::function_view &f) {
    counts made;
    for (op_id op : f.ops()) made[std::string(f.name(op))]++;
    counted++;
    return made;
}

void analyze_it(passdock::function &f) {
    passdock::own_analysis<counts> ops("ops", count_ops), others("others", count_ops);
    size_t before = counted;
    const counts &first = ops.get(f);
    expect(first.at("onnx.Relu") == 3 && counted == before + 1, "an analysis is computed");
    expect(&ops.get(f) == &first && ops.find(f) == &first && counted == before + 1, "it is found again");
    expect(others.find(f) == nullptr && !others.preserve(f), "analyses have separate keys");
    f.set_attr("edited", 1);
    expect(ops.find(f) == nullptr, "an edit invalidates it");
    expect(ops.preserve(f) && ops.find(f)->at("onnx.Relu") == 3, "but not one that it preserves");
    f.remove_attr("edited");
    expect(ops.get(f).at("onnx.Neg") == 1 && counted == before + 2, "and it is computed again");
}

/* Queries definitions about ops that are erased before it returns. */
void ask_definitions(passdock::function &f, passdock::context &cx) {
    value_id one = f.add_constant<float>({2}, {1.0f, 2.0f}), two = f.add_constant<float>({2}, {3.0f, 4.0f});
    op_id scaled = f.create_op(op_builder("acme.ScaledAdd").operand(one).operand(one).attr("scale", 2.0f),
                               position::end_of(f.body()));
    expect(f.traits(scaled) == 0 || (f.traits(scaled) & PASSDOCK_TRAIT_PURE) != 0, "traits come from the definition");
    auto made = cx.evaluate_with(f, scaled, {one, two}, 64);
    expect(made && f.elements<float>(made->at(0)) == std::vector<float>({5.0f, 8.0f}), "an op is evaluated with other operands");
    f.erase_constant(f.constant(made->at(0)));
    expect(!cx.evaluate_with(f, scaled, {one, f.parameters()[0]}, 64), "a non-constant op has no result");
    expect(!cx.infer_with(f, scaled, {one, two}), "the operands are valid");
    auto body = cx.decompose(f, scaled);
    expect(body && f.name(f.defining_op(body->at(0))) == "onnx.Add", "an op has a body");
    op_id add = f.defining_op(body->at(0));
    f.replace_op_with(scaled, *body);
    f.erase_op(add);

    op_id sizes = f.create_op(op_builder("acme.Sizes").operand(f.parameters()[0]), position::end_of(f.body()));
    expect(!f.known_dims(f.result(sizes)), "elements are unknown before inference");
    cx.infer(f, sizes);
    auto known = f.known_dims(f.result(sizes));
    expect(known && known->size() == 2 && known->at(1).value == 5, "elements are inferred by the definition");
    auto wrong = cx.infer_with(f, sizes, {one});
    expect(wrong && wrong->find("two dims") != std::string::npos, "invalid operands are reported");
    op_id sum = f.create_op(op_builder("acme.Sizes").operand(f.result(sizes)), position::end_of(f.body()));
    cx.infer(f, sum);
    expect(f.known_dims(f.result(sum))->at(0).value == known->at(1).value, "definitions receive inferred elements");
    f.erase_op(sum);
    auto legal = cx.decompose(f, sizes);
    expect(legal && f.name(f.defining_op(legal->at(0))) == "onnx.Shape", "extensions of a definition are called");
    f.erase_op(f.defining_op(legal->at(0)));
    expect(cx.supports(f, sizes, "npu").kind == passdock::support::supported, "a target supports an op");
    expect(cx.supports(f, sizes, "gpu").kind == passdock::support::unknown, "or there is no rule for the target");
    f.set_operand(sizes, 0, one);
    auto rejected = cx.supports(f, sizes, "npu-pro");
    expect(rejected.kind == passdock::support::unsupported && rejected.reason == "npu-pro: it isn't of two dims", "or it doesn't, with a reason");
    f.erase_op(sizes);
    expect(!cx.decompose(f, *f.ops_named("acme.Given").begin()), "an op without a definition has none");
}

/* Creates and replaces ops in all ways, and undoes that. */
void build_it(passdock::function &f) {
    value_id flag = f.parameters()[1];
    op_id outer = f.create_op(op_builder("acme.Region").operand(flag).no_results().attr("a", 1)
                                  .region("body", {{f.add_type(type_spec::scalar(PASSDOCK_DTYPE_INDEX)), "i"}}),
                              position::end_of(f.body()));
    passdock::region_id region = f.regions(outer)[0];
    expect(f.results(outer).empty() && f.region(region)->parent == outer.raw && f.args(region).size() == 1, "an op has a region");
    f.set_results(region, {f.args(region)[0]});
    op_id other = f.replace_op(outer, op_builder("acme.Other").operand(flag).no_results().take_regions().take_attrs().attr("b", 2));
    auto attr = f.attr(other, "a");
    expect(attr.is<int64_t>() && attr.get_if<int64_t>() == 1 && !attr.get_if<float>() && attr.kind() == PASSDOCK_ATTR_INT,
           "attributes are taken over");
    expect(f.attr(other, "b").get<int64_t>() == 2 && f.regions(other).size() == 1, "regions are attributes, too");
    f.erase_op(other);
    expect(f.text(f.symbol()) == "main", "a function has a symbol");
}

void function_pass(passdock::function &f, passdock::context &cx, const passdock::module_view *before) {
    expect(before != nullptr && !before->functions().empty(), "the input module is available");
    expect(cx.opt_level() <= 4 && !cx.find_pass("no.such.Pass") &&
               cx.find_pass("everything.transform.Module") == PASSDOCK_PASS_MODULE, "passes are found by name");
    expect(cx.option<bool>("b") && cx.option<double>("f") == 0.5 && cx.option<std::string>("s") == "on", "options are typed");
    expect(cx.option<std::vector<std::string>>("l") == std::vector<std::string>({"a", "b"}), "a list is items");
    expect(cx.option<std::map<std::string, int64_t>>("t") == std::map<std::string, int64_t>({{"n", 3}}), "a table is items");
    expect(cx.option<std::optional<bool>>("b") == true && cx.option("t").items().size() == 1, "a setting is a value, too");
    expect(cx.config<int64_t>("everything.Target", "cores") == 8, "config is read");
    expect(status_of([&] { cx.option<bool>("no"); }) == PASSDOCK_STATUS_NOT_FOUND, "an unknown option is an error");
    expect(cx.option("b").is_set() && cx.option("b").kind() == PASSDOCK_SETTING_BOOL, "a setting has a kind");
    read_it(f);
    note_it(f);
    analyze_it(f);
    build_it(f);
    ask_definitions(f, cx);

    value_id x = f.parameters()[0];
    op_id relu = *f.ops_named("onnx.Relu").begin();
    op_id given = *f.ops_named("acme.Given").begin();
    size_t seen = 0;
    for (op_id op : f.ops_named("onnx.Relu")) {
        op_id made = f.replace_op(op, op_builder("onnx.Identity").operands(f.operands(op)));
        expect(f.name(made) == "onnx.Identity" && f.op(op) == nullptr, "an op is replaced");
        seen++;
    }
    expect(seen == 3 && status_of([&] { f.erase_op(relu); }) == PASSDOCK_STATUS_STALE, "a replaced op is erased");

    passdock::type_id type = f.add_type(type_spec::tensor(PASSDOCK_DTYPE_F32, std::vector<int64_t>{2}));
    expect(f.spec(type).dims.size() == 1 && f.add_type(f.spec(type)) == type, "a type matches its description");
    value_id numbers = f.add_constant<float>({2}, {1.0f, -2.0f}, "numbers");
    expect(f.is_constant(numbers) && !f.is_constant(x), "a constant has elements");
    expect(f.elements<float>(numbers) == std::vector<float>({1.0f, -2.0f}) && f.type(numbers) == type, "a constant is created");
    f.set_attr(given, "list", std::vector<std::string>{"p", "q"});
    f.set_attr(given, "tensor", f.constant(numbers));
    f.set_attr(given, "i", 4);
    f.remove_attr(given, "f");
    expect(f.attr(given, "list").get<std::vector<std::string>>()[1] == "q" && !f.attr(given, "f"), "attributes are set");
    expect(f.attr(given, "i").get<int64_t>() == 4, "a number is set");

    op_id sum = f.create_op(op_builder("onnx.Add").operand(numbers).operand(numbers).attr("note", "made").result(type)
                                .loc(f.name_loc("sum")), position::before(given));
    f.set_name(f.result(sum), "sum");
    expect(f.name(f.result(sum)) == "sum" && f.shape(f.result(sum)) == std::vector<int64_t>({2}), "an op is created");
    f.move_op(sum, position::end_of(f.body()));
    f.set_operand(sum, 1, numbers);
    f.set_loc(sum, f.fuse_locs({f.loc(sum), f.name_loc("other")}));
    expect(status_of([&] { f.set_operand(given, 0, f.result(sum)); }) == PASSDOCK_STATUS_REJECTED, "a use before the definition is rejected");
    expect(!f.erase_if_unused(f.defining_op(f.operand(f.terminator(f.body()), 0))), "a used op can't be erased");

    cx.rewrite(f, "rule nothing { elsewhere.Nothing(%x) => %x }");
    expect(status_of([&] { cx.rewrite(f, "rule"); }) == PASSDOCK_STATUS_REJECTED, "invalid rules are rejected");
    expect(cx.may_rewrite("nothing"), "an enabled rule may be applied");
    cx.rewrote("nothing");

    cx.infer(f, sum);
    expect(!cx.check_op(f, sum) || !cx.check_op(f, sum)->empty(), "errors have a message");
    if (auto folded = cx.evaluate(f, sum, 1024)) {
        expect(f.elements<float>(folded->at(0)) == std::vector<float>({2.0f, -4.0f}), "an op is evaluated");
        f.replace_op_with(sum, *folded);
        f.erase_constant(f.constant(folded->at(0)));
    } else {
        expect(f.erase_if_unused(sum), "an unused op is erased");
    }
    auto inserted = cx.insert_text(f, given, "fn @body(%0) { %1 = onnx.Neg(%0) return %1 }", {x}, 1);
    expect(f.name(f.defining_op(inserted.at(0))) == "onnx.Neg", "ops are inserted as text");
    f.erase_op(f.defining_op(inserted[0]));
    expect(f.names_function(f.find("main")) && !f.names_function(f.find("acme.Given")), "a function is found by its name");
    f.set_type(f.result(given), type_spec::unranked(PASSDOCK_DTYPE_F32));
    f.set_opset("acme", 1);
    f.replace_uses(f.result(given), x);
    f.erase_op(given);
    f.replace_symbols({{f.find("n"), passdock::dim(3)}});
    expect(f.shape(x) == std::vector<int64_t>({3, 4}), "a symbol is replaced");

    op_id branch = *f.ops_named("if").begin();
    f.inline_region(f.regions(branch)[0], {});
    f.replace_op_with(branch, f.operands(f.terminator(f.regions(branch)[0])));
    cx.emit(passdock::diagnostic::note("Nearly done."));
    cx.emit(passdock::diagnostic::warning("All of it holds.").code("everything::done")
                .label(passdock::op_span::result(f.defining_op(f.operand(f.terminator(f.body()), 0)), 0), "here")
                .with_note("One more.").help("Nothing to do."));
}

void module_pass(passdock::module &m, passdock::context &cx) {
    passdock::symbol_id main = m.find("main");
    expect(m.snapshot(main).name() == "main", "a function has a symbol");
    passdock::snapshot before = m.snapshot("main");
    passdock::snapshot moved = std::move(before);
    expect(moved.name() == "main" && moved.view().op_count > 0, "a snapshot is a function");
    {
        passdock::function made = m.create_function("made", main);
        value_id argument = made.add_arg(made.body(), {made.add_type(moved.spec(moved.type(moved.parameters()[0]))), "a"});
        value_id unused = made.add_arg(made.body(), {passdock::type_id(), "b"});
        made.set_attr("size", std::vector<float>{1.0f});
        op_id neg = made.create_op(op_builder("onnx.Neg").operand(argument), position::end_of(made.body()));
        made.set_results(made.body(), {made.result(neg)}, {{passdock::type_id(), "out"}});
        made.remove_args({unused});
        expect(made.attr("size").get<std::vector<float>>() == std::vector<float>{1.0f}, "a function has attributes");
        expect(made.op_count() == 2 && made.parameters().size() == 1, "a function is created");
        passdock_dim size = made.add_expr(PASSDOCK_EXPR_ADD, passdock::dim(2), passdock::dim(3));
        expect(size.kind == PASSDOCK_DIM_CONST && size.value == 5, "a dim expression is simplified");
        value_id flag = made.add_arg(made.body(), {made.add_type(type_spec::tensor(PASSDOCK_DTYPE_BOOL, std::vector<int64_t>())), {}});
        std::vector<value_id> copied =
            made.clone_region(moved.body(), position::end_of(made.body()), {argument, flag}, {}, &moved);
        expect(copied.size() == 1 && made.name(made.defining_op(copied[0])) == "onnx.Neg", "a region is copied");
        expect(made.op_count() == 2 + moved.op_count() - 1, "all ops except the terminator are copied");
        made.erase_op(made.defining_op(copied[0]));
        expect(status_of([&] { made.freeze_args({argument}); }) == PASSDOCK_STATUS_REJECTED, "a parameter without a default can't be frozen");
        made.freeze_args({});
        made.replace_body(moved);
        expect(made.op_count() == moved.op_count(), "a body is replaced by another function's");
    }
    expect(m.functions().size() == 2, "a function was added");
    {
        passdock::function outer = m.edit("made");
        passdock::type_id type = outer.type(outer.parameters()[0]);
        op_id neg = outer.create_op(op_builder("onnx.Neg").operand(outer.parameters()[0]).result(type),
                                    position::end_of(outer.body()));
        op_id abs = outer.create_op(op_builder("onnx.Abs").operand(outer.result(neg)).result(type),
                                    position::end_of(outer.body()));
        auto outlined = m.outline(outer.symbol(), {neg}, "acme.Block");
        expect(outer.op(outlined.second)->name == outlined.first.raw && outer.operand(abs, 0) == outer.result(outlined.second),
               "ops are moved into a new function");
        passdock::snapshot block = m.snapshot(outlined.first);
        expect(outer.type_from(block, block.type(block.parameters()[0])) == type, "a type is converted");
        outer.erase_op(abs);
        outer.erase_op(outlined.second);
        m.remove_function(outlined.first);
    }
    expect(m.edit("made").name() == "made", "a function is edited by its name");
    m.remove_function("made");
    expect(said([&] { m.snapshot("made"); }).find("@made") != std::string::npos, "an unknown name is reported");
    expect(said([&] { m.snapshot("nobody"); }) == "the module has no function `@nobody`", "and an unknown name of a snapshot");
    expect(said([&] { m.snapshot(m.find("nobody")); }).find("the module has no function of the name") == 0, "and an absent symbol");
    expect(status_of([&] { m.edit(m.intern("gone")); }) == PASSDOCK_STATUS_NOT_FOUND, "a missing function is an error");
    m.run_pass(cx, "everything.transform.Nothing");
}

void nothing(passdock::function &, passdock::context &) {}

/* `acme.ScaledAdd`, as in examples/c-op. */
void infer_scaled(passdock::op_call &call) {
    for (uint32_t i = 0; i < 2; i++) {
        type_spec type = call.operand_type(i);
        if (type.is_ranked_tensor()) return call.set_result_type(0, type);
    }
}

void evaluate_scaled(passdock::op_call &call) {
    const passdock::function_view &f = call.function();
    auto scale = f.attr_or(call.op(), "scale", 1.0f);
    auto a = f.elements<float>(call.operand(0)), b = f.elements<float>(call.operand(1));
    if (!scale || !a || !b || f.type(call.operand(0)) != f.type(call.operand(1))) {
        throw passdock::error("only f32 of one shape is evaluated");
    }
    for (size_t i = 0; i < a->size(); i++) (*a)[i] = *scale * (*a)[i] + (*b)[i];
    call.set_result(0, call.operand_type(0), *a);
}

void decompose_scaled(passdock::op_call &call) { call.set_body("fn @body(%0, %1) { %2 = onnx.Add(%0, %1) return %2 }"); }

/* `acme.Sizes`: for an operand of rank 2, the list of its sizes, 1 added to the second; for a known list, its reverse. */
void infer_sizes(passdock::op_call &call) {
    if (auto known = call.operand_dims(0)) {
        std::vector<passdock_dim> all(*known);
        std::reverse(all.begin(), all.end());
        call.set_result_dims(0, all);
    } else {
        type_spec type = call.operand_type(0);
        if (type.dims.size() != 2) throw passdock::error("x hasn't two dims");
        passdock_dim more = call.add_expr(PASSDOCK_EXPR_ADD, type.dims[1], passdock::dim(1));
        call.set_result_dims(0, {type.dims[0], more});
    }
    type_spec type = type_spec::tensor(PASSDOCK_DTYPE_I64, std::vector<int64_t>{2});
    expect(bool(call.add_type(type)), "a definition adds types");
    call.set_result_type(0, type);
}

void decompose_sizes(passdock::op_call &call) {
    expect(call.operand_type(0).dims.size() == 2, "the op is readable");
    call.set_body("fn @body(%x) { %y = onnx.Shape(%x) return %y }");
}

void supports_sizes(passdock::op_call &call) {
    if (call.operand_type(0).dims.size() != 2) throw passdock::error(std::string(call.target()) + ": it isn't of two dims");
}

/* `acme.Sizes` is the same in any layout. */
void lay_out_sizes(passdock::op_call &call) {
    std::string wanted(call.requested_layout(0));
    call.set_operand_layout(0, wanted.empty() ? "AB->BA" : wanted);
    call.set_result_layout(0, "");
    call.set_body("fn @body(%x) { %y = acme.Sizes(%x) return %y }");
}

} // namespace

PASSDOCK_MANIFEST("everything.toml");

PASSDOCK_PLUGIN(plugin) {
    plugin.function_pass("everything.transform.Function", function_pass);
    plugin.function_pass("everything.transform.Nothing", nothing);
    plugin.function_pass("everything.transform.Prim", nothing);
    plugin.module_pass("everything.transform.Module", module_pass);
    plugin.op("acme.ScaledAdd", 1, passdock::op_definition()
        .operands(2, 2)
        .traits(PASSDOCK_TRAIT_PURE | PASSDOCK_TRAIT_ELEMENTWISE)
        .attr("scale", 1.0f, "What the first operand is multiplied by.")
        .infer(infer_scaled)
        .evaluate(evaluate_scaled)
        .decompose(decompose_scaled));
    plugin.op("acme.Sizes", 1, passdock::op_definition().operands(1, 1).results(1, 1).infer(infer_sizes));
    plugin.op("acme.Sizes", 1, passdock::op_definition()
        .decompose(decompose_sizes)
        .layout(lay_out_sizes)
        .alter_layout(lay_out_sizes)
        .supports({"npu", "npu-pro"}, supports_sizes));
    plugin.op("acme.Listed", 1, passdock::op_definition()
        .attr("words", std::vector<std::string>{"a", "b"}, "Some.")
        .attr_of_kind("axis", PASSDOCK_ATTR_INT, "Which.", PASSDOCK_ATTR_ENTRY_REQUIRED));
}
