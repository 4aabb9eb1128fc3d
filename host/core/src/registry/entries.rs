//! The entries of passes, with their plugins. An overridden entry stays in the table, whichever was added first. It is
//! active again when the overriding plugin is removed.

use std::ops::Deref;
use std::sync::Arc;

use passdock_loader::{PassDeclaration, Plugin};
use passdock_sandbox::{CallLimits, Permission};
use rustc_hash::FxHashMap;

use crate::pass::PassRef;

/// Options for the registration of a plugin.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The passes of this plugin that override those of the same name of other plugins.
    pub overrides: Vec<String>,
    /// The permissions that the user grants to the plugin.
    pub allow: Vec<Permission>,
    /// The limits of its calls in a process with a supervisor.
    pub limits: CallLimits,
}

/// An item of a plugin's manifest, by its index in the list of passes or of Sequentials.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Pass(usize),
    Sequential(usize),
}

/// The entry of a pass, with its provider.
#[derive(Clone)]
pub(super) enum Entry {
    /// An item of a plugin's manifest. `overrides`: the user requested that it overrides another plugin's.
    Plugin {
        plugin: Arc<Plugin>,
        item: Item,
        overrides: bool,
    },
    /// A pass of the program itself.
    Program(PassRef),
}

/// The active entries, by the names of the passes.
#[derive(Default)]
pub(super) struct Entries {
    in_force: FxHashMap<String, Entry>,
    /// The entries that others override.
    overridden: FxHashMap<String, Entry>,
}

impl Entries {
    /// Returns the entry that conflicts with a new one of this name. Each name has at most one overriding entry and one
    /// other entry.
    pub(super) fn in_the_way(&self, name: &str, overrides: bool) -> Option<&Entry> {
        let current = self.in_force.get(name)?;
        match (current.overrides(), overrides) {
            (true, false) => self.overridden.get(name),
            (false, true) => None,
            _ => Some(current),
        }
    }

    /// Adds an entry that conflicts with none.
    pub(super) fn add(&mut self, name: String, entry: Entry) {
        match entry.overrides() || !self.in_force.contains_key(&name) {
            true => {
                if let Some(hidden) = self.in_force.insert(name.clone(), entry) {
                    self.overridden.insert(name, hidden);
                }
            }
            false => _ = self.overridden.insert(name, entry),
        }
    }

    /// Replaces the active entry with one of the program. A plugin's entry becomes an overridden one; the program's own
    /// is removed.
    pub(super) fn replace(&mut self, name: String, entry: Entry) {
        let replaced = self.in_force.insert(name.clone(), entry);
        if let Some(hidden) = replaced.filter(|replaced| replaced.plugin().is_some()) {
            self.overridden.insert(name, hidden);
        }
    }

    /// Removes a plugin's entries. The entries that they overrode become active again.
    pub(super) fn remove_plugin(&mut self, plugin: &str) {
        let stays =
            |_: &String, entry: &mut Entry| entry.plugin().is_none_or(|own| own.name() != plugin);
        self.overridden.retain(stays);
        self.in_force.retain(stays);
        let (hidden, bare) = std::mem::take(&mut self.overridden)
            .into_iter()
            .partition(|(name, _)| self.in_force.contains_key(name));
        self.overridden = hidden;
        self.in_force.extend::<FxHashMap<_, _>>(bare);
    }
}

/// Dereferences to the active entries.
impl Deref for Entries {
    type Target = FxHashMap<String, Entry>;

    fn deref(&self) -> &FxHashMap<String, Entry> {
        &self.in_force
    }
}

impl Entry {
    /// Returns the plugin and the item of its manifest, if a plugin provides the pass.
    pub(super) fn item(&self) -> Option<(&Arc<Plugin>, Item)> {
        match self {
            Entry::Plugin { plugin, item, .. } => Some((plugin, *item)),
            Entry::Program(_) => None,
        }
    }

    pub(super) fn declaration(&self) -> &PassDeclaration {
        match self {
            Entry::Plugin { plugin, item, .. } => match *item {
                Item::Pass(at) => &plugin.manifest().passes[at].declaration,
                Item::Sequential(at) => &plugin.manifest().sequentials[at].declaration,
            },
            Entry::Program(pass) => pass.declaration(),
        }
    }

    /// Returns the plugin that provides the pass.
    pub(super) fn plugin(&self) -> Option<&Arc<Plugin>> {
        self.item().map(|(plugin, _)| plugin)
    }

    /// Whether the entry overrides another one.
    pub(super) fn overrides(&self) -> bool {
        matches!(
            self,
            Entry::Plugin {
                overrides: true,
                ..
            }
        )
    }

