//! `passdock blame`: shows which passes created or changed an op.

use passdock::PassError;
use passdock::model_file::ReadOptions;
use passdock::pipeline::Request;
use passdock_tools::blame::{self, Blame, BlameAction, BlameStep};

use crate::args::model::BlameArgs;
use crate::progress::Progress;
use crate::{op_lines, plugins, request, show};

pub(crate) fn blame(mut args: BlameArgs) -> Result<u8, PassError> {
    let op = args.inputs.pop().unwrap_or_default();
    let (pipeline, model) = request::inputs(&args.inputs, "blame")?;
    let request = Request {
        model,
        jobs: args.jobs,
        read: ReadOptions {
            outside_data: args.allow_outside_data,
        },
        ..request::from_pass_args(pipeline.as_deref(), args.passes)?
    };
    let progress = Progress::start("running the pipeline");
    let module = request.read_model()?;
    let (registry, op) = (plugins::registry(), op.to_string_lossy());
    let blame = blame::blame(&registry, &request, &module, &op)?;
    drop(progress);
    show::print_result(&blame, args.json, |blame| show::print_diff(&render(blame)));
    Ok(0)
}

fn render(blame: &Blame) -> String {
    let op = op_lines::shorten(&blame.op);
    let origin = origin(&blame.nodes);
    let mut text = show::line(&format!("{op} in @{}{origin}", blame.function));
    match (blame.steps.is_empty(), blame.present) {
        (true, true) => text += "no pass created or changed it; it is in the input model\n",
        (true, false) => text += "no pass created, changed or removed it\n",
        _ => {}
    }
    for step in &blame.steps {
        text += &render_step(step);
    }
    text
}

fn render_step(step: &BlameStep) -> String {
    let what = match step.action {
        BlameAction::Created => "created",
        BlameAction::Changed => "changed",
        BlameAction::Removed => "removed",
        BlameAction::Moved => "output moved to another op",
    };
    let mut text = format!("{what} by {}", step.pass);
    if let Some(by) = &step.requested_by {
        text += &format!(", which {by} requires");
    }
    if let Some(rule) = &step.rule {
        text += &format!(", rule {rule}");
    }
    text += &origin(&step.nodes);
    text = format!("\n{}", show::line(&text));
    let (before, after) = op_lines::excerpt(&step.before, &step.after);
    for (sign, lines) in [('-', before), ('+', after)] {
        for line in lines {
            text += &format!("  {sign} {line}\n");
        }
    }
    for producers in &step.producers {
        text += "    The defining op of an operand changed:\n";
        for (sign, line) in [('-', &producers.before), ('+', &producers.after)] {
            text += &format!("    {sign} {}\n", op_lines::shorten(line));
        }
    }
    text
}

/// Renders the origins of an op.
fn origin(nodes: &[String]) -> String {
    match nodes.is_empty() {
        true => String::new(),
        false => format!(", from {}", nodes.join(", ")),
    }
}
