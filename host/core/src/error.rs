//! The error type of the host, which says in which pass, function and op something went wrong.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use passdock_crash::{CallKind, Culprit, Termination};
pub use passdock_diagnostic::capitalized;
use passdock_diagnostic::excerpt::Excerpt;
use passdock_diagnostic::{BlamedDefinition, Diagnostic, Label, Severity, Snippet};
use passdock_loader::{MissingDefinition, Origin, Plugin, PluginError};
use serde::{Deserialize, Serialize};

/// An underlying error of any type: an instrument's, the system's.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// The error of passes that didn't run, or not to the end. The module that was handed in is
/// unchanged.
///
/// One pointer, so that a result is small; its parts are read and set as fields.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub mod ir {
/// #         pub use passdock_core::build_module;
/// #     }
/// # }
/// use passdock::{ErrorKind, PassError, PassInfo, create_module_pass};
///
/// let pass = create_module_pass(PassInfo::new("demo.transform.Fails"), |m, _cx| {
///     Ok(m.remove("helper")?)
/// });
/// let error = pass.call(passdock::ir::build_module(|_m| Ok(()))?).unwrap_err();
/// assert_eq!(error.kind, ErrorKind::Failed);
/// assert_eq!(error.pass.as_deref(), Some("demo.transform.Fails"));
/// assert_eq!(
///     error.to_string(),
///     "Error in pass demo.transform.Fails: the module has no function called `helper`"
/// );
/// println!("{}", error.to_diagnostic().render(false));
/// # Ok::<(), PassError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct PassError(Box<ErrorParts>);

/// The parts of an error. Another process gets all of them but the underlying error and the site.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ErrorParts {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The message: a whole sentence, without the names that the other fields hold.
    pub message: String,
    /// The pass that failed.
    pub pass: Option<String>,
    /// The plugin that provides the pass.
    pub plugin: Option<Provider>,
    /// The passes that ran the failed pass, innermost first.
    pub run_by: Vec<String>,
    /// The definition of an op that failed, or that calls the op wrong, when the pass asked it.
    pub definition: Option<BlamedDefinition>,
    /// Whether a pass asked for what is wrong: then the pass has failed, and not the user's request.
    pub is_inner: bool,
    /// The function that the pass worked on.
    pub function: Option<String>,
    /// The op that the pass failed on.
    pub op: Option<String>,
    /// The location of the op, or of the line in a file.
    pub location: Option<String>,
    /// The line of text that the error is about.
    pub snippet: Option<Box<Snippet>>,
    /// Other places that the error is about.
    pub labels: Vec<Label>,
    /// The advice on what to do.
    pub help: Option<String>,
    /// Further remarks: errors on the way out, and the pass or pipeline that asked for a name.
    pub notes: Vec<String>,
    /// The underlying error.
    #[serde(skip)]
    pub source: Option<Cause>,
    /// The termination of the process, of a kind [`ErrorKind::Crashed`].
    pub termination: Option<Box<Termination>>,
    /// The `FailureSite` of the run loop, if a pass of a Sequential failed: see
    /// [`PassError::site`].
    #[serde(skip)]
    pub(crate) site: Option<Arc<dyn Any + Send + Sync>>,
}

/// A cause by which checks of plugins tell failures of passes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureMark {
    /// The pass returned a status and nothing else.
    Unexplained,
    /// The pass changed an interface without having declared it.
    UndeclaredChange,
}

impl FailureMark {
    /// Whether the mark is the cause of an error.
    pub(crate) fn is_on(self, error: &PassError) -> bool {
        let cause = error.source.as_deref();
        cause.and_then(|cause| cause.downcast_ref()) == Some(&self)
    }
}

impl Error for FailureMark {}

impl fmt::Display for FailureMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailureMark::Unexplained => "the pass answered a status and nothing else",
            FailureMark::UndeclaredChange => "the pass doesn't declare that it changes interfaces",
        })
    }
}

