//! Options for printing.

use std::path::Path;

/// The format of constants with more than [`MAX_INLINE_ELEMENTS`](crate::text::MAX_INLINE_ELEMENTS) elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// References to files for constants in files, blobs at the end for the others.
    #[default]
    Reference,
    /// Blobs for all: the text is self-contained.
    Embed,
    /// Placeholders: the text can't be parsed.
    Elide,
}

/// Options for printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions<'o> {
    /// How to print large constants.
    pub constants: Constants,
    /// The directory of the text. Names of files in it and below become relative to it, other names stay. If `None`,
    /// all names stay as their source spells them.
    pub directory: Option<&'o Path>,
    /// Whether the text is only for humans. Values other than parameters are numbered; long data and strings are
    /// truncated. Locations, documentation and marks of declared types are omitted. The first line states this.
    pub brief: bool,
}
