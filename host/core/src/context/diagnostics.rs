//! The diagnostics of a pass, collected while it runs and rendered when it has returned.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use passdock_diagnostic::{Diagnostic, KeptDiagnostics, terminal};

use crate::util;

/// A function that shows a pass's diagnostics, in order. It isn't called for a pass without any.
pub type Renderer = dyn Fn(&[Diagnostic]) + Send + Sync;

/// The collected diagnostics of a pass. A clone is the same collection.
#[derive(Clone)]
pub struct DiagnosticContext(Arc<Inner>);

struct Inner {
    pass: String,
    run_by: Vec<String>,
    renderer: Arc<Renderer>,
    said: Mutex<KeptDiagnostics>,
}

impl DiagnosticContext {
    /// An empty collection for a pass that starts, perhaps inside another one. It keeps its
    /// renderer whatever [`override_renderer`] sets later.
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

    /// The name of the pass.
    pub fn pass(&self) -> &str {
        &self.0.pass
    }

    /// The passes that ran the pass, innermost first.
    pub fn run_by(&self) -> &[String] {
        &self.0.run_by
    }

    /// Adds a diagnostic, to be shown when the pass has returned. An error makes the pass count as
    /// failed.
    pub fn emit(&self, diagnostic: Diagnostic) {
        util::lock(&self.0.said).keep(diagnostic);
    }

    /// The diagnostics that aren't shown yet.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        util::lock(&self.0.said).kept().to_vec()
    }

    /// The renderer that will show the diagnostics.
    pub fn renderer(&self) -> &Arc<Renderer> {
        &self.0.renderer
    }

    /// Whether both are the same collection, not merely equal ones.
    pub fn is(&self, other: &DiagnosticContext) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes the diagnostics, to show them.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *util::lock(&self.0.said)).into_kept()
    }
}

impl std::fmt::Debug for DiagnosticContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = util::lock(&self.0.said);
        f.debug_list().entries(said.kept()).finish()
    }
}

static OVERRIDE: RwLock<Option<Arc<Renderer>>> = RwLock::new(None);

/// Sets the renderer of all passes that start from now on in contexts without a renderer of their
/// own; `None`: standard error again.
pub fn override_renderer(renderer: Option<Arc<Renderer>>) {
    *OVERRIDE.write().unwrap_or_else(PoisonError::into_inner) = renderer;
}

/// The renderer of contexts without one of their own.
pub fn get_renderer() -> Arc<Renderer> {
    let renderer = OVERRIDE.read().unwrap_or_else(PoisonError::into_inner);
    renderer.clone().unwrap_or_else(|| Arc::new(to_stderr))
}

/// Writes diagnostics to standard error, with colour if it is a terminal.
fn to_stderr(diagnostics: &[Diagnostic]) {
    let mut out = std::io::stderr().lock();
    let color = terminal::takes_color(out.is_terminal());
    for diagnostic in diagnostics {
        // An error is ignored: it could only be reported to standard error.
        let _ = writeln!(out, "{}", diagnostic.render(color));
    }
}
