//! The state of the printer of one function.

use passdock_abi::{OpId, RegionId, SymbolId};
use rustc_hash::FxHashMap;

use super::brief;
use super::names::ValueNames;
use super::options::PrintOptions;
use super::out::Out;
use crate::function::Function;

/// The printer of one function.
pub(super) struct Printer<'p, 'w> {
    pub(super) f: &'p Function,
    pub(super) options: &'p PrintOptions<'p>,
    pub(super) out: &'p mut Out<'w>,
    pub(super) names: &'p ValueNames,
    /// The regions of the op whose attributes were written last.
    pub(super) regions: OpRegions,
    /// Whether to write ops without locations and importer's data.
    pub(super) bare: bool,
    /// The indentation level, two spaces each.
    pub(super) level: usize,
}

impl<'p, 'w> Printer<'p, 'w> {
    /// Creates a printer without indentation.
    pub(super) fn new(
        f: &'p Function,
        options: &'p PrintOptions<'p>,
        out: &'p mut Out<'w>,
        names: &'p ValueNames,
    ) -> Printer<'p, 'w> {
        Printer {
            f,
            options,
            out,
            names,
            regions: OpRegions::default(),
            bare: false,
            level: 0,
        }
    }
}

impl Printer<'_, '_> {
    /// Writes text.
    pub(super) fn push(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    /// Writes items with commas between them.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        for (at, item) in items.into_iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            let start = self.out.text.len();
            write(self, item);
            self.wrap(start);
        }
    }

    /// Moves the text from `start` on to a new line, if its line is too long for brief text.
    pub(super) fn wrap(&mut self, start: usize) {
        if self.options.brief {
            brief::wrap(&mut self.out.text, start, self.level + 2);
        }
    }
}

/// The regions of an op.
#[derive(Default)]
pub(super) struct OpRegions {
    pub(super) op: Option<OpId>,
    pub(super) indices: FxHashMap<RegionId, usize>,
    /// The number of regions with each name.
    pub(super) named: FxHashMap<SymbolId, usize>,
}
