//! The context of a running pass: its frame, its diagnostics, and the thread's stack of contexts.
//!
//! Only the functions for users read the stack (`PassContext::current`, `Pass::call`), once per call. Inside the host,
//! the context is an argument.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use passdock_crash::Callee;
use passdock_diagnostic::{Diagnostic, DiagnosticBuffer, Severity, terminal};
use passdock_ir::Module;
use passdock_ir::text::TextSource;
use passdock_loader::{MissingDefinition, OpDefs, PassKind};

use super::PassContext;
use crate::boundary::{Endings, Frame};
use crate::config::ConfigValue;
use crate::error::{ErrorKind, PassError};
use crate::util;

/// A function that runs a registered pass on a module, under the context of the running pass.
pub(crate) type RunPass<'c> =
    dyn Fn(&PassContext, &Module, &str) -> Result<Module, PassError> + Sync + 'c;

/// The frame of a call under a context. Its data is computed on demand.
pub(crate) struct ContextFrame<'c> {
    cx: &'c PassContext,
    /// The values of all registered config options.
    config: OnceLock<BTreeMap<String, ConfigValue>>,
    ops: OnceLock<Arc<OpDefs>>,
    text: Option<Arc<TextSource>>,
    /// The function that runs other passes. `None` for an instrument, which can't run any.
    run_pass: Option<&'c RunPass<'c>>,
    callee: Option<Callee<'c>>,
}

impl<'c> ContextFrame<'c> {
    /// Creates the frame of an instrument.
    pub(crate) fn watching(cx: &'c PassContext) -> ContextFrame<'c> {
        ContextFrame {
            cx,
            config: OnceLock::new(),
            ops: OnceLock::new(),
            text: None,
            run_pass: None,
            callee: None,
        }
    }

    /// Creates the frame of an instrument that is called around a pass.
    pub(crate) fn around(cx: &'c PassContext, pass: Callee<'c>) -> ContextFrame<'c> {
        ContextFrame {
            callee: Some(pass),
            ..ContextFrame::watching(cx)
        }
    }

    /// Creates the frame of a pass on a module.
    pub(crate) fn running(
        cx: &'c PassContext,
        module: &Module,
        run_pass: &'c RunPass<'c>,
        callee: Callee<'c>,
    ) -> ContextFrame<'c> {
        ContextFrame {
            text: module.text_source().cloned(),
            run_pass: Some(run_pass),
            callee: Some(callee),
            ..ContextFrame::watching(cx)
        }
    }

    /// Returns the context, which collects the diagnostics of the running pass.
    pub(crate) fn context(&self) -> &'c PassContext {
        self.cx
    }

    fn values(&self) -> BTreeMap<String, ConfigValue> {
        let mut all = self.cx.registry().config_defaults();
        for (key, value) in &mut all {
            if let Some(set) = self.cx.config(key) {
                value.clone_from(set);
            }
        }
        all
    }
}

impl Frame for ContextFrame<'_> {
    fn opt_level(&self) -> u32 {
        self.cx.opt_level()
    }

    fn shows(&self, severity: Severity) -> bool {
        severity <= self.cx.0.settings.shown
    }

    fn is_cancelled(&self) -> bool {
        self.cx.is_cancelled()
    }

    fn config(&self, key: &str, field: &str) -> Result<&toml::Value, String> {
        let all = self.config.get_or_init(|| self.values());
        let value = all.get(key).and_then(|value| value.get(field));
        value.ok_or_else(|| {
            let schema = self.cx.registry().config_schema(key);
            match schema.and_then(|schema| schema.field(field).cloned()) {
                Err(error) => error.to_string(),
                Ok(field) if field.mandatory => {
                    format!(
                        "missing required field `{}` of config option `{key}`",
                        field.name
                    )
                }
                Ok(_) => {
                    format!("config option `{key}` was registered after this call started")
                }
            }
        })
    }

    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        self.cx.registry().pass_kind(name)
    }

    fn run_pass(&self, module: &Module, name: &str) -> Result<Module, PassError> {
        match self.run_pass {
            Some(run_pass) => run_pass(self.cx, module, name),
            None => {
                let message = "cannot run a pass from an instrument";
                Err(PassError::new(ErrorKind::Instrument, message))
            }
        }
    }

    fn may_rewrite(&self, rule: &str) -> bool {
        self.cx.may_rewrite(rule)
    }

    fn rewrote(&self, rule: &str) {
        self.cx.rewrote(rule);
    }

    fn op_defs(&self) -> &OpDefs {
        self.ops.get_or_init(|| self.cx.registry().op_defs())
    }

    fn missing_definition(&self) -> Option<MissingDefinition> {
        self.ops.get()?.failures().into_iter().next()
    }

    fn text_source(&self) -> Option<&TextSource> {
        self.text.as_deref()
    }

    fn callee(&self) -> Option<Callee<'_>> {
        self.callee
    }

    fn endings(&self) -> Option<&Endings> {
        Some(&self.cx.0.endings)
    }

    fn show(&self, diagnostics: &[Diagnostic]) {
        self.cx.renderer()(diagnostics);
    }
}

/// A function that shows a pass's diagnostics, in order. It isn't called for a pass without any.
pub type Renderer = dyn Fn(&[Diagnostic]) + Send + Sync;

/// The collected diagnostics of a pass. Clones share the collection.
#[derive(Clone)]
pub struct DiagnosticContext(Arc<Inner>);

