/* passdock.hpp as a C++20 module. It exports the names of the namespace `passdock`. A plugin includes the macros,
 * the C ABI with them, and the standard headers whose names it uses:
 *
 *     #include <string_view>
 *     #include "passdock/cpp/macros.hpp"
 *     import passdock;
 *
 * Compile both with the same options, for example with clang++ 16 or newer:
 *
 *     clang++ -std=c++20 -fPIC -I include --precompile include/passdock.cppm -o passdock.pcm
 *     clang++ -std=c++20 -fPIC -I include -fmodule-file=passdock=passdock.pcm -shared plugin.cpp passdock.pcm \
 *         -o libplugin.so
 *
 * GCC 12 compiles the module, but can't import it: it ignores exported using-declarations. */
module;

#include "passdock.hpp"

export module passdock;

export namespace passdock {
using passdock::array;
using passdock::attr_value;
using passdock::attribute;
using passdock::const_id;
using passdock::constant_spec;
using passdock::context;
using passdock::diagnostic;
using passdock::dim;
using passdock::dims;
using passdock::error;
using passdock::function;
using passdock::function_view;
using passdock::id;
using passdock::instrument;
using passdock::loc_id;
using passdock::module;
using passdock::module_view;
using passdock::op_builder;
using passdock::op_call;
using passdock::op_definition;
using passdock::op_id;
using passdock::op_range;
using passdock::op_span;
using passdock::own_analysis;
using passdock::pass_info;
using passdock::plugin_table;
using passdock::port;
using passdock::position;
using passdock::read_element;
using passdock::region_id;
using passdock::setting;
using passdock::snapshot;
using passdock::stopped;
using passdock::str;
using passdock::support;
using passdock::symbol_id;
using passdock::text;
using passdock::type_id;
using passdock::type_spec;
using passdock::unknown_dim;
using passdock::value_id;
using passdock::write_element;
} // namespace passdock
