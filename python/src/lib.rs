//! The Python package's native module: the pass host, for programs in Python.
//!
//! `passdock/*.py` is what programs import; what is here holds the host's objects for it. Passes of Python get the
//! handles that plugins get, and edit through the same functions: [`lend`] keeps what of them is still there.
//!
//! **Invariant:** `unsafe` is in `lend.rs`, and where Python asks for a buffer; no lock is held while Python code runs.
#![warn(unsafe_code)]

mod attr;
mod constant;
mod context;
mod convert;
mod diagnostic;
mod edit;
mod error;
mod function;
mod info;
mod instrument;
#[allow(
    unsafe_code,
    reason = "what a pass is given is followed by a pointer, as long as the pass runs"
)]
mod lend;
mod module;
mod op;
mod pass;
mod pipeline;
mod region;
mod registry;
mod rules;
mod types;
mod value;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _passdock {
    #[pymodule_export]
    use super::constant::{Buffer, Constant};
    #[pymodule_export]
    use super::context::PassContext;
    #[pymodule_export]
    use super::diagnostic::{Diagnostic, DiagnosticContext, override_renderer};
    #[pymodule_export]
    use super::function::Function;
    #[pymodule_export]
    use super::info::PassInfo;
    #[pymodule_export]
    use super::instrument::{NativeInstrument, Timing};
    #[pymodule_export]
    use super::module::Module;
    #[pymodule_export]
    use super::op::Op;
    #[pymodule_export]
    use super::pass::PassHandle;
    #[pymodule_export]
    use super::pipeline::{built_in, explain, run, run_module};
    #[pymodule_export]
    use super::region::Region;
    #[pymodule_export]
    use super::registry::{
        config_schema, declaration, list_passes, load_dir, load_plugin, register_config,
        set_importer, set_standard_dir, version,
    };
    #[pymodule_export]
    use super::rules::{Match, Rewriter, Rules};
    #[pymodule_export]
    use super::types::Type;
    #[pymodule_export]
    use super::value::Value;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        passdock::set_interrupt(super::error::interrupted);
        // As the command has them. A second module of the same process finds them there.
        let registry = passdock::Registry::global();
        let own = [
            passdock_tools::numerics::instrument(),
            passdock_tools::numerics::verify_outputs(),
            passdock_page::instrument(),
        ];
        for instrument in own {
            let _ = registry.register_instrument(instrument);
        }
        Ok(())
    }
}
