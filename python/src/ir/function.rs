//! `Function`: its ops, values and regions, and how it is accessed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use passdock::ir::{self, FunctionSnapshot};
use passdock::sdk::abi::symbol;
use passdock::sdk::{self, EditError, FunctionKind, OpId, SymbolId, ValueId};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::crossing::borrow::{BorrowedFunction, BorrowedModule, BorrowedRewriter, Snapshot};
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::ir::attr;
use crate::ir::failure;
use crate::ir::op::Op;
use crate::ir::part::Part;
use crate::ir::region::Region;
use crate::ir::value::Value;

/// How a function is accessed.
enum Source {
    /// A snapshot, with its module.
    Snapshot(Snapshot, passdock::Module),
    /// Borrowed by a function pass.
    Borrowed(Arc<BorrowedFunction>),
    /// In a module that a module pass borrows.
    InModule(Arc<BorrowedModule>, SymbolId),
    /// Read by the code of a rule that rewrites it.
    Rewritten(Arc<BorrowedRewriter>),
}

/// A function of a module: a graph function (``fn``), or a loop-level function (``prim``).
///
/// Outside of passes, functions are read-only. A pass edits its function with the methods of this class; the input
/// module doesn't change.
#[pyclass(frozen, module = "passdock", weakref)]
pub(crate) struct Function {
    source: Source,
    /// Whether its module removed it. A new function of the same name is another one.
    is_removed: AtomicBool,
}

impl Function {
    fn new(source: Source) -> Function {
        Function {
            source,
            is_removed: AtomicBool::new(false),
        }
    }

    /// Creates a snapshot of a function, with its module.
    pub(crate) fn snapshot(function: Arc<ir::Function>, module: passdock::Module) -> Function {
        let held = FunctionSnapshot::in_module(function, module.clone());
        Function::new(Source::Snapshot(Snapshot::new(held), module))
    }

    /// Creates the function of a function pass.
    pub(crate) fn borrowed(function: Arc<BorrowedFunction>) -> Function {
        Function::new(Source::Borrowed(function))
    }

    /// Creates a function of a borrowed module.
    pub(crate) fn in_module(module: Arc<BorrowedModule>, name: SymbolId) -> Function {
        Function::new(Source::InModule(module, name))
    }

    /// Creates the function that a rule rewrites, read-only for the rule's code.
    pub(crate) fn rewritten(rewriter: Arc<BorrowedRewriter>) -> Function {
        Function::new(Source::Rewritten(rewriter))
    }

    /// Whether this is the function borrowed by a pass.
    pub(crate) fn is_borrowed_as(&self, borrowed: &Arc<BorrowedFunction>) -> bool {
        matches!(&self.source, Source::Borrowed(own) if Arc::ptr_eq(own, borrowed))
    }

    /// Marks the function as removed from its module.
    pub(crate) fn remove(&self) {
        self.is_removed.store(true, Ordering::Relaxed);
    }

