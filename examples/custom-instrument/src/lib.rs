//! An instrument that reports which kinds of ops passes add.

use std::collections::BTreeMap;

use passdock_plugin_api::prelude::*;

options! {
    /// Options of the instrument.
    pub struct HistogramOptions {
        /// Minimum number of added ops of a kind.
        min_growth: i64 = 1,
    }
}

/// The number of ops of each kind.
type Histogram = BTreeMap<String, i64>;

fn histogram(m: &Module) -> Result<Histogram, EditError> {
    let mut kinds = Histogram::new();
    for entry in m.functions() {
        let f = m.snapshot(entry.name)?;
        for op in f.ops() {
            *kinds.entry(f.name(op).to_owned()).or_default() += 1;
        }
    }
    Ok(kinds)
}

pub struct OpHistogram {
    options: HistogramOptions,
    /// For each running pass, outermost first, because passes may run others.
    before: Vec<Histogram>,
    grown: Vec<String>,
}

impl Instrument for OpHistogram {
    fn new(cx: &PassContext) -> Result<Self, PassError> {
        let options = cx.options()?;
        Ok(OpHistogram {
            options,
            before: Vec::new(),
            grown: Vec::new(),
        })
    }

    fn run_before_pass(&mut self, m: &Module, _: &PassInfo, _: &PassContext) -> PassResult {
        self.before.push(histogram(m)?);
        Ok(())
    }

    fn run_after_pass(&mut self, m: &Module, info: &PassInfo, _: &PassContext) -> PassResult {
        let before = self.before.pop().unwrap_or_default();
        for (kind, count) in histogram(m)? {
            let more = count - before.get(&kind).unwrap_or(&0);
            if more >= self.options.min_growth {
                self.grown.push(format!("{} adds {more} {kind}", info.name));
            }
        }
        Ok(())
    }

    fn pass_failed(&mut self, _: &Module, _: &PassInfo, _: &str, _: &PassContext) -> PassResult {
        self.before.pop();
        Ok(())
    }

    fn report(&self) -> String {
        self.grown.join("\n")
    }
}

plugin! {
    name: "acme",
    instruments: [
        /// Reports which passes add ops, by kind.
        "acme.op-histogram" => OpHistogram { options: HistogramOptions },
    ],
}
export_plugin!(PLUGIN);
