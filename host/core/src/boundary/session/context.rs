//! `ContextApi`: a running pass's access to its options, config, diagnostics and other passes.

use std::cell::RefCell;

use passdock_abi as abi;
use passdock_abi::{OpId, PassKind, Setting, SettingItem, Status, Str, SymbolId, symbol};
use passdock_diagnostic::excerpt::{self, Excerpt, Numbering, Part};
use passdock_diagnostic::{BlamedDefinition, Diagnostic, DiagnosticBuffer, Severity};
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Edit, EditFailure, Function, Symbols};
use passdock_loader::{MissingDefinition, OpDefs, setting};
use rustc_hash::FxHashMap;

use super::gate::Session;
use super::rewrites::Rewrites;
use super::{CURRENT, ContextSession, ModuleSession, SessionBase, input};
use crate::analyses::SharedNames;
use crate::error::PassError;

/// The failure of a pass or of an instrument's callback.
#[derive(Clone, Debug, Default)]
pub struct CallFailure {
    /// Whether it was a panic.
    pub panicked: bool,
    /// Whether an option of the pass is wrong for the model.
    pub is_config: bool,
    /// Whether the pass gave no reason: its diagnostics may have one.
    pub silent: bool,
    /// The message: a sentence, or the panic's message.
    pub message: String,
    /// The op and the function that the pass failed on, as far as they are known.
    pub at: Excerpt,
    /// The place of the panic in the plugin's source: `file:line:column`.
    pub panic_at: Option<String>,
    /// The failure of the pass that this one ran last, if that failed, and the message that this
    /// one got.
    pub nested: Option<(PassError, String)>,
    /// The definition of an op that the failure comes from.
    pub definition: Option<BlamedDefinition>,
}

impl CallFailure {
    /// A failure with a message only.
    pub(crate) fn new(message: impl Into<String>) -> CallFailure {
        CallFailure {
            message: message.into(),
            ..CallFailure::default()
        }
    }
}

/// The rarely used state of a context.
#[derive(Default)]
pub(super) struct ContextExtras {
    diagnostics: RefCell<DiagnosticBuffer>,
    failure: RefCell<Option<CallFailure>>,
    /// Items of settings that were handed out, which live as long as the session.
    items: RefCell<Vec<Vec<SettingItem>>>,
    nested: RefCell<Option<(PassError, String)>>,
    numbering: RefCell<Numbering>,
    blamed: RefCell<Blamed>,
    /// What rules did since it was last taken.
    rewrites: RefCell<Rewrites>,
}

/// The definitions of ops that failed or refused while the pass asked them.
#[derive(Default)]
struct Blamed {
    /// The last message and definition of each op, as messages show it.
    by_op: FxHashMap<String, (String, BlamedDefinition)>,
    /// The op whose definition was the last one.
    last: String,
}

impl Blamed {
    /// The definition that a message about an op comes from: it repeats what was said of the
    /// definition, or is about that op and names it.
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