    /// Whether its module is known to have removed it.
    pub(crate) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Relaxed)
    }

    /// Edits the function in its module; an error if it was removed.
    fn edit_in<R>(
        &self,
        module: &BorrowedModule,
        name: SymbolId,
        body: impl FnOnce(&mut sdk::Function) -> R,
    ) -> PyResult<R> {
        let edited = module.edit(|m| {
            if self.is_removed() {
                return Err(None);
            }
            let failure = match m.edit(name) {
                Ok(f) => return Ok(body(f)),
                Err(failure) => failure,
            };
            // A pass that was run on the module may have removed it.
            Err(m.function(name).map(|_| failure))
        })?;
        edited.map_err(|failure| match failure {
            Some(failure) => error::edit_error(&failure.message),
            None => {
                self.remove();
                gil::attach(|py| error::raised(py, "StaleError", "the function was removed"))
            }
        })
    }

    /// Whether an entity of the function exists; `false` if the function was removed.
    pub(crate) fn is_live_in(&self, body: impl FnOnce(&sdk::Function) -> bool) -> PyResult<bool> {
        match self.read(body) {
            Err(_) if self.is_removed() => Ok(false),
            read => read,
        }
    }

    /// Reads the function.
    pub(crate) fn read<R: Send>(&self, body: impl FnOnce(&sdk::Function) -> R) -> PyResult<R> {
        match &self.source {
            Source::Snapshot(held, _) => Ok(held.read(body)),
            Source::Borrowed(borrowed) => borrowed.read(body),
            Source::Rewritten(borrowed) => borrowed.read(|rewriter| body(rewriter.function())),
            Source::InModule(module, name) => self.edit_in(module, *name, |f| body(f)),
        }
    }

    /// Edits the function.
    fn edit<R>(&self, body: impl FnOnce(&mut sdk::Function) -> R) -> PyResult<R> {
        match &self.source {
            Source::Snapshot(..) | Source::Rewritten(_) => Err(error::read_only("function")),
            Source::Borrowed(borrowed) => borrowed.edit(body),
            Source::InModule(module, name) => self.edit_in(module, *name, body),
        }
    }

    /// Returns the function's name in its module, for a function of a borrowed module.
    pub(crate) fn name_in_module(&self) -> Option<SymbolId> {
        match &self.source {
            Source::InModule(_, name) => Some(*name),
            _ => None,
        }
    }

    /// Returns the module that contains the function, and its name there.
    pub(crate) fn origin(&self) -> Result<(passdock::Module, String)> {
        let name = self.read(|f| f.function_name().to_owned())?;
        let module = match &self.source {
            Source::Snapshot(_, module) => module.clone(),
            Source::InModule(module, _) => module.read(|m| ir::module_now(m))??,
            // A function in a running pass: its callees are in the pass's module.
            _ => self.with_ir(|f| {
                let mut alone = passdock::Module::new();
                alone.insert_copy(f).map(|()| alone)
            })??,
        };
        Ok((module, name))
    }

    /// Replaces the body of a function pass's function with a copy of this function's. The functions that it calls are
    /// copied, too, and its ops are raised to the other function's opset.
    pub(crate) fn put_into(&self, py: Python<'_>, other: &BorrowedFunction) -> Result {
        let (module, name) = self.origin()?;
        let opset = other.read(|to| to.opset(""))?;
        let part = gil::detach(py, || ir::body_for(&module, &name, opset))?;
        Ok(other.edit(|to| ir::replace_body(to, &part, &name))??)
    }

    /// Reads the function in the host's representation.
    pub(crate) fn with_ir<R: Send>(&self, body: impl FnOnce(&ir::Function) -> R) -> PyResult<R> {
        let seen = self.read(|f| ir::with_function(f, body))?;
        seen.map_err(|failure| error::edit_error(&failure.message))
    }
}

/// Edits a function. A rejected edit raises an exception with the op.
pub(crate) fn edit<R>(
    function: &Bound<'_, Function>,
    body: impl FnOnce(&mut sdk::Function) -> Result<R, EditError>,
) -> PyResult<R> {
    let edited = function.get().edit(body)?;
    edited.map_err(|failure| {
        let op = failure.op.map(|id| Op(Part::new(function, id)));
        failure::edit_error_at(function.py(), &failure, op)
    })
}

/// Creates objects for ops of a function.
pub(crate) fn ops(function: &Bound<'_, Function>, ids: Vec<OpId>) -> Vec<Op> {
    let op = |id| Op(Part::new(function, id));
    ids.into_iter().map(op).collect()
}

/// Creates objects for values of a function.
pub(crate) fn values(function: &Bound<'_, Function>, ids: &[ValueId]) -> Vec<Option<Value>> {
    ids.iter().map(|&id| value(function, id)).collect()
}

/// Creates the object for a value of a function; `None` for an omitted operand.
pub(crate) fn value(function: &Bound<'_, Function>, id: ValueId) -> Option<Value> {
    (!id.is_none()).then(|| Value(Part::new(function, id)))
}

/// Creates the error for an entity of another function.
pub(crate) fn other_function(function: &Bound<'_, Function>) -> PyErr {
    let name = function.get().read(|f| f.function_name().to_owned());
    let name = name.unwrap_or_default();
    PyValueError::new_err(format!(
        "expected an object of function `@{name}`, found one of another function"
    ))
}

