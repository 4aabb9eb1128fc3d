//! Recording a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError, Registry};
use passdock_files::{Target, directory_of};
use passdock_ir::Module;
use serde_json::{Map, Value as Json, json};

use super::files::{relative, sha256, sha256_of};
use super::statement::{
    BUILDER, BuildDefinition, Builder, PREDICATE, Predicate, RUN, Resource, RunDetails, SHA256,
    STATEMENT, Statement,
};
use crate::model_file::{self, ReadOptions, is_standard, referenced_data_files};
use crate::prepare::{Request, Watched, protected_file};
use crate::trust;

/// The options of a request that have no influence on the result, or that name files.
const LEFT_OUT: [&str; 17] = [
    "pipeline",
    "model",
    "output",
    "plugin_files",
    "plugin_dirs",
    "default_dirs",
    "program_dir",
    "print",
    "jobs",
    "shown",
    "trust",
    "locked",
    "require_signed",
    "replaces_links",
    "reproducer_dir",
    "self_contained",
    "resumes",
];

/// The provenance of a run whose inputs were hashed.
pub struct Provenance {
    /// The path of the statement, as the user gave it.
    file: PathBuf,
    target: Target,
    /// The directory of the statement, without links.
    dir: PathBuf,
    output: PathBuf,
    parameters: Json,
    inputs: Vec<Resource>,
}

impl Provenance {
    /// Hashes the inputs of a run, before the run: the model and its data, the pipeline, rules, and the plugins that
    /// the run may load. No plugin is loaded. `file` is the path of the statement.
    ///
    /// # Errors
    /// If the request names something unknown, reads or writes a stream, an input can't be read, or no file can be
    /// created at the path.
    pub fn new(
        registry: &Registry,
        request: &Request,
        file: &Path,
    ) -> Result<Provenance, PassError> {
        let usage =
            |message: &str, help: &str| Err(PassError::new(ErrorKind::Usage, message).help(help));
        let output = request
            .output
            .as_ref()
            .filter(|output| !is_standard(output));
        let Some(output) = output else {
            let message = "a provenance statement requires an output file";
            return usage(message, "write the result to a file: `-o OUT`");
        };
        if is_standard(&request.model) {
            let message = "a provenance statement requires a model in a file";
            return usage(
                message,
                "write the model to a file instead of standard input",
            );
        }
        let target = Target::new(file).map_err(|error| failed(file, &error))?;
        let dir = dunce::canonicalize(directory_of(file));
        let mut provenance = Provenance {
            dir: dir.map_err(|error| failed(file, &error))?,
            file: file.to_owned(),
            target,
            output: output.clone(),
            parameters: parameters(request),
            inputs: Vec::new(),
        };
        provenance.add_inputs(registry, request)?;
        Ok(provenance)
    }

    fn add_inputs(&mut self, registry: &Registry, request: &Request) -> Result<(), PassError> {
        let prepared = trust::prepared(registry, request, Watched::default())?;
        if let Some(what) = protected_file(&self.file, request, registry) {
            let error = io::Error::other(format!("it is {what}"));
            return Err(failed(&self.file, &error).help("choose another file"));
        }
        let module = request.read_model()?;
        let mut inputs = vec![self.resource(&request.model, "model")?];
        for data in data_files(&request.model, &module) {
            inputs.push(self.resource(&data, "data")?);
        }
        if let Some(pipeline) = request
            .pipeline
            .as_ref()
            .filter(|pipeline| !pipeline.built_in)
        {
            let mut resource = self.resource(&pipeline.path, "pipeline")?;
            // Of the text that was read; the file may have changed.
            resource.digest = digest(sha256_of(pipeline.text.as_bytes()));
            inputs.push(resource);
        }
        for rules in request.rules_files() {
            inputs.push(self.resource(&rules, "rules")?);
        }
        for plugin in prepared.needed_plugins(request)? {
            let Some(path) = plugin.origin().path() else {
                continue;
            };
            let about = &plugin.manifest().plugin;
            let mut resource = self.resource(path, "plugin")?;
            resource.annotations.extend([
                ("plugin".to_owned(), json!(about.name)),
                ("version".to_owned(), json!(about.version)),
                ("abi".to_owned(), json!(about.abi.to_string())),
            ]);
            inputs.push(resource);
        }
        self.inputs = inputs;
        Ok(())
    }

