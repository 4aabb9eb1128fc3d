//! The printer.
//!
//! One pass names the values ([`names`]), one writes into one buffer that is flushed as it fills;
//! an op costs no allocation.

mod attr;
mod data;
mod function;
mod names;
mod op;
pub(super) mod options;
mod out;
pub(super) mod pieces;
mod printer;

use std::{fmt, io};

use crate::function::Function;
use crate::module::Module;
pub use attr::attr_text;
use names::ValueNames;
use options::PrintOptions;
use out::Out;
use printer::Printer;

/// A module as text that can be parsed.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
}

/// The text that can be parsed: [`print()`].
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// A module as text.
pub fn print_with(module: &Module, options: &PrintOptions<'_>) -> String {
    let mut out = Out::new(None);
    out.module(module, options);
    out.text
}

/// One function as text, without the module around it.
pub fn print_function(function: &Function, options: &PrintOptions<'_>) -> String {
    let mut out = Out::new(None);
    out.function(function, options, 0);
    out.write_blobs();
    out.note();
    out.text
}

/// Writes a module as text.
///
/// # Errors
/// Those of `sink`; and of a constant whose bytes can't be read.
pub fn write_module(
    sink: &mut dyn io::Write,
    module: &Module,
    options: &PrintOptions<'_>,
) -> io::Result<()> {
    let mut out = Out::new(Some(sink));
    out.module(module, options);
    out.flush();
    out.error.map_or(Ok(()), Err)
}

impl Out<'_> {
    fn module(&mut self, module: &Module, options: &PrintOptions<'_>) {
        self.text.push_str("module");
        self.extras(module.extras());
        self.text.push_str(" {\n");
        for (key, value) in module.metadata() {
            self.text.push_str("  metadata ");
            self.quoted(key);
            self.text.push_str(" = ");
            self.quoted(value);
            self.text.push('\n');
        }
        for function in module.functions() {
            self.function(function, options, 1);
        }
        self.write_blobs();
        self.text.push_str("}\n");
        self.note();
    }

    fn function(&mut self, function: &Function, options: &PrintOptions<'_>, level: usize) {
        let names = ValueNames::new(function, options.raw_ids, &mut self.bound);
        let mut printer = Printer::new(function, options, self, &names);
        printer.level = level;
        printer.function();
    }
}
