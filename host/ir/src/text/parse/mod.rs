//! The parser: text to module.
//!
//! It reads the text once, front to back, with an explicit stack of open regions, so it doesn't recurse into nested
//! regions. Names are resolved as they are parsed, so only visible values are found. Ops are appended to their region
//! without the checks of the public edits.

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

/// Parses a module.
///
/// # Errors
/// The first syntax error or violated invariant, with its position.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_with(text, &ParseOptions::default())
}

/// Parses a module whose constants may be in other files.
///
/// # Errors
/// See [`parse()`]; also if a file can't be opened.
pub fn parse_with(text: &str, options: &ParseOptions<'_>) -> Result<Module, ParseError> {
    let module = Module::new();
    let mut parser = Parser::new(text, options, module.symbols().clone());
    parser.module(module)
}

/// Parses a type, `f32[n*2,3]`, to the only parameter of a function that is otherwise empty.
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

/// Parses one function whose ops will be copied into others. It must be self-contained. The names of its values are
/// dropped.
///
/// # Errors
/// See [`parse()`]; also if the function refers to anything outside.
pub fn parse_body(text: &str, symbols: Arc<Symbols>) -> Result<Function, ParseError> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, symbols);
    parser.body_alone()
}
