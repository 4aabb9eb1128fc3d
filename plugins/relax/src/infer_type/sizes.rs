//! Data-dependent sizes, such as the number of nonzero elements. Each gets a fresh symbol (`_1`, `_2`, …), so that
//! derived values have provably equal sizes.
//!
//! A symbol represents one size during the lifetime of its value. A symbol that is created in a region has another
//! value in each iteration, so it doesn't leave the region. Any more precise information replaces a symbol. Therefore,
//! symbols are removed before an op is inferred again, and restored if the size is still unknown.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{CallGraph, DimKind, Type};

use super::portable_type::{PortableDim, PortableType};
use crate::shared::retype::retype;

/// A supply of symbols that no function has.
pub(crate) struct Fresh {
    last: u64,
}

/// The symbols of a function, by scope.
pub(crate) struct Symbols {
    /// The symbols in the types of the function's parameters and results.
    interface: HashSet<SymbolId>,
    /// The symbols that were created or restored in regions that haven't been completed.
    inside: Vec<i64>,
}

/// A type from which symbols were removed.
pub(crate) struct RemovedSymbols {
    value: ValueId,
    ty: TypeId,
    portable: PortableType,
}

impl Fresh {
    /// Scans the types of all functions for invented symbols.
    pub(crate) fn new(m: &Module<'_>, graph: &CallGraph) -> Result<Fresh, EditError> {
        let mut last = 0;
        for one in graph.functions() {
            let f = m.snapshot(one.name)?;
            let mut seen = HashSet::new();
            let mut see = |ty: TypeId| {
                if seen.insert(ty) {
                    let symbols = f.ty(ty).symbols().into_iter();
                    last = symbols
                        .filter_map(|symbol| f.invented(symbol))
                        .fold(last, u64::max);
                }
            };
            f.params().iter().for_each(|&param| see(f.type_id(param)));
            f.ports(f.body()).for_each(|port| see(port.ty));
            for op in f.ops() {
                f.results(op)
                    .iter()
                    .for_each(|&value| see(f.type_id(value)));
                for &region in f.regions(op) {
                    f.args(region).iter().for_each(|&arg| see(f.type_id(arg)));
                    f.ports(region).for_each(|port| see(port.ty));
                }
            }
        }
        Ok(Fresh { last })
    }

    fn symbol(&mut self, f: &Function) -> Result<i64, EditError> {
        self.last += 1;
        Ok(i64::from(f.intern(&format!("_{}", self.last))?.0))
    }
}

impl Symbols {
    pub(crate) fn new(f: &Function) -> Symbols {
        let params = f.params().iter().map(|&param| f.type_id(param));
        let types = params.chain(f.ports(f.body()).map(|port| port.ty));
        Symbols {
            interface: types.flat_map(|ty| f.ty(ty).symbols()).collect(),
            inside: Vec::new(),
        }
    }

    /// Returns a mark of the current position, before the regions of an op.
    pub(crate) fn mark(&self) -> usize {
        self.inside.len()
    }

    /// Returns the symbols that were created since the mark. They have no meaning outside the regions.
    pub(crate) fn since(&mut self, mark: usize) -> HashSet<i64> {
        self.inside.drain(mark..).collect()
    }

    /// Removes the symbols that more precise information would replace from the types of values. Returns the original
    /// types.
    pub(crate) fn forget(
        &self,
        f: &mut Function,
        values: &[ValueId],
    ) -> Result<Vec<RemovedSymbols>, EditError> {
        let mut kept = Vec::new();
        for &value in values {
            let mut symbols = f.type_of(value).symbols();
            symbols.retain(|symbol| !self.interface.contains(symbol));
            if symbols.is_empty() || !is_yielded(f, value) {
                symbols.retain(|&symbol| f.invented(symbol).is_some());
            }
            if symbols.is_empty() {
                continue;
            }
            let (ty, portable) = (f.type_id(value), PortableType::from_value(f, value));
            let is_weak = |symbol: i64| symbols.iter().any(|weak| i64::from(weak.0) == symbol);
            portable.without(&is_weak).assign(f, value)?;
            kept.push(RemovedSymbols {
                value,
                ty,
                portable,
            });
        }
        Ok(kept)
    }

    /// Sets each unknown size to a symbol: the previous one, or a new one. Sizes that mention symbols in `inner`, which
    /// are local to regions, count as unknown.
    pub(crate) fn name(
        &mut self,
        f: &mut Function,
        fresh: &mut Fresh,
        values: &[ValueId],
        kept: &[RemovedSymbols],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        let is_inner = |symbol: i64| inner.contains(&symbol);
        // In the order of `values`.
        let mut kept = kept.iter().peekable();
        for &value in values {
            let old = kept.next_if(|old| old.value == value);
            if old.is_none() && inner.is_empty() && is_declared(f.type_of(value)) {
                continue;
            }
            let found = PortableType::from_value(f, value);
            let mut named = found.without(&is_inner);
            if let PortableType::Tensor(_, Some(sizes)) = &mut named {
                let known = match old.map(|old| &old.portable) {
                    Some(PortableType::Tensor(_, Some(known))) if known.len() == sizes.len() => {
                        &known[..]
                    }
                    _ => &[],
                };
                for (at, size) in sizes.iter_mut().enumerate() {
                    if *size != PortableDim::Unknown {
                        continue;
                    }
                    let had = known
                        .get(at)
                        .filter(|known| **known != PortableDim::Unknown);
                    *size = match had.filter(|had| !had.mentions(&is_inner)) {
                        Some(had) => had.clone(),
                        None => PortableDim::Symbol(fresh.symbol(f)?),
                    };
                    self.note(f, value, size);
                }
            }
            match old {
                // The original id preserves information that a `PortableType` doesn't have.
                Some(old) if old.portable == named => retype(f, value, old.ty)?,
                _ if named == found => {}
                _ if found.without(&is_inner) == found => {
                    let ty = named.write(f)?;
                    f.set_type(value, ty)?;
                }
                _ => named.assign(f, value)?,
            }
        }
        Ok(())
    }

    fn note(&mut self, f: &Function, value: ValueId, size: &PortableDim) {
        if region_of(f, value).is_some_and(|region| region != f.body()) {
            self.inside.extend(size.symbols());
        }
    }
}

/// Whether each size of a tensor is a number or a symbol.
fn is_declared(ty: Type<'_>) -> bool {
    let mut sizes = ty.dims().into_iter().flatten();
    let is_declared = |size: Dim| matches!(size.kind, DimKind::CONST | DimKind::SYMBOL);
    ty.dims().is_some() && sizes.all(is_declared)
}

fn region_of(f: &Function, value: ValueId) -> Option<RegionId> {
    Some(f.parent_region(f.defining_op(value)?))
}

/// Whether a nested region yields a value: its type may use symbols that the region declares.
fn is_yielded(f: &Function, value: ValueId) -> bool {
    let Some(region) = region_of(f, value).filter(|&region| region != f.body()) else {
        return false;
    };
    f.iter_uses(value)
        .any(|used| f.terminator(region) == Some(used.op))
}
