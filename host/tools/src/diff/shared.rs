//! Symbols and types of two modules as numbers that can be compared.

use passdock_abi::{SymbolId, TypeId};
use passdock_ir::{Function, Symbols, text};
use rustc_hash::FxHashMap;

/// A symbol that only the second module has, beside the first one's.
const ONLY_B: u32 = 1 << 31;
const UNSET: u32 = u32::MAX - 1;

/// Numbers of symbols: equal numbers are equal texts.
pub(super) struct SharedSymbols<'m> {
    a: &'m Symbols,
    b: &'m Symbols,
    /// The numbers of the second module's, as far as they are known; `None`: the modules share them.
    of_b: Option<Vec<u32>>,
}

impl<'m> SharedSymbols<'m> {
    pub(super) fn new(a: &'m Symbols, b: &'m Symbols) -> SharedSymbols<'m> {
        let of_b = (!std::ptr::eq(a, b)).then(|| vec![UNSET; b.len()]);
        SharedSymbols { a, b, of_b }
    }

    /// The number of a symbol of the first module (0) or the second (1); that of NONE is [`super::NONE`].
    pub(super) fn of(&mut self, side: usize, id: SymbolId) -> u32 {
        let Some(of_b) = self.of_b.as_mut().filter(|_| side == 1 && id.is_some()) else {
            return id.0;
        };
        let Some(known) = of_b.get_mut(id.index()) else {
            return id.0 | ONLY_B;
        };
        if *known == UNSET {
            let found = self.a.find(self.b.text(id));
            *known = found.map_or(id.0 | ONLY_B, |id| id.0);
        }
        *known
    }
}

/// Numbers of the types of two functions: equal numbers are equal texts.
pub(super) struct SharedTypes {
    numbers: FxHashMap<String, u32>,
    of: [Vec<u32>; 2],
}

impl SharedTypes {
    pub(super) fn new() -> SharedTypes {
        SharedTypes {
            // A type that isn't known says no more than no type.
            numbers: FxHashMap::from_iter([("?".to_owned(), super::NONE)]),
            of: Default::default(),
        }
    }

    pub(super) fn of(&mut self, side: usize, f: &Function, id: TypeId) -> u32 {
        if id.is_none() {
            return super::NONE;
        }
        let known = &mut self.of[side];
        if known.len() <= id.index() {
            known.resize(id.index() + 1, UNSET);
        }
        if known[id.index()] == UNSET {
            let next = self.numbers.len() as u32;
            let number = self.numbers.entry(text::type_text(f, id)).or_insert(next);
            known[id.index()] = *number;
        }
        known[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use passdock_driver::model_file::parse_text;

    use super::*;

    #[test]
    fn no_type_is_one_that_is_not_known() {
        let text = "module { fn @main(%x: ?) -> (%y: f32) { return %x } }";
        let module = parse_text("a.ir", text).unwrap();
        let f = module.function_named("main").unwrap();
        let x = f.args(f.body()).next().unwrap();
        let (unknown, y) = (f.value(x).ty, f.ports(f.body())[0].ty);
        let mut types = SharedTypes::new();
        let none = types.of(0, f, TypeId::NONE);
        assert!(unknown.is_some() && types.of(1, f, unknown) == none);
        assert_ne!(types.of(1, f, y), none);
    }
}
