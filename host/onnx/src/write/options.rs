//! Options for encoding a module.

use serde::{Deserialize, Serialize};

/// Options for encoding a module.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodeOptions<'a> {
    /// Whether to copy no spans of the file: the module is made self-contained ([`detach`](crate::detach())) and
    /// encoded again. The result has equal fields, but not the same bytes. Tests use this to check that the IR loses
    /// nothing.
    pub drop_spans: bool,
    /// Where the data of initializers is stored.
    pub external: ExternalData,
    /// The location of the data file that may be created; `None` if none may be.
    pub data_file: Option<&'a str>,
    /// Whether data files are copied unchanged even if parts of them are no longer referenced. This is for a model that
    /// is read immediately and whose data files are links.
    pub whole_files: bool,
    /// Data files with a new location, because theirs is in use.
    pub moved: &'a [Moved],
}

/// A data file with a new location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The original location.
    pub from: String,
    /// The new location.
    pub to: String,
}

/// Where the data of a model's initializers is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExternalData {
    /// Where it is now: external files are copied with the model. New data goes to a data file (`OUT.data`) if the
    /// model has external data, or would exceed the 2 GiB limit of the format. So does the data of a file of which a
    /// part is no longer referenced.
    #[default]
    Keep,
    /// In one data file (`OUT.data`), except for small or unused data.
    All,
    /// In the model file.
    None,
}
