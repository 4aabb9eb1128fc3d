//! States: what passes need, establish and break.

use expect_test::{Expect, expect};
use passdock::PassCall;
use passdock::{InstrumentResult, PassInstrument, PassRef, Registry, Sequential};

use crate::common::{Log, error, info, module, parse, registered};

const INFER: &str = "relax.transform.InferType";

/// Passes that establish, break and need `types-inferred`, and a vendor's own state.
fn registry(log: &Log) -> (Registry, passdock::ContextBuilder) {
    registered([
        log.pass(info(INFER).establishes(["types-inferred"])),
        log.pass(info("acme.transform.Break").breaks(["types-inferred"])),
        log.pass(info("acme.transform.Need").needs(["types-inferred"])),
        log.pass(info("acme.transform.Tile").establishes(["acme.tiled"])),
        log.pass(info("acme.transform.UseTiles").needs(["acme.tiled"])),
        log.pass(
            info("acme.transform.Prepared")
                .required([INFER])
                .needs(["types-inferred"]),
        ),
        log.pass(info("acme.transform.Upgrade").establishes(["opset >= 19"])),
        log.pass(info("acme.transform.New").needs(["opset >= 18"])),
        log.pass(info("acme.transform.Old").needs(["opset>=13"])),
        log.pass(info("acme.transform.Downgrade").breaks(["opset >= 13"])),
        log.pass(info("acme.transform.Flat").needs(["no-control-flow", "no-tuples"])),
        log.pass(info("acme.transform.Fold").needs(["constants-folded"])),
        log.pass(info("acme.transform.Typo").needs(["acme.tile"])),
    ])
}

/// Runs passes of the registry over a module, and says what came of it.
#[track_caller]
fn check_on(source: Option<&str>, names: &[&str], expected: Expect) {
    let log = Log::new();
    let (registry, context) = registry(&log);
    let passes: Vec<PassRef> = names
        .iter()
        .map(|name| {
            let name = format!(
                "{}.transform.{name}",
                if *name == "InferType" {
                    "relax"
                } else {
                    "acme"
                }
            );
            registry.get_pass(&name).unwrap()
        })
        .collect();
    let cx = context.build().unwrap();
    let module = source.map_or_else(module, parse);
    match cx.scope(|_| Sequential::new(passes).call(module)) {
        Ok(_) => expected.assert_eq("ran"),
        Err(error) => {
            assert!(log.take().is_empty(), "nothing ran");
            assert_eq!(error.kind.code(), "state");
            let shown = error.to_diagnostic().render(false);
            expected.assert_eq(&format!(
                "{shown}\nexit status {}",
                error.kind.exit_status()
            ));
        }
    }
}

#[track_caller]
fn check(names: &[&str], expected: Expect) {
    check_on(None, names, expected);
}

#[test]
fn what_is_established_and_not_broken_since_holds() {
    check(&["InferType", "Need"], expect![["ran"]]);
    check(&["Break", "InferType", "Need"], expect![["ran"]]);
    check(&["Tile", "Break", "UseTiles"], expect![["ran"]]);
    // What a pass requires establishes too, also after it was broken.
    check(&["InferType", "Break", "Prepared"], expect![["ran"]]);
}

