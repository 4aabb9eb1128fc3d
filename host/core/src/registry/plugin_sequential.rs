//! The Sequentials of plugins: made of the passes that their manifests name, without loading any.
//!
//! Their children may be passes of plugins that are registered later, so names are looked up when a
//! Sequential is asked for, not when its plugin is registered.

use std::sync::Arc;

use passdock_loader::{ChildSpec, Plugin, SequentialSpec};

use super::Inner;
use super::entries::{Entry, Item};
use super::plugin_pass::PluginPass;
use crate::error::{ErrorKind, PassError, Provider};
use crate::pass::{MAX_DEPTH, Pass, PassDeclaration, PassRef, Sequential, Work, with_options};

/// The largest number of passes in a plugin's Sequential, those of Sequentials in it included. A few
/// lines of a manifest could ask for any number.
const MAX_SIZE: usize = 1 << 16;

/// A plugin's Sequential.
struct PluginSequential {
    provider: Provider,
    sequential: Sequential,
}

impl Pass for PluginSequential {
    fn declaration(&self) -> &PassDeclaration {
        self.sequential.declaration()
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        self.sequential.work()
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider)
    }

    fn as_sequential(&self) -> Option<&Sequential> {
        Some(&self.sequential)
    }
}

impl Inner {
    /// The pass of this name with some options; `path`: the Sequentials around it, by name, outermost
    /// first.
    pub(super) fn pass(
        &self,
        name: &str,
        options: &toml::Table,
        path: &mut Vec<String>,
    ) -> Result<PassRef, PassError> {
        let Some((name, entry)) = self.known(name) else {
            return Err(self.unknown(name));
        };
        let pass: PassRef = match entry {
            Entry::Own(pass) => pass.clone(),
            Entry::Plugin { plugin, item, .. } => match *item {
                Item::Pass(at) => Arc::new(PluginPass::new(plugin.clone(), at)),
                Item::Sequential(at) => {
                    check_path(name, path)?;
                    path.push(name.to_owned());
                    let spec = &plugin.manifest().sequentials[at];
                    let made = self.sequential(plugin, spec, path)?;
                    path.pop();
                    Arc::new(made)
                }
            },
        };
        with_options(pass, options)
    }

    fn sequential(
        &self,
        plugin: &Plugin,
        spec: &SequentialSpec,
        path: &mut Vec<String>,
    ) -> Result<PluginSequential, PassError> {
        let info = &spec.declaration.info;
        let named_by = |error: PassError| {
            error.note(format!(
                "`passes` of `[[sequential]]` `{}` in the manifest of plugin {} names it",
                info.name,
                plugin.origin()
            ))
        };
        let (mut passes, mut size) = (Vec::with_capacity(spec.passes.len()), 0);
        for ChildSpec { name, options } in &spec.passes {
            let options = options.iter();
            let options = options.map(|(key, value)| (key.clone(), value.clone()));
            let pass = self
                .pass(name, &options.collect(), path)
                .map_err(named_by)?;
            size += 1 + pass.as_sequential().map_or(0, Sequential::size);
            if size > MAX_SIZE {
                let message = format!(
                    "The Sequential `{}` of plugin {} holds more than {MAX_SIZE} passes.",
                    info.name,
                    plugin.origin()
                );
                let error = PassError::new(ErrorKind::TooDeep, message);
                return Err(error.help("Sequentials in it count with all that is in them."));
            }
            passes.push(pass);
        }
        Ok(PluginSequential {
            provider: Provider::of(plugin),
            sequential: Sequential::new(passes)
                .name(&info.name)
                .opt_level(info.opt_level)
                .required(info.required.iter().cloned()),
        })
    }
}

/// Refuses a Sequential inside itself, and one that is too deep inside others.
fn check_path(name: &str, path: &[String]) -> Result<(), PassError> {
    if let Some(start) = path.iter().position(|outer| outer == name) {
        let chain = path[start..].join(" -> ");
        let message = format!("A Sequential contains itself: {chain} -> {name}.");
        return Err(PassError::new(ErrorKind::Cycle, message)
            .help("Take one of them out of the other's `passes`."));
    }
    if path.len() >= MAX_DEPTH as usize {
        let message =
            format!("More than {MAX_DEPTH} Sequentials contain each other, down to `{name}`.");
        return Err(PassError::new(ErrorKind::TooDeep, message).help("Put the passes in one list."));
    }
    Ok(())
}
