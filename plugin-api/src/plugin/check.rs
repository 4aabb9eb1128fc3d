//! The checks of a plugin's names while it is compiled. The host checks the whole manifest.

use super::names::{is_pass_name, is_word};
use super::spec::PluginSpec;

/// Stops the compilation at a plugin or pass name that every host rejects.
#[doc(hidden)]
pub const fn check(plugin: &PluginSpec) {
    assert!(
        is_word(plugin.name),
        "a plugin needs a name of letters, digits, `_` and `-`: `name: \"acme\"`"
    );
    let mut p = 0;
    while p < plugin.passes.len() {
        assert!(
            is_pass_name(plugin.passes[p].name),
            "a pass is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        );
        p += 1;
    }
}
