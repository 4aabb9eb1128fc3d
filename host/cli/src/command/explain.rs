//! `passdock explain`: what would run, in what order, why or why not, from which file.

use passdock::pipeline::{self, Explained, Explanation};
use passdock::{ErrorKind, PassError};

use crate::args::ExplainArgs;
use crate::show::{self, Align, Table};

pub(crate) fn explain(args: ExplainArgs) -> u8 {
    if args.pipeline.is_none() && args.context.passes.is_empty() {
        let message = "There is nothing to explain: give a pipeline (.toml) or --passes A,B,C.";
        return super::fail(&PassError::new(ErrorKind::Pipeline, message));
    }
    let explained = super::request(args.pipeline.as_deref(), args.context, args.plugins)
        .and_then(|request| pipeline::explain(&request));
    match explained {
        Ok(explanation) if args.json => show::print_json(&explanation),
        Ok(explanation) => show::print(&render(&explanation)),
        Err(error) => return super::fail(&error),
    }
    0
}

fn render(explanation: &Explanation) -> String {
    let mut table = Table::new([
        ("", Align::Right),
        ("pass", Align::Left),
        ("runs", Align::Left),
        ("why", Align::Left),
        ("from", Align::Left),
    ]);
    for (at, pass) in explanation.passes.iter().enumerate() {
        table.row(row(at + 1, pass));
    }
    table.render()
}

fn row(number: usize, pass: &Explained) -> [String; 5] {
    let indent = if pass.parent.is_some() { "  " } else { "" };
    let runs = if pass.runs { "yes" } else { "no" };
    let from = pass
        .file
        .clone()
        .or_else(|| pass.plugin.clone())
        .unwrap_or_default();
    let name = format!("{indent}{}", pass.name);
    [
        number.to_string(),
        name,
        runs.to_owned(),
        pass.reason.clone(),
        from,
    ]
}
