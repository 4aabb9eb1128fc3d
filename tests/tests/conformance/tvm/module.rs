//! Modules and functions of the reference implementation, as passes see them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Function, Module};
use crate::system::{EditFunction, EditModule};

/// The module of a module pass.
pub(super) struct Whole<'m>(pub(super) &'m mut Module);

impl EditModule for Whole<'_> {
    fn set(&mut self, function: &str, attr: &str, value: i64) -> Result<(), String> {
        let mut functions = Arc::make_mut(self.0).iter_mut();
        let function = functions
            .find(|f| f.name == function)
            .ok_or("no such function")?;
        Arc::make_mut(function).attrs.insert(attr.to_owned(), value);
        Ok(())
    }

    fn add(&mut self, function: &str) -> Result<(), String> {
        Arc::make_mut(self.0).push(Arc::new(Function {
            name: function.to_owned(),
            prim: false,
            attrs: BTreeMap::new(),
        }));
        Ok(())
    }

    fn remove(&mut self, function: &str) -> Result<(), String> {
        Arc::make_mut(self.0).retain(|f| f.name != function);
        Ok(())
    }
}

/// The function of a function pass, and the functions of the module that it sees.
pub(super) struct One<'f>(pub(super) &'f mut Function, pub(super) &'f [Arc<Function>]);

impl EditFunction for One<'_> {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn set(&mut self, attr: &str, value: i64) -> Result<(), String> {
        self.0.attrs.insert(attr.to_owned(), value);
        Ok(())
    }

    fn peek(&self, function: &str, attr: &str) -> Result<Option<i64>, String> {
        let known = self.1.iter().find(|f| f.name == function);
        let known = known.ok_or_else(|| format!("there is no function {function}"))?;
        Ok(known.attrs.get(attr).copied())
    }
}
