//! What is worked out about a function: the host's columns, and what the plugin keeps with the host.

use std::any::TypeId;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use passdock_abi as abi;
use passdock_abi::{Range, Status, SymbolId};

use super::function::RawFunction;
use super::gate::end;
use super::read::{Record, Records};
use super::tables::Tables;
use crate::data::EditError;

/// The record of one of the host's analyses.
///
/// # Safety
/// The contract says that the analysis of that name has these records.
pub(crate) unsafe trait Analysed: Record {
    const NAME: &'static str;
}

macro_rules! analysed {
    ($($record:ident $name:ident;)*) => {$(
        // SAFETY: plain integers, `repr(C)`.
        unsafe impl Record for abi::$record {}
        // SAFETY: the contract.
        unsafe impl Analysed for abi::$record {
            const NAME: &'static str = abi::$name;
        }
    )*};
}

analysed! {
    Liveness ANALYSIS_LIVENESS;
    OpOrder ANALYSIS_ORDER;
    OpEffects ANALYSIS_EFFECTS;
    NameUse ANALYSIS_NAMES;
}

/// The owner of what plugins share.
const SHARED: *const c_void = std::ptr::null();

/// Data that is to be shared by plugins, under a key, and what drops it.
pub struct SharedData<'k> {
    key: &'k str,
    data: NonNull<c_void>,
    drop: abi::DropAnalysis,
}

impl<'k> SharedData<'k> {
    /// Data to give to the host.
    ///
    /// # Safety
    /// - The data is laid out as all plugins that use the key know it, whoever built them.
    /// - It may be read on several threads at once, and `drop` called on any, once. `drop` doesn't unwind.
    /// - It depends on the function and the op definitions alone.
    pub unsafe fn new(
        key: &'k str,
        data: NonNull<c_void>,
        drop: abi::DropAnalysis,
    ) -> SharedData<'k> {
        SharedData { key, data, drop }
    }
}

/// A kept value, which says of which type it is, since a key is only a name.
#[repr(C)]
struct Kept<A> {
    ty: TypeId,
    tables: &'static Tables,
    value: A,
}

/// An analysis that is kept, or one that was computed and can't be kept.
pub(crate) enum Found<'f, A> {
    Kept(&'f A),
    Own(Box<A>),
}

