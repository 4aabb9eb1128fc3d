//! `passdock inspect`: manifests of plugins, without loading the plugins.

use passdock::plugin::{Manifest, Plugin};
use passdock::{Diagnostic, PassError};
use serde::Serialize;

use super::in_full;
use crate::args::InspectArgs;
use crate::show;

/// The answer about one file that `--json` prints.
#[derive(Serialize)]
struct Answer<'m> {
    file: String,
    #[serde(flatten)]
    manifest: Option<&'m Manifest>,
    /// Keys that this host doesn't know, and why the file can't be used.
    diagnostics: Vec<Diagnostic>,
}

/// The answer about several files.
#[derive(Serialize)]
struct Answers<'m> {
    plugins: &'m [Answer<'m>],
}

pub(crate) fn inspect(args: InspectArgs) -> Result<u8, PassError> {
    let files = args.files.iter();
    let opened: Vec<_> = files.map(|file| (file, Plugin::open(file))).collect();
    let mut status = 0;
    let mut answers = Vec::with_capacity(opened.len());
    let mut texts = Vec::with_capacity(opened.len());
    for (file, plugin) in &opened {
        let (manifest, diagnostics) = match plugin {
            Ok(plugin) => (Some(&**plugin.manifest()), plugin.unknown_keys()),
            Err(error) => {
                // The others are shown all the same.
                let error = PassError::from(error.clone());
                status = status.max(error.exit_status());
                (None, vec![error.to_diagnostic()])
            }
        };
        diagnostics.iter().for_each(show::diagnostic);
        texts.extend(manifest.map(|manifest| in_full::plugin(manifest, Some(file))));
        answers.push(Answer {
            file: file.display().to_string(),
            manifest,
            diagnostics,
        });
    }
    match &answers[..] {
        _ if !args.json => show::print(&texts.join("\n\n")),
        [answer] => show::print_json(answer),
        plugins => show::print_json(&Answers { plugins }),
    }
    Ok(status)
}
