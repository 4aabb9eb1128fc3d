//! What goes wrong when passes run: one error type, which says where.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use passdock_diagnostic::excerpt::Excerpt;
use passdock_diagnostic::{Diagnostic, Label, Severity, Snippet};
use passdock_loader::{Origin, Plugin, PluginError};

/// An error of any kind that came from outside: an instrument's, a system's.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// The error of a run: passes didn't run, or not to the end. The module that was handed in is as it
/// was.
///
/// One pointer, so that a result is small; its parts are read and set as fields.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::{ErrorKind, PassError, PassInfo, create_module_pass};
///
/// let pass = create_module_pass(PassInfo::new("demo.transform.Fails"), |m, _cx| {
///     Ok(m.remove("helper")?)
/// });
/// let error = pass.call(passdock::build_module(|_m| Ok(()))?).unwrap_err();
/// assert_eq!(error.kind, ErrorKind::Failed);
/// assert_eq!(error.pass.as_deref(), Some("demo.transform.Fails"));
/// assert_eq!(
///     error.to_string(),
///     "Error in pass demo.transform.Fails: the module has no function called `helper`"
/// );
/// println!("{}", error.to_diagnostic().render(false));
/// # Ok::<(), PassError>(())
/// ```
#[derive(Clone)]
pub struct PassError(Box<ErrorParts>);

/// What an error says.
#[derive(Clone)]
pub struct ErrorParts {
    /// What kind of error.
    pub kind: ErrorKind,
    /// A whole sentence, without the names that stand in the fields.
    pub message: String,
    /// The pass that failed.
    pub pass: Option<String>,
    /// The plugin that gives the pass.
    pub plugin: Option<Provider>,
    /// The pass that ran that pass, and so on.
    pub run_by: Vec<String>,
    /// The function that it worked on.
    pub function: Option<String>,
    /// The op that it failed on.
    pub op: Option<String>,
    /// Where the op, or the line of a file, stands.
    pub location: Option<String>,
    /// The line of text that it is about.
    pub snippet: Option<Box<Snippet>>,
    /// Other places that it is about.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// What else went wrong on the way out, and where names were asked for.
    pub notes: Vec<String>,
    /// The error behind it, as it was thrown.
    pub source: Option<Cause>,
    /// The `FailureSite` of the run loop, if a pass of a Sequential failed: see
    /// [`PassError::site`].
    pub(crate) site: Option<Arc<dyn Any + Send + Sync>>,
}

/// Where a pass comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The plugin's name.
    pub plugin: String,
    /// Its file, or that it is built in.
    pub origin: Origin,
}

/// What kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name that a pass can't have.
    Name,
    /// No pass of that name.
    UnknownPass,
    /// No instrument of that name.
    UnknownInstrument,
    /// Two passes of one name.
    Duplicate,
    /// Passes that require each other.
    Cycle,
    /// A pass that is required and disabled.
    RequiredDisabled,
    /// A Sequential nested too deeply.
    TooDeep,
    /// A state that a pass needs and that doesn't hold before it.
    State,
    /// A state that a pass needs and that the model doesn't have.
    ModelState,
    /// A config key, field or value.
    Config,
    /// A pipeline file.
    Pipeline,
    /// What was asked for: arguments of the command line, files and directories that they name.
    Usage,
    /// How a context was entered or left.
    Context,
    /// A plugin that can't be used.
    Plugin,
    /// The pass emitted error diagnostics, which say why.
    Diagnostics,
    /// The pass answered that it failed.
    Failed,
    /// The pass panicked.
    Panicked,
    /// What the pass made isn't valid IR.
    Verify,
    /// An instrument failed.
    Instrument,
    /// A pass changed what the model computes.
    Numerics,
    /// What the model computes had to be checked and couldn't be.
    NotChecked,
    /// The model couldn't be read.
    Read,
    /// The result couldn't be written.
    Write,
    /// A check of a model can't be made, or says what leaves nothing to look for.
    Check,
}

impl ErrorKind {
    /// The stable code that diagnostics carry.
    pub fn code(self) -> &'static str {
        match self {
            ErrorKind::Name => "pass-name",
            ErrorKind::UnknownPass => "unknown-pass",
            ErrorKind::UnknownInstrument => "unknown-instrument",
            ErrorKind::Duplicate => "duplicate-pass",
            ErrorKind::Cycle => "required-cycle",
            ErrorKind::RequiredDisabled => "required-disabled",
            ErrorKind::TooDeep => "too-deep",
            ErrorKind::State | ErrorKind::ModelState => "state",
            ErrorKind::Config => "config",
            ErrorKind::Pipeline => "pipeline",
            ErrorKind::Usage => "usage",
            ErrorKind::Context => "context",
            ErrorKind::Plugin => "plugin",
            ErrorKind::Diagnostics => "error-diagnostics",
            ErrorKind::Failed => "pass-failed",
            ErrorKind::Panicked => "pass-panicked",
            ErrorKind::Verify => "verify",
            ErrorKind::Instrument => "instrument",
            ErrorKind::Numerics => "numerics",
            ErrorKind::NotChecked => "not-checked",
            ErrorKind::Read => "read",
            ErrorKind::Write => "write",
            ErrorKind::Check => "check",
        }
    }

    /// The exit status of a program that ends with it: 1 a pass, the model or the output, 2 what
    /// the user asked for, 3 a plugin.
    pub fn exit_status(self) -> u8 {
        match self {
            ErrorKind::Diagnostics
            | ErrorKind::Failed
            | ErrorKind::Panicked
            | ErrorKind::Verify
            | ErrorKind::Instrument
            | ErrorKind::Numerics
            | ErrorKind::NotChecked
            | ErrorKind::Context
            | ErrorKind::ModelState
            | ErrorKind::Read
            | ErrorKind::Write
            | ErrorKind::Check => 1,
            ErrorKind::Plugin => 3,
            _ => 2,
        }
    }
}

