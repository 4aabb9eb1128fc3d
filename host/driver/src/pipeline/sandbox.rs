//! The sandbox of the processes that ran plugins.

use passdock_core::{Diagnostic, Severity};
use passdock_crash::{CallKind, Culprit};
use passdock_sandbox::{DeniedCall, SandboxMode, SandboxPart};
use serde::{Deserialize, Serialize};

/// The sandbox of a run: its parts, and the calls that it denied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Whether it was requested.
    pub mode: SandboxMode,
    /// The parts that were active. Empty if no plugin ran.
    pub active: Vec<SandboxPart>,
    /// Why the other parts weren't active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The denied calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<DeniedCalls>,
}

/// Denied calls of the same kind in the same plugin code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeniedCalls {
    /// The kind.
    pub call: DeniedCall,
    /// The plugin code that ran on the thread, without its function and number; `None` for a thread that a plugin started.
    pub culprit: Option<Culprit>,
    /// The number of calls.
    pub count: u64,
}

impl SandboxReport {
    /// Records a denied call.
    #[cfg(unix)]
    pub(crate) fn add_denied(&mut self, call: DeniedCall, culprit: Option<Culprit>) {
        let culprit = culprit.map(|culprit| Culprit {
            function: None,
            number: 0,
            ..culprit
        });
        /// Maximum number of entries. A plugin may make any number of calls from any number of passes.
        const MAX: usize = 100;
        let is_same = |known: &&mut DeniedCalls| known.call == call && known.culprit == culprit;
        if let Some(known) = self.denied.iter_mut().find(is_same) {
            known.count += 1;
        } else if self.denied.len() < MAX {
            self.denied.push(DeniedCalls {
                call,
                culprit,
                count: 1,
            });
        }
    }

    /// Adds what the sandbox of another worker with the same job denied.
    #[cfg(unix)]
    pub(crate) fn merge(&mut self, other: SandboxReport) {
        let denied = std::mem::take(&mut self.denied);
        *self = other;
        for earlier in denied {
            match self
                .denied
                .iter_mut()
                .find(|it| it.call == earlier.call && it.culprit == earlier.culprit)
            {
                Some(known) => known.count = known.count.max(earlier.count),
                None => self.denied.push(earlier),
            }
        }
    }

    /// Returns a warning for each kind of denied calls.
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        self.denied.iter().map(DeniedCalls::diagnostic)
    }
}

impl DeniedCalls {
    fn diagnostic(&self) -> Diagnostic {
        let culprit = self.culprit.as_ref();
        let who = match culprit {
            Some(Culprit {
                kind: CallKind::Definition,
                name,
                ..
            }) => format!("the definition of `{name}`"),
            Some(Culprit { kind, name, .. }) => format!("{} `{name}`", kind.name()),
            None => "a thread of a plugin".to_owned(),
        };
        let attempt = self.call.attempt();
        let message = format!("{who} tried to {attempt}, which the sandbox denied");
        let mut diagnostic = Diagnostic::new(Severity::Warning, "sandbox", message);
        if let Some(culprit) = culprit {
            if culprit.kind == CallKind::Pass {
                diagnostic.pass = Some(culprit.name.clone());
            }
            diagnostic.file.clone_from(&culprit.plugin);
        }
        let help = match self.call.permission() {
            Some(permission) => format!(
                "if the plugin needs it, declare `permissions = [\"{permission}\"]` in its manifest and grant it in the \
                 pipeline: `[plugins.NAME]`, `allow = [\"{permission}\"]`"
            ),
            None => "if you trust the plugin, run it without a sandbox: `--sandbox off`".to_owned(),
        };
        diagnostic.help(help)
    }
}
