//! `Module`: functions by name, read from and written to files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use passdock::{ir, model_file, sdk};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList};

use crate::crossing::borrow::BorrowedModule;
use crate::crossing::convert::Mapping;
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::ir::function::Function;

enum Source {
    /// A module of the program, which may change it.
    Owned(Mutex<passdock::Module>),
    /// A read-only module for an instrument.
    ReadOnly(passdock::Module),
    /// The module of a pass, and whether the pass may edit it.
    Borrowed(Arc<BorrowedModule>, bool),
}

/// A module: the functions of a model, by name. ``module["main"]`` is the graph of an ONNX model.
///
/// ``str(module)`` is its IR text. A pass returns a new module and leaves its input unchanged. The program may replace
/// functions with ``module["f"] = other["g"]`` and ``update``. A module pass may edit its module: ``mod["main"]`` is a
/// function with the edits of ``passdock.Function``.
///
/// Args:
///     functions: Functions of other modules by their new names. They are copied with their callees.
#[pyclass(frozen, module = "passdock", weakref)]
pub(crate) struct Module {
    source: Source,
    /// The functions that were accessed: one object for each.
    functions: Mutex<Vec<(String, Py<Function>)>>,
}

impl Module {
    fn with_source(source: Source) -> Module {
        Module {
            source,
            functions: Mutex::default(),
        }
    }

    /// Creates a module of the program.
    pub(crate) fn owned(module: passdock::Module) -> Module {
        Module::with_source(Source::Owned(Mutex::new(module)))
    }

    /// Creates a module for an instrument.
    pub(crate) fn read_only(module: passdock::Module) -> Module {
        Module::with_source(Source::ReadOnly(module))
    }

    /// Creates the editable module of a module pass.
    pub(crate) fn borrowed(module: Arc<BorrowedModule>) -> Module {
        Module::with_source(Source::Borrowed(module, true))
    }

    /// Creates the read-only module around a function pass.
    pub(crate) fn borrowed_to_read(module: Arc<BorrowedModule>) -> Module {
        Module::with_source(Source::Borrowed(module, false))
    }

    /// Whether this is the module borrowed by a pass.
    pub(crate) fn is_borrowed_as(&self, borrowed: &Arc<BorrowedModule>) -> bool {
        matches!(&self.source, Source::Borrowed(own, _) if Arc::ptr_eq(own, borrowed))
    }

    /// Returns the module in its current state.
    pub(crate) fn now(&self) -> Result<passdock::Module> {
        match &self.source {
            Source::Owned(module) => Ok(lock(module).clone()),
            Source::ReadOnly(module) => Ok(module.clone()),
            Source::Borrowed(borrowed, _) => Ok(borrowed.read(|m| ir::module_now(m))??),
        }
    }

    /// Runs a registered pass on the module of a module pass.
    pub(crate) fn run_pass(
        &self,
        cx: &sdk::PassContext,
        name: &str,
    ) -> PyResult<Result<(), sdk::PassError>> {
        self.edit(|m| m.run_pass(cx, name))
    }

    /// Marks a function's object as removed, and drops it.
    fn end(&self, name: &str) {
        let mut functions = lock(&self.functions);
        let known = functions.iter().position(|(known, _)| known == name);
        let removed = known.map(|at| functions.remove(at).1);
        drop(functions);
        if let Some(removed) = removed {
            removed.get().remove();
        }
    }

    /// Replaces the contents of the module.
    fn set(&self, module: passdock::Module) -> Result {
        let Source::Owned(own) = &self.source else {
            return Ok(self.edit(|m| ir::replace_module(m, module))??);
        };
        *lock(own) = module;
        // Objects of functions refer to the old module.
        let before = std::mem::take(&mut *lock(&self.functions));
        drop(before);
        Ok(())
    }

    /// Inserts copies of functions under the given names.
    fn put(&self, py: Python<'_>, given: &[(String, passdock::Module, String)]) -> Result {
        let before = self.now()?;
        let mut module = before.clone();
        if let Some(opset) = ir::put_functions(&mut module, given)? {
            module = gil::detach(py, || ir::raise_opset(module, opset))?;
        }
        self.set(module.clone())?;
        if let Source::Borrowed(..) = self.source {
            let is_kept = |f: &&Arc<ir::Function>| {
                let now = module.function(f.name());
                now.is_some_and(|now| Arc::ptr_eq(now, f))
            };
            let changed = before.functions().filter(|f| !is_kept(f));
            changed.for_each(|f| self.end(f.text(f.name())));
        }
        Ok(())
    }

