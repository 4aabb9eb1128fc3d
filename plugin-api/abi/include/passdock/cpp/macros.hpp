/* The macros of a plugin. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_MACROS_HPP
#define PASSDOCK_CPP_MACROS_HPP

#include "../../passdock.h"

/* Whether exceptions are on (the second name is MSVC's), their effect in the manifest, and how an error is
 * thrown, given the arguments of its constructor. Plugins with and without exceptions may be in one process, so
 * their inline functions must have different names, like those of different versions of the ABI. */
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define PASSDOCK_CPP_EXCEPTIONS 1
#define PASSDOCK_CPP_PANIC "unwind"
#define PASSDOCK_CPP_VERSION v1_0
#define PASSDOCK_CPP_THROW(...) throw ::passdock::error(__VA_ARGS__)
#else
#define PASSDOCK_CPP_EXCEPTIONS 0
#define PASSDOCK_CPP_PANIC "abort"
#define PASSDOCK_CPP_VERSION v1_0_abort
#define PASSDOCK_CPP_THROW(...) ::passdock::detail::die(::passdock::error(__VA_ARGS__))
#endif
static_assert(PASSDOCK_ABI_MAJOR == 1 && PASSDOCK_ABI_MINOR == 0,
              "PASSDOCK_CPP_VERSION contains the ABI version: rename it");

/* Defines the plugin: its name, its version, and its parts, each in parentheses, without separators.
 *
 *   (function_pass, FUNCTION, "NAME", LEVEL, LINES)
 *   (prim_function_pass, FUNCTION, "NAME", LEVEL, LINES)
 *   (module_pass, FUNCTION, "NAME", LEVEL, LINES)
 *   (sequential, "NAME", LEVEL, CHILDREN, LINES)
 *   (config, "KEY", FIELDS)
 *   (instrument, CLASS, "NAME", LINES)
 *   (op, "NAME", SINCE, DEFINITION)
 *   (op_extension, "NAME", SINCE, DEFINITION)
 *
 * FUNCTION is `void f(passdock::function &, passdock::context &)`, for a module pass
 * `void f(passdock::module &, passdock::context &)`, or a callable object with these arguments. It may return
 * a passdock_status instead. A function pass may take a third argument, `const passdock::module_view *`: the
 * module before the pass, or null. CLASS is derived from passdock::instrument, and DEFINITION is a
 * passdock::op_definition. The other arguments are those of PASSDOCK_PASS, PASSDOCK_SEQUENTIAL,
 * PASSDOCK_CONFIG, PASSDOCK_INSTRUMENT, PASSDOCK_OP and PASSDOCK_OP_EXTENSION in passdock/manifest.h.
 *
 * Use the macro in one file of a plugin, outside of any namespace. */
#define PASSDOCK_PLUGIN(name, version, parts)                                                      \
    PASSDOCK_MANIFEST_OF(name, version, PASSDOCK_CPP_PANIC,                                         \
                         PASSDOCK_CPP_JOIN(PASSDOCK_CPP_SAYS_A parts, _END));                      \
    const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {  \
        /* Static in a function that isn't inline, so that each plugin has one. */                    \
        static passdock::plugin_table &plugin = *new passdock::plugin_table;                       \
        static_cast<void>(host);                                                                   \
        return plugin.attach(attach, [](passdock::plugin_table &table) {                           \
            PASSDOCK_CPP_JOIN(PASSDOCK_CPP_HAS_A parts, _END)                                      \
        });                                                                                        \
    }                                                                                              \
    static_assert(true, "a semicolon follows")

/* Iterates over the parts: A expands the first part and puts B before the rest, B does the same with A. The
 * last one becomes A_END or B_END, which expand to nothing. */
#define PASSDOCK_CPP_JOIN(a, b) PASSDOCK_CPP_JOIN_OF(a, b)
#define PASSDOCK_CPP_JOIN_OF(a, b) a##b
#define PASSDOCK_CPP_SAYS_A(kind, ...) PASSDOCK_CPP_SAYS_##kind(__VA_ARGS__) PASSDOCK_CPP_SAYS_B
#define PASSDOCK_CPP_SAYS_B(kind, ...) PASSDOCK_CPP_SAYS_##kind(__VA_ARGS__) PASSDOCK_CPP_SAYS_A
#define PASSDOCK_CPP_SAYS_A_END
#define PASSDOCK_CPP_SAYS_B_END
#define PASSDOCK_CPP_HAS_A(kind, ...) PASSDOCK_CPP_HAS_##kind(__VA_ARGS__); PASSDOCK_CPP_HAS_B
#define PASSDOCK_CPP_HAS_B(kind, ...) PASSDOCK_CPP_HAS_##kind(__VA_ARGS__); PASSDOCK_CPP_HAS_A
#define PASSDOCK_CPP_HAS_A_END
#define PASSDOCK_CPP_HAS_B_END

/* The manifest text and the table entry of each kind of part. */
#define PASSDOCK_CPP_SAYS_function_pass(function, name, level, lines) PASSDOCK_PASS(name, "function", level, lines)
#define PASSDOCK_CPP_SAYS_prim_function_pass(function, name, level, lines)                         \
    PASSDOCK_PASS(name, "prim_function", level, lines)
#define PASSDOCK_CPP_SAYS_module_pass(function, name, level, lines) PASSDOCK_PASS(name, "module", level, lines)
#define PASSDOCK_CPP_SAYS_sequential(name, level, children, lines)                                 \
    PASSDOCK_SEQUENTIAL(name, level, children, lines)
#define PASSDOCK_CPP_SAYS_config(key, fields) PASSDOCK_CONFIG(key, fields)
#define PASSDOCK_CPP_SAYS_instrument(type, name, lines) PASSDOCK_INSTRUMENT(name, lines)
#define PASSDOCK_CPP_SAYS_op(name, since, ...) PASSDOCK_OP(name, since)
#define PASSDOCK_CPP_SAYS_op_extension(name, since, ...) PASSDOCK_OP_EXTENSION(name, since)
#define PASSDOCK_CPP_HAS_function_pass(function, name, level, lines) table.function_pass(name, function)
#define PASSDOCK_CPP_HAS_prim_function_pass(function, name, level, lines)                          \
    table.function_pass(name, function, PASSDOCK_PASS_PRIM_FUNCTION)
#define PASSDOCK_CPP_HAS_module_pass(function, name, level, lines) table.module_pass(name, function)
#define PASSDOCK_CPP_HAS_sequential(name, level, children, lines) static_cast<void>(table)
#define PASSDOCK_CPP_HAS_config(key, fields) static_cast<void>(table)
#define PASSDOCK_CPP_HAS_instrument(type, name, lines) table.instrument_of<type>(name)
#define PASSDOCK_CPP_HAS_op(name, since, ...) table.op(name, since, __VA_ARGS__)
#define PASSDOCK_CPP_HAS_op_extension(name, since, ...) table.op(name, since, __VA_ARGS__)

#endif /* PASSDOCK_CPP_MACROS_HPP */
