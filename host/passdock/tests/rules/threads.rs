//! Several threads of a program running concurrently.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use expect_test::expect;
use passdock::instruments::{Bisect, DumpIr, OpCount, PrintChanged, Sink};
use passdock::{InstrumentSetup, PassContext, Registry, create_function_pass, create_host_pass};
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{PassContext as Cx, plugin};

use crate::common::{Log, info, module};

/// Long enough for another thread to enter, if it is allowed to.
const MEANWHILE: Duration = Duration::from_millis(100);

/// Two plugins, each with a pass that runs a pass of the other one.
mod ping {
    use super::*;

    fn outer(m: &mut Module, cx: &Cx) -> PassResult {
        thread::sleep(MEANWHILE);
        m.run_pass(cx, "pong.transform.Inner")
    }

    fn inner(_: &mut Module, _: &Cx) -> PassResult {
        Ok(())
    }

    plugin! {
        name: "ping",
        passes: [
            /// Runs a pass of pong.
            module "ping.transform.Outer" => outer,
            /// Does nothing.
            module "ping.transform.Inner" => inner,
        ],
    }
}

mod pong {
    use super::*;

    fn outer(m: &mut Module, cx: &Cx) -> PassResult {
        thread::sleep(MEANWHILE);
        m.run_pass(cx, "ping.transform.Inner")
    }

    fn inner(_: &mut Module, _: &Cx) -> PassResult {
        Ok(())
    }

    plugin! {
        name: "pong",
        passes: [
            /// Runs a pass of ping.
            module "pong.transform.Outer" => outer,
            /// Does nothing.
            module "pong.transform.Inner" => inner,
        ],
    }
}

#[test]
fn mutually_calling_plugins_do_not_deadlock() {
    let registry = Registry::new();
    registry.load_static(ping::PLUGIN).unwrap();
    registry.load_static(pong::PLUGIN).unwrap();
    let (done, all) = channel();
    for name in ["ping.transform.Outer", "pong.transform.Outer"] {
        let (registry, done) = (registry.clone(), done.clone());
        thread::spawn(move || {
            let cx = PassContext::builder().registry(&registry).build().unwrap();
            let result = registry.get_pass(name).unwrap().call_in(module(), &cx);
            done.send(result.is_ok()).unwrap();
        });
    }
    for _ in 0..2 {
        let result = all.recv_timeout(Duration::from_secs(20));
        assert_eq!(result, Ok(true), "deadlock");
    }
}

mod wide {
    use super::*;

    fn outer(m: &mut Module, cx: &Cx) -> PassResult {
        m.run_pass(cx, "own.transform.OnAllCores")
    }

    plugin! {
        name: "wide",
        passes: [
            /// Runs a pass of the program.
            module "wide.transform.Outer" => outer,
        ],
    }
}

/// A pass that isn't thread-safe runs one on all cores, which runs another one that isn't thread-safe.
#[test]
fn parallel_pass_inside_serial_pass_does_not_deadlock() {
    let registry = Registry::new();
    registry.load_static(ping::PLUGIN).unwrap();
    registry.load_static(wide::PLUGIN).unwrap();
    let inner = registry.clone();
    let work = create_function_pass(info("own.transform.OnAllCores"), move |_, _| {
        let cx = PassContext::builder().registry(&inner).build().unwrap();
        let pass = inner.get_pass("ping.transform.Inner").unwrap();
        pass.call_in(module(), &cx)
            .map(drop)
            .map_err(|error| error.to_string())?;
        Ok(())
    });
    registry.register(work).unwrap();
    let ops = "    %0 = onnx.Relu(%x) : f32[4]\n".to_owned()
        + &(1..5000)
            .map(|at| format!("    %{at} = onnx.Relu(%{}) : f32[4]\n", at - 1))
            .collect::<String>();
    let function = |name: usize| {
        format!("  fn @f{name}(%x: f32[4]) -> (%y: f32[4]) {{\n{ops}    return %4999\n  }}\n")
    };
    let functions: String = (0..8).map(function).collect();
    let large = passdock_ir::text::parse(&format!("module {{\n{functions}}}\n")).unwrap();
    let (done, all) = channel();
    thread::spawn(move || {
        let context = PassContext::builder().registry(&registry).jobs(4);
        let outer = registry.get_pass("wide.transform.Outer").unwrap();
        let result = outer.call_in(large, &context.build().unwrap());
        done.send(result.map(drop).map_err(|error| error.to_string()))
            .unwrap();
    });
    let result = all.recv_timeout(Duration::from_secs(20));
    assert_eq!(result, Ok(Ok(())), "deadlock");
}

/// The number of counters created.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// An instrument whose creation takes a while.
struct Counter;

impl Instrument for Counter {
    fn new(_: &Cx) -> Result<Self, PassError> {
        CREATED.fetch_add(1, Ordering::Relaxed);
        thread::sleep(MEANWHILE);
        Ok(Counter)
    }
}

mod counts {
    use super::*;

    plugin! {
        name: "counts",
        instruments: [
            /// Counts its instances.
            "counts.made" => Counter,
        ],
    }
}

#[test]
fn threads_share_one_instrument_instance() {
    let registry = Registry::new();
    registry.load_static(counts::PLUGIN).unwrap();
    let setup = InstrumentSetup::new(&registry);
    let counter = registry.get_instrument("counts.made", &toml::Table::new(), &setup);
    let context = PassContext::builder().registry(&registry);
    let cx = context.shared_instrument(counter.unwrap()).build().unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| cx.scope(|_| Ok::<(), passdock::PassError>(())).unwrap());
        }
    });
    assert_eq!(CREATED.load(Ordering::Relaxed), 1);
}

#[test]
fn instruments_keep_state_when_context_is_reentered() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::new();
    let lines = log.clone();
    let sink: Sink = Arc::new(move |text: &str| lines.add(text.trim_end()));
    let cx = PassContext::builder()
        .instrument(DumpIr::new(dir.path()).refresh())
        .instrument(Bisect::new(2, sink.clone()))
        .instrument(PrintChanged::new(sink))
        .instrument(OpCount::new())
        .build()
        .unwrap();
    let again = cx.clone();
    let enters = create_host_pass(info("enters"), move |module, _| {
        let mut after = module.clone();
        after.set_metadata(vec![("key".to_owned(), "value".to_owned())]);
        again.scope(|_| Ok(after))
    });
    let passes = [log.pass(info("a")), enters, log.pass(info("b"))];
    cx.scope(|cx| {
        let mut module = module();
        for pass in &passes {
            module = pass.call(module)?;
        }
        for report in cx.instrument_reports() {
            log.add(report?.text);
        }
        Ok::<(), passdock::PassError>(())
    })
    .unwrap();
    let files = std::fs::read_dir(dir.path()).unwrap().flatten();
    let mut files: Vec<_> = files.map(|file| file.file_name()).collect();
    files.sort();
    log.add(format!("{files:?}"));
    log.check(expect![[r#"
        BISECT: running pass (1) a
        run a
        BISECT: running pass (2) enters
        Changed by enters:
        --- module
        +++ module
        @@ -0,0 +1 @@
        +metadata "key" = "value"
        BISECT: NOT running pass (3) b
        pass    runs  ops
        a          1  none
        enters     1  none
        all           none

        ["000_a.ir", "001_enters.ir"]"#]]);
}
