//! Assertions about edits through the tables of the plugin ABI.
//!
//! The fuzzed plugin behaves like a C plugin whose passes (`pass`) and op definitions (`plugin`) are controlled by the
//! bytes of an input (`input`). The bytes choose the host functions that they call (`calls`), and the arguments
//! (`arguments`), which are mostly valid. The passes run in the real host.

mod arguments;
mod calls;
mod input;
mod pass;
mod plugin;

use passdock_core::{PassContext, Registry, Verify};
use passdock_ir::text::{self as ir_text, Constants, PrintOptions};
use passdock_ir::{Module, verify};

/// The initial modules. The one whose ops the plugin defines is more likely.
const MODULES: [&str; 5] = [
    include_str!("module.ir"),
    include_str!("module.ir"),
    include_str!("../../../host/ir/src/text/print/graph.ir"),
    include_str!("../../../host/ir/src/text/print/control.ir"),
    include_str!("../../../host/ir/src/text/print/prim.ir"),
];

/// Runs up to four passes that the input controls.
///
/// After each pass, the module must be valid unless the pass failed, its text must parse to the same module, and the
/// pass's input must be unchanged. Returns `true` if all passes succeeded.
pub fn check(input: &[u8]) -> bool {
    input::start(input);
    let mut module = ir_text::parse(input::pick(&MODULES)).expect("a module that is right");
    let is_verified = !input::one_in(2);
    let context = context_with([Verify::Off, Verify::All][usize::from(is_verified)]);
    let (mut well, mut text) = (true, printed(&module));
    for _ in 0..=input::below(4) {
        let name = input::pick(&["Function", "Prim", "Module", "KeepsInterface"]);
        let name = format!("f.transform.{name}");
        let pass = REGISTRY.with(|registry| registry.get_pass(&name));
        let pass = pass.expect("the plugin has it");
        let result = pass.call_in(module.clone(), &context);
        let same = printed(&module);
        assert!(text == same, "the input changed:\n{text}\n{same}");
        match result {
            // It has the same functions, which were already checked.
            Ok(after) if after.is_same(&module) => {}
            Ok(after) => {
                text = check_module(&after, is_verified);
                module = after;
            }
            Err(_) => well = false,
        }
    }
    drop(module);
    context_with(Verify::Off);
    arguments::assert_dropped();
    well
}

/// Checks the result of a pass and returns its text. A valid module must parse from its text.
///
/// If the host didn't verify the module, regions may lack terminators, which only the pass can add.
fn check_module(module: &Module, is_verified: bool) -> String {
    let violations = verify::verify_module(module).err().unwrap_or_default();
    let is_right = violations
        .iter()
        .all(|violation| !is_verified && violation.invariant == verify::Invariant::Terminators);
    let text = printed(module);
    assert!(is_right, "wrong after the edits: {violations:?}\n{text}");
    if !violations.is_empty() {
        return text;
    }
    let again = ir_text::parse(&text);
    let twice = again.map_or_else(|error| error.to_string(), |again| printed(&again));
    assert!(text == twice, "read again it is another:\n{text}\n{twice}");
    text
}

fn printed(module: &Module) -> String {
    let options = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    ir_text::print_with(module, &options)
}

fn context_with(verify: Verify) -> PassContext {
    let builder = REGISTRY.with(|registry| PassContext::builder().registry(registry));
    let builder = builder.opt_level(3).jobs(1).verify(verify);
    // Renders diagnostics like for a terminal.
    let builder = builder.renderer(|diagnostics| {
        for diagnostic in diagnostics {
            assert!(!diagnostic.render(false).is_empty());
        }
    });
    builder.build().expect("the settings are right")
}

thread_local! {
    static REGISTRY: Registry = {
        let registry = Registry::new();
        registry.load_static(plugin::PLUGIN).expect("a right plugin");
        registry
    };
}
