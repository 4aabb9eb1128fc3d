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

/// The function of a pass, by the kind of pass.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum PassFunction {
    Function(FunctionPass),
    PrimFunction(FunctionPass),
    Module(ModulePass),
}

impl PassFunction {
    pub(crate) fn kind(self) -> abi::PassKind {
        match self {
            PassFunction::Function(_) => abi::PassKind::FUNCTION,
            PassFunction::PrimFunction(_) => abi::PassKind::PRIM_FUNCTION,
            PassFunction::Module(_) => abi::PassKind::MODULE,
        }
    }
}

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
    pub const fn new(
        name: &'static str,
        run: PassFunction,
        docs: &'static [&'static str],
    ) -> PassSpec {
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
    pub loops: bool,
    pub unwinds: bool,
    pub passes: &'static [PassSpec],
    pub sequentials: &'static [SequentialSpec],
    pub configs: &'static [ConfigSpec],
    pub ops: &'static [OpDef],
    pub instruments: &'static [InstrumentFunctions],
}

impl PluginSpec {
    /// A plugin without a name and entries.
    pub const EMPTY: PluginSpec = PluginSpec {
        name: "",
        version: "",
        license: "",
        homepage: "",
        requires: &[],
        loops: false,
        unwinds: true,
        passes: &[],
        sequentials: &[],
        configs: &[],
        ops: &[],
        instruments: &[],
    };

    /// Whether the plugin uses the loop level: it declares that, or has a pass on prim functions.
    pub(crate) const fn uses_loops(&self) -> bool {
        let mut pass = 0;
        while pass < self.passes.len() {
            if matches!(self.passes[pass].run, PassFunction::PrimFunction(_)) {
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
/// The sections are `name`, `version` (by default the crate's), `requires`, `passes`, `sequentials`, `configs`, `ops`
/// and `instruments`, in any order. Only the name is required.
///
/// `requires: ["acme >= 1.2, < 2", "relax"]` lists other plugins that must be registered before this one is loaded,
/// optionally with versions as in `Cargo.toml`.
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

            const __SPEC: private::PluginSpec = $crate::__plugin!([] $($sections)*);
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

/// Expands the sections of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! __plugin {
    ([$($done:tt)*]) => {
        $crate::__private::PluginSpec {
            $($done)*
            ..$crate::__private::PluginSpec {
                version: ::std::env!("CARGO_PKG_VERSION"),
                license: match ::std::option_env!("CARGO_PKG_LICENSE") {
                    ::std::option::Option::Some(license) => license,
                    ::std::option::Option::None => "",
                },
                homepage: match ::std::option_env!("CARGO_PKG_HOMEPAGE") {
                    ::std::option::Option::Some(homepage) => homepage,
                    ::std::option::Option::None => "",
                },
                unwinds: ::std::cfg!(panic = "unwind"),
                ..$crate::__private::PluginSpec::EMPTY
            }
        }
    };
    ([$($done:tt)*] $section:ident: [$($entries:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__plugin!(
            [$($done)* $section: $crate::__section!($section $($entries)*),]
            $($($rest)*)?
        )
    };
    ([$($done:tt)*] $section:ident: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__plugin!([$($done)* $section: $value,] $($($rest)*)?)
    };
    ([$($done:tt)*] $key:tt $($rest:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "unknown section `", ::std::stringify!($key), "`, or its value is invalid, or a comma is \
             missing after it; the sections are, in any order, `name: \"acme\"`, \
             `version: \"1.0.0\"`, `requires: [...]`, `loops: true`, `passes: [...]`, `sequentials: [...]`, \
             `configs: [...]`, `ops: [...]` and `instruments: [...]`"
        ))
    };
}

/// Expands the entries of a section.
#[doc(hidden)]
#[macro_export]
macro_rules! __section {
    (passes $(
        $(#[doc = $doc:expr])*
        $kind:ident $pass:literal => $run:path $({ $($keys:tt)* })?
    ),* $(,)?) => {
        &[$(
            $crate::__keys!(
                PassSpec
                ($crate::__private::PassSpec::new(
                    $pass,
                    $crate::__pass_function!($kind $run),
                    &[$($doc),*],
                ))
                []
                $($($keys)*)?
            ),
        )*]
    };
    (sequentials $(
        $(#[doc = $doc:expr])*
        $sequential:literal => [$(
            $child:literal $({ $($option:tt: $value:expr),* $(,)? })?
        ),* $(,)?] $({ $($keys:tt)* })?
    ),* $(,)?) => {
        &[$(
            $crate::__keys!(
                SequentialSpec
                ($crate::__private::SequentialSpec::new(
                    $sequential,
                    &[$(
                        $crate::__private::ChildSpec {
                            name: $child,
                            options: &[$($((
                                ::std::stringify!($option),
                                ::std::stringify!($value),
                            )),*)?],
                        },
                    )*],
                    &[$($doc),*],
                ))
                []
                $($($keys)*)?
            ),
        )*]
    };
    (requires $($requirement:expr),* $(,)?) => {
        &[$($requirement),*]
    };
    (configs $($(#[doc = $doc:expr])* $config:literal => $config_type:ty),* $(,)?) => {
        &[$(
            $crate::__private::ConfigSpec {
                key: $config,
                docs: &[$($doc),*],
                fields: <$config_type as $crate::Options>::OPTIONS,
            },
        )*]
    };
    (ops $($op:expr),* $(,)?) => {
        &[$($op),*]
    };
    (instruments $(
        $(#[doc = $doc:expr])*
        $instrument:literal => $instrument_type:ty $({ $($keys:tt)* })?
    ),* $(,)?) => {
        &[$(
            $crate::__keys!(
                InstrumentFunctions
                ($crate::__private::InstrumentFunctions::new::<$instrument_type>(
                    $instrument,
                    &[$($doc),*],
                ))
                []
                $($($keys)*)?
            ),
        )*]
    };
    ($section:ident $($entries:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "invalid entries of section `", ::std::stringify!($section), "`, or unknown section"
        ))
    };
}

/// Expands the function of a pass.
#[doc(hidden)]
#[macro_export]
macro_rules! __pass_function {
    (function $run:path) => {
        $crate::__private::PassFunction::Function($run)
    };
    (prim_function $run:path) => {
        $crate::__private::PassFunction::PrimFunction($run)
    };
    (module $run:path) => {
        $crate::__private::PassFunction::Module($run)
    };
    ($kind:ident $run:path) => {
        ::std::compile_error!(::std::concat!(
            "unknown pass kind `",
            ::std::stringify!($kind),
            "`; expected `function`, `prim_function` or `module`"
        ))
    };
}

/// Expands a specification and the keys in its braces, which are its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __keys {
    ($spec:ident ($new:expr) [$($done:tt)*]) => {
        $crate::__private::$spec { $($done)* ..$new }
    };
    ($spec:ident ($new:expr) [$($done:tt)*] options: $value:ty $(, $($rest:tt)*)?) => {
        $crate::__keys!(
            $spec ($new)
            [$($done)* options: <$value as $crate::Options>::OPTIONS,]
            $($($rest)*)?
        )
    };
    ($spec:ident ($new:expr) [$($done:tt)*] $key:ident: [$($name:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::__keys!($spec ($new) [$($done)* $key: &[$($name),*],] $($($rest)*)?)
    };
    ($spec:ident ($new:expr) [$($done:tt)*] $key:ident: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__keys!($spec ($new) [$($done)* $key: $value,] $($($rest)*)?)
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
