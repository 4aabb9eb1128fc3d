//! The memory use of a function.

use crate::function::Function;

impl Function {
    /// Returns the size in bytes of the arenas, including spare capacity. Shared data isn't counted: the bytes of
    /// constants, and symbols.
    pub fn arena_bytes(&self) -> u64 {
        fn of<T>(arena: &Vec<T>) -> u64 {
            (arena.capacity() * size_of::<T>()) as u64
        }
        size_of::<Function>() as u64
            + of(&self.ops)
            + of(&self.values)
            + of(&self.uses)
            + of(&self.regions)
            + of(&self.ports)
            + of(&self.attrs)
            + of(&self.types)
            + of(&self.dims)
            + of(&self.exprs)
            + of(&self.expr_terms)
            + of(&self.constants)
            + of(&self.locs)
            + of(&self.opsets)
            + of(&self.ids)
            + of(&self.pools.ints)
            + of(&self.pools.floats)
            + of(&self.pools.strings)
            + of(&self.pools.bytes)
            + of(&self.data)
            + self.origins.spans.iter().map(of).sum::<u64>()
    }
}