    fn edit<R>(&self, body: impl FnOnce(&mut sdk::Module<'static>) -> R) -> PyResult<R> {
        match &self.source {
            Source::Borrowed(borrowed, true) => borrowed.edit(body),
            _ => Err(error::read_only("module")),
        }
    }

    fn look_up(&self, name: &str) -> Result<Option<Function>> {
        if let Source::Borrowed(borrowed, true) = &self.source {
            let found = borrowed.read(|m| m.function(name).map(|entry| entry.name))?;
            return Ok(found.map(|name| Function::in_module(borrowed.clone(), name)));
        }
        let module = self.now()?;
        let found = module.function_named(name).cloned();
        Ok(found.map(|function| Function::snapshot(function, module)))
    }

    /// Returns the names of the functions in order.
    fn names(&self) -> Result<Vec<String>> {
        if let Source::Borrowed(borrowed, true) = &self.source {
            return Ok(borrowed.read(|m| {
                let names = m.functions().map(|entry| m.text(entry.name));
                names.map(str::to_owned).collect()
            })?);
        }
        Ok(self.now()?.functions().map(name_of).collect())
    }

    /// Returns the function of a name, always the same object.
    fn find(&self, py: Python<'_>, name: &str) -> Result<Option<Py<Function>>> {
        let known = |functions: &[(String, Py<Function>)]| {
            let known = functions.iter().find(|(known, _)| known == name);
            known.map(|(_, function)| function.clone_ref(py))
        };
        if let Some(function) = known(&lock(&self.functions)) {
            return Ok(Some(function));
        }
        let Some(function) = self.look_up(name)? else {
            return Ok(None);
        };
        let created = Py::new(py, function)?;
        let mut functions = lock(&self.functions);
        if let Some(function) = known(&functions) {
            return Ok(Some(function));
        }
        functions.push((name.to_owned(), created.clone_ref(py)));
        Ok(Some(created))
    }
}

fn name_of(f: &Arc<ir::Function>) -> String {
    f.text(f.name()).to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a function: a string, or an object with a name like TVM's ``GlobalVar``.
struct Name(String);

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Name> {
        let hint = object.getattr("name_hint");
        let text = hint.as_ref().map_or(object, |hint| hint.as_borrowed());
        match text.extract() {
            Ok(name) => Ok(Name(name)),
            Err(_) => Err(error::type_error(
                "a function name must be a string",
                &object,
            )),
        }
    }
}

/// Converts a mapping of functions: the new name, the module and the name of each.
fn functions_of(object: &Bound<'_, PyAny>) -> Result<Vec<(String, passdock::Module, String)>> {
    let object = object.extract::<Mapping<'_>>().map_err(|_| {
        let kind = object.get_type();
        PyTypeError::new_err(format!(
            "functions must be a dict of names to functions, or a Module, not {kind}"
        ))
    })?;
    let function = |(name, function): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let Name(name) = name.extract()?;
        let Ok(function) = function.cast::<Function>() else {
            let what = format!("function `{name}` must be a passdock.Function");
            return Err(error::type_error(&what, &function).into());
        };
        let (module, own_name) = function.get().origin()?;
        Ok((name, module, own_name))
    };
    object.0.iter().map(function).collect()
}

/// Parses the kind of a function.
fn kind(object: &str) -> PyResult<sdk::FunctionKind> {
    match object {
        "fn" => Ok(sdk::FunctionKind::GRAPH),
        "prim" => Ok(sdk::FunctionKind::PRIM),
        other => Err(PyValueError::new_err(format!(
            "unknown function kind `{other}`: expected \"fn\" or \"prim\""
        ))),
    }
}

