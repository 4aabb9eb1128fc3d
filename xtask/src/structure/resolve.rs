//! What a path names: imports, globs and re-exports are followed to the definition.

use std::collections::BTreeSet;

use super::mentions::Kind;
use super::modules::{Definition, Is, Modules, Sort};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(usize),
    Item(Definition),
}

/// What is known of a name in a module.
enum Found {
    /// All that it may stand for.
    Here(BTreeSet<Target>),
    /// Something of another crate.
    Elsewhere,
    /// The module has no such name, as far as can be read: a macro may have made it.
    Nothing,
}

impl Modules {
    /// All that a path may lead to, seen from a module; nothing if that is in another crate.
    pub(super) fn resolve(&self, module: usize, path: &[String], kind: Kind) -> BTreeSet<Target> {
        Search {
            modules: self,
            under_way: Vec::new(),
        }
        .resolve(module, path, kind)
    }
}

struct Search<'m> {
    modules: &'m Modules,
    /// Names whose imports are being followed, so that none is followed around.
    under_way: Vec<(usize, String)>,
}

impl Search<'_> {
    fn resolve(&mut self, module: usize, path: &[String], kind: Kind) -> BTreeSet<Target> {
        let none = BTreeSet::new;
        let (mut at, mut rest) = (BTreeSet::from([Target::Module(module)]), path);
        while let Some((first, after)) = rest.split_first() {
            let rooted = rest.len() < path.len();
            let modules = at.iter().filter_map(|target| match target {
                Target::Module(id) => Some(*id),
                Target::Item(_) => None,
            });
            let modules: Vec<usize> = modules.collect();
            // Members and variants belong to their type.
            let [here, ..] = modules[..] else { return at };
            at = match first.as_str() {
                "crate" if !rooted => BTreeSet::from([Target::Module(self.modules.root(here))]),
                "self" => at,
                "super" => match self.modules.modules[here].parent {
                    Some(parent) => BTreeSet::from([Target::Module(parent)]),
                    None => return none(),
                },
                name => {
                    let kind = if after.is_empty() { kind } else { Kind::Type };
                    match self.look_up(&modules, name, kind, rooted) {
                        Found::Here(found) => found,
                        Found::Elsewhere => return none(),
                        Found::Nothing if rooted => return at,
                        Found::Nothing => return none(),
                    }
                }
            };
            rest = after;
        }
        at
    }

    /// The name in the first module that knows it; `rooted` if it comes after another.
    fn look_up(&mut self, modules: &[usize], name: &str, kind: Kind, rooted: bool) -> Found {
        let mut is_elsewhere = false;
        for module in modules {
            match self.name(*module, name, kind) {
                Found::Here(found) => return Found::Here(found),
                Found::Elsewhere => is_elsewhere = true,
                Found::Nothing => {}
            }
        }
        let is_root = modules
            .iter()
            .any(|id| self.modules.modules[*id].parent.is_none());
        if !rooted
            && kind != Kind::Macro
            && let Some((library, root)) = &self.modules.library
            && library == name
        {
            return Found::Here(BTreeSet::from([Target::Module(*root)]));
        }
        // `macro_rules!` are known in what follows them, and exported ones at the root.
        if [Kind::Macro, Kind::Any].contains(&kind)
            && (!rooted || is_root)
            && let Some(defined) = self.modules.macros.get(name)
            && let Some(module) = modules.first()
        {
            let same = |place: &&Definition| self.modules.shares_file(place.module, *module);
            let chosen = defined.iter().find(same).unwrap_or(&defined[0]);
            return Found::Here(BTreeSet::from([Target::Item(*chosen)]));
        }
        if is_elsewhere {
            Found::Elsewhere
        } else {
            Found::Nothing
        }
    }

    fn name(&mut self, module: usize, name: &str, kind: Kind) -> Found {
        let key = (module, name.to_owned());
        if self.under_way.contains(&key) {
            return Found::Nothing;
        }
        self.under_way.push(key);
        let found = self.name_once(module, name, kind);
        self.under_way.pop();
        found
    }

    fn name_once(&mut self, module: usize, name: &str, kind: Kind) -> Found {
        let this = &self.modules.modules[module];
        let mut found = BTreeSet::new();
        let mut is_elsewhere = false;
        for name in this.names.get(name).into_iter().flatten() {
            match &name.is {
                Is::Module(id) => {
                    found.insert(Target::Module(*id));
                }
                Is::Item(item) => {
                    found.insert(Target::Item(*item));
                }
                Is::Import(path) => {
                    let more = self.resolve(module, path, kind);
                    is_elsewhere |= more.is_empty();
                    found.extend(more);
                }
            }
        }
        if found.is_empty() && !is_elsewhere {
            for glob in &this.globs {
                let targets = self.resolve(module, &glob.path, Kind::Type);
                is_elsewhere |= targets.is_empty();
                for target in targets {
                    if let Target::Module(id) = target
                        && let Found::Here(more) = self.name(id, name, kind)
                    {
                        found.extend(more);
                    }
                }
            }
            // A glob of another crate may have the name, or not.
            is_elsewhere &= found.is_empty();
        }
        if found.is_empty() {
            return if is_elsewhere {
                Found::Elsewhere
            } else {
                Found::Nothing
            };
        }
        let fits = |target: &Target| match target {
            Target::Module(_) => kind == Kind::Type,
            Target::Item(item) => {
                item.sort.fits(kind) && (kind != Kind::Any || item.sort != Sort::Macro)
            }
        };
        if found.iter().any(fits) {
            found.retain(fits);
        }
        Found::Here(found)
    }
}

impl Modules {
    fn root(&self, module: usize) -> usize {
        let parent = |module: &usize| self.modules[*module].parent;
        std::iter::successors(Some(module), parent)
            .last()
            .unwrap_or(module)
    }

    fn shares_file(&self, a: usize, b: usize) -> bool {
        self.modules[a].file == self.modules[b].file
    }
}
