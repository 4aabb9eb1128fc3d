//! Printing functions and regions: headers, indentation, clauses.

use std::fmt::Write;

use passdock_abi::{
    ConstId, Constant, FunctionKind, LocId, LocKind, OpId, RegionId, TypeId, Value, ValueId,
};

use super::super::syntax::RESERVED;
use super::super::syntax::types::write_type;
use super::printer::Printer;
use crate::function::origin::{Entity, Extras};
use crate::function::walk::{Event, Events};
use crate::quote::write_name;

/// The maximum indentation level; without it, the size of the text would be quadratic in the depth.
pub(super) const MAX_INDENT: usize = 32;

impl<'p> Printer<'p, '_> {
    pub(super) fn function(&mut self) {
        for event in Events::new(self.f, self.f.body()) {
            match event {
                Event::Enter(region) => {
                    if region == self.f.body() {
                        self.header();
                    } else {
                        self.region_header(region);
                    }
                    self.level += 1;
                    for &(_, id) in self.names.top(region) {
                        self.constant(id);
                    }
                }
                Event::Op(op) => {
                    for &id in self.names.before(op) {
                        self.constant(id);
                    }
                    self.op(op);
                    self.level += self.region_indent(op);
                }
                Event::Leave => {
                    self.level -= 1;
                    self.indent();
                    self.push("}\n");
                }
                Event::After(op) => self.level -= self.region_indent(op),
            }
            self.out.flush_if_full();
        }
    }

    /// Returns the extra indentation of an op's regions: one level, except for a loop in short form, whose op is the
    /// header.
    fn region_indent(&self, op: OpId) -> usize {
        let nested = self.f.op(op).regions.len > 0;
        usize::from(nested && !self.is_short_loop(op))
    }

    pub(super) fn indent(&mut self) {
        for _ in 0..self.level.min(MAX_INDENT) {
            self.push("  ");
        }
    }

    fn header(&mut self) {
        let f = self.f;
        let body = f.body();
        self.indent();
        let prim = f.kind() == FunctionKind::PRIM;
        self.push(if prim { "prim @" } else { "fn @" });
        self.op_name(f.text(f.name()));
        self.args(body);
        self.ports(body);
        if !f.opsets().is_empty() {
            self.push(" opset(");
            self.list(f.opsets(), |p, opset| {
                p.out.quoted(f.text(opset.domain));
                _ = write!(p.out.text, " = {}", opset.version);
            });
            self.push(")");
        }
        self.loc(f.region(body).loc);
        self.extras(Entity::Function);
        if !f.attrs(OpId::NONE).is_empty() {
            self.push(" attributes");
            self.attrs(OpId::NONE, f.attrs(OpId::NONE));
        }
        self.push(" {\n");
    }

    fn region_header(&mut self, region: RegionId) {
        let record = *self.f.region(region);
        let parent = record.parent;
        if parent.is_some() && self.is_short_loop(parent) {
            // The op's line is the region's header.
            return;
        }
        self.indent();
        self.push("region");
        if record.name.is_some() {
            self.push(" ");
            let name = self.f.text(record.name);
            if RESERVED.contains(&name) {
                self.out.quoted(name);
            } else {
                write_name(&mut self.out.text, name);
            }
        }
        if record.args.len > 0 {
            self.args(region);
        }
        self.ports(region);
        self.loc(record.loc);
        self.extras(Entity::Region(region));
        self.push(" {\n");
    }

    fn args(&mut self, region: RegionId) {
        self.push("(");
        let f = self.f;
        self.list(f.args(region), |p, arg| {
            let record = f.value(arg);
            p.names.write(&mut p.out.text, f, arg);
            p.push(": ");
            p.value_type(record);
            p.extras(Entity::Value(arg));
            let default = record.constant;
            if default.is_some() {
                p.push(" = const ");
                p.tensor(default, false);
                p.constant_clauses(default);
            }
        });
        self.push(")");
    }

    /// Writes ` -> (%y: f32[n])`, or nothing if all ports are empty.
    fn ports(&mut self, region: RegionId) {
        let f = self.f;
        let ports = f.ports(region);
        let start = f.region(region).ports.start;
        let extra = |at: usize| Entity::Port(start + at as u32);
        let silent = |at: usize| {
            ports[at].name.is_none()
                && ports[at].ty.is_none()
                && self.printed_extras(extra(at)).is_none()
        };
        if (0..ports.len()).all(silent) {
            return;
        }
        self.push(" -> (");
        self.list(ports.iter().enumerate(), |p, (at, port)| {
            if port.name.is_some() {
                p.push("%");
                write_name(&mut p.out.text, f.text(port.name));
            } else {
                p.push("_");
            }
            if port.ty.is_some() {
                p.push(": ");
                p.ty(port.ty);
            }
            p.extras(extra(at));
        });
        self.push(")");
    }

    fn constant(&mut self, id: ConstId) {
        let f = self.f;
        let constant = f.constant(id);
        let value = constant.value;
        self.indent();
        self.names.write(&mut self.out.text, f, value);
        self.extras(Entity::Value(value));
        self.push(" = const ");
        self.tensor(id, self.is_declared(f.value(value)));
        if constant.flags & Constant::NODE != 0 && !self.options.brief {
            self.push(" node");
        }
        self.loc(constant.loc);
        self.line_extras(Entity::Constant(id));
        self.out.text.push('\n');
    }

    /// Writes the location and extras of a constant.
    pub(super) fn constant_clauses(&mut self, id: ConstId) {
        let loc = self.f.live_constant(id).map_or(LocId::NONE, |c| c.loc);
        self.loc(loc);
        self.extras(Entity::Constant(id));
    }

    /// Whether to print that the file declares a value's type.
    pub(super) fn is_declared(&self, value: &Value) -> bool {
        value.flags & Value::DECLARED != 0 && !self.options.brief
    }

    /// Writes a value's type, with `!` if the file declares it.
    pub(super) fn value_type(&mut self, value: &Value) {
        if self.is_declared(value) {
            self.push("!");
        }
        self.ty(value.ty);
    }

    pub(super) fn ty(&mut self, id: TypeId) {
        write_type(&mut self.out.text, self.f, id);
    }

    /// Writes ` loc("conv1")`, or ` loc("a", "b")` for a fused location; positions in texts aren't printed.
    pub(super) fn loc(&mut self, id: LocId) {
        if self.options.brief {
            return;
        }
        let f = self.f;
        let mut between = " loc(";
        for loc in f.single_locs(id).filter(|loc| loc.kind == LocKind::NAME) {
            self.push(between);
            between = ", ";
            self.out.quoted(f.text(loc.name));
        }
        if between == ", " {
            self.push(")");
        }
    }

    /// Whether any part of a location is printed.
    pub(super) fn shows_loc(&self, id: LocId) -> bool {
        let mut locs = self.f.single_locs(id);
        !self.options.brief && locs.any(|loc| loc.kind == LocKind::NAME)
    }

    /// Returns the extras of an entity, if they are printed.
    pub(super) fn printed_extras(&self, entity: Entity) -> Option<&'p Extras> {
        let f = self.f;
        let extras = f.origins().extras(entity).map(|extras| &**extras);
        extras.filter(|_| !self.options.brief)
    }

    /// Writes the extras of an entity.
    pub(super) fn extras(&mut self, entity: Entity) {
        if let Some(extras) = self.printed_extras(entity) {
            self.out.extras(extras);
        }
    }

    /// Writes the extras of the entity that the line defines; documentation and metadata may be long and go on a
    /// separate line.
    pub(super) fn line_extras(&mut self, entity: Entity) {
        let Some(extras) = self.printed_extras(entity) else {
            return;
        };
        self.out.extra(&extras.bytes);
        let is_empty = extras.metadata.as_ref().is_none_or(Vec::is_empty);
        if extras.doc.is_none() && is_empty {
            return;
        }
        self.out.text.push('\n');
        self.indent();
        self.push("   ");
        self.out.doc_and_meta(extras);
    }

    pub(super) fn use_of(&mut self, value: ValueId) {
        self.names.write_use(&mut self.out.text, self.f, value);
    }
}
