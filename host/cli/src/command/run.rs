//! `passdock run`: a pipeline over a model, and the report of it.

use passdock::model_file::is_standard;
use passdock::pipeline::{self, Print, Report, Request};
use passdock::{ErrorKind, PassError, PassRecord, PassStatus, Verify};

use crate::args::{self, RunArgs};
use crate::plugins;
use crate::progress::Progress;
use crate::show::{self, Align, Table};

pub(crate) fn run(args: RunArgs) -> u8 {
    let json = args.json;
    let request = match read_request(args) {
        Ok(request) => request,
        Err(error) => return fail(&error, json),
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
    report.exit_status
}

fn fail(error: &PassError, json: bool) -> u8 {
    let status = super::fail(error);
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
    let (pipeline, model) = super::inputs(&args.inputs, "run", has_passes)?;
    let to_stdout = args.output.as_ref().is_some_and(is_standard);
    if args.json && to_stdout {
        return usage("With --json standard output is the report's; give `-o` a file.");
    }
    let to_stderr = args.json || to_stdout;
    let request = super::request(pipeline.as_deref(), args.context, args.plugins)?;
    Ok(Request {
        model,
        print: Print {
            before: args.print_before,
            after: args.print_after,
            changed: args.print_changed,
            to_stderr,
            color: match to_stderr {
                true => show::error_has_color(),
                false => show::has_color(),
            },
        },
        output: args.output,
        bind: args.bind,
        instruments: args.instrument,
        timing: args.timing,
        trace: args.trace,
        verify: match args.verify {
            args::Verify::Changed => Verify::Changed,
            args::Verify::All => Verify::All,
            args::Verify::Off => Verify::Off,
        },
        dump_dir: args.dump_dir,
        allow_growth: args.allow_growth,
        reproducer_dir: args.reproducer_dir,
        self_contained: args.self_contained,
        jobs: args.jobs,
        drop_spans: args.data.drop_spans,
        external_data: args.data.writing().external_data,
        outside_data: args.data.allow_outside_data,
        ..request
    })
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

/// What each pass did, as a table.
pub(super) fn passes(passes: &[PassRecord]) -> String {
    let mut table = Table::new([
        ("pass", Align::Left),
        ("status", Align::Left),
        ("time", Align::Right),
        ("ops", Align::Right),
        ("from", Align::Left),
    ]);
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
        PassStatus::Changed => "changed",
        PassStatus::Unchanged => "unchanged",
        PassStatus::Skipped => "skipped",
        PassStatus::Failed => "FAILED",
    };
    // Why a pass failed is a diagnostic, and isn't said twice.
    let status = match pass.status {
        PassStatus::Skipped if !pass.reason.is_empty() => format!("{status}: {}", pass.reason),
        _ => status.to_owned(),
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
