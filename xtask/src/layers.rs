//! How the folders of each crate use each other: its layers, its circles, and what to cut.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::project::Project;
use crate::structure::{self, Arrow, Graph, Structure};

/// Prints the layers of the crates that are named, or of all.
pub(crate) fn layers(project: &Project, names: &[&str]) -> Result<()> {
    let chosen = chosen(project, names)?;
    for structure in &chosen {
        print(structure);
    }
    if names.is_empty() {
        print_totals(&chosen);
    }
    Ok(())
}

/// Prints every arrow from one folder to another.
pub(crate) fn arrows(project: &Project, names: &[&str], from: &str, to: &str) -> Result<()> {
    let chosen = chosen(project, names)?;
    for folder in [from, to] {
        if !chosen
            .iter()
            .any(|structure| structure.folders().contains(folder))
        {
            bail!("no folder is called {folder}; `cargo xtask layers` lists them");
        }
    }
    for structure in chosen {
        let graph = structure.between_folders();
        for arrow in graph.arrows(from, to) {
            println!(
                "{} → {}",
                structure.shown(arrow),
                structure.files[arrow.to].path
            );
        }
    }
    Ok(())
}

/// The crates of these names or directories; all if there are none.
fn chosen(project: &Project, names: &[&str]) -> Result<Vec<Structure>> {
    let mut all = structure::of_workspace(&project.root, &project.metadata)?;
    let is = |structure: &Structure, name: &str| {
        structure.name == name || structure.directory == name.trim_end_matches('/')
    };
    for name in names {
        if !all.iter().any(|structure| is(structure, name)) {
            bail!("no crate of the workspace is called {name} or lies there");
        }
    }
    all.retain(|structure| names.is_empty() || names.iter().any(|name| is(structure, name)));
    Ok(all)
}

fn print(structure: &Structure) {
    let folders = structure.between_folders();
    let circles = folders.circles();
    let in_circle: BTreeSet<&str> = circles.iter().flatten().copied().collect();
    println!(
        "\n{} ({}): {} lines without tests, files: {}, folders: {}, in circles: {}",
        structure.name,
        structure.directory,
        structure.lines(),
        structure.files.len(),
        structure.folders().len(),
        in_circle.len(),
    );
    println!("  layers, the top one first; * stands in a circle of folders");
    let layers = folders.layers();
    for (number, layer) in layers.iter().enumerate().rev() {
        for (at, folder) in layer.iter().enumerate() {
            let files: Vec<_> = structure
                .files
                .iter()
                .filter(|file| file.folder == *folder)
                .collect();
            let lines: usize = files.iter().map(|file| file.lines).sum();
            let number = if at == 0 {
                (number + 1).to_string()
            } else {
                String::new()
            };
            let mark = if in_circle.contains(folder) { '*' } else { ' ' };
            println!(
                "  {number:>3} {mark} {folder:<32} {:>3} {:<5} {lines:>6} lines",
                files.len(),
                if files.len() == 1 { "file" } else { "files" },
            );
        }
    }
    for circle in &circles {
        print_circle(structure, &folders, circle);
    }
    print_file_circles(structure);
    if !structure.shared_names.is_empty() {
        println!(
            "  names of several types seen outside their folders: {}",
            structure.shared_names.len()
        );
        for shared in &structure.shared_names {
            let places: Vec<&str> = shared.places.iter().map(String::as_str).collect();
            println!("    {}: {}", shared.name, places.join(", "));
        }
    }
}

/// A circle of folders: its shortest way, all its arrows, and a small set of them to cut.
fn print_circle(structure: &Structure, folders: &Graph<'_>, circle: &BTreeSet<&str>) {
    println!(
        "  circle of {} folders; the shortest way around:",
        circle.len()
    );
    let way = folders.shortest(circle);
    println!("    {}", closed(&way));
    println!("  its arrows, and how many paths in code make each:");
    for (from, to, arrows) in folders.edges() {
        if circle.contains(from) && circle.contains(to) {
            print_edge(structure, from, to, arrows);
        }
    }
    let cuts = folders.cuts(circle);
    let paths: usize = cuts
        .iter()
        .map(|(from, to)| folders.arrows(from, to).len())
        .sum();
    println!(
        "  without these {} arrows ({paths} paths) there is no circle:",
        cuts.len()
    );
    for (from, to) in cuts {
        println!("    {from} -> {to}: {}", folders.arrows(from, to).len());
    }
}

/// An arrow between folders: for each pair of files that makes it the first path.
fn print_edge(structure: &Structure, from: &str, to: &str, arrows: &[&Arrow]) {
    println!("    {from} -> {to}: {}", arrows.len());
    let mut pairs: BTreeMap<(usize, usize), Vec<&Arrow>> = BTreeMap::new();
    for arrow in arrows {
        pairs.entry((arrow.from, arrow.to)).or_default().push(arrow);
    }
    for ((_, to), arrows) in pairs {
        let more = match arrows.len() {
            1 => String::new(),
            many => format!(", and {} more", many - 1),
        };
        println!(
            "      {} → {}{more}",
            structure.shown(arrows[0]),
            structure.files[to].path
        );
    }
}

fn print_file_circles(structure: &Structure) {
    let all: usize = structure
        .between_files()
        .circles()
        .iter()
        .map(BTreeSet::len)
        .sum();
    if all == 0 {
        return;
    }
    println!(
        "  files that stand in circles of files, which nothing refuses: {all}; those within a folder:"
    );
    for folder in structure.folders() {
        let files = structure.within(folder);
        for circle in files.circles() {
            let members: Vec<&str> = circle
                .iter()
                .filter_map(|path| path.rsplit('/').next())
                .collect();
            println!(
                "    {folder}: {} files: {}",
                circle.len(),
                members.join(", ")
            );
            println!("      {}", closed(&files.shortest(&circle)));
        }
    }
}

/// A line for each crate.
fn print_totals(crates: &[Structure]) {
    println!(
        "\n                             lines  files  in circles  folders  in circles  shared names"
    );
    for structure in crates {
        let size = |circles: Vec<BTreeSet<&str>>| circles.iter().map(BTreeSet::len).sum::<usize>();
        println!(
            "{:<27} {:>6} {:>6} {:>11} {:>8} {:>11} {:>13}",
            structure.name,
            structure.lines(),
            structure.files.len(),
            size(structure.between_files().circles()),
            structure.folders().len(),
            size(structure.between_folders().circles()),
            structure.shared_names.len(),
        );
    }
}

/// A way around, with its beginning at its end again.
fn closed(way: &[&str]) -> String {
    let ends: Vec<&str> = way.iter().chain(way.first()).copied().collect();
    ends.join(" -> ")
}
