//! The Sequentials that a plugin offers: what `plugin!` makes of its section of them.

/// A Sequential: passes in order under a name. It is all in the manifest; no code runs for it.
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

/// A child of a Sequential, and its options: their names and values, as the source spells them.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ChildSpec {
    pub name: &'static str,
    pub options: &'static [(&'static str, &'static str)],
}
