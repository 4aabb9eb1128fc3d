//! The macros `plugin!` and `export_plugin!`, and the data that they generate.

use passdock_abi as abi;

use super::sequential::SequentialSpec;
use crate::data::OptionSpec;
use crate::data::PassResult;
use crate::ir::Function;
use crate::ir::Module;
use crate::op::OpDef;
use crate::pass::InstrumentFunctions;
use crate::pass::PassContext;

/// A plugin: created by [`plugin!`](crate::plugin!), exported from a library by
/// [`export_plugin!`](crate::export_plugin), or registered with a host that it is linked into.
#[derive(Clone, Copy)]
pub struct StaticPlugin {
    entry: abi::Entry,
    manifest: &'static [u8],
}

impl StaticPlugin {
    /// Creates a plugin from an entry function and a manifest, which is text with a terminating NUL. `plugin!` calls
    /// it.
    ///
    /// # Safety
    /// The entry function conforms to the ABI: hosts rely on it.
    #[doc(hidden)]
    #[allow(unsafe_code)]
    pub const unsafe fn new(entry: abi::Entry, manifest: &'static [u8]) -> StaticPlugin {
        StaticPlugin { entry, manifest }
    }

    /// Returns the entry function.
    pub const fn entry(&self) -> abi::Entry {
        self.entry
    }

    /// Returns the manifest: TOML text with a terminating NUL.
    pub const fn manifest(&self) -> &'static [u8] {
        self.manifest
    }

    /// Returns the manifest without the NUL.
    pub fn manifest_text(&self) -> &'static str {
        let text = self.manifest.strip_suffix(&[0]).unwrap_or(self.manifest);
        // It is rendered from `&str`s only.
        std::str::from_utf8(text).unwrap_or("")
    }
}

/// A function or prim-function pass.
pub type FunctionPass = fn(&mut Function, &PassContext) -> PassResult;
/// A module pass.
pub type ModulePass = fn(&mut Module<'_>, &PassContext) -> PassResult;

/// The function of a pass, by the kind of pass as in `plugin!`.
#[doc(hidden)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub enum PassFunction {
    function(FunctionPass),
    prim_function(FunctionPass),
    module(ModulePass),
}

/// Implements methods that set fields, for the keys of `plugin!`: the compiler then suggests the nearest key.
macro_rules! setters {
    ($spec:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        impl $spec {
            $(
                #[must_use]
                pub const fn $field(mut self, $field: $ty) -> $spec {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
pub(crate) use setters;

/// Returns the value of an environment variable at compile time, or an empty string.
#[doc(hidden)]
pub const fn or_empty(value: Option<&'static str>) -> &'static str {
    match value {
        Some(value) => value,
        None => "",
    }
}

/// A list of names.
type Names = &'static [&'static str];

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct PassSpec {
    pub name: &'static str,
    pub run: PassFunction,
    pub docs: &'static [&'static str],
    pub opt_level: u32,
    pub required: &'static [&'static str],
    pub aliases: &'static [&'static str],
    pub thread_safe: bool,
    pub changes_interface: bool,
    pub phase: &'static str,
    pub options: &'static [OptionSpec],
    pub config: &'static str,
}

impl PassSpec {
    pub const fn new(name: &'static str, docs: Names, run: PassFunction) -> PassSpec {
        PassSpec {
            name,
            run,
            docs,
            opt_level: 0,
            required: &[],
            aliases: &[],
            thread_safe: false,
            changes_interface: false,
            phase: "",
            options: &[],
            config: "",
        }
    }
}

setters! { PassSpec {
    opt_level: u32,
    required: Names,
    aliases: Names,
    thread_safe: bool,
    changes_interface: bool,
    phase: &'static str,
    options: &'static [OptionSpec],
    config: &'static str,
} }

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ConfigSpec {
    pub key: &'static str,
    pub docs: &'static [&'static str],
    pub fields: &'static [OptionSpec],
}

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct PluginSpec {
    pub name: &'static str,
    pub version: &'static str,
    pub license: &'static str,
    pub homepage: &'static str,
    pub requires: &'static [&'static str],
    pub permissions: &'static [&'static str],
    pub loops: bool,
    pub unwinds: bool,
    pub passes: &'static [PassSpec],
    pub sequentials: &'static [SequentialSpec],
    pub configs: &'static [ConfigSpec],
    pub ops: &'static [OpDef],
    pub instruments: &'static [InstrumentFunctions],
}

