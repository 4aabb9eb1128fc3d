//! The threads that function passes run on. They don't exist in a forked process.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::ThreadPoolBuilder;

use crate::error::{ErrorKind, PassError};
use crate::util;

/// The maximum number of threads of a context.
const MAX_JOBS: usize = 1024;

/// The number of forks between the initial process and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The pool with a thread for each core, or `None` if the system can't start them, with the value of `FORKS` at its
/// creation.
static SHARED: Mutex<Option<(u32, Option<&Pool>)>> = Mutex::new(None);

/// Invalidates the threads of the process that this one was forked from.
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Threads for passes.
pub(super) struct Pool {
    threads: rayon::ThreadPool,
    forks: u32,
}

impl Pool {
    /// Starts `jobs` threads, or one for each core if it is 0.
    pub(super) fn new(jobs: usize) -> Result<Pool, PassError> {
        let failure = |kind, why| PassError::new(kind, why).help("request fewer jobs");
        if jobs > MAX_JOBS {
            let why = format!("{jobs} jobs exceed the limit of {MAX_JOBS}");
            return Err(failure(ErrorKind::Config, why));
        }
        let built = ThreadPoolBuilder::new().num_threads(jobs).build();
        let threads = built.map_err(|error| {
            let why = format!("could not start {jobs} threads: {error}");
            failure(ErrorKind::Context, why)
        })?;
        let forks = FORKS.load(Ordering::Relaxed);
        Ok(Pool { threads, forks })
    }

    pub(super) fn shared() -> Option<&'static Pool> {
        let forks = FORKS.load(Ordering::Relaxed);
        let mut shared = util::lock(&SHARED);
        if let Some((_, pool)) = shared.filter(|(before, _)| *before == forks) {
            return pool;
        }
        let pool = Pool::new(0).ok().map(|pool| &*Box::leak(Box::new(pool)));
        *shared = Some((forks, pool));
        pool
    }

    /// Returns the threads, if they belong to this process.
    pub(super) fn threads(&self) -> Option<&rayon::ThreadPool> {
        (self.forks == FORKS.load(Ordering::Relaxed)).then_some(&self.threads)
    }
}
