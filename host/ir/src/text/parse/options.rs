//! Options for reading a text.

use std::sync::Arc;

use crate::constant::ByteSource;

/// Opens a file that constants are in, by the name that the text gives it; an error is a sentence.
pub type Open<'o> = &'o dyn Fn(&str) -> Result<Arc<dyn ByteSource>, String>;

/// Options for reading a text.
#[derive(Clone, Copy, Default)]
pub struct ParseOptions<'o> {
    /// The text's name. If there is one, ops without a location get their place in the text.
    pub file: Option<&'o str>,
    /// Opens the files that constants are in: relative to the text's directory.
    pub open: Option<Open<'o>>,
}
