//! `passdock batch`: many models through one pipeline, each in processes of its own.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use passdock::batch::{self, BatchItem, Fingerprint, ModelOutcome, Outcomes};
use passdock::pipeline::{self, AskedInstrument, ModelReport, Print, Report, Request, Watch};
use passdock::{ErrorKind, PassError, Severity};
use passdock_tools::numerics::VERIFY_OUTPUTS;
use serde::{Deserialize, Serialize};

use super::worker;
use crate::args::batch::BatchArgs;
use crate::args::process::ProcessArgs;
use crate::progress::Progress;
use crate::{child, plugins, request, show, watchdog};

/// The file of outcomes in the directory of results.
const OUTCOMES: &str = "outcomes.jsonl";

/// The word on the command line that makes this program run one model of a batch.
pub(crate) const ONE: &str = "__one";

/// What a process that runs one model is told, on its standard input.
#[derive(Serialize, Deserialize)]
struct One {
    request: Request,
    in_process: bool,
    timeout: Option<f64>,
}

pub(crate) fn batch(args: BatchArgs) -> Result<u8, PassError> {
    let json = args.json;
    run(args).or_else(|error| {
        let status = show::fail(&error);
        if json {
            show::print(&show::failed_line(status, &error));
        }
        Ok(status)
    })
}

fn run(args: BatchArgs) -> Result<u8, PassError> {
    let items = batch::items(&args.models, &args.output_dir)?;
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
    };
    let results = args.results.clone();
    let results = results.unwrap_or_else(|| args.output_dir.join(OUTCOMES));
    let (jobs, again, process) = (args.jobs, args.again, args.process.clone());
    let to = args.output_dir.clone();
    let request = read_request(args)?;
    // What is wrong with the pipeline is told once, and not of each model.
    let registry = plugins::registry();
    let fingerprint = Fingerprint::new(&request, &batch::plugin_files(&registry, &request)?);
    if !shown.json && !shown.quiet {
        let said = pipeline::explain(&plugins::registry(), &request)?.diagnostics;
        let warnings = said.iter().filter(|it| it.severity == Severity::Warning);
        warnings.for_each(show::diagnostic);
    }
    make_dirs(&to, &items)?;
    watchdog::doing("reading the outcomes");
    let mut kept = Outcomes::open(&results)?;
    watchdog::doing("writing the outcomes");
    let (mut left, mut sum) = (Vec::new(), Sum::default());
    let progress = Progress::start("beginning");
    for item in items {
        match kept.done(&item, &fingerprint).filter(|_| !again) {
            Some(outcome) => {
                shown.outcome(&outcome, &progress);
                sum.add(&outcome);
            }
            None => left.push(item),
        }
    }
    let at_once = jobs.map_or_else(cores, usize::from);
    let is_alone = at_once == 1 || left.len() == 1;
    let count = left.len();
    let run_one = |item: &BatchItem| {
        let request = Request {
            model: item.model.clone(),
            output: Some(item.output.clone()),
            replaces_links: true,
            jobs: (!is_alone).then_some(1),
            ..request.clone()
        };
        run_apart(request, &process)
    };
    let mut done = 0;
    progress.say(&format!("0 of {count} models"));
    batch::run(&left, &fingerprint, at_once, run_one, &mut |outcome| {
        kept.add(&outcome)?;
        done += 1;
        progress.say(&format!("{done} of {count} models, {} failed", sum.failed));
        shown.outcome(&outcome, &progress);
        sum.add(&outcome);
        Ok::<_, PassError>(())
    })?;
    drop(progress);
    if !shown.json {
        show::print(&sum.render(&results));
    }
    Ok(u8::from(sum.failed > 0))
}

