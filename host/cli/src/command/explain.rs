//! `passdock explain`: shows which passes would run, in which order, and why.

use passdock::PassError;
use passdock::config::{OptionSource, toml_text};
use passdock::diagnostic::suggest;
use passdock::pipeline::{self, Explained, Explanation};

use crate::args::ExplainArgs;
use crate::names::ShortNames;
use crate::show::TextTable;
use crate::{plugins, request, show};

pub(crate) fn explain(args: ExplainArgs) -> Result<u8, PassError> {
    let request = request::from_pass_args(args.pipeline.as_deref(), args.passes)?;
    let explanation = pipeline::explain(&plugins::registry(), &request)?;
    explanation.diagnostics.iter().for_each(show::diagnostic);
    if args.json {
        show::print_json(&explanation);
    } else {
        show::print(&render(&explanation));
    }
    Ok(0)
}

fn render(explanation: &Explanation) -> String {
    let passes = &explanation.passes;
    let required = passes
        .iter()
        .filter_map(|pass| pass.requested_by.as_deref());
    let names = ShortNames::new(passes.iter().map(|pass| &*pass.name).chain(required));
    let columns = [">", "pass", "runs", "why", "options"];
    let rows = (1..)
        .zip(passes)
        .map(|(number, pass)| row(number, pass, &names));
    let table = TextTable::from_rows(columns, rows).within(show::columns());
    let provided = passes.iter().map(|pass| {
        let file = pass.file.as_deref().or(pass.plugin.as_deref());
        (file, &*pass.name)
    });
    let mut text = table.render() + &names.files(provided, show::width());
    let phases = explanation.phases.iter();
    let empty = phases.filter(|phase| phase.passes.is_empty());
    let empty: Vec<&str> = empty.map(|phase| phase.phase.name()).collect();
    if !empty.is_empty() {
        text += &format!("no pass declares phase {}\n", suggest::listed(empty));
    }
    if let (Some(name), true) = (&explanation.pipeline.name, explanation.pipeline.built_in) {
        text += &format!("`passdock list pipelines {name}` prints the pipeline as a file.\n");
    }
    text
}

fn row(number: usize, pass: &Explained, names: &ShortNames<'_>) -> [String; 5] {
    let mut name = "  ".repeat(pass.depth as usize) + &names.short(&pass.name);
    let mut why = pass.reason.clone();
    if let Some(by) = &pass.requested_by {
        name += &format!(" (required by {})", names.short(by));
        if pass.runs {
            "if the module changed since it last ran".clone_into(&mut why);
        }
    }
    [
        number.to_string(),
        name,
        if pass.runs { "yes" } else { "no" }.to_owned(),
        why,
        options(pass),
    ]
}

/// Renders the options that aren't defaults, with their source.
fn options(pass: &Explained) -> String {
    let set = pass.options.iter().filter_map(|option| {
        let source = match option.source {
            OptionSource::Default => return None,
            OptionSource::Config => " (config)",
            OptionSource::Options => "",
        };
        Some(format!(
            "{} = {}{source}",
            option.name,
            toml_text(&option.value)
        ))
    });
    set.collect::<Vec<_>>().join(", ")
}
