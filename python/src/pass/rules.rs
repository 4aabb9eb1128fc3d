//! Rules: patterns of ops and their replacements, as text or as Python code.

use std::sync::Arc;

use passdock::sdk::{self, DType, EditError, OpId, ValueId, element};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::crossing::borrow::{self, BorrowedMatch, BorrowedRewriter};
use crate::crossing::code::Code;
use crate::crossing::convert::Mapping;
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::crossing::terms::in_python;
use crate::ir::attr;
use crate::ir::edit::{Operand, ids_of};
use crate::ir::function::{self, Function};
use crate::ir::new_op::{self, NewOp};
use crate::ir::op::Op;
use crate::ir::part::Part;
use crate::ir::types::dtype_of;
use crate::ir::value::Value;

/// Rewrite rules, as described in ``docs/rules.md``: ``Rules("rule a { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }")``.
///
/// ``ctx.rewrite(func, rules)`` rewrites a function until a fixed point. ``a + b`` contains the rules of both.
///
/// Raises PipelineError if the text is invalid.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Rules {
    pub(crate) sets: Vec<Py<RuleSet>>,
}

/// The rules of one text, or one with code. Sums of rules share it, so Python's garbage collector visits it once.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct RuleSet {
    pub(crate) rules: sdk::Rules,
    code: Option<Arc<Code>>,
}

#[pymethods]
impl RuleSet {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.code.iter().try_for_each(|code| code.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(code) = &self.code {
            code.clear();
        }
    }
}

impl Rules {
    /// Creates rules from one set; an error if its rules can never apply.
    fn from_rules(py: Python<'_>, rules: sdk::Rules, code: Option<Arc<Code>>) -> PyResult<Rules> {
        check(py, &rules)?;
        Ok(Rules {
            sets: vec![Py::new(py, RuleSet { rules, code })?],
        })
    }
}

fn to_exception(py: Python<'_>, error: &sdk::rewrite::RuleError) -> PyErr {
    error::raised(py, "PipelineError", &in_python(&error.full_message()))
}

/// Rejects rules that never apply according to the registered op definitions.
fn check(py: Python<'_>, rules: &sdk::Rules) -> PyResult<()> {
    let checked = gil::detach(py, || {
        passdock::check_rules(rules, &passdock::Registry::global().op_defs())
    });
    checked.map_err(|error| to_exception(py, &error))
}

#[pymethods]
impl Rules {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Rules> {
        let rules = sdk::Rules::parse(text).map_err(|error| to_exception(py, &error))?;
        Rules::from_rules(py, rules, None)
    }

    /// Creates a rule whose replacement is built by a function. ``code(rewriter, match)`` returns a value for each
    /// result of the pattern's last op, a single value, or None to reject the match.
    #[staticmethod]
    fn with_code(py: Python<'_>, name: &str, pattern: &str, code: Py<PyAny>) -> PyResult<Rules> {
        if !code.bind(py).is_callable() {
            return Err(PyTypeError::new_err(
                "the code of a rule must be a function of a rewriter and a match",
            ));
        }
        let code = Arc::new(Code::new(code));
        let own = code.clone();
        let created = sdk::Rules::with_code(name, pattern, move |rewriter, found| {
            apply(&own, rewriter, found)
        });
        let created = created.map_err(|error| to_exception(py, &error))?;
        Rules::from_rules(py, created, Some(code))
    }

