/*
 * passdock.h: the contract between a passdock host and its plugins.
 *
 * This is the normative text; the Rust crate `passdock-abi` is the same contract. It is C11 and
 * C++17. A plugin is a shared library that exports two symbols:
 *
 *   passdock_plugin_v0     a function: given the host's table, answers the plugin's table;
 *   passdock_manifest_v0   bytes: TOML text that says what the plugin offers. Hosts read it from
 *                          the file, without loading the library.
 *
 * A plugin reads the host's IR in place (`passdock_function_view`) and edits it by calling the
 * host (`passdock_function_api`). `examples/c-pass` is a whole plugin in one file.
 *
 * Its parts, in reading order: passdock/record.h (the arenas), view.h (how a plugin sees them, what
 * it hands over to edit them), host.h and analysis.h (what it may call), instrument.h and plugin.h
 * (what it offers), manifest.h (what it exports), read.h (short cuts).
 *
 * THE RULES, true everywhere unless a comment says otherwise:
 *
 *  Pointers   A pointer argument isn't null. A pointer with a count may be null if the count is 0.
 *  Ownership  Nobody frees the other's memory. What an argument points to belongs to the caller,
 *             is read during the call only, and is copied if it is kept. `out` arguments are
 *             written only if the answer is PASSDOCK_OK.
 *  Lifetime   A handle (`passdock_function *`, ...) and its view live until the function that got
 *             them returns. The host's tables and the plugin's live for ever: libraries are never
 *             unloaded.
 *  Views      A view's header stays where it is. Its fields, and all that its columns point to,
 *             may change with each call that takes a `passdock_function *` or a `passdock_module *`
 *             that isn't const, whatever it answers, and with none other: after one, read columns
 *             again. A view is read-only to the plugin.
 *  Threads    A handle is used on the thread that got it. The functions of `passdock_symbol_api`
 *             may be called on any thread. The host calls a pass for one function at a time,
 *             unless its manifest says `thread_safe = true`: then for several functions at once,
 *             on several threads. It calls op definitions at any time, on any thread. What a view,
 *             `text` and `constant_data` point to may be read on other threads, until the next call
 *             that takes a handle that isn't const, and no longer than the function that got the
 *             handle runs; a call from there that takes a handle answers PASSDOCK_INVALID.
 *  Text       UTF-8, with a length, without a NUL at its end. A model's names and texts may hold any
 *             character, NUL too, at which C's functions would take it for another one.
 *  Names      A value of an enumeration is PASSDOCK_, the enumeration, the value: of passdock_status
 *             PASSDOCK_STATUS_REFUSED, but for PASSDOCK_OK. Flags that a kind stands beside have FLAG
 *             between (PASSDOCK_TYPE_FLAG_UNRANKED). Comments say the last part alone.
 *  Unwinding  No C++ exception, no Rust panic, no longjmp leaves a function of the contract, on
 *             either side.
 *  Numbers    Of the machine's byte order; elements of constants are little-endian.
 *  Unknown    A kind, a flag, a status may have values that this header doesn't know. Treat such
 *             a kind as "something else", and ignore such a flag. What asks for something (kinds and
 *             flags of a description, of `add_expr`) the host refuses if it doesn't know it:
 *             UNSUPPORTED. What only tells (diagnostics, labels, failures) gets through.
 *  Growth     Tables, views and argument structs start with `struct_size`: the size as the side
 *             that filled it knows it. Read no further than that, and no further than you know;
 *             what isn't there counts as 0. Of what asks for something the host looks at the rest too:
 *             it refuses a description in which that isn't all 0 (UNSUPPORTED), since it would do
 *             something else. What is said to the user (passdock_diagnostic, _label, _failure) gets
 *             through without its rest. A null function isn't there. An array of such structs,
 *             or of a table's entries, has a stride beside it: step by that. An entry has no
 *             size of its own; its stride is its size. What passdock_setting_item gets, its
 *             passdock_setting gets. Fields called `reserved` are 0; the host refuses a description in
 *             which one isn't (UNSUPPORTED).
 *             0 is an id, of the first op, value, type, ...: an id that is appended to a description
 *             counts only with a flag that says so. Descriptions are begun with their
 *             PASSDOCK_..._INIT, which has NONE in each id that isn't said. Of symbols 0 is the empty
 *             text, which is as good as NONE where NONE may be.
 *  Final      These never change: records in columns (passdock_op, passdock_value, ...), ids, and
 *             passdock_str, _bytes, _range, _dim, _position, _function_ref, _module_ref, _version
 *             and _column. What comes to be known of an op or a value comes as a new column of the
 *             view: look at the view's `struct_size` (PASSDOCK_REACHES) before you read a column
 *             that is newer than the oldest host you work with.
 *  Versions   Two sides of one major version understand each other; both use the smaller minor.
 *             Major 0 isn't frozen: a side refuses another one that is older than the last break
 *             (PASSDOCK_ABI_OLDEST_MINOR), and the changelog says what broke.
 */
#ifndef PASSDOCK_H
#define PASSDOCK_H

#include "passdock/record.h"
#include "passdock/view.h"
#include "passdock/host.h"
#include "passdock/analysis.h"
#include "passdock/instrument.h"
#include "passdock/plugin.h"
#include "passdock/manifest.h"
#include "passdock/read.h"

#endif /* PASSDOCK_H */