    /// Hashes the committed output and its data, and writes the statement.
    ///
    /// # Errors
    /// If the output can't be read, or the statement can't be written.
    pub fn write(self) -> Result<(), PassError> {
        let output = &self.output;
        let options = ReadOptions { outside_data: true };
        let module = model_file::read_with(output, options)?;
        let mut subject = vec![self.resource(output, "model")?];
        for data in data_files(output, &module) {
            subject.push(self.resource(&data, "data")?);
        }
        let version = ("passdock".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let statement = Statement {
            statement_type: STATEMENT.to_owned(),
            subject,
            predicate_type: PREDICATE.to_owned(),
            predicate: Predicate {
                build_definition: BuildDefinition {
                    build_type: RUN.to_owned(),
                    external_parameters: self.parameters,
                    resolved_dependencies: self.inputs,
                },
                run_details: RunDetails {
                    builder: Builder {
                        id: BUILDER.to_owned(),
                        version: BTreeMap::from([version]),
                    },
                },
            },
        };
        let written = self.target.write(true, |file| {
            let text = serde_json::to_string_pretty(&statement).map_err(io::Error::other)?;
            writeln!(file, "{text}")
        });
        written.map_err(|error| failed(&self.file, &error))
    }

    /// Returns the name and the hash of a file.
    fn resource(&self, path: &Path, role: &str) -> Result<Resource, PassError> {
        let describe = || -> io::Result<Resource> {
            let whole = dunce::canonicalize(path)?;
            Ok(Resource {
                name: relative(&whole, &self.dir)?,
                digest: digest(sha256(&whole)?),
                annotations: BTreeMap::from([("role".to_owned(), json!(role))]),
            })
        };
        describe().map_err(|error| {
            let message = format!(
                "could not record `{}` in the provenance: {error}",
                path.display()
            );
            PassError::new(ErrorKind::Provenance, message)
        })
    }
}

fn digest(sha256: String) -> BTreeMap<String, String> {
    BTreeMap::from([(SHA256.to_owned(), sha256)])
}

/// Returns the files with data of a model, without links, except for the model itself.
fn data_files(model: &Path, module: &Module) -> BTreeSet<PathBuf> {
    let dir = directory_of(model);
    let locations = passdock_onnx::external_locations(module);
    let files = locations.map(|location| dir.join(location));
    let files = files.chain(referenced_data_files(module));
    // A file that can't be found is an error of the run, or of hashing it.
    let files = files.map(|file| dunce::canonicalize(&file).unwrap_or(file));
    let own = dunce::canonicalize(model).ok();
    files.filter(|file| Some(file) != own.as_ref()).collect()
}

/// Returns the options of a request that aren't defaults.
fn parameters(request: &Request) -> Json {
    let fields = |request: &Request| match serde_json::to_value(request) {
        Ok(Json::Object(fields)) => fields,
        _ => Map::new(),
    };
    let default = fields(&Request::default());
    let mut options = fields(request);
    options.retain(|name, value| !LEFT_OUT.contains(&&**name) && default.get(name) != Some(value));
    let built_in = request
        .pipeline
        .as_ref()
        .filter(|pipeline| pipeline.built_in);
    if let Some(pipeline) = built_in {
        options.insert("built_in_pipeline".to_owned(), json!(pipeline.name()));
    }
    Json::Object(options)
}

fn failed(file: &Path, error: &io::Error) -> PassError {
    let message = format!("could not write `{}`: {error}", file.display());
    PassError::new(ErrorKind::Write, message)
}
