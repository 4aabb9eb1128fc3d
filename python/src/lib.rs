//! The Python package's native module: the pass host for Python programs.
//!
//! Programs import `passdock/*.py`, which uses the objects of this module. Python passes get the same handles and edit
//! through the same functions as plugins; [`crossing::borrow`] invalidates the handles when the pass ends.
//!
//! **Invariant:** `unsafe` is in `crossing/gil.rs`, `crossing/borrow.rs`, and the implementation of the buffer
//! protocol; no lock is held while Python code runs.
#![warn(unsafe_code)]

mod batch;
mod crossing;
mod ir;
mod pass;
mod pipeline;
mod registry;
mod text;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _passdock {
    #[pymodule_export]
    use super::batch::{Batch, BatchResults, Fingerprint, Worker, batch_items};
    #[pymodule_export]
    use super::ir::constant::{Buffer, Constant};
    #[pymodule_export]
    use super::ir::function::Function;
    #[pymodule_export]
    use super::ir::module::Module;
    #[pymodule_export]
    use super::ir::op::Op;
    #[pymodule_export]
    use super::ir::region::Region;
    #[pymodule_export]
    use super::ir::types::Type;
    #[pymodule_export]
    use super::ir::value::Value;
    #[pymodule_export]
    use super::pass::context::PassContext;
    #[pymodule_export]
    use super::pass::diagnostic::{PassDiagnostics, diagnostic_text, override_renderer};
    #[pymodule_export]
    use super::pass::handle::PassHandle;
    #[pymodule_export]
    use super::pass::instrument::NativeInstrument;
    #[pymodule_export]
    use super::pass::rules::{Match, Rewriter, Rules};
    #[pymodule_export]
    use super::pipeline::{built_in, explain, rendered, run};
    #[pymodule_export]
    use super::registry::{
        config_schema, declaration, default_dirs, list_passes, load_dir, load_dirs, load_plugin,
        own_name, register_config, set_importer, version,
    };
    #[pymodule_export]
    use super::text::{escaped, escaped_json, one_line, toml_text};

    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    use super::crossing::{gil, streams};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        let ends = wrap_pyfunction!(gil::interpreter_ends, module)?;
        py.import("atexit")?.call_method1("register", (ends,))?;
        let os = py.import("os")?;
        if os.hasattr("register_at_fork")? {
            let hooks = PyDict::new(py);
            let forked = wrap_pyfunction!(gil::process_forked, module)?;
            hooks.set_item("after_in_child", forked)?;
            os.call_method("register_at_fork", (), Some(&hooks))?;
        }
        passdock::set_interrupt(super::crossing::error::interrupted);
        // Output goes to Python's streams. If the process loads the module twice, the second one finds the registered
        // entries.
        passdock::diagnostic::override_renderer(Some(super::pass::diagnostic::to_stderr()));
        let registry = passdock::Registry::global();
        let _ = registry.register(passdock::instruments::printing(streams::sink("stderr")));
        // The same instruments as in the command.
        passdock_tools::page::register(registry);
        Ok(())
    }
}
