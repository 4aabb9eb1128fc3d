//! Instruments of the command line: what they show, and where.

use expect_test::expect;

use crate::support::{Bench, RELUS};

#[test]
fn any_instrument_can_be_asked_for() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let words = [
        "run",
        "m.ir",
        "--passes",
        "relax.transform.DeadCodeElimination",
        "--instrument",
        "bisect={limit=0}",
        "--instrument",
        "op-count",
        "--trace",
        "t.json",
    ];
    let ran = bench.run(words, "");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let bisect: String = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("BISECT"))
        .flat_map(|line| [line, "\n"])
        .collect();
    expect![[r#"
        BISECT: NOT running pass (1) relax.transform.InferType
        BISECT: NOT running pass (2) relax.transform.DeadCodeElimination
    "#]]
    .assert_eq(&bisect);
    let counts = ran.stdout.split("op-count:\n").nth(1).expect("a report");
    expect![[r#"
        pass      runs  ops
        pipeline     1  none
        all             none"#]]
    .assert_eq(&counts.lines().take(3).collect::<Vec<_>>().join("\n"));
    assert!(
        !ran.stdout.contains("timing:"),
        "--trace alone shows nothing"
    );
    let trace: serde_json::Value = serde_json::from_str(&bench.read("t.json")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().any(|event| event["name"] == "pipeline"));
}

#[test]
fn reports_are_data_for_programs() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock(
        "run m.ir --passes relax.transform.DeadCodeElimination --instrument memory --timing --json",
    );
    let report = ran.json();
    let names: Vec<&str> = report["instruments"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|instrument| {
            let passes = instrument["data"]["passes"].as_array()?;
            let named = passes.iter().any(|pass| pass["name"] == "pipeline");
            instrument["name"].as_str().filter(|_| named)
        })
        .collect();
    assert_eq!(names, ["memory", "timing"]);
}

#[test]
fn instruments_are_listed_with_their_options() {
    let bench = Bench::new();
    let list = bench.passdock("list instruments --json").json();
    let instruments = list["instruments"].as_array().expect("a list");
    let dump = instruments.iter().find(|i| i["name"] == "dump");
    let dump = dump.expect("one of the host's own");
    assert_eq!(dump["plugin"], serde_json::Value::Null);
    expect![[r#"[{"default":"","doc":"The directory, which is made if it isn't there.","mandatory":true,"name":"dir","type":"string"},{"default":false,"doc":"Removes the dumps of an earlier run first, if the directory holds nothing else.","name":"refresh","type":"bool"}]"#]].assert_eq(&dump["options"].to_string());
}

#[test]
fn passes_to_print_around_may_have_short_names() {
    let bench = Bench::new();
    bench.write("in.ir", RELUS);
    let run = "run in.ir --passes DeadCodeElimination";
    let printed = |flags: &str| {
        let ran = bench.passdock(&format!("{run} {flags}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let lines = said
            .lines()
            .filter(|line| line.starts_with("Print IR") || line.starts_with("note"));
        lines.collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        Print IR after: relax.transform.InferType
        Print IR before: relax.transform.DeadCodeElimination"#]]
    .assert_eq(&printed(
        "--print-before DeadCodeElimination --print-after InferType",
    ));
    // TVM's names are names, too.
    expect![[r#"
        Print IR before: relax.transform.InferType
        note[alias]: `PrintAfterAll` stands for `print-after`, `relay.transform.Inline` stands for `relax.transform.InlineFunctions`, `tirx.UnrollLoop.auto_max_step` stands for `tir.UnrollLoop.auto_max_step`."#]]
    .assert_eq(&printed(
        "--print-before relay.transform.InferType --instrument PrintAfterAll --disable relay.transform.Inline \
         --config tirx.UnrollLoop.auto_max_step=4",
    ));
    bench.write(
        "p.toml",
        "[context.config]\n\"tirx.UnrollLoop\" = { auto_max_step = 4 }\n\n[[instruments]]\nname = \"PassTimingInstrument\"\n",
    );
    let ran = bench.passdock("run p.toml in.ir");
    expect!["note[alias]: `PassTimingInstrument` stands for `timing`, `tirx.UnrollLoop` stands for `tir.UnrollLoop`."]
        .assert_eq(ran.stderr.lines().next().unwrap_or_default());
    // A note says so if there is nothing to print around.
    expect![[r#"
        note[absent-pass]: `--print-after` names the pass `relax.transform.FoldConstant`, which isn't in the pipeline: unless another pass runs it, that is without effect.
        note[absent-pass]: `--require` names the pass `relax.transform.FoldConstant`, which isn't in the pipeline: unless another pass runs it, that is without effect."#]].assert_eq(&printed(
        "--print-after FoldConstant --require FoldConstant",
    ));
}
