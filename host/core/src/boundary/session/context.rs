//! `ContextApi`: the options, the config, the diagnostics and the other passes that a running pass has access to.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{OpId, PassKind, Setting, SettingItem, Status, Str, SymbolId, symbol};
use passdock_diagnostic::excerpt::{self, Excerpt, Numbering, Part};
use passdock_diagnostic::{BlamedDefinition, Diagnostic, DiagnosticBuffer, Severity};
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Edit, EditFailure, Function, ModuleSource, Symbols};
use passdock_loader::{MissingDefinition, OpDefs, setting};
use rustc_hash::FxHashMap;

use super::gate::Session;
use super::lending::{self, LentHandle, Loans};
use super::rewrites::Rewrites;
use super::{ContextSession, ModuleSession, SessionBase, input, lends};
use crate::analyses::SharedNames;
use crate::error::{PassError, PassFault};

/// The failure of a pass or of an instrument's callback.
#[derive(Clone, Debug, Default)]
pub struct CallFailure {
    /// Whether the plugin panicked.
    pub panicked: bool,
    /// Whether an option of the pass is invalid for the model.
    pub is_config: bool,
    /// Whether the pass gave no reason. The cause may be among its diagnostics.
    pub silent: bool,
    /// Whether the plugin violated the rules for handles and memory.
    pub violation: bool,
    /// The error message, or the panic message.
    pub message: String,
    /// The op and the function on which the pass failed, if known.
    pub at: Excerpt,
    /// The location of the panic in the plugin's source: `file:line:column`.
    pub panic_at: Option<String>,
    /// The error of the last pass that this one ran, if it failed, and the message that this pass received.
    pub nested: Option<(PassError, String)>,
    /// The op definition that caused the failure.
    pub definition: Option<BlamedDefinition>,
}

impl CallFailure {
    /// Creates a failure that has only a message.
    pub(crate) fn new(message: impl Into<String>) -> CallFailure {
        CallFailure {
            message: message.into(),
            ..CallFailure::default()
        }
    }

    /// Takes the violation of the call that has just returned.
    pub(in crate::boundary) fn take_violation() -> Option<CallFailure> {
        let failure = CallFailure::new(lending::take_message()?);
        Some(CallFailure {
            violation: true,
            ..failure
        })
    }

    /// Returns the fault that the failure shows, if any.
    pub(crate) fn fault(&self) -> Option<PassFault> {
        match (self.violation, self.panicked) {
            (true, _) => Some(PassFault::Violation),
            (_, false) if self.silent => Some(PassFault::Unexplained),
            _ => None,
        }
    }
}

/// The rarely used state of a context.
#[derive(Default)]
pub(super) struct ContextExtras {
    diagnostics: RefCell<DiagnosticBuffer>,
    failure: RefCell<Option<CallFailure>>,
    /// Items of settings that plugins hold pointers to. They live as long as the session.
    items: RefCell<Vec<Vec<SettingItem>>>,
    nested: RefCell<Option<(PassError, String)>>,
    numbering: RefCell<Numbering>,
    blamed: RefCell<Blamed>,
    /// The rewrites since the last call of `take_rewrites`.
    rewrites: RefCell<Rewrites>,
    /// What is lent to the plugin, if the process lends.
    lent: OnceCell<LentHandle>,
    lent_settings: RefCell<Loans>,
}

/// The op definitions that failed or rejected an op in this pass.
#[derive(Default)]
struct Blamed {
    /// The last message and definition by op. The keys are op descriptions as in messages.
    by_op: FxHashMap<String, (String, BlamedDefinition)>,
    /// The key of the most recent entry.
    last: String,
}

impl Blamed {
    /// Returns the definition that caused a message about an op. Either the message repeats the definition's error, or
    /// it is about that op and names the operator.
    fn of(&self, message: &str, op: Option<&str>) -> Option<BlamedDefinition> {
        let about = op.and_then(|op| self.by_op.get(op));
        let about = about.filter(|(text, by)| message.contains(text) || message.contains(&by.op));
        let last = || {
            let last = self.by_op.get(&self.last);
            last.filter(|(text, _)| message.contains(text))
        };
        about.or_else(last).map(|(_, by)| by.clone())
    }
}

impl<'a> ContextSession<'a> {
    #[cold]
    fn extras(&self) -> &ContextExtras {
        self.extras.get_or_init(Box::default)
    }

