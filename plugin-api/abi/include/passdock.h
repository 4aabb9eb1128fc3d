/*
 * passdock.h: the ABI between a passdock host and its plugins.
 *
 * This header is the normative text; the Rust crate `passdock-abi` declares the same ABI. It is valid
 * C11 and C++17. A plugin is a shared library that exports two symbols:
 *
 *   passdock_plugin_v1     a function that takes the host's table and returns the plugin's table;
 *   passdock_manifest_v1   TOML text that describes the plugin. Hosts read it from the file, without
 *                          loading the library.
 *
 * A plugin reads the host's IR in place (`passdock_function_view`) and edits it by calling the
 * host (`passdock_function_api`). `examples/c-pass` is a complete plugin in one file.
 *
 * The parts, in reading order: passdock/record.h (the records of a function), view.h (views, and
 * descriptions of edits), host.h and analysis.h (the functions of the host), instrument.h and plugin.h
 * (the tables of a plugin), manifest.h (the exported symbols), read.h (helper functions).
 *
 * A callback is a function of a plugin that the host calls. A handle is a pointer to an opaque type of
 * the host: `passdock_function *`, `passdock_context *`, ...
 *
 * THE RULES. They apply everywhere unless the documentation of a function states otherwise.
 *
 *  Pointers   A pointer argument isn't null. A pointer with a count may be null if the count is 0.
 *  Ownership  Neither side frees memory of the other. The callee reads the memory that an argument points
 *             to only during the call, and copies what it keeps. `out` arguments are written only if the
 *             call returns OK.
 *  Lifetime   What a callback receives, such as a handle with its view, is valid until the callback
 *             returns. The tables of host and plugin are valid as long as the process runs: libraries are
 *             never unloaded.
 *  Views      A view is read-only to the plugin, and its header never moves. A call that takes a
 *             `passdock_function *` or `passdock_module *` that isn't const may change its fields and
 *             the memory that its columns point to, whatever the call returns. Other calls don't. Read
 *             columns again after such a call.
 *  Read-only  Edits are for passes. They return REJECTED on a snapshot, on the module of a function pass,
 *             and on what instruments and op definitions receive.
 *  Threads    A handle may be used only on the thread that received it. The functions of
 *             `passdock_symbol_api` may be called on any thread.
 *             The host calls a pass for one function at a time. With `thread_safe = true` in the
 *             manifest, it may call it for several functions at the same time, on several threads. It
 *             calls op definitions at any time, on any thread, and on several threads at the same time.
 *             Other threads may read the memory of a view, of `text` and of `constant_data`, until the
 *             next call that takes a handle that isn't const, and at most until the callback returns.
 *  Statuses   passdock_status describes what each status means, which functions return it, and what to do
 *             next. A call that returns a status other than OK has changed nothing. The documentation of a
 *             function lists its statuses, except those that any function may return: STALE, INVALID and
 *             UNSUPPORTED.
 *  Errors     After a call that returned a status other than OK, `last_error` of the handle's table
 *             returns the error message. The string belongs to the host and is valid until the next call
 *             on the handle, of which it may be an argument.
 *  Strings    UTF-8, with a length, without a terminating NUL. Names and strings of a model may contain
 *             any character, including NUL.
 *  IR names   The canonical name of an operator or a function is DOMAIN.NAME: "acme.Silu". ONNX's own
 *             domain, which ONNX files call "" or "ai.onnx", is `onnx`: "onnx.Conv". Names without a
 *             domain are those of the IR ("return", "if") and of functions. Parts with other characters
 *             than letters, digits and `_` are in quotes.
 *  Names      An enumerator is PASSDOCK_, the enumeration, the value: PASSDOCK_STATUS_REJECTED of
 *             passdock_status. PASSDOCK_OK is an exception. Flags of a struct that also has a kind
 *             have FLAG in their name (PASSDOCK_TYPE_FLAG_UNRANKED). Comments use the last part only.
 *  Unwinding  No C++ exception, Rust panic or longjmp may leave a function of the ABI, on either side.
 *  Numbers    Native byte order; elements of constants are little-endian.
 *  Unknown    A kind, flag or status may have a value that this header doesn't define. Treat an unknown
 *             kind as "something else" and an unknown status as a failure, and ignore an unknown flag. In
 *             a request (a description, the kind of `add_expr`), the host rejects an unknown kind or flag
 *             with UNSUPPORTED. In a diagnostic or label, it ignores unknown ones.
 *  Growth     Tables, views and argument structs start with `struct_size`: the size of the struct in
 *             the header of the side that filled it. Read at most that much, and at most the size in
 *             your own header; a missing field counts as 0, and a null function is missing.
 *             If a description is larger than the host's and the rest isn't 0, the host returns
 *             UNSUPPORTED. It ignores the rest of passdock_diagnostic and _label.
 *             An array of such structs, or of a table's entries, has a stride: use it to get to the
 *             next element. An entry has no `struct_size`; its stride is its size. An older host ignores
 *             fields of an entry that it doesn't know. passdock_setting_item grows only by its
 *             passdock_setting.
 *             If a call fills a struct of the plugin (passdock_setting, passdock_laid_out), the plugin
 *             sets `struct_size` before the call. The host sets it to the size that it filled.
 *             Fields named `reserved` are 0. The host rejects a description with another value
 *             (UNSUPPORTED).
 *             An id field that is added to a description later counts only with a flag, because id 0 is
 *             the first op, value, type, .... Symbol 0 is the empty string, which is equivalent to NONE
 *             where NONE is allowed.
 *  Final      These never change: records in columns (passdock_op, passdock_value, ..., those of the
 *             host's analyses, passdock_function_entry), ids, and passdock_str, _bytes, _range, _dim,
 *             _position, _function_ref, _module_ref, _version, _column, _metadata and _capture. New
 *             data of an op or a value is a new column of the view. Check the view's `struct_size`
 *             (PASSDOCK_REACHES) before you read a column that is newer than the oldest host you
 *             support.
 *             In all other types, existing fields and functions keep their offset, type and meaning.
 *             The numbers of kinds, flags and statuses stay, too.
 *  Versions   Two sides with the same major version are compatible, and both use the smaller minor
 *             version. The names of the exported symbols contain the major version. A library may
 *             export those of two major versions, with two tables: a host uses only the symbols of
 *             its major version.
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
