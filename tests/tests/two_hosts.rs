//! Two hosts in one process that load the same plugin file. The second host has a separate table with the first one's
//! functions, like a copy of passdock in another library. The plugin's library is loaded once, and both hosts get the
//! same table of the plugin.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::path::PathBuf;

use passdock::plugin::Plugin;
use passdock::{PassContext, PassInfo, Registry, create_function_pass, model_file};
use passdock_abi as abi;
use passdock_plugin_api::Status;

const PASS: &str = "t.transform.Marks";
const TEXT: &str = "module { fn @main(%x: f32[2]) -> (%x) { return %x } }";

fn library() -> PathBuf {
    passdock_tests::library("passdock_conformance")
}

/// Runs the pass in passdock and returns the function's text.
fn run(registry: &Registry) -> String {
    let context = PassContext::builder().registry(registry).build();
    let context = context.expect("a plain context");
    let module = model_file::parse_text("test.ir", TEXT).expect("the test's own text");
    let pass = registry.get_pass(PASS).expect("a pass of the plugin");
    let after = pass.call_in(module, &context).expect("it runs");
    passdock_ir::text::print(&after)
}

#[allow(unsafe_code, reason = "a second host calls the entry")]
fn entry() -> abi::Entry {
    // SAFETY: a plugin of this repository without initializers; the other host validated it.
    let library = unsafe { libloading::Library::new(library()) }.expect("a library");
    // SAFETY: the ABI specifies this type for the symbol.
    let entry = *unsafe { library.get::<abi::Entry>(abi::ENTRY_SYMBOL) }.expect("its entry");
    std::mem::forget(library);
    entry
}

/// Returns the pass's entry in the table that the plugin returns to a host.
#[allow(unsafe_code, reason = "a second host calls the entry")]
fn attached(host: &'static abi::Host) -> abi::PassEntry {
    // SAFETY: the host's table is static, and so is the plugin's result.
    unsafe {
        let mut attach_info = abi::Attach::EMPTY;
        let table = &*entry()(host, &raw mut attach_info);
        let stride = table.pass_stride as usize;
        let pass = |at: u32| *table.passes.byte_add(at as usize * stride);
        let name = |pass: &abi::PassEntry| std::slice::from_raw_parts(pass.name.ptr, pass.name.len);
        let mut passes = (0..table.pass_count).map(pass);
        let found = passes.find(|pass| name(pass) == PASS.as_bytes());
        found.expect("the plugin has the pass")
    }
}

/// Runs the pass as attached to the second host, on a function that passdock lends.
#[allow(unsafe_code, reason = "a second host calls the pass")]
fn run_in_second(host: &'static abi::Host, pass: abi::PassEntry) -> String {
    let host = std::ptr::from_ref(host).expose_provenance();
    let (state, run) = (pass.state.expose_provenance(), pass.run_function);
    let call = move |f: &mut passdock::sdk::Function, _: &passdock::sdk::PassContext| {
        // SAFETY: the handles are valid until the pass returns, and nothing else edits the function meanwhile.
        let status = unsafe {
            let (host, state) = (
                std::ptr::with_exposed_provenance(host),
                std::ptr::with_exposed_provenance_mut(state),
            );
            let (context, module) = (std::ptr::null_mut(), std::ptr::null());
            run.expect("a function pass")(host, state, context, &f.as_raw(), module)
        };
        assert_eq!(status, Status::OK);
        Ok(())
    };
    let registry = Registry::new();
    let pass = create_function_pass(PassInfo::new("test.transform.Second"), call);
    let context = PassContext::builder().registry(&registry).build();
    let module = model_file::parse_text("test.ir", TEXT).expect("the test's own text");
    let after = pass.call_in(module, &context.expect("a plain context"));
    passdock_ir::text::print(&after.expect("it runs"))
}

#[test]
fn plugin_file_serves_two_hosts() {
    let registry = Registry::new();
    registry
        .load_plugin(&library(), &Default::default())
        .expect("the plugin");
    let before = run(&registry);
    assert!(before.contains("mark = 1"), "{before}");

    let first = passdock::plugin::host().get();
    let second: &'static abi::Host = Box::leak(Box::new(*first));
    assert_eq!(attached(first).state, attached(second).state);
    assert_eq!(run_in_second(second, attached(second)), before);

    assert_eq!(run(&registry), before);
    let again = Plugin::open(&library()).expect("the plugin");
    assert!(
        again.load(passdock::plugin::host()).is_ok(),
        "a host may load it twice"
    );
}
