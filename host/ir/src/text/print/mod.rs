//! The printer.
//!
//! One pass names the values ([`names`]), one writes into one buffer that is flushed as it fills;
//! an op costs no allocation.

mod attr;
mod data;
mod function;
mod names;
mod op;
mod pieces;

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::types::{write_name, write_quoted};
use crate::constant::ConstantData;
use crate::function::Function;
use crate::module::Module;
use crate::origin::Extras;
pub use attr::attr_text;
use function::Printer;
pub use pieces::{Naming, Pieces};

/// What becomes of the constants with more than [`super::MAX_INLINE_ELEMENTS`] elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Those in files are references to them; the others stand in blobs at the end.
    #[default]
    Reference,
    /// All stand in blobs: the text needs no other file.
    Embed,
    /// They are left out: such a text can't be parsed.
    Elide,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions<'o> {
    /// What becomes of large constants.
    pub constants: Constants,
    /// Values are `%v3`, and each op's id stands in a comment.
    pub raw_ids: bool,
    /// Locations in texts are printed too.
    pub text_locs: bool,
    /// Where the text will stand: files in it and below are named from there, others in full. Without
    /// it all are named as their source names them.
    pub directory: Option<&'o Path>,
}

/// A module as text that can be parsed.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
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
    Printer::new(function, options, &mut out, 0).function();
    out.finish();
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

/// The buffer that everything is written to, and what the whole text shares.
struct Out<'w> {
    text: String,
    sink: Option<&'w mut dyn io::Write>,
    error: Option<io::Error>,
    /// In order of their numbers.
    blobs: Vec<Arc<ConstantData>>,
    blob_numbers: FxHashMap<*const ConstantData, usize>,
    elided: usize,
    /// Per symbol: whether a value of this name is visible. All `false` between functions.
    bound: Vec<bool>,
}

const FLUSH_AT: usize = 1 << 16;

impl<'w> Out<'w> {
    fn new(sink: Option<&'w mut dyn io::Write>) -> Out<'w> {
        Out {
            text: String::new(),
            sink,
            error: None,
            blobs: Vec::new(),
            blob_numbers: FxHashMap::default(),
            elided: 0,
            bound: Vec::new(),
        }
    }

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
            Printer::new(function, options, self, 1).function();
        }
        self.write_blobs();
        self.text.push_str("}\n");
        self.note();
    }

    fn finish(&mut self) {
        self.write_blobs();
        self.note();
    }

    fn note(&mut self) {
        if self.elided > 0 {
            let note = format!(
                "; {} constants are elided, so this text can't be parsed.\n",
                self.elided
            );
            self.text.push_str(&note);
        }
    }

    /// The number of a blob; equal data that is shared has one number.
    fn blob(&mut self, data: &Arc<ConstantData>) -> usize {
        let next = self.blobs.len();
        let number = *self.blob_numbers.entry(Arc::as_ptr(data)).or_insert(next);
        if number == next {
            self.blobs.push(data.clone());
        }
        number
    }

    fn write_blobs(&mut self) {
        for (number, data) in std::mem::take(&mut self.blobs).iter().enumerate() {
            self.text.push_str(&format!("  blob {number} = "));
            match data.bytes() {
                Ok(bytes) => {
                    self.text.push('"');
                    // A multiple of three, so that the pieces join.
                    for piece in bytes.chunks(3 << 14) {
                        base64::Engine::encode_string(
                            &base64::engine::general_purpose::STANDARD,
                            piece,
                            &mut self.text,
                        );
                        self.flush_if_full();
                    }
                    self.text.push_str("\"\n");
                }
                Err(message) => {
                    self.unreadable(&message);
                    self.text.push('\n');
                }
            }
        }
    }

    /// Stands for bytes that can't be read.
    fn unreadable(&mut self, message: &str) {
        self.text.push_str("unreadable(");
        self.quoted(message);
        self.text.push(')');
        self.error
            .get_or_insert_with(|| io::Error::other(message.to_owned()));
    }

    /// ` doc("…") meta {key = "…"} extra("…")`, as far as there is something.
    fn extras(&mut self, extras: &Extras) {
        self.doc_and_meta(extras);
        self.extra(&extras.bytes);
    }

    fn doc_and_meta(&mut self, extras: &Extras) {
        if let Some(doc) = &extras.doc {
            self.text.push_str(" doc(");
            self.quoted(doc);
            self.text.push(')');
        }
        if extras.metadata.is_empty() {
            return;
        }
        self.text.push_str(" meta {");
        for (at, (key, value)) in extras.metadata.iter().enumerate() {
            self.text.push_str(if at > 0 { ", " } else { "" });
            // Writing to a string doesn't fail.
            _ = write_name(&mut self.text, key);
            self.text.push_str(" = ");
            self.quoted(value);
        }
        self.text.push('}');
    }

    /// What an importer kept in its own format, in hexadecimal.
    fn extra(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.text.push_str(" extra(");
            self.hex(bytes);
            self.text.push(')');
        }
    }

    fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.text.push('"');
        for byte in bytes {
            let pair = [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ];
            self.text.extend(pair.map(char::from));
        }
        self.text.push('"');
    }

    fn quoted(&mut self, text: &str) {
        // Writing to a string doesn't fail.
        _ = write_quoted(&mut self.text, text);
    }

    fn flush_if_full(&mut self) {
        if self.text.len() >= FLUSH_AT {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(sink) = &mut self.sink else { return };
        if self.error.is_none()
            && let Err(error) = sink.write_all(self.text.as_bytes())
        {
            self.error = Some(error);
        }
        self.text.clear();
    }
}
