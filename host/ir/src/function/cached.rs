//! Values kept beside a function: looking up, adding, forgetting.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Function;
use crate::cache::{ASIDE, CacheKey, CachedValue, depth};

impl Function {
    /// The value kept under a key for this very version of the function.
    #[inline]
    pub fn kept(&self, key: &CacheKey<'_>) -> Option<&CachedValue> {
        self.kept.find(key, self.version)
    }

    /// The number of values kept, for this version and those not forgotten yet.
    pub fn kept_count(&self) -> usize {
        self.kept.len.load(Ordering::Relaxed)
    }

    /// Keeps a value for this version of the function. The answer is the value kept: the first one,
    /// if two threads computed it.
    pub fn keep(&self, key: CacheKey<'_>, value: CachedValue) -> &CachedValue {
        let key = Arc::new(key.into_owned());
        self.kept.add(key, self.version, value)
    }

    /// Keeps a value as [`Function::keep`] does, replacing the one kept under the key for another
    /// version.
    pub fn keep_instead(&mut self, key: CacheKey<'_>, value: CachedValue) -> &CachedValue {
        if self.kept(&key).is_none()
            && let Some(entry) = self.kept.find_mut(&key, depth(self.version))
        {
            entry.version = self.version;
            entry.value = value.clone();
        }
        self.keep(key, value)
    }

    /// Throws away all that is kept for another version.
    pub fn forget_all_stale(&mut self) {
        let version = self.version;
        self.retain_kept(|kept| kept == version || depth(kept) < depth(version));
    }

    /// Throws away all that is kept.
    pub fn forget_kept(&mut self) {
        self.kept.take().for_each(drop);
    }

    /// Begins a trial, which is no edit: values are kept for the trial alone, and those kept before
    /// wait.
    pub(crate) fn begin_aside(&mut self) {
        self.version += ASIDE;
    }

    /// Ends a trial: the function is the version that it was before.
    pub(crate) fn end_aside(&mut self) {
        let tried = depth(self.version);
        self.retain_kept(|kept| depth(kept) < tried);
        self.version -= ASIDE;
    }

    /// Throws away all that isn't for a version that satisfies a predicate.
    fn retain_kept(&mut self, stays: impl Fn(u64) -> bool) {
        if self.kept.entries().all(|entry| stays(entry.version)) {
            return;
        }
        for entry in self.kept.take() {
            if stays(entry.version) {
                self.kept.add(entry.key, entry.version, entry.value);
            }
        }
    }

