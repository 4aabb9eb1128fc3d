//! Options for printing.

use std::path::Path;

/// The form of constants with more than [`MAX_INLINE_ELEMENTS`](crate::text::MAX_INLINE_ELEMENTS)
/// elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// References to files for those in files; blobs at the end for the others.
    #[default]
    Reference,
    /// Blobs for all: the text needs no other file.
    Embed,
    /// Placeholders: such a text can't be parsed.
    Elide,
}

/// Options for printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions<'o> {
    /// The form of large constants.
    pub constants: Constants,
    /// The directory that the text will be in: files in it and below are named from there, others
    /// in full. Without it all are named as their source names them.
    pub directory: Option<&'o Path>,
    /// Whether the text is only for reading: values are numbered but for the functions' parameters, long data and
    /// texts are cut, and what an importer knows beside the IR (locations, documentation, which types were declared) is
    /// left out. Its first line says so.
    pub brief: bool,
}
