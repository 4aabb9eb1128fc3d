//! [`Analysis`]: what a plugin works out about a function, and finds again as long as the function
//! is what it was. The host's own analyses are in `columns.rs`.

use std::ffi::c_void;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

use super::context::PassContext;
use crate::data::{EditError, PassError};
use crate::ir::Function;
use crate::raw::{self, Found, SharedData, Tables};

/// An analysis of a plugin's own: computed from a function, for several passes to use.
///
/// It is computed when it is first asked for, with [`Function::analysis`], and kept by the host for
/// that version of the function: asking again is a look-up, in this pass or a later one, until
/// somebody edits the function. So it must depend on the function (and on what op definitions say)
/// alone. Options and config are another pass's business, and so are other functions, whose changes
/// nobody would notice: [`PassContext::module`] gives nothing here.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// How many ops there are on the longest path to each value.
/// struct Heights(Vec<u32>);
///
/// impl Analysis for Heights {
///     const NAME: &'static str = "heights";
///
///     fn compute(f: &Function, _cx: &PassContext) -> Result<Heights, PassError> {
///         let mut heights = Vec::new();
///         for op in f.iter() {
///             let of = |value: ValueId| heights.get(value.index()).copied().unwrap_or(0);
///             let height = 1 + f.operands(op).map(of).max().unwrap_or(0);
///             for result in f.results(op) {
///                 heights.resize(heights.len().max(result.index() + 1), 0);
///                 heights[result.index()] = height;
///             }
///         }
///         Ok(Heights(heights))
///     }
/// }
///
/// fn show_heights(f: &mut Function, cx: &PassContext) -> PassResult {
///     let heights = f.analysis::<Heights>(cx)?;
///     let highest = heights.0.iter().max();
///     cx.emit(&Diagnostic::note(format!("the longest path has {:?} ops", highest)));
///     Ok(())
/// }
/// ```
///
/// What is found borrows the function, so it can't be used after an edit:
///
/// ```compile_fail,E0502
/// use passdock_plugin_api::prelude::*;
/// # struct Heights;
/// # impl Analysis for Heights {
/// #     const NAME: &'static str = "heights";
/// #     fn compute(_f: &Function, _cx: &PassContext) -> Result<Heights, PassError> { Ok(Heights) }
/// # }
/// fn wrong(f: &mut Function, cx: &PassContext, op: OpId) -> PassResult {
///     let heights = f.analysis::<Heights>(cx)?;
///     f.erase_op(op)?;
///     drop(heights); // of a function that is no more
///     Ok(())
/// }
/// ```
///
/// Other plugins don't see it. Data for plugins of other makers is published with the crate
/// `passdock-plugin-share`.
///
/// Several passes may look at one function at the same time, each on its thread, and the last one
/// drops what is kept: hence `Send` and `Sync`.
pub trait Analysis: Sized + Send + Sync + 'static {
    /// The name that it is kept under. Analyses of one plugin have different names.
    const NAME: &'static str;

    /// Computes the analysis. It may ask for others.
    ///
    /// # Errors
    /// If it needs itself; and whatever the author answers.
    fn compute(function: &Function, cx: &PassContext) -> Result<Self, PassError>;
}

impl Function {
    /// An analysis of the function as it is: found, or computed now and kept.
    ///
    /// A host that knows no analyses keeps nothing: it is computed each time.
    ///
    /// # Errors
    /// The error of [`Analysis::compute`]; also if the analysis needs itself, or two of a plugin
    /// have one name.
    pub fn analysis<A: Analysis>(&self, cx: &PassContext) -> Result<AnalysisRef<'_, A>, PassError> {
        let compute = || {
            let compute = || A::compute(self, &cx.without_module());
            raw::computing::<A, _, _>(&self.raw, A::NAME, compute)
        };
        Ok(AnalysisRef(raw::get_or_compute(
            &self.raw,
            A::NAME,
            compute,
        )?))
    }

    /// Keeps an analysis for the function as it is now, although this pass edited it since it was
    /// computed; whether there is one. For passes that know what their edits leave
    /// alone: setting an attribute doesn't move an op.
    pub fn preserve<A: Analysis>(&mut self) -> bool {
        raw::preserve(&mut self.raw, A::NAME)
    }

    /// The data that plugins share under a key, good until the next edit: for crates that know how it
    /// is laid out, as `passdock-plugin-share` does.
    #[doc(hidden)]
    pub fn shared_data(&self, key: &str) -> Result<Option<NonNull<c_void>>, EditError> {
        self.raw.shared(key)
    }

    /// Gives the host data that plugins share, whatever the answer is; what is kept under its key.
    #[doc(hidden)]
    pub fn keep_shared_data(&self, shared: SharedData<'_>) -> Result<NonNull<c_void>, EditError> {
        self.raw.keep_shared(shared)
    }

    #[doc(hidden)]
    pub fn tables(&self) -> &'static Tables {
        self.raw.tables
    }
}

/// An analysis of a function, borrowed from it.
pub struct AnalysisRef<'f, A>(Found<'f, A>);

impl<A> Deref for AnalysisRef<'_, A> {
    type Target = A;

    #[inline]
    fn deref(&self) -> &A {
        match &self.0 {
            Found::Kept(kept) => kept,
            Found::Own(own) => own,
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for AnalysisRef<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
