//! Options for encoding a module.

use serde::{Deserialize, Serialize};

/// Options for encoding a module.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodeOptions<'a> {
    /// Copy no span of the file: the module is [detached](crate::detach()) and encoded anew. The result
    /// is equal field by field instead of byte by byte, which shows that the IR lost nothing.
    pub drop_spans: bool,
    /// The place for the data of initializers.
    pub external: ExternalData,
    /// The name of the data file that may be made beside the model; `None`: there is no place for
    /// one.
    pub data_file: Option<&'a str>,
    /// Whether data files stay whole though nothing references a part of them any more: for a model that is read right
    /// away, and whose data files are links.
    pub whole_files: bool,
    /// Data files that go by another location than their own, since that one is taken.
    pub moved: &'a [Moved],
}

/// A data file that goes by another location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The location that it would have.
    pub from: String,
    /// The one that it has.
    pub to: String,
}

/// The place for the data of a model's initializers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExternalData {
    /// The place where it is: data in other files goes with the model. New data goes to a data file
    /// (`OUT.data`) if the model has such files, or would outgrow the 2 GiB of its format. So does the data of a file
    /// of which a part is no longer referenced.
    #[default]
    Keep,
    /// One data file (`OUT.data`) for all but the small, without what nobody uses.
    All,
    /// The model file.
    None,
}
