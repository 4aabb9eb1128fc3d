//! Running modules in ONNX Runtime, on samples with which the first of them runs.

use std::cell::Cell;
use std::fs::File;
use std::sync::Arc;

use passdock_ir::Module;
use passdock_onnx::{EncodeOptions, ExternalData};

use super::compare::{self, Compared};
use super::elements::Overrides;
use super::options::CheckOptions;
use super::ort::{self, ModelOutput, ModelPort, ModelSource, OrtSession, Runtime};
use super::samples::{self, Sample};
use passdock_core::suggest;
use passdock_files::TemporaryDirectory;

/// A model file up to this size is handed over in memory.
const IN_MEMORY: u64 = 64 << 20;

/// The outputs of each sample.
pub(super) type SampleOutputs = Arc<Vec<Vec<ModelOutput>>>;

/// The reason why a module has no results.
#[derive(Clone, Debug)]
pub(super) enum NoResults {
    /// ONNX Runtime doesn't take it, or it can't be handed over.
    Refused(String),
    /// ONNX Runtime takes it and fails to run it.
    Failed(String),
}

/// The reason why nothing of a model is checked.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub(super) text: String,
    /// The option that is wrong, if that is why.
    pub(super) option: Option<&'static str>,
}

impl From<String> for Reason {
    fn from(text: String) -> Reason {
        Reason { text, option: None }
    }
}

impl Reason {
    pub(super) fn of(option: &'static str) -> impl Fn(String) -> Reason {
        move |text| Reason {
            text,
            option: Some(option),
        }
    }
}

/// The samples with which a module runs, and its results.
pub(super) struct Baseline {
    pub(super) samples: Vec<Sample>,
    pub(super) results: SampleOutputs,
}

/// Runs modules of one model.
pub(super) struct Checker {
    runtime: Arc<Runtime>,
    options: Arc<CheckOptions>,
    /// The directory of models that are too large for memory, and of their data; made when it is needed.
    directory: Cell<Option<TemporaryDirectory>>,
    files: Cell<usize>,
}

impl Checker {
    /// Finds and loads ONNX Runtime.
    pub(super) fn new(options: Arc<CheckOptions>) -> Result<Checker, Reason> {
        let library = options.library.as_deref();
        let runtime = ort::runtime(library).map_err(|text| Reason {
            text,
            option: library.map(|_| "library"),
        });
        Ok(Checker::with(Arc::new(runtime?), options))
    }

    /// One that uses a runtime that is loaded.
    pub(super) fn with(runtime: Arc<Runtime>, options: Arc<CheckOptions>) -> Checker {
        Checker {
            runtime,
            options,
            directory: Cell::new(None),
            files: Cell::new(0),
        }
    }

