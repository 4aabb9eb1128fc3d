//! How to print.

use std::path::Path;

/// What becomes of the constants with more than [`MAX_INLINE_ELEMENTS`](crate::text::MAX_INLINE_ELEMENTS) elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Those in files are references to them; the others stand in blobs at the end.
    #[default]
    Reference,
    /// All stand in blobs: the text needs no other file.
    Embed,
    /// They are left out: such a text can't be parsed.
    Elide,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions<'o> {
    /// What becomes of large constants.
    pub constants: Constants,
    /// Values are `%v3`, and each op's id stands in a comment.
    pub raw_ids: bool,
    /// Locations in texts are printed too.
    pub text_locs: bool,
    /// Where the text will stand: files in it and below are named from there, others in full. Without
    /// it all are named as their source names them.
    pub directory: Option<&'o Path>,
}
