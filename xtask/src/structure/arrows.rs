//! The arrows of a crate: for each path in code, the other file that it leads to.

use std::collections::BTreeSet;

use super::Arrow;
use super::modules::Modules;
use super::resolve::Target;

pub(super) fn arrows(modules: &Modules) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (id, module) in modules.modules.iter().enumerate() {
        for mention in &module.mentions {
            let targets = modules.resolve(id, &mention.path, mention.kind);
            let files: BTreeSet<usize> = targets
                .iter()
                .filter_map(|target| match target {
                    // The root is on the way of every path: it isn't used by being named.
                    Target::Module(id) if modules.modules[*id].parent.is_none() => None,
                    Target::Module(id) => Some(modules.modules[*id].file),
                    Target::Item(item) => Some(modules.modules[item.module].file),
                })
                .filter(|file| *file != module.file)
                .collect();
            arrows.extend(files.into_iter().map(|to| Arrow {
                from: module.file,
                to,
                line: mention.line,
                path: mention.path.join("::"),
                is_reexport: mention.is_reexport,
            }));
        }
    }
    arrows
}
