//! The attributes of an op, supplied by the caller.

use std::borrow::Cow;

use super::Tensor;

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum EvalAttr<'a> {
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
    /// Any other value: a graph, a type, or a reference to an attribute of the function.
    Other,
}

/// The attributes of an op.
pub trait Attrs {
    /// Returns the attribute of this name.
    fn get(&self, name: &str) -> Option<EvalAttr<'_>>;

    /// Returns the names of all attributes.
    fn names(&self) -> Vec<&str>;
}

/// A list of attributes, for tests and for ops without attributes.
impl Attrs for Vec<(&str, EvalAttr<'_>)> {
    fn get(&self, name: &str) -> Option<EvalAttr<'_>> {
        let (_, value) = self.iter().find(|(given, _)| *given == name)?;
        Some(value.clone())
    }

    fn names(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}
