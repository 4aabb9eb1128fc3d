//! [`Analysis`]: an analysis that a plugin defines, cached as long as the function doesn't change. The host's analyses
//! are in `columns.rs`.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use passdock_abi as abi;
use passdock_abi::{Status, SymbolId};

use super::context::{end, PassContext};
use crate::data::{optional, EditError, PassError};
use crate::ffi::Tables;
use crate::ir::Function;

/// An analysis that a plugin defines: computed from a function, and shared by several passes.
///
/// [`Function::analysis`] computes it on request, and the host caches it for the version of the function. Later
/// requests, even in later passes, return the cached result until the function is edited. So it may depend only on the
/// function and on op definitions. Options, config and other functions may be different in the next pass;
/// [`PassContext::module`] returns nothing here.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// The number of ops on the longest path to each value.
/// struct Heights(Vec<u32>);
///
/// impl Analysis for Heights {
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
/// The result borrows the function, so it can't be used after an edit:
///
/// ```compile_fail,E0502
/// use passdock_plugin_api::prelude::*;
/// # struct Heights;
/// # impl Analysis for Heights {
/// #     fn compute(_f: &Function, _cx: &PassContext) -> Result<Heights, PassError> { Ok(Heights) }
/// # }
/// fn wrong(f: &mut Function, cx: &PassContext, op: OpId) -> PassResult {
///     let heights = f.analysis::<Heights>(cx)?;
///     f.erase_op(op)?;
///     drop(heights); // borrowed across the edit
///     Ok(())
/// }
/// ```
///
/// Other plugins can't access it. To share results with plugins of other vendors, use the crate
/// `passdock-plugin-share`.
///
/// Several passes may read the analysis at the same time on different threads, and the last one drops it: hence `Send`
/// and `Sync`.
pub trait Analysis: Sized + Send + Sync + 'static {
    /// Computes the analysis. It may request others.
    ///
    /// # Errors
    /// If the analysis depends on itself, or the implementation fails.
    fn compute(function: &Function, cx: &PassContext) -> Result<Self, PassError>;
}

/// The owner of data that plugins share.
const SHARED: *const c_void = std::ptr::null();

/// Returns the key of an analysis, which is the path of its type.
fn key<A: Analysis>() -> &'static str {
    std::any::type_name::<A>()
}

/// A value that the host caches. It starts with its type, because two crates may have types of the same path.
#[repr(C)]
struct Cached<A> {
    ty: TypeId,
    value: A,
}

impl Function {
    /// Returns the analysis for the current state of the function: the cached result, or a new one.
    ///
    /// # Errors
    /// The error of [`Analysis::compute`]; also if the analysis depends on itself, or another type has the same path.
    pub fn analysis<A: Analysis>(&self, cx: &PassContext) -> Result<&A, PassError> {
        let data = match self.cached(self.owner(), key::<A>())? {
            Some(data) => data,
            None => {
                let cached = Cached::<A> {
                    ty: TypeId::of::<A>(),
                    value: computed(self, cx)?,
                };
                let data = Box::into_raw(Box::new(cached)).cast();
                // SAFETY: the host owns the data from here on, and drops it once.
                unsafe { self.raw_put(self.owner(), key::<A>(), data, Some(drop_cached::<A>))? }
            }
        };
        // SAFETY: only the call above puts data under this owner: a `Cached` of some type, which starts with the type.
        // It lives until the function's next edit or its end. The result is a borrow of the function, which prevents
        // both. It is `Sync`, so threads may share it.
        unsafe {
            if *data.cast::<TypeId>() == TypeId::of::<A>() {
                return Ok(&(*data.cast::<Cached<A>>()).value);
            }
        }
        let message = format!(
            "two analyses in the plugin have the path `{}`; rename one of them",
            key::<A>()
        );
        Err(EditError::new(Status::INVALID, message, None).into())
    }

    /// Marks an analysis as valid for the current state of the function, although this pass edited it since it was
    /// computed. Returns whether there is one. For passes that know which analyses their edits preserve: setting an
    /// attribute doesn't move an op.
    pub fn preserve<A: Analysis>(&mut self) -> bool {
        // SAFETY: the owner is only compared.
        unsafe { self.raw_preserve(self.owner(), key::<A>()) }.is_ok()
    }

    /// Returns the data that plugins share under a key, valid until the next edit. For crates that know its layout,
    /// such as `passdock-plugin-share`.
    #[doc(hidden)]
    pub fn shared_data(&self, key: &str) -> Result<Option<NonNull<c_void>>, EditError> {
        Ok(self.cached(SHARED, key)?.and_then(NonNull::new))
    }

    /// Stores data that plugins share under a key, and passes its ownership to the host, whatever the result. Returns
    /// the stored data.
    ///
    /// # Safety
    /// - The data has the layout that all plugins with this key use.
    /// - Several threads may read it at the same time. `drop` may be called once, on any thread, and doesn't unwind.
    /// - It depends only on the function and on op definitions.
    #[doc(hidden)]
    pub unsafe fn keep_shared_data(
        &self,
        key: &str,
        data: NonNull<c_void>,
        drop: abi::DropAnalysis,
    ) -> Result<NonNull<c_void>, EditError> {
        // SAFETY: the caller guarantees valid data and `drop`. The host owns the data from here on.
        let data = unsafe { self.raw_put(SHARED, key, data.as_ptr(), Some(drop))? };
        // The stored pointer isn't null: the host rejects null.
        NonNull::new(data).ok_or_else(|| EditError::unsupported("put", None))
    }

    /// Returns the cached data for the current state of the function.
    fn cached(&self, owner: *const c_void, key: &str) -> Result<Option<*mut c_void>, EditError> {
        // SAFETY: the owner is only compared.
        optional(unsafe { self.raw_get(owner, key) })
    }

    /// Returns the address that separates this plugin's keys from those of others.
    fn owner(&self) -> *const c_void {
        let tables: *const Tables = self.tables();
        tables.cast()
    }
}

/// Frees the data that the host cached.
unsafe extern "C" fn drop_cached<A>(
    host: *const abi::Host,
    context: *mut abi::Context,
    data: *mut c_void,
) {
    // SAFETY: created in `Function::analysis`, and dropped once.
    unsafe { end(host, context, Box::from_raw(data.cast::<Cached<A>>())) };
}

/// An analysis that is being computed on this thread.
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

/// Removes the analysis from the stack, even after a panic.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        RUNNING.with(|running| running.borrow_mut().pop());
    }
}

/// Computes an analysis. If it is already being computed, it depends on itself, and the error lists the cycle.
fn computed<A: Analysis>(function: &Function, cx: &PassContext) -> Result<A, PassError> {
    let new = Running {
        function: function.raw.identity(),
        analysis: TypeId::of::<A>(),
        name: key::<A>(),
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
            let message = format!("analysis `{}` depends on itself: {}", key::<A>(), chain);
            Err(EditError::new(Status::REJECTED, message, None).into())
        }
    }
}
