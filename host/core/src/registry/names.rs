//! The names of passes: full names, aliases, TVM's names, and short names.

use rustc_hash::FxHashMap;

use super::Inner;
use super::entries::Entry;
use crate::error::{ErrorKind, PassError};
use crate::pass::PassDeclaration;

/// The namespaces in which a name without `transform.` is looked up, in this order.
const NAMESPACES: [&str; 4] = ["", "relay._", "relax.", "tir."];

/// Namespaces of TVM's releases, and the equivalent namespaces of passdock.
const SPACES_OF_TVM: [(&str, &str); 5] = [
    ("relay.transform.", "relax.transform."),
    ("relay._transform.", "relax.transform."),
    ("_transform.", "relax.transform."),
    ("tirx.transform.", "tir.transform."),
    ("s_tir.transform.", "tir.transform."),
];

/// The aliases of passes. A pass of the same name takes precedence over an alias.
#[derive(Default)]
pub(super) struct Aliases(FxHashMap<String, Alias>);

struct Alias {
    /// The canonical name of the pass.
    pass: String,
    /// The plugin that declares the alias, or `None` for an alias of the program.
    plugin: Option<String>,
}

impl Aliases {
    /// Returns the canonical name for an alias, whether or not the pass exists.
    fn get(&self, alias: &str) -> Option<&str> {
        self.0.get(alias).map(|alias| alias.pass.as_str())
    }

    /// Returns the canonical name for an alias of the program, whose name no pass may have.
    pub(super) fn program_name(&self, alias: &str) -> Option<&str> {
        let alias = self.0.get(alias)?;
        alias.plugin.is_none().then_some(alias.pass.as_str())
    }

    /// Iterates over the aliases, in any order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds an alias of the program.
    pub(super) fn add(&mut self, alias: &str, pass: &str) {
        let pass = pass.to_owned();
        self.0
            .insert(alias.to_owned(), Alias { pass, plugin: None });
    }

    /// Adds the aliases that a pass declares, which were checked.
    pub(super) fn add_declared(&mut self, declared: &PassDeclaration, plugin: Option<&str>) {
        for alias in &declared.aliases {
            let alias = alias.clone();
            self.0.entry(alias).or_insert_with(|| Alias {
                pass: declared.info.name.clone(),
                plugin: plugin.map(str::to_owned),
            });
        }
    }

    /// Rejects a pass with an alias that belongs to another pass.
    pub(super) fn check_declared(&self, declared: &PassDeclaration) -> Result<(), PassError> {
        let name = &declared.info.name;
        for alias in &declared.aliases {
            if let Some(other) = self.get(alias).filter(|other| other != name) {
                let message =
                    format!("alias `{alias}` of pass `{name}` is already an alias of `{other}`");
                let help = "remove the alias from one of them";
                return Err(PassError::new(ErrorKind::Duplicate, message).help(help));
            }
        }
        Ok(())
    }

    /// Removes the aliases of a plugin's passes.
    pub(super) fn remove_plugin(&mut self, plugin: &str) {
        self.0
            .retain(|_, alias| alias.plugin.as_deref() != Some(plugin));
    }
}

impl Inner {
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.resolve(name).map(|(_, entry)| entry)
    }

    /// Returns the canonical name for a name, whether or not the pass exists.
    pub(super) fn canonical<'n>(&'n self, name: &'n str) -> &'n str {
        let canonical = self.resolve(name).map(|(name, _)| name);
        // An alias may be registered before its pass.
        canonical.or_else(|| self.aliases.get(name)).unwrap_or(name)
    }

    /// Resolves a name to its canonical name and entry. It is tried in this order: as the name of a pass, as an alias,
    /// and as either of them in a namespace of TVM. Last, it is tried as a short name for `transform.N`, in one of
    /// these namespaces or in the namespace that it names (`acme.N`).
    pub(super) fn resolve(&self, name: &str) -> Option<(&str, &Entry)> {
        self.exact(name)
            .or_else(|| match name.contains("transform.") {
                true => {
                    // Python programs write `tvm.relax.transform`.
                    let name = name.strip_prefix("tvm.").unwrap_or(name);
                    let of_space = |(theirs, ours): &(&str, &str)| {
                        let rest = name.strip_prefix(theirs)?;
                        self.exact(&format!("{ours}{rest}"))
                    };
                    let entry = SPACES_OF_TVM.iter().find_map(of_space);
                    entry.or_else(|| self.exact(name))
                }
                false => {
                    let standard = NAMESPACES.iter();
                    let mut standard = standard.map(|space| format!("{space}transform.{name}"));
                    let entry = standard.find_map(|name| self.exact(&name));
                    entry.or_else(|| {
                        let (space, last) = name.rsplit_once('.')?;
                        self.exact(&format!("{space}.transform.{last}"))
                    })
                }
            })
    }

    fn exact(&self, name: &str) -> Option<(&str, &Entry)> {
        let own = self.passes.get_key_value(name);
        let entry = own.or_else(|| self.passes.get_key_value(self.aliases.get(name)?));
        entry.map(|(name, entry)| (name.as_str(), entry))
    }
}