    /// Marks the value kept under a key as valid for this version too; whether there was one.
    pub fn still_holds(&mut self, key: &CacheKey<'_>) -> bool {
        if self.kept(key).is_some() {
            return true;
        }
        let version = self.version;
        let found = self.kept.find_mut(key, depth(version));
        found.map(|entry| entry.version = version).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use passdock_abi::FunctionKind;

    use super::*;
    use crate::symbols::Symbols;

    const KEY: CacheKey<'static> = CacheKey::new(1, 2, b"k");

    fn function() -> Function {
        let symbols = Symbols::new();
        let name = symbols.intern("main");
        Function::new(symbols, FunctionKind::GRAPH, name)
    }

    fn number(f: &Function) -> Option<u32> {
        f.kept(&KEY)?.downcast_ref().copied()
    }

    #[test]
    fn what_is_kept_is_found_until_the_function_changes() {
        let mut f = function();
        f.keep(KEY, Arc::new(7_u32));
        f.keep(KEY, Arc::new(8_u32));
        assert_eq!(number(&f), Some(7), "the first one stays");
        for other in [
            CacheKey::new(2, 2, b"k"),
            CacheKey::new(1, 3, b"k"),
            CacheKey::new(1, 2, b"l"),
        ] {
            assert!(f.kept(&other).is_none(), "{other:?}");
        }
        f.touch_function();
        assert_eq!(number(&f), None);
        f.keep(KEY, Arc::new(9_u32));
        assert_eq!(number(&f), Some(9));
    }

    #[test]
    fn a_copy_has_what_the_original_had_and_goes_its_own_way() {
        let mut f = function();
        f.keep(KEY, Arc::new(7_u32));
        let mut copy = f.clone();
        f.touch_function();
        copy.touch_function();
        assert_eq!(f.version(), copy.version());
        f.keep(KEY, Arc::new(8_u32));
        assert_eq!(number(&copy), None);
        assert!(copy.still_holds(&KEY));
        assert_eq!((number(&f), number(&copy)), (Some(8), Some(7)));
    }

    #[test]
    fn only_what_holds_is_preserved() {
        let mut f = function();
        assert!(!f.still_holds(&KEY));
        f.keep(KEY, Arc::new(7_u32));
        f.touch_function();
        f.forget_all_stale();
        assert!(!f.still_holds(&KEY), "it was of an older version");
    }

    #[test]
    fn what_is_worked_out_of_a_trial_goes_with_it() {
        let mut f = function();
        f.keep(KEY, Arc::new(7_u32));
        f.begin_aside();
        assert_eq!(number(&f), None);
        f.keep_instead(KEY, Arc::new(8_u32));
        f.begin_aside();
        assert!(!f.still_holds(&KEY));
        f.keep(KEY, Arc::new(9_u32));
        f.forget_all_stale();
        f.end_aside();
        assert_eq!(number(&f), Some(8));
        f.end_aside();
        assert_eq!((number(&f), f.kept_count()), (Some(7), 1));
    }

    #[test]
    fn compaction_forgets() {
        let mut f = function();
        f.keep(KEY, Arc::new(7_u32));
        f.compact();
        assert!(!f.still_holds(&KEY));
    }

    /// Counts how often it is dropped.
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn one_version_is_kept_and_everything_is_dropped_once() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut f = function();
        for _ in 0..10 {
            f.touch_function();
            f.keep_instead(KEY, Arc::new(Counted(dropped.clone())));
            assert_eq!(f.kept_count(), 1);
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        let copy = f.clone();
        drop(f);
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        drop(copy);
        assert_eq!(dropped.load(Ordering::Relaxed), 10);
    }

    /// However many keys there are, and however a thread's stack is: finding one, throwing all away.
    #[test]
    fn many_keys_are_found_and_dropped() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let name = |number: u32| number.to_le_bytes();
        let mut f = function();
        for number in 0..100_000 {
            let value = Arc::new(Counted(dropped.clone()));
            f.keep(CacheKey::new(1, 2, &name(number)), value);
        }
        assert_eq!(f.kept_count(), 100_000);
        f.touch_function();
        for number in 0..100_000 {
            assert!(f.still_holds(&CacheKey::new(1, 2, &name(number))));
        }
        f.forget_all_stale();
        assert_eq!(f.kept_count(), 100_000);
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let thread = small.spawn(move || drop(f)).expect("a thread");
        thread.join().expect("no overflow");
        assert_eq!(dropped.load(Ordering::Relaxed), 100_000);
    }

    /// Keys that differ and have one hash stand behind each other; many of them, too.
    #[test]
    fn keys_of_one_hash_are_told_apart() {
        let mut f = function();
        for version in 0..2000_u32 {
            f.keep(KEY, Arc::new(version));
            assert_eq!(number(&f), Some(version));
            f.touch_function();
        }
        assert_eq!(f.kept_count(), 2000);
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || drop(f))
            .expect("a thread")
            .join()
            .expect("no overflow");
    }

    #[test]
    fn threads_that_share_a_function_agree() {
        let f = function();
        let seen: Vec<u32> = std::thread::scope(|scope| {
            let ask = |i: u32| {
                let f = &f;
                scope.spawn(move || *f.keep(KEY, Arc::new(i)).downcast_ref().expect("a number"))
            };
            let threads: Vec<_> = (0..2).map(ask).collect();
            threads
                .into_iter()
                .map(|t| t.join().expect("no panic"))
                .collect()
        });
        assert_eq!(seen[0], seen[1]);
    }
}
