//! The fields of a message that the IR doesn't say, on their way into the file.

use super::rope::Store;
use crate::detach::stripped::StrippedMessage;
use crate::format::error::Result;
use crate::format::schema::tensor;
use crate::format::tensor::EXTERNAL;
use crate::format::wire::{Message, Value, WireField};

/// The fields of a message that the IR doesn't say, in the order of their numbers.
///
/// Protobuf writes all fields in this order. So the message of a file that protobuf wrote keeps its bytes, but for what
/// is another value in the IR.
pub(super) struct RestFields<'m>(Vec<WireField<'m>>);

impl<'m> RestFields<'m> {
    pub(super) fn new(message: &'m StrippedMessage<'_>) -> Result<RestFields<'m>> {
        let mut fields = Vec::with_capacity(message.records.len());
        for field in Message::detached(&message.marks).fields() {
            fields.push(field?);
        }
        fields.extend(message.records.iter().copied());
        fields.sort_by_key(|field| field.number);
        Ok(RestFields(fields))
    }

    /// Takes the fields that are chosen.
    pub(super) fn take_if(
        &mut self,
        is_chosen: impl Fn(&WireField<'m>) -> bool,
    ) -> Vec<WireField<'m>> {
        self.0.extract_if(.., |field| is_chosen(field)).collect()
    }

    /// Takes the messages or strings of a field.
    pub(super) fn take(&mut self, number: u32) -> Vec<WireField<'m>> {
        self.take_if(|field| field.number == number && matches!(field.value, Value::Bytes(_)))
    }

    /// Whether there is one of a number.
    pub(super) fn has(&self, number: u32) -> bool {
        self.0.iter().any(|field| field.number == number)
    }

    /// Whether they say of a tensor that its data is in another file; said twice, the last counts.
    pub(super) fn has_external_data(&self) -> bool {
        let places = self.0.iter().rev();
        let mut codes = places.filter_map(|field| match (field.number, field.value) {
            (tensor::DATA_LOCATION, Value::Varint(code)) => Some(code),
            _ => None,
        });
        codes.next() == Some(EXTERNAL)
    }

    /// Writes those that come before a field.
    pub(super) fn put_before(&mut self, number: u32, store: &mut Store) {
        let end = self.0.partition_point(|field| field.number < number);
        self.0
            .drain(..end)
            .for_each(|field| store.copy(field.record));
    }

    /// Writes those that are left.
    pub(super) fn put(self, store: &mut Store) {
        self.0
            .into_iter()
            .for_each(|field| store.copy(field.record));
    }
}
