//! The text format (`.ir`); `docs/ir.md` has its grammar.
//!
//! Printing a parsed print gives the same text. Values with names print as `%x` or `%"a/b:0"`, the others are numbered
//! in program order. The printer accepts invalid functions, so that they can be inspected; the parser accepts only
//! functions that the verifier accepts.
//!
//! ```
//! use passdock_ir::{text, verify};
//!
//! let module = text::parse("module { fn @f(%x: f32[n]) -> (%y) { %0 = onnx.Relu(%x) return %0 } }")?;
//! verify::verify_module(&module).expect("valid IR");
//! let printed = text::print(&module);
//! assert_eq!(printed.lines().nth(2), Some("    %0 = onnx.Relu(%x)"));
//! assert_eq!(text::print(&text::parse(&printed)?), printed);
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! [`print()`] and [`parse()`] are the entry points; `syntax` is shared by both. [`TextSource`] and [`OpSpans`] are for
//! messages that show a line of a text.

mod insert;
mod parse;
mod print;
mod spans;
mod syntax;

pub use crate::quote::{is_hidden, value_text};
pub use crate::source::TextSource;
pub use insert::insert_body;
pub use parse::options::{Open, ParseOptions};
pub use parse::{parse, parse_body, parse_type, parse_with, set_attr_text};
pub use print::options::{Constants, PrintOptions};
pub use print::pieces::{Naming, Pieces};
pub use print::{
    attr_text, brief_value, print, print_brief_pair, print_function, print_with, same_functions,
    write_module,
};
pub use spans::OpSpans;
pub use syntax::MAX_INLINE_ELEMENTS;
pub use syntax::error::ParseError;
pub use syntax::types::{dim_text, type_text};
