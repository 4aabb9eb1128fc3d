//! The parser: text to module.
//!
//! It reads front to back, once, and keeps open regions on a stack of its own, so depth costs no
//! recursion. Names are resolved as they are read, so a value that isn't visible isn't found, and
//! ops are put at the end of their region without the checks of a public edit.

mod attr;
mod body;
mod data;
mod error;
mod function;
mod op;
mod scope;
mod types;

use std::sync::Arc;

use base64::Engine;
use passdock_abi::{ConstId, FunctionKind, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lex::Cursor;
use crate::constant::{ByteSource, ConstantData};
use crate::function::Function;
use crate::module::Module;
use crate::symbols::{MAX_SYMBOL_BYTES, Symbols};
pub use attr::set_attr_text;
pub use error::ParseError;
use scope::Scope;

type Parse<T> = Result<T, ParseError>;

/// Opens a file that constants are in, by the name that the text gives it; an error is a sentence.
pub type Open<'o> = &'o dyn Fn(&str) -> Result<Arc<dyn ByteSource>, String>;

/// How to read a text.
#[derive(Clone, Copy, Default)]
pub struct ParseOptions<'o> {
    /// The text's name. If there is one, ops without a location get their place in the text.
    pub file: Option<&'o str>,
    /// Opens the files that constants are in: relative to the text's directory.
    pub open: Option<Open<'o>>,
}

/// Reads a module.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_with(text, &ParseOptions::default())
}

/// Reads a module whose constants may be in other files.
pub fn parse_with(text: &str, options: &ParseOptions<'_>) -> Result<Module, ParseError> {
    let module = Module::new();
    let mut parser = Parser::new(text, options, module.symbols().clone());
    parser.module(module)
}

/// Reads one function that is to be copied into others: it stands alone, and its values forget
/// their names, which are its own business.
pub fn parse_body(text: &str, symbols: Arc<Symbols>) -> Result<Function, ParseError> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, symbols);
    parser.body_alone()
}

struct Parser<'t, 'o> {
    cur: Cursor<'t>,
    options: &'o ParseOptions<'o>,
    symbols: Arc<Symbols>,
    /// The function that is being read.
    f: Function,
    scope: Scope,
    frames: Vec<body::Frame<'t>>,
    /// Scalars among the operands of the function: dtype and bits.
    literals: FxHashMap<(u32, u64), passdock_abi::ValueId>,
    sources: FxHashMap<String, Arc<dyn ByteSource>>,
    blob_uses: Vec<BlobUse>,
    blobs: FxHashMap<u64, Arc<ConstantData>>,
    /// How far lines were counted, and how many there were.
    counted: (usize, u32, usize),
    file: SymbolId,
}

/// A constant whose bytes stand further down.
struct BlobUse {
    function: SymbolId,
    constant: ConstId,
    number: u64,
    span: std::ops::Range<usize>,
}

impl<'t, 'o> Parser<'t, 'o> {
    fn new(text: &'t str, options: &'o ParseOptions<'o>, symbols: Arc<Symbols>) -> Parser<'t, 'o> {
        let file = options
            .file
            .map_or(SymbolId::NONE, |file| symbols.intern(file));
        Parser {
            cur: Cursor::new(text),
            options,
            f: Function::new(symbols.clone(), FunctionKind::GRAPH, SymbolId(0)),
            scope: Scope::new(symbols.len()),
            symbols,
            frames: Vec::new(),
            literals: FxHashMap::default(),
            sources: FxHashMap::default(),
            blob_uses: Vec::new(),
            blobs: FxHashMap::default(),
            counted: (0, 1, 0),
            file,
        }
    }

    fn module(&mut self, mut module: Module) -> Parse<Module> {
        if !self.cur.eat_word("module") {
            let found = self.cur.found();
            let message = format!("Expected `module {{`, found {found}.");
            return Err(self.cur.error_here(message));
        }
        if let Some(extras) = self.extras()? {
            module.set_extras(extras);
        }
        self.cur.expect("{", "after `module`")?;
        let mut metadata = Vec::new();
        let mut functions: Vec<Function> = Vec::new();
        let mut names = FxHashSet::default();
        loop {
            let start = self.cur.here();
            match self.cur.peek_word() {
                "metadata" => {
                    self.cur.word();
                    let key = self.cur.string_text()?.into_owned();
                    self.cur.expect("=", "after the key")?;
                    metadata.push((key, self.cur.string_text()?.into_owned()));
                }
                "fn" | "prim" => {
                    let function = self.function()?;
                    if !names.insert(function.name()) {
                        let name = function.text(function.name()).to_owned();
                        return Err(self.cur.error_since(
                            start,
                            format!("The module has a function @{name} already."),
                        ));
                    }
                    functions.push(function);
                }
                "blob" => self.blob()?,
                "" if self.cur.eat("}") => break,
                word => {
                    let found = self.cur.found();
                    let message =
                        format!("Expected a function (`fn @main(…) {{`) or `}}`, found {found}.");
                    let error = self.cur.error_here(message);
                    return Err(error.suggest(word, ["fn", "prim", "metadata", "blob"]));
                }
            }
        }
        self.nothing_follows("the module")?;
        self.fill_blobs(&mut functions)?;
        module.set_metadata(metadata);
        for mut function in functions {
            function.seal();
            if let Err(error) = module.insert(function) {
                return Err(self.cur.error_here(error.message));
            }
        }
        Ok(module)
    }

