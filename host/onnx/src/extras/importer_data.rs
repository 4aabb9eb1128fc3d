//! The importer's data in an entity's extras: a small protobuf message, defined here.
//!
//! The reader stores only data that can't be derived from spans. When a module becomes self-contained
//! ([`crate::detach()`]), the stripped message of each entity is stored here, too.

use passdock_ir::{Entity, Extras, Function};

use crate::format::fields::bodies;
use crate::format::schema::{entry, tensor};
use crate::format::tensor::EXTERNAL;
use crate::format::wire::{
    Message, Value, WireFields, push_varints, put_bytes, put_int, put_varint, string_of,
};

mod field {
    pub(super) const STRIPPED: u32 = 1;
    pub(super) const GIVEN: u32 = 2;
    pub(super) const ORIGINAL: u32 = 3;
    pub(super) const SPARSE: u32 = 4;
    pub(super) const INPUT: u32 = 5;
    pub(super) const NO_INPUT: u32 = 6;
    pub(super) const ORDER: u32 = 7;
    pub(super) const FORM: u32 = 8;
}

/// The contents of an entity's extras.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImporterData<'a> {
    /// The stripped message.
    pub(crate) stripped: Option<Message<'a>>,
    /// The name that replaced a value's own, because that also names a value in an enclosing graph; and the own name,
    /// from the file. If the value is renamed later, the newer name is used.
    pub(crate) names: Option<[&'a str; 2]>,
    /// The start of the sparse initializer that an op represents.
    pub(crate) sparse: Option<u64>,
    /// The stripped graph input of an initializer that is also an input, before IR version 4.
    pub(crate) input: Option<Message<'a>>,
    /// Whether an initializer isn't an input, before IR version 4.
    pub(crate) no_input: bool,
    /// The field of a `Constant` node's value.
    pub(crate) form: Option<u32>,
    /// The encoded bytes.
    all: &'a [u8],
}

impl<'a> ImporterData<'a> {
    /// Decodes extras. Invalid fields, which may come from hand-written IR text, are ignored.
    pub(crate) fn from_extras(extras: &'a Extras) -> ImporterData<'a> {
        let mut data = ImporterData {
            all: &extras.bytes,
            ..ImporterData::default()
        };
        let (mut given, mut original) = (None, None);
        let text = |body: Message<'a>| std::str::from_utf8(body.bytes).ok();
        for field in fields(&extras.bytes).map_while(Result::ok) {
            match (field.number, field.value) {
                (field::STRIPPED, Value::Bytes(body)) => data.stripped = Some(body),
                (field::GIVEN, Value::Bytes(body)) => given = text(body),
                (field::ORIGINAL, Value::Bytes(body)) => original = text(body),
                (field::SPARSE, Value::Varint(at)) => data.sparse = Some(at),
                (field::INPUT, Value::Bytes(body)) => data.input = Some(body),
                (field::NO_INPUT, Value::Varint(_)) => data.no_input = true,
                (field::FORM, Value::Varint(form)) => data.form = u32::try_from(form).ok(),
                _ => {}
            }
        }
        data.names = given.zip(original).map(Into::into);
        data
    }

    /// Decodes the extras of a function's entity.
    pub(crate) fn from_entity(f: &'a Function, entity: Entity) -> ImporterData<'a> {
        let extras = f.origins().extras(entity);
        extras
            .map(|extras| ImporterData::from_extras(extras))
            .unwrap_or_default()
    }

    /// Sorts the items of a repeated field into the order of the file, if the extras have one that differs from the
    /// IR's.
    pub(crate) fn reorder<T: Clone>(&self, number: u32, items: &mut Vec<T>) {
        let found = fields(self.all).map_while(Result::ok).find_map(|record| {
            let (field::ORDER, Value::Bytes(body)) = (record.number, record.value) else {
                return None;
            };
            let mut numbers = Vec::new();
            push_varints(Value::Bytes(body), &mut numbers).ok()?;
            let (&first, positions) = numbers.split_first()?;
            (first == i64::from(number)).then(|| positions.to_vec())
        });
        let Some(positions) = found.filter(|positions| positions.len() == items.len()) else {
            return;
        };
        let mut sorted = positions.clone();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..items.len() as i64) {
            *items = positions
                .iter()
                .map(|&position| items[position as usize].clone())
                .collect();
        }
    }
}

/// Returns the location of the external file of a tensor, relative to the model, from its extras. `None` if its data
/// isn't external.
pub(crate) fn external_location(extras: &Extras) -> Option<&str> {
    let left = ImporterData::from_extras(extras).stripped?;
    let positions = left.fields().map_while(Result::ok);
    let positions = positions.filter(|field| field.number == tensor::DATA_LOCATION);
    // Of several fields, the last one counts.
    let Value::Varint(EXTERNAL) = positions.last()?.value else {
        return None;
    };
    let entries = bodies(left, tensor::EXTERNAL_DATA).map_while(std::result::Result::ok);
    let mut locations = entries.filter(|&body| string_of(body, entry::KEY) == Ok(b"location"));
    let location = locations.next().map(|body| string_of(body, entry::VALUE));
    let location = location.and_then(|location| std::str::from_utf8(location.ok()?).ok());
    Some(location.unwrap_or_default())
}

fn fields(bytes: &[u8]) -> WireFields<'_> {
    Message::detached(bytes).fields()
}

