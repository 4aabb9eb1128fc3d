//! A plugin of another vendor, which reads the data of `cost-maker` in place.
use cost_type::Cost;
use passdock_plugin_api::prelude::*;
use passdock_plugin_share as share;

fn report_dearest(f: &mut Function, cx: &PassContext) -> PassResult {
    let cost = match share::find::<Cost>(f) {
        Some(Ok(cost)) => cost,
        // The layouts differ, so the pass only reports why.
        Some(Err(why)) => {
            cx.emit(&Diagnostic::warning(why));
            return Ok(());
        }
        None => {
            let none = "no cost is published for this function";
            cx.emit(&Diagnostic::note(none).help("run `acme.transform.PublishCost` first"));
            return Ok(());
        }
    };
    let of = |op: &OpId| cost.elements.get(op.index()).copied();
    if let Some(op) = f.iter().max_by_key(of) {
        let elements = of(&op).unwrap_or(0);
        let text = format!("the most expensive op computes {elements} elements");
        cx.emit(&Diagnostic::note(text).at(op));
    }
    if cost.unknown > 0 {
        let text = format!("ops of unknown cost: {}", cost.unknown);
        cx.emit(&Diagnostic::note(text));
    }
    Ok(())
}

plugin! {
    name: "cost-reader",
    passes: [
        /// Reports the most expensive op.
        function "other.transform.ReportDearest" => report_dearest { opt_level: 0 },
    ],
}
export_plugin!(PLUGIN);
