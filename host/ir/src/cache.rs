//! Values that others keep beside a function: their results for one version of it.
//!
//! Something that is kept is found again only while the function is as it was. Who holds a shared
//! function may look things up and add to them, on any number of threads and without a lock;
//! nothing is taken away before the function changes or dies, so a reference stays good as long as
//! the one to the function. Who may change the function may also throw away what is out of date,
//! or say that it still holds.

use std::any::Any;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxBuildHasher;

/// A value kept beside a function.
pub type CachedValue = Arc<dyn Any + Send + Sync>;

/// The key of a value kept beside a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey<'k> {
    /// The owner's id.
    pub owner: usize,
    /// The version of the other inputs that the value depends on: another function, another result.
    pub stamp: u64,
    /// Its name, the owner's choice.
    pub name: Cow<'k, [u8]>,
}

impl<'k> CacheKey<'k> {
    /// A key that borrows its name.
    #[inline]
    pub const fn new(owner: usize, stamp: u64, name: &'k [u8]) -> CacheKey<'k> {
        CacheKey {
            owner,
            stamp,
            name: Cow::Borrowed(name),
        }
    }

    pub(crate) fn into_owned(self) -> CacheKey<'static> {
        CacheKey {
            owner: self.owner,
            stamp: self.stamp,
            name: Cow::Owned(self.name.into_owned()),
        }
    }
}

/// The values kept beside a function, each with the version it is for: a tree that only grows while
/// it is shared. The hash of a key leads to its entry.
#[derive(Default)]
pub(crate) struct CachedValues {
    root: Link,
    pub(crate) len: AtomicUsize,
}

/// The place of an entry; set once while the tree is shared.
type Link = OnceLock<Box<CacheEntry>>;

pub(crate) struct CacheEntry {
    pub(crate) key: Arc<CacheKey<'static>>,
    pub(crate) version: u64,
    pub(crate) value: CachedValue,
    /// The entries below, by the next two bits of the hash.
    next: [Link; 4],
}

/// The number added to a version during a trial: more than edits can make.
pub(crate) const TRIAL: u64 = 1 << 48;

/// The number of trials under way, one within the other.
pub(crate) fn depth(version: u64) -> u64 {
    version / TRIAL
}

impl CacheEntry {
    #[inline]
    fn is(&self, key: &CacheKey<'_>) -> bool {
        self.key.owner == key.owner && self.key.stamp == key.stamp && self.key.name == key.name
    }
}

/// The way to a key: each step takes a link.
#[derive(Clone, Copy)]
struct Path(u64);

impl Path {
    #[inline]
    fn to(key: &CacheKey<'_>) -> Path {
        Path(FxBuildHasher.hash_one((key.owner, key.stamp, &*key.name)))
    }

    #[inline]
    fn step(&mut self) -> usize {
        self.0 = self.0.rotate_left(2);
        (self.0 & 3) as usize
    }
}

impl CachedValues {
    /// The value kept under a key for a version.
    #[inline]
    pub(crate) fn find(&self, key: &CacheKey<'_>, version: u64) -> Option<&CachedValue> {
        let mut place = &self.root;
        // A function that keeps one value needs no path to it.
        let mut path = None;
        while let Some(entry) = place.get() {
            if entry.version == version && entry.is(key) {
                return Some(&entry.value);
            }
            let path: &mut Path = path.get_or_insert_with(|| Path::to(key));
            place = &entry.next[path.step()];
        }
        None
    }

    /// The entry of a key, for any version of a depth.
    pub(crate) fn find_mut(&mut self, key: &CacheKey<'_>, of: u64) -> Option<&mut CacheEntry> {
        let mut place = &mut self.root;
        let mut path = Path::to(key);
        while let Some(entry) = place.get_mut() {
            if depth(entry.version) == of && entry.is(key) {
                return Some(entry);
            }
            place = &mut entry.next[path.step()];
        }
        None
    }

    /// Adds an entry, unless there is one for the key and version: then answers that one.
    pub(crate) fn add(
        &self,
        key: Arc<CacheKey<'static>>,
        version: u64,
        value: CachedValue,
    ) -> &CachedValue {
        let mut path = Path::to(&key);
        let mut entry = Box::new(CacheEntry {
            key,
            version,
            value,
            next: Default::default(),
        });
        let mut place = &self.root;
        loop {
            let there = match place.get() {
                Some(there) => there,
                None => match place.set(entry) {
                    Ok(()) => match place.get() {
                        Some(there) => {
                            self.len.fetch_add(1, Ordering::Relaxed);
                            return &there.value;
                        }
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
            place = &there.next[path.step()];
        }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &CacheEntry> {
        let mut open: Vec<&CacheEntry> = self.root.get().map(|root| &**root).into_iter().collect();
        std::iter::from_fn(move || {
            let entry = open.pop()?;
            open.extend(
                entry
                    .next
                    .iter()
                    .filter_map(|link| link.get().map(|e| &**e)),
            );
            Some(entry)
        })
    }

    /// Removes all entries, without recursion.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Box<CacheEntry>> + use<> {
        self.len = AtomicUsize::new(0);
        let mut open: Vec<Box<CacheEntry>> = self.root.take().into_iter().collect();
        std::iter::from_fn(move || {
            let mut entry = open.pop()?;
            open.extend(entry.next.iter_mut().filter_map(OnceLock::take));
            Some(entry)
        })
    }
}

impl Drop for CachedValues {
    fn drop(&mut self) {
        self.take().for_each(drop);
    }
}

impl Clone for CachedValues {
    fn clone(&self) -> CachedValues {
        let copy = CachedValues::default();
        for entry in self.entries() {
            copy.add(entry.key.clone(), entry.version, entry.value.clone());
        }
        copy
    }
}
