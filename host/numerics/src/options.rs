//! What the user may choose.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// How results are compared, and what it means if they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// ONNX Runtime's library; `None`: `ORT_DYLIB_PATH`, then the usual places.
    pub library: Option<PathBuf>,
    /// Whether "not checked" is an error. It also is where the environment variable `CI` is true.
    pub required: bool,
    /// Sample inputs: a file, a directory of `input_0.pb`, `input_1.pb`, …, or a directory of such
    /// directories; `None`: they are made up.
    pub inputs: Option<PathBuf>,
    /// Sizes of dims that inputs leave open, by symbol.
    pub dims: BTreeMap<String, i64>,
    /// How many samples are made up.
    pub samples: usize,
    /// Whether a difference fails the run, or is a warning.
    pub on_difference: OnDifference,
}

/// What a difference means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// The run fails.
    #[default]
    Error,
    /// The run goes on; the next pass is compared with what this one made.
    Warn,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            library: None,
            required: false,
            inputs: None,
            dims: BTreeMap::new(),
            samples: 2,
            on_difference: OnDifference::Error,
        }
    }
}

impl Options {
    /// Whether "not checked" is an error.
    pub(crate) fn is_required(&self) -> bool {
        let ci = std::env::var("CI").unwrap_or_default();
        self.required || matches!(&*ci.to_ascii_lowercase(), "1" | "true" | "yes" | "on")
    }
}
