//! Instruments, which observe the runs of passes and may veto them.

pub mod built_in;
pub mod calls;
mod pass_filter;
mod plugin;
mod running;
mod spec;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

pub use pass_filter::PassFilter;
pub(crate) use plugin::plugin_spec;
pub use running::{Entries, Running};
use serde::{Deserialize, Serialize};
pub use spec::{InstrumentSetup, InstrumentSpec, PassNames, option_error};

pub use crate::boundary::{Frame, PassCall};
use crate::error::{PassError, Provider};
use passdock_files::StandardOutput;

/// The result of an instrument's callback.
pub type InstrumentResult<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// A shared reference to an instrument.
pub type InstrumentRef = Arc<dyn PassInstrument>;

/// An instrument, which observes the passes of a context. Each callback is optional.
///
/// The module is read-only. Instruments aren't called for passes that a callback runs.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub mod ir {
/// #         pub use passdock_core::build_module;
/// #     }
/// # }
/// use std::sync::{Arc, Mutex};
///
/// use passdock::{
///     InstrumentResult, PassCall, PassContext, PassInfo, PassInstrument, create_host_pass,
/// };
///
/// /// Counts the ops after each pass.
/// #[derive(Default)]
/// struct OpCounter(Mutex<Vec<(String, usize)>>);
///
/// impl PassInstrument for OpCounter {
///     fn name(&self) -> &str {
///         "op-counter"
///     }
///
///     fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
///         let count = (call.info.name.clone(), call.module.op_count());
///         self.0.lock().map_err(|_| "another thread panicked")?.push(count);
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), passdock::PassError> {
/// let counter = Arc::new(OpCounter::default());
/// let cx = PassContext::builder().shared_instrument(counter.clone()).build()?;
/// let pass = create_host_pass(PassInfo::new("nothing"), |module, _| Ok(module.clone()));
/// cx.scope(|_| pass.call(passdock::ir::build_module(|_m| Ok(()))?))?;
/// assert_eq!(*counter.0.lock().unwrap(), [("nothing".to_owned(), 0)]);
/// # Ok(())
/// # }
/// ```
#[allow(unused_variables, reason = "the default callbacks do nothing")]
pub trait PassInstrument: Send + Sync {
    /// Returns the instrument's name for messages.
    fn name(&self) -> &str;

    /// Returns the plugin that provides the instrument.
    fn provider(&self) -> Option<&Provider> {
        None
    }

    /// Returns the instrument for downcasts by the program that created it.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }

    /// Prepares the instrument. An instrument that can't work fails here, before any pass runs.
    ///
    /// # Errors
    /// If the instrument can't work. The run ends before its first pass.
    fn prepare(&self, frame: &dyn Frame) -> Result<(), PassError> {
        Ok(())
    }

    /// Called before the context is entered.
    ///
    /// # Errors
    /// If the context can't be entered. It has no instruments then.
    fn enter_pass_ctx(&self, frame: &dyn Frame) -> InstrumentResult {
        Ok(())
    }

    /// Called after the context was exited.
    ///
    /// # Errors
    /// If the instrument fails. Exiting the context returns the error.
    fn exit_pass_ctx(&self, frame: &dyn Frame) -> InstrumentResult {
        Ok(())
    }

    /// Whether the pass may run. Not called for passes that the context requires.
    ///
    /// # Errors
    /// If the instrument fails. The pass and the run fail, too.
    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        Ok(true)
    }

    /// Called before the pass runs.
    ///
    /// # Errors
    /// If the instrument fails. The pass and the run fail, too.
    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        Ok(())
    }

    /// Called after the pass ran, with the module after it.
    ///
    /// # Errors
    /// If the instrument fails. The pass and the run fail, too, and the module before the pass is restored.
    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        Ok(())
    }

    /// Called instead of `run_after_pass` if the pass or an instrument fails after `run_before_pass`. The call's module
    /// is the one before the pass, which is restored.
    ///
    /// # Errors
    /// If the instrument fails. Its error becomes a note of the pass's error.
    fn pass_failed(&self, call: &PassCall<'_>, error: &PassError) -> InstrumentResult {
        Ok(())
    }

    /// Returns the report at the end of a run, as text. Called before the context is exited.
    fn report(&self) -> Option<String> {
        None
    }

    /// Returns the report of an instrument that needs the frame, or that may fail.
    ///
    /// # Errors
    /// If there is no report because of a failure.
    fn report_in(&self, frame: &dyn Frame) -> InstrumentResult<Option<String>> {
        Ok(self.report())
    }

    /// Returns the report as data, for programs.
    fn report_data(&self) -> Option<serde_json::Value> {
        None
    }
}

/// A function that prints an instrument's text.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// Returns a sink that writes to standard error.
pub fn stderr() -> Sink {
    // An error is ignored: it could only be reported to standard error.
    Arc::new(|text| _ = io::stderr().lock().write_all(text.as_bytes()))
}

/// Returns a sink that writes to standard output.
pub fn stdout() -> Sink {
    Arc::new(|text| _ = StandardOutput.write_all(text.as_bytes()))
}

/// The report of an instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstrumentReport {
    /// The instrument's name.
    pub name: String,
    /// The report as text.
    pub text: String,
    /// The report as data, if the instrument has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<serde_json::Value>,
}