    /// The op definitions of the run.
    pub(in crate::boundary) fn op_defs(&self) -> &'a OpDefs {
        self.asked_ops.set(true);
        self.frame.op_defs()
    }

    /// The names that functions of the module, as it is now, share with defined operators.
    #[inline]
    pub(in crate::boundary) fn shared_names(&self) -> SharedNames {
        let defs = self.op_defs();
        let names = self.module().map(|module| module.shared_names(defs));
        names.unwrap_or_else(|| SharedNames::none(defs))
    }

    /// Whether a function of the module, as it is now, has this name.
    #[inline]
    pub(in crate::boundary) fn names_function(&self, symbols: &Symbols, name: SymbolId) -> bool {
        symbols.may_name_function(name) && self.module().is_some_and(|module| module.names(name))
    }

    /// The version from which an op of this name means what it means in a version of its domain. A function means the
    /// same in all.
    pub(in crate::boundary) fn since(
        &self,
        symbols: &Symbols,
        name: SymbolId,
        version: i64,
    ) -> Option<i64> {
        let since = self.frame.op_defs().since(symbols.text(name), version);
        since.or_else(|| self.names_function(symbols, name).then_some(0))
    }

    fn module(&self) -> Option<&ModuleSession<'static>> {
        // SAFETY: `enter` was given a session that lives until the pass returns.
        unsafe { self.module.get().as_ref() }
    }

    /// The error of a definition that couldn't be loaded; `None` if this session asked for none,
    /// though others of its frame may have.
    pub(in crate::boundary) fn missing_definition(&self) -> Option<MissingDefinition> {
        let frame = self.asked_ops.get().then_some(self.frame);
        frame?.missing_definition()
    }

    /// Remembers that a definition was asked and what was wrong with it, for what the pass says.
    #[cold]
    pub(in crate::boundary) fn blame(&self, op: String, message: String, by: BlamedDefinition) {
        let mut blamed = self.extras().blamed.borrow_mut();
        blamed.last.clone_from(&op);
        blamed.by_op.insert(op, (message, by));
    }

    /// The definition that a message about an op comes from.
    fn blamed(&self, message: &str, op: Option<&str>) -> Option<BlamedDefinition> {
        let extras = self.extras.get()?;
        extras.blamed.borrow().of(message, op)
    }

    /// Keeps the failure of the pass.
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

    /// A value as plugins read it.
    fn setting(&self, value: &toml::Value) -> Setting {
        setting(value, &mut |items| self.keep_items(items))
    }

    /// Keeps the items of a setting, which live as long as the session.
    fn keep_items(&self, items: Vec<SettingItem>) -> *const SettingItem {
        let first = items.as_ptr();
        // Moving the list doesn't move its elements.
        self.extras().items.borrow_mut().push(items);
        first
    }

    /// Keeps the failure of a pass that this one ran; returns the message for this one.
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

    /// What rules did since this was last asked.
    pub(in crate::boundary) fn take_rewrites(&self) -> Rewrites {
        match self.extras.get() {
            None => Rewrites::default(),
            Some(extras) => extras.rewrites.take(),
        }
    }

    /// The failure that the pass reported with `fail`.
    pub(in crate::boundary) fn take_failure(&self) -> Option<CallFailure> {
        self.extras.get()?.failure.take()
    }

    /// The failure of a pass that returned `status`.
    #[cold]
    pub(in crate::boundary) fn failure(&self, status: Status) -> CallFailure {
        let failure = self.take_failure();
        let mut failure = failure.unwrap_or_else(|| CallFailure {
            silent: true,
            ..CallFailure::new(match status {
                Status::FAILED => "The pass failed and didn't say why.".to_owned(),
                Status::PANICKED => "it didn't say why.".to_owned(),
                Status(code) => format!("The pass answered status {code} and didn't say why."),
            })
        });
        failure.panicked = status == Status::PANICKED;
        failure.is_config = status == Status::CONFIG;
        failure.nested = self.extras.get().and_then(|extras| extras.nested.take());
        failure
    }

    /// An excerpt with an op of the function that the pass works on, or of another one of the
    /// module.
    fn excerpt(&self, op: OpId, function: SymbolId, part: Part<'_>) -> Excerpt {
        let show = |f: &Function| {
            let text = self.frame.text_source();
            excerpt::excerpt(f, op, part, text, &self.extras().numbering)
        };
        // SAFETY: `enter` was given a session that lives until the pass returns.
        let current = unsafe { self.function.get().as_ref() };
        let shown = current.and_then(|session| {
            let is_meant = |f: &Function| function == symbol::EMPTY || f.name() == function;
            let shown =
                session.with(|state| Ok(Some(state.function()).filter(|f| is_meant(f)).map(show)));
            shown.ok().flatten()
        });
        let shown = shown.or_else(|| self.module()?.look_at(function, show));
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

// SAFETY of all that is unsafe here: what a description points to is there as long as the call, as the contract says.

impl ContextSession<'_> {
    pub(in crate::boundary) fn opt_level(&self) -> u32 {
        self.frame.opt_level()
    }

    pub(in crate::boundary) fn host_version(&self) -> Edit<Str> {
        Ok(Str::new(concat!("passdock ", env!("CARGO_PKG_VERSION"))))
    }

    pub(in crate::boundary) fn option(&self, name: &str) -> Edit<Setting> {
        match self.options.get(name) {
            Some(value) => Ok(self.setting(value)),
            None => Err(EditFailure::not_found("There is no such setting.")),
        }
    }

    pub(in crate::boundary) fn config(&self, key: &str, field: &str) -> Edit<Setting> {
        let value = self.frame.config(key, field);
        Ok(self.setting(value.map_err(EditFailure::not_found)?))
    }

    pub(in crate::boundary) unsafe fn emit(&self, desc: &abi::Diagnostic) -> Edit {
        // SAFETY: see above.
        let mut diagnostic = unsafe { described(self, desc)? };
        let (message, op) = (&diagnostic.message, diagnostic.op.as_deref());
        diagnostic.definition = self.blamed(message, op);
        self.extras().diagnostics.borrow_mut().push(diagnostic);
        Ok(())
    }

    pub(in crate::boundary) unsafe fn fail(&self, desc: &abi::Failure) -> Edit {
        // SAFETY: see above.
        let (message, file) = unsafe {
            let message = input::lossy_text(desc.message, "message", input::MAX_MESSAGE_BYTES)?;
            let file = input::text(desc.file, "source file").unwrap_or_default();
            (message, file)
        };
        let panic_at = format!("{file}:{}:{}", desc.line, desc.column);
        let panic_at = (!file.is_empty()).then_some(panic_at);
        // Without a word it is as if it had said nothing, but for the place.
        if !message.is_empty() || panic_at.is_some() {
            self.keep_failure(desc.op, desc.function, message, panic_at);
        }
        Ok(())
    }

    pub(in crate::boundary) fn find_pass(&self, name: &str) -> Edit<PassKind> {
        let kind = self.frame.pass_kind(name);
        let none = || EditFailure::not_found(format!("There is no pass `{name}`."));
        kind.map(|kind| kind.abi()).ok_or_else(none)
    }

    pub(in crate::boundary) fn may_rewrite(&self, rule: &str) -> Edit {
        match self.frame.may_rewrite(rule) {
            true => Ok(()),
            false => Err(EditFailure::refused(format!(
                "The rule `{rule}` is disabled."
            ))),
        }
    }

    pub(in crate::boundary) fn rewrote(&self, rule: &str) -> Edit {
        self.extras().rewrites.borrow_mut().count(rule);
        self.frame.rewrote(rule);
        Ok(())
    }
}

