//! The output buffer of the printer.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::syntax::write_list;
use crate::constant::ConstantData;
use crate::function::origin::Extras;
use crate::quote::{write_name, write_quoted};

/// The output buffer, and the state of the whole text.
pub(super) struct Out<'w> {
    pub(super) text: String,
    pub(super) sink: Option<&'w mut dyn io::Write>,
    pub(super) error: Option<io::Error>,
    /// The blobs, indexed by their numbers.
    pub(super) blobs: Vec<Arc<ConstantData>>,
    pub(super) blob_numbers: FxHashMap<*const ConstantData, usize>,
    pub(super) elided: usize,
}

const FLUSH_AT: usize = 1 << 16;

impl<'w> Out<'w> {
    pub(super) fn new(sink: Option<&'w mut dyn io::Write>) -> Out<'w> {
        Out {
            text: String::new(),
            sink,
            error: None,
            blobs: Vec::new(),
            blob_numbers: FxHashMap::default(),
            elided: 0,
        }
    }

    pub(super) fn note(&mut self) {
        if self.elided > 0 {
            let note = format!(
                "; {} constants are elided, so this text cannot be parsed.\n",
                self.elided
            );
            self.text.push_str(&note);
        }
    }

    /// Returns the number of a blob; shared data has one number.
    pub(super) fn blob(&mut self, data: &Arc<ConstantData>) -> usize {
        let next = self.blobs.len();
        let number = *self.blob_numbers.entry(Arc::as_ptr(data)).or_insert(next);
        if number == next {
            self.blobs.push(data.clone());
        }
        number
    }

    pub(super) fn write_blobs(&mut self) {
        for (number, data) in std::mem::take(&mut self.blobs).iter().enumerate() {
            self.text.push_str(&format!("  blob {number} = "));
            match data.bytes() {
                Ok(bytes) => {
                    self.text.push('"');
                    // A multiple of three, so that the encoded chunks can be concatenated.
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

    /// Writes a placeholder for bytes that can't be read.
    pub(super) fn unreadable(&mut self, message: &str) {
        self.clause("unreadable", |out| out.quoted(message));
        self.error
            .get_or_insert_with(|| io::Error::other(message.to_owned()));
    }

    /// Writes ` doc("…") meta {key = "…"} extra("…")`, omitting empty parts.
    pub(super) fn extras(&mut self, extras: &Extras) {
        self.doc_and_meta(extras);
        self.extra(&extras.bytes);
    }

    pub(super) fn doc_and_meta(&mut self, extras: &Extras) {
        if let Some(doc) = &extras.doc {
            self.clause(" doc", |out| out.quoted(doc));
        }
        let Some(metadata) = extras.metadata.as_ref().filter(|all| !all.is_empty()) else {
            return;
        };
        self.text.push_str(" meta {");
        write_list(&mut self.text, ", ", metadata, |text, (key, value)| {
            write_name(text, key);
            text.push_str(" = ");
            write_quoted(text, &**value);
        });
        self.text.push('}');
    }

    /// Writes an importer's data in hexadecimal.
    pub(super) fn extra(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.clause(" extra", |out| out.hex(bytes));
        }
    }

    pub(super) fn hex(&mut self, bytes: &[u8]) {
        self.text.push('"');
        for byte in bytes {
            // Writing to a string can't fail.
            _ = write!(self.text, "{byte:02x}");
        }
        self.text.push('"');
    }

    /// Writes a word and its argument in parentheses: `doc("…")`.
    pub(super) fn clause(&mut self, ident: &str, write: impl FnOnce(&mut Self)) {
        self.text.push_str(ident);
        self.text.push('(');
        write(self);
        self.text.push(')');
    }

    pub(super) fn quoted(&mut self, text: &str) {
        write_quoted(&mut self.text, text);
    }

    pub(super) fn flush_if_full(&mut self) {
        if self.text.len() >= FLUSH_AT {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let Some(sink) = &mut self.sink else { return };
        if self.error.is_none()
            && let Err(error) = sink.write_all(self.text.as_bytes())
        {
            self.error = Some(error);
        }
        self.text.clear();
    }
}
