//! An encoded model that can be written to files.

use std::fs::File;
use std::io::{self, Write};

use passdock_ir::ByteSource;

use super::data_file::{DataFile, copy_data, write_data};
use super::placement::DroppedData;
use super::rope::{Piece, PieceSource, Store};

/// An encoded model that can be written to files.
pub struct EncodedModel {
    pub(super) store: Store,
    pub(super) files: Vec<DataFile>,
    pub(super) dropped: Vec<DroppedData>,
}

impl EncodedModel {
    /// Returns the size of the model file in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.store.chain.len
    }

    /// Whether the model file is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the external data files. They should be written before the model file, which references them.
    #[must_use]
    pub fn data_files(&self) -> &[DataFile] {
        &self.files
    }

    /// Returns the data files of the input model that aren't among [`EncodedModel::data_files`], and those among them
    /// with data that is no longer referenced.
    #[must_use]
    pub fn dropped(&self) -> &[DroppedData] {
        &self.dropped
    }

    /// Whether the module was read from an ONNX file, and not from IR text.
    #[must_use]
    pub fn is_from_model(&self) -> bool {
        self.store.source.is_some()
    }

    /// Writes the model file. Weights are written directly from the mapped input to `to`.
    ///
    /// # Errors
    /// If `to` returns an error, or if a constant's data can't be read.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_pieces(to, |to, piece| match piece.source {
            PieceSource::Held(id) => write_data(&self.store.held[id as usize], to),
            _ => to.write_all(self.piece(piece)?),
        })
    }

    /// Writes the model file to a file. Data in other files is copied by the system.
    ///
    /// # Errors
    /// If the file can't be written, or if a constant's data can't be read.
    pub fn write_file(&self, to: &mut File) -> io::Result<()> {
        /// Below this size, a system call costs more than the copy.
        const LARGE: u64 = 1 << 20;
        self.write_pieces(to, |to, piece| match (piece.source, &self.store.source) {
            (PieceSource::Source, Some(source)) if piece.len >= LARGE => {
                source.copy_to(piece.start, piece.len, to)
            }
            (PieceSource::Held(id), _) if piece.len >= LARGE => {
                copy_data(&self.store.held[id as usize], to)
            }
            (PieceSource::Held(id), _) => write_data(&self.store.held[id as usize], to),
            _ => to.write_all(self.piece(piece)?),
        })
    }

    /// Writes all pieces. `large` writes those that aren't gathered.
    fn write_pieces<W: Write>(
        &self,
        to: &mut W,
        mut large: impl FnMut(&mut W, Piece) -> io::Result<()>,
    ) -> io::Result<()> {
        /// Pieces below this size are gathered in a buffer.
        const LARGE: u64 = 1 << 16;
        let mut small = Vec::with_capacity(2 * LARGE as usize);
        let mut stack = vec![self.store.chain.pieces.iter()];
        while let Some(pieces) = stack.last_mut() {
            let Some(piece) = pieces.next() else {
                stack.pop();
                continue;
            };
            if let PieceSource::Chain(id) = piece.source {
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

    /// Returns the bytes of the model file.
    ///
    /// # Errors
    /// If a constant's data can't be read.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        // The capacity is limited, since a shape may claim more data than there is.
        let mut bytes = Vec::with_capacity(self.len().min(1 << 20) as usize);
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    fn piece(&self, piece: Piece) -> io::Result<&[u8]> {
        let all = match piece.source {
            PieceSource::Buffer => &self.store.own,
            PieceSource::Source => self
                .store
                .source
                .as_ref()
                .map_or(&[][..], |source| source.bytes()),
            PieceSource::Held(id) => self.store.held[id as usize]
                .bytes()
                .map_err(io::Error::other)?,
            PieceSource::Chain(_) => &[],
        };
        let range = piece.start as usize..(piece.start + piece.len) as usize;
        all.get(range)
            .ok_or_else(|| io::Error::other("a span is outside of its file"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::file::source::Source;
    use crate::format::wire::Message;

    #[test]
    fn messages_nest_and_adjacent_copies_merge() {
        let source = Source::in_memory("x".as_ref(), vec![0, 1, 2]);
        let mut store = Store {
            source: Some(Arc::new(source)),
            ..Store::default()
        };
        let root = store.open();
        store.bytes(&[9; 200]);
        let inner = store.keep(root);
        let outer = store.begin();
        store.field(1, b"ab");
        let nested = store.begin();
        store.message(4, inner);
        store.end(nested, 2);
        store.copy(Message {
            bytes: &[0, 1],
            at: 0,
        });
        store.copy(Message { bytes: &[2], at: 2 });
        store.end(outer, 3);
        assert_eq!(store.chain.pieces.len(), 6);
        let output = EncodedModel {
            store,
            files: Vec::new(),
            dropped: Vec::new(),
        };
        let bytes = output.to_bytes().unwrap();
        let head = [
            0x1a, 213, 1, 0x0a, 2, b'a', b'b', 0x12, 203, 1, 0x22, 200, 1,
        ];
        assert_eq!(bytes[..13], head);
        assert_eq!(bytes[13..], [&[9; 200][..], &[0, 1, 2]].concat());
        assert_eq!(output.len(), bytes.len() as u64);
    }
}
