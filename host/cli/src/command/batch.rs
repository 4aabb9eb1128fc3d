//! `passdock batch`: runs a pipeline on many models, each in a child process.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use passdock::batch::{
    self, Batch, BatchItem, Fingerprint, Job, ModelResult, WORKER, WorkerCommand,
};
use passdock::pipeline::{self, Print, Request, RequestedInstrument, Watch};
use passdock::{OnPass, PassError, Severity};
use passdock_tools::numerics::VERIFY_OUTPUTS;
use serde_json::json;

use super::worker;
use crate::args::batch::BatchArgs;
use crate::args::process::ProcessArgs;
use crate::progress::Progress;
use crate::{plugins, request, show, watchdog};

/// The file of results in the output directory.
const RESULTS: &str = "results.jsonl";

pub(crate) fn batch(args: BatchArgs) -> anyhow::Result<u8> {
    let items = batch::items(&args.models, &args.output_dir)?;
    let display = BatchDisplay {
        json: args.json,
        quiet: args.quiet,
    };
    let results = args.results.clone();
    let results = results.unwrap_or_else(|| args.output_dir.join(RESULTS));
    let (jobs, rerun_all, process) = (args.jobs, args.no_resume, args.process.clone());
    let to = args.output_dir.clone();
    let request = read_request(args)?;
    // Problems of the pipeline are reported once instead of for each model.
    let registry = plugins::registry();
    let fingerprint = Fingerprint::new(&request, &batch::plugin_files(&registry, &request)?);
    if !display.json && !display.quiet {
        let diagnostics = pipeline::explain(&plugins::registry(), &request)?.diagnostics;
        let warnings = diagnostics
            .iter()
            .filter(|it| it.severity == Severity::Warning);
        warnings.for_each(show::diagnostic);
    }
    make_dirs(&to, &items)?;
    watchdog::set_activity("reading the results");
    let at_once = jobs.map(usize::from);
    let mut batch = Batch::open(items, &fingerprint, &results, at_once, !rerun_all)?;
    watchdog::set_activity("writing the results");
    let mut sum = Sum::default();
    let progress = Progress::start("beginning");
    for result in &batch.done {
        display.result(result, &progress);
        sum.add(result);
    }
    let command = Arc::new(worker_command()?);
    let job = |item: &BatchItem, threads: Option<usize>| Job {
        request: Request {
            model: item.model.clone(),
            output: Some(item.output.clone()),
            replaces_links: true,
            jobs: threads,
            ..request.clone()
        },
        in_process: process.in_process,
        timeout: process.timeout.map(|limit| limit.as_secs_f64()),
        sandbox: process.sandbox,
    };
    let (count, mut done) = (batch.left.len(), 0);
    progress.update(&format!("0 of {count} models"));
    batch.run(&command, &Arc::default(), job, None, &mut |result| {
        done += 1;
        progress.update(&format!("{done} of {count} models, {} failed", sum.failed));
        display.result(&result, &progress);
        sum.add(&result);
    })?;
    drop(progress);
    if !display.json {
        show::print(&sum.render(&results));
    }
    Ok(u8::from(sum.failed > 0))
}

fn read_request(args: BatchArgs) -> Result<Request, PassError> {
    let request = request::from_pass_args(args.pipeline.as_deref(), args.passes)?;
    let verify = RequestedInstrument::by_flag("--verify-outputs", VERIFY_OUTPUTS);
    Ok(Request {
        bind: args.bind,
        instruments: args.verify_outputs.then_some(verify).into_iter().collect(),
        allow_growth: args.allow_growth,
        print: Print {
            to_stderr: true,
            color: false,
        },
        read: args.data.reading(),
        write: args.data.writing(),
        ..request
    })
}

/// Creates the directories of the results.
fn make_dirs(to: &Path, items: &[BatchItem]) -> anyhow::Result<()> {
    let parents = items.iter().filter_map(|item| item.output.parent());
    let dirs: BTreeSet<&Path> = parents.chain([to]).collect();
    dirs.into_iter().try_for_each(show::create_dir)
}

/// Returns the command that starts a worker.
fn worker_command() -> anyhow::Result<WorkerCommand> {
    let program = std::env::current_exe().context("could not find this executable")?;
    Ok(WorkerCommand {
        program: program.into(),
        arguments: vec![WORKER.into()],
        ..WorkerCommand::default()
    })
}

