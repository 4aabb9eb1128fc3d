//! The state of the parser: the text, the current function, and its open regions.

use std::ops::Range;
use std::sync::Arc;

use passdock_abi::{ConstId, FunctionKind, OpId, Port, RegionId, SymbolId, ValueId};
use rustc_hash::FxHashMap;

use super::super::syntax::error::ParseError;
use super::super::syntax::lex::{Cursor, ValueName};
use super::options::ParseOptions;
use super::scope::Scope;
use crate::constant::{ByteSource, ConstantData};
use crate::function::Function;
use crate::function::origin::Extras;
use crate::symbols::{MAX_SYMBOL_BYTES, Symbols};

pub(super) type Parse<T> = Result<T, ParseError>;

pub(super) struct Parser<'t, 'o> {
    pub(super) cur: Cursor<'t>,
    pub(super) options: &'o ParseOptions<'o>,
    pub(super) symbols: Arc<Symbols>,
    /// The current function.
    pub(super) f: Function,
    pub(super) scope: Scope,
    pub(super) frames: Vec<Frame<'t>>,
    /// The literal operands of the function, by dtype and bytes.
    pub(super) literals: FxHashMap<(u32, Vec<u8>), ValueId>,
    pub(super) sources: FxHashMap<String, Arc<dyn ByteSource>>,
    pub(super) blob_uses: Vec<BlobUse>,
    pub(super) blobs: FxHashMap<u64, Arc<ConstantData>>,
    /// The offset up to which lines are counted, their number, and the start of the last one.
    pub(super) counted: (usize, u32, usize),
    pub(super) file: SymbolId,
}

/// A constant whose bytes are in a blob at the end of the text.
pub(super) struct BlobUse {
    pub(super) function: SymbolId,
    pub(super) constant: ConstId,
    pub(super) number: u64,
    pub(super) span: Range<usize>,
}

/// An open region.
pub(super) struct Frame<'t> {
    pub(super) region: RegionId,
    pub(super) ports: Option<Ports>,
    /// The scope's mark at its start.
    pub(super) mark: usize,
    pub(super) ended: bool,
    /// Constants written as ops in the file, whose anchor isn't parsed yet.
    pub(super) waiting: Vec<ConstId>,
    /// The op that contains the region; `None` for a function's body.
    pub(super) owner: Option<Owner<'t>>,
    /// The start of its header.
    pub(super) start: usize,
}

/// An op whose regions are being parsed.
pub(super) struct Owner<'t> {
    pub(super) op: OpId,
    /// The regions parsed so far; the op's list is written once, when all are parsed.
    pub(super) regions: Vec<u32>,
    /// The names of its results, which become visible after it.
    pub(super) results: Vec<ResultName<'t>>,
    pub(super) region_attrs: Spans,
    /// Whether it is a loop in short form, which has no further region.
    pub(super) short: bool,
}

/// A result as written; `None` if omitted.
pub(super) struct ResultName<'t> {
    pub(super) name: Option<ValueName<'t>>,
    pub(super) start: usize,
    pub(super) extras: Option<Extras>,
}

/// Ports and their extras.
pub(super) struct Ports {
    pub(super) records: Vec<Port>,
    pub(super) extras: Vec<(usize, Extras)>,
}

/// The spans of region attributes.
pub(super) type Spans = Vec<Range<usize>>;

impl<'t, 'o> Parser<'t, 'o> {
    pub(super) fn new(
        text: &'t str,
        options: &'o ParseOptions<'o>,
        symbols: Arc<Symbols>,
    ) -> Parser<'t, 'o> {
        let file = options
            .file
            .map_or(SymbolId::NONE, |file| symbols.intern(file));
        Parser {
            cur: Cursor::new(text),
            options,
            f: Function::new(symbols.clone(), FunctionKind::GRAPH, SymbolId(0)),
            scope: Scope::default(),
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

    pub(super) fn nothing_follows(&mut self, what: &str) -> Parse<()> {
        if self.cur.peek() != 0 || self.cur.here() < self.cur.text().len() {
            let found = self.cur.found();
            return self.fail_here(format!("expected end of input after {what}, found {found}"));
        }
        Ok(())
    }

    /// Fails with an error about the text since `start`.
    pub(super) fn fail<T>(&self, start: usize, message: impl Into<String>) -> Parse<T> {
        Err(self.cur.error_since(start, message))
    }

    /// Fails with an error about a span.
    pub(super) fn fail_at<T>(&self, span: Range<usize>, message: impl Into<String>) -> Parse<T> {
        Err(self.cur.error_at(span, message))
    }

    /// Fails with an error about the next word.
    pub(super) fn fail_here<T>(&mut self, message: impl Into<String>) -> Parse<T> {
        Err(self.cur.error_here(message))
    }

    /// Interns a string, unless it is too long.
    pub(super) fn intern(&mut self, text: &str, start: usize) -> Parse<SymbolId> {
        if text.len() > MAX_SYMBOL_BYTES {
            let message = format!(
                "name has {} bytes; the limit is {MAX_SYMBOL_BYTES}",
                text.len()
            );
            return self.fail(start, message);
        }
        Ok(self.symbols.intern(text))
    }

    /// Parses and interns a name; `what` describes it in errors.
    pub(super) fn symbol(&mut self, what: &str) -> Parse<SymbolId> {
        let start = self.cur.here();
        let name = self.cur.name(what)?;
        self.intern(&name, start)
    }

    /// Parses the items of a list up to `close`; the parser of an item receives the items before it.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        context: &str,
        mut item: impl FnMut(&mut Self, &[T]) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        while self.cur.another(close, items.is_empty(), context)? {
            items.push(item(self, &items)?);
        }
        Ok(items)
    }

    /// Parses hexadecimal bytes in parentheses; `context` describes the position in errors.
    pub(super) fn hex_in_parens(&mut self, context: &str) -> Parse<Vec<u8>> {
        self.cur.expect("(", context)?;
        let bytes = self.cur.hex_string()?;
        self.cur.expect(")", "after the bytes")?;
        Ok(bytes)
    }

    /// Returns the line and column of a byte; fast if it is after all earlier requests.
    pub(super) fn line_column(&mut self, at: usize) -> (u32, u32) {
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
