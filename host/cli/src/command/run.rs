//! `passdock run`: runs a pipeline on a model and prints the report.

use std::path::Path;

use passdock::model_file::is_standard;
use passdock::pipeline::{self, Print, Request, RequestedInstrument};
use passdock::provenance::Provenance;
use passdock::{ErrorKind, PassError, Severity};
use passdock_tools::numerics::VERIFY_OUTPUTS;

use super::worker;
use crate::args::RunArgs;
use crate::page;
use crate::progress::Progress;
use crate::report::{self, Notes, ReportStyle};
use crate::{next_command, plugins, request, show, watchdog};

pub(crate) fn run(args: RunArgs) -> Result<u8, PassError> {
    let json = args.json;
    let how = match (args.quiet, args.notes || args.verbose) {
        (true, _) => Notes::None,
        (_, true) => Notes::All,
        _ => Notes::OneLine,
    };
    let style = ReportStyle {
        in_full: args.verbose,
        width: show::width(),
    };
    let process = args.process.clone();
    let page = page::run_page(args.html_report.clone());
    let next = args.verify_outputs.then(|| next_command::bisect(&args));
    let provenance = args.provenance.clone();
    let request = read_request(args)?;
    watchdog::set_activity("hashing the inputs");
    let provenance = provenance
        .map(|file| Provenance::new(&plugins::registry(), &request, &file))
        .transpose()?;
    let progress = Progress::start(&format!("reading {}", request.model.display()));
    watchdog::set_activity("reading the model");
    let watch = progress.watch(request.print.to_stderr);
    let (mut report, mut output) = worker::run(&request, &process, watch);
    drop(progress);
    if let Some(next) = next {
        next_command::add_help(&mut report.diagnostics, &next);
    }
    watchdog::set_activity("writing the HTML report");
    let page = page.write(&mut report);
    if let Err(error) = &page {
        report.add_error(error);
    }
    if !report.ok {
        report.model.output = None;
    }
    if let Some(provenance) = provenance.filter(|_| report.ok) {
        watchdog::set_activity("writing the provenance");
        // Before the statement, which has the hashes of the final files.
        if pipeline::commit(&mut report, output.take()).is_ok()
            && let Err(error) = provenance.write()
        {
            report.add_error(&error);
        }
    }
    report::diagnostics(&report.diagnostics, how);
    if json {
        show::print_json(&report);
    } else if how != Notes::None {
        let to_stdout = request.output.as_ref().is_some_and(is_standard);
        show::print_summary(&report::render(&report, style), to_stdout);
        if let Ok(Some(file)) = page {
            let line = format!("HTML report: {}", file.display());
            show::print_summary(&show::line(&line), to_stdout);
        }
    }
    // The output is placed last, so that it is untouched if anything else can't be written.
    if let Some(output) = output.filter(|_| report.ok) {
        show::add_output(output);
    }
    Ok(report.exit_status)
}

fn read_request(args: RunArgs) -> Result<Request, PassError> {
    let (pipeline, model) = request::inputs(&args.inputs, "run")?;
    let to_stdout = args.output.as_ref().is_some_and(is_standard);
    request::check_output(args.output.as_deref(), args.json)?;
    let to_stderr = args.json || to_stdout;
    let instruments = instruments(&args)?;
    let request = request::from_pass_args(pipeline.as_deref(), args.passes)?;
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
        shown: args.verbose.then_some(Severity::Debug),
        read: args.data.reading(),
        write: args.data.writing(),
        ..request
    })
}

/// Returns the instruments that flags request, in the order in which they are called.
fn instruments(args: &RunArgs) -> Result<Vec<RequestedInstrument>, PassError> {
    let requested = args.instrument.iter();
    let requested = requested.map(|text| RequestedInstrument::parse(text));
    let mut requested: Vec<RequestedInstrument> = requested.collect::<Result<_, _>>()?;
    let flag = RequestedInstrument::by_flag;
    let (before, after) = (&args.print_before, &args.print_after);
    for (passes, name) in [(before, "print-before"), (after, "print-after")] {
        if !passes.is_empty() {
            let print = flag(&format!("--{name}"), name);
            requested.push(print.option("passes", passes.clone()));
        }
    }
    if args.print_changed {
        requested.push(flag("--print-changed", "print-changed"));
    }
    if let Some(dir) = &args.dump_dir {
        requested.push(flag("--dump-dir", "dump").option("dir", path_text("--dump-dir", dir)?));
    }
    if let Some(file) = &args.html_report {
        let page = flag("--html-report", passdock_tools::page::NAME);
        requested.push(page.option("file", path_text("--html-report", file)?));
    }
    if args.verify_outputs {
        requested.push(flag("--verify-outputs", VERIFY_OUTPUTS));
    }
    match &args.trace {
        Some(file) => {
            let timing = flag("--trace", "timing").option("trace", path_text("--trace", file)?);
            requested.push(timing.option("quiet", !args.timing));
        }
        None if args.timing => requested.push(flag("--timing", "timing")),
        None => {}
    }
    Ok(requested)
}

/// Returns a path as an instrument option, which must be UTF-8.
fn path_text<'p>(flag: &str, path: &'p Path) -> Result<&'p str, PassError> {
    path.to_str().ok_or_else(|| {
        let message = format!("the path of `{flag}` is not UTF-8: `{}`", path.display());
        PassError::new(ErrorKind::Usage, message)
            .help("options of instruments are UTF-8 strings; choose another path")
    })
}