/// `ContextApi::current`.
pub(in crate::boundary) unsafe extern "C" fn current(_: *const abi::Host) -> *mut abi::Context {
    CURRENT.get()
}

/// A severity as the host has it: the next milder one that it knows; and whether it knows this one.
fn severity(code: abi::Severity) -> (Severity, bool) {
    let severities = [
        (abi::Severity::BUG, Severity::Bug),
        (abi::Severity::ERROR, Severity::Error),
        (abi::Severity::WARNING, Severity::Warning),
        (abi::Severity::NOTE, Severity::Note),
        (abi::Severity::HELP, Severity::Help),
    ];
    let next = severities
        .into_iter()
        .find(|(severity, _)| code <= *severity);
    let (next, severity) = next.unwrap_or((abi::Severity::HELP, Severity::Help));
    (severity, code == next)
}

/// The most notes of one diagnostic that are kept, and the most places that it points at.
const MAX_PARTS: usize = 100;

/// The most bytes of a diagnostic's code: it stands before the message, in one line.
const MAX_CODE_BYTES: usize = 100;

/// A diagnostic of the contract as the host keeps it.
///
/// # Safety
/// As [`input::list`] and [`input::text`], for all that it points to.
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
            "This host knows no severity {}, which the plugin gave it.",
            desc.severity.0
        ));
    }
    for (what, count) in [("notes", notes.len()), ("places", labels.len())] {
        if count > MAX_PARTS {
            let left_out = count - MAX_PARTS;
            diagnostic
                .notes
                .push(format!("{left_out} more {what} are left out."));
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
