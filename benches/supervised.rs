//! Runs in a child process compared with runs in this process, and the cost of recording the current plugin call.

#![allow(missing_docs, reason = "a benchmark has no callers")]

fn main() {
    #[cfg(unix)]
    supervised::main();
}

#[cfg(unix)]
mod supervised {
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use passdock::model_file;
    use passdock::pipeline::{self, Report, Request, Watch};
    use passdock::supervised::{self, Supervisor, Worker};
    use passdock::{SandboxMode, files, sandbox};
    use passdock_benches::{
        Figure, is_quick, measure, named_main, one_function, registry, report, report_ratio, sized,
    };
    use passdock_crash::{CallKind, Callee};

    /// The argument that makes this program a worker.
    const WORKER: &str = "worker";

    pub(super) fn main() {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if let [word, channel, record] = &words[..]
            && word == WORKER
        {
            let number = |word: &String| word.parse().expect("a number");
            let (worker, (request, staging)) =
                Worker::start::<(Request, Option<PathBuf>)>(number(channel), number(record))
                    .expect("a supervisor's numbers");
            // The plugins are part of this program, so no library is loaded.
            sandbox::allow_read(&request.model);
            staging.iter().for_each(sandbox::allow_write);
            request
                .output
                .iter()
                .for_each(|path| files::declare_output(path));
            sandbox::enter().expect("it isn't required");
            let watch = Watch {
                staging,
                ..worker.watch()
            };
            let finished = pipeline::run_staged(&registry(&[]), &request, None, watch);
            let reply = (&finished.report, &finished.output);
            return worker.respond(&reply).expect("the supervisor is there");
        }
        let dir = tempfile::tempdir().expect("a temporary directory");
        let supervisor = Supervisor {
            program: std::env::current_exe().expect("this program"),
            before: vec![WORKER.into()],
            ..Supervisor::default()
        };
        let without_sandbox = Supervisor {
            sandbox: SandboxMode::Off,
            ..supervisor.clone()
        };
        let run = |supervisor: &Supervisor, request: &Request| {
            let job = |request: Request, staging: Option<PathBuf>| (request, staging);
            let (mut report, output) = supervised::run(supervisor, request, job, Watch::default());
            pipeline::commit(&mut report, output).expect("a place");
            report
        };
        let alone = |request: &Request| run(&supervisor, request);
        let open = |request: &Request| run(&without_sandbox, request);
        let here = |request: &Request| pipeline::run(&registry(&[]), request, Watch::default()).0;
        let request_of = |ops| request(dir.path(), sized(ops));
        let [both, unrestricted, one] = least(&request_of(100), [&alone, &open, &here]);
        let difference = |more: &Figure, less: &Figure| Figure {
            nanos: (more.nanos - less.nanos).max(0.0),
        };
        let what = "a run of 100 ops in a child process and a sandbox, on top of in process";
        report(what, difference(&both, &one), "<= 4 ms");
        let active = alone(&request_of(100)).sandbox.active.len();
        let what = format!("the {active} parts of the sandbox of this system");
        report(&what, difference(&both, &unrestricted), "<= 1.5 ms");
        let [both, one] = least(&request_of(50_000), [&alone, &here]);
        let what = "a run of 50,000 ops in a child process, over in process";
        report_ratio(what, both, one, "<= 1.05 x");

        let calls = if is_quick() { 1 } else { 1_000_000 };
        let callee = Callee::new(CallKind::Definition, "onnx.Relu", None);
        let noted = measure(calls, || {
            for _ in 0..calls {
                std::hint::black_box(std::hint::black_box(&callee).enter()).leave();
            }
        });
        let what = "recording the start and end of a plugin call";
        report(what, noted, "<= 5 ns");
    }

    /// Returns the minimum time of each run, measured alternately, without the time spent waiting for a core.
    fn least<const N: usize>(
        request: &Request,
        runs: [&dyn Fn(&Request) -> Report; N],
    ) -> [Figure; N] {
        let rounds = if is_quick() { 1 } else { 40 };
        let mut nanos = [f64::INFINITY; N];
        for _ in 0..rounds {
            for (run, least) in runs.iter().zip(&mut nanos) {
                let start = Instant::now();
                let report = run(request);
                *least = least.min(start.elapsed().as_nanos() as f64);
                assert!(report.ok, "{:?}", report.diagnostics);
            }
        }
        nanos.map(|nanos| Figure { nanos })
    }

    /// Returns a request that reads a model with `ops` ops, runs a few passes and writes it.
    fn request(dir: &Path, ops: usize) -> Request {
        let model = dir.join(format!("{ops}.onnx"));
        let module = one_function(|module| named_main(module, ops));
        model_file::write(&module, &model, model_file::WriteOptions::default()).expect("a model");
        let passes = ["InferType", "FoldConstant", "DeadCodeElimination"];
        Request {
            passes: passes
                .map(|name| format!("relax.transform.{name}"))
                .to_vec(),
            output: Some(dir.join("out.onnx")),
            model,
            ..Request::default()
        }
    }
}