    fn body_alone(&mut self) -> Parse<Function> {
        if self.cur.peek_word() != "fn" {
            let found = self.cur.found();
            let message = format!("Expected a function (`fn @body(…) {{`), found {found}.");
            return Err(self.cur.error_here(message));
        }
        let mut function = self.function()?;
        self.nothing_follows("the function")?;
        self.fill_blobs(std::slice::from_mut(&mut function))?;
        for value in &mut function.values {
            value.name = SymbolId::NONE;
        }
        function.seal();
        Ok(function)
    }

    fn nothing_follows(&mut self, what: &str) -> Parse<()> {
        if self.cur.peek() != 0 || self.cur.here() < self.cur.text().len() {
            let found = self.cur.found();
            let message = format!("Nothing may follow {what}, found {found}.");
            return Err(self.cur.error_here(message));
        }
        Ok(())
    }

    /// `blob 0 = "…"`: bytes in base64.
    fn blob(&mut self) -> Parse<()> {
        let start = self.cur.here();
        self.cur.word();
        let number = self.cur.integer("a blob's number")?;
        self.cur.expect("=", "after a blob's number")?;
        let at = self.cur.here();
        let text = self.cur.string()?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(&*text)
            .map_err(|error| {
                let message = format!("These bytes aren't base64: {error}.");
                self.cur.error_since(at, message)
            })?;
        let data = ConstantData::inline(bytes);
        if self.blobs.insert(number, data).is_some() {
            let message = format!("There are two blobs {number}.");
            return Err(self.cur.error_since(start, message));
        }
        Ok(())
    }

    /// Gives the constants their bytes.
    fn fill_blobs(&mut self, functions: &mut [Function]) -> Parse<()> {
        let mut places: FxHashMap<SymbolId, &mut Function> =
            functions.iter_mut().map(|f| (f.name(), f)).collect();
        for used in std::mem::take(&mut self.blob_uses) {
            let fail =
                |message: String| ParseError::new(self.cur.text(), used.span.clone(), message);
            let Some(data) = self.blobs.get(&used.number) else {
                let message = format!("There is no blob {}.", used.number);
                return Err(
                    fail(message).help("Blobs stand at the end of the module: `blob 0 = \"…\"`.")
                );
            };
            let Some(f) = places.get_mut(&used.function) else {
                continue;
            };
            let at = used.constant.index();
            data::check_size(f, f.constants[at].ty, data).map_err(fail)?;
            f.constants[at].storage = data.storage();
            f.constants[at].byte_len = data.len();
            f.data[at] = data.clone();
        }
        Ok(())
    }

    /// Interns a text that isn't too long.
    fn intern(&mut self, text: &str, start: usize) -> Parse<SymbolId> {
        if text.len() > MAX_SYMBOL_BYTES {
            let message = format!(
                "This name has {} bytes; the limit is {MAX_SYMBOL_BYTES}.",
                text.len()
            );
            return Err(self.cur.error_since(start, message));
        }
        Ok(self.symbols.intern(text))
    }

    /// The line and column of a place behind all that were asked for before.
    fn place(&mut self, at: usize) -> (u32, u32) {
        let (mut from, mut line, mut line_start) = self.counted;
        if at < from {
            (from, line, line_start) = (0, 1, 0);
        }
        let text = self.cur.text();
        for (offset, byte) in text.as_bytes()[from..at].iter().enumerate() {
            if *byte == b'\n' {
                (line, line_start) = (line + 1, from + offset + 1);
            }
        }
        self.counted = (at, line, line_start);
        let column = text
            .get(line_start..at)
            .map_or(0, |text| text.chars().count());
        (line, column as u32 + 1)
    }
}
