//! [`Column`]: an entry for each id, as a map of a million ids would be a search in memory for each.

/// An entry for each op or value by its index; the default where none was set.
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
