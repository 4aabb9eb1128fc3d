//! Phases: passes that pipelines don't list, run at their extension points.

use expect_test::{Expect, expect};
use passdock::pipeline::{self, Pipeline};
use passdock::plugin::Phase;
use passdock::{PassDeclaration, PassInfo, Registry};

use crate::common::{Log, info, module, registered};

/// Declares a pass with a phase.
fn in_phase(info: PassInfo, phase: Phase) -> PassDeclaration {
    PassDeclaration {
        phase: Some(phase),
        ..info.into()
    }
}

/// Passes with and without phases.
fn registry(log: &Log) -> Registry {
    let (registry, _) = registered([
        log.pass(in_phase(
            info("x.transform.A").required(["x.transform.Z"]),
            Phase::Late,
        )),
        log.pass(in_phase(info("x.transform.B"), Phase::Late)),
        log.pass(in_phase(info("x.transform.Z"), Phase::Late)),
        log.pass(in_phase(
            info("x.transform.High").opt_level(3),
            Phase::Early,
        )),
        log.pass(info("x.transform.Own")),
        log.pass(
            info("y.transform.First")
                .opt_level(1)
                .required(["y.transform.Next"]),
        ),
        log.pass(info("y.transform.Next").opt_level(1)),
    ]);
    registry
}

/// Compares the explanation of `text`, followed by the passes that run, with the expected ones.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let log = Log::new();
    let registry = registry(&log);
    let resolved = Pipeline::from_toml(text)
        .unwrap()
        .resolve(&registry)
        .unwrap();
    let explained = resolved.explain().unwrap();
    let mut shown = String::new();
    for pass in &explained.passes {
        let runs = if pass.runs { "runs" } else { "doesn't" };
        shown.push_str(&format!("{} {runs}: {}\n", pass.name, pass.reason));
    }
    for point in &explained.phases {
        shown.push_str(&format!("{:?}: {}\n", point.phase, point.passes.join(", ")));
    }
    resolved.run(module()).unwrap();
    shown.push_str(&log.take().join("\n"));
    expected.assert_eq(&shown);
}

#[test]
fn passes_run_at_their_phase() {
    check(
        "[[passes]]\nphase = 'early'\n[[passes]]\nname = 'x.transform.Own'\n[[passes]]\nphase = 'late'\n",
        expect![[r#"
            x.transform.High doesn't: its level 3 exceeds the context's opt_level 2
            x.transform.Own runs: level 0 ≤ opt_level 2
            x.transform.B runs: declares phase `late`, level 0 ≤ opt_level 2
            x.transform.Z runs: declares phase `late`, level 0 ≤ opt_level 2
            x.transform.Z runs: required by `x.transform.A`, if the module changed since its last run
            x.transform.A runs: declares phase `late`, level 0 ≤ opt_level 2
            Early: x.transform.High
            Late: x.transform.B, x.transform.Z, x.transform.A
            run x.transform.Own
            run x.transform.B
            run x.transform.Z
            run x.transform.A"#]],
    );
}

#[test]
fn listed_passes_are_not_added_to_their_phase() {
    check(
        "passes = [{ name = 'inner', passes = ['x.transform.B', { phase = 'late' }] }, 'x.transform.Z']",
        expect![[r#"
            inner runs: level 0 ≤ opt_level 2
            x.transform.B runs: level 0 ≤ opt_level 2
            x.transform.Z runs: required by `x.transform.A`, if the module changed since its last run
            x.transform.A runs: declares phase `late`, level 0 ≤ opt_level 2
            x.transform.Z runs: level 0 ≤ opt_level 2
            x.transform.High doesn't: declares phase `early`, which the pipeline doesn't have
            Late: x.transform.A
            run x.transform.B
            run x.transform.Z
            run x.transform.A
            run x.transform.Z"#]],
    );
}

#[test]
fn phases_may_be_empty_or_missing() {
    check(
        "passes = [{ phase = 'lower' }, 'x.transform.A']",
        expect![[r#"
            x.transform.Z runs: required by `x.transform.A`, if the module changed since its last run
            x.transform.A runs: level 0 ≤ opt_level 2
            x.transform.High doesn't: declares phase `early`, which the pipeline doesn't have
            x.transform.B doesn't: declares phase `late`, which the pipeline doesn't have
            Lower: 
            run x.transform.Z
            run x.transform.A"#]],
    );
}

#[test]
fn context_applies_to_passes_of_phases() {
    check(
        "passes = [{ phase = 'early' }, { phase = 'late' }]\n[context]\nrequired_pass = \
            ['x.transform.High']\ndisabled_pass = ['x.transform.B']",
        expect![[r#"
            x.transform.High runs: declares phase `early`, required by the context
            x.transform.B doesn't: disabled by the context
            x.transform.Z runs: declares phase `late`, level 0 ≤ opt_level 2
            x.transform.Z runs: required by `x.transform.A`, if the module changed since its last run
            x.transform.A runs: declares phase `late`, level 0 ≤ opt_level 2
            Early: x.transform.High
            Late: x.transform.B, x.transform.Z, x.transform.A
            run x.transform.High
            run x.transform.Z
            run x.transform.A"#]],
    );
}

#[test]
fn duplicate_phase_is_rejected() {
    let text = "passes = [{ phase = 'late' }, { name = 'inner', passes = [{ phase = 'late' }] }]";
    let resolved = Pipeline::from_toml(text)
        .unwrap()
        .resolve(&registry(&Log::new()));
    let error = resolved.err().unwrap().to_diagnostic();
    expect![[r#"
        error[pipeline]: duplicate phase `late`
         --> pipeline.toml:1:69
          |
        1 | passes = [{ phase = 'late' }, { name = 'inner', passes = [{ phase = 'late' }] }]
          |                                                                     ^^^^^^ duplicate phase
          |
          = help: remove one of them: its passes would run twice"#]]
    .assert_eq(&error.render(false));
}

#[test]
fn run_warns_about_passes_without_a_phase() {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("m.ir");
    std::fs::write(&model, module().to_string()).unwrap();
    let request = pipeline::Request {
        pipeline: Some(pipeline::PipelineText::from_file(
            "p.toml",
            "passes = [{ phase = 'lower' }, 'x.transform.A']",
        )),
        model,
        ..Default::default()
    };
    let report = pipeline::run(&registry(&Log::new()), &request, Default::default()).0;
    let diagnostics = report.diagnostics.iter().map(|one| one.render(false));
    // `x.transform.Z` runs because another pass requires it.
    expect![["
        warning[unscheduled]: not run, because the pipeline lacks their phase: `x.transform.High` (phase early), \
          `x.transform.B` (phase late)
         |
         = help: list them in `passes`, or add the phase to the pipeline: `{ phase = \"…\" }`
        warning[unknown-operators]: no plugin defines 2 operators of the model (2 ops)
         |
         = help: load the standard plugin `onnx-ops`; without definitions, passes cannot infer types, evaluate ops \
           or erase unused ops; `passdock list plugins` lists the available plugins"]]
    .assert_eq(&diagnostics.collect::<Vec<_>>().join("\n"));
}
