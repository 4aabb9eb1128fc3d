//! Interning while plugins read a function: pools grow without invalidating pointers.

use passdock_abi::{Dim, DimExpr, Type};

use crate::function::Function;

/// Pools that were replaced by larger ones; keep them as long as they may be read.
#[derive(Default)]
pub struct ReplacedPools {
    _types: Vec<Type>,
    _dims: Vec<Dim>,
    _ids: Vec<u32>,
    _exprs: Vec<DimExpr>,
}

impl Function {
    /// Reserves space for interning a type of at most `parts` dims and types, so that interning it moves no pool. Pools
    /// that are too small move now; the old ones are returned and have to be kept as long as they may be read. `None`
    /// if no pool moved.
    pub fn reserve_type(&mut self, parts: usize) -> Option<ReplacedPools> {
        let mut moved = false;
        let replaced = ReplacedPools {
            _types: grow(&mut self.types, 1, &mut moved),
            _dims: grow(&mut self.dims, parts, &mut moved),
            _ids: grow(&mut self.ids, parts, &mut moved),
            _exprs: Vec::new(),
        };
        moved.then_some(replaced)
    }

    /// Reserves space like [`Function::reserve_type`], for at most `count` dim expressions.
    pub fn reserve_exprs(&mut self, count: usize) -> Option<ReplacedPools> {
        let mut moved = false;
        let replaced = ReplacedPools {
            _exprs: grow(&mut self.exprs, count, &mut moved),
            ..ReplacedPools::default()
        };
        moved.then_some(replaced)
    }
}

/// Moves a pool that is too small to an allocation of at least twice the size; returns the old one.
fn grow<T: Copy>(pool: &mut Vec<T>, parts: usize, moved: &mut bool) -> Vec<T> {
    if pool.capacity() - pool.len() >= parts {
        return Vec::new();
    }
    *moved = true;
    let needed = pool.len().saturating_add(parts).max(2 * pool.capacity());
    let mut larger = Vec::with_capacity(needed);
    larger.extend_from_slice(pool);
    std::mem::replace(pool, larger)
}

#[cfg(test)]
mod tests {
    use passdock_abi::{DType, Dim, FunctionKind, SymbolId};

    use crate::{Function, Symbols, TypeData};

    /// A reader's slices keep their addresses and contents while types are added.
    #[test]
    fn interning_after_reserve_does_not_reallocate() {
        let mut f = Function::new(Symbols::new(), FunctionKind::GRAPH, SymbolId(0));
        let mut replaced = Vec::new();
        for size in 0..1000 {
            replaced.extend(f.reserve_type(2));
            let before = f.view();
            let dims = [Dim::constant(size), Dim::constant(2)];
            f.add_type(TypeData::Tensor(DType::F32, Some(&dims)));
            let after = f.view();
            assert_eq!(before.types.base, after.types.base);
            assert_eq!(before.dims.base, after.dims.base);
        }
        // Capacities double, so many types cause few moves.
        assert!(replaced.len() < 30, "{}", replaced.len());
    }
}
