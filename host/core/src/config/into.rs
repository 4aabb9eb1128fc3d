//! The types of values that a context's builder accepts for a config option.

use passdock_loader::toml_value;
use passdock_plugin_api::OptionValue;

/// A value for a config option: a struct of [`sdk::options!`](crate::sdk::options), TOML, or a single value that TOML
/// has: `true`, `8`, `"fast"`. `Kind` only distinguishes the implementations.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::{PassContext, Registry, sdk, toml};
///
/// sdk::options! {
///     /// How loops are unrolled.
///     pub struct UnrollLoop {
///         /// Loops of up to this many steps are unrolled.
///         #[range(0..=65536)]
///         pub auto_max_step: i64 = 0,
///         /// Whether loops marked `unroll` are written out.
///         pub explicit_unroll: bool = true,
///     }
/// }
///
/// let registry = Registry::new();
/// registry.register_config_option::<UnrollLoop>("doc.UnrollLoop")?;
/// let builder = || PassContext::builder().registry(&registry);
/// let typed = UnrollLoop { auto_max_step: 16, ..UnrollLoop::default() };
/// let typed = builder().config("doc.UnrollLoop", typed).build()?;
/// let given = builder().config("doc.UnrollLoop", toml::toml! { auto_max_step = 16 }).build()?;
/// for cx in [typed, given] {
///     let unroll = cx.get_config::<UnrollLoop>("doc.UnrollLoop")?.unwrap();
///     assert_eq!(unroll.auto_max_step, 16);
/// }
/// # Ok::<(), passdock::PassError>(())
/// ```
pub trait IntoConfig<Kind> {
    /// Converts the value to TOML.
    fn into_config(self) -> toml::Value;
}

impl<T: Into<toml::Value>> IntoConfig<toml::Value> for T {
    fn into_config(self) -> toml::Value {
        self.into()
    }
}

impl<T: Into<OptionValue>> IntoConfig<OptionValue> for T {
    fn into_config(self) -> toml::Value {
        toml_value(self.into())
    }
}
