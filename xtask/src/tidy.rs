//! The rules of the house that no compiler knows: which crate may depend on
//! which, how files begin and how long they get, what licences come in.

mod arrows;
mod licences;
mod text;

use anyhow::{Result, bail};

use crate::project::Project;

/// Fails with every offence, one a line.
pub(crate) fn tidy(project: &Project) -> Result<()> {
    let mut offences = arrows::offences(&project.metadata)?;
    offences.extend(licences::offences(project)?);
    offences.extend(text::offences(project)?);
    if offences.is_empty() {
        println!("crates, licences and sources keep the rules");
        return Ok(());
    }
    bail!("{} offences\n{}", offences.len(), offences.join("\n"))
}
