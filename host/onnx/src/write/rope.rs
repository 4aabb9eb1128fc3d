//! The bytes to be written, as pieces: own bytes, spans of the input file, constants' data.
//!
//! Protobuf puts a message's length before it, so lengths have to be known before anything is
//! written; weights must not be copied to find them out. A chain is a list of pieces that knows its
//! length; what is copied from neighbouring places in the input becomes one piece.

use std::sync::Arc;

use passdock_ir::{ConstantData, Extras};

use crate::format::fields::put_pair;
use crate::format::wire::{Field, Message, Value, put_head};

/// The bytes that pieces mean.
#[derive(Default)]
pub(super) struct Store {
    pub(super) own: Vec<u8>,
    pub(super) held: Vec<Arc<ConstantData>>,
    pub(super) chains: Vec<Chain>,
}

/// Pieces, one after the other.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) pieces: Vec<Piece>,
    pub(super) len: u64,
}

/// A chain that is a piece of another.
#[derive(Clone, Copy)]
pub(super) struct ChainId(u32);

#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) place: PieceSource,
    pub(super) start: u64,
    pub(super) len: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceSource {
    Own,
    Source,
    Held(u32),
    Chain(u32),
}

/// The place where a message began whose length isn't known yet.
#[must_use]
pub(super) struct Mark {
    piece: usize,
    len: u64,
}

impl Store {
    /// Appends bytes.
    pub(super) fn bytes(&mut self, chain: &mut Chain, bytes: &[u8]) {
        let start = self.own.len() as u64;
        self.own.extend_from_slice(bytes);
        chain.push(Piece {
            place: PieceSource::Own,
            start,
            len: bytes.len() as u64,
        });
    }

    /// Appends a span of the input file, or bytes of extras.
    pub(super) fn copy(&mut self, chain: &mut Chain, span: Message<'_>) {
        if span.is_detached() {
            return self.bytes(chain, span.bytes);
        }
        chain.push(Piece {
            place: PieceSource::Source,
            start: span.at,
            len: span.len(),
        });
    }

    /// Appends a field whose value is a span of the input file.
    pub(super) fn copy_field(&mut self, chain: &mut Chain, number: u32, body: Message<'_>) {
        self.head(chain, number, body.len());
        self.copy(chain, body);
    }

    /// Appends a length-delimited field.
    pub(super) fn field(&mut self, chain: &mut Chain, number: u32, bytes: &[u8]) {
        self.head(chain, number, bytes.len() as u64);
        self.bytes(chain, bytes);
    }

    /// Appends a text field in place of the original's, which is copied if it says the same.
    pub(super) fn text(&mut self, chain: &mut Chain, original: Field<'_>, text: &str) {
        match original.value {
            Value::Bytes(old) if old.bytes == text.as_bytes() => self.copy(chain, original.record),
            _ => self.field(chain, original.number, text.as_bytes()),
        }
    }

    /// Appends a field of `len` bytes that are a constant's data.
    pub(super) fn hold(&mut self, chain: &mut Chain, number: u32, data: &Arc<ConstantData>) {
        self.head(chain, number, data.len());
        let place = PieceSource::Held(self.held.len() as u32);
        self.held.push(data.clone());
        chain.push(Piece {
            place,
            start: 0,
            len: data.len(),
        });
    }

    /// Appends tag and length of a field.
    pub(super) fn head(&mut self, chain: &mut Chain, number: u32, len: u64) {
        let mut head = Vec::with_capacity(8);
        put_head(&mut head, number, len);
        self.bytes(chain, &head);
    }

    /// Begins a message field.
    pub(super) fn begin(&mut self, chain: &mut Chain) -> Mark {
        // Room for tag and length; a start that nothing follows on.
        chain.pieces.push(Piece {
            place: PieceSource::Own,
            start: u64::MAX,
            len: 0,
        });
        Mark {
            piece: chain.pieces.len() - 1,
            len: chain.len,
        }
    }

    /// Ends a message field.
    pub(super) fn end(&mut self, chain: &mut Chain, mark: Mark, number: u32) {
        let start = self.own.len() as u64;
        put_head(&mut self.own, number, chain.len - mark.len);
        let len = self.own.len() as u64 - start;
        chain.pieces[mark.piece] = Piece {
            place: PieceSource::Own,
            start,
            len,
        };
        chain.len += len;
    }

    /// Keeps a chain, to be a piece of another.
    pub(super) fn keep(&mut self, chain: Chain) -> ChainId {
        self.chains.push(chain);
        ChainId(self.chains.len() as u32 - 1)
    }

    /// Appends a message field that is a kept chain.
    pub(super) fn message(&mut self, chain: &mut Chain, number: u32, id: ChainId) {
        self.head(chain, number, self.chains[id.0 as usize].len);
        self.splice(chain, id);
    }

    /// Appends a kept chain.
    pub(super) fn splice(&mut self, chain: &mut Chain, id: ChainId) {
        let len = self.chains[id.0 as usize].len;
        chain.push(Piece {
            place: PieceSource::Chain(id.0),
            start: 0,
            len,
        });
    }
}

impl Chain {
    fn push(&mut self, piece: Piece) {
        if piece.len == 0 {
            return;
        }
        self.len += piece.len;
        match self.pieces.last_mut() {
            Some(last)
                if last.place == piece.place
                    && matches!(piece.place, PieceSource::Own | PieceSource::Source)
                    && last.start.checked_add(last.len) == Some(piece.start) =>
            {
                last.len += piece.len;
            }
            _ => self.pieces.push(piece),
        }
    }
}

impl Store {
    /// Appends documentation and metadata.
    pub(super) fn texts(&mut self, chain: &mut Chain, extras: &Extras, [doc, metadata]: [u32; 2]) {
        if let Some(text) = &extras.doc {
            self.field(chain, doc, text.as_bytes());
        }
        for (key, value) in &extras.metadata {
            self.pair(chain, metadata, &**key, &**value);
        }
    }

    /// Appends a pair of a key and a value.
    pub(super) fn pair(
        &mut self,
        chain: &mut Chain,
        number: u32,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) {
        let mut pair = Vec::new();
        put_pair(&mut pair, key.as_ref(), value.as_ref());
        self.field(chain, number, &pair);
    }
}
