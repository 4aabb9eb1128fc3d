//! The printing instruments, which print the module before or after passes: as `.ir` files have it,
//! documentation and metadata included, but without the bytes of large constants.

use std::sync::Arc;

use passdock_ir::{Module, text};

use crate::instrument::{
    InstrumentResult, InstrumentSpec, PassCall, PassFilter, PassInstrument, Sink,
};

crate::config_struct! {
    /// The options of `print-before` and `print-after`.
    struct Options {
        /// The passes; `all` stands for all.
        passes: Vec<String> = vec!["all".to_owned()];
    }
}

pub(super) fn spec_before() -> InstrumentSpec {
    let summary = "Prints the module before passes.";
    InstrumentSpec::watching("print-before", summary, |options: Options, setup| {
        let names = setup.passes("print-before", "passes", &options.passes)?;
        let sink = setup.sink.clone();
        Ok(Arc::new(PrintIr::new(names, PassFilter::None, sink)))
    })
}

pub(super) fn spec_after() -> InstrumentSpec {
    let summary = "Prints the module after passes.";
    InstrumentSpec::watching("print-after", summary, |options: Options, setup| {
        let names = setup.passes("print-after", "passes", &options.passes)?;
        let sink = setup.sink.clone();
        Ok(Arc::new(PrintIr::new(PassFilter::None, names, sink)))
    })
}

/// An instrument that prints the module before and after passes.
pub struct PrintIr {
    before: PassFilter,
    after: PassFilter,
    sink: Sink,
}

impl PrintIr {
    /// An instrument that prints before the passes of one filter and after those of another.
    pub fn new(before: PassFilter, after: PassFilter, sink: Sink) -> PrintIr {
        PrintIr {
            before,
            after,
            sink,
        }
    }
}

impl PassInstrument for PrintIr {
    fn name(&self) -> &str {
        "print"
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        match &self.before {
            PassFilter::All => {
                let text = shown(module);
                (self.sink)(&format!("Before Running Pass: {info}\n{text}\n"));
            }
            names if names.contains(&info.name) => {
                let text = shown(module);
                (self.sink)(&format!("Print IR before: {}\n{text}\n", info.name));
            }
            _ => {}
        }
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        match &self.after {
            PassFilter::All => {
                let text = shown(module);
                (self.sink)(&format!("After Running Pass: {info}\n{text}\n"));
            }
            names if names.contains(&info.name) => {
                let text = shown(module);
                (self.sink)(&format!("Print IR after: {}\n{text}\n", info.name));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The module's text for people, without the bytes of large constants.
pub(crate) fn shown(module: &Module) -> String {
    let options = text::PrintOptions {
        constants: text::Constants::Elide,
        ..text::PrintOptions::default()
    };
    text::print_with(module, &options)
}
