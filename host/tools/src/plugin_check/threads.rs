//! Calls of a plugin from several threads at the same time.

use std::thread;

/// The number of threads.
const THREADS: usize = 4;

/// A task whose result on a thread differed from the expected one.
pub(super) struct ThreadDifference<'t, T> {
    pub(super) task: &'t T,
    pub(super) expected: &'t str,
    pub(super) found: String,
}

/// Runs all tasks on each thread, in another order on each, and compares the results with the expected ones. Returns
/// the first difference of the first thread that found one.
pub(super) fn compare<T: Sync>(
    tasks: &[(T, String)],
    run: impl Fn(&T) -> String + Sync,
) -> Option<ThreadDifference<'_, T>> {
    let run_all = |number: usize| {
        let (before, after) = tasks.split_at(number * tasks.len() / THREADS);
        after.iter().chain(before).find_map(|(task, expected)| {
            let found = run(task);
            (found != *expected).then_some(ThreadDifference {
                task,
                expected,
                found,
            })
        })
    };
    let run_all = &run_all;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| scope.spawn(move || run_all(number)))
            .collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.filter_map(Result::ok).flatten().next()
    })
}
