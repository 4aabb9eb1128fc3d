//! `PassHandle`: a pass of the host or of the program, wrapped by the package's classes.

use std::path::PathBuf;
use std::sync::Arc;

use passdock::pipeline::{Pipeline, PipelineText};
use passdock::{
    ErrorKind, PassDeclaration, PassError, PassRef, Registry, Work, create_function_pass,
    create_module_pass, create_prim_func_pass, sdk,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::crossing::borrow;
use crate::crossing::code::Code;
use crate::crossing::convert;
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::ir::call::{self, Call};
use crate::ir::failure;
use crate::ir::function::Function;
use crate::ir::module::Module;
use crate::pass::context::PassContext;
use crate::pass::holds::Holds;
use crate::pass::info::{self, PassInfoFields, names};

/// A pass, wrapped by the classes of ``passdock.transform``.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct PassHandle {
    pub(crate) pass: PassRef,
    /// The passes of a Sequential, as the program gave them.
    children: Option<Py<PyList>>,
    /// The Python code of a Python pass.
    code: Option<Arc<Code>>,
    holds: Holds,
    /// Alive as long as this object.
    object: Arc<()>,
    /// The name and options with which a pass was requested from the registry.
    origin: Option<(String, toml::Table)>,
}

impl PassHandle {
    pub(crate) fn new(pass: PassRef) -> PassHandle {
        PassHandle {
            pass,
            children: None,
            code: None,
            holds: Holds::default(),
            object: Arc::default(),
            origin: None,
        }
    }

    /// Wraps a pass that is owned elsewhere; a plugin's pass is identified by its name and options.
    fn found(pass: PassRef) -> PassHandle {
        let is_of_plugin = pass.provider().is_some();
        let options = pass.given_options().into_iter().flatten();
        let options = options.map(|(name, value)| {
            let value = toml::Value::try_from(value).ok()?;
            Some((name.clone(), value))
        });
        let options = options.collect::<Option<toml::Table>>();
        let name = pass.info().name.clone();
        let origin = options.map(|options| (name, options));
        PassHandle {
            origin: origin.filter(|_| is_of_plugin),
            ..PassHandle::new(pass)
        }
    }
}

/// Creates the declaration of a Python pass. It isn't thread-safe, because one lock guards all Python code.
fn declaration(info: &PassInfoFields) -> PassDeclaration {
    PassDeclaration {
        thread_safe: false,
        ..info.to_host().into()
    }
}

/// Creates the context of a Python pass.
fn context(run: &borrow::BorrowScope<sdk::PassContext>) -> PassContext {
    PassContext::in_run(passdock::PassContext::current(), run.handle())
}

/// Runs the code of a pass; an exception becomes the failure of the pass.
fn called<T>(body: impl FnOnce(Python<'_>) -> Result<T>) -> Result<T, sdk::PassError> {
    gil::attach(|py| {
        error::forget();
        body(py).map_err(|raised| failure::as_failure(py, raised.into()))
    })
}

fn function_body(
    run: Arc<Code>,
) -> impl Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static {
    move |f, cx| {
        let around = |body: &mut dyn FnMut(Option<Module>) -> sdk::PassResult| match cx.module() {
            Some(module) => {
                borrow::module_to_read(module, |m| body(Some(Module::borrowed_to_read(m.handle()))))
            }
            None => body(None),
        };
        // The borrowed arguments expire when this call ends, even on other threads.
        borrow::function(f, |f| {
            borrow::context(cx, |cx| {
                around(&mut |module| {
                    called(|py| {
                        let arguments = (Function::borrowed(f.handle()), module, context(cx));
                        check_function(&gil::call(&run.get(py)?, arguments)?, f)
                    })
                })
            })
        })
    }
}

/// Checks the result of a function pass: its own function, or another one whose body replaces the function's.
fn check_function(output: &Bound<'_, PyAny>, f: &borrow::BorrowScope<sdk::Function>) -> Result {
    if output.is_none() {
        return Err(PyTypeError::new_err(
            "The return value of a function pass must be set: `return func`, even if nothing changed.",
        ).into());
    }
    match output.cast::<Function>() {
        Ok(function) if function.get().is_borrowed_as(&f.handle()) => Ok(()),
        Ok(other) => other.get().put_into(output.py(), &f.handle()),
        Err(_) => {
            let what = "a function pass must return a passdock.Function";
            Err(error::type_error(what, output).into())
        }
    }
}

fn module_body(
    run: Arc<Code>,
) -> impl for<'h> Fn(&mut sdk::Module<'h>, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static
{
    move |m, cx| {
        let output = borrow::module(m, |m| {
            borrow::context(cx, |cx| {
                called(|py| {
                    let arguments = (Module::borrowed(m.handle()), context(cx));
                    other_module(&gil::call(&run.get(py)?, arguments)?, m)
                })
            })
        })?;
        match output {
            None => Ok(()),
            Some(module) => passdock::ir::replace_module(m, module)
                .map_err(|error| sdk::PassError::new(error.message)),
        }
    }
}

/// Checks the result of a module pass: its own module (`None`), or another one.
fn other_module(
    output: &Bound<'_, PyAny>,
    m: &borrow::BorrowScope<sdk::Module<'static>>,
) -> Result<Option<passdock::Module>> {
    if output.is_none() {
        return Err(PyTypeError::new_err(
            "The return value of a module pass must be set: `return mod`, even if nothing changed.",
        )
        .into());
    }
    match output.cast::<Module>() {
        Ok(module) if module.get().is_borrowed_as(&m.handle()) => Ok(None),
        Ok(module) => {
            call::returned(module);
            Ok(Some(module.get().now()?))
        }
        Err(_) => {
            let what = "a module pass must return a passdock.Module";
            Err(error::type_error(what, output).into())
        }
    }
}

/// Returns the handles of a program's passes: their ``_pass_handle`` attributes.
fn handles<'py>(passes: &Bound<'py, PyList>) -> PyResult<Vec<Bound<'py, PassHandle>>> {
    let handle = |(at, pass): (usize, Bound<'py, PyAny>)| {
        let handle = pass.getattr("_pass_handle").ok();
        let handle = handle.and_then(|handle| handle.cast_into::<PassHandle>().ok());
        match handle {
            Some(handle) => Ok(handle),
            None => Err(PyTypeError::new_err(format!(
                "passes[{at}] must be a pass, not {}",
                pass.repr()?
            ))),
        }
    };
    passes.iter().enumerate().map(handle).collect()
}

