//! What is to be written, as pieces: own bytes, spans of the input file, constants' data.
//!
//! Protobuf puts a message's length before it, so lengths have to be known before anything is
//! written; weights must not be copied to find them out. A chain is a list of pieces that knows its
//! length; what is copied from neighbouring places in the input becomes one piece.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use passdock_ir::{ByteSource, ConstantData};

use super::placement::{DataFile, copy_data, write_data};
use crate::source::Source;
use crate::wire::{Message, put_head};

/// Everything that is to be written.
pub struct Output {
    pub(super) store: Store,
    pub(super) root: Chain,
    pub(super) source: Option<Arc<Source>>,
    pub(super) files: Vec<DataFile>,
}

/// The bytes that pieces mean.
#[derive(Default)]
pub(super) struct Store {
    own: Vec<u8>,
    held: Vec<Arc<ConstantData>>,
    chains: Vec<Chain>,
}

/// Pieces, one after the other.
#[derive(Default)]
pub(super) struct Chain {
    pieces: Vec<Piece>,
    len: u64,
}

/// A chain that is a piece of another.
#[derive(Clone, Copy)]
pub(super) struct ChainId(u32);

#[derive(Clone, Copy)]
struct Piece {
    place: Place,
    start: u64,
    len: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Own,
    Source,
    Held(u32),
    Chain(u32),
}

/// Where a message began whose length isn't known yet.
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
            place: Place::Own,
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
            place: Place::Source,
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

    /// Appends a field of `len` bytes that are a constant's data.
    pub(super) fn hold(&mut self, chain: &mut Chain, number: u32, data: &Arc<ConstantData>) {
        self.head(chain, number, data.len());
        let place = Place::Held(self.held.len() as u32);
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
            place: Place::Own,
            start: u64::MAX,
            len: 0,
        });
        Mark {
            piece: chain.pieces.len() - 1,
            len: chain.len,
        }
    }

    /// Ends it.
    pub(super) fn end(&mut self, chain: &mut Chain, mark: Mark, number: u32) {
        let start = self.own.len() as u64;
        put_head(&mut self.own, number, chain.len - mark.len);
        let len = self.own.len() as u64 - start;
        chain.pieces[mark.piece] = Piece {
            place: Place::Own,
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

    /// Appends a kept chain.
    pub(super) fn splice(&mut self, chain: &mut Chain, id: ChainId) {
        let len = self.chains[id.0 as usize].len;
        chain.push(Piece {
            place: Place::Chain(id.0),
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
                    && matches!(piece.place, Place::Own | Place::Source)
                    && last.start.checked_add(last.len) == Some(piece.start) =>
            {
                last.len += piece.len;
            }
            _ => self.pieces.push(piece),
        }
    }
}

impl Output {
    /// How many bytes will be written.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.root.len
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The files that go beside the model file; before it, because it points to them.
    #[must_use]
    pub fn data_files(&self) -> &[DataFile] {
        &self.files
    }

    /// Writes the model file. Weights go from the mapped input to `to` without being copied between.
    ///
    /// # Errors
    /// What `to` says; or that a constant's data can't be read.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_pieces(to, |to, piece| match piece.place {
            Place::Held(id) => write_data(&self.store.held[id as usize], to),
            _ => to.write_all(self.piece(piece)?),
        })
    }

    /// Writes the model file to a file: what is in a file already, the system copies.
    ///
    /// # Errors
    /// What the system says; or that a constant's data can't be read.
    pub fn write_file(&self, to: &mut File) -> io::Result<()> {
        /// Below this, asking the system costs more than the copy.
        const LARGE: u64 = 1 << 20;
        self.write_pieces(to, |to, piece| match (piece.place, &self.source) {
            (Place::Source, Some(source)) if piece.len >= LARGE => {
                source.copy_to(piece.start, piece.len, to)
            }
            (Place::Held(id), _) if piece.len >= LARGE => {
                copy_data(&self.store.held[id as usize], to)
            }
            (Place::Held(id), _) => write_data(&self.store.held[id as usize], to),
            _ => to.write_all(self.piece(piece)?),
        })
    }

    /// Walks all pieces; `large` writes those that aren't worth gathering.
    fn write_pieces<W: Write>(
        &self,
        to: &mut W,
        mut large: impl FnMut(&mut W, Piece) -> io::Result<()>,
    ) -> io::Result<()> {
        /// Below this, pieces are gathered first.
        const LARGE: u64 = 1 << 16;
        let mut small = Vec::with_capacity(2 * LARGE as usize);
        let mut stack = vec![self.root.pieces.iter()];
        while let Some(pieces) = stack.last_mut() {
            let Some(piece) = pieces.next() else {
                stack.pop();
                continue;
            };
            if let Place::Chain(id) = piece.place {
                stack.push(self.store.chains[id as usize].pieces.iter());
                continue;
            }
            if piece.len < LARGE {
                small.extend_from_slice(self.piece(*piece)?);
            }
            if piece.len >= LARGE || small.len() as u64 >= LARGE {
                to.write_all(&small)?;
                small.clear();
            }
            if piece.len >= LARGE {
                large(to, *piece)?;
            }
        }
        to.write_all(&small)
    }

    /// All of it, in memory.
    ///
    /// # Errors
    /// If a constant's data can't be read.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        // Not as many as it says at once: data that a shape asks for may not be there.
        let mut bytes = Vec::with_capacity(self.len().min(1 << 20) as usize);
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    fn piece(&self, piece: Piece) -> io::Result<&[u8]> {
        let all = match piece.place {
            Place::Own => &self.store.own,
            Place::Source => self
                .source
                .as_ref()
                .map_or(&[][..], |source| source.bytes()),
            Place::Held(id) => self.store.held[id as usize]
                .bytes()
                .map_err(io::Error::other)?,
            Place::Chain(_) => &[],
        };
        let range = piece.start as usize..(piece.start + piece.len) as usize;
        all.get(range)
            .ok_or_else(|| io::Error::other("A span lies outside of its file."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_nest_and_neighbours_join() {
        let mut store = Store::default();
        let (mut chain, mut inner) = (Chain::default(), Chain::default());
        store.bytes(&mut inner, &[9; 200]);
        let inner = store.keep(inner);
        let outer = store.begin(&mut chain);
        store.field(&mut chain, 1, b"ab");
        let nested = store.begin(&mut chain);
        store.splice(&mut chain, inner);
        store.end(&mut chain, nested, 2);
        store.copy(
            &mut chain,
            Message {
                bytes: &[0, 1],
                at: 0,
            },
        );
        store.copy(&mut chain, Message { bytes: &[2], at: 2 });
        store.end(&mut chain, outer, 3);
        assert_eq!(chain.pieces.len(), 5);
        let source = Source::in_memory("x".as_ref(), vec![0, 1, 2]);
        let output = Output {
            store,
            root: chain,
            source: Some(Arc::new(source)),
            files: Vec::new(),
        };
        let bytes = output.to_bytes().unwrap();
        let head = [0x1a, 210, 1, 0x0a, 2, b'a', b'b', 0x12, 200, 1];
        assert_eq!(bytes[..10], head);
        assert_eq!(bytes[10..], [&[9; 200][..], &[0, 1, 2]].concat());
        assert_eq!(output.len(), bytes.len() as u64);
    }
}
