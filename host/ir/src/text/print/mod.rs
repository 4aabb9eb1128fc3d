//! The printer.
//!
//! One pass names the values ([`names`]), another writes to a buffer that is flushed when it is full. Printing an op
//! doesn't allocate.

mod attr;
pub(super) mod brief;
mod data;
mod function;
mod names;
mod op;
pub(super) mod options;
mod out;
pub(super) mod pieces;
mod printer;

use std::sync::Arc;
use std::{fmt, io};

use crate::error::{Edit, EditFailure};
use crate::function::Function;
use crate::module::Module;
pub use attr::attr_text;
pub use brief::{brief_value, print_brief_pair};
use names::ValueNames;
use options::{Constants, PrintOptions};
use out::Out;
use printer::Printer;

/// Prints a module as text that can be parsed.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
}

/// Prints the module like [`print()`].
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// Prints a module with options.
pub fn print_with(module: &Module, options: &PrintOptions<'_>) -> String {
    let mut out = Out::new(None);
    out.module(module, options);
    out.text
}

/// Prints a single function, without a module around it.
pub fn print_function(function: &Function, options: &PrintOptions<'_>) -> String {
    let mut out = Out::new(None);
    out.function(function, options, 0);
    out.write_blobs();
    if !options.brief {
        out.note();
    }
    out.text
}

/// Whether two functions, perhaps of different modules, are the same, including the data of their constants.
pub fn same_functions(a: &Function, b: &Function) -> bool {
    let options = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    let text = |f: &Function| print_function(&f.copied_to(b.symbols()), &options);
    text(a) == text(b)
}

impl Module {
    /// Adds a function that new calls refer to, unless `before` or this module has an equal one.
    ///
    /// # Errors
    /// If one of them has a different function of that name.
    pub fn insert_callee(&mut self, callee: impl Into<Arc<Function>>, before: &Module) -> Edit {
        let callee = callee.into();
        let known = before.function(callee.name());
        match known.or_else(|| self.function(callee.name())) {
            Some(known) if same_functions(known, &callee) => Ok(()),
            Some(_) => Err(EditFailure::rejected(format!(
                "a new body calls a function `@{0}` that differs from the `@{0}` of the module; rename one of them",
                callee.text(callee.name())
            ))),
            None => self.insert(callee),
        }
    }
}

/// Writes a module as text to a sink.
///
/// # Errors
/// Errors of `sink`, and if the bytes of a constant can't be read.
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
        if options.brief {
            self.text.push_str(brief::FIRST_LINE);
        }
        self.text.push_str("module");
        if !options.brief {
            self.extras(module.extras());
        }
        self.text.push_str(" {\n");
        for (key, value) in module.metadata() {
            self.text.push_str("  metadata ");
            self.quoted(key);
            self.text.push_str(" = ");
            let start = self.text.len();
            self.quoted(value);
            if options.brief {
                brief::cut(&mut self.text, start);
            }
            self.text.push('\n');
        }
        for function in module.functions() {
            self.function(function, options, 1);
        }
        self.write_blobs();
        self.text.push_str("}\n");
        if !options.brief {
            self.note();
        }
    }

    fn function(&mut self, function: &Function, options: &PrintOptions<'_>, level: usize) {
        let names = ValueNames::new(function, options.brief);
        let mut printer = Printer::new(function, options, self, &names);
        printer.level = level;
        printer.function();
    }
}
