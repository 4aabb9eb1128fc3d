//! [`Instrument`]: what watches passes run, and may veto them.

use super::context::PassContext;
use crate::data::{OptionSpec, PassError, PassResult};
use crate::ffi::Texts;
use crate::ir::Module;

/// The pass that an instrument is called about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PassInfo<'a> {
    /// The pass's registered name.
    pub name: &'a str,
    /// The pass's level.
    pub opt_level: u32,
    /// The plugin that gives it; `None` for a pass of the host's own.
    pub plugin: Option<&'a str>,
    pub(crate) required: Texts<'a>,
}

impl<'a> PassInfo<'a> {
    /// Names of the passes that it requires.
    pub fn required(&self) -> impl Iterator<Item = &'a str> {
        self.required.iter()
    }
}

/// Watches the passes of a context. Each callback may be left out.
///
/// The host makes an instance each time the instrument is named, and calls it for one pass at a
/// time, in the order of the context's list: [`should_run`](Instrument::should_run) of all
/// instruments, [`run_before_pass`](Instrument::run_before_pass) of all, the pass,
/// [`run_after_pass`](Instrument::run_after_pass) of all. The pipeline and each Sequential are passes,
/// too: their calls stand around those of the passes in them. The module is read-only. An error, or a
/// panic, makes the run fail and names the instrument.
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
///         /// Reports the passes that made the module larger.
///         "acme.growth" => Growth,
///     ],
/// }
/// # fn main() { assert!(PLUGIN.manifest_text().contains("\n[[instrument]]\nname = \"acme.growth\"\n")) }
/// ```
pub trait Instrument: Send + 'static {
    /// A new instance; `cx` has its [`options`](PassContext::options).
    ///
    /// # Errors
    /// Why the instrument can't be made; the run ends before its first pass.
    fn new(cx: &PassContext) -> Result<Self, PassError>
    where
        Self: Sized;

    /// The context is about to be entered.
    ///
    /// # Errors
    /// Why it can't be entered; it has no instruments from then on.
    fn enter_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        let _ = cx;
        Ok(())
    }

    /// The context was left.
    ///
    /// # Errors
    /// Why the instrument failed; leaving the context answers it.
    fn exit_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        let _ = cx;
        Ok(())
    }

    /// Whether the pass may run; `false` vetoes it. Not asked of passes that the context requires.
    ///
    /// # Errors
    /// Why the run fails, as does the pass.
    fn should_run(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> Result<bool, PassError> {
        let _ = (m, info, cx);
        Ok(true)
    }

    /// The pass is about to run.
    ///
    /// # Errors
    /// Why the run fails, as does the pass.
    fn run_before_pass(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> PassResult {
        let _ = (m, info, cx);
        Ok(())
    }

    /// The pass ran; this is what it made.
    ///
    /// # Errors
    /// Why the run fails, as does the pass: the module is the one from before.
    fn run_after_pass(
        &mut self,
        m: &Module<'_>,
        info: &PassInfo<'_>,
        cx: &PassContext,
    ) -> PassResult {
        let _ = (m, info, cx);
        Ok(())
    }

    /// The pass, or an instrument around it, failed after `run_before_pass`; `run_after_pass` won't
    /// be called. This is the module as it was, and is again; `error` is a sentence.
    ///
    /// # Errors
    /// Why the instrument failed; it becomes a note of the pass's own error.
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

    /// The report to show when all passes ran; asked before the context is left.
    fn report(&self) -> String {
        String::new()
    }
}

/// Makes an instance.
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
}

fn make<I: Instrument>(cx: &PassContext) -> Result<Box<dyn Instrument>, PassError> {
    Ok(Box::new(I::new(cx)?))
}
