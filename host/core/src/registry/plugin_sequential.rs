//! The Sequentials of plugins, which are created from their manifests without loading any plugin.
//!
//! Children may be passes of plugins that are registered later. So names are looked up when a Sequential is requested,
//! not when its plugin is registered.

use std::sync::Arc;

use passdock_loader::{ManifestChild, ManifestSequential, Plugin};

use super::Inner;
use super::entries::{Entry, Item};
use super::plugin_pass::PluginPass;
use crate::error::{ErrorKind, PassError};
use crate::pass::{MAX_DEPTH, PassRef, Sequential, with_options};

/// The maximum number of passes in a plugin's Sequential, including those of nested Sequentials. Without a limit, a few
/// lines of a manifest could request any number.
const MAX_SIZE: usize = 1 << 16;

impl Inner {
    /// Returns the pass of a name with options. `path` has the names of the Sequentials around it, outermost first.
    /// After an error it ends at the Sequential that caused the error.
    pub(super) fn pass(
        &self,
        name: &str,
        options: &toml::Table,
        path: &mut Vec<String>,
    ) -> Result<PassRef, PassError> {
        let Some((name, entry)) = self.resolve(name) else {
            return Err(self.unknown(name));
        };
        let pass: PassRef = match entry {
            Entry::Program(pass) => pass.clone(),
            Entry::Plugin { plugin, item, .. } => match *item {
                Item::Pass(at) => Arc::new(PluginPass::new(plugin.clone(), at)),
                Item::Sequential(at) => {
                    check_path(name, path)?;
                    plugin.mark_used();
                    path.push(name.to_owned());
                    let spec = &plugin.manifest().sequentials[at];
                    let sequential = self.sequential(plugin, spec, path)?;
                    path.pop();
                    Arc::new(sequential)
                }
            },
        };
        with_options(pass, options)
    }

    fn sequential(
        &self,
        plugin: &Arc<Plugin>,
        spec: &ManifestSequential,
        path: &mut Vec<String>,
    ) -> Result<Sequential, PassError> {
        let info = &spec.declaration.info;
        let depth = path.len();
        let (mut passes, mut size) = (Vec::with_capacity(spec.passes.len()), 0);
        for ManifestChild { name, options } in &spec.passes {
            let options = options.iter();
            let options = options.map(|(key, value)| (key.clone(), value.clone()));
            let child = self.pass(name, &options.collect(), path);
            let pass = child.map_err(|error| match path.len() {
                // Otherwise the error names the nested Sequential that caused it already.
                len if len == depth => error.note(format!(
                    "listed in `passes` of `[[sequential]]` `{}` in the manifest of plugin {}",
                    info.name,
                    plugin.origin()
                )),
                _ => error,
            })?;
            size += 1 + pass.as_sequential().map_or(0, Sequential::size);
            if size > MAX_SIZE {
                let message = format!(
                    "Sequential `{}` of plugin {} contains more than {MAX_SIZE} passes",
                    info.name,
                    plugin.origin()
                );
                let error = PassError::new(ErrorKind::TooDeep, message);
                return Err(error.help("split it; the passes of nested Sequentials count too"));
            }
            passes.push(pass);
        }
        Ok(Sequential::new(passes)
            .name(&info.name)
            .opt_level(info.opt_level)
            .required(info.required.iter().cloned())
            .provided_by(plugin.clone()))
    }
}

/// Rejects a Sequential that contains itself, or is nested too deeply.
fn check_path(name: &str, path: &[String]) -> Result<(), PassError> {
    if let Some(start) = path.iter().position(|outer| outer == name) {
        let chain = path[start..].join(" -> ");
        let message = format!("Sequential contains itself: {chain} -> {name}");
        return Err(PassError::new(ErrorKind::Cycle, message)
            .help("remove one of them from the other's `passes`"));
    }
    if path.len() >= MAX_DEPTH as usize {
        let message =
            format!("more than {MAX_DEPTH} Sequentials contain each other, down to `{name}`");
        return Err(PassError::new(ErrorKind::TooDeep, message).help("put the passes in one list"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use passdock_abi as abi;
    use passdock_loader::Plugin;
    use passdock_plugin_api::StaticPlugin;

    use crate::error::PassError;
    use crate::pass::{PassInfo, create_function_pass};
    use crate::registry::{LoadOptions, Registry};

    extern "C" fn never_loaded(_: *const abi::Host, _: *mut abi::Attach) -> *const abi::Plugin {
        std::ptr::null()
    }

    /// Registers a plugin with one Sequential.
    #[allow(unsafe_code, reason = "an entry of the test's own")]
    fn add(
        registry: &Registry,
        plugin: &str,
        child: &str,
        overrides: &str,
    ) -> Result<(), PassError> {
        let manifest = format!(
            "[plugin]\nname = '{plugin}'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n\
             [[sequential]]\nname = 'x.transform.All'\npasses = ['{child}']\n\0"
        );
        // SAFETY: by the plugin ABI, an entry point may reject every host.
        let plugin = unsafe { StaticPlugin::new(never_loaded, manifest.into_bytes().leak()) };
        let plugin = Plugin::from_static(plugin);
        let overrides = overrides.split_whitespace().map(str::to_owned).collect();
        registry.add_plugin(
            plugin.unwrap(),
            &LoadOptions {
                overrides,
                ..LoadOptions::default()
            },
        )
    }

    /// Returns the names of the Sequential's children, and of its plugin.
    fn children(registry: &Registry) -> String {
        let pass = registry.get_pass("x.transform.All").unwrap();
        let names = pass.as_sequential().unwrap().passes().iter();
        let names: Vec<&str> = names.map(|pass| pass.info().name.as_str()).collect();
        format!("{}: {}", pass.provider().unwrap().plugin, names.join(", "))
    }

    #[test]
    fn duplicate_names_are_rejected_unless_overridden() {
        let r = &Registry::new();
        for name in ["x.transform.One", "x.transform.Two"] {
            r.register(create_function_pass(PassInfo::new(name), |_, _| Ok(())))
                .unwrap();
        }
        let messages = [
            add(r, "a", "x.transform.One", ""),
            add(r, "b", "x.transform.Two", ""),
            add(r, "b", "x.transform.Two", "x.transform.Al"),
        ];
        let messages =
            messages.map(|added| added.map_or_else(|error| error.to_string(), |()| children(r)));
        expect![["
            a: x.transform.One
            pass `x.transform.All` is already registered by plugin `a` (built in); rename or remove one of them, or \
              select one: `override = [\"…\"]` in `[plugins.NAME]` (the other is in plugin `b` (built in))
            plugin `b` has no pass `x.transform.Al` to override with; did you mean `x.transform.All`?"]]
    .assert_eq(&messages.join("\n"));
        add(r, "b", "x.transform.Two", "x.transform.All").unwrap();
        assert_eq!(children(r), "b: x.transform.Two");
        let overrides = r.overrides();
        assert_eq!(overrides["b"], ["x.transform.All"]);
        r.unregister_plugin("b").unwrap();
        assert_eq!(children(r), "a: x.transform.One");
        // A pass of the program takes the name, too.
        r.unregister_plugin("a").unwrap();
        let own = create_function_pass(PassInfo::new("x.transform.All"), |_, _| Ok(()));
        r.register(own).unwrap();
        let taken = add(r, "a", "x.transform.One", "").unwrap_err();
        expect!["pass `x.transform.All` is already registered by this program; rename or remove one of them, or select \
                one: `override = [\"…\"]` in `[plugins.NAME]` (the other is in plugin `a` (built in))"]
    .assert_eq(&taken.to_string());
    }
}
