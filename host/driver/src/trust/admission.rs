//! The checks that plugins have to pass before a run may load them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use passdock_core::{PassError, Plugin, PluginError, PluginErrorKind, Registry};
use passdock_files::directory_of;

use super::lock::Lock;
use super::needed::has_ops;
use super::signature::{self, SignatureFile, TrustedKeys};
use super::{STANDARD, contents};
use crate::pipeline_file::PipelineFile;
use crate::prepare::{Prepared, Request, Watched, is_standard_dir, register};

/// The reason why a plugin must not be loaded.
enum Objection {
    /// How it differs from the lock, as a predicate: `is not locked`.
    Lock(String),
    /// Why it has no valid signature.
    Signature(String),
    /// The error of reading its file.
    Unreadable(PassError),
}

impl Objection {
    fn reason(&self) -> String {
        match self {
            Objection::Lock(why) => format!("it {why}"),
            Objection::Signature(why) => format!("no valid signature: {why}"),
            Objection::Unreadable(error) => error.message.clone(),
        }
    }
}

/// Resolves all names in a request. Plugins in its directories are added to the registry. No plugin is loaded that the
/// request or its pipeline doesn't trust.
///
/// # Errors
/// If a name or a value is invalid, or a plugin that is used isn't trusted.
pub(crate) fn prepared(
    registry: &Registry,
    request: &Request,
    watched: Watched,
) -> Result<Prepared, PassError> {
    let file = request.pipeline_file()?;
    let admission = Admission::new(registry, request, &file)?;
    register(registry, request, &file)?;
    let Some(admission) = admission else {
        return Prepared::new(registry, request, file, watched);
    };
    let objections = admission.check_plugins(registry);
    let forbidden: Vec<Arc<Plugin>> = objections
        .iter()
        .map(|(plugin, _)| plugin.clone())
        .collect();
    let prepared = Prepared::new(registry, request, file, watched).and_then(|prepared| {
        admission.check(registry, &prepared, objections)?;
        Ok(prepared)
    });
    if prepared.is_err() {
        // A later run may trust them.
        for plugin in forbidden.iter().filter(|plugin| plugin.is_forbidden()) {
            _ = registry.unregister_plugin(plugin.name());
        }
    }
    prepared
}

/// The checks of plugins that a request and its pipeline ask for.
struct Admission<'r> {
    request: &'r Request,
    lock: Option<Lock>,
    keys: TrustedKeys,
    /// The names of the plugins that the program registered before.
    earlier: BTreeSet<String>,
}