#[test]
fn what_was_broken_or_never_established_is_an_error_before_anything_runs() {
    check(
        &["InferType", "Break", "Need"],
        expect![[r#"
        error[state]: The pass needs the state `types-inferred`, which `acme.transform.Break` breaks before it.
         |
         = in pass acme.transform.Need
         = help: `relax.transform.InferType` establishes it: let it run before, or require it.
        exit status 2"#]],
    );
    check(
        &["UseTiles"],
        expect![[r#"
        error[state]: The pass needs the state `acme.tiled`, which nothing before it establishes.
         |
         = in pass acme.transform.UseTiles
         = help: `acme.transform.Tile` establishes it: let it run before, or require it.
        exit status 2"#]],
    );
    check(
        &["UseTiles", "Tile"],
        expect![[r#"
        error[state]: The pass needs the state `acme.tiled`, which nothing before it establishes.
         |
         = in pass acme.transform.UseTiles
         = help: `acme.transform.Tile` establishes it: let it run before, or require it.
        exit status 2"#]],
    );
    check(
        &["Fold"],
        expect![[r#"
        error[state]: The pass needs the state `constants-folded`, which nothing before it establishes.
         |
         = in pass acme.transform.Fold
         = help: No registered pass establishes it.
        exit status 2"#]],
    );
    check(
        &["Typo"],
        expect![[r#"
        error[state]: The pass needs the state `acme.tile`, which nothing before it establishes.
         |
         = in pass acme.transform.Typo
         = help: No registered pass establishes it. Did you mean `acme.tiled`?
        exit status 2"#]],
    );
}

#[test]
fn a_later_opset_is_an_earlier_one_too() {
    check(&["Upgrade", "New", "Old"], expect![["ran"]]);
    check(
        &["Upgrade", "Downgrade", "Old"],
        expect![[r#"
        error[state]: The pass needs the state `opset >= 13`, which `acme.transform.Downgrade` breaks before it.
         |
         = in pass acme.transform.Old
         = help: `acme.transform.Upgrade` establishes it: let it run before, or require it.
        exit status 2"#]],
    );
}

#[test]
fn facts_are_read_off_the_model() {
    // Opset 17, and no control flow.
    check(&["Old", "Flat", "Need"], expect![["ran"]]);
    check(
        &["New"],
        expect![[r#"
        error[state]: The pass needs `opset >= 18` of the model, and this function imports 17.
         |
         = in pass acme.transform.New, function @main
         = help: `acme.transform.Upgrade` establishes it: let it run before, or require it.
        exit status 1"#]],
    );
    // What has been broken isn't looked for in the model.
    check(
        &["Break", "Need"],
        expect![[r#"
        error[state]: The pass needs the state `types-inferred`, which `acme.transform.Break` breaks before it.
         |
         = in pass acme.transform.Need
         = help: `relax.transform.InferType` establishes it: let it run before, or require it.
        exit status 2"#]],
    );
    let source = "module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.If(%c) : f32[2] loc(\"if1\") region then_branch { yield %0 } region else_branch { yield %x }
    return %1
  }
}
";
    check_on(
        Some(source),
        &["Flat"],
        expect![[r#"
        error[state]: The pass needs `no-control-flow` of the model, and the model has the op `onnx.If`.
         |
         = in pass acme.transform.Flat, function @main, op1 (onnx.If), at if1
         = help: No registered pass establishes it.
        exit status 1"#]],
    );
    check_on(
        Some(source),
        &["Need"],
        expect![[r#"
        error[state]: The pass needs `types-inferred` of the model, and a result of this op has no type.
         |
         = in pass acme.transform.Need, function @main, op0 (onnx.Relu)
         = help: `relax.transform.InferType` establishes it: let it run before, or require it.
        exit status 1"#]],
    );
    check_on(Some(source), &["InferType", "Need"], expect![["ran"]]);
}

#[test]
fn a_pass_that_does_not_run_establishes_nothing() {
    let log = Log::new();
    let (registry, context) = registry(&log);
    let cx = context
        .disabled_pass(["acme.transform.Tile"])
        .build()
        .unwrap();
    let passes = ["acme.transform.Tile", "acme.transform.UseTiles"];
    let passes = passes.map(|name| registry.get_pass(name).unwrap());
    expect!["Error in pass acme.transform.UseTiles: The pass needs the state `acme.tiled`, which nothing before it establishes. `acme.transform.Tile` establishes it: let it run before, or require it."].assert_eq(&error(cx.scope(|_| Sequential::new(passes).call(module()))));
}

#[test]
fn states_inside_a_nested_sequential_count() {
    let log = Log::new();
    let (registry, context) = registry(&log);
    let cx = context.build().unwrap();
    let get = |name: &str| {
        registry
            .get_pass(&format!("acme.transform.{name}"))
            .unwrap()
    };
    let inner = Sequential::new([get("Tile")]).into_pass();
    cx.scope(|_| Sequential::new([inner, get("UseTiles")]).call(module()))
        .unwrap();
    log.check(expect![[r#"
        run acme.transform.Tile
        run acme.transform.UseTiles"#]]);
}

#[test]
fn what_is_no_state_is_refused() {
    let registry = Registry::new();
    let log = Log::new();
    let odd = log.pass(info("acme.transform.Odd").needs(["Types inferred"]));
    expect!["The pass `acme.transform.Odd` names the invalid state `Types inferred`: a state is `opset >= N`, or words of lower-case letters, digits, `-`, `_` and dots."].assert_eq(&error(registry.register(odd)));
}

/// Vetoes passes.
struct Vetoes(&'static [&'static str]);

impl PassInstrument for Vetoes {
    fn name(&self) -> &str {
        "vetoes"
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        let PassCall { info, .. } = *call;
        Ok(!self.0.contains(&info.name.as_str()))
    }
}

#[test]
fn what_a_veto_keeps_from_being_established_doesnt_hold() {
    let log = Log::new();
    let run = |vetoed: &'static [&'static str], names: &[&str]| {
        let (registry, context) = registry(&log);
        let passes = names.iter().map(|name| {
            let pass = registry
                .get_pass(&format!("acme.transform.{name}"))
                .unwrap();
            Sequential::new([pass]).name(format!("only {name}"))
        });
        let all = Sequential::new(passes);
        let cx = context.instrument(Vetoes(vetoed)).build().unwrap();
        match cx.scope(|_| all.call(module())) {
            Ok(_) => log.add("done"),
            Err(error) => log.add(error.to_string()),
        }
    };
    for vetoed in [
        &["acme.transform.Tile"][..],
        &["only Tile"],
        // Who doesn't run needs nothing.
        &["acme.transform.Tile", "acme.transform.UseTiles"],
    ] {
        run(vetoed, &["Tile", "Break", "UseTiles"]);
    }
    log.check(expect![[r#"
        run acme.transform.Break
        Error in pass acme.transform.UseTiles: The pass needs the state `acme.tiled`, which `acme.transform.Tile` establishes, but the instrument `vetoes` vetoed that pass. Veto this pass too, or require `acme.transform.Tile`.
        run acme.transform.Break
        Error in pass acme.transform.UseTiles: The pass needs the state `acme.tiled`, which `acme.transform.Tile` establishes, but the instrument `vetoes` vetoed that pass. Veto this pass too, or require `acme.transform.Tile`.
        run acme.transform.Break
        done"#]]);
    // It holds: the model has it, or another pass established it.
    run(&[INFER], &["Prepared"]);
    run(&["acme.transform.Old"], &["Upgrade", "Old", "New"]);
    log.check(expect![[r#"
        run acme.transform.Prepared
        done
        run acme.transform.Upgrade
        run acme.transform.New
        done"#]]);
}