/// The arguments of `from_text`.
type FromText = (String, &'static str, bool);

/// The maximum size of a file that is read instead of mapped: programs often overwrite their models.
const SMALL: u64 = 64 << 20;

fn read(
    path: &Path,
    options: model_file::ReadOptions,
) -> Result<passdock::Module, passdock::PassError> {
    let is_onnx = matches!(
        model_file::Format::from_path(path),
        Ok(model_file::Format::Onnx)
    );
    let metadata = path.metadata();
    let is_small = metadata.is_ok_and(|found| found.is_file() && found.len() <= SMALL);
    if is_onnx && is_small && !options.outside_data
        // Mapping the file reports the error.
        && let Ok(bytes) = std::fs::read(path)
    {
        return model_file::read_bytes(path, bytes);
    }
    model_file::read_with(path, options)
}

#[pymethods]
impl Module {
    #[new]
    #[pyo3(signature = (functions = None))]
    fn new(functions: Option<&Bound<'_, PyAny>>) -> Result<Module> {
        let created = Module::owned(passdock::Module::new());
        if let Some(functions) = functions {
            created.update(functions)?;
        }
        Ok(created)
    }

    /// Adds or replaces functions, from another module or from a dict of names to functions, with their callees.
    /// Functions of earlier opsets are raised to the latest one.
    ///
    /// Raises EditError if a callee has the name of a different function here, and PassError if an op can't be raised.
    #[pyo3(signature = (other, /))]
    fn update(&self, other: &Bound<'_, PyAny>) -> Result {
        let given = match other.cast::<Module>() {
            Ok(other) => {
                let other = other.get().now()?;
                let given = |f| (name_of(f), other.clone(), name_of(f));
                other.functions().map(given).collect()
            }
            Err(_) => functions_of(other)?,
        };
        self.put(other.py(), &given)
    }

    /// Parses IR text.
    ///
    /// Args:
    ///     name: The name of the text in messages.
    ///     allow_outside_data: Whether data files may be outside the current directory.
    ///
    /// Raises ModelError with the line if the text isn't a module.
    #[staticmethod]
    #[pyo3(signature = (text, name = "<string>", allow_outside_data = false))]
    fn from_text(
        py: Python<'_>,
        text: &str,
        name: &str,
        allow_outside_data: bool,
    ) -> Result<Module> {
        let options = model_file::ReadOptions {
            outside_data: allow_outside_data,
        };
        let read = gil::detach(py, || model_file::parse_text_with(name, text, options));
        Ok(Module::owned(read?))
    }

    /// Reads a model file: ``.onnx`` or ``.ir``.
    ///
    /// Files above 64 MB and data files are memory-mapped. They must not change while the module, anything obtained
    /// from it, or a text or pickle that refers to them is in use.
    ///
    /// Args:
    ///     allow_outside_data: Whether data files may be outside the model's directory.
    ///
    /// Raises ModelError if the file can't be read or isn't a model.
    #[staticmethod]
    #[pyo3(signature = (path, *, allow_outside_data = false))]
    fn read(py: Python<'_>, path: PathBuf, allow_outside_data: bool) -> Result<Module> {
        let options = model_file::ReadOptions {
            outside_data: allow_outside_data,
        };
        Ok(Module::owned(gil::detach(py, || read(&path, options))?))
    }

    /// Parses the bytes of an ONNX model without external data.
    ///
    /// Raises ModelError if the bytes aren't such a model.
    #[staticmethod]
    #[pyo3(signature = (data, name = "<bytes>"))]
    fn from_onnx(py: Python<'_>, data: &[u8], name: &str) -> Result<Module> {
        let data = data.to_vec();
        let read = gil::detach(py, || model_file::read_bytes(name.as_ref(), data));
        Ok(Module::owned(read?))
    }

    /// Writes a model file, ``.onnx`` or ``.ir``, atomically.
    ///
    /// Args:
    ///     value_info: Whether an ONNX file declares the types of all values.
    ///
    /// Raises PassError if the file can't be written, or the format can't represent the module.
    #[pyo3(signature = (path, *, value_info = false))]
    fn write(&self, py: Python<'_>, path: PathBuf, value_info: bool) -> Result {
        let module = self.now()?;
        let options = model_file::WriteOptions {
            value_info,
            ..model_file::WriteOptions::default()
        };
        gil::detach(py, || model_file::write(&module, &path, options))?;
        Ok(())
    }

    /// Encodes the module as an ONNX model without external data.
    ///
    /// Raises PassError if ONNX can't represent the module.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let module = self.now()?;
        let bytes = gil::detach(py, || model_file::to_bytes(&module))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the module as IR text.
    ///
    /// Args:
    ///     brief: Whether the text is only for humans: values are numbered and long data is truncated. It can't be
    ///         parsed.
    #[pyo3(signature = (*, brief = false))]
    fn text(&self, py: Python<'_>, brief: bool) -> Result<String> {
        let module = self.now()?;
        let options = ir::PrintOptions {
            brief,
            ..ir::PrintOptions::default()
        };
        Ok(gil::detach(py, || ir::print_with(&module, &options)))
    }

    /// The functions, in order.
    #[getter]
    fn functions(&self, py: Python<'_>) -> Result<Vec<Py<Function>>> {
        let names = self.names()?.into_iter();
        names
            .filter_map(|name| self.find(py, &name).transpose())
            .collect()
    }

    /// The number of ops of all functions and regions, without constants and terminators.
    #[getter]
    fn op_count(&self) -> Result<usize> {
        Ok(self.now()?.op_count())
    }

    /// Returns the function with this name, or ``default``.
    #[pyo3(signature = (name, default = None))]
    fn get(
        &self,
        py: Python<'_>,
        name: Name,
        default: Option<Py<PyAny>>,
    ) -> Result<Option<Py<PyAny>>> {
        Ok(self.find(py, &name.0)?.map(Py::into_any).or(default))
    }

    /// Creates a function with an empty body, in a module pass. Add parameters and ops, then set its results.
    ///
    /// Args:
    ///     like: The function whose opsets the new one imports.
    ///
    /// Raises EditError if the name is taken.
    #[pyo3(signature = (name, *, kind = "fn", like = "main"))]
    fn create(
        &self,
        py: Python<'_>,
        name: &str,
        kind: &str,
        like: Option<&str>,
    ) -> Result<Py<Function>> {
        let kind = self::kind(kind)?;
        self.edit(|m| {
            let like = like.and_then(|like| m.function(like));
            let like = like.map(|entry| sdk::Name::Symbol(entry.name));
            m.create(name, kind, like).map(drop)
        })??;
        // A pass that was run on the module may have removed a function of that name.
        self.end(name);
        self.__getitem__(py, Name(name.to_owned()))
    }

    /// Removes a function, in a module pass. Its objects then raise ``passdock.StaleError``, even if another function
    /// takes the name.
    ///
    /// Raises EditError if there is no function of that name.
    fn remove(&self, name: &str) -> Result {
        self.edit(|m| m.remove(name))??;
        self.end(name);
        Ok(())
    }

    fn __getitem__(&self, py: Python<'_>, name: Name) -> Result<Py<Function>> {
        let Name(name) = name;
        let missing = || PyKeyError::new_err(format!("the module has no function `{name}`"));
        Ok(self.find(py, &name)?.ok_or_else(missing)?)
    }

    fn __setitem__(&self, name: Name, function: &Bound<'_, Function>) -> Result {
        let (module, own_name) = function.get().origin()?;
        self.put(function.py(), &[(name.0, module, own_name)])
    }

    fn __contains__(&self, py: Python<'_>, name: Name) -> Result<bool> {
        Ok(self.find(py, &name.0)?.is_some())
    }

    fn __len__(&self) -> Result<usize> {
        Ok(self.names()?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyIterator>> {
        Ok(PyList::new(py, self.names()?)?.try_iter()?)
    }

    fn __str__(&self, py: Python<'_>) -> Result<String> {
        self.text(py, false)
    }

    fn __repr__(&self) -> String {
        let read = self.now().map(|module| {
            let counted = |count: usize, what: &str| match count {
                1 => format!("1 {what}"),
                count => format!("{count} {what}s"),
            };
            let functions = counted(module.len(), "function");
            let ops = counted(module.op_count(), "op");
            format!("<passdock.Module, {functions}, {ops}>")
        });
        error::shown(read.map_err(PyErr::from), "Module")
    }

    fn __copy__(&self) -> Result<Module> {
        Ok(Module::owned(self.now()?))
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Result<Module> {
        self.__copy__()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, FromText)> {
        let module = slf.get().now()?;
        let text = gil::detach(slf.py(), || model_file::to_text(&module))?;
        // A pickle refers to the module's data files.
        let args = (text, "<string>", true);
        Ok((slf.get_type().getattr("from_text")?, args))
    }
}
