//! A plugin whose version of `acme.Cost/1` has a field of another type.

use abi_stable::{std_types::RVec, StableAbi};
use passdock_plugin_api::prelude::*;
use passdock_plugin_share::{self as share, SharedAnalysis};

/// The type in `examples/share/cost-type`, with another type of `elements`.
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
        None => cx.emit(&Diagnostic::note("no cost is published")),
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
        /// Reads the cost, or warns that it can't be read.
        function "t.transform.ReadChanged" => read { opt_level: 0 },
        /// Publishes a cost that other plugins can't read.
        function "t.transform.PublishChanged" => publish { opt_level: 0 },
    ],
}
export_plugin!(PLUGIN);
