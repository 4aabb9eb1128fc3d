//! `passdock inspect`: manifests of plugins, without loading the plugins, and what is in files of rules.

use std::path::Path;

use passdock::plugin::{Manifest, Plugin};
use passdock::sdk::rewrite::Rule;
use passdock::{Diagnostic, PassError, RulesFile, pipeline};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::in_full;
use crate::request::is_rules;
use crate::show::{self, TextTable};

/// The answer about one file that `--json` prints.
#[derive(Serialize)]
struct Answer<'m> {
    file: String,
    #[serde(flatten)]
    manifest: Option<&'m Manifest>,
    /// The rules, if it is a file of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<Value>>,
    /// Keys that this host doesn't know, and why the file can't be used.
    diagnostics: Vec<Diagnostic>,
}

/// The answer about several files.
#[derive(Serialize)]
struct Answers<'m> {
    plugins: &'m [Answer<'m>],
}

/// A file, read as what its name says it is.
enum Opened {
    Plugin(Box<Plugin>),
    Rules(RulesFile),
    /// Rules that are only looked for.
    Patterns(Vec<Rule>),
    Unusable(PassError),
}

impl Opened {
    fn of(file: &Path) -> Opened {
        let opened = match is_rules(file) {
            true => pipeline::read_rules(file)
                .map(Opened::Rules)
                .or_else(|error| {
                    let patterns = pipeline::read_patterns(file).map(Opened::Patterns);
                    patterns.map_err(|other| further(error, other))
                }),
            false => Plugin::open(file)
                .map(|plugin| Opened::Plugin(Box::new(plugin)))
                .map_err(PassError::from),
        };
        opened.unwrap_or_else(Opened::Unusable)
    }
}

/// The error that lies further down in a text: the reader came so far.
fn further(a: PassError, b: PassError) -> PassError {
    let place = |error: &PassError| {
        let snippet = error.snippet.as_ref();
        snippet.map(|snippet| (snippet.line, snippet.column))
    };
    if place(&b) > place(&a) { b } else { a }
}

/// The operators that a rule looks for, and those that it makes, each once.
fn operators(rule: &Rule, made: bool) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (node, _) in rule
        .ops()
        .into_iter()
        .filter(|(_, is_made)| *is_made == made)
    {
        for operator in &node.operators {
            if !names.contains(&&*operator.value) {
                names.push(&operator.value);
            }
        }
    }
    names
}

/// A rule, for programs.
pub(super) fn rule(rule: &Rule) -> Value {
    json!({
        "name": rule.name,
        "doc": rule.doc,
        "looks_for": operators(rule, false),
        "makes": operators(rule, true),
    })
}

/// Rules, as a table.
pub(super) fn rules_table(rules: &[Rule]) -> String {
    let rows = rules.iter().map(|rule| {
        let joined = |made| operators(rule, made).join(", ");
        [
            rule.name.clone(),
            joined(false),
            joined(true),
            rule.doc.replace('\n', " "),
        ]
    });
    TextTable::of(["rule", "looks for", "makes", "about"], rows)
        .within(show::columns())
        .render_filled()
}

pub(crate) fn inspect(args: InspectArgs) -> u8 {
    let files = args.files.iter();
    let opened: Vec<_> = files.map(|file| (file, Opened::of(file))).collect();
    let mut status = 0;
    let mut answers = Vec::with_capacity(opened.len());
    let mut texts = Vec::with_capacity(opened.len());
    for (file, opened) in &opened {
        let (mut manifest, mut rules) = (None, None);
        let diagnostics = match opened {
            Opened::Plugin(plugin) => {
                texts.push(in_full::plugin(plugin.manifest(), Some(file)));
                manifest = Some(&**plugin.manifest());
                plugin.unknown_keys()
            }
            Opened::Rules(read) => {
                let (name, pass) = (read.name(), read.pass_name());
                let table = rules_table(read.rules());
                texts.push(format!("{name}: the pass {pass}\n\n{table}"));
                rules = Some(read.rules().iter().map(rule).collect());
                Vec::new()
            }
            Opened::Patterns(patterns) => {
                let table = rules_table(patterns);
                texts.push(format!(
                    "{}: patterns, for passes that look for rules\n\n{table}",
                    file.display()
                ));
                rules = Some(patterns.iter().map(rule).collect());
                Vec::new()
            }
            Opened::Unusable(error) => {
                // The others are shown all the same.
                let error = error.clone();
                status = status.max(error.exit_status());
                vec![error.to_diagnostic()]
            }
        };
        diagnostics.iter().for_each(show::diagnostic);
        answers.push(Answer {
            file: file.display().to_string(),
            manifest,
            rules,
            diagnostics,
        });
    }
    match &answers[..] {
        _ if !args.json => show::print(&texts.join("\n\n")),
        [answer] => show::print_json(answer),
        plugins => show::print_json(&Answers { plugins }),
    }
    status
}
