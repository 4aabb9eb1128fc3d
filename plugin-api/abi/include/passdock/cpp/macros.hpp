/* The macros of a plugin. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_MACROS_HPP
#define PASSDOCK_CPP_MACROS_HPP

#include "../../passdock.h"

/* Whether exceptions are on (the second name is MSVC's), their effect in the manifest, and how an error is
 * thrown, given the arguments of its constructor. Plugins with and without exceptions may be in one process, so
 * their inline functions must have different names, like those of different versions of the ABI. */
#undef PASSDOCK_PANIC
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define PASSDOCK_CPP_EXCEPTIONS 1
#define PASSDOCK_PANIC "unwind"
#define PASSDOCK_CPP_VERSION v1_0
#define PASSDOCK_CPP_THROW(...) throw ::passdock::error(__VA_ARGS__)
#else
#define PASSDOCK_CPP_EXCEPTIONS 0
#define PASSDOCK_PANIC "abort"
#define PASSDOCK_CPP_VERSION v1_0_abort
#define PASSDOCK_CPP_THROW(...) ::passdock::detail::die(::passdock::error(__VA_ARGS__))
#endif
static_assert(PASSDOCK_ABI_MAJOR == 1 && PASSDOCK_ABI_MINOR == 0,
              "PASSDOCK_CPP_VERSION contains the ABI version: rename it");

/* Defines the entry function. The body after the macro fills the table, a passdock::plugin_table & with the given
 * name. The host reports an exception in it as the reason why the plugin can't be loaded.
 *
 *     PASSDOCK_MANIFEST("plugin.toml");
 *     PASSDOCK_PLUGIN(plugin) {
 *         plugin.function_pass("acme.transform.Fuse", fuse);
 *     }
 *
 * Use the macro in one file of a plugin, outside of any namespace. */
#define PASSDOCK_PLUGIN(table)                                                                     \
    static void passdock_fill(passdock::plugin_table &table);                                      \
    const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) { \
        /* Static in a function that isn't inline, so that each plugin has one. */                 \
        static const passdock::plugin_table &plugin = *new passdock::plugin_table(passdock_fill);   \
        static_cast<void>(host);                                                                   \
        return plugin.attach(attach);                                                              \
    }                                                                                              \
    static void passdock_fill(passdock::plugin_table &table)

#endif /* PASSDOCK_CPP_MACROS_HPP */