/// The plugin that provides a pass or an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// The plugin's name.
    pub plugin: String,
    /// The plugin's file, or that it is a part of this program.
    pub origin: Origin,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name that a pass can't have.
    Name,
    /// No pass has that name.
    UnknownPass,
    /// No instrument has that name.
    UnknownInstrument,
    /// Two passes or instruments have the same name.
    Duplicate,
    /// Passes require each other.
    Cycle,
    /// A required pass is disabled.
    RequiredDisabled,
    /// A Sequential is nested too deeply.
    TooDeep,
    /// A config key, field or value is invalid.
    Config,
    /// A pipeline file is invalid.
    Pipeline,
    /// A file of rules is invalid.
    Rules,
    /// Arguments of the command line, or files and directories that they name, are invalid.
    Usage,
    /// A context can't be built, entered or left.
    Context,
    /// A plugin can't be used.
    Plugin,
    /// The pass emitted error diagnostics, which say why it failed.
    Diagnostics,
    /// The pass returned a failure.
    #[default]
    Failed,
    /// The pass panicked.
    Panicked,
    /// The process terminated in a pass: by a signal, by `exit`, or because it took too long.
    Crashed,
    /// The pass left invalid IR.
    Verify,
    /// The IR that a pass was given, or that is to be written, is invalid: a pass before wrote where it may only read.
    Broken,
    /// An instrument failed.
    Instrument,
    /// The pass changed what the model computes.
    Numerics,
    /// The check of what the model computes couldn't be made.
    NotChecked,
    /// The model can't be read.
    Read,
    /// The result can't be written.
    Write,
    /// A check of a model can't be made, or its result leaves nothing to look for.
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
            ErrorKind::Config => "config",
            ErrorKind::Pipeline => "pipeline",
            ErrorKind::Rules => "rules",
            ErrorKind::Usage => "usage",
            ErrorKind::Context => "context",
            ErrorKind::Plugin => "plugin",
            ErrorKind::Diagnostics => "error-diagnostics",
            ErrorKind::Failed => "pass-failed",
            ErrorKind::Panicked => "pass-panicked",
            ErrorKind::Crashed => "crashed",
            ErrorKind::Verify => "verify",
            ErrorKind::Broken => "broken",
            ErrorKind::Instrument => "instrument",
            ErrorKind::Numerics => "numerics",
            ErrorKind::NotChecked => "not-checked",
            ErrorKind::Read => "read",
            ErrorKind::Write => "write",
            ErrorKind::Check => "check",
        }
    }

    /// The exit status of a program that ends with this error: 1 for a pass, the model or the
    /// output, 2 for the user's request, 3 for a plugin.
    pub fn exit_status(self) -> u8 {
        match self {
            ErrorKind::Diagnostics
            | ErrorKind::Failed
            | ErrorKind::Panicked
            | ErrorKind::Crashed
            | ErrorKind::Verify
            | ErrorKind::Broken
            | ErrorKind::Instrument
            | ErrorKind::Numerics
            | ErrorKind::NotChecked
            | ErrorKind::Context
            | ErrorKind::Read
            | ErrorKind::Write
            | ErrorKind::Check => 1,
            ErrorKind::Plugin => 3,
            _ => 2,
        }
    }
}

