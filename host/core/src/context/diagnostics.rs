//! What a pass says while it runs, and who shows it when it has returned.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use passdock_diagnostic::{Diagnostic, terminal};

use crate::util;

/// Shows what a pass said, in order. It isn't called for a pass that said nothing.
pub type Renderer = dyn Fn(&[Diagnostic]) + Send + Sync;

/// Collects what a pass says. Its clone is the same one.
#[derive(Clone)]
pub struct DiagnosticContext(Arc<Inner>);

struct Inner {
    pass: String,
    run_by: Vec<String>,
    renderer: Arc<Renderer>,
    said: Mutex<Vec<Diagnostic>>,
}

impl DiagnosticContext {
    /// For a pass that starts, inside of another perhaps; it keeps its renderer whatever
    /// [`override_renderer`] says later.
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
            said: Mutex::default(),
        }))
    }

    /// The pass that it is for.
    pub fn pass(&self) -> &str {
        &self.0.pass
    }

    /// The pass that ran that pass, and so on.
    pub fn run_by(&self) -> &[String] {
        &self.0.run_by
    }

    /// Says something, to be shown when the pass has returned. An error makes the pass count as
    /// failed.
    pub fn emit(&self, diagnostic: Diagnostic) {
        util::lock(&self.0.said).push(diagnostic);
    }

    /// What was said and not yet shown.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        util::lock(&self.0.said).clone()
    }

    /// Who will show it.
    pub fn renderer(&self) -> &Arc<Renderer> {
        &self.0.renderer
    }

    /// Whether both are the same, not merely equal.
    pub fn is(&self, other: &DiagnosticContext) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes what was said, to show it.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *util::lock(&self.0.said))
    }
}

impl std::fmt::Debug for DiagnosticContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&*util::lock(&self.0.said)).finish()
    }
}

static OVERRIDE: RwLock<Option<Arc<Renderer>>> = RwLock::new(None);

/// Shows the diagnostics of all passes that start from now on, in contexts without a renderer of
/// their own; `None`: standard error does again.
pub fn override_renderer(renderer: Option<Arc<Renderer>>) {
    *OVERRIDE.write().unwrap_or_else(PoisonError::into_inner) = renderer;
}

/// Who shows the diagnostics of contexts without a renderer of their own.
pub fn get_renderer() -> Arc<Renderer> {
    let renderer = OVERRIDE.read().unwrap_or_else(PoisonError::into_inner);
    renderer.clone().unwrap_or_else(|| Arc::new(to_stderr))
}

/// Writes diagnostics to standard error, with colour if that is a terminal.
fn to_stderr(diagnostics: &[Diagnostic]) {
    let mut out = std::io::stderr().lock();
    let color = terminal::takes_color(&out);
    for diagnostic in diagnostics {
        // There is nobody to tell that standard error is closed.
        let _ = writeln!(out, "{}", diagnostic.render(color));
    }
}
