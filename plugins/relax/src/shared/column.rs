//! [`Column`]: a dense map from ids to entries, which avoids the cache misses of a hash map.

use passdock_plugin_api::prelude::*;

/// An entry per op or value, by index. Unset entries have the default.
#[derive(Clone)]
pub(crate) struct Column<T> {
    entries: Vec<T>,
    default: T,
}

impl<T: Copy> Column<T> {
    pub(crate) fn new(default: T) -> Column<T> {
        Column {
            entries: Vec::new(),
            default,
        }
    }

    pub(crate) fn get(&self, index: usize) -> T {
        self.entries.get(index).copied().unwrap_or(self.default)
    }

    pub(crate) fn set(&mut self, index: usize, entry: T) {
        if self.entries.len() <= index {
            self.entries.resize(index + 1, self.default);
        }
        self.entries[index] = entry;
    }
}

/// Returns the live ops: those with effects, terminators, and ops that these depend on.
pub(crate) fn live_ops(f: &Function) -> Result<Column<bool>, EditError> {
    let effects = f.effects()?;
    let mut live = Column::new(false);
    // In reverse program order, users are visited before their operands' definitions.
    for op in f.walk(f.body()).rev() {
        let mut uses = f.results(op).iter().flat_map(|&value| f.iter_uses(value));
        let is_live = f.is_terminator(op)
            || !effects.is_pure(op)
            || uses.any(|used| live.get(used.op.index()));
        live.set(op.index(), is_live);
    }
    Ok(live)
}