#[pymethods]
impl Function {
    /// The function's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.read(|f| f.function_name().to_owned())
    }

    /// ``"fn"`` for a graph function, ``"prim"`` for a loop-level function.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.read(|f| match f.kind() {
            FunctionKind::PRIM => "prim",
            _ => "fn",
        })
    }

    /// The parameters as values.
    #[getter]
    fn params(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<Value>>> {
        let ids = slf.get().read(|f| f.params().to_vec())?;
        Ok(values(slf, &ids))
    }

    /// The values that the function returns.
    #[getter]
    fn results(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<Value>>> {
        let ids = slf.get().read(|f| {
            let end = f.terminator(f.body()).into_iter();
            end.flat_map(|end| f.operands(end)).collect::<Vec<_>>()
        })?;
        Ok(values(slf, &ids))
    }

    /// The body: the region whose arguments are the parameters.
    #[getter]
    fn body(slf: &Bound<'_, Self>) -> PyResult<Region> {
        Ok(Region(Part::new(slf, slf.get().read(|f| f.body())?)))
    }

    /// All ops in program order, including those of nested regions, without terminators.
    #[getter(ops)]
    fn all_ops(slf: &Bound<'_, Self>) -> PyResult<Vec<Op>> {
        let ids = slf.get().read(|f| inner_ops(f).collect())?;
        Ok(ops(slf, ids))
    }

    /// Returns all ops in program order, including those of nested regions and terminators.
    fn walk(slf: &Bound<'_, Self>) -> PyResult<Vec<Op>> {
        let ids = slf.get().read(|f| f.iter().collect())?;
        Ok(ops(slf, ids))
    }

    /// Returns the ops with a name in program order: ``func.ops_named("onnx.Relu")``.
    ///
    /// Empty if a function of the module has the same name.
    fn ops_named(slf: &Bound<'_, Self>, name: &str) -> PyResult<Vec<Op>> {
        let ids = slf.get().read(|f| f.ops_named(name).collect())?;
        Ok(ops(slf, ids))
    }

    /// The number of ops, without terminators.
    #[getter]
    fn op_count(&self) -> PyResult<usize> {
        self.read(|f| inner_ops(f).count())
    }

    /// The imported domain versions: ``{"": 17}``.
    #[getter]
    fn opsets(&self) -> PyResult<BTreeMap<String, i64>> {
        self.read(|f| {
            let opsets = f.opsets();
            opsets
                .map(|(domain, version)| (domain.to_owned(), version))
                .collect()
        })
    }

    /// A copy of the function's attributes.
    #[getter]
    fn attrs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let read = slf.get().read(|f| attr::read_all(f, f.function_attrs()))?;
        attr::to_dict(slf, read)
    }

    /// Returns a parameter, a result of an op or a constant by its name: ``"x"``, or ``"0"`` for an unnamed value that
    /// IR text calls ``%0``.
    ///
    /// Raises KeyError if no value has the name. Takes time linear in the size of the function.
    fn value(slf: &Bound<'_, Self>, name: &str) -> PyResult<Value> {
        let found = slf.get().read(|f| {
            let is_called = |&id: &ValueId| f.value_name(id) == Some(name);
            let params = f.params().iter().copied().find(is_called);
            let constant = || f.constants().map(|(_, c)| c.value).find(is_called);
            let mut results = f.iter().flat_map(|op| f.results(op).iter().copied());
            let result = || results.find(is_called);
            params.or_else(constant).or_else(result)
        })?;
        let is_number = found.is_none() && name.parse::<u32>().is_ok();
        let found = match is_number {
            false => found,
            true => slf.get().with_ir(|f| {
                let (pieces, requested) = (ir::Pieces::new(f), format!("%{name}"));
                let mut unnamed = f.walk(f.body()).flat_map(|op| f.results(op));
                unnamed.find(|&value| pieces.value(value) == requested)
            })?,
        };
        let missing = || PyKeyError::new_err(format!("no value is named `{name}`"));
        found.and_then(|id| value(slf, id)).ok_or_else(missing)
    }

    /// The constants of the function as values.
    #[getter]
    fn constants(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<Value>>> {
        let ids = slf.get().read(|f| {
            let constants = f.constants();
            constants
                .map(|(_, constant)| constant.value)
                .collect::<Vec<_>>()
        })?;
        Ok(values(slf, &ids))
    }

    /// Whether the function can be edited: it belongs to a running pass.
    #[getter]
    fn is_editable(&self) -> bool {
        !matches!(self.source, Source::Snapshot(..)) && self.edit(|_| ()).is_ok()
    }

    fn __repr__(&self) -> String {
        let read = self.read(|f| {
            let count = inner_ops(f).count();
            let s = if count == 1 { "" } else { "s" };
            format!("<passdock.Function @{}, {count} op{s}>", f.function_name())
        });
        error::shown(read, "Function")
    }

    /// Returns the function as IR text.
    fn __str__(&self) -> PyResult<String> {
        self.with_ir(|f| ir::print_function(f, &ir::PrintOptions::default()))
    }
}

/// Iterates over all ops but terminators, in program order.
fn inner_ops(f: &sdk::Function) -> impl Iterator<Item = OpId> + '_ {
    f.iter().filter(|&op| !is_end(f, op))
}

/// Whether an op is a terminator.
pub(crate) fn is_end(f: &sdk::Function, op: OpId) -> bool {
    matches!(f.symbol(op), symbol::RETURN | symbol::YIELD)
}