impl Admission<'_> {
    /// Returns the checks for a request, before its plugins are registered. `None` if it asks for none.
    ///
    /// # Errors
    /// If the lock is missing or invalid, or a key is invalid.
    fn new<'r>(
        registry: &Registry,
        request: &'r Request,
        file: &PipelineFile,
    ) -> Result<Option<Admission<'r>>, PassError> {
        let keys = TrustedKeys::new(file)?;
        if !request.locked && !request.require_signed && keys.is_empty() {
            return Ok(None);
        }
        let plugins = registry.plugins();
        Ok(Some(Admission {
            request,
            lock: request.locked.then(|| Lock::read(request)).transpose()?,
            keys,
            earlier: plugins
                .iter()
                .map(|plugin| plugin.name().to_owned())
                .collect(),
        }))
    }

    /// Checks all plugins, and forbids loading those of the request that don't pass. Returns the objections, by name.
    fn check_plugins(&self, registry: &Registry) -> Vec<(Arc<Plugin>, Objection)> {
        let mut objections = Vec::new();
        for plugin in registry.plugins() {
            if let Err(objection) = self.check_plugin(&plugin) {
                if !self.earlier.contains(plugin.name()) {
                    plugin.forbid(&objection.reason());
                }
                objections.push((plugin, objection));
            }
        }
        objections
    }

    /// Rejects a run that uses plugins to which there are objections, or whose locked plugins differ. Other plugins of
    /// the request that don't pass are removed from the registry, so that messages don't suggest their passes.
    ///
    /// # Errors
    /// If a plugin differs from the lock, or has no valid signature.
    fn check(
        &self,
        registry: &Registry,
        prepared: &Prepared,
        objections: Vec<(Arc<Plugin>, Objection)>,
    ) -> Result<(), PassError> {
        let lock = self.lock.as_ref();
        let named_files = registry.named_files();
        let used = prepared.used_plugins(self.request, |plugin| {
            let path = plugin.origin().path();
            path.is_some_and(|path| named_files.contains(path))
                && !self.earlier.contains(plugin.name())
        })?;
        let mut differences = lock.map_or(Vec::new(), |lock| lock.missing(registry));
        let mut rejected = Vec::new();
        for (plugin, objection) in objections {
            let name = plugin.name();
            let is_used = used.iter().any(|used| used.name() == name);
            match objection {
                Objection::Lock(why) if is_used || lock.is_some_and(|lock| lock.has(name)) => {
                    differences.push(format!("plugin `{name}` in {} {why}", plugin.origin()));
                }
                Objection::Signature(why) if is_used => {
                    return Err(signature::invalid(&plugin, &why, self.keys.is_empty()));
                }
                Objection::Unreadable(error) if is_used => return Err(error),
                // The program may use its plugins in other ways.
                _ if self.earlier.contains(name) => {}
                objection => rejected.push((plugin, objection.reason())),
            }
        }
        if let Some(lock) = lock.filter(|_| !differences.is_empty()) {
            return Err(lock.error(differences));
        }
        for (plugin, reason) in rejected {
            let reason = PluginErrorKind::NotTrusted(reason);
            let reason = PluginError::new(plugin.origin().clone(), reason);
            // A lock says which definitions are used.
            let warns = lock.is_none() && has_ops(&plugin);
            registry.reject_plugin(plugin.name(), reason, warns)?;
        }
        Ok(())
    }

    /// Reads a plugin's file once, compares it with the lock, and verifies its signature.
    fn check_plugin(&self, plugin: &Plugin) -> Result<(), Objection> {
        let Some(path) = plugin.origin().path() else {
            return Ok(());
        };
        if let Some(lock) = &self.lock
            && !lock.has(plugin.name())
        {
            return Err(Objection::Lock("is not locked".to_owned()));
        }
        let signature = self.signature(plugin, path);
        let signature = signature.map_err(Objection::Signature)?;
        let verifier = signature
            .as_ref()
            .map(|signature| self.keys.verifier(signature));
        let mut verifier = verifier.transpose().map_err(Objection::Signature)?;
        let mut hasher = self.lock.as_ref().map(|_| blake3::Hasher::new());
        if verifier.is_none() && hasher.is_none() {
            return Ok(());
        }
        let update = |bytes: &[u8]| {
            hasher
                .iter_mut()
                .for_each(|hasher| _ = hasher.update(bytes));
            verifier
                .iter_mut()
                .for_each(|verifier| verifier.update(bytes));
        };
        contents::read(plugin, update).map_err(Objection::Unreadable)?;
        if verifier.is_some_and(|mut verifier| verifier.finalize().is_err()) {
            let why = "the file or the comment differs from what was signed";
            return Err(Objection::Signature(why.to_owned()));
        }
        let locked = self.lock.as_ref().zip(hasher);
        let difference = locked.and_then(|(lock, hasher)| {
            lock.difference(plugin, hasher.finalize().to_hex().as_str())
        });
        difference.map_or(Ok(()), |why| Err(Objection::Lock(why)))
    }

    /// Returns the signature to verify. `None` if the plugin needs none and has none.
    fn signature(&self, plugin: &Plugin, path: &Path) -> Result<Option<SignatureFile>, String> {
        let is_required = self.request.require_signed && !self.is_standard(plugin, path);
        if !is_required && self.keys.is_empty() {
            return Ok(None);
        }
        let found = signature::read(path)?;
        match found.is_none() && is_required {
            true => Err(format!(
                "`{}` does not exist",
                signature::signature_path(path).display()
            )),
            false => Ok(found),
        }
    }

    /// Whether a plugin was installed with the program, so that it is trusted like the program.
    fn is_standard(&self, plugin: &Plugin, path: &Path) -> bool {
        STANDARD.contains(&plugin.name()) && is_standard_dir(self.request, directory_of(path))
    }
}