fn read_request(args: BatchArgs) -> Result<Request, PassError> {
    let request = request::of_passes(args.pipeline.as_deref(), args.passes)?;
    let verify = AskedInstrument::by_flag("--verify-outputs", VERIFY_OUTPUTS);
    Ok(Request {
        bind: args.bind,
        instruments: args.verify_outputs.then_some(verify).into_iter().collect(),
        allow_growth: args.allow_growth,
        print: Print {
            to_stderr: true,
            color: false,
        },
        drop_spans: args.data.drop_spans,
        external_data: args.data.external_data,
        value_info: args.data.value_info,
        outside_data: args.data.allow_outside_data,
        ..request
    })
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Makes the directories that results go to.
fn make_dirs(to: &Path, items: &[BatchItem]) -> Result<(), PassError> {
    let mut dirs: BTreeSet<&Path> = items
        .iter()
        .filter_map(|item| item.output.parent())
        .collect();
    dirs.insert(to);
    dirs.into_iter().try_for_each(|dir| {
        fs::create_dir_all(dir).map_err(|error| {
            let message = format!("The directory `{}` can't be made: {error}.", dir.display());
            PassError::new(ErrorKind::Write, message)
        })
    })
}

/// Runs one model in a process, which may have one of its own for plugins.
fn run_apart(request: Request, process: &ProcessArgs) -> Report {
    let one = One {
        request,
        in_process: process.in_process,
        timeout: process.timeout,
    };
    start(&one).unwrap_or_else(|error| Report {
        exit_status: error.exit_status(),
        diagnostics: vec![error.to_diagnostic()],
        model: ModelReport {
            input: one.request.model.display().to_string(),
            ..ModelReport::default()
        },
        ..Report::default()
    })
}

fn start(one: &One) -> Result<Report, PassError> {
    let failed = |message: String| PassError::new(ErrorKind::Crashed, message);
    let told = serde_json::to_vec(one).map_err(|error| failed(format!("{error}.")))?;
    let program = std::env::current_exe();
    let ended = program.and_then(|program| {
        let mut command = Command::new(program);
        command.arg(ONE).stderr(Stdio::null());
        child::talk(&mut command, &told)
    });
    let ended = ended.map_err(|error| failed(format!("No process can be started: {error}.")))?;
    serde_json::from_slice(&ended.stdout).map_err(|_| {
        failed(format!(
            "The process that ran the model ended without an answer: {}.",
            ended.status
        ))
    })
}

/// Runs the model that standard input tells of; the report goes to standard output.
pub(crate) fn one() -> Result<u8, PassError> {
    let told = serde_json::from_reader::<_, One>(std::io::stdin().lock());
    let one = told.map_err(|error| {
        PassError::new(
            ErrorKind::Usage,
            format!("This isn't a model of a batch: {error}."),
        )
    })?;
    let process = ProcessArgs {
        in_process: one.in_process,
        timeout: one.timeout,
    };
    let (mut report, output) = worker::run(&one.request, &process, Watch::default());
    // The error is in the report.
    _ = pipeline::place(&mut report, output);
    show::print(&show::json(&report));
    Ok(report.exit_status)
}

/// What is shown of each model.
#[derive(Clone, Copy)]
struct Shown {
    json: bool,
    quiet: bool,
}

impl Shown {
    fn outcome(self, outcome: &ModelOutcome, progress: &Progress) {
        if self.json {
            progress.line(&show::json_line(outcome));
            return;
        }
        if outcome.ok && (self.quiet || outcome.done_before) {
            return;
        }
        progress.line(&line(outcome));
        if !outcome.ok {
            for said in &outcome.diagnostics {
                progress.apart(|| show::diagnostic(said));
            }
        }
    }
}

/// One model, on a line.
fn line(outcome: &ModelOutcome) -> String {
    let (model, time) = (show::safe(&outcome.model), show::seconds(outcome.seconds));
    match outcome.ok {
        true => {
            let (before, after) = (outcome.ops_before, outcome.ops_after);
            format!("ok      {model}: {before} → {after} ops, {time}\n")
        }
        false => format!("FAILED  {model}, {time}\n"),
    }
}

/// The outcomes together.
#[derive(Default)]
struct Sum {
    done: u64,
    before: u64,
    failed: u64,
    ops: (u64, u64),
    bytes: (u64, u64),
}

impl Sum {
    fn add(&mut self, outcome: &ModelOutcome) {
        if !outcome.ok {
            self.failed += 1;
            return;
        }
        self.done += 1;
        self.before += u64::from(outcome.done_before);
        self.ops.0 += outcome.ops_before as u64;
        self.ops.1 += outcome.ops_after as u64;
        self.bytes.0 += outcome.bytes_before.unwrap_or_default();
        self.bytes.1 += outcome.bytes_after.unwrap_or_default();
    }

    fn render(&self, results: &Path) -> String {
        let mut parts = vec![format!("{} done", show::count_of(self.done, "model"))];
        if self.before > 0 {
            parts[0] += &format!(" ({} before)", show::count(self.before));
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", show::count(self.failed)));
        }
        parts.push(format!(
            "{} → {} ops",
            show::count(self.ops.0),
            show::count(self.ops.1)
        ));
        parts.push(format!(
            "{} → {}",
            show::bytes(self.bytes.0),
            show::bytes(self.bytes.1)
        ));
        let results = results.display().to_string();
        parts.push(format!("outcomes in {}", show::safe(&results)));
        show::wrapped("", &parts, "  ", show::width())
    }
}
