//! A plugin that publishes the cost of a function for plugins of other vendors.
use cost_type::Cost;
use passdock_plugin_api::prelude::*;
use passdock_plugin_share as share;

fn publish_cost(f: &mut Function, _cx: &PassContext) -> PassResult {
    let (mut elements, mut unknown) = (Vec::new(), 0);
    for op in f.iter() {
        let count = |&result: &ValueId| f.type_of(result).element_count();
        let counted: Option<u64> = f.results(op).iter().map(count).sum();
        unknown += u32::from(counted.is_none());
        elements.resize(elements.len().max(op.index() + 1), 0);
        elements[op.index()] = counted.unwrap_or(0);
    }
    let elements = elements.into();
    share::publish(f, Cost { elements, unknown })?;
    Ok(())
}

plugin! {
    name: "cost-maker",
    passes: [
        /// Publishes the cost of the ops as `acme.Cost/1`.
        function "acme.transform.PublishCost" => publish_cost { opt_level: 0 },
    ],
}
export_plugin!(PLUGIN);
