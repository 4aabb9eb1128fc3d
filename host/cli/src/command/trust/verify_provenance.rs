//! `passdock verify-provenance`: compares files with a provenance statement.

use passdock::provenance::{self, CheckedFile, FileState, Verification};
use passdock::{ErrorKind, PassError};

use crate::args::trust::VerifyProvenanceArgs;
use crate::show::{self, CommandOutput};

pub(in crate::command) fn verify_provenance(args: &VerifyProvenanceArgs) -> Result<u8, PassError> {
    let mut verification = provenance::verify(&args.file)?;
    if args.allow_missing_inputs {
        let inputs = &mut verification.inputs;
        inputs.retain(|file| file.state != FileState::Missing);
    }
    let files = verification.files();
    let wrong = files.filter(|file| file.state != FileState::Same).count();
    let file = args.file.display();
    let error = (wrong > 0).then(|| {
        let message = match wrong {
            1 => format!("1 file differs from `{file}`"),
            _ => format!("{wrong} files differ from `{file}`"),
        };
        PassError::new(ErrorKind::Provenance, message)
    });
    match args.json {
        true => {
            let status = error.as_ref().map_or(0, PassError::exit_status);
            show::print_json(&CommandOutput::new(status, &verification, error.as_ref()));
        }
        false => show::print(&render(&verification)),
    }
    Ok(error.map_or(0, |error| show::fail(&error)))
}

fn render(verification: &Verification) -> String {
    let lines = verification.files().map(|file| {
        let name = show::safe(&file.name);
        format!("{name}: {}\n", state(file))
    });
    lines.collect()
}

fn state(file: &CheckedFile) -> String {
    let recorded = &file.recorded;
    match (&file.found, &file.error) {
        _ if file.state == FileState::Same => "OK".to_owned(),
        _ if file.state == FileState::Missing => "missing".to_owned(),
        (Some(found), _) => format!("sha256 recorded {recorded}, found {found}"),
        (None, error) => show::safe(error.as_deref().unwrap_or_default()),
    }
}
