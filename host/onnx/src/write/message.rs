//! Encoding of touched messages: the fields that the IR doesn't model, and the original's order and form.
//!
//! The writer first encodes the fields that the IR models, then the remaining ones. The new message and the original
//! are then compared record by record, to restore the original's order and any longer encodings.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::rope::{Piece, PieceSource, Store};
use crate::detach::stripped::StrippedMessage;
use crate::format::error::{OnnxError, Result};
use crate::format::schema::tensor;
use crate::format::tensor::EXTERNAL;
use crate::format::wire::{Message, Value, WireField, varint};

/// The maximum number of an original's records that a new record is compared with.
const LOOKAHEAD: usize = 16;

/// The maximum size of records whose bytes are compared.
const MAX_COMPARED: u64 = 1 << 16;

/// The fields of a message that the IR doesn't model. They are written after the others.
pub(super) struct RestFields<'m> {
    fields: Vec<WireField<'m>>,
    /// The original message in the file.
    original: Option<Message<'m>>,
    /// The index of the message's first piece.
    start: usize,
}

impl<'m> RestFields<'m> {
    /// Returns the remaining fields of a message, which begins at the end of the store.
    pub(super) fn new(message: &'m StrippedMessage<'_>, store: &Store) -> Result<RestFields<'m>> {
        let mut fields = Vec::with_capacity(message.records.len());
        for field in Message::detached(&message.marks).fields() {
            fields.push(field?);
        }
        fields.extend(message.records.iter().copied());
        Ok(RestFields {
            fields,
            original: message.original,
            start: store.chain.pieces.len(),
        })
    }

    /// Removes and returns the fields for which `is_chosen` holds.
    pub(super) fn take_if(
        &mut self,
        is_chosen: impl Fn(&WireField<'m>) -> bool,
    ) -> Vec<WireField<'m>> {
        self.fields
            .extract_if(.., |field| is_chosen(field))
            .collect()
    }

    /// Removes and returns the messages or strings of a field.
    pub(super) fn take(&mut self, number: u32) -> Vec<WireField<'m>> {
        self.take_if(|field| field.number == number && matches!(field.value, Value::Bytes(_)))
    }

    /// Whether a field with this number remains.
    pub(super) fn has(&self, number: u32) -> bool {
        self.fields.iter().any(|field| field.number == number)
    }

    /// Whether the fields of a tensor mark its data as external. Of several marks, the last one counts.
    pub(super) fn has_external_data(&self) -> bool {
        let positions = self.fields.iter().rev();
        let mut codes = positions.filter_map(|field| match (field.number, field.value) {
            (tensor::DATA_LOCATION, Value::Varint(code)) => Some(code),
            _ => None,
        });
        codes.next() == Some(EXTERNAL)
    }

    /// Writes the remaining fields, and restores the order of the original.
    pub(super) fn finish(self, store: &mut Store) -> Result {
        let fields = self.fields.into_iter();
        fields.for_each(|field| store.copy(field.record));
        match self.original {
            Some(original) => store.restore(self.start, original),
            None => Ok(()),
        }
    }
}

/// A record of an encoded message.
struct Record {
    number: u32,
    pieces: Vec<Piece>,
}

impl Store {
    /// Sorts the records of the message that starts at piece `start` into the order of the original. Records that are
    /// equal to one of the original are copied from it. A changed record gets the position of the one that it replaces.
    pub(super) fn restore(&mut self, start: usize, original: Message<'_>) -> Result {
        let mut originals: FxHashMap<u32, Vec<WireField<'_>>> = FxHashMap::default();
        for field in original.fields() {
            let field = field?;
            originals.entry(field.number).or_default().push(field);
        }
        let pieces = self.chain.truncate(start);
        let mut records = self.records(pieces)?;
        records.sort_by_key(|record| record.number);
        let mut placed = Vec::with_capacity(records.len());
        for records in records.chunk_by_mut(|a, b| a.number == b.number) {
            let number = records[0].number;
            let fields = originals.get(&number).map_or(&[][..], Vec::as_slice);
            // A field that the original doesn't have comes before the next higher number.
            let higher = || {
                let higher = originals.iter().filter(|(other, _)| **other > number);
                higher.map(|(_, fields)| fields[0].record.at).min()
            };
            let first = fields.first().map(|field| field.record.at);
            let mut position = first.or_else(higher).unwrap_or(u64::MAX);
            let mut matches = self.matches(records, fields).into_iter().peekable();
            let mut next = 0;
            for (index, record) in records.iter_mut().enumerate() {
                let at = match matches.next_if(|&(new, _)| new == index) {
                    Some((_, at)) => {
                        record.pieces = vec![Piece::from_source(fields[at].record)];
                        Some(at)
                    }
                    None => {
                        let end = matches.peek().map_or(fields.len(), |&(_, at)| at);
                        (next < end).then_some(next)
                    }
                };
                if let Some(at) = at {
                    position = fields[at].record.at;
                    next = at + 1;
                }
                placed.push((position, std::mem::take(&mut record.pieces)));
            }
        }
        placed.sort_by_key(|&(position, _)| position);
        for piece in placed.into_iter().flat_map(|(_, pieces)| pieces) {
            self.chain.push(piece.source, piece.start, piece.len);
        }
        Ok(())
    }

