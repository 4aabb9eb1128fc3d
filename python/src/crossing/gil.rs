//! The GIL: how threads release and acquire it, including during interpreter shutdown.
//!
//! At shutdown, CPython before 3.14 terminates each thread that acquires the GIL by `pthread_exit`, which unwinds its
//! stack. Unwinding through Rust frames is undefined behavior. So such a thread blocks here until the process exits,
//! without the GIL. Threads that return from the host's work check before they acquire it. A thread in Python code,
//! called from frames of the host, acquires it there: its stack is unwound up to [`call`], and no further.
//!
//! **Invariant:** only this module releases and acquires the GIL, and code of programs is called through [`call`].

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Whether the interpreter is shutting down.
static ENDS: AtomicBool = AtomicBool::new(false);
/// The thread that shuts it down, which continues to run.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// The number of threads that saw no shutdown and are acquiring the GIL.
static ACQUIRING: AtomicUsize = AtomicUsize::new(0);
/// The maximum time that the shutdown waits for these threads: C code may have forked the process, and the count then
/// includes threads that don't exist in it.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(1);

/// Whether this thread holds the GIL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// The thread never used this module: ask Python.
    Unknown,
    Held,
    Free,
}

thread_local! {
    static LOCK: Cell<Lock> = const { Cell::new(Lock::Unknown) };
}

/// Sets the state of this thread's lock, and restores the previous state when dropped.
struct LockState(Lock);

impl LockState {
    fn enter(lock: Lock) -> LockState {
        LockState(LOCK.replace(lock))
    }
}

impl Drop for LockState {
    fn drop(&mut self) {
        LOCK.set(self.0);
    }
}

/// A thread that is acquiring the GIL.
struct Acquiring;

impl Acquiring {
    /// Begins to acquire it, or blocks until the process exits.
    fn begin() -> Acquiring {
        ACQUIRING.fetch_add(1, Ordering::SeqCst);
        let acquiring = Acquiring;
        // Either the shutdown sees this count, or this thread sees the shutdown.
        if ENDS.load(Ordering::SeqCst) && ENDING.get() != Some(&thread::current().id()) {
            drop(acquiring);
            wait_for_ever();
        }
        acquiring
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        ACQUIRING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn wait_for_ever() -> ! {
    loop {
        thread::park();
    }
}

/// Releases the GIL while `body` runs.
pub(crate) fn detach<T: Send>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> T {
    /// Runs before the GIL is acquired again, even if the body panics.
    struct Reacquire;

    impl Drop for Reacquire {
        fn drop(&mut self) {
            // Acquiring ends when the GIL is held.
            std::mem::forget(Acquiring::begin());
        }
    }

    // SAFETY: the function may be called at any time. Objects freed during finalization get here after its end.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        let _held = LockState::enter(Lock::Held);
        return body();
    }
    let _acquiring = Acquiring;
    let _free = LockState::enter(Lock::Free);
    py.detach(|| {
        let _reacquire = Reacquire;
        body()
    })
}

/// Acquires the GIL while `body` runs, unless the thread holds it.
pub(crate) fn attach<R>(body: impl for<'py> FnOnce(Python<'py>) -> R) -> R {
    let is_held = match LOCK.get() {
        Lock::Held => true,
        Lock::Free => false,
        // SAFETY: the function only reads thread-local state. A thread that reaches this point without using this
        // module either is a Python thread and was called by Python, or has no state.
        Lock::Unknown => !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null(),
    };
    if is_held {
        return Python::attach(body);
    }
    let acquiring = Acquiring::begin();
    let _held = LockState::enter(Lock::Held);
    Python::attach(|py| {
        drop(acquiring);
        body(py)
    })
}

unsafe extern "C-unwind" {
    fn PyObject_Call(
        callable: *mut ffi::PyObject,
        args: *mut ffi::PyObject,
        kwargs: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}

/// Calls Python code, which may release the GIL.
pub(crate) fn call<'py, A>(callable: &Bound<'py, PyAny>, args: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    /// Stops unwinding that isn't a panic. The thread doesn't hold the GIL then.
    struct EndOfCall;

    impl Drop for EndOfCall {
        fn drop(&mut self) {
            if !thread::panicking() {
                wait_for_ever();
            }
        }
    }

    let (py, args) = (callable.py(), args.into_pyobject(callable.py())?);
    // Declared last, so it is dropped first: nothing else of this frame or its callers is dropped.
    let end_of_call = EndOfCall;
    // SAFETY: both pointers are valid objects, and `args` is a tuple. The result is an owned reference, or null with an
    // exception set.
    let result = unsafe { PyObject_Call(callable.as_ptr(), args.as_ptr(), std::ptr::null_mut()) };
    std::mem::forget(end_of_call);
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_err(py, result) }
}

/// Calls a method like [`call`].
pub(crate) fn call_method<'py, A>(
    object: &Bound<'py, PyAny>,
    name: &str,
    args: A,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    call(&object.getattr(name)?, args)
}

/// Called by Python at shutdown, before it terminates other threads.
#[pyfunction]
pub(crate) fn interpreter_ends(py: Python<'_>) {
    let _ = ENDING.set(thread::current().id());
    ENDS.store(true, Ordering::SeqCst);
    // Lets threads that are acquiring the GIL do so before they would be terminated for it.
    py.detach(|| {
        let began = Instant::now();
        while ACQUIRING.load(Ordering::SeqCst) > 0 && began.elapsed() < SHUTDOWN_WAIT {
            thread::sleep(Duration::from_micros(50));
        }
    });
}

/// Called by Python in a forked process, which has only this thread.
#[pyfunction]
pub(crate) fn process_forked() {
    ACQUIRING.store(0, Ordering::SeqCst);
    passdock::forked();
}
