//! The attributes of an op, as its caller has them.

use std::borrow::Cow;

use super::Tensor;

/// An attribute's value.
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
    /// Anything else: a graph, a type, a reference to an attribute of the function.
    Other,
}

/// The attributes of one op.
pub trait Attrs {
    /// The attribute of that name.
    fn get(&self, name: &str) -> Option<EvalAttr<'_>>;

    /// The names of all.
    fn names(&self) -> Vec<&str>;
}

/// Attributes in a list, for tests and for ops that have none.
impl Attrs for Vec<(&str, EvalAttr<'_>)> {
    fn get(&self, name: &str) -> Option<EvalAttr<'_>> {
        let (_, value) = self.iter().find(|(given, _)| *given == name)?;
        Some(value.clone())
    }

    fn names(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}