setters! { PluginSpec {
    name: &'static str,
    version: &'static str,
    license: &'static str,
    homepage: &'static str,
    requires: Names,
    permissions: Names,
    loops: bool,
    unwinds: bool,
    passes: &'static [PassSpec],
    sequentials: &'static [SequentialSpec],
    configs: &'static [ConfigSpec],
    ops: &'static [OpDef],
    instruments: &'static [InstrumentFunctions],
} }

impl PluginSpec {
    /// A plugin without a name and entries.
    pub const EMPTY: PluginSpec = PluginSpec {
        name: "",
        version: "",
        license: "",
        homepage: "",
        requires: &[],
        permissions: &[],
        loops: false,
        unwinds: true,
        passes: &[],
        sequentials: &[],
        configs: &[],
        ops: &[],
        instruments: &[],
    };

    /// Returns the plugin, which must have a name.
    #[must_use]
    pub const fn with_name(self) -> PluginSpec {
        assert!(!self.name.is_empty(), "missing section `name: \"…\"`");
        self
    }

    /// Whether the plugin uses the loop level: it declares that, or has a pass on prim functions.
    pub(crate) const fn uses_loops(&self) -> bool {
        let mut pass = 0;
        while pass < self.passes.len() {
            if matches!(self.passes[pass].run, PassFunction::prim_function(_)) {
                return true;
            }
            pass += 1;
        }
        self.loops
    }
}

/// Declares a plugin, as the constant `PLUGIN`: its passes, op definitions and instruments.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn nothing(_f: &mut Function, _cx: &PassContext) -> PassResult {
///     Ok(())
/// }
///
/// fn nothing_at_all(_m: &mut Module, _cx: &PassContext) -> PassResult {
///     Ok(())
/// }
///
/// plugin! {
///     name: "acme",
///     passes: [
///         /// Does nothing, to every graph function.
///         function "acme.transform.Nothing" => nothing { opt_level: 1, thread_safe: true },
///         /// Does nothing, to the module.
///         module "acme.transform.NothingAtAll" => nothing_at_all {
///             required: ["acme.transform.Nothing"],
///             phase: "late",
///         },
///     ],
/// }
/// # fn main() {
/// #     let manifest = PLUGIN.manifest_text();
/// #     assert!(manifest.contains("summary = \"Does nothing, to every graph function.\""), "{}", manifest);
/// #     assert!(manifest.contains("required = [\"acme.transform.Nothing\"]"), "{}", manifest);
/// # }
/// ```
///
/// # Sections
///
/// The sections are `name`, `version` (by default the crate's), `requires`, `permissions`, `passes`, `sequentials`,
/// `configs`, `ops` and `instruments`, in any order. Only the name is required.
///
/// `requires: ["acme >= 1.2, < 2", "relax"]` lists other plugins that must be registered before this one is loaded,
/// optionally with versions as in `Cargo.toml`.
///
/// `permissions: ["network", "exec", "read:/opt/acme", "write:/var/acme"]` lists what the plugin needs and the host's
/// sandbox denies. The host loads the plugin only if the user grants all of them.
///
/// # Passes
///
/// A pass is a `function` (called for each graph function), a `prim_function` (for each loop-level function) or a
/// `module`. Its doc comment is its summary. Its keys are optional:
///
/// | key | meaning |
/// |---|---|
/// | `opt_level: 1` | runs in contexts of this level and above (0) |
/// | `required: ["…"]` | passes that run before it |
/// | `aliases: ["…"]` | other names of the pass, for example former ones |
/// | `thread_safe: true` | may be called for several functions at the same time |
/// | `changes_interface: true` | may change parameters and results |
/// | `phase: "late"` | the phase in which pipelines run it: `early`, `simplify`, `late`, `lower` |
/// | `options: Unroll` | a struct declared by [`options!`](crate::options) |
/// | `config: "tir.Unroll"` | the config key that sets the same options for a whole run |
///
/// # Sequentials
///
/// `sequentials: ["acme.Cleanup" => ["acme.transform.Nothing", "relax.transform.FoldConstant"] { opt_level: 1 }]`
/// declares a named list of passes. Its doc comment is its summary. The keys are `opt_level` and `required`, with the
/// same meaning as for a pass.
///
/// Children are passes of any plugin, and other Sequentials. Their options follow them, as literals:
/// `"tir.transform.UnrollLoop" { auto_max_step: 4 }`. A Sequential can be used like a pass: its level and `required`
/// apply where it is a child, and its children obey the rules of any Sequential.
///
/// # Other sections
///
/// `loops: true` declares that a plugin without passes on prim functions uses the loop level, which is a draft: a host
/// with another version of it rejects the plugin.
///
/// `configs: ["acme.Target" => Target]` registers config structs that aren't the options of a pass. `ops: [RELU, CONV]`
/// (or a `&'static [OpDef]`) registers op definitions. `instruments: ["acme.growth" => Growth { options: GrowthOptions
/// }]` registers types that implement [`Instrument`](crate::Instrument). The doc comment is the summary, and `options`
/// is optional.
#[macro_export]
macro_rules! plugin {
    ($($sections:tt)*) => {
        /// The plugin: its entry function and its manifest.
        pub const PLUGIN: $crate::StaticPlugin = {
            use $crate::__private as private;

            const __SPEC: private::PluginSpec = $crate::__plugin!([] [] $($sections)* ,);
            const __LENGTH: usize = private::render::<0>(&__SPEC).1;
            const __MANIFEST: &[u8] = &private::render::<__LENGTH>(&__SPEC).0;

            unsafe extern "C" fn entry(
                host: *const private::abi::Host,
                attach: *mut private::abi::Attach,
            ) -> *const private::abi::Plugin {
                static __SLOT: private::Slot = private::Slot::new();
                // SAFETY: the caller is a host, which conforms to the ABI.
                #[allow(unused_unsafe)]
                unsafe {
                    private::attach(&__SLOT, &__SPEC, host, attach)
                }
            }

            // SAFETY: the entry function calls `attach`, which conforms to the ABI.
            #[allow(unused_unsafe)]
            unsafe {
                $crate::StaticPlugin::new(entry, __MANIFEST)
            }
        };
    };
}

