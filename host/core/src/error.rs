//! The error type of the host, with the pass, the function and the op that it is about.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use passdock_crash::{CallKind, Culprit, Termination};
use passdock_diagnostic::{Diagnostic, Snippet, suggest};
use passdock_loader::{MissingDefinition, Origin, Plugin, PluginError};
use serde::{Deserialize, Serialize};

/// An underlying error of any type, for example of an instrument or of the operating system.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// The error of passes that didn't run or didn't complete. The input module is unchanged.
///
/// A `PassError` is a single pointer, so results are small. Its parts are accessible as fields.
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

/// The parts of an error: a diagnostic, whose fields are accessible as the error's own, and data for programs. All
/// parts except the underlying error and the site are serialized to other processes.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ErrorParts {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The message without the names that other fields hold, and everything that it refers to. Its code is unused: the
    /// code is that of `kind`.
    pub diagnostic: Diagnostic,
    /// Whether the request that failed came from a pass. Then the pass failed, not the user's request.
    pub is_inner: bool,
    /// A fault of the pass that [`ErrorKind::Failed`] doesn't distinguish.
    pub fault: Option<PassFault>,
    /// The underlying error.
    #[serde(skip)]
    pub source: Option<Cause>,
    /// The termination of the process, for [`ErrorKind::Crashed`].
    pub termination: Option<Box<Termination>>,
    /// The `FailureSite` of the run loop, if a pass of a Sequential failed: see [`PassError::site`].
    #[serde(skip)]
    pub(crate) site: Option<Arc<dyn Any + Send + Sync>>,
}

/// A failure that is the fault of the pass, whatever the module. Checks of plugins report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PassFault {
    /// The pass returned a status and no message.
    Unexplained,
    /// The pass changed an interface without declaring it.
    UndeclaredChange,
    /// The pass violated the rules of the plugin ABI for handles and memory.
    Violation,
}

/// The plugin that provides a pass or an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// The plugin's name.
    pub plugin: String,
    /// The plugin's file, or built-in originto the program.
    pub origin: Origin,
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident $code:literal $exit_status:literal,)*) => {
        /// The kind of an error.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$meta])* $kind,)*
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &[ErrorKind] = &[$(ErrorKind::$kind),*];

            /// Returns the stable code for diagnostics.
            pub fn code(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $code,)*
                }
            }

            /// Returns the exit status of a program that ends with this error. It is 1 for a pass, the model or the
            /// output, 2 for the user's request, and 3 for a plugin.
            pub fn exit_status(self) -> u8 {
                match self {
                    $(ErrorKind::$kind => $exit_status,)*
                }
            }
        }
    };
}

// Each row is a kind, its code and its exit status.
kinds! {
    /// The name of a pass is invalid.
    Name "pass-name" 2,
    /// No pass has that name.
    UnknownPass "unknown-pass" 2,
    /// No instrument has that name.
    UnknownInstrument "unknown-instrument" 2,
    /// Two passes or instruments have the same name.
    Duplicate "duplicate-pass" 2,
    /// Passes require each other.
    Cycle "required-cycle" 2,
    /// A required pass is disabled.
    RequiredDisabled "required-disabled" 2,
    /// A Sequential is nested too deeply.
    TooDeep "too-deep" 2,
    /// A config key, field or value is invalid.
    Config "config" 2,
    /// A pipeline file is invalid.
    Pipeline "pipeline" 2,
    /// A file of rules is invalid.
    Rules "rules" 2,
    /// Arguments of the command line, or the files and directories they name, are invalid.
    Usage "usage" 2,
    /// A context can't be built, entered or exited.
    Context "context" 1,
    /// A plugin can't be loaded or is invalid.
    Plugin "plugin" 3,
    /// A plugin differs from the lock file, or the lock file is unusable.
    Lock "lock" 3,
    /// A plugin has no valid signature of a trusted key.
    Signature "signature" 3,
    /// A provenance statement is invalid, or a file differs from it.
    Provenance "provenance" 1,
    /// The pass emitted error diagnostics, which explain the failure.
    Diagnostics "error-diagnostics" 1,
    /// The program cancelled the run.
    Cancelled "cancelled" 1,
    /// The pass returned a failure.
    #[default]
    Failed "pass-failed" 1,
    /// The pass panicked.
    Panicked "pass-panicked" 1,
    /// The process terminated during a pass: by a signal, by `exit`, or by a timeout.
    Crashed "crashed" 1,
    /// The pass left invalid IR.
    Verify "verify" 1,
    /// The input of a pass, or the module to be written, is invalid: an earlier pass wrote to read-only memory of the
    /// IR.
    Broken "broken" 1,
    /// An instrument failed.
    Instrument "instrument" 1,
    /// The pass changed the numerical results of the model.
    Numerics "numerics" 1,
    /// The numerical results of the model couldn't be checked.
    NotChecked "not-checked" 1,
    /// The model can't be read.
    Read "read" 1,
    /// The result can't be written.
    Write "write" 1,
    /// A check of a model can't run, or its result leaves nothing to search for.
    Check "check" 1,
}

