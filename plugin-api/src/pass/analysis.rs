//! [`Analysis`]: what a plugin works out about a function, and finds again as long as the function
//! is what it was. The host's own analyses are in `columns.rs`.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use passdock_abi as abi;
use passdock_abi::{Status, SymbolId};

use super::context::PassContext;
use crate::data::{optional, EditError, PassError};
use crate::ffi::{end, Tables};
use crate::ir::Function;

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

/// The owner of data that plugins share.
const SHARED: *const c_void = std::ptr::null();

/// A value that the host holds, which says of which type it is, since a key is only a name.
#[repr(C)]
struct Cached<A> {
    ty: TypeId,
    tables: &'static Tables,
    value: A,
}

impl Function {
    /// An analysis of the function as it is: found, or computed now and kept.
    ///
    /// # Errors
    /// The error of [`Analysis::compute`]; also if the analysis needs itself, two of a plugin have one name, or the
    /// host has no analyses.
    pub fn analysis<A: Analysis>(&self, cx: &PassContext) -> Result<&A, PassError> {
        let data = match self.cached(self.owner(), A::NAME)? {
            Some(data) => data,
            None => {
                let cached = Cached::<A> {
                    ty: TypeId::of::<A>(),
                    tables: self.tables(),
                    value: computed(self, cx)?,
                };
                let data = Box::into_raw(Box::new(cached)).cast();
                // SAFETY: the data is the host's from here on, which drops it once.
                unsafe { self.raw_put(self.owner(), A::NAME, data, Some(drop_cached::<A>))? }
            }
        };
        // SAFETY: under this owner there is only what the line above put there: a `Cached` of some type,
        // whose type stands first. It lives until the function's next edit or its end, and the result is a
        // borrow of the function, which keeps both away. It may be shared between threads.
        unsafe {
            if *data.cast::<TypeId>() == TypeId::of::<A>() {
                return Ok(&(*data.cast::<Cached<A>>()).value);
            }
        }
        let message = format!(
            "two analyses of this plugin are called `{}`; give each a name of its own",
            A::NAME
        );
        Err(EditError::new(Status::INVALID, message, None).into())
    }

    /// Keeps an analysis for the function as it is now, although this pass edited it since it was
    /// computed; whether there is one. For passes that know what their edits leave
    /// alone: setting an attribute doesn't move an op.
    pub fn preserve<A: Analysis>(&mut self) -> bool {
        // SAFETY: the owner is only compared.
        unsafe { self.raw_preserve(self.owner(), A::NAME) }.is_ok()
    }

    /// The data that plugins share under a key, good until the next edit: for crates that know how it
    /// is laid out, as `passdock-plugin-share` does.
    #[doc(hidden)]
    pub fn shared_data(&self, key: &str) -> Result<Option<NonNull<c_void>>, EditError> {
        Ok(self.cached(SHARED, key)?.and_then(NonNull::new))
    }

    /// Gives the host data that plugins share under a key, and what drops it, whatever the answer is; what is kept.
    ///
    /// # Safety
    /// - The data is laid out as all plugins that use the key know it, whoever built them.
    /// - It may be read on several threads at once, and `drop` called on any, once. `drop` doesn't unwind.
    /// - It depends on the function and the op definitions alone.
    #[doc(hidden)]
    pub unsafe fn keep_shared_data(
        &self,
        key: &str,
        data: NonNull<c_void>,
        drop: abi::DropAnalysis,
    ) -> Result<NonNull<c_void>, EditError> {
        if self.tables().analyses.put.is_none() {
            // SAFETY: the caller's promise; nobody else has it.
            unsafe { drop(data.as_ptr()) };
        }
        // SAFETY: the caller's promise of the data and its `drop`. It is the host's from here on.
        let data = unsafe { self.raw_put(SHARED, key, data.as_ptr(), Some(drop))? };
        // What is kept isn't null: the host refuses null.
        NonNull::new(data).ok_or_else(|| EditError::unsupported("put", None))
    }

    /// What the host has under a key for the function as it is.
    fn cached(&self, owner: *const c_void, key: &str) -> Result<Option<*mut c_void>, EditError> {
        // SAFETY: the owner is only compared.
        optional(unsafe { self.raw_get(owner, key) })
    }

    /// Tells this plugin's keys from others'.
    fn owner(&self) -> *const c_void {
        let tables: *const Tables = self.tables();
        tables.cast()
    }
}

/// The host drops what it kept.
unsafe extern "C" fn drop_cached<A>(data: *mut c_void) {
    // SAFETY: made in `Function::analysis`, dropped once.
    let cached = unsafe { Box::from_raw(data.cast::<Cached<A>>()) };
    end(cached.tables, cached);
}

/// An analysis of a function that is being computed on this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Running {
    function: (usize, SymbolId),
    analysis: TypeId,
    name: &'static str,
}

thread_local! {
    /// The analyses that are being computed, outermost first.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

/// Ends what `computed` began, on a panic too.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        RUNNING.with(|running| running.borrow_mut().pop());
    }
}

/// Computes an analysis, unless it is being computed already: then it needs itself, and the error
/// names the chain.
fn computed<A: Analysis>(function: &Function, cx: &PassContext) -> Result<A, PassError> {
    let new = Running {
        function: function.raw.identity(),
        analysis: TypeId::of::<A>(),
        name: A::NAME,
    };
    let chain = RUNNING.with(|running| {
        let mut running = running.borrow_mut();
        let at = running.iter().position(|one| *one == new);
        running.push(new);
        at.map(|at| running[at..].iter().map(|one| one.name).collect::<Vec<_>>())
    });
    let _done = Done;
    match chain {
        None => A::compute(function, &cx.without_module()),
        Some(names) => {
            let chain = names.join(" -> ");
            let message = format!("the analysis `{}` needs itself: {}", A::NAME, chain);
            Err(EditError::new(Status::REFUSED, message, None).into())
        }
    }
}
