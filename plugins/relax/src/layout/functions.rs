//! [`Functions`]: functions of the module for ops that are several ops in another layout.

use std::collections::HashMap;

use passdock_plugin_api::FreeNames;
use passdock_plugin_api::prelude::*;

use crate::shared::read::add_terminator;

/// The domain of the functions.
pub(crate) const DOMAIN: &str = "passdock.layout";

/// The body of a function to create.
#[derive(Debug)]
pub(crate) struct FunctionText {
    /// The IR text of one function.
    pub(crate) text: String,
    /// Whether each parameter of the text is a parameter of the function: `false` for absent operands.
    pub(crate) params: Vec<bool>,
    /// Whether each result of the text is a result of the function.
    pub(crate) results: Vec<bool>,
    /// The attribute parameters that the text refers to.
    pub(crate) attrs: Vec<String>,
}

/// The functions that were created, by body.
pub(crate) struct Functions {
    names: HashMap<String, String>,
    free: FreeNames,
    /// The names and bodies of functions that are called but not created yet.
    pending: Vec<(String, FunctionText)>,
}

impl Functions {
    pub(crate) fn new(m: &Module<'_>) -> Result<Functions, EditError> {
        Ok(Functions {
            names: HashMap::new(),
            free: FreeNames::of(m, DOMAIN)?,
            pending: Vec::new(),
        })
    }

    /// Returns the name of the function with a body. A new function is named after `base`.
    pub(crate) fn name(&mut self, f: &Function, base: &str, body: FunctionText) -> String {
        let mut opsets: Vec<(&str, i64)> = f.opsets().collect();
        opsets.retain(|(domain, _)| *domain != DOMAIN);
        opsets.sort_unstable();
        let key = format!("{opsets:?} {body:?}");
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name = self.free.take(base);
        self.names.insert(key, name.clone());
        self.pending.push((name.clone(), body));
        name
    }

    /// Creates the pending functions, which `holder` calls.
    pub(crate) fn make(
        &mut self,
        m: &mut Module<'_>,
        cx: &PassContext,
        holder: SymbolId,
    ) -> PassResult {
        for (name, pending) in self.pending.drain(..) {
            let f = m.create(&name, FunctionKind::GRAPH, Some(holder.into()))?;
            let body = f.body();
            let mut args = Vec::with_capacity(pending.params.len());
            for is_present in &pending.params {
                args.push(match is_present {
                    true => f.add_arg(body, "", TypeId::NONE)?,
                    false => ValueId::NONE,
                });
            }
            for attr in &pending.attrs {
                f.add_attr_param(attr.as_str(), None)?;
            }
            let end = add_terminator(f, &[])?;
            let count = pending.results.len();
            let values = cx.insert_text(f, end, &pending.text, &args, count)?;
            let results = values.into_iter().zip(&pending.results);
            let results: Vec<ValueId> = results
                .filter(|(_, given)| **given)
                .map(|(v, _)| v)
                .collect();
            f.set_results(body, &results)?;
        }
        Ok(())
    }
}