impl PassError {
    /// Creates an error that has only a kind and a message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> PassError {
        let mut error = PassError(Box::default());
        (error.kind, error.message) = (kind, message.into());
        error
    }

    /// Creates the error of a pass that emitted error diagnostics. They are shown separately, so the error doesn't
    /// repeat them.
    pub fn diagnostics() -> PassError {
        PassError::new(
            ErrorKind::Diagnostics,
            "One or more error diagnostics were emitted, please check diagnostic render for output.",
        )
    }

    /// Creates the error of a process that plugin code terminated. A caller that has the pass adds it.
    pub fn from_termination(termination: &Termination) -> PassError {
        let (cause, culprit) = (&termination.cause, termination.culprit.as_ref());
        let other = culprit.filter(|culprit| culprit.kind != CallKind::Pass);
        let called = other.map(|Culprit { kind, name, .. }| match kind {
            CallKind::Definition => format!("definition of `{name}`"),
            kind => format!("{} `{name}`", kind.name()),
        });
        let called = called.as_deref().unwrap_or(match culprit {
            Some(_) => "the pass",
            None => "the process",
        });
        let message = match termination.on_other_thread {
            true => format!(
                "a thread without a call into a plugin {cause}; {called} ran on another thread"
            ),
            false => format!("{called} {cause}"),
        };
        let mut error = PassError::new(ErrorKind::Crashed, message)
            .help("nothing was written, and the input model is unchanged");
        error.function = culprit.and_then(|culprit| culprit.function.clone());
        // The pass's own plugin is set with the pass.
        if let Some(plugin) = other.and_then(|culprit| culprit.plugin.as_ref()) {
            error.notes.push(format!("the plugin is `{plugin}`"));
        }
        // A corrupted heap causes crashes later, in other code.
        let before = termination.called_before.as_ref().filter(|before| {
            let plugin = culprit.and_then(|culprit| culprit.plugin.as_ref());
            before.plugin.is_some() && before.plugin.as_ref() != plugin
        });
        if let Some(Culprit { name, plugin, .. }) = before {
            let plugin = plugin.as_deref().unwrap_or_default();
            error.notes.push(format!(
                "the last call before the crash was the definition of `{name}` in `{plugin}`, which may have corrupted \
                 memory"
            ));
        }
        let is_uncertain = culprit.is_none()
            || termination.on_other_thread
            || before.is_some()
            || cause.name() == "SIGABRT";
        if is_uncertain && !termination.loaded.is_empty() {
            let names = suggest::listed(termination.loaded.iter().map(String::as_str));
            error.notes.push(format!("loaded plugins: {names}"));
        }
        error.termination = Some(Box::new(termination.clone()));
        error
    }

    /// Returns the exit status of a program that ends with this error. It is that of the kind, except that the user
    /// isn't blamed for requests of passes.
    pub fn exit_status(&self) -> u8 {
        match self.kind.exit_status() {
            2 if self.is_inner => 1,
            status => status,
        }
    }

    /// Sets the failed pass, unless it is set already.
    pub fn in_pass(mut self, name: &str, provider: Option<&Provider>) -> PassError {
        // The pass that finds broken IR isn't the one that broke it.
        if self.pass.is_none() && self.kind != ErrorKind::Broken {
            self.pass = Some(name.to_owned());
            self.set_provider(provider);
        }
        self
    }

    /// Adds the pass that ran the failed one. Each pass is added only once, even if passes run each other.
    pub(crate) fn run_by(mut self, name: &str) -> PassError {
        let is_other = self.pass.as_deref().is_some_and(|pass| pass != name);
        if is_other && self.run_by.iter().all(|outer| outer != name) {
            self.run_by.push(name.to_owned());
        }
        self
    }

    /// Sets the plugin that provides the failed pass.
    pub(crate) fn set_provider(&mut self, provider: Option<&Provider>) {
        self.plugin = provider.map(|provider| provider.plugin.clone());
        self.file = provider.and_then(Provider::file);
    }

    /// Adds the line of text that the error is about.
    pub fn snippet(mut self, snippet: Snippet) -> PassError {
        self.location = Some(snippet.location());
        self.snippet = Some(snippet);
        self
    }

    /// Adds help on how to fix the error.
    pub fn help(mut self, help: impl Into<String>) -> PassError {
        self.help = Some(help.into());
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> PassError {
        self.notes.push(note.into());
        self
    }

    /// Adds the underlying error.
    pub fn caused_by(mut self, source: Cause) -> PassError {
        self.source = Some(source);
        self
    }

    /// Returns the error as a diagnostic, for reports and terminals.
    pub fn to_diagnostic(&self) -> Diagnostic {
        Diagnostic {
            code: self.kind.code().to_owned(),
            ..self.diagnostic.clone()
        }
    }
}

impl Provider {
    /// Creates the provider of a plugin.
    pub fn new(plugin: &Plugin) -> Provider {
        Provider {
            plugin: plugin.name().to_owned(),
            origin: plugin.origin().clone(),
        }
    }

    /// Returns the path of the plugin's file, if it has one.
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

impl Deref for ErrorParts {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.diagnostic
    }
}

impl DerefMut for ErrorParts {
    fn deref_mut(&mut self) -> &mut Diagnostic {
        &mut self.diagnostic
    }
}

/// Formats the whole error on one line: pass, plugin, function, op, location, message, help and notes.
impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pass) = &self.pass {
            write!(f, "Error in pass {pass}")?;
            match (&self.file, &self.plugin) {
                (Some(file), _) => write!(f, " of plugin `{file}`")?,
                (None, Some(plugin)) => write!(f, " of plugin `{plugin}` (built in)")?,
                (None, None) => {}
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
            write!(f, "; {help}")?;
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
        PassError::new(ErrorKind::Plugin, error.to_string()).caused_by(Arc::new(error))
    }
}

impl From<MissingDefinition> for PassError {
    fn from(missing: MissingDefinition) -> PassError {
        let op = missing.op;
        PassError::from(missing.error).note(format!("the plugin defines `{op}`"))
    }
}

impl From<crate::config::ConfigError> for PassError {
    fn from(error: crate::config::ConfigError) -> PassError {
        let mut config = PassError::new(ErrorKind::Config, error.message.clone());
        config.help.clone_from(&error.help);
        config.caused_by(Arc::new(error))
    }
}
