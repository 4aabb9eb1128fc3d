//! [`Instrument`]: observes passes, and may skip them.

use super::context::PassContext;
use crate::data::{OptionSpec, PassError, PassResult};
use crate::ffi::Texts;
use crate::ir::Module;

/// The pass that an instrument is called for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PassInfo<'a> {
    /// The pass's registered name.
    pub name: &'a str,
    /// The pass's level.
    pub opt_level: u32,
    /// The plugin that provides it; `None` for a pass of the host.
    pub plugin: Option<&'a str>,
    pub(crate) required: Texts<'a>,
}

impl<'a> PassInfo<'a> {
    /// Iterates over the names of the passes that it requires.
    pub fn required(&self) -> impl Iterator<Item = &'a str> {
        self.required.iter()
    }
}

/// Observes the passes of a context. All callbacks are optional.
///
/// The host creates an instance each time the instrument is named, and calls it for one pass at a time. The order is:
/// [`should_run`](Instrument::should_run) of all instruments in the order of the context's list,
/// [`run_before_pass`](Instrument::run_before_pass) of all, the pass, [`run_after_pass`](Instrument::run_after_pass) of
/// all. The pipeline and each Sequential are passes, too: their calls enclose those of the passes in them. The module
/// is read-only. An error or panic makes the run fail, and the message names the instrument.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Counts the ops that passes add.
/// #[derive(Default)]
/// struct Growth { before: u32, grown: Vec<String> }
///
/// fn ops(m: &Module) -> u32 {
///     m.functions().map(|function| function.op_count).sum()
/// }
///
/// impl Instrument for Growth {
///     fn new(_cx: &PassContext) -> Result<Self, PassError> {
///         Ok(Growth::default())
///     }
///
///     fn run_before_pass(&mut self, m: &Module, _info: &PassInfo, _cx: &PassContext) -> PassResult {
///         self.before = ops(m);
///         Ok(())
///     }
///
///     fn run_after_pass(&mut self, m: &Module, info: &PassInfo, _cx: &PassContext) -> PassResult {
///         if ops(m) > self.before {
///             self.grown.push(info.name.to_owned());
///         }
///         Ok(())
///     }
///
///     fn report(&self) -> String {
///         self.grown.join("\n")
///     }
/// }
///
/// plugin! {
///     name: "acme",
///     instruments: [
///         /// Reports the passes that increased the number of ops.
///         "acme.growth" => Growth,
///     ],
/// }
/// # fn main() { assert!(PLUGIN.manifest_text().contains("\n[[instrument]]\nname = \"acme.growth\"\n")) }
/// ```
pub trait Instrument: Send + 'static {
    /// Creates an instance; `cx` has its [`options`](PassContext::options).
    ///
    /// # Errors
    /// If the instrument can't be created. The run ends before its first pass.
    fn new(cx: &PassContext) -> Result<Self, PassError>
    where
        Self: Sized;

    /// Called before the context is entered.
    ///
    /// # Errors
    /// If the context can't be entered. It has no instruments from then on.
    fn enter_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        let _ = cx;
        Ok(())
    }

    /// Called after the context is left.
    ///
    /// # Errors
    /// If the instrument failed. Exiting the context then returns this error.
    fn exit_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        let _ = cx;
        Ok(())
    }

    /// Returns whether the pass may run; `false` skips it. Not called for passes in the context's `required_pass`.
    ///
    /// # Errors
    /// If the pass, and the run, must fail.
    fn should_run(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> Result<bool, PassError> {
        let _ = (m, info, cx);
        Ok(true)
    }

    /// Called before the pass runs.
    ///
    /// # Errors
    /// If the pass, and the run, must fail.
    fn run_before_pass(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> PassResult {
        let _ = (m, info, cx);
        Ok(())
    }

    /// Called after the pass ran, with its result.
    ///
    /// # Errors
    /// If the pass, and the run, must fail. The module is restored.
    fn run_after_pass(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> PassResult {
        let _ = (m, info, cx);
        Ok(())
    }

    /// Called if the pass, or an instrument, failed after `run_before_pass`, instead of `run_after_pass`. `m` is the
    /// module before the pass, which the host restored; `error` is the error message.
    ///
    /// # Errors
    /// If the instrument failed. It becomes a note of the pass's error.
    fn pass_failed(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        error: &str,
        cx: &PassContext,
    ) -> PassResult {
        let _ = (m, info, error, cx);
        Ok(())
    }

    /// Returns the report, after all passes ran and before the context is left.
    fn report(&self) -> String {
        String::new()
    }
}

/// A function that creates an instance.
#[doc(hidden)]
pub type MakeInstrument = fn(&PassContext) -> Result<Box<dyn Instrument>, PassError>;

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct InstrumentFunctions {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub make: MakeInstrument,
    pub options: &'static [OptionSpec],
}

impl InstrumentFunctions {
    pub const fn new<I: Instrument>(
        name: &'static str,
        docs: &'static [&'static str],
    ) -> InstrumentFunctions {
        InstrumentFunctions {
            name,
            docs,
            make: make::<I>,
            options: &[],
        }
    }

    #[must_use]
    pub const fn options(mut self, options: &'static [OptionSpec]) -> InstrumentFunctions {
        self.options = options;
        self
    }
}

fn make<I: Instrument>(cx: &PassContext) -> Result<Box<dyn Instrument>, PassError> {
    Ok(Box::new(I::new(cx)?))
}
