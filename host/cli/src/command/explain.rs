//! `passdock explain`: what would run, in what order, why or why not, from which file.

use passdock::PassError;
use passdock::config::OptionSource;
use passdock::pipeline::{self, Explained, Explanation};

use super::in_full::value;
use crate::args::ExplainArgs;
use crate::show::Table;
use crate::{plugins, request, show};

pub(crate) fn explain(args: ExplainArgs) -> Result<u8, PassError> {
    let request = request::of_passes(args.pipeline.as_deref(), args.passes)?;
    let explanation = pipeline::explain(&plugins::registry(), &request)?;
    explanation.diagnostics.iter().for_each(show::diagnostic);
    if args.json {
        show::print_json(&explanation);
    } else if args.dot {
        show::print(&explanation.to_dot());
    } else {
        show::print(&render(&explanation));
    }
    Ok(0)
}

fn render(explanation: &Explanation) -> String {
    let columns = [">", "pass", "runs", "why", "options", "states", "from"];
    let rows = (1..)
        .zip(&explanation.passes)
        .map(|(number, pass)| row(number, pass));
    let mut text = Table::of(columns, rows).render_filled();
    let phases = explanation.phases.iter();
    for place in phases.filter(|place| place.passes.is_empty()) {
        let phase = place.phase.name();
        text += &format!("Nothing fills the place for the phase `{phase}`.\n");
    }
    text += &show::model_needs(&explanation.model_needs);
    if let (Some(name), true) = (&explanation.pipeline.name, explanation.pipeline.built_in) {
        text += &format!("`passdock list pipelines {name}` prints the pipeline as a file.\n");
    }
    text
}

fn row(number: usize, pass: &Explained) -> [String; 7] {
    let indent = "  ".repeat(pass.depth as usize);
    let runs = if pass.runs { "yes" } else { "no" };
    let from = pass.file.as_ref().or(pass.plugin.as_ref()).cloned();
    [
        number.to_string(),
        format!("{indent}{}", pass.name),
        runs.to_owned(),
        pass.reason.clone(),
        options(pass),
        show::states([&pass.needs, &pass.establishes, &pass.breaks]).join("; "),
        from.unwrap_or_default(),
    ]
}

/// The options that somebody set, and who.
fn options(pass: &Explained) -> String {
    let set = pass.options.iter().filter_map(|option| {
        let from = match option.from {
            OptionSource::Default => return None,
            OptionSource::Config => " (config)",
            OptionSource::Options => "",
        };
        Some(format!("{} = {}{from}", option.name, value(&option.value)))
    });
    set.collect::<Vec<_>>().join(", ")
}
