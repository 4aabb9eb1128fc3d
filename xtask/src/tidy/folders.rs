//! How the folders of a crate use each other: in no circle, and as the table of layers says.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::tables;
use crate::structure::Structure;

/// The layers of a crate's folders, the top one first.
type Layers<'p> = Vec<Vec<&'p str>>;

pub(super) fn offences(crates: &[Structure], page: &str) -> Result<Vec<String>> {
    let table = read(page)?;
    let mut offences = Vec::new();
    for structure in crates {
        offences.extend(circles(structure));
        if let Some(layers) = table.get(structure.name.as_str()) {
            offences.extend(against_layers(structure, layers));
        } else if structure.folders().len() > 1 {
            offences.push(format!(
                "{} has no entry in the table of layers",
                structure.name
            ));
        }
    }
    for name in table.keys() {
        if !crates.iter().any(|structure| structure.name == *name) {
            offences.push(format!(
                "the table of layers has {name}, which isn't a crate"
            ));
        }
    }
    Ok(offences)
}

/// The table: a row begins a crate, or is the next layer of the crate above it.
fn read(page: &str) -> Result<BTreeMap<&str, Layers<'_>>> {
    let mut table: BTreeMap<&str, Layers<'_>> = BTreeMap::new();
    let mut current = None;
    for row in tables::rows(page, "Layers")? {
        let [name, folders] = row[..] else {
            anyhow::bail!("a row of the table of layers has a crate and folders: {row:?}");
        };
        current = tables::names(name).next().or(current);
        let name = current.context("the table of layers begins without a crate")?;
        table
            .entry(name)
            .or_default()
            .push(tables::names(folders).collect());
    }
    Ok(table)
}

/// The shortest way around of each circle, with an example of each of its arrows.
fn circles(structure: &Structure) -> Vec<String> {
    let graph = structure.between_folders();
    let mut offences = Vec::new();
    for circle in graph.circles() {
        let way = graph.shortest(&circle);
        let ends: Vec<&str> = way.iter().chain(way.first()).copied().collect();
        let mut text = format!(
            "{}: folders use each other in a circle: {}",
            structure.name,
            ends.join(" -> ")
        );
        for pair in ends.windows(2) {
            if let [arrow, ..] = graph.arrows(pair[0], pair[1]) {
                text += &format!(
                    "\n    {} -> {}: {}",
                    pair[0],
                    pair[1],
                    structure.shown(arrow)
                );
            }
        }
        offences.push(text);
    }
    offences
}

fn against_layers(structure: &Structure, layers: &Layers<'_>) -> Vec<String> {
    let name = &structure.name;
    let layer = |folder: &str| layers.iter().position(|layer| layer.contains(&folder));
    let folders = structure.folders();
    let mut offences = Vec::new();
    for folder in &folders {
        if layer(folder).is_none() {
            offences.push(format!(
                "{name}: folder {folder} isn't in the table of layers"
            ));
        }
    }
    for folder in layers.iter().flatten() {
        if !folders.contains(folder) {
            offences.push(format!(
                "{name}: the table of layers has {folder}, which isn't a folder"
            ));
        }
    }
    for (from, to, arrows) in structure.between_folders().edges() {
        if let (Some(above), Some(below)) = (layer(from), layer(to))
            && above >= below
        {
            let example = structure.shown(arrows[0]);
            offences.push(format!(
                "{name}: {from} must not use {to}, which isn't in a layer below it (ARCHITECTURE.md, \"Layers\"): {example}"
            ));
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::{against_layers, circles, offences, read};
    use crate::structure::of_text;

    #[test]
    fn the_shortest_circle_is_told_with_an_example_of_each_arrow() {
        let structure = of_text(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a/mod.rs", "use crate::b::B; pub struct A;"),
            ("b/mod.rs", "use crate::c::C;\n\npub struct B;"),
            (
                "c/mod.rs",
                "use crate::b::B;\npub struct C; fn f() { crate::a::A; }",
            ),
        ]);
        assert_eq!(
            circles(&structure),
            ["krate: folders use each other in a circle: b -> c -> b\
              \n    b -> c: krate/src/b/mod.rs:1 uses `crate::c::C`\
              \n    c -> b: krate/src/c/mod.rs:1 uses `crate::b::B`"]
        );
    }

    #[test]
    fn arrows_point_down_the_table_and_it_knows_all_folders() {
        let structure = of_text(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a/mod.rs", "use crate::b::B;"),
            ("b/mod.rs", "pub struct B;"),
            ("c/mod.rs", "use crate::b::B;"),
        ]);
        let page = |rows: &str| format!("## Layers\n|crate|folders|\n|-|-|\n{rows}");
        let judge = |rows: &str| {
            let page = page(rows);
            against_layers(&structure, &read(&page).expect("a table")["krate"])
        };
        assert!(judge("| `krate` | `a`, `c` |\n| | `b` |\n| | `src` |\n").is_empty());
        assert_eq!(
            judge("| `krate` | `a` |\n| | `b`, `c` |\n| | `d` |\n"),
            [
                "krate: folder src isn't in the table of layers",
                "krate: the table of layers has d, which isn't a folder",
                "krate: c must not use b, which isn't in a layer below it (ARCHITECTURE.md, \"Layers\"): krate/src/c/mod.rs:1 uses `crate::b::B`",
            ]
        );
        let other = page("| `other` | `a` |\n");
        assert_eq!(
            offences(&[structure], &other).expect("a table"),
            [
                "krate has no entry in the table of layers",
                "the table of layers has other, which isn't a crate",
            ]
        );
    }
}
