//! Printing ops.

use passdock_abi::{AttrKind, DType, FunctionKind, Op, OpId, RegionId, TypeId, TypeKind, symbol};

use super::super::syntax::{LOOP_KINDS, RESERVED};
use super::printer::Printer;
use crate::function::origin::Entity;
use crate::pool::slice;
use crate::quote::{is_hidden, write_quoted};
use crate::symbols::is_terminator;

impl<'p> Printer<'p, '_> {
    pub(super) fn op(&mut self, op: OpId) {
        let f = self.f;
        let record = f.op(op);
        if self.is_implied(op, record) {
            return;
        }
        self.indent();
        if self.is_short_loop(op) {
            self.short_loop(op, record);
        } else if is_terminator(record.name) {
            self.push(f.text(record.name));
            let operands = f.operands(op);
            self.push(if operands.is_empty() { "" } else { " " });
            self.list(operands, |p, slot| p.use_of(slot.value));
            self.op_clauses(op, record);
        } else {
            self.plain_op(op, record);
        }
        self.out.text.push('\n');
    }

    fn plain_op(&mut self, op: OpId, record: &Op) {
        let f = self.f;
        let mut all_unknown = true;
        self.list(f.results(op), |p, result| {
            let value = f.value(result);
            all_unknown &= value.ty == TypeId(0) && !p.is_declared(value);
            match f.is_present(result) {
                true => p.names.write(&mut p.out.text, f, result),
                false => p.push("_"),
            }
            p.extras(Entity::Value(result));
        });
        if record.results.len > 0 {
            self.push(" = ");
        }
        self.op_name(f.text(record.name));
        self.push("(");
        self.list(f.operands(op), |p, slot| p.use_of(slot.value));
        self.push(")");
        self.attrs(op, f.attrs(op));
        if record.results.len > 0 && !all_unknown {
            self.push(" : ");
            self.list(f.results(op), |p, result| p.value_type(f.value(result)));
        }
        self.op_clauses(op, record);
    }

    fn op_clauses(&mut self, op: OpId, record: &Op) {
        if self.bare {
            return;
        }
        self.loc(record.loc);
        self.line_extras(Entity::Op(op));
    }

    /// Writes the name of an op or function so that it parses to the same symbol.
    pub(super) fn op_name(&mut self, text: &str) {
        if is_canonical(text) {
            self.push(text);
        } else {
            self.out.clause("symbol", |out| out.quoted(text));
        }
    }

    /// Whether a terminator is implicit: a prim function's terminator without operands isn't written.
    fn is_implied(&self, op: OpId, record: &Op) -> bool {
        is_terminator(record.name)
            && self.f.kind() == FunctionKind::PRIM
            && record.operands.len == 0
            && record.attrs.len == 0
            && !self.shows_loc(record.loc)
            && self.printed_extras(Entity::Op(op)).is_none()
    }

    /// Whether the short form `for %i in 0..n unroll { … }` represents all of a loop.
    pub(super) fn is_short_loop(&self, op: OpId) -> bool {
        let f = self.f;
        let record = f.op(op);
        if record.name != symbol::FOR || record.results.len != 0 {
            return false;
        }
        let operands = f.operands(op);
        let bounds = matches!(operands.len(), 2 | 3) && operands.iter().all(|o| o.value.is_some());
        let mut regions = f.regions_of(op);
        let (Some(body), None) = (regions.next(), regions.next()) else {
            return false;
        };
        bounds && self.is_short_body(body) && self.loop_attrs(op).is_some()
    }

    fn is_short_body(&self, body: RegionId) -> bool {
        let f = self.f;
        let record = f.region(body);
        let named = record.name.is_some() && f.text(record.name) == "body";
        let mut args = f.args(body);
        let (Some(arg), None) = (args.next(), args.next()) else {
            return false;
        };
        let arg_is_plain =
            f.value(arg).constant.is_none() && self.printed_extras(Entity::Value(arg)).is_none();
        let ended = f
            .terminator(body)
            .is_some_and(|op| f.op(op).operands.len == 0);
        named
            && arg_is_plain
            && ended
            && record.ports.len == 0
            && !self.shows_loc(record.loc)
            && self.printed_extras(Entity::Region(body)).is_none()
    }

    /// Returns the kind and the tag of a loop; `None` if it has other attributes.
    fn loop_attrs(&self, op: OpId) -> Option<(Option<&'p str>, Option<&'p [u8]>)> {
        let f = self.f;
        let (mut kind, mut tag) = (None, None);
        for (at, attr) in f.attrs(op).iter().enumerate() {
            let bytes = f.bytes_in(attr.list);
            match (f.text(attr.name), attr.kind, at) {
                ("kind", AttrKind::STRING, 0) => {
                    let known = |ident: &&&str| ident.as_bytes() == bytes;
                    kind = Some(*LOOP_KINDS.iter().find(known)?);
                }
                ("tag", AttrKind::STRING, 0 | 1) => tag = Some(bytes),
                _ => return None,
            }
        }
        Some((kind, tag))
    }

    fn short_loop(&mut self, op: OpId, record: &Op) {
        let f = self.f;
        let operands = slice(&f.uses, record.operands);
        let body = f.regions_of(op).next().unwrap_or(RegionId::NONE);
        self.push("for ");
        if let Some(arg) = f.args(body).next() {
            self.names.write(&mut self.out.text, f, arg);
            let value = f.value(arg);
            let ty = f.live_type(value.ty);
            let index = ty.is_ok_and(|ty| {
                ty.kind == TypeKind::SCALAR && ty.dtype == DType::INDEX && ty.lanes <= 1
            });
            if !index || self.is_declared(value) {
                self.push(": ");
                self.value_type(value);
            }
        }
        self.push(" in ");
        for (at, slot) in operands.iter().enumerate() {
            self.push(["", "..", " step "][at.min(2)]);
            self.use_of(slot.value);
        }
        let (kind, tag) = self.loop_attrs(op).unwrap_or_default();
        if let Some(kind) = kind {
            self.push(" ");
            self.push(kind);
        }
        if let Some(tag) = tag {
            self.out
                .clause(" tag", |out| write_quoted(&mut out.text, tag));
        }
        self.loc(record.loc);
        self.extras(Entity::Op(op));
        self.push(" {");
    }
}

/// Whether a name parses to the same symbol.
fn is_canonical(text: &str) -> bool {
    // Quoted parts of a canonical name have no escapes.
    let is_hidden = || text.contains('"') && text.chars().any(is_hidden);
    !RESERVED.contains(&text) && crate::name::is_canonical(text) && !is_hidden()
}
