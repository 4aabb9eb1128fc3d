//! Requirements of plugins on other plugins.

use expect_test::expect;
use passdock::{PassRef, Registry, Sequential};
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{StaticPlugin, plugin};

use crate::common::{Log, REJECTING, info, module, registered};

fn nothing(_: &mut Module, _: &PassContext) -> PassResult {
    Ok(())
}

plugin! {
    name: "acme",
    requires: ["gone >= 1.2"],
    passes: [module "acme.transform.Nothing" => nothing],
    sequentials: ["acme.Empty" => []],
    ops: [OpDef::new("acme.Silu", 1)],
}

/// Returns a plugin with another text in its manifest.
fn edited(plugin: StaticPlugin, old: &str, new: &str) -> StaticPlugin {
    let text = plugin.manifest_text();
    assert!(text.contains(old), "{text}");
    let text = text.replace(old, new) + "\0";
    // SAFETY: the entry conforms to the ABI.
    unsafe { StaticPlugin::new(plugin.entry(), text.into_bytes().leak()) }
}

/// Returns the plugin `gone` in a version. Its code can't be loaded.
fn gone(version: &str) -> StaticPlugin {
    edited(
        REJECTING,
        "version = '1.0.0'",
        &format!("version = '{version}'"),
    )
}

/// Runs a pass in a list of passes.
fn run(registry: &Registry, pass: &str) -> Result<(), passdock::PassError> {
    let cx = passdock::PassContext::builder()
        .registry(registry)
        .build()?;
    let pass = registry.get_pass(pass)?;
    Sequential::new([pass]).call_in(module(), &cx).map(drop)
}

#[test]
fn required_plugin_must_be_registered_in_a_fitting_version() {
    let cases = [
        ("gone >= 1.2", Some("1.2.0")),
        ("gone", Some("2024a")),
        ("gone", None),
        ("gone >= 1.2", None),
        ("gone >= 1.2", Some("1.1.9")),
        ("gone >= 1.2", Some("1.2")),
        ("gone >= 1.2", Some("")),
    ];
    let results = cases.map(|(requirement, version)| {
        let registry = Registry::new();
        let acme = edited(PLUGIN, "gone >= 1.2", requirement);
        registry.load_static(acme).unwrap();
        if let Some(version) = version {
            registry.load_static(gone(version)).unwrap();
        }
        match run(&registry, "acme.transform.Nothing") {
            Ok(()) => {
                let gone = registry.plugin("gone").unwrap();
                assert!(gone.is_used() && !gone.is_loaded());
                format!("{requirement}, {version:?}: runs\n")
            }
            Err(error) => {
                let lines = error.message.replace(": ", ":\n  ");
                let lines = lines.replace("; ", ";\n  ").replace(", not", ",\n  not");
                format!("{requirement}, {version:?}: {lines}\n")
            }
        }
    });
    expect![[r#"
        gone >= 1.2, Some("1.2.0"): runs
        gone, Some("2024a"): runs
        gone, None: cannot load plugin `acme` (built in):
          requires plugin `gone`, but it is not registered;
          add it, for example with `--plugin FILE` or `--plugin-dir DIR`
        gone >= 1.2, None: cannot load plugin `acme` (built in):
          requires plugin `gone >= 1.2`, but it is not registered;
          add it, for example with `--plugin FILE` or `--plugin-dir DIR`
        gone >= 1.2, Some("1.1.9"): cannot load plugin `acme` (built in):
          requires plugin `gone >= 1.2`, but plugin `gone` (built in) has version `1.1.9`;
          use another version of one of them
        gone >= 1.2, Some("1.2"): cannot load plugin `acme` (built in):
          requires plugin `gone >= 1.2`, but plugin `gone` (built in) has version `1.2`,
          not a semantic one such as `1.2.0`;
          use a release of it that has such a version, or remove the versions from the requirement
        gone >= 1.2, Some(""): cannot load plugin `acme` (built in):
          requires plugin `gone >= 1.2`, but plugin `gone` (built in) has version ``,
          not a semantic one such as `1.2.0`;
          use a release of it that has such a version, or remove the versions from the requirement
    "#]]
    .assert_eq(&results.concat());
}

#[test]
fn requirements_are_checked_for_everything_that_a_run_uses() {
    let registry = Registry::new();
    registry.load_static(PLUGIN).unwrap();
    let sequential = registry.get_pass("acme.Empty").unwrap();
    let cx = passdock::PassContext::builder().registry(&registry);
    let cx = cx.build().unwrap();
    let op_defs = registry.op_defs();
    assert!(op_defs.find("acme.Silu", None).is_none());
    let results = [
        run(&registry, "acme.Empty").unwrap_err(),
        sequential.call_in(module(), &cx).map(drop).unwrap_err(),
        op_defs.failures()[0].error.clone().into(),
    ];
    for error in results {
        let message = "cannot load plugin `acme` (built in): requires plugin `gone >= 1.2`";
        assert!(error.message.starts_with(message), "{error}");
    }
    registry.load_static(gone("1.2.0")).unwrap();
    sequential.call_in(module(), &cx).unwrap();
    assert!(op_defs.find("acme.Silu", None).is_some());
}

#[test]
fn requirements_of_unused_plugins_are_not_checked() {
    let log = Log::new();
    let (registry, context) = registered([]);
    registry.load_static(PLUGIN).unwrap();
    let cx = context.disabled_pass(["acme.transform.Nothing", "acme.Empty"]);
    let cx = cx.build().unwrap();
    let passes = ["acme.transform.Nothing", "acme.Empty"].map(|name| registry.get_pass(name));
    let passes = passes.into_iter().map(Result::unwrap);
    let passes: Vec<PassRef> = passes.chain([log.pass(info("first"))]).collect();
    Sequential::new(passes).call_in(module(), &cx).unwrap();
    log.check(expect!["run first"]);
}
