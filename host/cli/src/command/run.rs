//! `passdock run`: a pipeline over a model, and the report of it.

use passdock::model_file::is_standard;
use passdock::pipeline::{self, AskedInstrument, Print, Report, Request};
use passdock::{ErrorKind, PassError, PassRecord, PassStatus};

use crate::args::RunArgs;
use crate::plugins;
use crate::progress::Progress;
use crate::request;
use crate::show::{self, Table};

pub(crate) fn run(args: RunArgs) -> Result<u8, PassError> {
    let json = args.json;
    let request = match read_request(args) {
        Ok(request) => request,
        Err(error) => return Ok(fail(&error, json)),
    };
    let progress = Progress::start(&format!("reading {}", request.model.display()));
    let report = pipeline::run(
        &plugins::registry(),
        &request,
        progress.watch(request.print.to_stderr),
    );
    drop(progress);
    for diagnostic in &report.diagnostics {
        show::diagnostic(diagnostic);
    }
    if json {
        show::print_json(&report);
    } else {
        let text = render(&report);
        // With the model on standard output, people read the report on standard error.
        match request.output.as_ref().is_some_and(is_standard) {
            true => show::print_error(&text),
            false => show::print(&text),
        }
    }
    Ok(report.exit_status)
}

fn fail(error: &PassError, json: bool) -> u8 {
    let status = show::fail(error);
    if json {
        show::print_json(&Report {
            exit_status: status,
            diagnostics: vec![error.to_diagnostic()],
            ..Report::default()
        });
    }
    status
}

fn read_request(args: RunArgs) -> Result<Request, PassError> {
    let usage = |message: &str| Err(PassError::new(ErrorKind::Usage, message));
    let has_passes = !args.context.passes.is_empty() || !args.bind.is_empty();
    let (pipeline, model) = request::inputs(&args.inputs, "run", has_passes)?;
    let to_stdout = args.output.as_ref().is_some_and(is_standard);
    if args.json && to_stdout {
        return usage("With --json standard output is the report's; give `-o` a file.");
    }
    let to_stderr = args.json || to_stdout;
    let instruments = instruments(&args)?;
    let request = request::of_passes(pipeline.as_deref(), args.context, args.plugins)?;
    Ok(Request {
        instruments,
        model,
        print: Print {
            to_stderr,
            color: match to_stderr {
                true => show::error_has_color(),
                false => show::has_color(),
            },
        },
        output: args.output,
        bind: args.bind,
        verify: args.verify,
        allow_growth: args.allow_growth,
        reproducer_dir: args.reproducer_dir,
        self_contained: args.self_contained,
        jobs: args.jobs,
        drop_spans: args.data.drop_spans,
        external_data: args.data.external_data,
        outside_data: args.data.allow_outside_data,
        ..request
    })
}

/// The instruments that flags ask for, in the order in which they are called.
fn instruments(args: &RunArgs) -> Result<Vec<AskedInstrument>, PassError> {
    let asked = args
        .instrument
        .iter()
        .map(|text| AskedInstrument::parse(text));
    let mut asked: Vec<AskedInstrument> = asked.collect::<Result<_, _>>()?;
    let flag = AskedInstrument::by_flag;
    if !args.print_before.is_empty() {
        let print = flag("--print-before", "print-before");
        asked.push(print.option("passes", args.print_before.clone()));
    }
    if !args.print_after.is_empty() {
        let print = flag("--print-after", "print-after");
        asked.push(print.option("passes", args.print_after.clone()));
    }
    if args.print_changed {
        asked.push(flag("--print-changed", "print-changed"));
    }
    if let Some(dir) = &args.dump_dir {
        asked.push(flag("--dump-dir", "dump").option("dir", dir.as_str()));
    }
    match &args.trace {
        Some(file) => {
            let timing = flag("--trace", "timing").option("trace", file.as_str());
            asked.push(timing.option("quiet", !args.timing));
        }
        None if args.timing => asked.push(flag("--timing", "timing")),
        None => {}
    }
    Ok(asked)
}

/// The report as people read it.
fn render(report: &Report) -> String {
    let mut text = passes(&report.passes);
    for instrument in &report.instruments {
        // A plugin's text may end with a line that isn't ended.
        let report = instrument.text.trim_end();
        text.push_str(&format!("\n{}:\n{report}\n", instrument.name));
    }
    if report.ok {
        let model = &report.model;
        let place = match &model.output {
            Some(path) if path == "-" => "written to standard output".to_owned(),
            Some(path) => format!("written to {path}"),
            None => "not written (no -o)".to_owned(),
        };
        text.push_str(&format!(
            "{}: {} → {} ops in {}, {}\n",
            show::safe(&model.input),
            model.ops_before,
            model.ops_after,
            show::seconds(report.seconds),
            show::safe(&place)
        ));
    }
    text
}

/// The table of what each pass did.
pub(super) fn passes(passes: &[PassRecord]) -> String {
    let mut table = Table::new(["pass", "status", ">time", ">ops", "from"]);
    for pass in passes {
        table.row(row(pass));
    }
    table.render()
}

fn row(pass: &PassRecord) -> [String; 5] {
    let indent = if pass.parent.is_some() { "  " } else { "" };
    let name = match &pass.requested_by {
        // The last part says enough here; `--json` has it whole.
        Some(by) => {
            let by = by.rsplit('.').next().unwrap_or(by);
            format!("{indent}{} (for {by})", pass.name)
        }
        None => format!("{indent}{}", pass.name),
    };
    let status = match pass.status {
        PassStatus::Changed => "changed".to_owned(),
        PassStatus::Unchanged => "unchanged".to_owned(),
        PassStatus::Skipped if pass.reason.is_empty() => "skipped".to_owned(),
        PassStatus::Skipped => format!("skipped: {}", pass.reason),
        // Why is a diagnostic, and isn't said twice.
        PassStatus::Failed => "FAILED".to_owned(),
    };
    let ops = match pass.status {
        PassStatus::Changed => format!("{} → {}", pass.ops_before, pass.ops_after),
        PassStatus::Unchanged => pass.ops_after.to_string(),
        PassStatus::Skipped | PassStatus::Failed => String::new(),
    };
    let from = pass
        .file
        .clone()
        .or_else(|| pass.plugin.clone())
        .unwrap_or_default();
    [name, status, show::seconds(pass.seconds), ops, from]
}