    /// Pairs records with equal fields of the original, in ascending order. Returns the indices of both.
    fn matches(&self, records: &[Record], fields: &[WireField<'_>]) -> Vec<(usize, usize)> {
        let mut next = 0;
        let mut pairs = Vec::new();
        for (index, record) in records.iter().enumerate() {
            // The record itself, or its value with another tag and length.
            let is_span_of = |field: &WireField<'_>| match record.pieces[..] {
                [span] => span == Piece::from_source(field.record),
                [_, span] => span == Piece::from_source(field.body()),
                _ => false,
            };
            let start = record.pieces.last().map_or(0, |piece| piece.start);
            let at = fields.partition_point(|field| field.record.at <= start);
            let span = at
                .checked_sub(1)
                .filter(|&at| at >= next && is_span_of(&fields[at]));
            let equal = || {
                let bytes = self.bytes_of(record)?;
                let value = Message::detached(&bytes).fields().next()?.ok()?.value;
                let mut fields = fields[next..].iter().take(LOOKAHEAD);
                let at = fields.position(|field| is_same(field.value, value))?;
                Some(next + at)
            };
            if let Some(at) = span.or_else(equal) {
                pairs.push((index, at));
                next = at + 1;
            }
        }
        pairs
    }

    /// Returns the bytes of a record, if they are in memory and at most [`MAX_COMPARED`].
    fn bytes_of(&self, record: &Record) -> Option<Vec<u8>> {
        let len: u64 = record.pieces.iter().map(|piece| piece.len).sum();
        if len > MAX_COMPARED {
            return None;
        }
        let mut bytes = Vec::new();
        for &piece in &record.pieces {
            bytes.extend_from_slice(self.piece(piece)?);
        }
        Some(bytes)
    }

    /// Returns the bytes of a piece, if they are in memory.
    fn piece(&self, piece: Piece) -> Option<&[u8]> {
        let all = match piece.source {
            PieceSource::Buffer => &self.own,
            PieceSource::Source => self.source.as_ref()?.bytes(),
            PieceSource::Held(_) | PieceSource::Chain(_) => return None,
        };
        all.get(piece.start as usize..(piece.start + piece.len) as usize)
    }

    /// Splits the pieces of a message into its records.
    fn records(&self, pieces: Vec<Piece>) -> Result<Vec<Record>> {
        let mut pieces: VecDeque<Piece> = pieces.into();
        let mut records = Vec::new();
        while let Some(&first) = pieces.front() {
            let head = self.piece(first).unwrap_or_default();
            let (tag, tag_len) = varint(head).unwrap_or_default();
            let mut remaining = match tag & 7 {
                2 => {
                    let (len, len_len) = varint(&head[tag_len..]).unwrap_or_default();
                    (tag_len + len_len) as u64 + len
                }
                _ => {
                    let field = Message::detached(head).fields().next();
                    field.map_or(0, |field| field.map_or(0, |field| field.record.len()))
                }
            };
            if remaining == 0 {
                return Err(OnnxError::new("an encoded message has an invalid record"));
            }
            let mut record = Record {
                number: (tag >> 3) as u32,
                pieces: Vec::new(),
            };
            while remaining > 0
                && let Some(piece) = pieces.front_mut()
            {
                let len = remaining.min(piece.len);
                record.pieces.push(Piece { len, ..*piece });
                remaining -= len;
                piece.start += len;
                piece.len -= len;
                if piece.len == 0 {
                    pieces.pop_front();
                }
            }
            records.push(record);
        }
        Ok(records)
    }
}

/// Whether two values are equal, regardless of their encoding.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Varint(a), Value::Varint(b)) | (Value::Fixed64(a), Value::Fixed64(b)) => a == b,
        (Value::Fixed32(a), Value::Fixed32(b)) => a == b,
        (Value::Bytes(a), Value::Bytes(b)) => a.bytes == b.bytes,
        _ => false,
    }
}
