//! Who holds a pass: whether all of them are objects that Python's collector sees.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use passdock::{Pass, PassRef};

/// The levels of Sequentials that are looked through; what stands deeper isn't collected.
const MAX_LEVELS: u32 = 16;

/// The Sequentials of Python that hold a pass, once for each time.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<Vec<Hold>>>);

/// A Sequential that holds a pass.
struct Hold {
    pass: Weak<dyn Pass>,
    /// That of the Sequential's own object, whose list has the objects of its passes.
    object: Weak<()>,
    holds: Holds,
}

impl Holds {
    /// Counts a Sequential among those that hold the pass.
    pub(crate) fn add(&self, pass: &PassRef, object: &Arc<()>, holds: &Holds) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Where there is no room for more, so that each is looked at a few times in all.
        if all.len() == all.capacity() {
            all.retain(|hold| hold.pass.strong_count() > 0);
        }
        all.push(Hold {
            pass: Arc::downgrade(pass),
            object: Arc::downgrade(object),
            holds: holds.clone(),
        });
    }

    /// Whether a pass that so many hold is held by its own object and by Sequentials alone of which the same is true:
    /// and not by the registry, or a run.
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