    pub(super) fn origin(&self) -> String {
        match self.plugin() {
            Some(plugin) => format!("plugin {}", plugin.origin()),
            None => "this program".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi as abi;
    use passdock_loader::Plugin;
    use passdock_plugin_api::StaticPlugin;

    use crate::pass::PassInfo;
    use crate::registry::{LoadOptions, Registry};
    use crate::run::create_host_pass;

    extern "C" fn never_loaded(_: *const abi::Host, _: *mut abi::Attach) -> *const abi::Plugin {
        std::ptr::null()
    }

    /// Registers a plugin with one pass. Returns the owner, or the error.
    #[allow(unsafe_code, reason = "an entry of the test's own")]
    fn add(registry: &Registry, plugin: &str, overrides: bool) -> String {
        let manifest = format!(
            "[plugin]\nname = '{plugin}'\nversion = '1.0.0'\nabi = '1.0'\nmin_host = '1.0'\n\
             ir = '1.0'\npanic = 'unwind'\n\
             [[pass]]\nname = 'x.transform.Fold'\nkind = 'module'\n\
             [[config]]\nkey = 'x.Fold'\n[[config.option]]\nname = 'n'\ntype = 'int'\ndefault = 1\n\0"
        );
        // SAFETY: by the plugin ABI, an entry point may reject every host.
        let plugin = unsafe { StaticPlugin::new(never_loaded, manifest.into_bytes().leak()) };
        let plugin = Plugin::from_static(plugin);
        let overrides = match overrides {
            true => vec!["x.transform.Fold".to_owned()],
            false => Vec::new(),
        };
        let added = registry.add_plugin(
            plugin.unwrap(),
            &LoadOptions {
                overrides,
                ..LoadOptions::default()
            },
        );
        added.map_or_else(|error| error.to_string(), |()| owner(registry))
    }

    /// Returns the owners of the pass and of the config option.
    fn owner(registry: &Registry) -> String {
        let pass = match registry.pass_spec("x.transform.Fold") {
            Some((plugin, _)) => plugin.name().to_owned(),
            None if registry.contains("x.transform.Fold") => "the program".to_owned(),
            None => "none".to_owned(),
        };
        let configs = registry.list_configs();
        let option = configs.iter().find(|info| info.schema.key == "x.Fold");
        let option = option.and_then(|info| info.plugin.as_deref());
        format!("{pass}, option of {}", option.unwrap_or("none"))
    }

    fn remove(registry: &Registry, plugin: &str) -> String {
        registry.unregister_plugin(plugin).unwrap();
        owner(registry)
    }

    #[track_caller]
    fn check(lines: &[String], expected: Expect) {
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn overridden_entry_is_restored() {
        let r = &Registry::new();
        check(
            &[add(r, "a", false), add(r, "b", true), remove(r, "b")],
            expect![[r#"
                a, option of a
                b, option of a
                a, option of a"#]],
        );
        // In either order of registration.
        let r = &Registry::new();
        check(
            &[
                add(r, "b", true),
                add(r, "a", false),
                remove(r, "b"),
                remove(r, "a"),
            ],
            expect![[r#"
                b, option of b
                b, option of b
                a, option of a
                none, option of none"#]],
        );
        let r = &Registry::new();
        check(
            &[
                add(r, "a", false),
                add(r, "b", true),
                remove(r, "a"),
                remove(r, "b"),
            ],
            expect![[r#"
                a, option of a
                b, option of a
                b, option of b
                none, option of none"#]],
        );
        let r = &Registry::new();
        let own = create_host_pass(PassInfo::new("x.transform.Fold"), |m, _| Ok(m.clone()));
        r.register(own).unwrap();
        check(
            &[add(r, "b", true), remove(r, "b")],
            expect![[r#"
            b, option of b
            the program, option of none"#]],
        );
    }

    #[test]
    fn only_one_plugin_may_override() {
        let r = &Registry::new();
        check(
            &[
                add(r, "a", true),
                add(r, "b", true),
                add(r, "c", false),
                add(r, "d", false),
            ],
            expect![["
                a, option of a
                pass `x.transform.Fold` is already overridden by plugin `a` (built in); let only one of them \
                  override it (the other is in plugin `b` (built in))
                a, option of a
                pass `x.transform.Fold` is already registered by plugin `c` (built in); rename or remove one of \
                  them, or select one: `override = [\"…\"]` in `[plugins.NAME]` (the other is in plugin `d` \
                  (built in))"]],
        );
    }
}