// The macros below have no rule for invalid syntax, so that the compiler reports the first token that doesn't fit. They
// process one entry of a list at a time, and a comma is appended to the list: a missing one is then reported as such.
// Entries become calls of methods, for which the compiler suggests names and reports the argument of a wrong type.
// Names are matched as `tt`: an `ident` has the location of the macro where the compiler reports it as an expression or
// item.

/// Expands the sections of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! __plugin {
    ([$($section:tt)*] [$($set:tt)*] $(,)?) => {{
        $crate::__no_duplicates!($($section)*);
        $crate::__private::PluginSpec::EMPTY
            .version(::std::env!("CARGO_PKG_VERSION"))
            .license($crate::__private::or_empty(::std::option_env!("CARGO_PKG_LICENSE")))
            .homepage($crate::__private::or_empty(::std::option_env!("CARGO_PKG_HOMEPAGE")))
            .unwinds(::std::cfg!(panic = "unwind"))
            $($set)*
            .with_name()
    }};
    ([$($done:tt)*] [$($set:tt)*] $section:tt: [$($entries:tt)*], $($rest:tt)*) => {
        $crate::__plugin!(
            [$($done)* $section]
            [$($set)* .$section($crate::__section!($section [] $($entries)* ,))]
            $($rest)*
        )
    };
    ([$($done:tt)*] [$($set:tt)*] $section:tt: $value:expr, $($rest:tt)*) => {
        $crate::__plugin!([$($done)* $section] [$($set)* .$section($value)] $($rest)*)
    };
}

/// Expands to an item that the compiler rejects if a name occurs twice.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_duplicates {
    ($($name:tt)*) => {
        #[allow(dead_code, non_camel_case_types)]
        enum Names {
            $($name),*
        }
    };
}

