//! Options for parsing.

use std::sync::Arc;

use crate::constant::ByteSource;

/// Opens a file that contains constants, given its name in the text.
pub type Open<'o> = &'o dyn Fn(&str) -> Result<Arc<dyn ByteSource>, String>;

/// Options for parsing.
#[derive(Clone, Copy, Default)]
pub struct ParseOptions<'o> {
    /// The name of the text. If set, ops without a location get their position in the text.
    pub file: Option<&'o str>,
    /// Opens files that contain constants, with names relative to the text's directory.
    pub open: Option<Open<'o>>,
}
