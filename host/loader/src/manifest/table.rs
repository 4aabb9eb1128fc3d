//! Tables of a manifest, which are written as tables.
//!
//! What serde derives for a struct also takes a list of its fields' values, in their order:
//! `config = [["a.b"]]`. Nobody means that.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A struct that is read from a table and from nothing else.
pub(crate) struct Table<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<T>, D::Error> {
        struct OfEntries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfEntries<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<M: MapAccess<'de>>(self, entries: M) -> Result<Table<T>, M::Error> {
                T::deserialize(MapAccessDeserializer::new(entries)).map(Table)
            }
        }

        deserializer.deserialize_map(OfEntries(PhantomData))
    }
}
