//! The module as text, before and after passes: as `.ir` files have it, documentation and metadata
//! included, but without the bytes of large constants.

use std::sync::Arc;

use passdock_ir::{Module, text};

use super::Sink;
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass::{PassRef, create_host_pass};
use crate::pass_info::PassInfo;
use crate::registry::InstrumentSpec;

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
        Ok(Arc::new(PrintIr::new(names, Names::None, sink)))
    })
}

pub(super) fn spec_after() -> InstrumentSpec {
    let summary = "Prints the module after passes.";
    InstrumentSpec::watching("print-after", summary, |options: Options, setup| {
        let names = setup.passes("print-after", "passes", &options.passes)?;
        let sink = setup.sink.clone();
        Ok(Arc::new(PrintIr::new(Names::None, names, sink)))
    })
}

/// Which passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those of these names.
    These(Vec<String>),
}

impl Names {
    /// As the command line gives them: `all` is all.
    pub fn new(names: &[String]) -> Names {
        if names.is_empty() {
            Names::None
        } else if names.iter().any(|name| name == "all") {
            Names::All
        } else {
            Names::These(names.to_vec())
        }
    }

    /// Whether this pass is one of them.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Names::None => false,
            Names::All => true,
            Names::These(names) => names.iter().any(|known| known == name),
        }
    }
}

/// Prints the module before and after passes.
pub struct PrintIr {
    before: Names,
    after: Names,
    sink: Sink,
}

impl PrintIr {
    /// Prints before these and after those.
    pub fn new(before: Names, after: Names, sink: Sink) -> PrintIr {
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

    fn run_before_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        match &self.before {
            Names::All => {
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

    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        match &self.after {
            Names::All => {
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

/// A pass that prints the module under a heading and changes nothing.
pub fn print_ir(header: impl Into<String>, sink: Sink) -> PassRef {
    let header = header.into();
    create_host_pass(PassInfo::new("PrintIR"), move |module, _| {
        sink(&format!("PrintIR({header}):\n{}", shown(module)));
        Ok(module.clone())
    })
}

/// A module as people look at it: a large constant's bytes are left out.
fn shown(module: &Module) -> String {
    let options = text::PrintOptions {
        constants: text::Constants::Elide,
        ..text::PrintOptions::default()
    };
    text::print_with(module, &options)
}
