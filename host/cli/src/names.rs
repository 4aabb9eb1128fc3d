//! Display names of passes: short, counted, and grouped by file.

use std::collections::BTreeMap;

use crate::show;

/// Names of passes without the namespaces of standard plugins. Pipelines accept these names, too.
pub(crate) struct ShortNames<'r>(BTreeMap<&'r str, Option<&'r str>>);

/// The namespaces that may be omitted.
const STANDARD: [&str; 2] = ["relax.transform.", "tir.transform."];

/// Returns the name of a standard plugin's pass without its namespace.
fn without_namespace(name: &str) -> Option<&str> {
    let mut standard = STANDARD.iter();
    standard.find_map(|prefix| name.strip_prefix(prefix))
}

impl<'r> ShortNames<'r> {
    pub(crate) fn new(all: impl Iterator<Item = &'r str>) -> ShortNames<'r> {
        let mut names: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for name in all {
            let Some(short) = without_namespace(name) else {
                continue;
            };
            let full_name = names.entry(short).or_insert(Some(name));
            if *full_name != Some(name) {
                *full_name = None;
            }
        }
        ShortNames(names)
    }

    /// Returns the name for reports: `FoldConstant`, `acme.Tile`.
    pub(crate) fn short(&self, name: &str) -> String {
        match without_namespace(name) {
            Some(short) if self.0.get(short) == Some(&Some(name)) => short.to_owned(),
            Some(_) => name.to_owned(),
            None => name.replacen(".transform.", ".", 1),
        }
    }

    /// Returns the shortest name that pipelines accept.
    pub(crate) fn accepted(&self, name: &str) -> String {
        match without_namespace(name) {
            Some(_) => self.short(name),
            None => name.to_owned(),
        }
    }

    /// Renders the files that provide passes. If there are several, the passes are listed for all but the file with the
    /// most.
    pub(crate) fn files<'p>(
        &self,
        passes: impl Iterator<Item = (Option<&'p str>, &'p str)>,
        width: usize,
    ) -> String {
        let mut files: BTreeMap<&str, Counted> = BTreeMap::new();
        for (file, name) in passes {
            if let Some(file) = file {
                files.entry(file).or_default().add(self.short(name));
            }
        }
        let most = files.values().map(|passes| passes.0.len()).max();
        let with_most = files
            .iter()
            .filter(|(_, passes)| Some(passes.0.len()) == most);
        let unnamed = match with_most.map(|(file, _)| *file).collect::<Vec<_>>()[..] {
            [file] => Some(file),
            _ => None,
        };
        let mut text = String::new();
        for (file, passes) in files {
            let head = format!("from {}", show::safe(file));
            if unnamed == Some(file) {
                text += &format!("{head}\n");
            } else {
                let names: Vec<&String> = passes.0.iter().map(|(name, _)| name).collect();
                text += &show::wrapped(&format!("{head}: "), &names, "  ", width);
            }
        }
        text
    }
}

/// Distinct names with their number of occurrences, ordered by first occurrence.
#[derive(Default)]
pub(crate) struct Counted(Vec<(String, usize)>);

impl Counted {
    pub(crate) fn add(&mut self, name: String) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.0.push((name, 1)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names with their counts, such as `InferType ×6`.
    pub(crate) fn items(&self) -> Vec<String> {
        let item = |(name, count): &(String, usize)| match count {
            1 => name.clone(),
            count => format!("{name} ×{count}"),
        };
        self.0.iter().map(item).collect()
    }
}
