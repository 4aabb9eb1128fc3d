/* The macros of a plugin. Part of passdock.hpp, which has the rules. */
#ifndef PASSDOCK_CPP_MACROS_HPP
#define PASSDOCK_CPP_MACROS_HPP

#include "../../passdock.h"

/* Whether exceptions are on (the second name is MSVC's), their effect in the manifest, and how an error is
 * thrown, given the arguments of its constructor. */
#undef PASSDOCK_PANIC
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define PASSDOCK_CPP_EXCEPTIONS 1
#define PASSDOCK_PANIC "unwind"
#define PASSDOCK_CPP_VERSION PASSDOCK_CPP_NAME(PASSDOCK_ABI_MINOR, PASSDOCK_TARGET_MINOR, )
#define PASSDOCK_CPP_THROW(...) throw ::passdock::error(__VA_ARGS__)
#else
#define PASSDOCK_CPP_EXCEPTIONS 0
#define PASSDOCK_PANIC "abort"
#define PASSDOCK_CPP_VERSION PASSDOCK_CPP_NAME(PASSDOCK_ABI_MINOR, PASSDOCK_TARGET_MINOR, _abort)
#define PASSDOCK_CPP_THROW(...) ::passdock::detail::terminate_with(::passdock::error(__VA_ARGS__))
#endif
/* Plugins with other versions of the ABI, and with and without exceptions, may be in one process, so their inline
 * functions must have different names. */
#define PASSDOCK_CPP_NAME(minor, target, panic) PASSDOCK_CPP_EXPANDED_NAME(minor, target, panic)
#define PASSDOCK_CPP_EXPANDED_NAME(minor, target, panic) v1_##minor##_##target##panic

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
