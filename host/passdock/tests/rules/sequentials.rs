//! Sequentials in plugins, which are found, overridden and rejected like passes.

use expect_test::{Expect, expect};
use passdock::pipeline::Pipeline;
use passdock::{PassContext, PassInfo, Registry, Sequential, sdk};
use passdock_abi as abi;

use crate::common::{Log, error, info, module};

/// A plugin of which only the manifest is used.
#[allow(unsafe_code, reason = "an entry of the test's own")]
fn plugin(name: &str, manifest: &str) -> sdk::StaticPlugin {
    extern "C" fn never_loaded(_: *const abi::Host, _: *mut abi::Attach) -> *const abi::Plugin {
        panic!("the plugin was loaded");
    }
    let text = format!(
        "[plugin]\nname = '{name}'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n{manifest}\n\0"
    );
    // SAFETY: the entry is never called.
    unsafe { sdk::StaticPlugin::new(never_loaded, text.into_bytes().leak()) }
}

fn sequential(name: &str, passes: &str) -> String {
    format!("[[sequential]]\nname = '{name}'\npasses = {passes}\n")
}

/// Returns a registry with plugins and with passes that record their runs.
fn registry(log: &Log, passes: &[&str], plugins: &[sdk::StaticPlugin]) -> Registry {
    let registry = Registry::new();
    for pass in passes {
        registry.register(log.pass(info(pass))).unwrap();
    }
    for plugin in plugins {
        registry.load_static(*plugin).unwrap();
    }
    registry
}

/// Compares the error of looking up a pass with the expected one.
#[track_caller]
fn check_error(plugins: &[sdk::StaticPlugin], name: &str, expected: Expect) {
    let log = Log::new();
    let registry = registry(&log, &["b.transform.One"], plugins);
    expected.assert_eq(&error(registry.get_pass(name).map(drop)));
}

