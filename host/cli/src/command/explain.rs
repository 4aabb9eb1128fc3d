//! `passdock explain`: what would run, in what order, why or why not, from which file.

use passdock::config::OptionSource;
use passdock::pipeline::{self, Explained, Explanation};
use passdock::{ErrorKind, PassError};

use super::inspect::value;
use crate::args::ExplainArgs;
use crate::plugins;
use crate::request;
use crate::show::{self, Table};

pub(crate) fn explain(args: ExplainArgs) -> u8 {
    if args.pipeline.is_none() && args.context.passes.is_empty() {
        let message = "There is nothing to explain: give a pipeline (.toml) or --passes A,B,C.";
        return show::fail(&PassError::new(ErrorKind::Usage, message));
    }
    let explained = request::of_passes(args.pipeline.as_deref(), args.context, args.plugins)
        .and_then(|request| pipeline::explain(&plugins::registry(), &request));
    for diagnostic in explained
        .iter()
        .flat_map(|explained| &explained.diagnostics)
    {
        show::diagnostic(diagnostic);
    }
    match explained {
        Ok(explanation) if args.json => show::print_json(&explanation),
        Ok(explanation) if args.dot => show::print(&explanation.to_dot()),
        Ok(explanation) => show::print(&render(&explanation)),
        Err(error) => return show::fail(&error),
    }
    0
}

fn render(explanation: &Explanation) -> String {
    let mut table = Table::new([">", "pass", "runs", "why", "options", "states", "from"]);
    for (at, pass) in explanation.passes.iter().enumerate() {
        table.row(row(at + 1, pass));
    }
    let mut text = table.render_filled();
    let empty = explanation
        .phases
        .iter()
        .filter(|place| place.passes.is_empty());
    for place in empty {
        let phase = place.phase.name();
        text.push_str(&format!(
            "Nothing fills the place for the phase `{phase}`.\n"
        ));
    }
    text + &show::model_needs(&explanation.model_needs)
}

fn row(number: usize, pass: &Explained) -> [String; 7] {
    let indent = "  ".repeat(pass.depth as usize);
    let runs = if pass.runs { "yes" } else { "no" };
    let from = pass
        .file
        .clone()
        .or_else(|| pass.plugin.clone())
        .unwrap_or_default();
    [
        number.to_string(),
        format!("{indent}{}", pass.name),
        runs.to_owned(),
        pass.reason.clone(),
        options(pass),
        show::states([&pass.needs, &pass.establishes, &pass.breaks]).join("; "),
        from,
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
