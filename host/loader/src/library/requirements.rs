//! The check that the plugins that a plugin requires are registered, before its code is loaded.

use std::sync::Arc;

use super::Plugin;
use crate::error::{PluginError, PluginErrorKind as Kind};
use crate::manifest::{Requirement, Unsatisfied};

/// Returns the registered plugin of a name.
pub(super) type FindPlugin = Box<dyn Fn(&str) -> Option<Arc<Plugin>> + Send + Sync>;

impl Plugin {
    /// Sets the function that returns the registered plugin of a name. The registry that the plugin is added to calls
    /// it. The requirements of a plugin without a registry aren't checked.
    pub fn find_required_with(
        &self,
        find: impl Fn(&str) -> Option<Arc<Plugin>> + Send + Sync + 'static,
    ) {
        // A plugin is added to one registry only.
        self.find_plugin.get_or_init(|| Box::new(find));
    }

    /// Checks that the required plugins are registered in versions that satisfy the requirements, and marks them as
    /// used. Their code isn't loaded.
    ///
    /// # Errors
    /// For the first requirement that isn't satisfied.
    pub fn check_requirements(&self) -> Result<(), PluginError> {
        let Some(find) = self.find_plugin.get() else {
            return Ok(());
        };
        for requirement in &self.manifest.plugin.requires {
            let required = check(requirement, find(&requirement.name));
            let required = required.map_err(|kind| PluginError::new(self.origin.clone(), kind))?;
            required.mark_used();
        }
        Ok(())
    }
}

/// Returns the required plugin, or the reason why the requirement isn't satisfied.
fn check(required: &Requirement, found: Option<Arc<Plugin>>) -> Result<Arc<Plugin>, Kind> {
    let requirement = required.to_string();
    let Some(plugin) = found else {
        return Err(Kind::RequirementMissing { requirement });
    };
    let (found, version) = (
        plugin.origin.clone(),
        plugin.manifest.plugin.version.clone(),
    );
    match required.check(&version) {
        Ok(()) => Ok(plugin),
        Err(Unsatisfied::OtherVersion) => Err(Kind::RequirementVersion {
            requirement,
            found,
            version,
        }),
        Err(Unsatisfied::NotSemantic) => Err(Kind::RequirementNotSemantic {
            requirement,
            found,
            version,
        }),
    }
}
