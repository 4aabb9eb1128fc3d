//! What there is: `list` and `inspect`.

use expect_test::expect;

use crate::support::{Bench, plugin};

#[test]
fn passes_are_listed_with_their_plugins() {
    let bench = Bench::new();
    let ran = bench.passdock("list passes");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name));
    let fold = line("relax.transform.FoldConstant").expect("a standard pass");
    assert!(
        fold.contains("function") && fold.contains("relax"),
        "{fold}"
    );
    let ran = bench.passdock("list passes --json");
    let passes = ran.json()["passes"].as_array().expect("a list").clone();
    let unroll = passes
        .iter()
        .find(|pass| pass["name"] == "tir.transform.UnrollLoop");
    assert_eq!(unroll.expect("a standard pass")["plugin"], "tir");
}

#[test]
fn config_is_listed_with_defaults_and_meaning() {
    let ran = Bench::new().passdock("list config");
    let line = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("tir.UnrollLoop.auto_max_depth"));
    let line = line.expect("an option of a standard pass");
    for has in ["an int ≥ 0", "8", "tir"] {
        assert!(line.contains(has), "{line}");
    }
    let json = Bench::new().passdock("list config --json").json();
    let options = json["config"].as_array().expect("a list");
    let unroll = options
        .iter()
        .find(|option| option["key"] == "tir.UnrollLoop");
    let unroll = unroll.expect("an option of a standard pass");
    assert_eq!(unroll["plugin"], "tir");
    expect![[r#"{"default":8,"doc":"Serial loops in which up to this many loops were unrolled.","name":"auto_max_depth","range":[0,9223372036854775807],"type":"int"}"#]].assert_eq(&unroll["fields"][1].to_string());
}

#[test]
fn ops_plugins_instruments_and_analyses_are_listed() {
    let bench = Bench::new();
    for (what, has) in [
        ("ops", "onnx.Concat"),
        ("plugins", "relax"),
        ("instruments", "print-changed"),
        ("instruments", "  refresh"),
        ("analyses", "passdock_liveness"),
    ] {
        let ran = bench.passdock(&format!("list {what}"));
        assert_eq!(ran.status, 0);
        assert!(ran.stdout.contains(has), "{}", ran.stdout);
        bench.passdock(&format!("list {what} --json")).json();
    }
}

#[test]
fn operators_are_listed_with_what_is_known() {
    let ran = Bench::new().passdock("list ops");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = |start: &str| {
        let line = ran.stdout.lines().find(|line| line.starts_with(start));
        let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
        words.join(" ")
    };
    expect!["onnx.Add 7 2 types, evaluation, layouts pure, commutative, elementwise onnx-ops"]
        .assert_eq(&line("onnx.Add "));
    assert!(line("onnx.HardSwish ").contains("body, layouts pure, elementwise"));
}

#[test]
fn an_operator_is_shown_with_its_attributes() {
    let bench = Bench::new();
    let ran = bench.passdock("list ops ConvTranspose");
    expect![[r#"
        op          onnx.ConvTranspose since 1
        plugin      onnx-ops, libpassdock_onnx_ops.so
        operands    2 to 3
        known       types, layouts
        traits      pure, out-fusable
        attributes  8
          attribute       type    default   meaning
          auto_pad        string  "NOTSET"  Whether margins are those of `pads`, none, or so wide that the result has the operand's size over the stride; an odd one then lies at the end or at the start (`NOTSET`, `VALID`, `SAME_UPPER`, `SAME_LOWER`).
          dilations       ints              The distance between elements of the kernel, along each spatial axis; 1 by default.
          group           int     1         How many groups channels and kernels are divided into.
          kernel_shape    ints              The size of the window along each spatial axis; by default the weights'.
          output_padding  ints              What is added to one side of the result, along each spatial axis.
          output_shape    ints              The spatial sizes of the result, from which the margins follow.
          pads            ints              The margins: before the first element along each spatial axis, then behind the last; 0 by default.
          strides         ints              How far apart windows are, along each spatial axis; 1 by default.
    "#]]
    .assert_eq(
        &ran.stdout
            .replace(&bench.plugins(), "")
            .replace(std::env::consts::DLL_SUFFIX, ".so"),
    );
    let ran = bench.passdock("list ops onnx.Softmax --json");
    let ops = ran.json()["ops"].as_array().expect("a list").clone();
    let defaults: Vec<String> = ops
        .iter()
        .map(|op| format!("{} {}", op["since"], op["attributes"][0]["default"]))
        .collect();
    assert_eq!(defaults, ["1 1", "13 -1"]);
    let ran = bench.passdock("list ops onnx.Conf");
    assert_eq!(ran.status, 2);
    expect![[r#"
        error[usage]: No plugin defines the operator `onnx.Conf`. Did you mean `onnx.Conv`?
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn one_of_a_list_is_shown_in_full() {
    let bench = Bench::new();
    let check = |what: &str, expected: expect_test::Expect| {
        let ran = bench.passdock(&format!("list {what}"));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let said = said.replace(&bench.plugins(), "");
        let said = said.replace(std::env::consts::DLL_SUFFIX, ".so");
        match ran.status {
            0 => expected.assert_eq(&said),
            status => expected.assert_eq(&format!("{said}status {status}\n")),
        }
        let list = what.split(' ').next().expect("a list");
        let json = bench.passdock(&format!("list {what} --json"));
        assert_eq!(json.status, ran.status);
        if json.status == 0 {
            assert_eq!(
                json.json()[list].as_array().map(Vec::len),
                Some(1),
                "{what}"
            );
        }
    };
    check(
        "passes DeadCodeElimination",
        expect![[r#"
        relax.transform.DeadCodeElimination (module, level 1)
          Removes dead code: ops, constants and functions that nobody uses.
          of plugin relax, libpassdock_relax.so
          requires relax.transform.InferType
          not thread-safe
          takes options from the config key relax.DeadCodeElimination, too
          option           takes     default  meaning
          entry_functions  a string  "main"   The functions that are called from outside, separated by commas.
    "#]],
    );
    check(
        "passes FoldConst",
        expect![[r#"
        error[unknown-pass]: There is no pass `FoldConst`.
         |
         = help: Did you mean `relax.transform.FoldConstant`?
        status 2
    "#]],
    );
    check(
        "plugins relaxx",
        expect![[r#"
        error[usage]: There is no plugin `relaxx`.
         |
         = help: Did you mean `relax`?
        status 2
    "#]],
    );
    check(
        "instruments tap.tap",
        expect![[r#"
        tap.tap (instrument)
          Tells everything that it hears.
          of plugin tap, libpassdock_tap.so
          option     takes     default  meaning
          label      a string  "tap"    What it calls itself.
          fails      a string  ""       The callback in which it fails.
          panics     a string  ""       The callback in which it panics.
          complains  a string  ""       The callback in which it emits an error and goes on.
          veto       a string  ""       The pass that it vetoes.
          looks      a bool    false    Whether it looks into `@main` before each pass.
    "#]],
    );
    check(
        "instruments timing",
        expect![[r#"
            timing (instrument)
              The time of each pass: as a tree, and by pass.
              built in
              also called PassTimingInstrument
              option  takes     default  meaning
              trace   a string  ""       Also writes a trace to this file: for ui.perfetto.dev, or chrome://tracing.
              quiet   a bool    false    Reports nothing: only the trace is written.
        "#]],
    );
    check(
        "instruments timin",
        expect![[r#"
        error[unknown-instrument]: There is no instrument `timin`.
         |
         = help: Did you mean `timing`?
        status 2
    "#]],
    );
    check(
        "config tir.UnrollLoop.max_ops",
        expect![[r#"
        config tir.UnrollLoop
          of plugin tir, libpassdock_tir.so
          field            takes       default  meaning
          auto_max_step    an int ≥ 0  0        Serial loops of up to this many steps, nested ones multiplied.
          auto_max_depth   an int ≥ 0  8        Serial loops in which up to this many loops were unrolled.
          auto_max_extent  an int ≥ 0  0        Serial loops that run up to this many times.
          explicit_unroll  a bool      true     Write the copies out; otherwise only mark the loops.
          max_ops          an int ≥ 0  1000000  The most ops that copies may make in a function. A serial loop that would make more stays.
    "#]],
    );
    check(
        "config testing.immutable_module",
        expect![[r#"
        config testing.immutable_module
          built in
          field        takes   default  meaning
          (the value)  a bool  false    Check that no pass changes the module that it was given: it may only make another one.
    "#]],
    );
    check(
        "config tir.UnrollLoop.max_op",
        expect![[r#"
        error[usage]: There is no config option `tir.UnrollLoop.max_op`.
         |
         = help: Did you mean `tir.UnrollLoop.max_ops`?
        status 2
    "#]],
    );
    check(
        "analyses liveness",
        expect![[r#"
            analysis  a record per  record             what it says
            liveness  value         passdock_liveness  The last op that uses a value.
        "#]],
    );
    check(
        "analyses livenes",
        expect![[r#"
            error[usage]: There is no analysis `livenes`.
             |
             = help: Did you mean `liveness`?
            status 2
        "#]],
    );
    check(
        "ops onnx.Relu",
        expect![[r#"
        op          onnx.Relu since 6
        plugin      onnx-ops, libpassdock_onnx_ops.so
        operands    1
        known       types, evaluation, body, layouts
        traits      pure, elementwise, idempotent
        attributes  none
    "#]],
    );

    let json = bench.passdock("list plugins tir --json").json();
    let plugin = &json["plugins"][0];
    assert_eq!(plugin["passes"], 1);
    assert_eq!(
        plugin["manifest"]["pass"][0]["name"],
        "tir.transform.UnrollLoop"
    );
    assert!(
        bench
            .passdock("list plugins tir")
            .stdout
            .contains("tir.transform.UnrollLoop")
    );
}

#[test]
fn plugins_that_contradict_each_other_are_listed() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let file = format!("plugins/again{}", std::env::consts::DLL_SUFFIX);
    std::fs::copy(plugin("passdock_tir"), bench.path(&file)).expect("a copy");
    let ran = bench.passdock("list plugins --plugin-dir plugins");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    expect![[r#"
        error[duplicate-pass]: The plugin `tir` is there twice: `plugins/again.so` and `libpassdock_tir.so` are copies of one file.
         |
         = help: Remove one of the two files, or leave out what names it: its `--plugin`, or its directory among `--plugin-dir`, `[plugins]` of the pipeline and `PASSDOCK_PLUGIN_PATH`.
    "#]].assert_eq(
        &ran.stderr
            .replace(&bench.plugins(), "")
            .replace(std::env::consts::DLL_SUFFIX, ".so"),
    );
    for has in ["tir ", &file, "relax ", "onnx-ops "] {
        assert!(ran.stdout.contains(has), "{}", ran.stdout);
    }
    let ran = bench.passdock("list plugins --plugin-dir plugins --json");
    assert_eq!(ran.json()["conflicts"][0]["code"], "duplicate-pass");
}

/// The command by itself, as one who copied it has it.
#[test]
fn a_command_without_plugins_says_so() {
    let bench = Bench::new();
    let alone = bench.path("alone");
    std::fs::create_dir(&alone).expect("a directory");
    let command = alone.join("passdock");
    let own = crate::support::passdock();
    std::fs::hard_link(&own, &command)
        .or_else(|_| std::fs::copy(&own, &command).map(drop))
        .expect("a copy of the command");
    let list = |what: &[&str]| {
        let mut list = std::process::Command::new(&command);
        list.arg("list")
            .args(what)
            .env_remove("PASSDOCK_PLUGIN_PATH");
        let ran = list.output().expect("the command starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    };
    for what in ["passes", "plugins", "ops"] {
        let (status, shown, said) = list(&[what]);
        assert_eq!(status, Some(3), "{said}");
        // The command itself has a pass.
        match what {
            "passes" => assert!(
                shown
                    .lines()
                    .nth(1)
                    .is_some_and(|pass| pass.starts_with("PrintIR "))
            ),
            _ => assert_eq!(shown, ""),
        }
        let dir = bench.path("").canonicalize().expect("the directory");
        let dir = format!("{}/", dir.display());
        expect![[r#"
            error[plugin]: There is no plugin in `lib/passdock/plugins`, `alone`.
             |
             = help: The standard plugins lie beside the executable, or in `../lib/passdock/plugins`; `--plugin FILE`, `--plugin-dir DIR` and `PASSDOCK_PLUGIN_PATH` name others.
        "#]]
        .assert_eq(&said.replace(&dir, ""));
        let (status, shown, _) = list(&[what, "--json"]);
        assert_eq!(status, Some(3));
        let told = if what == "passes" {
            "\"name\": \"PrintIR\""
        } else {
            "[]"
        };
        assert!(shown.contains(told), "{shown}");
    }
    // And where a pass is looked for.
    bench.write("m.ir", crate::support::RELUS);
    let mut run = std::process::Command::new(&command);
    run.args(["run", "m.ir", "--passes", "FoldConstant"]);
    run.env_remove("PASSDOCK_PLUGIN_PATH").env("NO_COLOR", "1");
    let ran = run.current_dir(bench.path("")).output();
    let said = String::from_utf8(ran.expect("the command starts").stderr).expect("text");
    let dir = bench.path("").canonicalize().expect("the directory");
    expect![[r#"
        error[unknown-pass]: There is no pass `FoldConstant`.
         |
         = note: There is no plugin in `lib/passdock/plugins`, `alone`.
         = help: The standard plugins lie beside the executable, or in `../lib/passdock/plugins`; `--plugin FILE`, `--plugin-dir DIR` and `PASSDOCK_PLUGIN_PATH` name others.
    "#]].assert_eq(&said.replace(&format!("{}/", dir.display()), ""));
    let (status, shown, said) = list(&["instruments"]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(shown.contains("timing"), "{shown}");
}

#[test]
fn config_is_named_as_the_origin_of_what_it_sets() {
    let bench = Bench::new();
    bench.write(
        "p.toml",
        r#"
[context.config]
"tir.UnrollLoop" = { explicit_unroll = false }
[[passes]]
name = "tir.transform.UnrollLoop"
options = { auto_max_step = 4 }
"#,
    );
    let json = bench.passdock("explain p.toml --json").json();
    let options = json["passes"][0]["options"]
        .as_array()
        .expect("a list")
        .clone();
    let options: Vec<String> = options
        .iter()
        .map(|option| {
            format!(
                "{} = {} ({})",
                option["name"], option["value"], option["from"]
            )
        })
        .collect();
    expect![[r#"
        "auto_max_depth" = 8 ("default")
        "auto_max_extent" = 0 ("default")
        "auto_max_step" = 4 ("options")
        "explicit_unroll" = false ("config")
        "max_ops" = 1000000 ("default")"#]]
    .assert_eq(&options.join("\n"));
}
