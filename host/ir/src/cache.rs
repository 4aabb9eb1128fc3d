//! A cache of results that plugins and the host compute for a function, each valid for one version of it.
//!
//! A lookup finds a value only if the function's version hasn't changed since the value was computed. Holders of a
//! shared function may look up and add values from any number of threads without a lock. No entry is removed while the
//! function is shared, so a reference to a value lives as long as the reference to the function. Holders of a `&mut`
//! function may also drop outdated entries or declare them valid for the new version.

use std::any::Any;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxBuildHasher;

/// A cached value.
pub type CachedValue = Arc<dyn Any + Send + Sync>;

/// The key of a cached value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey<'k> {
    /// The id of the owner.
    pub owner: usize,
    /// The version of the other inputs that the value depends on: another function, another result.
    pub stamp: u64,
    /// The name, chosen by the owner.
    pub name: Cow<'k, [u8]>,
}

impl<'k> CacheKey<'k> {
    /// Creates a key that borrows its name.
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

/// The cached values of a function, each with its version: a tree, indexed by the hash of the key, that only grows
/// while it is shared.
#[derive(Default)]
pub(crate) struct CachedValues {
    root: Link,
    pub(crate) len: AtomicUsize,
}

/// A link to an entry; set once while the tree is shared.
type Link = OnceLock<Box<CacheEntry>>;

pub(crate) struct CacheEntry {
    pub(crate) key: Arc<CacheKey<'static>>,
    pub(crate) version: u64,
    pub(crate) value: CachedValue,
    /// The children, indexed by the next two bits of the hash.
    next: [Link; 4],
}

/// The number added to a version during a trial: larger than any number of edits.
pub(crate) const TRIAL: u64 = 1 << 48;

/// Returns the number of nested trials of a version.
pub(crate) fn depth(version: u64) -> u64 {
    version / TRIAL
}

impl CacheEntry {
    #[inline]
    fn is(&self, key: &CacheKey<'_>) -> bool {
        self.key.owner == key.owner && self.key.stamp == key.stamp && self.key.name == key.name
    }
}

/// The path to a key: each step consumes two bits of the hash.
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
    /// Returns the value cached under a key for a version.
    #[inline]
    pub(crate) fn find(&self, key: &CacheKey<'_>, version: u64) -> Option<&CachedValue> {
        let mut slot = &self.root;
        // With a single cached value, the key needs no hash.
        let mut path = None;
        while let Some(entry) = slot.get() {
            if entry.version == version && entry.is(key) {
                return Some(&entry.value);
            }
            let path: &mut Path = path.get_or_insert_with(|| Path::to(key));
            slot = &entry.next[path.step()];
        }
        None
    }

    /// Returns the entry of a key for any version of a trial depth.
    pub(crate) fn find_mut(&mut self, key: &CacheKey<'_>, of: u64) -> Option<&mut CacheEntry> {
        let mut slot = &mut self.root;
        let mut path = Path::to(key);
        while let Some(entry) = slot.get_mut() {
            if depth(entry.version) == of && entry.is(key) {
                return Some(entry);
            }
            slot = &mut entry.next[path.step()];
        }
        None
    }

    /// Adds an entry and returns its value, or returns the existing one for the same key and version.
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
        let mut slot = &self.root;
        loop {
            let existing = match slot.get() {
                Some(existing) => existing,
                None => match slot.set(entry) {
                    Ok(()) => match slot.get() {
                        Some(existing) => {
                            self.len.fetch_add(1, Ordering::Relaxed);
                            return &existing.value;
                        }
                        None => unreachable!("it was set just now"),
                    },
                    // Another thread set the link first.
                    Err(back) => {
                        entry = back;
                        continue;
                    }
                },
            };
            if existing.version == entry.version && existing.is(&entry.key) {
                return &existing.value;
            }
            slot = &existing.next[path.step()];
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

    /// Removes and returns all entries, without recursion.
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
