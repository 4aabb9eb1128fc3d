/*
 * passdock.hpp: passdock.h for authors in C++17.
 *
 * It adds nothing to the contract: all of it is inline in the plugin, calls what passdock.h has, and
 * needs the standard library alone. `examples/cpp-pass` is a whole plugin in one file. What isn't made
 * short here is called as in C: each object gives its `handle()`, its `host()` and its table, `api()`,
 * and `x.check(status)` throws the host's sentence.
 *
 * Its parts, in reading order, lie in passdock/cpp: base.hpp (ids, errors), attribute.hpp and
 * describe.hpp (what an op to make is), read.hpp and function.hpp (functions), analysis.hpp (analyses of
 * the plugin's own), context.hpp (options, diagnostics, op definitions asked), module.hpp,
 * definition.hpp (op definitions given), plugin.hpp (instruments, PASSDOCK_PLUGIN).
 *
 * THE RULES are those of passdock.h. What they mean here:
 *
 *  Ids        Each kind of entity has a type: `op_id`, `value_id`. An id holds nothing, is false if it
 *             is NONE, and outlives edits. Of an id that is NONE, or of something erased, getters
 *             answer nothing; edits are errors.
 *  Lifetime   A `function`, a `module`, a `context`, an `op_call` stand for handles: they live until
 *             the function that got them returns. Don't keep them, nor references to them.
 *             Getters give copies, but for std::string_view of a symbol, which lives as long as the
 *             module, for pointers to records, and for what says otherwise: those are good until the
 *             next edit. A `snapshot` is released with its object.
 *  Ownership  Descriptions (`op_builder`, `type_spec`, `attr_value`, `diagnostic`) own what they say;
 *             a `constant_spec` points to its data.
 *  Errors     A call that the host doesn't answer with OK throws `passdock::error`, with the host's
 *             sentence and the status. What is caught has changed nothing.
 *  Unwinding  Each function of the table is a gate that all exceptions end in. A passdock::error is the
 *             failure of the pass, the instrument or the definition; any other std::exception is
 *             reported as a panic with what it says. A destructor that throws ends the process, and so
 *             does all that C++ itself ends it for.
 *  Threads    No object here may be used by two threads at once. A pass whose manifest says
 *             `thread_safe = true`, and op definitions, are called by several at once: what they share
 *             is the author's to guard.
 *  Hosts      There may be several in a process. Each gets a table of its own, so that a plugin needs
 *             no global variable; those that it has are shared by all hosts.
 *  Names      Write your own functions and classes into an anonymous namespace: those of two plugins
 *             may then have one name.
 */
#ifndef PASSDOCK_HPP
#define PASSDOCK_HPP

#if !(__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "passdock.hpp needs C++17 (-std=c++17)."
#endif

#include "passdock/cpp/plugin.hpp"

#endif /* PASSDOCK_HPP */