#[pymethods]
impl PassHandle {
    /// Creates a pass from a Python function.
    ///
    /// Args:
    ///     kind: ``"module"``, ``"function"`` or ``"prim_func"``.
    #[staticmethod]
    fn from_function(kind: &str, info: PassInfoFields, run: Py<PyAny>) -> PyResult<PassHandle> {
        let declared = declaration(&info);
        let code = Arc::new(Code::new(run));
        let run = code.clone();
        let pass = match kind {
            "module" => create_module_pass(declared, module_body(run)),
            "function" => create_function_pass(declared, function_body(run)),
            "prim_func" => create_prim_func_pass(declared, function_body(run)),
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown pass kind `{other}`"
                )));
            }
        };
        Ok(PassHandle {
            code: Some(code),
            ..PassHandle::new(pass)
        })
    }

    /// A pass may reference itself through variables of its function.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(children) = &self.children {
            visit.call(children)?;
        }
        // Code of a pass that the registry or a run holds, too, must not be cleared.
        match &self.code {
            Some(code) if self.holds.are_all(Arc::strong_count(&self.pass)) => {
                code.traverse(&visit)
            }
            _ => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(code) = &self.code {
            code.clear();
        }
    }

    /// Creates a Sequential of passes.
    #[staticmethod]
    #[pyo3(signature = (passes, info, disabled = None))]
    fn sequential(
        passes: &Bound<'_, PyList>,
        info: PassInfoFields,
        disabled: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PassHandle> {
        let info = info.to_host();
        let handles = handles(passes)?;
        let own = handles.iter().map(|handle| handle.get().pass.clone());
        let sequential = passdock::Sequential::new(own)
            .name(info.name)
            .opt_level(info.opt_level)
            .required(info.required)
            .disabled(names(passes.py(), "disabled", disabled)?);
        let created = PassHandle {
            children: Some(passes.clone().unbind()),
            ..PassHandle::new(sequential.into_pass())
        };
        for handle in &handles {
            let holds = &handle.get().holds;
            holds.add(&created.pass, &created.object, &created.holds);
        }
        Ok(created)
    }

    /// Returns the registered pass with this name, with options.
    #[staticmethod]
    #[pyo3(signature = (name, options = None))]
    fn registered(
        py: Python<'_>,
        name: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Result<PassHandle> {
        let options = convert::to_options(options)?;
        let registry = Registry::global();
        let found = gil::detach(py, || registry.get_pass_with_options(name, &options))?;
        Ok(PassHandle {
            origin: Some((found.info().name.clone(), options)),
            ..PassHandle::new(found)
        })
    }

    /// Creates the pass of a pipeline, given its name or path, its text, and whether it is trusted.
    #[staticmethod]
    fn from_pipeline(py: Python<'_>, path: PathBuf, text: String, trust: bool) -> Result<Self> {
        let pass = gil::detach(py, || {
            let read = Pipeline::new(PipelineText::from_file(path, text))?;
            let pipeline = if trust { read.trusted() } else { read };
            pipeline.into_pass(Registry::global())
        })?;
        Ok(PassHandle::new(pass))
    }

    /// Registers the pass under its name.
    ///
    /// Args:
    ///     overrides: Whether to replace a registered pass of the same name.
    #[pyo3(signature = (overrides = false))]
    fn register(&self, overrides: bool) -> Result {
        let (registry, name) = (Registry::global(), &self.pass.info().name);
        if overrides {
            return Ok(registry.replace(self.pass.clone())?);
        }
        // The short name would resolve to this pass, even in existing pipelines.
        let other = registry.canonical(name);
        if other != *name {
            let message = format!(
                "`{name}` is an alias of pass `{other}`, which a pass of that name would hide"
            );
            let help = format!(
                "rename it, for example to `acme.{name}`, or use `register(override=True)`"
            );
            return Err(PassError::new(ErrorKind::Duplicate, message).help(help))?;
        }
        Ok(registry.register(self.pass.clone())?)
    }

    /// The name and options of a pass from the registry.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<Option<(String, Bound<'py, PyAny>)>> {
        let origin = self.origin.as_ref();
        let options = |(name, options): &(String, toml::Table)| {
            Ok((name.clone(), convert::to_python(py, options)?))
        };
        origin.map(options).transpose()
    }

    /// Creates a pass that runs this one on the functions with matching names.
    fn applied_to(&self, regex: &str, error_if_none: bool) -> Result<PassHandle> {
        let pass = passdock::apply_pass_to_function(self.pass.clone(), regex, error_if_none)?;
        Ok(PassHandle::new(pass))
    }

    /// The metadata of the pass.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        info::to_python(py, self.pass.info())
    }

    /// ``"module"``, ``"function"``, ``"prim_func"`` or ``"sequential"``.
    #[getter]
    fn kind(&self) -> &'static str {
        if self.pass.as_sequential().is_some() {
            return "sequential";
        }
        if self.pass.provider().is_none() {
            return match self.pass.work() {
                Ok(Work::Functions(sdk::FunctionKind::PRIM, _)) => "prim_func",
                Ok(Work::Functions(..)) => "function",
                _ => "module",
            };
        }
        match Registry::global().pass_kind(&self.pass.info().name) {
            Some(passdock::plugin::PassKind::Function) => "function",
            Some(passdock::plugin::PassKind::PrimFunction) => "prim_func",
            _ => "module",
        }
    }

    /// The passes of a Sequential, as the program gave them.
    #[getter]
    fn children(&self, py: Python<'_>) -> Option<Vec<Py<PyAny>>> {
        let given = self.children.as_ref()?;
        Some(given.bind(py).iter().map(Bound::unbind).collect())
    }

    /// The handles of the passes of a registered Sequential.
    #[getter]
    fn child_handles(&self) -> Vec<PassHandle> {
        let sequential = self.pass.as_sequential();
        let passes = sequential
            .into_iter()
            .flat_map(passdock::Sequential::passes);
        passes.cloned().map(PassHandle::found).collect()
    }

    /// Returns the passes that a Sequential would run under a context (by default the current one), in order: the
    /// program's objects for the passes that it gave, handles for others.
    #[pyo3(signature = (context = None))]
    fn resolved(
        &self,
        py: Python<'_>,
        context: Option<&Bound<'_, PassContext>>,
    ) -> Result<Vec<Py<PyAny>>> {
        let context = context.map(|context| context.get().core().clone());
        let context = context.unwrap_or_else(passdock::PassContext::current);
        let Some(sequential) = self.pass.as_sequential() else {
            return Ok(Vec::new());
        };
        let order = gil::detach(py, || sequential.resolve_dependency(&context))?;
        let mut given = Vec::new();
        let children = self.children.iter();
        let mut pending: Vec<_> = children.map(|pass| pass.clone_ref(py)).collect();
        while let Some(children) = pending.pop() {
            let children = children.bind(py);
            for (child, handle) in children.iter().zip(handles(children)?) {
                pending.extend(handle.get().children.iter().map(|pass| pass.clone_ref(py)));
                given.push((handle.get().pass.clone(), child.unbind()));
            }
        }
        let object = |pass: PassRef| match given.iter().find(|(own, _)| Arc::ptr_eq(own, &pass)) {
            Some((_, object)) => Ok(object.clone_ref(py)),
            None => Py::new(py, PassHandle::found(pass)).map(Py::into_any),
        };
        Ok(order.into_iter().map(object).collect::<PyResult<_>>()?)
    }

    /// Describes the pass: its name, its level, and the passes of a Sequential.
    fn describe(&self) -> String {
        format!("{:?}", &*self.pass)
    }

    /// Runs the pass on a module, under a context (by default the current one).
    #[pyo3(signature = (module, context = None))]
    fn call(
        &self,
        py: Python<'_>,
        module: &Bound<'_, Module>,
        context: Option<&Bound<'_, PassContext>>,
    ) -> Result<Py<Module>> {
        let input = module.get().now()?;
        let context = context.map(|context| context.get().core().clone());
        let pass = Arc::clone(&self.pass);
        error::forget();
        let under_way = Call::on(module);
        let created = gil::detach(py, move || match context {
            Some(context) => pass.call_in(input, &context),
            None => pass.call(input),
        });
        Ok(under_way.object(py, created?)?)
    }
}
