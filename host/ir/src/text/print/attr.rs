//! Printing attributes.

use std::fmt::Write;

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, SymbolId, TypeId};

use super::super::syntax::element::write_f32;
use super::super::syntax::{ATTR_KINDS, write_list, write_number};
use super::brief;
use super::printer::{OpRegions, Printer};
use crate::function::Function;
use crate::quote::{write_name, write_quoted};

impl Printer<'_, '_> {
    /// Writes ` {a = 1, b = 2}`, or nothing if there are no attributes.
    pub(super) fn attrs(&mut self, op: OpId, attrs: &[Attr]) {
        if attrs.is_empty() {
            return;
        }
        self.push(" {");
        self.list(attrs, |p, attr| p.attr(op, attr));
        self.push("}");
    }

    fn attr(&mut self, op: OpId, attr: &Attr) {
        if attr.flags & Attr::PARAM != 0 {
            self.push("param ");
        }
        write_name(&mut self.out.text, self.f.text(attr.name));
        if attr.kind != AttrKind::NONE {
            self.push(" = ");
            self.attr_value(op, attr);
        }
    }

    pub(super) fn attr_value(&mut self, op: OpId, attr: &Attr) {
        let f = self.f;
        let start = self.out.text.len();
        let between = if self.options.brief { "," } else { ", " };
        if write_plain(&mut self.out.text, f, attr, between) {
            if self.options.brief {
                brief::cut(&mut self.out.text, start);
            }
            return;
        }
        let id = attr.bits as u32;
        match attr.kind {
            AttrKind::TENSOR => self.attr_tensor(ConstId(id)),
            AttrKind::TYPE => self.attr_type(TypeId(id)),
            AttrKind::REGION => {
                self.find_regions(op);
                let name = f.live_region(RegionId(id)).map(|region| region.name);
                let named = name == Ok(attr.name) && self.regions.named.get(&attr.name) == Some(&1);
                if named {
                    self.push("region");
                } else {
                    self.attr_region(op, RegionId(id));
                }
            }
            AttrKind::TENSORS => self.typed("tensors", f.ids_in(attr.list), |p, &id| {
                p.attr_tensor(ConstId(id));
            }),
            AttrKind::TYPES => self.typed("types", f.ids_in(attr.list), |p, &id| {
                p.attr_type(TypeId(id));
            }),
            AttrKind::REGIONS => self.typed("regions", f.ids_in(attr.list), |p, &id| {
                p.attr_region(op, RegionId(id));
            }),
            AttrKind::REFERENCE => {
                let kind = ATTR_KINDS.iter().find(|(kind, _)| *kind == attr.stands_for);
                let kind = kind.map_or("unknown", |(_, name)| name);
                self.push("ref(");
                write_name(&mut self.out.text, f.text(SymbolId(id)));
                self.push(", ");
                self.push(kind);
                self.push(")");
            }
            AttrKind::OPAQUE => {
                self.out
                    .clause("opaque", |out| out.hex(f.bytes_in(attr.list)));
            }
            // Writing to a string can't fail, here and below.
            kind => _ = write!(self.out.text, "unknown({})", kind.0),
        }
    }

    /// Writes a list; an empty list is prefixed with the kind of its items.
    fn typed<T>(&mut self, what: &str, items: &[T], write: impl FnMut(&mut Self, &T)) {
        begin_list(&mut self.out.text, what, items.len());
        self.list(items, write);
        self.push("]");
    }

    fn attr_tensor(&mut self, id: ConstId) {
        self.push("tensor ");
        self.tensor(id, false);
        self.constant_clauses(id);
    }

    fn attr_type(&mut self, id: TypeId) {
        self.push("type ");
        self.ty(id);
    }

    /// Writes a region by its index among the op's regions.
    fn attr_region(&mut self, op: OpId, region: RegionId) {
        self.find_regions(op);
        match self.regions.indices.get(&region) {
            Some(number) => _ = write!(self.out.text, "region {number}"),
            None => self.push("region ?"),
        }
    }

    /// Indexes an op's regions once for all attributes that refer to them.
    fn find_regions(&mut self, op: OpId) {
        if op.is_none() || self.regions.op == Some(op) {
            return;
        }
        let mut regions = OpRegions {
            op: Some(op),
            ..OpRegions::default()
        };
        for (number, region) in self.f.regions_of(op).enumerate() {
            regions.indices.insert(region, number);
            *regions.named.entry(self.f.region(region).name).or_insert(0) += 1;
        }
        self.regions = regions;
    }
}

/// Returns the value of an attribute as text, if it doesn't refer to the function: a number, a string, or a list of
/// either. [`set_attr_text`](crate::text::set_attr_text) parses it.
pub fn attr_text(f: &Function, attr: &Attr) -> Option<String> {
    let mut text = String::new();
    write_plain(&mut text, f, attr, ", ").then_some(text)
}

/// Writes a standalone value; returns `false` if the attribute isn't one.
fn write_plain(out: &mut String, f: &Function, attr: &Attr, between: &str) -> bool {
    match attr.kind {
        AttrKind::INT => write_number(out, attr.bits as i64),
        AttrKind::FLOAT => write_f32(out, f32::from_bits(attr.bits as u32)),
        AttrKind::STRING => write_quoted(out, f.bytes_in(attr.list)),
        AttrKind::INTS => {
            let ints = f.ints_in(attr.list).iter();
            plain_list(out, "ints", between, ints, |out, &value| {
                write_number(out, value);
            });
        }
        AttrKind::FLOATS => {
            let floats = f.floats_in(attr.list).iter();
            plain_list(out, "floats", between, floats, |out, &value| {
                write_f32(out, value)
            });
        }
        AttrKind::STRINGS => {
            let strings = f.strings_in(attr.list);
            plain_list(out, "strings", between, strings, write_quoted);
        }
        _ => return false,
    }
    true
}

fn plain_list<T>(
    out: &mut String,
    what: &str,
    between: &str,
    items: impl ExactSizeIterator<Item = T>,
    write: impl FnMut(&mut String, T),
) {
    begin_list(out, what, items.len());
    write_list(out, between, items, write);
    out.push(']');
}

/// Writes the start of a list; an empty list is prefixed with the kind of its items.
fn begin_list(out: &mut String, what: &str, len: usize) {
    if len == 0 {
        out.push_str(what);
    }
    out.push('[');
}