    /// Returns the op definitions of the run, and records that the session used them.
    pub(in crate::boundary) fn op_defs(&self) -> &'a OpDefs {
        self.queried_ops.set(true);
        self.frame.op_defs()
    }

    /// Returns the names shared by defined operators and functions of the module in its current state.
    #[inline]
    pub(in crate::boundary) fn shared_names(&self) -> SharedNames {
        let defs = self.op_defs();
        let names = self.module().map(|module| module.shared_names(defs));
        names.unwrap_or_else(|| SharedNames::none(defs))
    }

    /// Whether the module, in its current state, has a function of this name.
    #[inline]
    pub(in crate::boundary) fn names_function(&self, symbols: &Symbols, name: SymbolId) -> bool {
        symbols.may_name_function(name) && self.module().is_some_and(|module| module.names(name))
    }

    /// Returns the version of the domain since which an operator has had its current meaning. It is 0 for functions,
    /// whose meaning doesn't depend on a version.
    pub(in crate::boundary) fn since(
        &self,
        symbols: &Symbols,
        name: SymbolId,
        version: i64,
    ) -> Option<i64> {
        let since = self.frame.op_defs().since(symbols.text(name), version);
        since.or_else(|| self.names_function(symbols, name).then_some(0))
    }

    /// Returns the files from which the module of the pass was imported.
    pub(in crate::boundary) fn module_source(&self) -> Option<Arc<dyn ModuleSource>> {
        let source =
            |module: &ModuleSession<'_>| module.with(|state| Ok(state.module().source().cloned()));
        self.module()
            .and_then(|module| source(module).ok().flatten())
    }

    fn module(&self) -> Option<&ModuleSession<'static>> {
        // SAFETY: `enter` got a session that lives until the pass returns.
        unsafe { self.module.get().as_ref() }
    }

    /// Returns the error of a definition that couldn't be loaded, or `None` if this session used no definitions. Other
    /// sessions of the frame may have used them.
    pub(in crate::boundary) fn missing_definition(&self) -> Option<MissingDefinition> {
        let frame = self.queried_ops.get().then_some(self.frame);
        frame?.missing_definition()
    }

    /// Records the error of a definition, for messages of the pass about the op.
    #[cold]
    pub(in crate::boundary) fn blame(&self, op: String, message: String, by: BlamedDefinition) {
        let mut blamed = self.extras().blamed.borrow_mut();
        blamed.last.clone_from(&op);
        blamed.by_op.insert(op, (message, by));
    }

    /// Returns the definition that caused a message about an op.
    fn blamed(&self, message: &str, op: Option<&str>) -> Option<BlamedDefinition> {
        let extras = self.extras.get()?;
        extras.blamed.borrow().of(message, op)
    }

    /// Records the failure of the pass.
    pub(in crate::boundary) fn keep_failure(
        &self,
        op: OpId,
        function: SymbolId,
        message: String,
        panic_at: Option<String>,
    ) {
        let at = self.excerpt(op, function, Part::WHOLE);
        self.extras().failure.replace(Some(CallFailure {
            definition: self.blamed(&message, at.op.as_deref()),
            at,
            panic_at,
            ..CallFailure::new(message)
        }));
    }

    /// Returns the lent handle.
    #[cold]
    pub(super) fn lent_handle(&self) -> *mut abi::Context {
        let lent = &self.extras().lent;
        lent.get_or_init(|| LentHandle::new(self)).as_ptr()
    }

    /// Converts a value to the ABI's type.
    fn setting(&self, value: &toml::Value) -> Setting {
        let mut setting = setting(value, &mut |items| self.keep_items(items));
        setting.string = self.lent_text(setting.string);
        setting
    }

    /// Returns a string of a setting for the plugin.
    fn lent_text(&self, text: Str) -> Str {
        match lends() {
            false => text,
            // SAFETY: settings live as long as the session.
            true => unsafe { self.extras().lent_settings.borrow_mut().text(text) },
        }
    }

    /// Stores the items of a setting for as long as the session lives.
    fn keep_items(&self, mut items: Vec<SettingItem>) -> *const SettingItem {
        if lends() {
            for item in &mut items {
                item.name = self.lent_text(item.name);
                item.value.string = self.lent_text(item.value.string);
            }
            let mut lent = self.extras().lent_settings.borrow_mut();
            return lent.list(&items).as_ptr();
        }
        let first = items.as_ptr();
        // Moving the list doesn't move its elements.
        self.extras().items.borrow_mut().push(items);
        first
    }

    /// Records the failure of a pass that this one ran, and returns the message for this one.
    pub(in crate::boundary) fn nested_failed(&self, error: PassError) -> String {
        let message = error.to_string();
        self.extras().nested.replace(Some((error, message.clone())));
        message
    }

    #[inline]
    pub(in crate::boundary) fn take_diagnostics(&self) -> Vec<Diagnostic> {
        match self.extras.get() {
            None => Vec::new(),
            Some(extras) => extras.diagnostics.take().into_diagnostics(),
        }
    }

    /// Takes the rewrites since the last call.
    pub(in crate::boundary) fn take_rewrites(&self) -> Rewrites {
        match self.extras.get() {
            None => Rewrites::default(),
            Some(extras) => extras.rewrites.take(),
        }
    }

    /// Returns the failure of a callback that violated the rules for handles and memory.
    pub(in crate::boundary) fn violation(&self) -> Option<CallFailure> {
        if let (true, Some(extras)) = (lends(), self.extras.get()) {
            extras.lent_settings.borrow_mut().expire();
        }
        CallFailure::take_violation()
    }

    /// Returns the status of a callback, which is `FAILED` if it emitted the reason of a failure but returned `OK`.
    pub(in crate::boundary) fn status(&self, returned: Status) -> Status {
        match self.extras.get() {
            Some(extras) if returned == Status::OK && extras.failure.borrow().is_some() => {
                Status::FAILED
            }
            _ => returned,
        }
    }

    /// Takes the failure that the pass emitted.
    pub(in crate::boundary) fn take_failure(&self) -> Option<CallFailure> {
        self.extras.get()?.failure.take()
    }

    /// Returns the failure of a pass that returned `status`.
    #[cold]
    pub(in crate::boundary) fn failure(&self, status: Status) -> CallFailure {
        let failure = self.take_failure();
        let mut failure = failure.unwrap_or_else(|| CallFailure {
            silent: true,
            ..CallFailure::new(match status {
                Status::FAILED => "the pass failed without a message".to_owned(),
                Status::PANICKED => "no message".to_owned(),
                Status(code) => format!("the pass returned status {code} without a message"),
            })
        });
        failure.panicked = status == Status::PANICKED;
        failure.is_config = status == Status::CONFIG;
        failure.nested = self.extras.get().and_then(|extras| extras.nested.take());
        failure
    }

    /// Returns an excerpt that shows an op of the current function or of another function of the module.
    fn excerpt(&self, op: OpId, function: SymbolId, part: Part<'_>) -> Excerpt {
        let show = |f: &Function| {
            let text = self.frame.text_source();
            excerpt::excerpt(f, op, part, text, &self.extras().numbering)
        };
        // SAFETY: `enter` got a session that lives until the pass returns.
        let current = unsafe { self.function.get().as_ref() };
        let shown = current.and_then(|session| {
            let is_named = |f: &Function| function == symbol::EMPTY || f.name() == function;
            let shown =
                session.with(|state| Ok(Some(state.function()).filter(|f| is_named(f)).map(show)));
            shown.ok().flatten()
        });
        let shown = shown.or_else(|| self.module()?.with_function(function, show));
        shown.unwrap_or_else(|| Excerpt {
            op: op.option().map(|op| op.to_string()),
            ..Excerpt::default()
        })
    }
}

