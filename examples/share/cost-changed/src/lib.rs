//! A plugin that knows `acme.Cost/1` of the examples with a field of another type.

use abi_stable::{std_types::RVec, StableAbi};
use passdock_plugin_api::prelude::*;
use passdock_plugin_share::{self as share, SharedAnalysis};

/// What `examples/share/cost-type` has, but for the type of a field.
#[repr(C)]
#[derive(StableAbi)]
struct Cost {
    elements: RVec<u32>,
    unknown: u32,
}

impl SharedAnalysis for Cost {
    const KEY: &'static str = "acme.Cost/1";
}

fn read(f: &mut Function, cx: &PassContext) -> PassResult {
    match share::find::<Cost>(f) {
        Some(Ok(cost)) => {
            let text = format!("{} ops, {} unknown", cost.elements.len(), cost.unknown);
            cx.emit(&Diagnostic::note(text));
        }
        Some(Err(why)) => cx.emit(&Diagnostic::warning(why)),
        None => cx.emit(&Diagnostic::note("nothing is published")),
    }
    Ok(())
}

fn publish(f: &mut Function, _cx: &PassContext) -> PassResult {
    let (elements, unknown) = (RVec::new(), 0);
    share::publish(f, Cost { elements, unknown })?;
    Ok(())
}

plugin! {
    name: "cost-changed",
    passes: [
        /// Reads the cost, or warns of what it can't read.
        function "t.transform.ReadChanged" => read { opt_level: 0 },
        /// Publishes a cost that others can't read.
        function "t.transform.PublishChanged" => publish { opt_level: 0 },
    ],
}
export_plugin!(PLUGIN);
