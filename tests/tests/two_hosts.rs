//! Two hosts in one process that load one plugin file: passdock, and the SDK's host for unit tests.
//! The library is there once, and what it does for one goes through that one's tables.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::path::PathBuf;

use passdock::plugin::Plugin;
use passdock::{PassContext, Registry, model_file};
use passdock_abi as abi;
use passdock_plugin_api::testing::mock;
use passdock_plugin_api::{Attr, Function, StaticPlugin, Status};

const PASS: &str = "t.transform.Marks";

fn library() -> PathBuf {
    passdock_tests::library("passdock_conformance_plugin")
}

/// Runs the pass in passdock and answers the function's text.
fn run(registry: &Registry) -> String {
    let context = PassContext::builder().registry(registry).build();
    let context = context.expect("a plain context");
    let text = "module { fn @main(%x: f32[2]) -> (%x) { return %x } }";
    let module = model_file::parse_text("test.ir", text).expect("the test's own text");
    let pass = registry.get_pass(PASS).expect("a pass of the plugin");
    let after = pass.call_in(module, &context).expect("it runs");
    passdock_ir::text::print(&after)
}

#[allow(unsafe_code, reason = "a second host calls the entry")]
fn entry() -> abi::Entry {
    // SAFETY: a plugin of ours, whose initialisation does nothing; it was checked by the other host.
    let library = unsafe { libloading::Library::new(library()) }.expect("a library");
    // SAFETY: the contract gives the symbol this type.
    let entry = *unsafe { library.get::<abi::Entry>(abi::ENTRY_SYMBOL) }.expect("its entry");
    std::mem::forget(library);
    entry
}

#[test]
fn one_plugin_file_serves_both() {
    let registry = Registry::new();
    registry
        .load_plugin(&library(), &Default::default())
        .expect("the plugin");
    let before = run(&registry);
    assert!(before.contains("mark = 1"), "{before}");

    let plugin = StaticPlugin {
        entry: entry(),
        manifest: b"\0",
    };
    let look = |f: &Function| assert!(matches!(f.function_attr("mark"), Some(Attr::Int(1))));
    let ran = mock::run_pass(&plugin, PASS, |_| {}, look);
    assert_eq!(ran, (Status::OK, None));

    assert_eq!(run(&registry), before);
    let again = Plugin::open(&library()).expect("the plugin");
    assert!(
        again.load(passdock::plugin::host()).is_ok(),
        "a host may load it twice"
    );
}
