//! What the user may choose.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::elements::Overrides;
use super::pair::CompareOptions;
use passdock_core::instrument::wrong;
use passdock_core::sdk::Table;
use passdock_core::{InstrumentSetup, PassError};

passdock_core::sdk::options! {
    /// The instrument's fields, as a pipeline sets them.
    pub(super) struct Fields {
        /// ONNX Runtime's library; without it `ORT_DYLIB_PATH`, then the usual places.
        library: String = "",
        /// Whether "not checked" is an error. It always is where the environment variable `CI` is true.
        required: bool = false,
        /// Sample inputs: a file `input_0.pb`, `input_0.npy` or `SAMPLE.npz`, a directory of such files, or one of such directories. Without it they are made up.
        inputs: String = "",
        /// Sizes of dims that the model's inputs leave open: `{ batch = 2 }`.
        dims: Table<i64> = [],
        /// How many samples are made up.
        #[range(1..=64)]
        samples: i64 = 2,
        /// The part of an element by which it may be off; below 0: what its type allows.
        rtol: f64 = -1.0,
        /// The distance by which every element may be off; below 0: what its type and the largest element allow.
        atol: f64 = -1.0,
        /// What a difference is: an error, or a warning after which the run goes on.
        #[choices("error", "warn")]
        on_difference: String = "error",
    }
}

/// The fields, checked.
pub(super) struct CheckOptions {
    /// ONNX Runtime's library; `None`: `ORT_DYLIB_PATH`, then the usual places.
    pub(super) library: Option<PathBuf>,
    /// Whether the field `required` is set.
    pub(super) required: bool,
    /// A file or a directory of sample inputs; `None`: they are made up.
    pub(super) inputs: Option<PathBuf>,
    /// Sizes of dims that inputs leave open, by symbol.
    pub(super) dims: BTreeMap<String, i64>,
    /// The number of samples that are made up.
    pub(super) samples: usize,
    /// What is allowed in place of what types allow.
    pub(super) overrides: Overrides,
    /// Whether a difference is a warning; the next pass is compared with what this one made.
    pub(super) warns: bool,
}

/// A tolerance, if one is given.
pub(super) fn given(field: f64) -> Option<f64> {
    (field >= 0.0).then_some(field)
}

const NAMED_FROM: &str = "Paths start in the directory of the pipeline's file, those of `--instrument` in the current one.";

impl CheckOptions {
    /// Of a comparison of two models, what its checkers take.
    pub(super) fn of(options: &CompareOptions) -> CheckOptions {
        CheckOptions {
            library: options.library.clone(),
            required: true,
            inputs: options.inputs.clone(),
            dims: options.dims.clone(),
            samples: options.runs,
            overrides: Overrides::default(),
            warns: false,
        }
    }

    pub(super) fn new(
        fields: Fields,
        setup: &InstrumentSetup<'_>,
    ) -> Result<CheckOptions, PassError> {
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
        Ok(CheckOptions {
            library: path("library", &fields.library)?,
            required: fields.required,
            inputs: path("inputs", &fields.inputs)?,
            dims: fields.dims.into_iter().collect(),
            samples: usize::try_from(fields.samples).unwrap_or(1),
            overrides: Overrides {
                relative: given(fields.rtol),
                absolute: given(fields.atol),
                computed_in: None,
            },
            warns: fields.on_difference == "warn",
        })
    }

    /// Whether "not checked" is an error.
    pub(super) fn is_required(&self) -> bool {
        let ci = std::env::var("CI").unwrap_or_default();
        self.required || matches!(&*ci.to_ascii_lowercase(), "1" | "true" | "yes" | "on")
    }
}
