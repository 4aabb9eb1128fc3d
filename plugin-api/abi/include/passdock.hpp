/*
 * passdock.hpp: a C++17 wrapper of passdock.h.
 *
 * It is not part of the ABI: everything is inline in the plugin, calls the functions of passdock.h, and
 * needs only the standard library. `examples/cpp-pass` is a complete plugin in one file. To call a C
 * function without a wrapper, use an object's `handle()`, `host()` and table `api()`;
 * `x.check(status)` throws the host's error message.
 *
 * The parts in passdock/cpp, in reading order: base.hpp (ids, errors), attribute.hpp and describe.hpp
 * (descriptions of ops to create), read.hpp and function.hpp (functions), analysis.hpp (analyses that a
 * plugin defines), context.hpp (options, diagnostics, queries to op definitions), module.hpp,
 * definition.hpp (op definitions), plugin.hpp (instruments and the plugin's table), macros.hpp
 * (PASSDOCK_PLUGIN).
 *
 * THE RULES are those of passdock.h. In C++:
 *
 *  Ids        Each kind of entity has an id type: `op_id`, `value_id`. An id is false if it is NONE,
 *             and may be kept across edits. For NONE or the id of an erased entity, getters return an
 *             empty result, and edits throw.
 *  Lifetime   A `function`, `module`, `context` or `op_call` wraps a handle and is valid until the
 *             function that received it returns. Don't keep them, or references to them. Getters
 *             return copies, with these exceptions: a std::string_view of a symbol is valid as long
 *             as the module, and pointers to records until the next edit. A `snapshot` is
 *             released by its destructor.
 *  Ownership  Descriptions (`op_builder`, `type_spec`, `attr_value`, `diagnostic`) own their data;
 *             a `constant_spec` points to it.
 *  Errors     A call that returns a status other than OK throws `passdock::error` with the host's
 *             message and the status. A call that throws has changed nothing.
 *             To fail without an exception, a pass returns `cx.fail(op, "...")`, and an op definition
 *             `call.reject("...")`: both return a passdock_status, which goes to the host.
 *  Unwinding  No exception leaves a function of the plugin's table. A passdock::error is the failure of
 *             the pass, instrument or definition. Any other std::exception is reported as a panic with
 *             its `what()`. A destructor that throws terminates the process, as usual in C++.
 *             With -fno-exceptions, an error that would be thrown ends the process: its message is
 *             printed to standard error, and std::abort is called. Where a status other than OK is
 *             expected, call the C function.
 *  Threads    No object may be used on two threads at once. The host may call a pass with
 *             `thread_safe = true`, and op definitions, on several threads. Their authors must
 *             synchronize shared data.
 *  Hosts      A process may have several hosts, which share a plugin and its global variables. Each
 *             handle belongs to the host that passed it.
 *  Names      Define functions and classes in an anonymous namespace, so that plugins may use the same
 *             names.
 */
#ifndef PASSDOCK_HPP
#define PASSDOCK_HPP

#if !(__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "passdock.hpp requires C++17 (-std=c++17)"
#endif

#include "passdock/cpp/plugin.hpp"

#endif /* PASSDOCK_HPP */
