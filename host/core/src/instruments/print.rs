//! The module as text, before and after passes.

use passdock_ir::{Module, text};

use super::Sink;
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass::{PassRef, create_host_pass};
use crate::pass_info::PassInfo;

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

    fn contains(&self, name: &str) -> bool {
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
