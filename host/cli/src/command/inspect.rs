//! `passdock inspect`: shows manifests of plugins without loading the plugins, and the rules in files.

use std::path::Path;

use passdock::plugin::Plugin;
use passdock::{Diagnostic, PassError, pipeline, trust};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::in_full;
use crate::request::is_rules;
use crate::show;

pub(crate) fn inspect(args: InspectArgs) -> u8 {
    let mut status = 0;
    let (mut outputs, mut texts) = (Vec::new(), Vec::new());
    for file in &args.files {
        let contents = Contents::read(file).unwrap_or_else(|error| {
            // The remaining files are still shown.
            status = status.max(error.exit_status());
            Contents {
                json: json!({}),
                text: None,
                diagnostics: vec![error.to_diagnostic()],
            }
        });
        contents.diagnostics.iter().for_each(show::diagnostic);
        let mut output = contents.json;
        output["file"] = json!(file.display().to_string());
        output["diagnostics"] = json!(contents.diagnostics);
        outputs.push(output);
        texts.extend(contents.text);
    }
    match &outputs[..] {
        _ if !args.json => show::print(&texts.join("\n\n")),
        [output] => show::print_json(output),
        plugins => show::print_json(&json!({ "plugins": plugins })),
    }
    status
}

/// The contents of a plugin or a file of rules.
struct Contents {
    json: Value,
    /// `None` if the file isn't usable.
    text: Option<String>,
    /// Warnings about unknown keys, or the reason why the file isn't usable.
    diagnostics: Vec<Diagnostic>,
}

impl Contents {
    fn read(file: &Path) -> Result<Contents, PassError> {
        if !is_rules(file) {
            let plugin = Plugin::open(file)?;
            let mut diagnostics = plugin.unknown_keys();
            let signature = trust::signature_key(file).unwrap_or_else(|error| {
                diagnostics.push(show::as_warning(error));
                None
            });
            let mut json = json!(**plugin.manifest());
            json["signature_key"] = json!(signature);
            return Ok(Contents {
                json,
                text: Some(in_full::plugin(plugin.manifest(), Some(file))),
                diagnostics,
            });
        }
        let (rules, title) = match pipeline::read_rules(file) {
            Ok(read) => {
                let title = format!("{}: pass `{}`", read.name(), read.pass_name());
                (read.rules().to_vec(), title)
            }
            Err(error) => {
                let patterns = pipeline::read_patterns(file);
                let patterns = patterns.map_err(|other| further(error, other))?;
                let file = file.display();
                (patterns, format!("{file}: match-only rules"))
            }
        };
        Ok(Contents {
            json: json!({ "rules": rules.iter().map(in_full::rule).collect::<Vec<_>>() }),
            text: Some(show::line(&title) + "\n" + &in_full::rules_table(&rules)),
            diagnostics: Vec::new(),
        })
    }
}

/// Returns the error at the later position, which is that of the parser that got further.
fn further(a: PassError, b: PassError) -> PassError {
    let position = |error: &PassError| {
        let snippet = error.snippet.as_ref();
        snippet.map(|snippet| (snippet.line, snippet.column))
    };
    if position(&b) > position(&a) { b } else { a }
}
