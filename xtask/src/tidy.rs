//! The rules of the house that no compiler knows: which crate may depend on which, how the folders
//! of a crate use each other and how large they get, how files begin, what licences come in.

mod arrows;
mod folders;
mod licences;
mod names;
mod orphans;
mod sizes;
mod tables;
mod text;
mod untested;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::structure;

/// Fails with every offence, one a line.
pub(crate) fn tidy(project: &Project) -> Result<()> {
    let page =
        fs::read_to_string(project.root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let crates = structure::of_workspace(&project.root, &project.metadata)?;
    let mut offences = arrows::offences(&project.metadata, &page)?;
    offences.extend(folders::offences(&crates, &page)?);
    offences.extend(sizes::offences(&crates, &page)?);
    offences.extend(names::offences(&crates));
    offences.extend(orphans::offences(&project.root, &crates)?);
    offences.extend(untested::offences(
        &project.root,
        &project.metadata,
        &crates,
    )?);
    offences.extend(licences::offences(project)?);
    offences.extend(text::offences(project)?);
    if offences.is_empty() {
        println!("crates, folders, licences and sources keep the rules");
        return Ok(());
    }
    bail!("{} offences\n{}", offences.len(), offences.join("\n"))
}
