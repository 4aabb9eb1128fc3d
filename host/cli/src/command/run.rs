//! `passdock run`: a pipeline over a model, and the report of it.

use std::path::Path;

use passdock::model_file::is_standard;
use passdock::pipeline::{AskedInstrument, PipelineReport, Print, Report, Request};
use passdock::{ErrorKind, PassError, PassRecord, PassStatus};

use super::worker;
use crate::args::RunArgs;
use crate::page;
use crate::progress::Progress;
use crate::request;
use crate::show::{self, Table};

pub(crate) fn run(args: RunArgs) -> Result<u8, PassError> {
    let json = args.json;
    let (in_process, timeout) = (args.in_process, args.timeout);
    let page_file = args.report.clone();
    let request = match read_request(args) {
        Ok(request) => request,
        Err(error) => return Ok(fail(&error, json)),
    };
    let progress = Progress::start(&format!("reading {}", request.model.display()));
    let watch = progress.watch(request.print.to_stderr);
    let mut report = worker::run(&request, in_process, timeout, watch);
    drop(progress);
    let written = page::write(page_file.as_deref(), &mut report);
    if let Err(error) = &written {
        report.diagnostics.push(error.to_diagnostic());
        report.exit_status = report.exit_status.max(error.exit_status());
        report.ok = false;
    }
    for diagnostic in &report.diagnostics {
        show::diagnostic(diagnostic);
    }
    if json {
        show::print_json(&report);
    } else {
        let to_stdout = request.output.as_ref().is_some_and(is_standard);
        show::print_beside(&render(&report), to_stdout);
        if let Ok(Some(file)) = written {
            let line = format!("page: {}\n", show::safe(&file.display().to_string()));
            show::print_beside(&line, to_stdout);
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
    let (pipeline, model) = request::inputs(&args.inputs, "run")?;
    let to_stdout = args.output.as_ref().is_some_and(is_standard);
    if args.json && to_stdout {
        return usage("With --json standard output is the report's; give `-o` a file.");
    }
    let to_stderr = args.json || to_stdout;
    let instruments = instruments(&args)?;
    let request = request::of_passes(pipeline.as_deref(), args.passes)?;
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
    let asked = args.instrument.iter();
    let asked = asked.map(|text| AskedInstrument::parse(text));
    let mut asked: Vec<AskedInstrument> = asked.collect::<Result<_, _>>()?;
    let flag = AskedInstrument::by_flag;
    let (before, after) = (&args.print_before, &args.print_after);
    for (passes, name) in [(before, "print-before"), (after, "print-after")] {
        if !passes.is_empty() {
            let print = flag(&format!("--{name}"), name);
            asked.push(print.option("passes", passes.clone()));
        }
    }
    if args.print_changed {
        asked.push(flag("--print-changed", "print-changed"));
    }
    if let Some(dir) = &args.dump_dir {
        asked.push(flag("--dump-dir", "dump").option("dir", text_of("--dump-dir", dir)?));
    }
    if let Some(file) = &args.report {
        let page = flag("--report", passdock_page::NAME);
        asked.push(page.option("file", text_of("--report", file)?));
    }
    match &args.trace {
        Some(file) => {
            let timing = flag("--trace", "timing").option("trace", text_of("--trace", file)?);
            asked.push(timing.option("quiet", !args.timing));
        }
        None if args.timing => asked.push(flag("--timing", "timing")),
        None => {}
    }
    Ok(asked)
}

/// A path as an option of an instrument, which is text.
fn text_of<'p>(flag: &str, path: &'p Path) -> Result<&'p str, PassError> {
    path.to_str().ok_or_else(|| {
        let message = format!("The path of `{flag}` isn't UTF-8: `{}`.", path.display());
        PassError::new(ErrorKind::Usage, message).help("Instruments take their options as text.")
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
        let place = show::written_to(model.output.as_deref());
        text.push_str(&format!(
            "{}: {} → {} ops in {}{}, {}\n",
            show::safe(&model.input),
            model.ops_before,
            model.ops_after,
            show::seconds(report.seconds),
            built_in(&report.pipeline),
            show::safe(&place)
        ));
    }
    text
}

/// The pipeline that ran, if it is no file that the user named.
fn built_in(pipeline: &PipelineReport) -> String {
    match (&pipeline.name, pipeline.opt_level) {
        (Some(name), Some(level)) if pipeline.built_in => format!(" with `{name}` at -O{level}"),
        _ => String::new(),
    }
}

/// The table of what each pass did.
pub(super) fn passes(passes: &[PassRecord]) -> String {
    let mut table = Table::new(["pass", "status", ">time", ">ops", "from"]);
    let mut at = 0;
    while let Some(pass) = passes.get(at) {
        add(&mut table, pass);
        at += 1;
        let (shown, hidden) = recursion(&passes[at - 1..]);
        (at..at + shown).for_each(|at| add(&mut table, &passes[at]));
        at += shown + hidden;
        if hidden > 0 {
            let indent = indent(passes[at - hidden].depth);
            let more = format!("{indent}… {hidden} more, each run by the one above");
            table.row([&more, "FAILED", "", "", ""].map(str::to_owned));
        }
    }
    table.render()
}

/// How many passes follow the first one that failed each in the one before, and then how many more do of which
/// the first runs again what is around it.
fn recursion(passes: &[PassRecord]) -> (usize, usize) {
    let pairs = passes.windows(2);
    let is_inside = |pair: &&[PassRecord]| {
        let both = pair.iter().all(|pass| pass.status == PassStatus::Failed);
        both && pair[1].depth == pair[0].depth + 1
    };
    let inside = pairs.take_while(is_inside).count();
    let is_again = |at: &usize| {
        passes[..*at]
            .iter()
            .any(|pass| pass.name == passes[*at].name)
    };
    match (1..=inside).find(is_again) {
        Some(again) => (again - 1, inside + 1 - again),
        None => (0, 0),
    }
}

/// Adds a pass, and below it the rules that it applied.
fn add(table: &mut Table<5>, pass: &PassRecord) {
    table.row(row(pass));
    if !pass.rewrites.is_empty() {
        table.line(&format!("{}  {}", indent(pass.depth), pass.rewrites));
    }
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth as usize)
}

fn row(pass: &PassRecord) -> [String; 5] {
    let mut name = indent(pass.depth) + &pass.name;
    if let Some(by) = &pass.requested_by {
        // The last part says enough here; `--json` has it whole.
        let by = by.rsplit('.').next().unwrap_or(by);
        name += &format!(" (for {by})");
    }
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
    let from = pass.file.as_ref().or(pass.plugin.as_ref()).cloned();
    let time = show::seconds(pass.seconds);
    [name, status, time, ops, from.unwrap_or_default()]
}
