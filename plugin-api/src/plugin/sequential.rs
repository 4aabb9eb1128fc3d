//! The Sequentials of a plugin, as `plugin!` declares them.

use super::spec::setters;

/// A Sequential: a named list of passes. It exists only in the manifest.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SequentialSpec {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub passes: &'static [ChildSpec],
    pub opt_level: u32,
    pub required: &'static [&'static str],
}

impl SequentialSpec {
    pub const fn new(
        name: &'static str,
        passes: &'static [ChildSpec],
        docs: &'static [&'static str],
    ) -> SequentialSpec {
        SequentialSpec {
            name,
            docs,
            passes,
            opt_level: 0,
            required: &[],
        }
    }
}

setters! { SequentialSpec {
    opt_level: u32,
    required: &'static [&'static str],
} }

/// A child of a Sequential, with the names and values of its options as in the source code.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ChildSpec {
    pub name: &'static str,
    pub options: &'static [(&'static str, &'static str)],
}
