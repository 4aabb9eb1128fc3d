//! `passdock inspect`: shows manifests of plugins without loading the plugins, and the rules in files.

use std::path::Path;

use passdock::plugin::Plugin;
use passdock::sdk::rewrite::Rule;
use passdock::{Diagnostic, PassError, pipeline};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::in_full;
use crate::request::is_rules;
use crate::show::{self, TextTable};

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
            return Ok(Contents {
                json: json!(**plugin.manifest()),
                text: Some(in_full::plugin(plugin.manifest(), Some(file))),
                diagnostics: plugin.unknown_keys(),
            });
        }
        let (rules, title) = match pipeline::read_rules(file) {
            Ok(read) => {
                let title = format!("{}: the pass {}", read.name(), read.pass_name());
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
            json: json!({ "rules": rules.iter().map(rule).collect::<Vec<_>>() }),
            text: Some(format!("{title}\n\n{}", rules_table(&rules))),
            diagnostics: Vec::new(),
        })
    }
}

/// Returns the error at the later position, which is that of the parser that got further.
fn further(a: PassError, b: PassError) -> PassError {
    let is_located = |error: &PassError| {
        let snippet = error.snippet.as_ref();
        snippet.map(|snippet| (snippet.line, snippet.column))
    };
    if is_located(&b) > is_located(&a) {
        b
    } else {
        a
    }
}

/// Returns the distinct operators that a rule matches, or with `made` those that it creates.
fn operators(rule: &Rule, created: bool) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let ops = rule
        .ops()
        .into_iter()
        .filter(|(_, is_created)| *is_created == created);
    for operator in ops.flat_map(|(node, _)| &node.operators) {
        if !names.contains(&&*operator.value) {
            names.push(&operator.value);
        }
    }
    names
}

/// Returns the JSON of a rule.
pub(super) fn rule(rule: &Rule) -> Value {
    json!({
        "name": rule.name,
        "doc": rule.doc,
        "matches": operators(rule, false),
        "creates": operators(rule, true),
    })
}

/// Renders rules as a table.
pub(super) fn rules_table(rules: &[Rule]) -> String {
    let rows = rules.iter().map(|rule| {
        let joined = |created| operators(rule, created).join(", ");
        [
            rule.name.clone(),
            joined(false),
            joined(true),
            rule.doc.replace('\n', " "),
        ]
    });
    TextTable::from_rows(["rule", "matches", "creates", "description"], rows)
        .within(show::columns())
        .render()
}
