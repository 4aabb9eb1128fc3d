//! Tracks the owners of a pass: whether Python's garbage collector can see all of them.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use passdock::{Pass, PassRef};

/// The maximum depth of nested Sequentials that are searched; cycles through deeper ones aren't collected.
const MAX_LEVELS: u32 = 16;

/// The Python Sequentials that hold a pass, with multiplicity.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<Vec<Hold>>>);

/// A Sequential that holds a pass.
struct Hold {
    pass: Weak<dyn Pass>,
    /// Alive as long as the Sequential's Python object, whose list references the objects of its passes.
    object: Weak<()>,
    holds: Holds,
}

impl Holds {
    /// Adds a Sequential to the owners of the pass.
    pub(crate) fn add(&self, pass: &PassRef, object: &Arc<()>, holds: &Holds) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Only when the vector is full, so that the cost is amortized.
        if all.len() == all.capacity() {
            all.retain(|hold| hold.pass.strong_count() > 0);
        }
        all.push(Hold {
            pass: Arc::downgrade(pass),
            object: Arc::downgrade(object),
            holds: holds.clone(),
        });
    }

    /// Whether all `count` references to a pass come from its own object and from Sequentials, to which the same
    /// applies. Returns `false` if the registry or a run holds the pass, too.
    pub(crate) fn are_all(&self, count: usize) -> bool {
        self.are_all_within(count, MAX_LEVELS)
    }

    fn are_all_within(&self, count: usize, levels: u32) -> bool {
        let Ok(all) = self.0.try_lock() else {
            return false;
        };
        let mut alive = all.iter().filter(|hold| hold.pass.strong_count() > 0);
        alive.clone().count() + 1 == count
            && alive.all(|hold| {
                let (count, is_there) = (hold.pass.strong_count(), hold.object.strong_count() > 0);
                is_there && levels > 0 && hold.holds.are_all_within(count, levels - 1)
            })
    }
}
