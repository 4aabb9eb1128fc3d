//! Calls of the module's functions: the call graph ([`CallGraph`]), the callee of an op, and creating calls.

use std::collections::HashMap;

use passdock_abi::{FunctionEntry, NameUse, OpId, Position, Status, SymbolId, ValueId};

use super::builder::OpBuilder;
use super::module::Module;
use super::Function;
use crate::data::EditError;

impl Module<'_> {
    /// Returns the current call graph of the module.
    ///
    /// It is computed from the names that each function uses ([`crate::Function::names`]), which the host caches for
    /// unchanged functions. Call it before editing functions: for a function that is being edited, it takes a snapshot,
    /// and the next edit copies the function.
    ///
    /// # Errors
    /// If the host has no analyses.
    pub fn call_graph(&self) -> Result<CallGraph, EditError> {
        let entries: Vec<FunctionEntry> = self.functions().collect();
        let indices = entries.iter().enumerate();
        let indices: HashMap<SymbolId, usize> = indices.map(|(at, one)| (one.name, at)).collect();
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
                .filter_map(|used| indices.get(&used.name).copied())
                .collect();
            callees.sort_unstable();
            for &callee in &callees {
                functions[callee].callers.push(caller);
            }
            functions[caller].callees = callees;
        }
        Ok(CallGraph { functions, indices })
    }
}

/// The call graph of a module.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Removes functions without callers, except `main`.
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
    indices: HashMap<SymbolId, usize>,
}

#[derive(Clone, Debug)]
struct CalledFunction {
    entry: FunctionEntry,
    names: Vec<NameUse>,
    callees: Vec<usize>,
    callers: Vec<usize>,
}

impl CallGraph {
    /// Returns the functions, in the module's order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionEntry> + '_ {
        self.functions.iter().map(|one| one.entry)
    }

    /// Returns the function with this name, if the module has it.
    pub fn function(&self, name: SymbolId) -> Option<FunctionEntry> {
        let at = self.indices.get(&name)?;
        Some(self.functions[*at].entry)
    }

    /// Returns the functions that `function` calls, each once, in the module's order.
    pub fn callees(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callees[..])
    }

    /// Returns the functions that call `function`, each once, in the module's order.
    pub fn callers(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callers[..])
    }

    /// Returns the names of a function's ops.
    pub fn names(&self, function: SymbolId) -> &[NameUse] {
        match self.indices.get(&function) {
            Some(at) => &self.functions[*at].names,
            None => &[],
        }
    }

    fn listed<'g>(
        &'g self,
        function: SymbolId,
        list: impl Fn(&'g CalledFunction) -> &'g [usize] + 'g,
    ) -> impl Iterator<Item = SymbolId> + 'g {
        let at = self.indices.get(&function);
        let indices = at.map_or(&[][..], |at| list(&self.functions[*at]));
        indices.iter().map(move |at| self.functions[*at].entry.name)
    }
}

impl Function {
    /// Returns the function of the module that an op calls: the one with the op's name. `None` if the current module
    /// has no such function. If an operator has the same name, the op is ambiguous
    /// ([`OpTraits::is_ambiguous`](crate::OpTraits::is_ambiguous)).
    #[track_caller]
    pub fn callee(&self, op: OpId) -> Option<SymbolId> {
        Some(self.symbol(op)).filter(|name| self.raw_names_function(*name) == Some(1))
    }

    /// Creates a call of another function of the module. It has a result for each result of the function, whose types
    /// are left to inference (`relax.transform.InferType`).
    ///
    /// The call is an op with the function's name, as in ONNX. ONNX files can't represent a call of a function whose
    /// name has no domain, or of a loop-level function.
    ///
    /// Trailing operands may be missing, and [`ValueId::NONE`] omits one. Attribute parameters are attributes of the
    /// call: [`Function::set_attr`].
    ///
    /// # Examples
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
    /// If there are more operands than the callee has parameters, or one isn't visible at the position.
    pub fn create_call(
        &mut self,
        callee: &Function,
        operands: &[ValueId],
        at: Position,
    ) -> Result<OpId, EditError> {
        let params = callee.params();
        if operands.len() > params.len() {
            let message = format!(
                "function `{}` has {} parameters, but the call has {} operands",
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
            let message = format!("{} is not a value of the calling function", bad);
            return Err(EditError::new(Status::STALE, message, None));
        }
        let call = OpBuilder::new(callee.function_name())
            .operands(operands.iter().copied())
            .untyped_results(callee.ports(callee.body()).len());
        self.create_op(call, at)
    }
}
