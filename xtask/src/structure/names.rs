//! Names of types that are seen outside their folder: one name, one thing.

use std::collections::{BTreeMap, BTreeSet};

use super::mentions::Kind;
use super::modules::{EVERYWHERE, Is, Modules};
use super::resolve::Target;

/// A name that stands for several types.
pub(crate) struct SharedName {
    pub(crate) name: String,
    /// Where each is defined: `file:line`.
    pub(crate) places: BTreeSet<String>,
}

/// The names that several types have.
pub(super) fn shared(seen: &BTreeMap<String, BTreeSet<String>>) -> Vec<SharedName> {
    seen.iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| SharedName {
            name: name.clone(),
            places: places.clone(),
        })
        .collect()
}

/// The names by which types are seen outside their folder, and where those types are defined.
pub(super) fn seen_types(modules: &Modules) -> BTreeMap<String, BTreeSet<String>> {
    // By module: what one defines twice is one type, for two systems.
    let mut seen: BTreeMap<String, BTreeMap<usize, String>> = BTreeMap::new();
    for (id, module) in modules.modules.iter().enumerate() {
        let mut see = |name: &String, scope: Option<usize>, target: Target| {
            if let (Some(scope), Target::Item(item)) = (scope, target)
                && item.sort.is_type()
                && modules.is_seen_outside(id, scope, modules.folder(item.module))
            {
                let file = &modules.files[modules.modules[item.module].file].path;
                let place = format!("{file}:{}", item.line);
                let places = seen.entry(name.clone()).or_default();
                places.entry(item.module).or_insert(place);
            }
        };
        for (name, meanings) in &module.names {
            for meaning in meanings {
                match &meaning.is {
                    Is::Module(_) => {}
                    Is::Item(item) => see(name, meaning.scope, Target::Item(*item)),
                    Is::Import(path) => {
                        for target in modules.resolve(id, path, Kind::Any) {
                            see(name, meaning.scope, target);
                        }
                    }
                }
            }
        }
        for glob in &module.globs {
            for target in modules.resolve(id, &glob.path, Kind::Type) {
                let Target::Module(shown) = target else {
                    continue;
                };
                for (name, meanings) in &modules.modules[shown].names {
                    for meaning in meanings {
                        let scopes = meaning.scope.zip(glob.scope);
                        let scope = scopes.map(|(item, glob)| modules.narrower(item, glob));
                        match &meaning.is {
                            Is::Module(_) => {}
                            Is::Item(item) => see(name, scope, Target::Item(*item)),
                            Is::Import(path) => {
                                for target in modules.resolve(shown, path, Kind::Any) {
                                    see(name, scope, target);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    seen.into_iter()
        .map(|(name, places)| (name, places.into_values().collect()))
        .collect()
}

impl Modules {
    fn folder(&self, module: usize) -> &str {
        &self.files[self.modules[module].file].folder
    }

    /// Whether one scope lies within another.
    fn is_within(&self, module: usize, outer: usize) -> bool {
        if module == EVERYWHERE || outer == EVERYWHERE {
            return outer == EVERYWHERE;
        }
        let parent = |module: &usize| self.modules[*module].parent;
        std::iter::successors(Some(module), parent).any(|module| module == outer)
    }

    /// The inner one of two scopes.
    fn narrower(&self, a: usize, b: usize) -> usize {
        if self.is_within(a, b) { a } else { b }
    }

    /// Whether a name of `module` that can be said within `scope` can be said outside `folder`,
    /// given that the modules on the way to it are as visible as they say.
    fn is_seen_outside(&self, module: usize, scope: usize, folder: &str) -> bool {
        let mut scope = scope;
        let mut at = module;
        while self.folder(at) == folder
            && let Some(parent) = self.modules[at].parent
        {
            scope = self.narrower(self.modules[at].scope, scope);
            at = parent;
        }
        // Outside the crate, or in a module that lies elsewhere.
        scope == EVERYWHERE
            || (0..self.modules.len())
                .any(|other| self.is_within(other, scope) && self.folder(other) != folder)
    }
}
