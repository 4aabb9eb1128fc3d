//! The parser: text to module.
//!
//! It reads front to back, once, and keeps open regions on a stack of its own, so depth costs no
//! recursion. Names are resolved as they are read, so a value that isn't visible isn't found, and
//! ops are put at the end of their region without the checks of a public edit.

mod attr;
mod body;
mod data;
mod function;
mod module;
mod op;
pub(super) mod options;
mod parser;
mod scope;
mod types;

use std::sync::Arc;

use super::syntax::error::ParseError;
use crate::edit::NewPort;
use crate::function::Function;
use crate::module::Module;
use crate::symbols::Symbols;
pub use attr::set_attr_text;
use options::ParseOptions;
use parser::Parser;

/// Reads a module.
///
/// # Errors
/// The first place that isn't IR text, or says what no module may.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_with(text, &ParseOptions::default())
}

/// Reads a module whose constants may be in other files.
///
/// # Errors
/// As [`parse()`]; and a file's that can't be opened.
pub fn parse_with(text: &str, options: &ParseOptions<'_>) -> Result<Module, ParseError> {
    let module = Module::new();
    let mut parser = Parser::new(text, options, module.symbols().clone());
    parser.module(module)
}

/// Reads a type, `f32[n*2,3]`, as that of the parameter of a function with nothing else in it.
///
/// # Errors
/// If the text isn't a type.
pub fn parse_type(text: &str, symbols: Arc<Symbols>) -> Result<Function, ParseError> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, symbols);
    let ty = parser.ty()?;
    parser.nothing_follows("the type")?;
    let mut f = parser.f;
    let body = f.body();
    f.push_arg(body, &NewPort { name: "", ty });
    Ok(f)
}

/// Reads one function that is to be copied into others: it stands alone, and its values forget
/// their names, which are its own business.
///
/// # Errors
/// As [`parse()`]; and if the function needs what is outside of it.
pub fn parse_body(text: &str, symbols: Arc<Symbols>) -> Result<Function, ParseError> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, symbols);
    parser.body_alone()
}
