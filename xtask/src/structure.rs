//! The structure of a crate: its files, the folders they lie in, and the arrows between them.
//!
//! An arrow is a path in code that leads to another file: in a `use`, inline, in a macro's tokens. A
//! re-export is seen through: the arrow leads to the file that defines the item. Tests are no part
//! of the structure, nor is a `mod x;`.
//!
//! A file's folder is its directory below `src`; `foo.rs` beside modules in `foo/` belongs to
//! `foo`, as `foo/mod.rs` would. The folder of `src` itself is called `src`. A sub-folder is a
//! folder of its own.

mod arrows;
mod cuts;
mod graph;
mod made;
mod mentions;
mod modules;
mod names;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

pub(crate) use graph::Graph;
pub(crate) use names::SharedName;

/// The structure of one crate.
pub(crate) struct Structure {
    /// The package's name.
    pub(crate) name: String,
    /// The crate's directory in the workspace: `host/core`.
    pub(crate) directory: String,
    /// All files that hold code other than tests.
    pub(crate) files: Vec<File>,
    /// One arrow for each path in code that leads to another file.
    pub(crate) arrows: Vec<Arrow>,
    /// Names that stand for several types outside their folders.
    pub(crate) shared_names: Vec<SharedName>,
    /// Types that are seen outside their folder: their names, and where they are defined.
    pub(crate) seen_types: BTreeMap<String, BTreeSet<String>>,
}

/// A source file.
pub(crate) struct File {
    /// The file's path in the workspace.
    pub(crate) path: String,
    /// The folder it belongs to, below `src`.
    pub(crate) folder: String,
    /// Lines without those of tests.
    pub(crate) lines: usize,
    /// Whether it's a `lib.rs`, a `main.rs` or another root of a target.
    pub(crate) is_root: bool,
}

/// A path in the code of one file that leads to another.
pub(crate) struct Arrow {
    /// Index of the file the path stands in.
    pub(crate) from: usize,
    /// Index of the file that defines what is named.
    pub(crate) to: usize,
    /// The path's line.
    pub(crate) line: usize,
    /// The path, as written.
    pub(crate) path: String,
    /// Whether the path is that of a re-export.
    pub(crate) is_reexport: bool,
}

impl Structure {
    /// Reads the crate in a directory of the workspace, whose targets begin at `roots`. Its binaries
    /// use its library by the name `library`.
    fn read(
        workspace: &Path,
        name: &str,
        directory: &str,
        library: &str,
        roots: &[PathBuf],
    ) -> Result<Self> {
        let modules = modules::read(workspace, directory, library, roots)?;
        let seen = names::seen_types(&modules);
        Ok(Structure {
            name: name.to_owned(),
            directory: directory.to_owned(),
            arrows: arrows::arrows(&modules),
            shared_names: names::shared(&seen),
            seen_types: seen,
            files: modules.files,
        })
    }

    /// All folders, in alphabetical order.
    pub(crate) fn folders(&self) -> BTreeSet<&str> {
        self.files.iter().map(|file| file.folder.as_str()).collect()
    }

    /// Lines without tests, of all files.
    pub(crate) fn lines(&self) -> usize {
        self.files.iter().map(|file| file.lines).sum()
    }

    /// The arrows between folders. Those of a target's root aren't counted: it puts the crate
    /// together and shows it to the outside.
    pub(crate) fn between_folders(&self) -> Graph<'_> {
        let mut graph = Graph::new(self.folders());
        for arrow in self
            .arrows
            .iter()
            .filter(|arrow| !self.files[arrow.from].is_root)
        {
            let (from, to) = (&self.files[arrow.from], &self.files[arrow.to]);
            graph.add(&from.folder, &to.folder, arrow);
        }
        graph
    }

    /// The arrows between the files of one folder.
    pub(crate) fn within(&self, folder: &str) -> Graph<'_> {
        let here = |file: &&File| file.folder == folder;
        let mut graph = Graph::new(
            self.files
                .iter()
                .filter(here)
                .map(|file| file.path.as_str()),
        );
        self.add_files(&mut graph, |from, to| here(&from) && here(&to));
        graph
    }

    /// The arrows between all files.
    pub(crate) fn between_files(&self) -> Graph<'_> {
        let mut graph = Graph::new(self.files.iter().map(|file| file.path.as_str()));
        self.add_files(&mut graph, |_, _| true);
        graph
    }

    fn add_files<'s>(&'s self, graph: &mut Graph<'s>, counts: impl Fn(&File, &File) -> bool) {
        for arrow in &self.arrows {
            let (from, to) = (&self.files[arrow.from], &self.files[arrow.to]);
            if !from.is_root && counts(from, to) {
                graph.add(&from.path, &to.path, arrow);
            }
        }
    }

    /// An arrow for a reader: where it is and what it names.
    pub(crate) fn shown(&self, arrow: &Arrow) -> String {
        let reexport = if arrow.is_reexport {
            " (re-export)"
        } else {
            ""
        };
        let from = &self.files[arrow.from].path;
        format!("{from}:{} uses `{}`{reexport}", arrow.line, arrow.path)
    }
}

/// The structure of every crate of the workspace that has code in `src`.
pub(crate) fn of_workspace(root: &Path, metadata: &Value) -> Result<Vec<Structure>> {
    let members = metadata["workspace_members"]
        .as_array()
        .context("cargo metadata lists no members")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let mut structures = Vec::new();
    for package in packages
        .iter()
        .filter(|package| members.contains(&package["id"]))
    {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let directory = manifest
            .parent()
            .context("a manifest lies in a directory")?;
        let src = directory.join("src");
        let targets = package["targets"]
            .as_array()
            .context("a package without a list of targets")?;
        let mut roots = Vec::new();
        let mut library = name.replace('-', "_");
        for target in targets {
            let path = PathBuf::from(target["src_path"].as_str().unwrap_or_default());
            if path == src.join("lib.rs") {
                let name = target["name"].as_str().unwrap_or_default();
                library = name.replace('-', "_");
            }
            if path.starts_with(&src) {
                roots.push(path);
            }
        }
        if roots.is_empty() {
            continue;
        }
        let directory = directory
            .strip_prefix(root)
            .context("a member lies outside the workspace")?
            .to_str()
            .context("a directory's name isn't UTF-8")?;
        structures.push(
            Structure::read(root, name, directory, &library, &roots)
                .with_context(|| format!("crate {name}"))?,
        );
    }
    structures.sort_by(|a, b| a.directory.cmp(&b.directory));
    Ok(structures)
}

/// A crate made up for a test: each file's path in `src` and its text.
#[cfg(test)]
pub(crate) fn of_text(files: &[(&str, &str)]) -> Structure {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut roots = Vec::new();
    for (path, text) in files {
        let file = directory.path().join("krate/src").join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("created");
        std::fs::write(&file, text).expect("written");
        if ["lib.rs", "main.rs"].contains(path) {
            roots.push(file);
        }
    }
    Structure::read(directory.path(), "krate", "krate", "krate", &roots).expect("valid Rust")
}