/// Expands the entries of a section.
#[doc(hidden)]
#[macro_export]
macro_rules! __section {
    ($section:ident [$($done:tt)*] $(,)?) => {
        &[$($done)*]
    };
    (
        passes [$($done:tt)*]
        $(#[doc = $doc:expr])* $kind:ident $pass:literal => $run:tt $(:: $path:tt)* $({ $($keys:tt)* })?,
        $($rest:tt)*
    ) => {
        $crate::__section!(
            passes
            [
                $($done)*
                $crate::__keys!(
                    []
                    ($crate::__private::PassSpec::new(
                        $pass,
                        &[$($doc),*],
                        $crate::__private::PassFunction::$kind($run $(:: $path)*),
                    ))
                    $($($keys)*)? ,
                ),
            ]
            $($rest)*
        )
    };
    (
        sequentials [$($done:tt)*]
        $(#[doc = $doc:expr])* $sequential:literal => [$($children:tt)*] $({ $($keys:tt)* })?,
        $($rest:tt)*
    ) => {
        $crate::__section!(
            sequentials
            [
                $($done)*
                $crate::__keys!(
                    []
                    ($crate::__private::SequentialSpec::new(
                        $sequential,
                        $crate::__section!(children [] $($children)* ,),
                        &[$($doc),*],
                    ))
                    $($($keys)*)? ,
                ),
            ]
            $($rest)*
        )
    };
    (
        children [$($done:tt)*]
        $child:literal $({ $($option:tt: $value:expr),* $(,)? })?,
        $($rest:tt)*
    ) => {
        $crate::__section!(
            children
            [
                $($done)*
                $crate::__private::ChildSpec {
                    name: $child,
                    options: &[$($((::std::stringify!($option), ::std::stringify!($value))),*)?],
                },
            ]
            $($rest)*
        )
    };
    (
        configs [$($done:tt)*]
        $(#[doc = $doc:expr])* $config:literal => $ty:ty,
        $($rest:tt)*
    ) => {
        $crate::__section!(
            configs
            [
                $($done)*
                $crate::__private::ConfigSpec {
                    key: $config,
                    docs: &[$($doc),*],
                    fields: $crate::__private::options_of::<$ty>(),
                },
            ]
            $($rest)*
        )
    };
    (
        instruments [$($done:tt)*]
        $(#[doc = $doc:expr])* $instrument:literal => $ty:ty $({ $($keys:tt)* })?,
        $($rest:tt)*
    ) => {
        $crate::__section!(
            instruments
            [
                $($done)*
                $crate::__keys!(
                    []
                    ($crate::__private::InstrumentFunctions::new::<$ty>($instrument, &[$($doc),*]))
                    $($($keys)*)? ,
                ),
            ]
            $($rest)*
        )
    };
    (ops [] $($op:expr),* $(,)*) => {
        &[$($op),*]
    };
    (requires [] $($requirement:expr),* $(,)*) => {
        &[$($requirement),*]
    };
    (permissions [] $($permission:expr),* $(,)*) => {
        &[$($permission),*]
    };
}

/// Expands a specification and the keys in its braces.
#[doc(hidden)]
#[macro_export]
macro_rules! __keys {
    ([$($key:tt)*] ($spec:expr) $(,)?) => {{
        $crate::__no_duplicates!($($key)*);
        $spec
    }};
    ([$($done:tt)*] ($spec:expr) options: $value:ty, $($rest:tt)*) => {
        $crate::__keys!(
            [$($done)* options]
            ($spec.options($crate::__private::options_of::<$value>()))
            $($rest)*
        )
    };
    ([$($done:tt)*] ($spec:expr) $key:tt: [$($name:expr),* $(,)?], $($rest:tt)*) => {
        $crate::__keys!([$($done)* $key] ($spec.$key(&[$($name),*])) $($rest)*)
    };
    ([$($done:tt)*] ($spec:expr) $key:tt: $value:expr, $($rest:tt)*) => {
        $crate::__keys!([$($done)* $key] ($spec.$key($value)) $($rest)*)
    };
}

/// Exports a plugin of [`plugin!`](crate::plugin!) from the library that is being built, a `cdylib`:
/// `export_plugin!(PLUGIN);`
#[macro_export]
macro_rules! export_plugin {
    ($plugin:path) => {
        #[allow(non_upper_case_globals)]
        const _: () = {
            use $crate::__private as private;

            const __PLUGIN: $crate::StaticPlugin = $plugin;

            /// Hosts read it from the file, without loading the library.
            #[used]
            #[no_mangle]
            #[cfg_attr(target_vendor = "apple", link_section = "__DATA,__passdock")]
            #[cfg_attr(windows, link_section = ".passdk")]
            #[cfg_attr(not(any(target_vendor = "apple", windows)), link_section = ".passdock")]
            pub static passdock_manifest_v1: [u8; __PLUGIN.manifest().len()] =
                private::copy(__PLUGIN.manifest());

            /// # Safety
            /// The caller is a host that conforms to the ABI.
            #[no_mangle]
            pub unsafe extern "C" fn passdock_plugin_v1(
                host: *const private::abi::Host,
                attach: *mut private::abi::Attach,
            ) -> *const private::abi::Plugin {
                // SAFETY: the caller guarantees a valid host.
                #[allow(unused_unsafe)]
                unsafe {
                    (__PLUGIN.entry())(host, attach)
                }
            }
        };
    };
}
