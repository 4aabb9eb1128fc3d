//! B. The registry.

use expect_test::expect;
use passdock::{LoadOptions, PassDeclaration, PassInfo, Registry, create_function_pass};
use passdock_test_plugins::conformance::PLUGIN;

use crate::ours::{Failure, Passdock, Way, library};
use crate::rule;
use crate::rule::{by_hand, check};
use crate::system::{Info, Log, System, cx, pass, runs, spec_of};
use crate::tvm::thrown;

/// KEEP. Each registered pass is found by its name, `<namespace>.transform.<Name>`, independent of
/// its origin.
#[test]
fn r009_passes_are_found_by_full_name() {
    rule!(|s| {
        s.register(pass("Level2").opt_level(2))?;
        let found = s.get_pass("t.transform.Level2")?;
        let Info {
            name, opt_level, ..
        } = s.info(&found);
        s.note(format!("{name} {opt_level}"));
        s.run(cx(), [spec_of(&found)])
    })
    .plugins()
    .keep("r009");
}

/// KEEP. Registering a name twice is an error.
#[test]
fn r010_duplicate_name_is_rejected() {
    rule!(|s| {
        let mine = || runs("Mine", |_, _, module| Ok(module));
        s.register(mine())?;
        s.register(mine())
    })
    .plugins()
    .keep("r010");
}

/// KEEP. The same applies to plugins, unless they are registered with the override.
#[test]
fn r010_duplicate_name_needs_an_override() {
    let registry = Registry::new();
    registry.load_static(PLUGIN).expect("a plugin");
    let again = registry.load_plugin(&library(), &LoadOptions::default());
    let error = Failure(again.expect_err("it has the same passes"));
    let message = error
        .to_string()
        .replace(&library().display().to_string(), "FILE");
    let known = registry.pass_names();
    let overrides = LoadOptions {
        overrides: known,
        ..LoadOptions::default()
    };
    let asked = registry
        .load_plugin(&library(), &overrides)
        .map_err(Failure);
    let from = registry
        .pass_spec("t.transform.Leaf")
        .map(|(plugin, _)| plugin);
    let from = from.expect("it is there").origin().path() == Some(library().as_path());
    check(
        "r010.2",
        &format!("{message}\n{asked:?}, from the file: {from}"),
    );
    // No pass of a plugin is registered if the program already has one of its passes.
    let ours = Passdock::new(&Log::default(), Way::Host);
    ours.register(pass("Leaf")).expect("it is the first");
    let again = ours.registry.load_static(PLUGIN);
    let error = Failure(again.expect_err("it has the same pass"));
    expect!["error[duplicate-pass]: pass `t.transform.Leaf` is already registered by this program rename or remove one \
            of them, or select one: `override = [\"…\"]` in `[plugins.NAME]` (the other is in plugin `conformance` \
            (built in))"]
    .assert_eq(&error.to_string());
    assert_eq!(ours.registry.pass_names(), ["t.transform.Leaf"]);
}

/// KEEP. A short name is looked up in the namespaces, in their order.
#[test]
fn r011_short_names_resolve_in_namespace_order() {
    rule!(|s| {
        let a = ["transform.a", "relay._transform.a", "relax.transform.a"];
        s.register_all(a.map(pass))?;
        let b = ["relay._transform.b", "relax.transform.b"];
        s.register_all(b.map(pass))?;
        for name in ["a", "b", "relax.transform.b"] {
            s.note(s.info(&s.get_pass(name)?).name);
        }
        Ok(())
    })
    .keep("r011");
}

/// KEEP. The namespaces of relax and tir are searched last. A vendor's passes have short names with their namespace.
#[test]
fn r011_short_names_of_relax_and_tir() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let names = [
        "relax.transform.c",
        "tir.transform.c",
        "tir.transform.d",
        "acme.transform.e",
    ];
    ours.register_all(names.map(pass)).expect("they are new");
    for name in [
        "c",
        "d",
        "tir.transform.c",
        "transform.d",
        "e",
        "acme.e",
        "tir.c",
    ] {
        let canonical = ours.registry.canonical(name);
        let known = ours.registry.contains(name);
        ours.note(format!("{name}: {canonical}, registered: {known}"));
        let found = ours.get_pass(name).map(|pass| ours.info(&pass).name);
        assert_eq!(found.ok(), known.then_some(canonical));
    }
    // In a context's lists, too. A pass that isn't registered may have a short name.
    let c = ours.get_pass("c").expect("it is registered");
    let disabled = cx().disables(["c", "d"]);
    ours.log_failure(ours.run(disabled, [spec_of(&c), pass("d"), pass("tir.transform.c")]));
    check("r011.2", &log.text());
}

