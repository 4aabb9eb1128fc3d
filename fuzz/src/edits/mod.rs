//! What is asserted of edits through the contract's tables.
//!
//! An input is a header and steps, [`STEP`] bytes each. A plugin in C would do what they say: its
//! passes and op definitions (`plugin`) take one step after the other (`script`) and call the host's
//! tables with it (`functions`, `analyses`, `modules`, `context`, `definitions`), with what is right
//! and with most of what is wrong. The host that runs the passes is the real one.

mod analyses;
mod arguments;
mod calls;
mod definitions;
mod modules;
mod plugin;
mod script;
mod session;

use passdock_core::{PassContext, Registry, Verify};
use passdock_ir::text::{self as ir_text, Constants, PrintOptions};
use passdock_ir::{Module, verify};

pub use script::STEP;
use script::Script;

/// The modules to begin with.
const MODULES: [&str; 4] = [
    include_str!("../../../host/ir/src/text/print/graph.ir"),
    include_str!("../../../host/ir/src/text/print/control.ir"),
    include_str!("../../../host/ir/src/text/print/prim.ir"),
    include_str!("module.ir"),
];

/// The passes that a header names.
const PASSES: [&str; 4] = [
    plugin::FUNCTION,
    plugin::MODULE,
    plugin::PRIM,
    plugin::KEEPS_INTERFACE,
];

/// Runs the passes that the header names, by the steps behind it. After each the module is right or the
/// pass was refused, its text is read again as the same, and the module before it is as it was. `true`:
/// all passes ended well.
pub fn check(input: &[u8]) -> bool {
    let Some((header, steps)) = input.split_at_checked(STEP) else {
        return false;
    };
    let mut module = ir_text::parse(MODULES[usize::from(header[0]) % MODULES.len()])
        .expect("a module that is right");
    let own = header[1] % 2 == 0;
    let context = context_with(match own {
        true => Verify::Off,
        false => Verify::All,
    });
    let (mut well, mut text) = (true, printed(&module));
    let started = Script::start(steps, header[1] % 4 < 3);
    for &which in header[2..6].iter().take(1 + usize::from(header[1] >> 6)) {
        let pass = REGISTRY.with(|registry| registry.get_pass(PASSES[usize::from(which) % 4]));
        let pass = pass.expect("the plugin has it");
        let result = pass.call_in(module.clone(), &context);
        let same = printed(&module);
        assert!(text == same, "the input changed:\n{text}\n{same}");
        match result {
            // The very functions that were looked at before.
            Ok(after) if after.is_same(&module) => {}
            Ok(after) => {
                text = check_module(&after, own);
                module = after;
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!said.contains("mistake in passdock"), "{said}");
                well = false;
            }
        }
    }
    drop(started);
    drop(module);
    context_with(Verify::Off);
    analyses::assert_dropped();
    well
}

/// The module that a pass made is right; where the host was told not to verify, regions may lack their
/// end, which only the pass can give them, and calls may name functions that are gone. A right one is its
/// text, which this answers.
fn check_module(module: &Module, own: bool) -> String {
    let violations = verify::verify_module(module).err().unwrap_or_default();
    let excused = |violation: &verify::Violation| {
        let invariant = violation.invariant;
        own && matches!(
            invariant,
            verify::Invariant::Terminators | verify::Invariant::Calls
        )
    };
    let wrong: Vec<String> = violations
        .iter()
        .filter(|violation| !excused(violation))
        .map(ToString::to_string)
        .collect();
    let text = printed(module);
    assert!(
        wrong.is_empty(),
        "what the edits left is wrong: {}\n{text}",
        wrong.join("\n"),
    );
    if !violations.is_empty() {
        return text;
    }
    let again = ir_text::parse(&text)
        .unwrap_or_else(|error| panic!("what was printed isn't read: {error}\n{text}"));
    let twice = printed(&again);
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
    let builder = REGISTRY.with(|registry| {
        PassContext::builder()
            .registry(registry)
            .opt_level(3)
            .jobs(1)
            .verify(verify)
    });
    // Shown as a terminal would, to nobody.
    let builder = builder.renderer(|said| {
        for one in said {
            assert!(!one.render(false).is_empty());
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