struct Inner {
    pass: String,
    run_by: Vec<String>,
    renderer: Arc<Renderer>,
    /// The emitted diagnostics, allocated on demand.
    emitted: OnceLock<Mutex<DiagnosticBuffer>>,
}

impl DiagnosticContext {
    /// Creates an empty collection for a pass that starts, perhaps inside another one. A later [`override_renderer`]
    /// doesn't change its renderer.
    pub(crate) fn new(
        pass: &str,
        outer: Option<&DiagnosticContext>,
        renderer: Arc<Renderer>,
    ) -> DiagnosticContext {
        let run_by = outer.map_or(Vec::new(), |outer| {
            let mut chain = vec![outer.pass().to_owned()];
            chain.extend_from_slice(outer.run_by());
            chain
        });
        DiagnosticContext(Arc::new(Inner {
            pass: pass.to_owned(),
            run_by,
            renderer,
            emitted: OnceLock::new(),
        }))
    }

    /// Returns the name of the pass.
    pub fn pass(&self) -> &str {
        &self.0.pass
    }

    /// Returns the passes that ran the pass, innermost first.
    pub fn run_by(&self) -> &[String] {
        &self.0.run_by
    }

    /// Adds a diagnostic, which is shown when the pass has returned. An error makes the pass fail.
    pub fn emit(&self, diagnostic: Diagnostic) {
        util::lock(self.0.emitted.get_or_init(Mutex::default)).push(diagnostic);
    }

    /// Returns the diagnostics that aren't shown yet.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let emitted = self.0.emitted.get();
        emitted.map_or_else(Vec::new, |emitted| {
            util::lock(emitted).diagnostics().to_vec()
        })
    }

    /// Returns the renderer that will show the diagnostics.
    pub fn renderer(&self) -> &Arc<Renderer> {
        &self.0.renderer
    }

    /// Whether both are the same collection, not merely equal ones.
    pub fn is(&self, other: &DiagnosticContext) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes the diagnostics, to show them.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        let emitted = self.0.emitted.get();
        emitted.map_or_else(Vec::new, |emitted| {
            std::mem::take(&mut *util::lock(emitted)).into_diagnostics()
        })
    }
}

impl std::fmt::Debug for DiagnosticContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.diagnostics()).finish()
    }
}

static OVERRIDE: RwLock<Option<Arc<Renderer>>> = RwLock::new(None);

/// Sets the renderer of all passes that start from now on in contexts without their own renderer. `None` restores the
/// default, which writes to standard error.
pub fn override_renderer(renderer: Option<Arc<Renderer>>) {
    *OVERRIDE.write().unwrap_or_else(PoisonError::into_inner) = renderer;
}

/// Returns the renderer of contexts without their own.
pub fn get_renderer() -> Arc<Renderer> {
    let renderer = OVERRIDE.read().unwrap_or_else(PoisonError::into_inner);
    renderer.clone().unwrap_or_else(|| Arc::new(to_stderr))
}

/// Writes diagnostics to standard error, with color if it is a terminal.
fn to_stderr(diagnostics: &[Diagnostic]) {
    let mut out = std::io::stderr().lock();
    let color = terminal::supports_color(out.is_terminal());
    for diagnostic in diagnostics {
        // An error is ignored: it could only be reported to standard error.
        let _ = writeln!(out, "{}", diagnostic.render(color));
    }
}

/// A context on the thread's stack.
struct StackEntry {
    context: PassContext,
    /// Whether the program entered it. The host pushes a context while a pass runs.
    is_entered: bool,
}

thread_local! {
    static STACK: RefCell<Vec<StackEntry>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: OnceCell<PassContext> = const { OnceCell::new() };
}

/// Returns the innermost context, or the thread's default one, which is always the same.
pub(super) fn current() -> PassContext {
    let top = STACK.with_borrow(|stack| stack.last().map(|top| top.context.clone()));
    top.unwrap_or_else(|| {
        DEFAULT.with(|cell| cell.get_or_init(PassContext::thread_default).clone())
    })
}

/// Pushes a context, and returns the number of contexts below it.
pub(super) fn push(context: &PassContext, is_entered: bool) -> usize {
    let context = context.clone();
    STACK.with_borrow_mut(|stack| {
        stack.push(StackEntry {
            context,
            is_entered,
        });
        stack.len() - 1
    })
}

/// Pops a context if it is the innermost one and the program entered it. Otherwise returns the innermost one.
pub(super) fn pop(context: &PassContext) -> Result<(), Option<PassContext>> {
    STACK.with_borrow_mut(|stack| match stack.last() {
        Some(top) if top.is_entered && top.context.is(context) => {
            stack.pop();
            Ok(())
        }
        top => Err(top.map(|top| top.context.clone())),
    })
}

/// A guard that removes a context from the stack on drop, without calling instruments. The host uses it in its workers,
/// and while a pass runs.
#[must_use = "the context is taken off when this is dropped"]
pub(crate) struct Pushed {
    /// The number of contexts below it.
    depth: usize,
    /// The stack is thread-local, so the guard isn't `Send`.
    _here: PhantomData<*const ()>,
}

/// Pushes a context until the returned guard is dropped.
pub(crate) fn pushed(context: &PassContext) -> Pushed {
    Pushed {
        depth: push(context, false),
        _here: PhantomData,
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        // Contexts that the pass entered and didn't exit stay on the stack: programs in other languages may do that.
        let removed = STACK.with_borrow_mut(|stack| stack.remove(self.depth));
        drop(removed);
    }
}