/// KEEP. TVM's names of passes, from all its releases, are aliases. A pass with such a name takes precedence, and two
/// passes don't share an alias.
#[test]
fn r011_tvm_names_are_aliases() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let registry = &ours.registry;
    let register = |name: &str, alias: &str| {
        let declared = PassDeclaration {
            aliases: vec![alias.to_owned()],
            ..PassInfo::new(name).into()
        };
        let pass = create_function_pass(declared, |_, _| Ok(()));
        ours.log_failure(registry.register(pass).map_err(Failure::from));
    };
    register("relax.transform.c", "relax.transform.cee");
    register("tir.transform.d", "acme.transform.d");
    for name in [
        "relay.transform.c",
        "relay._transform.c",
        "relay.transform.cee",
        "cee",
        "tirx.transform.d",
        "s_tir.transform.d",
        "acme.transform.d",
    ] {
        ours.note(format!("{name}: {}", registry.canonical(name)));
    }
    register("relax.transform.other", "relax.transform.cee");
    register("relay.transform.c", "relay.transform.see");
    ours.note(registry.canonical("relay.transform.c"));
    check("r011.3", &log.text());
}

/// FIX. A pass has one canonical name, and aliases; each list accepts both.
///
/// TVM: the registry's key and the info's name may differ, so that lists need one spelling and
/// `required` the other.
#[test]
fn r012_lists_accept_aliases() {
    rule!(|s| {
        s.register(pass("Level3").opt_level(3))?;
        s.alias("third", "t.transform.Level3")?;
        let found = s.get_pass("third").map(|pass| s.note(s.info(&pass).name));
        s.log_failure(found);
        let three = || pass("Level3").opt_level(3);
        s.note("required:");
        s.run(cx().requires(["third"]), [three()])?;
        s.note("disabled:");
        s.run(cx().level(3).disables(["third"]), [three()])
    })
    .plugins()
    .fix("r012");
}

/// FIX. An unknown name is an error that names the pass that required it and the most similar name.
///
/// TVM: "Cannot use N to create the pass".
#[test]
fn r013_unknown_name_error_has_requester_and_suggestion() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        for name in ["t.transform.Leafs", "Xyzzy", "t.transform.Xyzzy"] {
            s.log_failure(s.get_pass(name));
        }
        s.run(cx(), [pass("NeedsMissing").required(["Leafs"])])
    })
    .plugins()
    .fix_message("r013");
}

/// FIX. A pass that is looked up by name has the default values of its options. An option without a
/// default must be set; the error names the option, the pass and the requiring pass before anything
/// runs.
///
/// TVM: a factory that needs an argument fails with a TypeError that names no pass.
#[test]
fn r014_option_without_default_must_be_set() {
    let mut logs = Vec::new();
    for way in [Way::Linked, Way::Loaded] {
        let log = Log::default();
        let ours = Passdock::new(&log, way);
        for cx in [cx(), cx().config("t.Mill", "{ grist = 'rye' }")] {
            let needs = pass("NeedsMill").required(["Mill"]);
            ours.log_failure(ours.run(cx, [pass("First"), needs]));
        }
        // A pipeline may set the option, too.
        ours.log_failure(ours.run(cx(), [pass("First"), pass("Mill")]));
        let options = toml::Table::from_iter([("grist".to_owned(), "oats".into())]);
        let mill = ours
            .registry
            .get_pass_with_options("t.transform.Mill", &options);
        ours.log_failure(ours.run(cx(), [spec_of(&mill.expect("it has its option"))]));
        logs.push(log.text());
    }
    assert_eq!(logs[0], logs[1], "the same, linked or loaded");
    let tvm = thrown(
        "TypeError",
        "Mill() missing 1 required positional argument: 'grist'",
    );
    by_hand(&logs[0], tvm).fix("r014");
}

/// KEEP. A plugin's passes are used like all others (so are those of all tests here that run with a
/// plugin). Unregistering the plugin removes its passes and options.
#[test]
fn r015_unregistering_a_plugin_removes_its_passes() {
    let registry = Registry::new();
    registry.load_static(PLUGIN).expect("a plugin");
    let before = registry.contains("t.transform.Leaf");
    registry
        .unregister_plugin("conformance")
        .expect("it is there");
    let error = registry
        .get_pass("t.transform.Leaf")
        .map(drop)
        .expect_err("it is missing");
    let again = registry.unregister_plugin("conformance");
    let again = Failure(again.expect_err("it is missing"));
    check("r015", &format!("{before}\n{}\n{again}", Failure(error)));
    assert!(registry.pass_names().is_empty());
    let options = registry.list_configs();
    assert!(options.iter().all(|option| option.plugin.is_none()));
}