impl RawFunction {
    /// One of the host's analyses.
    #[inline]
    pub(crate) fn analysed<T: Analysed>(&self) -> Result<Records<'_, T>, EditError> {
        if self.tables.analyses.column.is_none() {
            return Err(no_analyses(T::NAME));
        }
        let column = self.column(T::NAME)?;
        let all = Range {
            start: 0,
            len: column.len,
        };
        // SAFETY: the host's, good until the next edit, which can't be while `self` is borrowed;
        // the record is the caller's promise.
        Ok(unsafe { Records::new(column, all) })
    }

    /// What is kept under a key for the function as it is.
    fn kept(&self, owner: *const c_void, key: &str) -> Result<Option<*mut c_void>, EditError> {
        if self.tables.analyses.get.is_none() {
            // Nobody can have put anything there.
            return Ok(None);
        }
        // SAFETY: the owner is only compared.
        match unsafe { self.get(owner, key) } {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.status == Status::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The data that plugins share under a key, if there is any for the function as it is.
    pub(crate) fn shared(&self, key: &str) -> Result<Option<NonNull<c_void>>, EditError> {
        Ok(self.kept(SHARED, key)?.and_then(NonNull::new))
    }

    /// Gives the host data that plugins share, and answers what is kept under its key.
    pub(crate) fn keep_shared(&self, shared: SharedData<'_>) -> Result<NonNull<c_void>, EditError> {
        let SharedData { key, data, drop } = shared;
        if self.tables.analyses.put.is_none() {
            // SAFETY: the promise to `SharedData::new`; nobody else has it.
            unsafe { drop(data.as_ptr()) };
        }
        // SAFETY: of the data and its `drop`, the promise to `SharedData::new`. It is the host's from here on.
        let kept = unsafe { self.put(SHARED, key, data.as_ptr(), Some(drop))? };
        // What is kept isn't null: the host refuses null.
        NonNull::new(kept).ok_or_else(|| EditError::unsupported("put", None))
    }

    /// Tells this plugin's keys from others'.
    #[inline]
    fn owner(&self) -> *const c_void {
        let tables: *const Tables = self.tables;
        tables.cast()
    }
}

#[cold]
fn no_analyses(asked: &str) -> EditError {
    let message = format!(
        "this host has no analyses, so it can't tell the `{}` of a function; it is older than the \
         plugin needs, and one with `{}` does",
        asked,
        abi::ANALYSIS_EXTENSION
    );
    EditError::new(Status::UNSUPPORTED, message, None)
}

/// The value that is kept under a name for the function as it is, or what `compute` gives, which is
/// then kept. A host without analyses keeps nothing.
pub(crate) fn get_or_compute<'f, A: Send + Sync + 'static, E: From<EditError>>(
    function: &'f RawFunction,
    name: &str,
    compute: impl FnOnce() -> Result<A, E>,
) -> Result<Found<'f, A>, E> {
    let table = &function.tables.analyses;
    if table.get.is_none() || table.put.is_none() {
        return Ok(Found::Own(Box::new(compute()?)));
    }
    let owner = function.owner();
    let out = match function.kept(owner, name)? {
        Some(data) => data,
        None => {
            let made = Kept {
                ty: TypeId::of::<A>(),
                tables: function.tables,
                value: compute()?,
            };
            let data = Box::into_raw(Box::new(made)).cast();
            // SAFETY: the data is the host's from here on, which drops it once.
            unsafe { function.put(owner, name, data, Some(drop_kept::<A>))? }
        }
    };
    // SAFETY: under this owner there is only what the line above put there: a `Kept` of some type,
    // whose type stands first. It lives until the function's next edit or its end, and `'f` is a
    // borrow of the function, which keeps both away. It may be shared between threads.
    unsafe {
        if *out.cast::<TypeId>() == TypeId::of::<A>() {
            return Ok(Found::Kept(&(*out.cast::<Kept<A>>()).value));
        }
    }
    Err(E::from(two_of(name)))
}

#[cold]
fn two_of(name: &str) -> EditError {
    let message = format!(
        "two analyses of this plugin are called `{}`; give each a name of its own",
        name
    );
    EditError::new(Status::INVALID, message, None)
}

/// Keeps what is kept under a name for the function as it is now; whether anything was.
pub(crate) fn preserve(function: &mut RawFunction, name: &str) -> bool {
    let owner = function.owner();
    // SAFETY: the owner is only compared.
    unsafe { function.preserve(owner, name) }.is_ok()
}

/// The host drops what it kept.
unsafe extern "C" fn drop_kept<A>(data: *mut c_void) {
    // SAFETY: made in `get_or_compute`, dropped once.
    let kept = unsafe { Box::from_raw(data.cast::<Kept<A>>()) };
    end(kept.tables, kept);
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

/// Ends what `computing` began, on a panic too.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        RUNNING.with(|running| running.borrow_mut().pop());
    }
}

/// Computes an analysis, unless it is being computed already: then it needs itself, and the error
/// names the chain.
pub(crate) fn computing<A: 'static, T, E: From<EditError>>(
    function: &RawFunction,
    name: &'static str,
    compute: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let new = Running {
        function: function.identity(),
        analysis: TypeId::of::<A>(),
        name,
    };
    let chain = RUNNING.with(|running| {
        let mut running = running.borrow_mut();
        let at = running.iter().position(|one| *one == new);
        let names = at.map(|at| running[at..].iter().map(|one| one.name).collect::<Vec<_>>());
        running.push(new);
        names
    });
    let _done = Done;
    match chain {
        None => compute(),
        Some(mut names) => {
            names.push(name);
            let message = format!(
                "the analysis `{}` needs itself: {}",
                name,
                names.join(" -> ")
            );
            Err(E::from(EditError::new(Status::REFUSED, message, None)))
        }
    }
}
