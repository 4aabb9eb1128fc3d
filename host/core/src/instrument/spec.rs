//! The specs of instruments that pipelines may name: typed options, and a constructor.
//!
//! A [`Schema`] checks the options in `[[instruments]]` before an instrument is created.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_diagnostic::suggest;
use passdock_loader::Origin;
use passdock_plugin_api::Options;
use serde::Serialize;

use super::{InstrumentRef, PassFilter, Sink, stdout};
use crate::config::{ConfigError, ConfigValue, Field, InvalidPart, Schema};
use crate::error::{ErrorKind, PassError};
use passdock_files::Target;

type Make =
    dyn Fn(&ConfigValue, &InstrumentSetup<'_>) -> Result<InstrumentRef, PassError> + Send + Sync;

/// The spec of an instrument that pipelines may name.
#[derive(Clone, Serialize)]
pub struct InstrumentSpec {
    /// The instrument's name.
    pub name: String,
    /// Other names of the instrument, such as TVM's.
    pub aliases: Vec<String>,
    /// The summary of what the instrument does, one or two sentences.
    pub summary: String,
    /// Whether the instrument checks passes or selects those that run. If it fails, the run fails, and reproducers
    /// include it. Instruments that only observe don't affect the result of a run.
    #[serde(skip)]
    pub checks_passes: bool,
    /// The options of the instrument.
    pub options: Vec<Field>,
    /// The plugin that provides it, or `None` for the host and the program itself.
    pub plugin: Option<String>,
    /// The plugin's file, or built-in origin.
    #[serde(skip)]
    pub(super) origin: Option<Origin>,
    /// The names of the options that are paths.
    #[serde(skip)]
    pub paths: Vec<String>,
    #[serde(skip)]
    make: Arc<Make>,
}

/// A lookup of pass names, which a registry implements.
pub trait PassNames {
    /// Returns the canonical names of all passes, sorted.
    fn pass_names(&self) -> Vec<String>;
    /// Returns the canonical name of a pass, or the name itself if it is unknown.
    fn canonical(&self, name: &str) -> String;
}

/// The environment in which an instrument is created.
#[derive(Clone)]
pub struct InstrumentSetup<'a> {
    /// The base directory for relative paths in options, which is the directory of the pipeline's file.
    pub base: &'a Path,
    /// The sink for text that the instrument prints while passes run.
    pub sink: Sink,
    /// Whether the text may have colors.
    pub color: bool,
    names: &'a dyn PassNames,
    /// A function that describes the file of the run at a path, if there is one. Instruments must not overwrite such
    /// files.
    pub file_in_use: &'a dyn Fn(&Path) -> Option<String>,
    /// The names of the Sequentials of the run.
    sequentials: BTreeSet<String>,
}

