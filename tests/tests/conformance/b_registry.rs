//! B. The registry.

use expect_test::expect;
use passdock::{LoadOptions, Registry};
use passdock_conformance_plugin::PLUGIN;

use crate::ours::{Failure, Passdock, Way, library};
use crate::rule;
use crate::rule::by_hand;
use crate::system::{Info, Log, System, cx, made, pass, runs};
use crate::tvm::thrown;

/// KEEP. Each registered pass is found by its name, `<namespace>.transform.<Name>`, wherever it
/// comes from.
#[test]
fn r009_found_by_its_full_name() {
    rule!(|s| {
        s.register(pass("Level2").opt_level(2))?;
        let found = s.get_pass("t.transform.Level2")?;
        let Info {
            name, opt_level, ..
        } = s.info(&found);
        s.say(format!("{name} {opt_level}"));
        s.run(cx(), [made(&found)])
    })
    .plugins()
    .keep(expect![[r#"
        Level2 2
        run Level2"#]]);
}

/// KEEP. To register a name twice is an error.
#[test]
fn r010_a_name_is_registered_once() {
    rule!(|s| {
        let mine = || runs("Mine", |_, _, module| Ok(module));
        s.register(mine())?;
        s.register(mine())
    })
    .plugins()
    .keep(expect![[r#"error[duplicate-pass]: The pass `Mine` is registered already, by this program. Rename or remove one of the two, or ask for one: `override = ["…"]` in `[plugins.NAME]`."#]]);
}

/// KEEP. That holds for plugins, too, unless the override is asked for.
#[test]
fn r010_an_override_is_asked_for() {
    let registry = Registry::new();
    registry.load_static(PLUGIN).expect("a plugin");
    let again = registry.load_plugin(&library(), &LoadOptions::default());
    let error = Failure(again.expect_err("it has the same passes"));
    let said = error
        .to_string()
        .replace(&library().display().to_string(), "FILE");
    let known = registry.pass_names();
    let overrides = LoadOptions { overrides: known };
    let asked = registry
        .load_plugin(&library(), &overrides)
        .map_err(Failure);
    let from = registry
        .pass_spec("t.transform.Leaf")
        .map(|(plugin, _)| plugin);
    let from = from.expect("it is there").origin().path() == Some(library().as_path());
    expect![[r#"
        error[duplicate-pass]: The pass `t.transform.First` is registered already, by plugin `conformance` (built in). Rename or remove one of the two, or ask for one: `override = ["…"]` in `[plugins.NAME]`. (the other is of plugin `FILE`)
        Ok(()), from the file: true"#]].assert_eq(&format!("{said}\n{asked:?}, from the file: {from}"));
}

/// KEEP. A short name is looked up in the namespaces, in their order.
#[test]
fn r011_short_names_are_looked_up_in_the_namespaces() {
    rule!(|s| {
        let fold = || runs("relay._transform.FoldConstant", |_, _, module| Ok(module));
        s.register(fold())?;
        s.say(s.info(&s.get_pass("FoldConstant")?).name);
        s.say(s.info(&s.get_pass("relay._transform.FoldConstant")?).name);
        Ok(())
    })
    .keep(expect![[r#"
        relay._transform.FoldConstant
        relay._transform.FoldConstant"#]]);
}

/// FIX. A pass has one canonical name, and aliases; each list takes both.
///
/// TVM: the registry's key and the info's name may differ, so that lists need one spelling and
/// `required` the other.
#[test]
fn r012_every_list_takes_aliases() {
    rule!(|s| {
        s.register(pass("Level3").opt_level(3))?;
        s.alias("third", "t.transform.Level3")?;
        let three = || pass("Level3").opt_level(3);
        s.say("required:");
        s.run(cx().requires(["third"]), [three()])?;
        s.say("disabled:");
        s.run(cx().level(3).disables(["third"]), [three()])
    })
    .plugins()
    .fix(
        expect![[r#"
        required:
        run Level3
        disabled:"#]],
        expect![[r#"
        required:
        disabled:
        run Level3"#]],
    );
}

/// FIX. An unknown name is an error that says who required it, and which name may have been meant.
///
/// TVM: "Cannot use N to create the pass".
#[test]
fn r013_an_unknown_name_says_who_asked_and_what_was_meant() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        s.say_if_failed(s.get_pass("t.transform.Leafs"));
        s.run(cx(), [pass("NeedsMissing").required(["Leafs"])])
    })
    .plugins()
    .fix_message(expect![[r#"
        error[unknown-pass]: There is no pass `Leafs`. Did you mean `Leaf`?
        error[unknown-pass]: There is no pass `Leafs`. Did you mean `Leaf`? (required by `NeedsMissing`)"#]], expect![[r#"
        error[unknown-pass]: Cannot use Leafs to create the pass
        error[unknown-pass]: Cannot use Leafs to create the pass"#]]);
}

/// FIX. A pass that is looked up by its name has its options' defaults; one that has none must be
/// set, and the error names option, pass and requirer before anything runs.
///
/// TVM: a factory that needs an argument fails with a TypeError that names no pass.
#[test]
fn r014_what_has_no_default_is_asked_for() {
    let mut logs = Vec::new();
    for way in [Way::Linked, Way::Loaded] {
        let log = Log::default();
        let ours = Passdock::new(&log, way);
        for cx in [cx(), cx().config("t.Mill", "{ grist = 'rye' }")] {
            let needs = pass("NeedsMill").required(["Mill"]);
            ours.say_if_failed(ours.run(cx, [pass("First"), needs]));
        }
        logs.push(log.text());
    }
    assert_eq!(logs[0], logs[1], "the same, linked or loaded");
    let tvm = thrown(
        "TypeError",
        "Mill() missing 1 required positional argument: 'grist'",
    );
    by_hand(&logs[0], tvm).fix(expect![[r#"
        error[config]: The pass `Mill` needs its option `grist`, which has no default. Set `t.Mill.grist` in the context's config. (required by `NeedsMill`)
        run First
        grind rye in Mill
        run NeedsMill"#]], expect!["error[TypeError]: Mill() missing 1 required positional argument: 'grist'"]);
}

/// KEEP. A plugin's passes are reached like any others (so are all of these tests' that run with a
/// plugin); unregistering it takes its passes and options along.
#[test]
fn r015_a_plugins_passes_come_and_go() {
    let registry = Registry::new();
    registry.load_static(PLUGIN).expect("a plugin");
    let before = registry.contains("t.transform.Leaf");
    registry
        .unregister_plugin("conformance")
        .expect("it is there");
    let error = registry
        .get_pass("t.transform.Leaf")
        .map(drop)
        .expect_err("it is gone");
    expect![[r#"
        true
        error[unknown-pass]: There is no pass `t.transform.Leaf`. No passes are registered; name a directory of plugins."#]].assert_eq(&format!("{before}\n{}", Failure(error)));
}
