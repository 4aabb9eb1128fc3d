//! Instruments of plugins, named in a pipeline.

use expect_test::expect;

use crate::support::{Bench, RELUS, Ran, plugin};

const NOTHING: &str = "[[passes]]\nname = 'relax.transform.DeadCodeElimination'\n";

/// What `passdock run` says of a pipeline with a tap of these options. Its plugin lies beside the
/// command, as the standard plugins do.
fn run(options: &str) -> Ran {
    typed("run p.toml in.ir", options)
}

/// What another command says of it.
fn typed(command: &str, options: &str) -> Ran {
    let tap = plugin("passdock_tap").display().to_string();
    let bench = Bench::new();
    let pipeline = format!("[[instruments]]\n{options}\n{NOTHING}");
    bench.write("p.toml", pipeline).write("in.ir", RELUS);
    let mut ran = bench.passdock(command);
    ran.stderr = ran.stderr.replace(&tap, "TAP");
    ran
}

#[test]
fn a_plugin_is_loaded_for_its_instrument() {
    let ran = run("name = 'tap.tap'\nlabel = 'T'");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let said = "T before relax.transform.DeadCodeElimination, level 1, of relax, requires [";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // Entered; and asked, before and after of the pipeline, of the pass, and of the one it requires.
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(shown.contains("T heard 10 things"), "{shown}");
}

#[test]
fn it_may_fail_before_the_model_is_read_or_while_passes_run() {
    for command in ["run p.toml in.ir", "check p.toml", "run p.toml missing.ir"] {
        let ran = typed(command, "name = 'tap.tap'\nfails = 'new'");
        assert_eq!(ran.status, 1);
        expect![[r#"
            error[instrument]: The instrument `tap.tap` of plugin `TAP` can't be made: it is broken.
        "#]]
        .assert_eq(&ran.stderr);
    }
    let ran = run("name = 'tap.tap'\nfails = 'enter'");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr
            .contains("failed in enter_pass_ctx: it is broken."),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_panic_while_it_is_dropped_is_told() {
    let bench = Bench::new();
    let pipeline = format!("[[instruments]]\nname = 'tap.tap'\npanics = 'drop'\n{NOTHING}");
    bench.write("p.toml", pipeline).write("in.ir", RELUS);
    for how in ["", " --in-process"] {
        bench.write("out.ir", "as it was");
        let ran = bench.passdock(&format!("run p.toml in.ir -o out.ir{how}"));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let said = "error[instrument]: The instrument `tap.tap` of plugin `…/libpassdock_tap.so` panicked \
                    in destroy at tests/plugins/tap/src/lib.rs:";
        let stderr = ran.stderr.replace(&bench.plugins(), "…/");
        let line = stderr.lines().find(|line| line.starts_with(said));
        let line = line.unwrap_or_else(|| panic!("{stderr}"));
        assert!(line.ends_with(": this is a bug."), "{line}");
        assert_eq!(bench.read("out.ir"), "as it was");
    }
}

#[test]
fn a_panic_while_an_analysis_is_dropped_is_told() {
    let bench = Bench::new();
    let plugin = plugin("passdock-misbehaving").display().to_string();
    bench.write("in.ir", RELUS);
    let mut said = Vec::new();
    for how in ["", " --in-process", " -o out.ir"] {
        let words = format!("run in.ir --passes bad.transform.KeepBomb --plugin {plugin}{how}");
        let ran = bench.passdock(&words);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(!bench.exists("out.ir"));
        said.push(ran.stderr.replace(&plugin, "BAD"));
    }
    assert!(said[2].starts_with(&said[0]), "{said:?}");
    said.truncate(2);
    said.dedup();
    expect![[r#"
        error[pass-panicked]: An analysis that the pass kept panicked while it was freed, at tests/bad-plugins/misbehaving/src/lib.rs:92:9: it went off.
         |
         = in pass bad.transform.KeepBomb
         = note: it is in `BAD`
    "#]]
    .assert_eq(&said.concat());
}

/// The error of a pass has the module and the instruments, for the reproducer.
#[test]
fn what_panics_while_it_is_dropped_is_told_beside_another_error() {
    let bench = Bench::new();
    let plugin = plugin("passdock-misbehaving").display().to_string();
    let pipeline = "[[instruments]]\nname = 'tap.tap'\npanics = 'drop'\n\
                    [[passes]]\nname = 'bad.transform.KeepBomb'\n\
                    [[passes]]\nname = 'bad.transform.Fail'\n";
    bench.write("p.toml", pipeline).write("in.ir", RELUS);
    for how in ["", " --in-process", " --report page.html", " -o out.ir"] {
        let ran = bench.passdock(&format!("run p.toml in.ir --plugin {plugin}{how}"));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        for said in [
            "error[pass-failed]: This op has an axis that is out of range.",
            "panicked in destroy at tests/plugins/tap/src/lib.rs:",
            "An analysis that the pass kept panicked while it was freed",
        ] {
            assert!(ran.stderr.contains(said), "{how}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_report_has_a_bound() {
    let bench = Bench::new();
    let label = "é".repeat(1 << 20);
    let pipeline = format!("[[instruments]]\nname = 'tap.tap'\nlabel = '{label}'\n{NOTHING}");
    bench.write("p.toml", pipeline).write("in.ir", RELUS);
    let ran = bench.passdock("run p.toml in.ir");
    assert_eq!(ran.status, 0);
    let shown = ran.stdout.lines().find(|line| line.starts_with('é'));
    let (kept, rest) = shown
        .and_then(|line| line.split_once('…'))
        .expect("a report");
    assert_eq!(kept.len(), 1 << 20);
    let left_out = (1 << 20) + " heard 10 things".len();
    assert_eq!(rest, format!(" ({left_out} more bytes are left out)"));
}

#[test]
fn it_may_fail_over_what_it_has_to_show() {
    let bench = Bench::new();
    let pipeline = format!("[[instruments]]\nname = 'tap.tap'\npanics = 'report'\n{NOTHING}");
    bench.write("p.toml", pipeline).write("in.ir", RELUS);
    let ran = bench.passdock("run p.toml in.ir -o out.ir --timing --json");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert_eq!(bench.files(), ["in.ir", "p.toml"]);
    let report = ran.json();
    assert_eq!(report["exit_status"], 1);
    // The others show what they have.
    assert_eq!(report["instruments"][0]["name"], "timing");
    let said = report["diagnostics"].as_array().and_then(|all| all.last());
    let said = said
        .and_then(|last| last["message"].as_str())
        .expect("an error");
    assert!(said.contains("panicked in report at"), "{said}");
}

#[test]
fn it_is_listed_and_inspected_without_loading() {
    let tap = plugin("passdock_tap").display().to_string();
    let bench = Bench::new();
    let ran = bench.run(["inspect", &tap], "");
    let expected = "\ntap.tap (instrument)\n  Tells everything that it hears.\n";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let manifest = bench.run(["inspect", &tap, "--json"], "").json();
    assert_eq!(manifest["instrument"][0]["name"], "tap.tap");
    assert_eq!(manifest["instrument"][0]["options"][0]["name"], "label");

    let list = |what: &str| bench.passdock(&format!("list {what} --json")).json();
    let named = |list: &serde_json::Value, name: &str| {
        let mut items = list.as_array().expect("a list").iter();
        items
            .find(|item| item["name"] == name)
            .cloned()
            .expect("it is listed")
    };
    let instrument = named(&list("instruments")["instruments"], "tap.tap");
    assert_eq!(instrument["plugin"], "tap");
    assert_eq!(named(&list("plugins")["plugins"], "tap")["instruments"], 1);
}