/// Runs jobs from standard input, as described at [`passdock::batch::BatchWorker`].
pub(crate) fn work() -> anyhow::Result<u8> {
    let (send, jobs) = mpsc::channel();
    thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            _ = send.send(line);
        }
        drop(send);
        end();
    });
    for line in jobs {
        let job = serde_json::from_str::<Job>(&line).context("invalid job of a batch")?;
        let mut request = job.request;
        if request.default_dirs.is_empty() {
            // The caller is another program, which can't find the standard directories.
            request.default_dirs = plugins::default_dirs();
            request.program_dir = plugins::program_dir();
        }
        IS_RUNNING.store(true, Ordering::SeqCst);
        let process = ProcessArgs {
            in_process: job.in_process,
            timeout: job.timeout.map(Duration::from_secs_f64),
            sandbox: job.sandbox,
        };
        // The supervisor of a supervised process attributes its crashes.
        let on_pass = |name: &str| show::print(&(json!({ "pass": name }).to_string() + "\n"));
        let watch = Watch {
            on_pass: process.in_process.then(|| Box::new(on_pass) as Box<OnPass>),
            ..Watch::default()
        };
        let (mut report, output) = worker::run(&request, &process, watch);
        // The report has the error.
        _ = pipeline::commit(&mut report, output);
        show::print(&show::json_line(&report));
        IS_RUNNING.store(false, Ordering::SeqCst);
    }
    Ok(0)
}

/// Whether this process runs a model.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Terminates this process if it runs a model, because the parent process has exited.
fn end() {
    if !IS_RUNNING.load(Ordering::SeqCst) {
        return;
    }
    #[cfg(unix)]
    if rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
        .is_ok()
    {
        return;
    }
    std::process::exit(1);
}

/// Options for what is printed for each model.
#[derive(Clone, Copy)]
struct BatchDisplay {
    json: bool,
    quiet: bool,
}

impl BatchDisplay {
    fn result(self, result: &ModelResult, progress: &Progress) {
        if self.json {
            progress.line(&show::json_line(result));
            return;
        }
        if result.ok && (self.quiet || result.up_to_date) {
            return;
        }
        progress.line(&line(result));
        if !result.ok {
            for diagnostic in &result.diagnostics {
                progress.suspended(|| show::diagnostic(diagnostic));
            }
        }
    }
}

/// Renders the result of one model as a line.
fn line(result: &ModelResult) -> String {
    let (model, time) = (&result.model, show::seconds(result.seconds));
    show::line(&match result.ok {
        true => {
            let (before, after) = (result.ops_before, result.ops_after);
            format!("ok      {model}: {before} → {after} ops, {time}")
        }
        false => format!("FAILED  {model}, {time}"),
    })
}

/// Totals over all results.
#[derive(Default)]
struct Sum {
    done: u64,
    before: u64,
    failed: u64,
    ops: (u64, u64),
    bytes: (u64, u64),
}

impl Sum {
    fn add(&mut self, result: &ModelResult) {
        if !result.ok {
            self.failed += 1;
            return;
        }
        self.done += 1;
        self.before += u64::from(result.up_to_date);
        self.ops.0 += result.ops_before as u64;
        self.ops.1 += result.ops_after as u64;
        self.bytes.0 += result.bytes_before.unwrap_or_default();
        self.bytes.1 += result.bytes_after.unwrap_or_default();
    }

    fn render(&self, results: &Path) -> String {
        let mut parts = vec![format!("{} done", show::counted(self.done, "model"))];
        if self.before > 0 {
            parts[0] += &format!(" ({} before)", show::count(self.before));
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", show::count(self.failed)));
        }
        let [before, after] = [self.ops.0, self.ops.1].map(show::count);
        parts.push(format!("{before} → {after} ops"));
        let [before, after] = [self.bytes.0, self.bytes.1].map(show::bytes);
        parts.push(format!("{before} → {after}"));
        let results = results.display().to_string();
        parts.push(format!("results in {}", show::safe(&results)));
        show::wrapped("", &parts, "  ", show::width())
    }
}