impl Session for ContextSession<'_> {
    type Handle = abi::Context;

    fn base(&self) -> &SessionBase {
        &self.base
    }
}

// SAFETY for all `unsafe` below: all pointers in a description are valid during the call, by the plugin ABI.

impl ContextSession<'_> {
    pub(in crate::boundary) fn opt_level(&self) -> u32 {
        self.frame.opt_level()
    }

    pub(in crate::boundary) fn shows(&self, code: abi::Severity) -> u32 {
        self.frame.shows(severity(code).0).into()
    }

    pub(in crate::boundary) fn is_cancelled(&self) -> u32 {
        self.frame.is_cancelled().into()
    }

    pub(in crate::boundary) fn option(&self, name: &str) -> Edit<Setting> {
        match self.options.get(name) {
            Some(value) => Ok(self.setting(value)),
            None => Err(EditFailure::not_found(format!(
                "the pass has no option `{name}`"
            ))),
        }
    }

    pub(in crate::boundary) fn config(&self, key: &str, field: &str) -> Edit<Setting> {
        let value = self.frame.config(key, field);
        Ok(self.setting(value.map_err(EditFailure::not_found)?))
    }

    pub(in crate::boundary) unsafe fn emit(&self, desc: &abi::Diagnostic) -> Edit {
        if desc.flags & abi::Diagnostic::REASON != 0 {
            // SAFETY: see above.
            return unsafe { self.emit_reason(desc) };
        }
        if !self.frame.shows(severity(desc.severity).0) {
            return Ok(());
        }
        // SAFETY: see above.
        let mut diagnostic = unsafe { described(self, desc)? };
        let (message, op) = (&diagnostic.message, diagnostic.op.as_deref());
        diagnostic.definition = self.blamed(message, op);
        self.extras().diagnostics.borrow_mut().push(diagnostic);
        Ok(())
    }

    /// Records the reason of the callback's status.
    unsafe fn emit_reason(&self, desc: &abi::Diagnostic) -> Edit {
        // SAFETY: see above.
        let (message, file) = unsafe {
            let message = input::lossy_text(desc.message, "message", input::MAX_MESSAGE_BYTES)?;
            let file = input::text(desc.file, "source file").unwrap_or_default();
            (message, file)
        };
        let panic_at = format!("{file}:{}:{}", desc.line, desc.column);
        let panic_at = (!file.is_empty()).then_some(panic_at);
        // A reason with neither message nor location adds nothing.
        if !message.is_empty() || panic_at.is_some() {
            self.keep_failure(desc.op, desc.function, message, panic_at);
        }
        Ok(())
    }

    pub(in crate::boundary) fn find_pass(&self, name: &str) -> Edit<PassKind> {
        let kind = self.frame.pass_kind(name);
        let none = || EditFailure::not_found(format!("no pass is named `{name}`"));
        kind.map(|kind| kind.abi()).ok_or_else(none)
    }

    pub(in crate::boundary) fn may_rewrite(&self, rule: &str) -> Edit {
        match self.frame.may_rewrite(rule) {
            true => Ok(()),
            false => Err(EditFailure::rejected(format!("rule `{rule}` is disabled"))),
        }
    }

    pub(in crate::boundary) fn rewrote(&self, rule: &str) -> Edit {
        self.extras().rewrites.borrow_mut().count(rule);
        self.frame.rewrote(rule);
        Ok(())
    }
}

