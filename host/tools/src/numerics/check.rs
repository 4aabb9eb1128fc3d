//! Running modules in ONNX Runtime and comparing what comes out.

use std::cell::Cell;
use std::fs::File;
use std::sync::Arc;

use passdock_ir::Module;
use passdock_onnx::{ExternalData, WriteOptions};

use crate::numerics::compare::{self, Difference, Differing};
use crate::numerics::files;
use crate::numerics::find;
use crate::numerics::options::Options;
use crate::numerics::ort::{Input, Model, Result, Runtime, Session};
use crate::numerics::samples::{self, Sample};
use crate::numerics::tensor::{Output, Value};
use passdock_core::files::TemporaryDirectory;
use passdock_core::suggest;

/// A model file up to this size is handed over in memory.
const IN_MEMORY: u64 = 64 << 20;

/// What came of comparing two modules.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The results are the same.
    Same {
        /// The largest error, as a part of what is allowed.
        worst: f64,
    },
    /// They aren't.
    Different(Box<Difference>),
    /// It can't be told, and why.
    NotChecked(String),
}

/// The outputs of each sample.
pub(crate) type Results = Arc<Vec<Vec<Output>>>;

/// Why a module has no results.
#[derive(Clone, Debug)]
pub(crate) enum NoResults {
    /// ONNX Runtime doesn't take it, or it can't be handed over.
    Refused(String),
    /// It takes it and fails to run it.
    Failed(String),
}

/// Why nothing of a model is checked.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub(crate) text: String,
    /// The option that is wrong, if that is why.
    pub(crate) option: Option<&'static str>,
}

impl From<String> for Reason {
    fn from(text: String) -> Reason {
        Reason { text, option: None }
    }
}

impl Reason {
    fn of(option: &'static str) -> impl Fn(String) -> Reason {
        move |text| Reason {
            text,
            option: Some(option),
        }
    }
}

/// What a module is compared with.
pub(crate) struct Baseline {
    pub(crate) samples: Vec<Sample>,
    pub(crate) results: Results,
}

/// Runs modules of one model.
pub(crate) struct Checker {
    runtime: Runtime,
    options: Options,
    /// Where models are that are too large for memory, and their data; made when it is needed.
    directory: Cell<Option<TemporaryDirectory>>,
    files: Cell<usize>,
}

/// Compares what two modules compute.
///
/// Sample inputs are made for `before`, as [`Options`] say.
pub fn compare(before: &Module, after: &Module, options: &Options) -> Outcome {
    let checker = match Checker::new(options.clone()) {
        Ok(checker) => checker,
        Err(reason) => return Outcome::NotChecked(reason.text),
    };
    match checker.baseline(before) {
        Err(reason) => Outcome::NotChecked(reason.text),
        Ok(base) => match checker.run(after, &base.samples) {
            Ok(results) => compare_results(&base.results, &results),
            Err(NoResults::Refused(reason)) => Outcome::NotChecked(reason),
            Err(NoResults::Failed(error)) => Outcome::Different(Box::new(fails(error))),
        },
    }
}

/// A module that ran before and doesn't now.
pub(crate) fn fails(error: String) -> Difference {
    Difference {
        output: String::new(),
        sample: 0,
        what: Differing::Fails(error),
    }
}