    /// The names of the rules, in order.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names = Vec::new();
        for set in &self.sets {
            let found = set.get().rules.names();
            names.extend(found.map_err(|error| to_exception(py, &error))?);
        }
        Ok(names)
    }

    fn __add__(&self, py: Python<'_>, other: &Rules) -> Rules {
        let sets = self.sets.iter().chain(&other.sets);
        Rules {
            sets: sets.map(|set| set.clone_ref(py)).collect(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.sets.iter().try_for_each(|set| visit.call(set))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.names(py)?.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<passdock.Rules {}>", self.names(py)?.join(", ")))
    }
}

/// Calls the code of a rule.
fn apply(code: &Code, rewriter: &mut sdk::Rewriter<'_>, found: &sdk::Match<'_>) -> sdk::Rewritten {
    borrow::rewrite(rewriter, found, |rewriter, found| {
        gil::attach(|py| {
            let called = (|| {
                let function = Py::new(py, Function::rewritten(rewriter.handle()))?;
                let own = Rewriter {
                    own: rewriter.handle(),
                    function: function.clone_ref(py),
                };
                let found = Match {
                    own: found.handle(),
                    function: function.clone_ref(py),
                };
                let root = found.own.read(sdk::Match::root)?;
                let returned = gil::call(&code.get(py)?, (own, found))?;
                replacement(function.bind(py), root, &returned)
            })();
            called.map_err(|raised| error::as_edit_failure(py, raised))
        })
    })
}

fn replacement(
    function: &Bound<'_, Function>,
    root: OpId,
    returned: &Bound<'_, PyAny>,
) -> PyResult<Option<Vec<ValueId>>> {
    if returned.is_none() {
        return Ok(None);
    }
    let values = match returned.extract::<Operand>() {
        Ok(one) => vec![one],
        Err(_) => returned.extract::<Vec<Operand>>().map_err(|_| {
            PyTypeError::new_err(
                "the code of a rule must return a value, a list of values, or None",
            )
        })?,
    };
    // Unused results at the end may be omitted.
    let (least, most) = function.get().read(|f| {
        let results = f.results(root);
        let used = results.iter().rposition(|result| f.use_count(*result) > 0);
        (used.map_or(0, |last| last + 1), results.len())
    })?;
    if !(least..=most).contains(&values.len()) {
        return Err(PyValueError::new_err(format!(
            "the code of a rule must return a value for each result of the replaced op: expected {most}, found {}",
            values.len()
        )));
    }
    ids_of(function, &values).map(Some)
}

/// Builds the replacement in the code of a rule. New ops are inserted before the replaced op, and folded to constants
/// if their operands are constant.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Rewriter {
    own: Arc<BorrowedRewriter>,
    function: Py<Function>,
}

impl Rewriter {
    fn make(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&mut sdk::Rewriter<'static>) -> Result<ValueId, EditError>,
    ) -> Result<Option<Value>> {
        let id = self.own.edit(body)??;
        Ok(function::value(self.function.bind(py), id))
    }
}

#[pymethods]
impl Rewriter {
    /// The function, read-only.
    #[getter(function)]
    fn owner(&self, py: Python<'_>) -> Py<Function> {
        self.function.clone_ref(py)
    }

    /// Creates an op and returns its first result: ``rewriter.op("onnx.Add", [x, y])``.
    ///
    /// Args:
    ///     custom: As for ``Function.create_op``.
    #[pyo3(signature = (name, operands, attrs = None, *, results = 1, custom = false))]
    fn op(
        &self,
        py: Python<'_>,
        name: &str,
        operands: Vec<Operand>,
        attrs: Option<Mapping<'_>>,
        results: usize,
        custom: bool,
    ) -> Result<Option<Value>> {
        if results == 0 {
            return Err(PyValueError::new_err(
                "cannot use an op without results in a replacement",
            ))?;
        }
        new_op::check_count(results)?;
        let (function, attrs) = (self.function.bind(py), attrs.as_ref());
        let op = NewOp::new(function, name, &operands, attrs, None, custom, None)?;
        self.make(py, |rewriter| {
            rewriter.op(op.builder(None).untyped_results(results))
        })
    }

