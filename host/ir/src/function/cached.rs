//! Cached values of a function: lookup, insertion, removal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Function;
use crate::cache::{CacheKey, CachedValue, TRIAL, depth};

impl Function {
    /// Returns the value cached under a key for the current version of the function.
    #[inline]
    pub fn cached(&self, key: &CacheKey<'_>) -> Option<&CachedValue> {
        self.cached.find(key, self.version)
    }

    /// Returns the number of cached values, for the current version and for others that aren't removed yet.
    pub fn cached_count(&self) -> usize {
        self.cached.len.load(Ordering::Relaxed)
    }

    /// Caches a value for the current version of the function and returns the cached value: the first one, if two
    /// threads computed it.
    pub fn cache(&self, key: CacheKey<'_>, value: CachedValue) -> &CachedValue {
        let key = Arc::new(key.into_owned());
        self.cached.add(key, self.version, value)
    }

    /// Caches a value like [`Function::cache`], replacing the value of the same key for another version.
    pub fn update_cache(&mut self, key: CacheKey<'_>, value: CachedValue) -> &CachedValue {
        if self.cached(&key).is_none()
            && let Some(entry) = self.cached.find_mut(&key, depth(self.version))
        {
            entry.version = self.version;
            entry.value = value.clone();
        }
        self.cache(key, value)
    }

    /// Drops all values cached for other versions.
    pub fn clear_stale_cache(&mut self) {
        let version = self.version;
        self.retain_cached(|entry_version| {
            entry_version == version || depth(entry_version) < depth(version)
        });
    }

    /// Drops all cached values.
    pub fn clear_cache(&mut self) {
        self.cached.take().for_each(drop);
    }

    /// Begins a trial, which isn't an edit. Values cached during the trial belong to it; earlier values can't be found
    /// until it ends.
    pub(crate) fn begin_trial(&mut self) {
        self.version += TRIAL;
    }

    /// Ends a trial: the function has its previous version again.
    pub(crate) fn end_trial(&mut self) {
        let tried = depth(self.version);
        self.retain_cached(|entry_version| depth(entry_version) < tried);
        self.version -= TRIAL;
    }

    /// Drops all values whose version doesn't satisfy a predicate.
    fn retain_cached(&mut self, stays: impl Fn(u64) -> bool) {
        if self.cached.entries().all(|entry| stays(entry.version)) {
            return;
        }
        for entry in self.cached.take() {
            if stays(entry.version) {
                self.cached.add(entry.key, entry.version, entry.value);
            }
        }
    }

    /// Marks the value of a key as valid for the current version; returns `false` if there is none.
    pub fn preserve_cached(&mut self, key: &CacheKey<'_>) -> bool {
        if self.cached(key).is_some() {
            return true;
        }
        let version = self.version;
        let found = self.cached.find_mut(key, depth(version));
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
        f.cached(&KEY)?.downcast_ref().copied()
    }

    #[test]
    fn values_are_cached_until_the_function_changes() {
        let mut f = function();
        f.cache(KEY, Arc::new(7_u32));
        f.cache(KEY, Arc::new(8_u32));
        assert_eq!(number(&f), Some(7), "the first one stays");
        for other in [
            CacheKey::new(2, 2, b"k"),
            CacheKey::new(1, 3, b"k"),
            CacheKey::new(1, 2, b"l"),
        ] {
            assert!(f.cached(&other).is_none(), "{other:?}");
        }
        f.touch_function();
        assert_eq!(number(&f), None);
        f.cache(KEY, Arc::new(9_u32));
        assert_eq!(number(&f), Some(9));
    }

    #[test]
    fn clone_shares_values_and_diverges() {
        let mut f = function();
        f.cache(KEY, Arc::new(7_u32));
        let mut copy = f.clone();
        f.touch_function();
        copy.touch_function();
        assert_eq!(f.version(), copy.version());
        f.cache(KEY, Arc::new(8_u32));
        assert_eq!(number(&copy), None);
        assert!(copy.preserve_cached(&KEY));
        assert_eq!((number(&f), number(&copy)), (Some(8), Some(7)));
    }

    #[test]
    fn stale_values_are_not_preserved() {
        let mut f = function();
        assert!(!f.preserve_cached(&KEY));
        f.cache(KEY, Arc::new(7_u32));
        f.touch_function();
        f.clear_stale_cache();
        assert!(!f.preserve_cached(&KEY), "the value is of an older version");
    }

    #[test]
    fn values_of_a_trial_are_discarded() {
        let mut f = function();
        f.cache(KEY, Arc::new(7_u32));
        f.begin_trial();
        assert_eq!(number(&f), None);
        f.update_cache(KEY, Arc::new(8_u32));
        f.begin_trial();
        assert!(!f.preserve_cached(&KEY));
        f.cache(KEY, Arc::new(9_u32));
        f.clear_stale_cache();
        f.end_trial();
        assert_eq!(number(&f), Some(8));
        f.end_trial();
        assert_eq!((number(&f), f.cached_count()), (Some(7), 1));
    }

    #[test]
    fn compaction_clears_the_cache() {
        let mut f = function();
        f.cache(KEY, Arc::new(7_u32));
        f.compact();
        assert!(!f.preserve_cached(&KEY));
    }

    /// Counts its drops.
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn one_version_is_cached_and_values_drop_once() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut f = function();
        for _ in 0..10 {
            f.touch_function();
            f.update_cache(KEY, Arc::new(Counted(dropped.clone())));
            assert_eq!(f.cached_count(), 1);
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        let copy = f.clone();
        drop(f);
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        drop(copy);
        assert_eq!(dropped.load(Ordering::Relaxed), 10);
    }

    /// Lookup and removal work with many keys on a small stack.
    #[test]
    fn many_keys_are_found_and_dropped() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let name = |number: u32| number.to_le_bytes();
        let mut f = function();
        for number in 0..100_000 {
            let value = Arc::new(Counted(dropped.clone()));
            f.cache(CacheKey::new(1, 2, &name(number)), value);
        }
        assert_eq!(f.cached_count(), 100_000);
        f.touch_function();
        for number in 0..100_000 {
            assert!(f.preserve_cached(&CacheKey::new(1, 2, &name(number))));
        }
        f.clear_stale_cache();
        assert_eq!(f.cached_count(), 100_000);
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let thread = small.spawn(move || drop(f)).expect("a thread");
        thread.join().expect("no overflow");
        assert_eq!(dropped.load(Ordering::Relaxed), 100_000);
    }

    /// Keys with the same hash form a chain, which may be long.
    #[test]
    fn keys_with_equal_hashes_are_distinct() {
        let mut f = function();
        for version in 0..2000_u32 {
            f.cache(KEY, Arc::new(version));
            assert_eq!(number(&f), Some(version));
            f.touch_function();
        }
        assert_eq!(f.cached_count(), 2000);
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || drop(f))
            .expect("a thread")
            .join()
            .expect("no overflow");
    }

    #[test]
    fn threads_see_the_same_value() {
        let f = function();
        let seen: Vec<u32> = std::thread::scope(|scope| {
            let read = |i: u32| {
                let f = &f;
                scope.spawn(move || *f.cache(KEY, Arc::new(i)).downcast_ref().expect("a number"))
            };
            let threads: Vec<_> = (0..2).map(read).collect();
            threads
                .into_iter()
                .map(|t| t.join().expect("no panic"))
                .collect()
        });
        assert_eq!(seen[0], seen[1]);
    }
}