/// An encoder of extras.
#[derive(Debug, Default)]
pub(crate) struct ImporterDataBuilder(Vec<u8>);

impl ImporterDataBuilder {
    /// Adds a stripped message.
    pub(crate) fn stripped(&mut self, rest: &[u8]) {
        put_bytes(&mut self.0, field::STRIPPED, rest);
    }

    /// Adds the name in the file and the name that replaced it.
    pub(crate) fn names(&mut self, given: &str, original: &str) {
        put_bytes(&mut self.0, field::GIVEN, given.as_bytes());
        put_bytes(&mut self.0, field::ORIGINAL, original.as_bytes());
    }

    /// Adds the start of a sparse initializer; 0 if it isn't in the file.
    pub(crate) fn sparse(&mut self, at: u64) {
        put_int(&mut self.0, field::SPARSE, at as i64);
    }

    /// Adds the stripped graph input of an initializer; `None` if the initializer isn't an input.
    pub(crate) fn input(&mut self, rest: Option<&[u8]>) {
        match rest {
            Some(rest) => put_bytes(&mut self.0, field::INPUT, rest),
            None => put_int(&mut self.0, field::NO_INPUT, 1),
        }
    }

    /// Adds the field of a `Constant`'s value.
    pub(crate) fn form(&mut self, number: u32) {
        put_int(&mut self.0, field::FORM, number.into());
    }

    /// Adds the order of a repeated field, as indices into the IR's order. An order that is the same isn't stored.
    pub(crate) fn order(&mut self, number: u32, positions: &[usize]) {
        if positions.is_sorted() {
            return;
        }
        let mut packed = Vec::with_capacity(2 * positions.len());
        put_varint(&mut packed, number.into());
        positions
            .iter()
            .for_each(|&position| put_varint(&mut packed, position as u64));
        put_bytes(&mut self.0, field::ORDER, &packed);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns extras with this data only.
    pub(crate) fn into_extras(self) -> Extras {
        Extras {
            bytes: self.0,
            ..Extras::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_round_trips() {
        let mut data = ImporterDataBuilder::default();
        data.stripped(&[]);
        data.names("x.1", "x");
        data.order(13, &[0, 1]);
        data.order(5, &[2, 0, 1]);
        data.input(Some(&[8, 1]));
        let extras = data.into_extras();
        let kept = ImporterData::from_extras(&extras);
        assert_eq!(kept.stripped.map(|stripped| stripped.bytes), Some(&[][..]));
        assert!(kept.stripped.is_some_and(Message::is_detached));
        assert_eq!(kept.names, Some(["x.1", "x"]));
        assert_eq!(kept.input.map(|input| input.bytes), Some(&[8, 1][..]));
        assert!(!kept.no_input && kept.sparse.is_none());
        let mut items = vec!["a", "b", "c"];
        kept.reorder(13, &mut items);
        assert_eq!(items, ["a", "b", "c"]);
        kept.reorder(5, &mut items);
        assert_eq!(items, ["c", "a", "b"]);
        let mut fewer = vec!["a", "b"];
        kept.reorder(5, &mut fewer);
        assert_eq!(fewer, ["a", "b"]);
    }

    #[test]
    fn malformed_data_is_ignored() {
        for bytes in [
            &[0xff_u8; 20][..],
            &[10, 200],
            &[58, 1, 5],
            &[58, 3, 5, 7, 7],
        ] {
            let extras = Extras {
                bytes: bytes.to_vec(),
                ..Extras::default()
            };
            let kept = ImporterData::from_extras(&extras);
            assert!(kept.stripped.is_none());
            let mut items = vec![1, 2];
            kept.reorder(5, &mut items);
            assert_eq!(items, [1, 2]);
        }
    }
}