    /// Creates a scalar constant of a dtype.
    ///
    /// Raises ValueError if the dtype can't represent the number, or for an integer above 2**53 that no float
    /// represents: use ``ints``.
    fn scalar(
        &self,
        py: Python<'_>,
        dtype: &str,
        number: &Bound<'_, PyAny>,
    ) -> Result<Option<Value>> {
        let known = dtype_of(py, dtype)?;
        let missing = || PyValueError::new_err(format!("{dtype} cannot represent {number}"));
        let float: f64 = match number.extract() {
            Err(error) if PyErr::is_instance_of::<PyOverflowError>(&error, py) => Err(missing())?,
            number => number?,
        };
        let is_float = matches!(known, DType::F64 | DType::F32 | DType::F16 | DType::BF16);
        if !is_float && !float.is_nan() && !number.eq(float)? {
            return Err(PyValueError::new_err(format!(
                "`scalar` cannot represent {number} exactly; use `ints` for integers above 2**53"
            )))?;
        }
        let mut bytes = Vec::new();
        let fits = element::push(known, float, &mut bytes);
        // A number that is too large would become infinite.
        if !fits || float.is_finite() && !element::read(known, &bytes).is_finite() {
            return Err(missing())?;
        }
        let created = self.own.edit(|rewriter| rewriter.scalar(known, float))??;
        let id = created.ok_or_else(missing)?;
        Ok(function::value(self.function.bind(py), id))
    }

    /// Creates a constant int64 tensor of rank 1.
    fn ints(&self, py: Python<'_>, ints: Vec<i64>) -> Result<Option<Value>> {
        self.make(py, |rewriter| rewriter.ints(&ints))
    }

    /// Returns the number that all elements of a constant are equal to; None if they differ or the value isn't
    /// constant.
    fn number(&self, py: Python<'_>, value: &Value) -> Result<Option<f64>> {
        let id = value.0.id_in(self.function.bind(py))?;
        Ok(self.own.read(|rewriter| rewriter.number(id))??)
    }
}

/// The match of a rule: ``match["x"]`` is the value of ``%x``.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Match {
    own: Arc<BorrowedMatch>,
    function: Py<Function>,
}

#[pymethods]
impl Match {
    /// The function, read-only.
    #[getter(function)]
    fn owner(&self, py: Python<'_>) -> Py<Function> {
        self.function.clone_ref(py)
    }

    /// The name of the rule.
    #[getter]
    fn rule(&self) -> PyResult<String> {
        self.own.read(|found| found.rule().to_owned())
    }

    /// The op that is replaced.
    #[getter]
    fn root(&self, py: Python<'_>) -> PyResult<Op> {
        let id = self.own.read(sdk::Match::root)?;
        Ok(Op(Part::new(self.function.bind(py), id)))
    }

    /// Returns the value that a name of the pattern matched; None for an omitted operand.
    ///
    /// Raises KeyError if the pattern has no such name.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Option<Value>> {
        let name = name.trim_start_matches('%');
        let function = self.function.bind(py);
        let found = |f: &sdk::Function| self.own.read(|found| found.find_value(f, name));
        let missing = || PyKeyError::new_err(format!("the pattern has no value `%{name}`"));
        let id = function.get().read(found)??.ok_or_else(missing)?;
        Ok(function::value(function, id))
    }

    /// Returns the values that ``%name...`` matched.
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Option<Value>>> {
        let name = name.trim_start_matches('%');
        let found = self
            .own
            .read(|found| found.find_values(name).map(<[ValueId]>::to_vec));
        let missing = || PyKeyError::new_err(format!("the pattern has no list `%{name}...`"));
        let ids = found?.ok_or_else(missing)?;
        Ok(function::values(self.function.bind(py), &ids))
    }

    /// Returns the value of the attribute ``$name``; None if the op doesn't have it and there is no default.
    fn attr<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = name.trim_start_matches('$');
        let found = self
            .own
            .read(|found| found.find_attr(name).map(Option::<&_>::cloned));
        let missing = || PyKeyError::new_err(format!("the pattern binds no attribute `${name}`"));
        match found?.ok_or_else(missing)? {
            Some(value) => attr::to_python(self.function.bind(py), &value),
            None => Ok(py.None().into_bound(py)),
        }
    }
}
