//! The attributes of an op, given by whoever asks for its evaluation.

use std::borrow::Cow;

use super::Tensor;

/// An attribute's value.
#[derive(Debug)]
pub enum Attr<'a> {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// Bytes, usually UTF-8.
    String(&'a [u8]),
    /// Integers.
    Ints(Cow<'a, [i64]>),
    /// Floats.
    Floats(Cow<'a, [f32]>),
    /// Strings.
    Strings(Vec<&'a [u8]>),
    /// A tensor.
    Tensor(Tensor<'a>),
    /// Anything else: a graph, a type, a reference to an attribute of the function.
    Other,
}

/// The attributes of one op.
pub trait Attrs {
    /// The attribute of that name.
    fn get(&self, name: &str) -> Option<Attr<'_>>;

    /// The names of all.
    fn names(&self) -> Vec<&str>;
}

/// Attributes in a list, for tests and for ops that have none.
impl Attrs for Vec<(&str, Attr<'_>)> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        let (_, value) = self.iter().find(|(given, _)| *given == name)?;
        Some(match value {
            Attr::Int(value) => Attr::Int(*value),
            Attr::Float(value) => Attr::Float(*value),
            Attr::String(value) => Attr::String(value),
            Attr::Ints(value) => Attr::Ints(Cow::Borrowed(value)),
            Attr::Floats(value) => Attr::Floats(Cow::Borrowed(value)),
            Attr::Strings(value) => Attr::Strings(value.clone()),
            Attr::Tensor(value) => Attr::Tensor(value.borrow()),
            Attr::Other => Attr::Other,
        })
    }

    fn names(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}