impl PassError {
    /// An error that names nothing yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> PassError {
        PassError(Box::new(ErrorParts {
            kind,
            message: message.into(),
            pass: None,
            plugin: None,
            run_by: Vec::new(),
            function: None,
            op: None,
            location: None,
            snippet: None,
            labels: Vec::new(),
            help: None,
            notes: Vec::new(),
            source: None,
            site: None,
        }))
    }

    /// The failure of a pass that emitted error diagnostics, which are shown and aren't said again.
    pub fn diagnostics() -> PassError {
        PassError::new(
            ErrorKind::Diagnostics,
            "One or more error diagnostics were emitted, please check diagnostic render for output.",
        )
    }

    /// Names the pass, if none is named yet.
    pub fn in_pass(mut self, name: &str, plugin: Option<&Provider>) -> PassError {
        if self.pass.is_none() {
            self.pass = Some(name.to_owned());
            self.plugin = plugin.cloned();
        }
        self
    }

    /// Says that the failed pass was run by another, unless that is the failed one itself, or one
    /// that was named already: of passes that run each other each is named once.
    pub(crate) fn run_by(mut self, name: &str) -> PassError {
        let is_other = self.pass.as_deref().is_some_and(|pass| pass != name);
        if is_other && self.run_by.iter().all(|known| known != name) {
            self.run_by.push(name.to_owned());
        }
        self
    }

    /// Shows the op that it is about.
    pub(crate) fn at(mut self, shown: Excerpt) -> PassError {
        self.function = shown.function;
        self.op = shown.op;
        self.location = shown.location;
        self.snippet = shown.snippet.map(Box::new);
        self.labels = shown.others;
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> PassError {
        self.help = Some(help.into());
        self
    }

    /// Adds what else there is to say.
    pub fn note(mut self, note: impl Into<String>) -> PassError {
        self.notes.push(note.into());
        self
    }

    /// Keeps the error behind it.
    pub fn caused_by(mut self, source: Cause) -> PassError {
        self.source = Some(source);
        self
    }

    /// The error as reports and terminals show it.
    pub fn to_diagnostic(&self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: self.kind.code().to_owned(),
            message: self.message.clone(),
            pass: self.pass.clone(),
            plugin: self.plugin.as_ref().map(|p| p.plugin.clone()),
            file: self.plugin.as_ref().and_then(Provider::file),
            run_by: self.run_by.clone(),
            function: self.function.clone(),
            op: self.op.clone(),
            location: self.location.clone(),
            help: self.help.clone(),
            notes: self.notes.clone(),
            snippet: self.snippet.as_deref().cloned(),
            labels: self.labels.clone(),
        }
    }
}

impl Provider {
    /// A plugin as the provider of what it brings.
    pub fn of(plugin: &Plugin) -> Provider {
        Provider {
            plugin: plugin.name().to_owned(),
            origin: plugin.origin().clone(),
        }
    }

    /// Its file, if it has one.
    pub fn file(&self) -> Option<String> {
        self.origin.path().map(|path| path.display().to_string())
    }
}

impl Deref for PassError {
    type Target = ErrorParts;

    fn deref(&self) -> &ErrorParts {
        &self.0
    }
}

impl DerefMut for PassError {
    fn deref_mut(&mut self) -> &mut ErrorParts {
        &mut self.0
    }
}

/// The whole story on one line: what, in which pass of which plugin, where, what to do.
impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pass) = &self.pass {
            write!(f, "Error in pass {pass}")?;
            if let Some(plugin) = &self.plugin {
                write!(f, " of plugin {}", plugin.origin)?;
            }
            for outer in &self.run_by {
                write!(f, ", run by {outer}")?;
            }
            if let Some(function) = &self.function {
                write!(f, ", function @{function}")?;
            }
            if let Some(op) = &self.op {
                write!(f, ", {op}")?;
            }
            if let Some(location) = &self.location {
                write!(f, ", at {location}")?;
            }
            f.write_str(": ")?;
        } else if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, " {help}")?;
        }
        for note in &self.notes {
            write!(f, " ({note})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PassError({}: {self})", self.kind.code())
    }
}

impl Error for PassError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl From<PluginError> for PassError {
    fn from(error: PluginError) -> PassError {
        let message = capitalized(&error.to_string());
        PassError::new(ErrorKind::Plugin, message).caused_by(Arc::new(error))
    }
}

impl From<crate::config::ConfigError> for PassError {
    fn from(error: crate::config::ConfigError) -> PassError {
        let mut made = PassError::new(ErrorKind::Config, error.message.clone());
        made.help.clone_from(&error.help);
        made.caused_by(Arc::new(error))
    }
}

/// A sentence starts with a capital letter and ends with a full stop.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    };
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}