impl InstrumentSpec {
    /// Creates the spec of an instrument that checks passes. Its options are the fields of `T`, a struct of
    /// [`sdk::options!`](crate::sdk::options).
    ///
    /// ```
    /// # extern crate passdock_core as passdock;
    /// use std::sync::Arc;
    ///
    /// use passdock::{
    ///     InstrumentResult, InstrumentSetup, InstrumentSpec, PassCall, PassInstrument, Registry, sdk,
    /// };
    ///
    /// sdk::options! {
    ///     /// The options of `limit`.
    ///     pub struct Limit {
    ///         /// How many ops a module may have for passes to run on it.
    ///         ops: i64 = 100,
    ///     }
    /// }
    ///
    /// impl PassInstrument for Limit {
    ///     fn name(&self) -> &str {
    ///         "limit"
    ///     }
    ///
    ///     fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
    ///         Ok(call.module.op_count() as i64 <= self.ops)
    ///     }
    /// }
    ///
    /// let summary = "Lets passes run on small modules only.";
    /// let spec = InstrumentSpec::new("limit", summary, |options: Limit, _| Ok(Arc::new(options)));
    /// let registry = Registry::new();
    /// registry.register_instrument(spec).unwrap();
    /// let options = "ops = 8".parse().unwrap();
    /// let limit = registry.get_instrument("limit", &options, &InstrumentSetup::new(&registry));
    /// assert_eq!(limit.unwrap().name(), "limit");
    /// ```
    pub fn new<T: Options>(
        name: &str,
        summary: &str,
        make: impl Fn(T, &InstrumentSetup<'_>) -> Result<InstrumentRef, PassError>
        + Send
        + Sync
        + 'static,
    ) -> InstrumentSpec {
        let schema = Schema::from_options::<T>(name);
        InstrumentSpec::untyped(
            name,
            summary,
            schema.fields.clone(),
            move |options, setup| make(schema.read(options)?, setup),
        )
    }

    /// Creates the spec of an instrument that checks passes, with options that are known only at run time, such as a
    /// plugin's.
    ///
    /// `make` gets a value for each field. If it returns a [`ConfigError`], this error names the field that the author
    /// of the pipeline has to change.
    pub fn untyped(
        name: &str,
        summary: &str,
        options: Vec<Field>,
        make: impl Fn(&ConfigValue, &InstrumentSetup<'_>) -> Result<InstrumentRef, PassError>
        + Send
        + Sync
        + 'static,
    ) -> InstrumentSpec {
        InstrumentSpec {
            name: name.to_owned(),
            aliases: Vec::new(),
            summary: summary.to_owned(),
            checks_passes: true,
            options,
            plugin: None,
            origin: None,
            paths: Vec::new(),
            make: Arc::new(make),
        }
    }

    /// Declares that the instrument only observes passes.
    pub fn watching(mut self) -> Self {
        self.checks_passes = false;
        self
    }

    /// Sets other names of the instrument.
    pub fn aliases<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.aliases = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the options that are paths. [`InstrumentSpec::table`] makes them absolute.
    pub fn paths<N: Into<String>>(mut self, options: impl IntoIterator<Item = N>) -> Self {
        self.paths = options.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the schema of the options.
    pub fn schema(&self) -> Schema {
        Schema::new(&self.name, self.options.clone())
    }

    /// Creates the instrument with options, which are checked.
    ///
    /// # Errors
    /// If an option is unknown, invalid or missing, or the instrument can't be created.
    pub fn make(
        &self,
        options: &toml::Table,
        setup: &InstrumentSetup<'_>,
    ) -> Result<InstrumentRef, PassError> {
        let schema = self.schema();
        let options = schema.accept(&toml::Value::Table(options.clone()))?;
        if let Some(missing) = schema.missing(|option| options.contains_key(option)) {
            let message = format!(
                "missing required option `{}` of instrument `{}`",
                missing.name, self.name
            );
            let error = PassError::new(ErrorKind::Config, message);
            return Err(error.help(format!("{}: {}", missing.name, missing.doc)));
        }
        (self.make)(&options, setup)
    }

    /// Returns the `[[instruments]]` table with the instrument's name and options. Paths are made absolute, so that it
    /// is valid in any directory.
    pub fn table(&self, options: &toml::Table, base: &Path) -> toml::Table {
        let mut table = toml::Table::from_iter([("name".to_owned(), self.name.clone().into())]);
        table.extend(options.clone());
        for path in &self.paths {
            if let Some(toml::Value::String(path)) = table.get_mut(path)
                && !path.is_empty()
                && let Ok(absolute) = std::path::absolute(base.join(&*path))
            {
                *path = absolute.to_string_lossy().into_owned();
            }
        }
        table
    }

    pub(crate) fn owner(&self) -> String {
        match (&self.origin, &self.plugin) {
            (Some(origin), _) => format!("plugin {origin}"),
            (None, Some(plugin)) => format!("plugin {plugin}"),
            (None, None) => "this program".to_owned(),
        }
    }
}

impl<'a> InstrumentSetup<'a> {
    /// Creates a setup with paths relative to the current directory, text on standard output without colors, and the
    /// passes of the registry.
    pub fn new(names: &'a dyn PassNames) -> InstrumentSetup<'a> {
        InstrumentSetup {
            base: Path::new(""),
            sink: stdout(),
            color: false,
            file_in_use: &|_| None,
            names,
            sequentials: BTreeSet::new(),
        }
    }

    /// Adds the names of Sequentials of the run.
    pub fn with_sequentials<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> InstrumentSetup<'a> {
        self.sequentials.extend(names.into_iter().map(Into::into));
        self
    }

    /// Returns the names of the run's Sequentials.
    pub fn sequentials(&self) -> impl Iterator<Item = &str> {
        self.sequentials.iter().map(String::as_str)
    }

    /// Resolves the path in an option.
    pub fn path(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    /// Resolves and checks the path of a new file in an option.
    ///
    /// # Errors
    /// If the path in the field `field` of `instrument` is a file of the run, or no file can be created there.
    pub fn new_file(
        &self,
        instrument: &str,
        field: &str,
        path: &str,
    ) -> Result<PathBuf, ConfigError> {
        let path = self.path(path);
        let checked = self.check_new_file(&path);
        checked.map_err(|error| option_error(instrument, field, error.to_string()))?;
        Ok(path)
    }

    /// Checks the path of a new file that a flag has, as [`InstrumentSetup::new_file`] does.
    ///
    /// # Errors
    /// If the path is a file of the run, or no file can be created there.
    pub fn check_new_file(&self, path: &Path) -> Result<(), PassError> {
        let (kind, message) = match (self.file_in_use)(path) {
            Some(what) => (ErrorKind::Usage, format!("the file is {what}")),
            None => match Target::new(path) {
                Ok(_) => return Ok(()),
                Err(error) => (ErrorKind::Write, error.to_string()),
            },
        };
        let message = format!("could not write `{}`: {message}", path.display());
        Err(PassError::new(kind, message))
    }

    /// Returns the passes that the field `field` of `instrument` names. `all` means all passes, and aliases are
    /// resolved.
    ///
    /// # Errors
    /// If a name is neither a pass of the registry nor a Sequential of the run.
    pub fn passes(
        &self,
        instrument: &str,
        field: &str,
        names: &[String],
    ) -> Result<PassFilter, ConfigError> {
        let canonical: Vec<String> = names.iter().map(|n| self.names.canonical(n)).collect();
        let passes = self.names.pass_names();
        let candidates = || passes.iter().chain(&self.sequentials);
        let is_known = |name: &&String| *name == "all" || candidates().any(|other| other == *name);
        let Some(name) = canonical.iter().find(|name| !is_known(name)) else {
            return Ok(PassFilter::new(&canonical));
        };
        let near = suggest::help(name, candidates().map(String::as_str));
        let list = || "run `passdock list passes` to list the passes".to_owned();
        let error = option_error(instrument, field, format!("no pass is named `{name}`"));
        Err(error.help(near.unwrap_or_else(list)))
    }
}

/// Returns an error about the value of an instrument's option, which is underlined in the pipeline.
pub fn option_error(instrument: &str, field: &str, message: impl Into<String>) -> ConfigError {
    ConfigError::new(InvalidPart::Value, instrument, Some(field), message)
}
