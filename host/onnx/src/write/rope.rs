//! The output as a list of pieces: newly encoded bytes, spans of the input file, and constants' data.
//!
//! In protobuf, a message's length precedes it, so lengths have to be known before anything is written, and without
//! copying weights. A chain is a list of pieces with its total length. Pieces that are adjacent in the input are
//! merged.

use std::sync::Arc;

use passdock_ir::ConstantData;

use crate::file::source::Source;
use crate::format::fields::put_pair;
use crate::format::wire::{Message, put_bytes, put_head};

/// The current chain, and the bytes that pieces refer to.
#[derive(Default)]
pub(super) struct Store {
    /// The input file.
    pub(super) source: Option<Arc<Source>>,
    /// The chain that pieces are appended to.
    pub(super) chain: Chain,
    pub(super) own: Vec<u8>,
    pub(super) held: Vec<Arc<ConstantData>>,
    pub(super) chains: Vec<Chain>,
}

/// A sequence of pieces.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) pieces: Vec<Piece>,
    pub(super) len: u64,
}

/// The index of a chain that is a piece of another.
#[derive(Clone, Copy)]
pub(super) struct ChainId(u32);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) source: PieceSource,
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Piece {
    /// Returns the piece for a span of the input file.
    pub(super) fn from_source(span: Message<'_>) -> Piece {
        Piece {
            source: PieceSource::Source,
            start: span.at,
            len: span.len(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceSource {
    Buffer,
    Source,
    Held(u32),
    Chain(u32),
}

/// The start of a message whose length isn't known yet.
#[must_use]
pub(super) struct Mark {
    piece: usize,
    len: u64,
}

impl Store {
    /// Appends the bytes that `put` writes.
    pub(super) fn put<R>(&mut self, put: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let start = self.own.len() as u64;
        let done = put(&mut self.own);
        let len = self.own.len() as u64 - start;
        self.chain.push(PieceSource::Buffer, start, len);
        done
    }

    /// Appends bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.put(|to| to.extend_from_slice(bytes));
    }

    /// Appends a span of the input file, or bytes of extras.
    pub(super) fn copy(&mut self, span: Message<'_>) {
        if span.is_detached() {
            return self.bytes(span.bytes);
        }
        self.chain.push(PieceSource::Source, span.at, span.len());
    }

    /// Appends a field whose value is a span of the input file, or bytes of extras.
    pub(super) fn copy_field(&mut self, number: u32, body: Message<'_>) {
        self.put(|to| put_head(to, number, body.len()));
        self.copy(body);
    }

    /// Appends a length-delimited field.
    pub(super) fn field(&mut self, number: u32, bytes: &[u8]) {
        self.put(|to| put_bytes(to, number, bytes));
    }

    /// Appends a field with a constant's data, which isn't copied.
    pub(super) fn hold(&mut self, number: u32, data: &Arc<ConstantData>) {
        self.put(|to| put_head(to, number, data.len()));
        let source = PieceSource::Held(self.held.len() as u32);
        self.held.push(data.clone());
        self.chain.push(source, 0, data.len());
    }

    /// Begins a message field.
    pub(super) fn begin(&mut self) -> Mark {
        // A placeholder for tag and length. No piece is merged with it, because of its start.
        self.chain.pieces.push(Piece {
            source: PieceSource::Buffer,
            start: u64::MAX,
            len: 0,
        });
        Mark {
            piece: self.chain.pieces.len() - 1,
            len: self.chain.len,
        }
    }

    /// Ends a message field.
    pub(super) fn end(&mut self, mark: Mark, number: u32) {
        let start = self.own.len() as u64;
        put_head(&mut self.own, number, self.chain.len - mark.len);
        let len = self.own.len() as u64 - start;
        self.chain.pieces[mark.piece] = Piece {
            source: PieceSource::Buffer,
            start,
            len,
        };
        self.chain.len += len;
    }

    /// Begins a new chain. Returns the previous one, to be passed to `keep`.
    pub(super) fn open(&mut self) -> Chain {
        std::mem::take(&mut self.chain)
    }

    /// Stores the current chain, so that it can be a piece of another, and continues with `outer`.
    pub(super) fn keep(&mut self, outer: Chain) -> ChainId {
        self.chains.push(std::mem::replace(&mut self.chain, outer));
        ChainId(self.chains.len() as u32 - 1)
    }

    /// Appends a message field that consists of a stored chain.
    pub(super) fn message(&mut self, number: u32, id: ChainId) {
        let len = self.chains[id.0 as usize].len;
        self.put(|to| put_head(to, number, len));
        self.chain.push(PieceSource::Chain(id.0), 0, len);
    }

    /// Appends a field with a key-value entry.
    pub(super) fn pair(&mut self, number: u32, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        let mut pair = Vec::new();
        put_pair(&mut pair, key.as_ref(), value.as_ref());
        self.field(number, &pair);
    }
}

impl Chain {
    /// Removes and returns the pieces from `start` on.
    pub(super) fn truncate(&mut self, start: usize) -> Vec<Piece> {
        let mut pieces = self.pieces.split_off(start);
        pieces.retain(|piece| piece.len > 0);
        self.len -= pieces.iter().map(|piece| piece.len).sum::<u64>();
        pieces
    }

    pub(super) fn push(&mut self, source: PieceSource, start: u64, len: u64) {
        if len == 0 {
            return;
        }
        self.len += len;
        match self.pieces.last_mut() {
            Some(last)
                if last.source == source
                    && matches!(source, PieceSource::Buffer | PieceSource::Source)
                    && last.start.checked_add(last.len) == Some(start) =>
            {
                last.len += len;
            }
            _ => self.pieces.push(Piece { source, start, len }),
        }
    }
}
