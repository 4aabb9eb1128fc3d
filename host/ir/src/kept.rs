//! What others keep beside a function: what they worked out for one version of it.
//!
//! Something that is kept is found again only while the function is as it was. Who holds a shared
//! function may look things up and add to them, on any number of threads and without a lock;
//! nothing is taken away before the function changes or dies, so a reference stays good as long as
//! the one to the function. Who may change the function may also throw away what is out of date,
//! or say that it still holds.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::function::Function;

/// What is kept.
pub type KeptValue = Arc<dyn Any + Send + Sync>;

/// Under what something is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptKey<'k> {
    /// Whose it is.
    pub owner: usize,
    /// What it depends on beside the function: another one, another result.
    pub stamp: u64,
    /// Its name, the owner's choice.
    pub name: Cow<'k, [u8]>,
}

impl<'k> KeptKey<'k> {
    /// A key that borrows its name.
    #[inline]
    pub const fn new(owner: usize, stamp: u64, name: &'k [u8]) -> KeptKey<'k> {
        KeptKey {
            owner,
            stamp,
            name: Cow::Borrowed(name),
        }
    }

    fn into_owned(self) -> KeptKey<'static> {
        KeptKey {
            owner: self.owner,
            stamp: self.stamp,
            name: Cow::Owned(self.name.into_owned()),
        }
    }
}

/// All that is kept beside a function, each entry with the version it is for: a list that only
/// grows while it is shared. It is as long as there are different keys, which are few.
#[derive(Default)]
pub(crate) struct Kept {
    first: Link,
}

type Link = OnceLock<Box<Entry>>;

struct Entry {
    key: Arc<KeptKey<'static>>,
    version: u64,
    value: KeptValue,
    next: Link,
}

impl Entry {
    #[inline]
    fn is(&self, key: &KeptKey<'_>) -> bool {
        self.key.owner == key.owner && self.key.stamp == key.stamp && self.key.name == key.name
    }
}

impl Kept {
    #[inline]
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.first.get(), |entry| entry.next.get()).map(|entry| &**entry)
    }

    /// Adds an entry, unless there is one for the key and version: then answers that one.
    fn add(&self, entry: Entry) -> &KeptValue {
        let mut entry = Box::new(entry);
        let mut place = &self.first;
        loop {
            let there = match place.get() {
                Some(there) => there,
                None => match place.set(entry) {
                    Ok(()) => match place.get() {
                        Some(there) => return &there.value,
                        None => unreachable!("it was set just now"),
                    },
                    // Another thread was faster.
                    Err(back) => {
                        entry = back;
                        continue;
                    }
                },
            };
            if there.version == entry.version && there.is(&entry.key) {
                return &there.value;
            }
            place = &there.next;
        }
    }

    /// Throws away all entries but those that `stays` is true of.
    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        let mut next = self.first.take();
        while let Some(mut entry) = next {
            next = entry.next.take();
            if stays(&entry) {
                self.add(*entry);
            }
        }
    }
}

impl Clone for Kept {
    fn clone(&self) -> Kept {
        let copy = Kept::default();
        for entry in self.entries() {
            copy.add(Entry {
                key: entry.key.clone(),
                value: entry.value.clone(),
                next: Link::new(),
                version: entry.version,
            });
        }
        copy
    }
}

impl Function {
    /// What is kept under a key for this very version of the function.
    #[inline]
    pub fn kept(&self, key: &KeptKey<'_>) -> Option<&KeptValue> {
        let version = self.version;
        let mut entries = self.kept.entries();
        let found = entries.find(|entry| entry.version == version && entry.is(key))?;
        Some(&found.value)
    }

    /// Keeps something for this version of the function, and answers what is kept: what was there
    /// first, if two threads worked the same out.
    pub fn keep(&self, key: KeptKey<'_>, value: KeptValue) -> &KeptValue {
        self.kept.add(Entry {
            key: Arc::new(key.into_owned()),
            version: self.version,
            value,
            next: Link::new(),
        })
    }

    /// Throws away what is kept under a key for another version.
    pub fn forget_stale(&mut self, key: &KeptKey<'_>) {
        let version = self.version;
        self.kept
            .retain(|entry| entry.version == version || !entry.is(key));
    }

    /// Throws away all that is kept for another version.
    pub fn forget_all_stale(&mut self) {
        let version = self.version;
        if self.kept.entries().any(|entry| entry.version != version) {
            self.kept.retain(|entry| entry.version == version);
        }
    }

    /// Says that what is kept under a key is right for this version too; whether there was any.
    pub fn still_holds(&mut self, key: &KeptKey<'_>) -> bool {
        if self.kept(key).is_some() {
            return true;
        }
        let mut link = &mut self.kept.first;
        while let Some(entry) = link.get_mut() {
            if entry.is(key) {
                entry.version = self.version;
                return true;
            }
            link = &mut entry.next;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use passdock_abi::FunctionKind;

    use super::*;
    use crate::symbols::Symbols;

    const KEY: KeptKey<'static> = KeptKey::new(1, 2, b"k");

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
            KeptKey::new(2, 2, b"k"),
            KeptKey::new(1, 3, b"k"),
            KeptKey::new(1, 2, b"l"),
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
            f.forget_stale(&KEY);
            f.keep(KEY, Arc::new(Counted(dropped.clone())));
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        let copy = f.clone();
        drop(f);
        assert_eq!(dropped.load(Ordering::Relaxed), 9);
        drop(copy);
        assert_eq!(dropped.load(Ordering::Relaxed), 10);
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
