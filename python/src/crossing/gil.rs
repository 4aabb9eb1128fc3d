//! The interpreter's lock: how threads give it back and take it, also while the interpreter ends.
//!
//! When a program ends, CPython before 3.14 ends each thread that takes the lock by `pthread_exit`, which unwinds its
//! stack; through frames of Rust that is undefined. So such a thread waits here for the end of the process instead,
//! without the lock. Threads that come from the host's work wait before they take it. One that is in Python code, below
//! frames of the host, takes it there: its stack is unwound as far as [`call`], and no further.
//!
//! **Invariant:** the lock is given back and taken by this module alone, and code of programs is called through
//! [`call`].

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Whether the interpreter ends.
static ENDS: AtomicBool = AtomicBool::new(false);
/// The thread that ends it, which goes on.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// The threads that were told that it doesn't end, and take the lock now.
static TAKING: AtomicUsize = AtomicUsize::new(0);
/// How long the end waits for them: code in C may have forked the process, which counts threads that it doesn't have
/// then.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether this thread has the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// It was never here: Python knows.
    Unknown,
    Held,
    Free,
}

thread_local! {
    static LOCK: Cell<Lock> = const { Cell::new(Lock::Unknown) };
}

/// Sets what is known of the lock, and puts back what was, however the scope is left.
struct Known(Lock);

impl Known {
    fn now(lock: Lock) -> Known {
        Known(LOCK.replace(lock))
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        LOCK.set(self.0);
    }
}

/// A thread that takes the lock, as long as it is there.
struct Taking;

impl Taking {
    /// Begins to take it, or waits for the end of the process.
    fn begin() -> Taking {
        TAKING.fetch_add(1, Ordering::SeqCst);
        let taking = Taking;
        // Either this is counted before the end looks, or the end is seen here.
        if ENDS.load(Ordering::SeqCst) && ENDING.get() != Some(&thread::current().id()) {
            drop(taking);
            wait_for_ever();
        }
        taking
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        TAKING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn wait_for_ever() -> ! {
    loop {
        thread::park();
    }
}

/// Gives the lock back as long as `body` runs.
pub(crate) fn detach<T: Send>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> T {
    /// What is to be done before the lock is taken, also by a body that panics.
    struct Back;

    impl Drop for Back {
        fn drop(&mut self) {
            // It is over when the lock is there.
            std::mem::forget(Taking::begin());
        }
    }

    // SAFETY: it may be called at any time. What is freed as the interpreter is taken down comes here after its end.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        let _held = Known::now(Lock::Held);
        return body();
    }
    let _taken = Taking;
    let _free = Known::now(Lock::Free);
    py.detach(|| {
        let _back = Back;
        body()
    })
}

/// Takes the lock as long as `body` runs, unless the thread has it.
pub(crate) fn attach<R>(body: impl for<'py> FnOnce(Python<'py>) -> R) -> R {
    let is_held = match LOCK.get() {
        Lock::Held => true,
        Lock::Free => false,
        // SAFETY: it looks at what the thread has of its own. A thread of Python that comes here by none of these
        // functions comes from Python, and a thread that Python doesn't know has no state.
        Lock::Unknown => !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null(),
    };
    if is_held {
        return Python::attach(body);
    }
    let taking = Taking::begin();
    let _held = Known::now(Lock::Held);
    Python::attach(|py| {
        drop(taking);
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

/// Calls code of Python, which may give the lock back.
pub(crate) fn call<'py, A>(callable: &Bound<'py, PyAny>, args: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    /// What an unwinding stack that isn't a panic's ends at. The thread hasn't the lock then.
    struct End;

    impl Drop for End {
        fn drop(&mut self) {
            if !thread::panicking() {
                wait_for_ever();
            }
        }
    }

    let (py, args) = (callable.py(), args.into_pyobject(callable.py())?);
    // The last that is made is dropped first: nothing else of this frame is, nor of those above.
    let end = End;
    // SAFETY: both are objects, and `args` is a tuple. The answer is owned, or there is an exception.
    let answer = unsafe { PyObject_Call(callable.as_ptr(), args.as_ptr(), std::ptr::null_mut()) };
    std::mem::forget(end);
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_err(py, answer) }
}

/// Calls a method, as [`call`] calls functions.
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

/// Called by Python when the program ends, before other threads are ended.
#[pyfunction]
pub(crate) fn interpreter_ends(py: Python<'_>) {
    let _ = ENDING.set(thread::current().id());
    ENDS.store(true, Ordering::SeqCst);
    // Who takes the lock gets it now, as long as nobody is ended for that.
    py.detach(|| {
        let began = Instant::now();
        while TAKING.load(Ordering::SeqCst) > 0 && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(50));
        }
    });
}

/// Called by Python in a process that was just forked: it has this thread alone.
#[pyfunction]
pub(crate) fn process_forked() {
    TAKING.store(0, Ordering::SeqCst);
    passdock::forked();
}
