//! The instruments `print-before` and `print-after`, which print the module before or after passes in the format of
//! `.ir` files. Documentation and metadata are included, the bytes of large constants omitted.

use std::sync::Arc;

use passdock_ir::{Module, text};

use crate::instrument::{
    InstrumentResult, InstrumentSpec, PassCall, PassFilter, PassInstrument, Sink,
};

passdock_plugin_api::options! {
    /// The options of `print-before` and `print-after`.
    struct Options {
        /// Names of passes; `all` selects all passes.
        passes: Vec<String> = ["all"],
    }
}

pub(super) fn spec_before() -> InstrumentSpec {
    let new = |passes, sink| PrintIr::new(passes, PassFilter::None, sink);
    let names = ["PrintBeforeAll", "PrintIRBefore", "PrintBefore"];
    spec("print-before", "Prints the module before passes.", new).aliases(names)
}

pub(super) fn spec_after() -> InstrumentSpec {
    let new = |passes, sink| PrintIr::new(PassFilter::None, passes, sink);
    let names = ["PrintAfterAll", "PrintIRAfter", "PrintAfter"];
    spec("print-after", "Prints the module after passes.", new).aliases(names)
}

fn spec(name: &'static str, summary: &str, new: fn(PassFilter, Sink) -> PrintIr) -> InstrumentSpec {
    InstrumentSpec::new(name, summary, move |options: Options, setup| {
        let passes = setup.passes(name, "passes", &options.passes)?;
        Ok(Arc::new(new(passes, setup.sink.clone())))
    })
    .watching()
}

/// An instrument that prints the module before and after passes.
pub struct PrintIr {
    before: PassFilter,
    after: PassFilter,
    sink: Sink,
}

impl PrintIr {
    /// Creates an instrument that prints before the passes of one filter, and after those of another.
    pub fn new(before: PassFilter, after: PassFilter, sink: Sink) -> PrintIr {
        PrintIr {
            before,
            after,
            sink,
        }
    }

    /// Prints the module if `passes` contains the pass. `began` and `when` are the same word, the first capitalized.
    fn print(
        &self,
        call: &PassCall<'_>,
        passes: &PassFilter,
        [began, when]: [&str; 2],
    ) -> InstrumentResult {
        let info = call.info;
        let heading = match passes {
            PassFilter::All => format!("{began} Running Pass: {info}"),
            names if names.contains(&info.name) => format!("Print IR {when}: {}", info.name),
            _ => return Ok(()),
        };
        (self.sink)(&format!("{heading}\n{}\n", shown(call.module)));
        Ok(())
    }
}

impl PassInstrument for PrintIr {
    fn name(&self) -> &str {
        match (&self.before, &self.after) {
            (PassFilter::None, _) => "print-after",
            (_, PassFilter::None) => "print-before",
            _ => "print",
        }
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.print(call, &self.before, ["Before", "before"])
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.print(call, &self.after, ["After", "after"])
    }
}

/// Returns the module's text for users, without the bytes of large constants.
pub(crate) fn shown(module: &Module) -> String {
    let options = text::PrintOptions {
        constants: text::Constants::Elide,
        ..text::PrintOptions::default()
    };
    text::print_with(module, &options)
}