impl PassError {
    /// An error with a kind and a message only.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> PassError {
        PassError(Box::new(ErrorParts {
            kind,
            message: message.into(),
            ..ErrorParts::default()
        }))
    }

    /// The error of a pass that emitted error diagnostics. They are shown by themselves, so the
    /// error doesn't repeat them.
    pub fn diagnostics() -> PassError {
        PassError::new(
            ErrorKind::Diagnostics,
            "One or more error diagnostics were emitted, please check diagnostic render for output.",
        )
    }

    /// Creates the error of a process that plugin code terminated. A caller that knows the pass adds it.
    pub fn from_termination(termination: &Termination) -> PassError {
        let (cause, culprit) = (&termination.cause, termination.culprit.as_ref());
        let other = culprit.filter(|culprit| culprit.kind != CallKind::Pass);
        let called = other.map(|Culprit { kind, name, .. }| match kind {
            CallKind::Definition => format!("the definition of `{name}`"),
            kind => format!("the {} `{name}`", kind.name()),
        });
        let called = called.as_deref().unwrap_or("it");
        let message = match termination.on_other_thread {
            true => format!(
                "Something {cause} while {called} ran; no call into a plugin was on that thread."
            ),
            false => capitalized(&format!("{called} {cause}.")),
        };
        let mut error = PassError::new(ErrorKind::Crashed, message)
            .help("Nothing was written, and the model that was read is as it was.");
        error.function = culprit.and_then(|culprit| culprit.function.clone());
        // The pass's own is told with the pass.
        if let Some(plugin) = other.and_then(|culprit| culprit.plugin.as_ref()) {
            error.notes.push(format!("it is in `{plugin}`"));
        }
        // What spoils the heap shows later, in somebody else's code.
        let before = termination.called_before.as_ref().filter(|before| {
            let plugin = culprit.and_then(|culprit| culprit.plugin.as_ref());
            before.plugin.is_some() && before.plugin.as_ref() != plugin
        });
        if let Some(Culprit { name, plugin, .. }) = before {
            let plugin = plugin.as_deref().unwrap_or_default();
            error.notes.push(format!(
                "the definition of `{name}` in `{plugin}` was called last before that; what it wrote past its memory \
                 shows later"
            ));
        }
        if culprit.is_none()
            || termination.on_other_thread
            || before.is_some()
            || cause.name() == "SIGABRT"
        {
            let names = termination.loaded.iter().map(|file| format!("`{file}`"));
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                error
                    .notes
                    .push(format!("loaded by then: {}", names.join(", ")));
            }
        }
        error.termination = Some(Box::new(termination.clone()));
        error
    }

    /// The exit status of a program that ends with this error: that of its kind, but for what a pass asked for.
    pub fn exit_status(&self) -> u8 {
        match self.kind.exit_status() {
            2 if self.is_inner => 1,
            status => status,
        }
    }

    /// Names the failed pass, if none is named yet.
    pub fn in_pass(mut self, name: &str, plugin: Option<&Provider>) -> PassError {
        // Of IR that was broken before, it is the wrong one.
        if self.pass.is_none() && self.kind != ErrorKind::Broken {
            self.pass = Some(name.to_owned());
            self.plugin = plugin.cloned();
        }
        self
    }

    /// Adds the pass that ran the failed one. The failed pass itself and passes that are named
    /// already aren't added, so that of passes that run each other each is named once.
    pub(crate) fn run_by(mut self, name: &str) -> PassError {
        let is_other = self.pass.as_deref().is_some_and(|pass| pass != name);
        if is_other && self.run_by.iter().all(|known| known != name) {
            self.run_by.push(name.to_owned());
        }
        self
    }

    /// Adds the op that the error is about, as an excerpt shows it.
    pub(crate) fn at(mut self, shown: Excerpt) -> PassError {
        self.function = shown.function;
        self.op = shown.op;
        self.location = shown.location;
        self.snippet = shown.snippet.map(Box::new);
        self.labels = shown.others;
        self
    }

    /// Adds the advice on what to do.
    pub fn help(mut self, help: impl Into<String>) -> PassError {
        self.help = Some(help.into());
        self
    }

    /// Adds a further remark.
    pub fn note(mut self, note: impl Into<String>) -> PassError {
        self.notes.push(note.into());
        self
    }

    /// Adds the underlying error.
    pub fn caused_by(mut self, source: Cause) -> PassError {
        self.source = Some(source);
        self
    }

    /// The error as a diagnostic, for reports and terminals.
    pub fn to_diagnostic(&self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: self.kind.code().to_owned(),
            message: self.message.clone(),
            pass: self.pass.clone(),
            plugin: self.plugin.as_ref().map(|p| p.plugin.clone()),
            file: self.plugin.as_ref().and_then(Provider::file),
            run_by: self.run_by.clone(),
            definition: self.definition.clone(),
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
    /// The provider that a plugin is.
    pub fn of(plugin: &Plugin) -> Provider {
        Provider {
            plugin: plugin.name().to_owned(),
            origin: plugin.origin().clone(),
        }
    }

    /// The path of the plugin's file, if it has one.
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

/// The whole error on one line: pass, plugin, function, op, location, message, help and notes.
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
        let definition = self.definition.as_ref();
        if let Some(by) = definition.and_then(|by| by.unless_in(&self.message)) {
            write!(f, " ({by})")?;
        }
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
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<PluginError> for PassError {
    fn from(error: PluginError) -> PassError {
        let message = capitalized(&error.to_string());
        PassError::new(ErrorKind::Plugin, message).caused_by(Arc::new(error))
    }
}

impl From<MissingDefinition> for PassError {
    fn from(missing: MissingDefinition) -> PassError {
        let op = missing.op;
        PassError::from(missing.error).note(format!("the definition of `{op}` is in it"))
    }
}

impl From<crate::config::ConfigError> for PassError {
    fn from(error: crate::config::ConfigError) -> PassError {
        let mut made = PassError::new(ErrorKind::Config, error.message.clone());
        made.help.clone_from(&error.help);
        made.caused_by(Arc::new(error))
    }
}
