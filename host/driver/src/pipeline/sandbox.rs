//! The sandbox of the processes that ran plugins.

use passdock_core::{Diagnostic, Severity};
use passdock_crash::CallKind;
#[cfg(unix)]
use passdock_crash::Culprit;
use passdock_sandbox::{DeniedCall, SandboxMode, SandboxPart};
use serde::{Deserialize, Serialize};

/// The sandbox of a run: its parts, and the calls that it denied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Whether it was requested.
    pub mode: SandboxMode,
    /// The parts that were active. Empty if no plugin was loaded.
    pub active: Vec<SandboxPart>,
    /// Why the other parts weren't active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The denied calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<DeniedCallCount>,
}

/// Denied calls of the same kind by the same plugin code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeniedCallCount {
    /// The kind.
    pub call: DeniedCall,
    /// The plugin, if known.
    pub plugin: Option<String>,
    /// The plugin's file, if known.
    pub file: Option<String>,
    /// What called the code. `None` for a thread outside of calls into plugins.
    pub by: Option<CallKind>,
    /// The name of the pass, the instrument, the op or the library.
    pub name: Option<String>,
    /// The number of calls.
    pub count: u64,
}

impl SandboxReport {
    /// Records a denied call of plugin code.
    #[cfg(unix)]
    pub(crate) fn add_denied(&mut self, call: DeniedCall, culprit: Culprit) {
        let is_library = culprit.kind == CallKind::Library;
        self.add(DeniedCallCount {
            call,
            plugin: is_library.then(|| culprit.name.clone()),
            file: culprit.plugin,
            by: Some(culprit.kind),
            name: Some(culprit.name),
            count: 1,
        });
    }

    /// Records a denied call on a thread of a plugin, or in one of its exit handlers.
    #[cfg(unix)]
    pub(crate) fn add_denied_on_thread(&mut self, call: DeniedCall, file: Option<String>) {
        self.add(DeniedCallCount {
            call,
            plugin: None,
            file,
            by: None,
            name: None,
            count: 1,
        });
    }

    /// Adds the report of another worker with the same job.
    #[cfg(unix)]
    pub(crate) fn merge(&mut self, other: SandboxReport) {
        let earlier = std::mem::replace(self, other).denied;
        earlier.into_iter().for_each(|denied| self.add(denied));
    }

    #[cfg(unix)]
    fn add(&mut self, denied: DeniedCallCount) {
        /// Maximum number of entries. A plugin may make any number of calls.
        const MAX: usize = 100;
        let key = |it: &DeniedCallCount| (it.call, it.by, it.name.clone(), it.file.clone());
        let mut all = self.denied.iter_mut();
        if let Some(known) = all.find(|known| key(known) == key(&denied)) {
            known.count += denied.count;
        } else if self.denied.len() < MAX {
            self.denied.push(denied);
        }
    }

    /// Returns a warning for each kind of denied calls of a plugin. Others, such as those of ONNX Runtime, have none.
    pub fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        let of_plugins = self.denied.iter().filter(|denied| denied.file.is_some());
        of_plugins.map(DeniedCallCount::warning)
    }
}

impl DeniedCallCount {
    fn warning(&self) -> Diagnostic {
        let name = self.name.as_deref().unwrap_or_default();
        let who = match self.by {
            Some(CallKind::Definition) => format!("the definition of `{name}`"),
            Some(kind) => format!("{} `{name}`", kind.name()),
            None => match &self.file {
                Some(file) => format!("a thread of the plugin `{file}`"),
                None => "a thread".to_owned(),
            },
        };
        let attempt = self.call.attempt();
        let message = format!("{who} tried to {attempt}; the sandbox denied it");
        let mut warning = Diagnostic::new(Severity::Warning, "sandbox", message);
        if self.by == Some(CallKind::Pass) {
            warning.pass.clone_from(&self.name);
        }
        warning.plugin.clone_from(&self.plugin);
        warning.file.clone_from(&self.file);
        warning.help(match self.call.permission() {
            Some(permission) => {
                let plugin = self.plugin.as_deref().unwrap_or("NAME");
                format!(
                    "to allow it, add `allow = [\"{permission}\"]` to `[plugins.{plugin}]` in the pipeline, or pass \
                     `--allow {plugin}={permission}`"
                )
            }
            None => "if you trust the plugin, pass `--sandbox off`".to_owned(),
        })
    }
}
