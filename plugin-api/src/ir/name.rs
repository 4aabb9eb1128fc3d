//! How a name is given: as text, or as the symbol of it that the module already has.

use passdock_abi::SymbolId;

use crate::data::EditError;
use crate::raw::RawFunction;

/// A name of an op, an attribute, a function: `"onnx.Relu"`, or its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// Text, looked up in the module's symbols.
    Text(&'a str),
    /// A symbol of the module.
    Symbol(SymbolId),
}

impl Name<'_> {
    /// Whether it is that symbol's.
    #[inline]
    pub(crate) fn is(self, symbol: SymbolId, function: &RawFunction) -> bool {
        match self {
            Name::Text(text) => function.text(symbol) == text,
            Name::Symbol(own) => own == symbol,
        }
    }

    /// The symbol; `None` if the module has none, so nothing in it is called so.
    #[inline]
    pub(crate) fn find(self, function: &RawFunction) -> Option<SymbolId> {
        match self {
            Name::Text(text) => function.find(text),
            Name::Symbol(symbol) => Some(symbol),
        }
    }

    /// The symbol, made if it is new.
    #[inline]
    pub(crate) fn intern(self, function: &RawFunction) -> Result<SymbolId, EditError> {
        match self {
            Name::Text(text) => function.intern(text),
            Name::Symbol(symbol) => Ok(symbol),
        }
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Name<'a> {
        Name::Text(text)
    }
}

impl<'a> From<&'a String> for Name<'a> {
    fn from(text: &'a String) -> Name<'a> {
        Name::Text(text)
    }
}

impl From<SymbolId> for Name<'_> {
    fn from(symbol: SymbolId) -> Self {
        Name::Symbol(symbol)
    }
}