    /// What is allowed in place of what types allow.
    pub(super) fn overrides(&self) -> Overrides {
        self.options.overrides
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Finds sample inputs with which a module runs, and runs it.
    pub(super) fn baseline(&self, module: &Module) -> Result<Baseline, Reason> {
        // The data files of another model may have the same names.
        self.directory.set(None);
        let session = self.session(module)?;
        let (samples, results) = match &self.options.inputs {
            Some(path) => {
                let samples = samples::read(path, &session.inputs)
                    .map_err(|error| format!("the sample inputs can't be used: {error}"))
                    .map_err(Reason::of("inputs"))?;
                let results = run_all(&session, &samples).map_err(|error| {
                    format!("ONNX Runtime fails to run the model before any pass: {error}")
                })?;
                (samples, results)
            }
            None => self.guess(&session)?,
        };
        is_telling(&session, &samples, &results)?;
        let results = Arc::new(results);
        Ok(Baseline { samples, results })
    }

    /// Refuses sizes of dims that no input has.
    pub(super) fn are_dims_known(&self, inputs: &[ModelPort]) -> Result<(), Reason> {
        let symbols = samples::symbols(inputs);
        let mut bound = self.options.dims.keys();
        let Some(unknown) = bound.find(|dim| !symbols.contains(&dim.as_str())) else {
            return Ok(());
        };
        let known = match symbols.is_empty() {
            true => "which have none".to_owned(),
            false => format!("which are {}", symbols.join(", ")),
        };
        let near = suggest::did_you_mean(unknown, symbols.iter().copied());
        Err(Reason::of("dims")(format!(
            "`dims` binds `{unknown}`, which isn't among the symbols of the model's inputs, {known}.{near}"
        )))
    }

    /// Makes up inputs with which the model runs.
    fn guess(
        &self,
        session: &OrtSession<'_>,
    ) -> Result<(Vec<Sample>, Vec<Vec<ModelOutput>>), Reason> {
        let (inputs, dims) = (&session.inputs, &self.options.dims);
        self.are_dims_known(inputs)?;
        let (mut error, mut tried) = (None, Vec::new());
        for guess in samples::guesses() {
            let made = samples::shapes(inputs, dims, guess).and_then(|shapes| {
                let make = |number| samples::generate(inputs, &shapes, guess, [0, number]);
                (0..self.options.samples.max(1))
                    .map(make)
                    .collect::<Result<Vec<Sample>, String>>()
            });
            let samples = match made {
                Ok(samples) if tried.contains(&samples) => continue,
                Ok(samples) => samples,
                Err(wrong) => {
                    error.get_or_insert(wrong);
                    continue;
                }
            };
            match run_all(session, &samples) {
                Ok(results) => return Ok((samples, results)),
                Err(wrong) => {
                    error.get_or_insert(format!(
                        "ONNX Runtime fails to run the model before any pass: {wrong}"
                    ));
                    tried.push(samples);
                }
            }
        }
        Err(error.unwrap_or_default().into())
    }

    /// Runs a module.
    pub(super) fn run(
        &self,
        module: &Module,
        samples: &[Sample],
    ) -> Result<SampleOutputs, NoResults> {
        let session = self.session(module).map_err(NoResults::Refused)?;
        if let Some(sample) = samples.first() {
            same_inputs(sample, &session.inputs).map_err(NoResults::Refused)?;
        }
        let results = run_all(&session, samples);
        results.map(Arc::new).map_err(NoResults::Failed)
    }

    /// Hands a module over.
    pub(super) fn session(&self, module: &Module) -> Result<OrtSession<'_>, String> {
        let number = self.files.get();
        self.files.set(number + 1);
        let (name, data_file) = (format!("{number}.onnx"), format!("{number}.onnx.data"));
        let written = passdock_onnx::write(
            module,
            EncodeOptions {
                drop_spans: false,
                external: ExternalData::Keep,
                data_file: Some(&data_file),
                whole_files: true,
                moved: &[],
            },
        );
        let written = written.map_err(|error| format!("it can't be written as ONNX: {error}"))?;
        let failed =
            |error: std::io::Error| format!("it can't be written for ONNX Runtime: {error}");
        let session = if written.data_files().is_empty() && written.len() <= IN_MEMORY {
            self.runtime
                .session(ModelSource::Bytes(&written.to_bytes().map_err(failed)?))
        } else {
            let directory = match self.directory.take() {
                Some(directory) => directory,
                None => TemporaryDirectory::new().map_err(failed)?,
            };
            for data in written.data_files() {
                let to = passdock_onnx::place_external(directory.path(), data.location());
                let to = to.map_err(|error| error.to_string())?;
                // Data that the model came with doesn't change from pass to pass.
                if !to.exists() {
                    let parent = to.parent().unwrap_or(directory.path());
                    std::fs::create_dir_all(parent).map_err(failed)?;
                    data.place(&to).map_err(failed)?;
                }
            }
            let path = directory.path().join(name);
            let mut file = File::create(&path).map_err(failed)?;
            written.write_file(&mut file).map_err(failed)?;
            drop(file);
            let session = self.runtime.session(ModelSource::File(&path));
            // It was read; what it maps of the data files stays.
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_file(directory.path().join(data_file));
            self.directory.set(Some(directory));
            session
        };
        session.map_err(|error| format!("ONNX Runtime refuses the model: {}", short(&error)))
    }
}

/// Whether comparing these results with others says anything.
pub(super) fn is_telling(
    session: &OrtSession<'_>,
    samples: &[Sample],
    results: &[Vec<ModelOutput>],
) -> Result<(), String> {
    if results.iter().all(|outputs| compare::says_nothing(outputs)) {
        return Err("each result of the model is NaN for the sample inputs".to_owned());
    }
    // What is drawn depends on the op's place in the module, too: nothing random can be compared.
    let again = run_all(session, &samples[..1]);
    let again = again.map(|again| Compared::new(&results[..1], &again, Overrides::default()));
    match again {
        Ok(Compared::Same { .. } | Compared::NotChecked(_)) => Ok(()),
        _ => Err("the model's results aren't reproducible: two runs of it differ".to_owned()),
    }
}

pub(super) fn run_all(
    session: &OrtSession<'_>,
    samples: &[Sample],
) -> Result<Vec<Vec<ModelOutput>>, String> {
    let run = |sample: &Sample| session.run(sample).map_err(|error| short(&error));
    samples.iter().map(run).collect()
}

/// One line, and not more than one reads.
fn short(message: &str) -> String {
    const MOST: usize = 400;
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Whether a sample is for these inputs.
fn same_inputs(sample: &Sample, inputs: &[ModelPort]) -> Result<(), String> {
    let here = |name: &str| inputs.iter().any(|input| input.name == name);
    let given = |name: &str| sample.iter().any(|(given, _)| given == name);
    let lost = sample.iter().find(|(name, _)| !here(name));
    let new = inputs.iter().find(|input| !given(&input.name));
    match (lost, new) {
        (Some((name, _)), _) => Err(format!("the model has no input `{name}` any more")),
        (None, Some(input)) => Err(format!("the model has a new input `{}`", input.name)),
        (None, None) => Ok(()),
    }
}
