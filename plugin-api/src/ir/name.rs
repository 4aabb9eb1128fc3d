//! [`Name`]: a name, as a string or symbol; and [`FreeNames`]: unused names for functions.

use std::collections::{HashMap, HashSet};

use passdock_abi::SymbolId;

use super::module::Module;
use super::Function;
use crate::data::EditError;

/// The name of an op, attribute or function: `"onnx.Relu"`, or its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name<'a> {
    /// A string, looked up in the module's symbols.
    Text(&'a str),
    /// A symbol of the module.
    Symbol(SymbolId),
}

impl Name<'_> {
    /// Whether a symbol has this name.
    #[inline]
    pub(crate) fn is(self, symbol: SymbolId, function: &Function) -> bool {
        match self {
            Name::Text(text) => function.text(symbol) == text,
            Name::Symbol(own) => own == symbol,
        }
    }

    /// Returns the symbol; `None` if the string isn't interned, so that no entity has the name.
    #[inline]
    pub(crate) fn find(self, function: &Function) -> Option<SymbolId> {
        match self {
            Name::Text(text) => function.find_symbol(text),
            Name::Symbol(symbol) => Some(symbol),
        }
    }

    /// Returns the symbol, and interns the string if it is new.
    #[inline]
    pub(crate) fn intern(self, function: &Function) -> Result<SymbolId, EditError> {
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

/// Unused names for new functions of a domain. A name is in use if a function of the module or an op has it: the op
/// would become a call.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
/// use passdock_plugin_api::FreeNames;
///
/// /// Creates a function `acme.block`, or `acme.block_1`, and so on.
/// fn new_block(m: &mut Module) -> Result<SymbolId, EditError> {
///     let name = FreeNames::of(m, "acme")?.take("block");
///     let f = m.create(&name, FunctionKind::GRAPH, None)?;
///     f.intern(&name)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct FreeNames {
    domain: String,
    reserved: HashSet<String>,
    /// The next number to try, by base name.
    next: HashMap<String, usize>,
}

impl FreeNames {
    /// Collects the names in use that begin with a domain.
    ///
    /// # Errors
    /// If the host can't list the names that a function uses.
    pub fn of(m: &Module<'_>, domain: &str) -> Result<FreeNames, EditError> {
        let mut reserved = HashSet::new();
        for entry in m.functions() {
            reserved.insert(m.text(entry.name).to_owned());
            for used in m.snapshot(entry.name)?.names()?.iter() {
                let name = m.text(used.name);
                if name.starts_with(domain) {
                    reserved.insert(name.to_owned());
                }
            }
        }
        Ok(FreeNames {
            domain: domain.to_owned(),
            reserved,
            next: HashMap::new(),
        })
    }

    /// Returns the domain.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns an unused name and marks it as used: `domain.base`, or with a number appended.
    pub fn take(&mut self, base: &str) -> String {
        let base = format!("{}.{}", self.domain, base);
        let mut name = base.clone();
        while !self.reserved.insert(name.clone()) {
            let number = self.next.entry(base.clone()).or_insert(1);
            name = format!("{}_{}", base, number);
            *number += 1;
        }
        name
    }
}
