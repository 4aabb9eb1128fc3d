//! Instruments: what watches passes run, and may veto them.

use std::error::Error;
use std::sync::Arc;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use crate::error::PassError;
use crate::pass_info::PassInfo;
use crate::registry::PluginInstrument;

/// What a callback answers.
pub type InstrumentResult<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// An instrument that several may hold.
pub type InstrumentRef = Arc<dyn PassInstrument>;

/// Watches the passes of a context. Each callback may be left out.
///
/// The module is read-only, and while a callback runs, passes that it runs itself aren't watched.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use passdock_core::{
///     InstrumentResult, ModuleRef, PassContext, PassInfo, PassInstrument, create_host_pass,
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
///     fn run_after_pass(&self, module: &ModuleRef, info: &PassInfo) -> InstrumentResult {
///         let count = (info.name.clone(), module.op_count());
///         self.0.lock().map_err(|_| "another thread panicked")?.push(count);
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), passdock_core::PassError> {
/// let counter = Arc::new(OpCounter::default());
/// let cx = PassContext::builder().shared_instrument(counter.clone()).build()?;
/// let pass = create_host_pass(PassInfo::new("nothing"), |module, _| Ok(module.clone()));
/// cx.scope(|_| pass.call(ModuleRef::new()))?;
/// assert_eq!(*counter.0.lock().unwrap(), [("nothing".to_owned(), 0)]);
/// # Ok(())
/// # }
/// ```
pub trait PassInstrument: Send + Sync {
    /// How messages call it.
    fn name(&self) -> &str;

    /// The context is about to be entered.
    fn enter_pass_ctx(&self) -> InstrumentResult {
        Ok(())
    }

    /// The context was left.
    fn exit_pass_ctx(&self) -> InstrumentResult {
        Ok(())
    }

    /// Whether the pass may run. Not asked for passes that the context requires.
    fn should_run(&self, module: &Module, info: &PassInfo) -> InstrumentResult<bool> {
        let _ = (module, info);
        Ok(true)
    }

    /// The pass is about to run.
    fn run_before_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        let _ = (module, info);
        Ok(())
    }

    /// The pass ran; this is what it made.
    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        let _ = (module, info);
        Ok(())
    }

    /// The pass, or an instrument around it, failed after `run_before_pass`; `run_after_pass` won't
    /// be called. This is the module as it was, and is again.
    fn pass_failed(&self, module: &Module, info: &PassInfo, error: &PassError) {
        let _ = (module, info, error);
    }

    /// What there is to show at the end of a run, as lines for people. Asked before the context is
    /// left.
    fn report(&self) -> Option<String> {
        None
    }

    /// The same as data, for programs.
    fn report_data(&self) -> Option<serde_json::Value> {
        None
    }

    /// The instrument of a plugin that it is: those are told the context, too.
    #[doc(hidden)]
    fn as_plugin(&self) -> Option<&PluginInstrument> {
        None
    }
}

/// What an instrument has to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstrumentReport {
    /// The instrument.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The same as data, if it has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<serde_json::Value>,
}