impl Checker {
    /// Finds and loads ONNX Runtime.
    pub(crate) fn new(options: Options) -> Result<Checker, Reason> {
        let library = options.library.as_deref();
        let runtime = find::runtime(library).map_err(|text| Reason {
            text,
            option: library.map(|_| "library"),
        });
        Ok(Checker {
            runtime: runtime?,
            options,
            directory: Cell::new(None),
            files: Cell::new(0),
        })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Finds sample inputs with which a module runs, and runs it.
    pub(crate) fn baseline(&self, module: &Module) -> Result<Baseline, Reason> {
        // The data files of another model may have the same names.
        self.directory.set(None);
        let session = self.session(module)?;
        let (samples, results) = match &self.options.inputs {
            Some(path) => {
                let samples = files::samples(path, &session.inputs)
                    .map_err(|error| format!("the sample inputs can't be used: {error}"))
                    .map_err(Reason::of("inputs"))?;
                let results = run_all(&session, &samples).map_err(|error| {
                    format!("ONNX Runtime fails to run the model before any pass: {error}")
                })?;
                (samples, results)
            }
            None => self.guess(&session)?,
        };
        if results.iter().all(|outputs| compare::says_nothing(outputs)) {
            let text = "each result of the model is NaN for the sample inputs";
            return Err(text.to_owned().into());
        }
        // What is drawn depends on the op's place in the module, too: nothing random can be compared.
        let again = run_all(&session, &samples[..1]);
        let again = again.map(|again| compare_results(&results[..1], &again));
        if !matches!(again, Ok(Outcome::Same { .. } | Outcome::NotChecked(_))) {
            let text = "the model's results aren't reproducible: two runs of it differ";
            return Err(text.to_owned().into());
        }
        let results = Arc::new(results);
        Ok(Baseline { samples, results })
    }

    /// Makes up inputs with which the model runs.
    fn guess(&self, session: &Session<'_>) -> Result<(Vec<Sample>, Vec<Vec<Output>>), Reason> {
        let (inputs, dims) = (&session.inputs, &self.options.dims);
        let symbols = samples::symbols(inputs);
        if let Some(unknown) = dims.keys().find(|dim| !symbols.contains(&dim.as_str())) {
            let known = match symbols.is_empty() {
                true => "which have none".to_owned(),
                false => format!("which are {}", symbols.join(", ")),
            };
            let near = suggest::did_you_mean(unknown, symbols.iter().copied());
            return Err(Reason::of("dims")(format!(
                "`dims` binds `{unknown}`, which isn't among the symbols of the model's inputs, {known}.{near}"
            )));
        }
        let (mut error, mut tried) = (None, Vec::new());
        for guess in samples::guesses() {
            let made = samples::shapes(inputs, dims, guess).and_then(|shapes| {
                let make = |number| samples::generate(inputs, &shapes, guess, number);
                (0..self.options.samples.max(1))
                    .map(make)
                    .collect::<Result<Vec<Sample>>>()
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
    pub(crate) fn run(&self, module: &Module, samples: &[Sample]) -> Result<Results, NoResults> {
        let session = self.session(module).map_err(NoResults::Refused)?;
        if let Some(sample) = samples.first() {
            same_inputs(sample, &session.inputs).map_err(NoResults::Refused)?;
        }
        let results = run_all(&session, samples);
        results.map(Arc::new).map_err(NoResults::Failed)
    }

    /// Hands a module over.
    fn session(&self, module: &Module) -> Result<Session<'_>> {
        let number = self.files.get();
        self.files.set(number + 1);
        let (name, data_file) = (format!("{number}.onnx"), format!("{number}.onnx.data"));
        let written = passdock_onnx::write(
            module,
            WriteOptions {
                drop_spans: false,
                external: ExternalData::Keep,
                data_file: Some(&data_file),
                moved: &[],
            },
        );
        let written = written.map_err(|error| format!("it can't be written as ONNX: {error}"))?;
        let failed =
            |error: std::io::Error| format!("it can't be written for ONNX Runtime: {error}");
        let session = if written.data_files().is_empty() && written.len() <= IN_MEMORY {
            self.runtime
                .session(Model::Bytes(&written.to_bytes().map_err(failed)?))
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
            let session = self.runtime.session(Model::File(&path));
            // It was read; what it maps of the data files stays.
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_file(directory.path().join(data_file));
            self.directory.set(Some(directory));
            session
        };
        session.map_err(|error| format!("ONNX Runtime refuses the model: {}", short(&error)))
    }
}

fn run_all(session: &Session<'_>, samples: &[Sample]) -> Result<Vec<Vec<Output>>> {
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
fn same_inputs(sample: &Sample, inputs: &[Input]) -> Result {
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

/// Compares the results of all samples.
pub(crate) fn compare_results(before: &[Vec<Output>], after: &[Vec<Output>]) -> Outcome {
    let mut worst: f64 = 0.0;
    for (sample, (before, after)) in before.iter().zip(after).enumerate() {
        let names = |outputs: &[Output]| {
            let names: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
            names.join(", ")
        };
        let (old, new) = (names(before), names(after));
        if old != new {
            return Outcome::NotChecked(format!(
                "the model's outputs were {old} and are {new} now"
            ));
        }
        match compare::outputs(before, after, sample) {
            Ok(error) => worst = worst.max(error),
            Err(difference) => return Outcome::Different(difference),
        }
    }
    let opaque = |output: &Output| match output.value {
        Value::Opaque(kind) if kind != "nothing" => Some(format!(
            "the output `{}` is {kind}, which can't be compared",
            output.name
        )),
        _ => None,
    };
    let outputs = after.iter().flatten();
    match outputs.filter_map(opaque).next() {
        Some(reason) => Outcome::NotChecked(reason),
        None => Outcome::Same { worst },
    }
}
