//! Edits of modules and functions by a scenario's passes, through the SDK.

use passdock_plugin_api as sdk;

use crate::system::{EditFunction, EditModule};

pub(super) fn int_attr(f: &sdk::Function, name: &str) -> Option<i64> {
    match f.function_attr(name) {
        Some(sdk::Attr::Int(value)) => Some(value),
        _ => None,
    }
}

pub(super) trait SetIn {
    fn set_in(&mut self, function: &str, attr: &str, value: i64) -> sdk::PassResult;
}

impl SetIn for sdk::Module<'_> {
    fn set_in(&mut self, function: &str, attr: &str, value: i64) -> sdk::PassResult {
        Ok(self.edit(function)?.set_function_attr(attr, value)?)
    }
}

impl EditModule for sdk::Module<'_> {
    fn set(&mut self, function: &str, attr: &str, value: i64) -> Result<(), String> {
        self.set_in(function, attr, value).map_err(|e| e.message)
    }

    fn add(&mut self, function: &str) -> Result<(), String> {
        let make = || -> sdk::PassResult {
            let result = self.create(function, sdk::FunctionKind::GRAPH, None)?;
            let body = result.body();
            Ok(result.set_results(body, &[])?)
        };
        let mut make = make;
        make().map_err(|error| error.message)
    }

    fn remove(&mut self, function: &str) -> Result<(), String> {
        sdk::Module::remove(self, function).map_err(|error| error.message)
    }
}

/// The function of a function pass.
pub(super) struct InFunction<'f>(
    pub(super) &'f mut sdk::Function,
    pub(super) &'f sdk::PassContext,
);

impl EditFunction for InFunction<'_> {
    fn name(&self) -> String {
        self.0.function_name().to_owned()
    }

    fn set(&mut self, attr: &str, value: i64) -> Result<(), String> {
        self.0.set_function_attr(attr, value).map_err(|e| e.message)
    }

    fn peek(&self, function: &str, attr: &str) -> Result<Option<i64>, String> {
        let module = self.1.module().ok_or("a function pass has a module")?;
        let function = module.snapshot(function).map_err(|error| error.message)?;
        Ok(int_attr(&function, attr))
    }
}
