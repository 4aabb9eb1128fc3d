//! What the user may choose.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::instrument::Numerics;
use passdock_core::InstrumentSpec;
use passdock_core::PassError;
use passdock_core::instrument::wrong;

/// How results are compared, and what it means if they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// ONNX Runtime's library; `None`: `ORT_DYLIB_PATH`, then the usual places.
    pub library: Option<PathBuf>,
    /// Whether "not checked" is an error. It also is where the environment variable `CI` is true.
    pub required: bool,
    /// Sample inputs: a file, a directory of `input_0.pb`, `input_1.npy`, `NAME.npy`, …, or a directory of
    /// such directories; `None`: they are made up.
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

passdock_core::config_struct! {
    /// The same, as a pipeline says it.
    struct Fields {
        /// ONNX Runtime's library; without it `ORT_DYLIB_PATH`, then the usual places.
        library: String = "";
        /// Whether "not checked" is an error. It always is where the environment variable `CI` is true.
        required: bool = false;
        /// Sample inputs: a file `input_0.pb` or `input_0.npy`, a directory of such files, or one of such directories. Without it they are made up.
        inputs: String = "";
        /// Sizes of dims that the model's inputs leave open: `{ batch = 2 }`.
        dims: BTreeMap<String, i64> = BTreeMap::new();
        /// How many samples are made up.
        samples: i64 = 2, in 1..=64;
        /// What a difference is: an error, or a warning after which the run goes on.
        on_difference: String = "error", of ["error", "warn"];
    }
}

const NAMED_FROM: &str = "Paths start in the directory of the pipeline's file, those of `--instrument` in the current one.";

/// The instrument `numerics`.
pub fn instrument() -> InstrumentSpec {
    InstrumentSpec::judging(
        "numerics",
        "Runs the model in ONNX Runtime before and after each pass, and names the first pass that \
         changes the results.",
        |fields: Fields, setup| {
            if let Some((dim, size)) = fields.dims.iter().find(|(_, size)| **size < 0) {
                let message = format!("The size of `{dim}` can't be {size}.");
                return Err(wrong("numerics", "dims", message).into());
            }
            let path = |field: &str, path: &str| -> Result<Option<PathBuf>, PassError> {
                let there = (!path.is_empty()).then(|| setup.path(path));
                match &there {
                    Some(place) if !place.exists() => {
                        let message = format!("There is no `{}`.", place.display());
                        let mut error = wrong("numerics", field, message);
                        error.help = Some(NAMED_FROM.to_owned());
                        Err(error.into())
                    }
                    _ => Ok(there),
                }
            };
            let options = Options {
                library: path("library", &fields.library)?,
                required: fields.required,
                inputs: path("inputs", &fields.inputs)?,
                dims: fields.dims,
                samples: usize::try_from(fields.samples).unwrap_or(1),
                on_difference: match fields.on_difference.as_str() {
                    "warn" => OnDifference::Warn,
                    _ => OnDifference::Error,
                },
            };
            Ok(Arc::new(Numerics::new(options)))
        },
    )
    .paths(["library", "inputs"])
}