/// Converts a severity to the host's, and returns whether it is known. An unknown severity becomes the next milder one.
fn severity(code: abi::Severity) -> (Severity, bool) {
    let severities = [
        (abi::Severity::BUG, Severity::Bug),
        (abi::Severity::ERROR, Severity::Error),
        (abi::Severity::WARNING, Severity::Warning),
        (abi::Severity::NOTE, Severity::Note),
        (abi::Severity::HELP, Severity::Help),
        (abi::Severity::DEBUG, Severity::Debug),
    ];
    let next = severities
        .into_iter()
        .find(|(severity, _)| code <= *severity);
    let (next, severity) = next.unwrap_or((abi::Severity::DEBUG, Severity::Debug));
    (severity, code == next)
}

/// The maximum number of notes, and of labels, of one diagnostic. More are dropped.
const MAX_PARTS: usize = 100;

/// The maximum length of a diagnostic's code in bytes. It is printed before the message, on the same line.
const MAX_CODE_BYTES: usize = 100;

/// Converts a diagnostic of the plugin ABI to the host's.
///
/// # Safety
/// Everything that it points to meets the conditions of [`input::list`] and [`input::text`].
unsafe fn described(session: &ContextSession<'_>, desc: &abi::Diagnostic) -> Edit<Diagnostic> {
    let (severity, is_known) = severity(desc.severity);
    // SAFETY: the caller's promise, here and below.
    let lossy_text = |text, what| unsafe { input::lossy_text(text, what, MAX_SYMBOL_BYTES) };
    let message = lossy_text(desc.message, "message")?;
    let help = lossy_text(desc.help, "help")?;
    // SAFETY: as above.
    let (code, notes, labels) = unsafe {
        (
            input::lossy_text(desc.code, "code of the diagnostic", MAX_CODE_BYTES)?,
            input::list(desc.notes, desc.note_count, "notes")?,
            input::strided(desc.labels, desc.label_count, desc.label_stride, "labels")?,
        )
    };
    let mut diagnostic = Diagnostic::new(severity, &code, message);
    diagnostic.help = (!help.is_empty()).then_some(help);
    for note in notes.iter().take(MAX_PARTS) {
        diagnostic.notes.push(lossy_text(*note, "note")?);
    }
    if !is_known {
        diagnostic.notes.push(format!(
            "unknown severity {} from the plugin",
            desc.severity.0
        ));
    }
    for (what, count) in [("notes", notes.len()), ("labels", labels.len())] {
        if count > MAX_PARTS {
            let omitted = count - MAX_PARTS;
            diagnostic
                .notes
                .push(format!("{omitted} more {what} are omitted"));
        }
    }
    for label in labels.iter().take(MAX_PARTS) {
        let label = label?;
        let function = match label.function {
            symbol::EMPTY => desc.function,
            function => function,
        };
        let attr = &lossy_text(label.attr, "name of the attribute")?;
        let (part, index) = (label.part, label.index);
        let shown = session.excerpt(label.op, function, Part { part, index, attr });
        diagnostic.point_at(shown, &lossy_text(label.text, "text of the label")?);
    }
    if labels.len() == 0 {
        diagnostic.point_at(session.excerpt(desc.op, desc.function, Part::WHOLE), "");
    }
    Ok(diagnostic)
}
