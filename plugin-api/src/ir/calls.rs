//! Calls of the module's functions: which function calls which ([`CallGraph`]), what an op calls, and
//! making calls.

use std::collections::HashMap;

use passdock_abi::{
    symbol, FunctionEntry, FunctionKind, NameUse, OpId, Position, Status, SymbolId, ValueId,
};

use super::builder::OpBuilder;
use super::module::Module;
use super::Function;
use crate::data::EditError;

impl Module<'_> {
    /// The call graph of the module as it is now. It is put together from the names that
    /// each function uses ([`crate::Function::names`]), so of functions that didn't change nothing
    /// is looked at twice. Best asked before functions are edited: looking at one that is being
    /// edited makes its next edit copy it.
    ///
    /// # Errors
    /// If the host has no analyses.
    pub fn call_graph(&self) -> Result<CallGraph, EditError> {
        let entries: Vec<FunctionEntry> = self.functions().collect();
        let places = entries.iter().enumerate();
        let places: HashMap<SymbolId, usize> = places.map(|(at, one)| (one.name, at)).collect();
        let mut functions = Vec::with_capacity(entries.len());
        for entry in entries {
            functions.push(CalledFunction {
                entry,
                names: self.snapshot(entry.name)?.names()?.iter().collect(),
                callees: Vec::new(),
                callers: Vec::new(),
            });
        }
        for caller in 0..functions.len() {
            let names = functions[caller].names.iter();
            let mut callees: Vec<usize> = names
                .filter_map(|used| places.get(&used.name).copied())
                .collect();
            // A function may be called in both ways.
            callees.sort_unstable();
            callees.dedup();
            for &callee in &callees {
                functions[callee].callers.push(caller);
            }
            functions[caller].callees = callees;
        }
        Ok(CallGraph { functions, places })
    }
}

/// The call graph of a module: calls by ops of a function's name, or by a `callee` attribute.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Removes functions that nobody calls, but for `main`.
/// fn remove_uncalled(m: &mut Module, _cx: &PassContext) -> PassResult {
///     let calls = m.call_graph()?;
///     for function in calls.functions() {
///         if m.text(function.name) != "main" && calls.callers(function.name).next().is_none() {
///             m.remove(function.name)?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct CallGraph {
    functions: Vec<CalledFunction>,
    places: HashMap<SymbolId, usize>,
}

#[derive(Clone, Debug)]
struct CalledFunction {
    entry: FunctionEntry,
    names: Vec<NameUse>,
    callees: Vec<usize>,
    callers: Vec<usize>,
}

impl CallGraph {
    /// The functions, in the module's order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionEntry> + '_ {
        self.functions.iter().map(|one| one.entry)
    }

    /// A function of a name, if the module has it.
    pub fn function(&self, name: SymbolId) -> Option<FunctionEntry> {
        let at = self.places.get(&name)?;
        Some(self.functions[*at].entry)
    }

    /// The functions that one calls, each once, in the module's order.
    pub fn callees(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callees[..])
    }

    /// The functions that call one, each once, in the module's order.
    pub fn callers(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callers[..])
    }

    /// The names that a function uses: of its ops, and those in their `callee` attributes.
    pub fn names(&self, function: SymbolId) -> &[NameUse] {
        match self.places.get(&function) {
            Some(at) => &self.functions[*at].names,
            None => &[],
        }
    }

    fn listed<'g>(
        &'g self,
        function: SymbolId,
        list: impl Fn(&'g CalledFunction) -> &'g [usize] + 'g,
    ) -> impl Iterator<Item = SymbolId> + 'g {
        let at = self.places.get(&function);
        let places = at.map_or(&[][..], |at| list(&self.functions[*at]));
        places.iter().map(move |at| self.functions[*at].entry.name)
    }
}

impl Function {
    /// The function of the module that an op calls: of a `call` the one that its `callee` names, of another op the
    /// one that has the op's name; `None` if the module, as it is now, has no such function. If an operator has that
    /// name, too, the op is ambiguous ([`OpTraits::is_ambiguous`](crate::OpTraits::is_ambiguous)).
    #[track_caller]
    pub fn callee(&self, op: OpId) -> Option<SymbolId> {
        let name = match self.symbol(op) {
            symbol::CALL => self.find_symbol(self.string(op, symbol::CALLEE)?)?,
            name => name,
        };
        Some(name).filter(|name| self.raw_names_function(*name) == Some(1))
    }

    /// Makes a call of another function of the module, with a result for each of its results, whose types are left to
    /// inference (`relax.transform.InferType`). The call is an op of the function's name, which is what ONNX has; of a
    /// name without a domain, and of a loop-level function, it is a `call`, which no ONNX file can say.
    ///
    /// Trailing operands may be missing, and [`ValueId::NONE`] is one left out. Attribute parameters are attributes
    /// of the call: [`Function::set_attr`].
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Calls `acme.Scale` at the end of `main`.
    /// fn scale_results(m: &mut Module, _cx: &PassContext) -> PassResult {
    ///     let scale = m.snapshot("acme.Scale")?;
    ///     let main = m.edit("main")?;
    ///     let end = main.terminator(main.body()).ok_or("no `return`")?;
    ///     let value = main.operand(end, 0).ok_or("no result")?;
    ///     let call = main.create_call(&scale, &[value], Position::before(end))?;
    ///     main.set_operand(end, 0, main.result(call, 0))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If there are more operands than the callee has parameters, or one isn't visible at the place.
    pub fn create_call(
        &mut self,
        callee: &Function,
        operands: &[ValueId],
        at: Position,
    ) -> Result<OpId, EditError> {
        let params = callee.params();
        if operands.len() > params.len() {
            let message = format!(
                "`{}` has {} parameters, and a call of it would have {} operands",
                callee.function_name(),
                params.len(),
                operands.len()
            );
            return Err(EditError::new(Status::INVALID, message, None));
        }
        if let Some(bad) = operands
            .iter()
            .find(|value| value.is_some() && !self.is_live_value(**value))
        {
            let message = format!("{} names nothing in the function that is to call", bad);
            return Err(EditError::new(Status::STALE, message, None));
        }
        let name = callee.function_name();
        let call = match callee.kind() == FunctionKind::GRAPH && has_domain(name) {
            true => OpBuilder::new(name),
            false => OpBuilder::new(symbol::CALL).attr(symbol::CALLEE, name),
        };
        let call = call
            .operands(operands.iter().copied())
            .untyped_results(callee.ports(callee.body()).len());
        self.create_op(call, at)
    }
}

/// Whether a canonical name has a domain: a point outside of quotes.
fn has_domain(name: &str) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    for c in name.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '.' if !quoted => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_domain;

    #[test]
    fn a_point_outside_of_quotes_ends_a_domain() {
        assert!(has_domain("acme.Block") && has_domain("\"onnx\".Relu"));
        assert!(!has_domain("block") && !has_domain("\"A.\\\"B\""));
    }
}
