//! What a plugin changed of what belongs to the whole process.

use crate::CallKind;
#[cfg(not(unix))]
use crate::Callee;

/// A change of what belongs to the whole process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessChange {
    /// What was changed.
    pub what: String,
    /// Whether it was put back.
    pub put_back: bool,
    /// The kind of what had run.
    pub kind: CallKind,
    /// Its name.
    pub name: String,
    /// The plugin's file.
    pub plugin: Option<String>,
}

/// The changes in a sentence, and a line about each; `None`: there are none.
pub fn sentence(changes: &[ProcessChange]) -> Option<(String, Vec<String>)> {
    let first = changes.first()?;
    let is_same =
        |change: &&ProcessChange| (change.kind, &change.name) == (first.kind, &first.name);
    let who = match changes.iter().all(|change| is_same(&change)) {
        true => format!("The {} `{}`", first.kind.name(), first.name),
        false => "Plugins".to_owned(),
    };
    let line = |change: &ProcessChange| {
        let by = format!("{} `{}`", change.kind.name(), change.name);
        let plugin = change.plugin.iter().map(|file| format!(" of `{file}`"));
        let back = if change.put_back { ", put back" } else { "" };
        format!("{}{back}: {by}{}", change.what, plugin.collect::<String>())
    };
    let message = format!("{who} changed what belongs to the whole process.");
    Some((message, changes.iter().map(line).collect()))
}

/// Nothing is looked after here.
#[cfg(not(unix))]
pub fn changes() -> Vec<ProcessChange> {
    Vec::new()
}

/// Nothing is looked after here.
#[cfg(not(unix))]
pub(crate) fn returned(_: &Callee<'_>) {}