#[test]
fn children_are_resolved_across_plugins_on_lookup() {
    let log = Log::new();
    let a = plugin("a", &sequential("a.All", "['b.transform.One', 'c.Rest']"));
    let registry = registry(&log, &["b.transform.One"], &[a]);
    let missing = registry.get_pass("a.All").map(drop);
    expect!["no pass is named `c.Rest`; run `passdock list passes` to list the passes (listed in `passes` of \
            `[[sequential]]` `a.All` in the manifest of plugin `a` (built in))"].assert_eq(&error(missing));
    let c = plugin(
        "c",
        &sequential("c.Rest", "['c.transform.Two', 'b.transform.One']"),
    );
    registry.load_static(c).unwrap();
    registry
        .register(log.pass(info("c.transform.Two")))
        .unwrap();

    let all = registry.get_pass("a.All").unwrap();
    assert_eq!(all.provider().map(|from| from.plugin.as_str()), Some("a"));
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    cx.scope(|_| all.call(module())).unwrap();
    log.check(expect![[r#"
        run b.transform.One
        run c.transform.Two
        run b.transform.One"#]]);
    registry.unregister_plugin("c").unwrap();
    assert!(registry.get_pass("a.All").is_err());
    assert!(!registry.contains("c.Rest"));
}

/// Its level, disabled names and `required` apply where it is a child, and not where it is called.
#[test]
fn plugin_sequential_follows_sequential_rules() {
    let log = Log::new();
    let text = sequential("a.All", "['b.transform.One', 'a.High']")
        + "opt_level = 1\nrequired = ['b.transform.Two']\n"
        + &sequential("a.High", "['b.transform.Three']")
        + "opt_level = 3\n";
    let passes = ["b.transform.One", "b.transform.Two", "b.transform.Three"];
    let registry = registry(&log, &passes, &[plugin("a", &text)]);
    let all = || registry.get_pass("a.All").unwrap();
    let needs = || log.pass(PassInfo::new("needs").required(["a.All"]));
    let run = |what: &str, level: u32, disabled: &[&str], required: &[&str]| {
        log.add(format!(
            "{what}, level {level}, disabled {disabled:?}, required {required:?}"
        ));
        let cx = PassContext::builder()
            .registry(&registry)
            .opt_level(level)
            .disabled_pass(disabled.iter().copied())
            .required_pass(required.iter().copied())
            .build()
            .unwrap();
        let result = cx.scope(|cx| match what {
            "called" => all().call_in(module(), cx),
            "needed" => Sequential::new([needs()]).call_in(module(), cx),
            _ => Sequential::new([all()]).call_in(module(), cx),
        });
        if let Err(error) = result {
            log.add(error.to_string());
        }
    };
    run("called", 0, &[], &[]);
    run("child", 0, &[], &[]);
    run("child", 1, &[], &[]);
    run("child", 3, &["b.transform.One"], &[]);
    run("child", 0, &[], &["a.All", "a.High"]);
    run("child", 3, &["a.All"], &[]);
    run("child", 3, &["a.High"], &[]);
    run("needed", 0, &[], &[]);
    run("needed", 0, &["a.All"], &[]);
    log.check(expect![[r#"
        called, level 0, disabled [], required []
        run b.transform.One
        child, level 0, disabled [], required []
        child, level 1, disabled [], required []
        run b.transform.Two
        run b.transform.One
        child, level 3, disabled ["b.transform.One"], required []
        run b.transform.Two
        run b.transform.Three
        child, level 0, disabled [], required ["a.All", "a.High"]
        run b.transform.Two
        run b.transform.One
        run b.transform.Three
        child, level 3, disabled ["a.All"], required []
        child, level 3, disabled ["a.High"], required []
        run b.transform.Two
        run b.transform.One
        needed, level 0, disabled [], required []
        run b.transform.Two
        run b.transform.One
        run needs
        needed, level 0, disabled ["a.All"], required []
        pass `a.All` is disabled, but `needs` requires it; also disable `needs`, or enable `a.All`"#]]);
}

#[test]
fn errors_name_the_plugin_and_the_entry() {
    let plugins = |text: &str| [plugin("a", text)];
    check_error(
        &plugins(&sequential("a.All", "['b.transform.Onr']")),
        "a.All",
        expect![
            "no pass is named `b.transform.Onr`; did you mean `b.transform.One`? (listed in `passes` of \
                `[[sequential]]` `a.All` in the manifest of plugin `a` (built in))"
        ],
    );
    check_error(
        &plugins(&sequential("a.All", "['a.All']")),
        "a.All",
        expect![
            "Sequential contains itself: a.All -> a.All; remove one of them from the other's `passes` (listed in \
                `passes` of `[[sequential]]` `a.All` in the manifest of plugin `a` (built in))"
        ],
    );
    let two = sequential("a.X", "['b.transform.One', 'a.Y']") + &sequential("a.Y", "['a.X']");
    check_error(
        &plugins(&two),
        "a.Y",
        expect![
            "Sequential contains itself: a.Y -> a.X -> a.Y; remove one of them from the other's `passes` (listed in \
                `passes` of `[[sequential]]` `a.X` in the manifest of plugin `a` (built in))"
        ],
    );
    let options = "[{ name = 'b.transform.One', options = { n = 1 } }]";
    check_error(
        &plugins(&sequential("a.All", options)),
        "a.All",
        expect![
            "unknown field `n` of `b.transform.One`; valid fields: none (listed in `passes` of `[[sequential]]` \
                `a.All` in the manifest of plugin `a` (built in))"
        ],
    );
    let of_sequential = sequential("a.X", "[{ name = 'a.Y', options = { n = 1 } }]");
    check_error(
        &plugins(&(of_sequential + &sequential("a.Y", "[]"))),
        "a.X",
        expect![
            "unknown field `n` of `a.Y`; valid fields: none (listed in `passes` of `[[sequential]]` `a.X` in the \
                manifest of plugin `a` (built in))"
        ],
    );
    // A pass that it contains requires it.
    let pass = "[[pass]]\nname = 'a.transform.Needs'\nkind = 'module'\nrequired = ['a.All']\n";
    let text = sequential("a.All", "['a.transform.Needs']") + pass;
    let registry = registry(&Log::new(), &[], &plugins(&text));
    let all = registry.get_pass("a.All").unwrap();
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    let failed = Sequential::new([all]).call_in(module(), &cx);
    expect![
        "passes require each other: a.All -> a.transform.Needs -> a.All; remove one of them from the other's `required`"
    ].assert_eq(&error(failed));
}

/// A pass that the pipeline lists, also within a Sequential, isn't added to its phase again.
#[test]
fn child_is_not_added_to_its_phase() {
    let pass = "[[pass]]\nname = 'a.transform.Late'\nkind = 'module'\nphase = 'late'\n";
    let text = sequential("a.All", "['a.transform.Late']") + pass;
    let registry = registry(&Log::new(), &[], &[plugin("a", &text)]);
    let filled = |pipeline: &str| {
        let pipeline = Pipeline::from_toml(pipeline).unwrap();
        let explained = pipeline.resolve(&registry).unwrap().explain().unwrap();
        explained.phases[0].passes.clone()
    };
    let phase = "[[passes]]\nphase = 'late'\n";
    assert_eq!(filled(phase), ["a.transform.Late"]);
    let with_it = format!("{phase}[[passes]]\nname = 'a.All'\n");
    assert!(filled(&with_it).is_empty());
}

/// A short manifest can declare an exponential number of passes, and any depth.
#[test]
fn size_and_depth_are_limited() {
    let doubled = |levels: usize, children: usize| {
        let mut text = sequential("a.S0", "['b.transform.One']");
        for at in 1..=levels {
            let child = format!("'a.S{}',", at - 1).repeat(children);
            text += &sequential(&format!("a.S{at}"), &format!("[{child}]"));
        }
        [plugin("a", &text)]
    };
    check_error(
        &doubled(60, 2),
        "a.S60",
        expect![
            "Sequential `a.S15` of plugin `a` (built in) contains more than 65536 passes; split it; the passes of \
                nested Sequentials count too"
        ],
    );
    check_error(
        &doubled(5000, 1),
        "a.S5000",
        expect![
            "more than 256 Sequentials contain each other, down to `a.S4744`; put the passes in one list (listed in \
                `passes` of `[[sequential]]` `a.S4745` in the manifest of plugin `a` (built in))"
        ],
    );
    let log = Log::new();
    let registry = registry(&log, &["b.transform.One"], &doubled(200, 1));
    let deep = registry.get_pass("a.S200").unwrap();
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    deep.call_in(module(), &cx).unwrap();
    log.check(expect!["run b.transform.One"]);
}
