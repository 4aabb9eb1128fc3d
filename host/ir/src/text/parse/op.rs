//! Parsing statements: constants, ops, loops, terminators.

use passdock_abi::{
    Attr, AttrKind, DType, FunctionKind, Loc, LocId, LocKind, OpId, SymbolId, TypeId, Value,
    ValueId, symbol,
};

use super::super::syntax::LOOP_KINDS;
use super::super::syntax::error::{ParseError, count, line_number, nearest};
use super::super::syntax::lex::ValueName;
use super::function::spell;
use super::parser::{Owner, Parse, Parser, ResultName};
use super::scope::Key;
use crate::edit::{NewOp, NewPort};
use crate::function::MAX_LIST;
use crate::function::origin::Entity;
use crate::function::types::TypeData;
use crate::pool::{bare_attr, push_range};
use crate::quote::value_text;
use crate::symbols::is_terminator;

impl<'t> Parser<'t, '_> {
    pub(super) fn statement(&mut self) -> Parse<()> {
        if let Some(frame) = self.frames.last().filter(|frame| frame.ended) {
            let ident = self.f.text(self.f.terminator_name(frame.region));
            let message = format!("expected `}}` after `{ident}`, which ends the region");
            return self.fail_here(message);
        }
        let start = self.cur.here();
        let results = self.results()?;
        let after = self.cur.after_ident();
        let named = !matches!(after, b'.' | b'#' | b'(');
        match self.cur.peek_ident() {
            "const" if named && !results.is_empty() => self.constant(results, start),
            "return" | "yield" if named => self.terminator(results, start),
            "for" if after == b'%' => self.short_loop(results, start),
            _ => self.op(results, start),
        }
    }

    /// Parses `%a, _, %b =`, if it is next.
    fn results(&mut self) -> Parse<Vec<ResultName<'t>>> {
        let mut results = Vec::new();
        loop {
            let start = self.cur.here();
            // An op named `_` would be followed by `(`, `.` or `#`.
            let absent = self.cur.peek_ident() == "_"
                && !matches!(self.cur.after_ident(), b'(' | b'.' | b'#');
            let name = if absent {
                self.cur.ident();
                None
            } else if self.cur.peek() == b'%' {
                Some(self.cur.value_name()?)
            } else if results.is_empty() {
                return Ok(results);
            } else {
                return self.fail_here("expected another result (`%x` or `_`)");
            };
            // Most results are followed by punctuation, not by extras.
            let extras = match self.cur.peek() {
                b'=' | b',' => None,
                _ => self.extras()?,
            };
            results.push(ResultName {
                name,
                start,
                extras,
            });
            if !self.cur.eat(",") {
                self.cur.expect("=", "after the results of an op")?;
                return Ok(results);
            }
        }
    }

    /// Parses `%w = const f32[2] [1, 2]`.
    fn constant(&mut self, results: Vec<ResultName<'t>>, start: usize) -> Parse<()> {
        let [result] = <[_; 1]>::try_from(results).map_err(|_| {
            self.cur
                .error_since(start, "expected one result of `const`, found several")
        })?;
        let Some(name) = result.name else {
            return self.fail(start, "a constant must have a name or a number");
        };
        self.cur.ident();
        let declared = self.declared();
        let region = self.region();
        let id = self.tensor(region)?;
        let ty = self.f.constant(id).ty;
        let value = self.f.make_constant_value(id, ty);
        self.f.values[value.index()].flags |= declared;
        if let Some(extras) = result.extras {
            self.f.origins.set_extras(Entity::Value(value), extras);
        }
        self.constant_clauses(id)?;
        while self.cur.peek_ident() == "node" && !matches!(self.cur.after_ident(), b'(' | b'.') {
            self.cur.ident();
            self.await_anchor(id);
            self.constant_clauses(id)?;
        }
        self.define(name, value, result.start)?;
        self.check_inside(value, result.start)
    }

    /// Rejects a constant with a name that a nested region before it defines: constants are visible in their whole
    /// region.
    fn check_inside(&self, value: ValueId, start: usize) -> Parse<()> {
        let name = self.f.values[value.index()].name;
        // Nested regions have larger ids.
        let inside = self.scope.ended(name);
        let Some((_, position)) =
            inside.filter(|&(value, _)| self.f.region_of(value) > self.region())
        else {
            return Ok(());
        };
        let line = line_number(self.cur.text(), position);
        let message = format!(
            "`{}` is already defined in a nested region on line {line}",
            value_text(self.f.text(name))
        );
        let error = self.cur.error_at(start..start + self.width(start), message);
        Err(error
            .help("rename one of them; a constant is also visible in nested regions before it"))
    }

    /// Parses `return %a, %b`.
    fn terminator(&mut self, results: Vec<ResultName<'t>>, start: usize) -> Parse<()> {
        let ident = self.cur.ident();
        if !results.is_empty() {
            return self.fail(start, format!("`{ident}` has no results"));
        }
        let region = self.region();
        let expected = self.f.text(self.f.terminator_name(region));
        if ident != expected {
            let message =
                format!("expected `{expected}` at the end of the region, found `{ident}`");
            return self.fail(start, message);
        }
        let mut values = Vec::new();
        // Otherwise the end of the region or a clause is next.
        if self.starts_operand() {
            loop {
                values.push(self.operand()?);
                if !self.cur.eat(",") {
                    break;
                }
            }
        }
        let span = start..self.cur.end();
        let ports = self.frames.last_mut().and_then(|frame| frame.ports.take());
        let op = self.end_region(region, &values, ports, span)?;
        self.anchor(op);
        let loc = self.op_clauses(op)?;
        self.f.ops[op.index()].loc = loc;
        if let Some(frame) = self.frames.last_mut() {
            frame.ended = true;
        }
        Ok(())
    }

    fn starts_operand(&mut self) -> bool {
        match self.cur.peek() {
            b'%' | b'-' | b'0'..=b'9' => true,
            _ => matches!(self.cur.peek_ident(), "_" | "true" | "false"),
        }
    }

    fn op(&mut self, results: Vec<ResultName<'t>>, start: usize) -> Parse<()> {
        let at = self.cur.here();
        let name = self.cur.op_name("an op name")?;
        let name = self.intern(&name, at)?;
        if is_terminator(name) {
            return self.fail(at, "a terminator has no parentheses; write `return %x`");
        }
        let operands = self.operands()?;
        let (mut attrs, mut region_attrs) = (Vec::new(), Vec::new());
        if self.cur.eat("{") {
            attrs = self.attrs(&mut region_attrs)?;
        }
        let (types, declared) = self.result_types(&results)?;
        let op = self.insert(name, &operands, &types, start)?;
        self.f.ops[op.index()].attrs = push_range(&mut self.f.attrs, attrs);
        for at in declared {
            let value = self.f.ids[self.f.ops[op.index()].results.start as usize + at];
            self.f.values[value as usize].flags |= Value::DECLARED;
        }
        let loc = self.op_clauses(op)?;
        self.f.ops[op.index()].loc = self.loc_or_position(loc, start);
        let owner = Owner {
            op,
            regions: Vec::new(),
            results,
            region_attrs,
            short: false,
        };
        if self.cur.peek_ident() == "region" {
            self.open(owner)
        } else {
            self.finish(owner)
        }
    }

    fn operands(&mut self) -> Parse<Vec<ValueId>> {
        self.cur.expect("(", "before the operands")?;
        self.list(")", "between operands", |p, operands| {
            if operands.len() == MAX_LIST {
                return p.fail_here(format!("op has more than {MAX_LIST} operands"));
            }
            p.operand()
        })
    }

    /// Parses `%x`, `_`, or a literal in a prim function.
    fn operand(&mut self) -> Parse<ValueId> {
        match self.cur.peek() {
            b'%' => {
                let start = self.cur.here();
                let name = self.cur.value_name()?;
                let key = match &name {
                    ValueName::Number(number) => Some(Key::Number(*number)),
                    ValueName::Name(text) => self.symbols.find(text).map(Key::Name),
                };
                match key.and_then(|key| self.scope.get(key)) {
                    Some(value) => Ok(value),
                    None => Err(self.undefined(&name, start)),
                }
            }
            _ if self.cur.eat_keyword("_") => Ok(ValueId::NONE),
            _ if self.starts_operand() && self.f.kind() == FunctionKind::PRIM => self.literal(),
            _ => {
                let number = self.starts_operand();
                let error = self.cur.missing("an operand (`%x` or `_`)");
                Err(if number {
                    error.help("in a graph function, define a constant: `%c = const f32[] 2.0`")
                } else {
                    error
                })
            }
        }
    }

    /// Parses `: f32[2], !i64[]`, one type per result; returns the types and the indexes of the declared ones.
    fn result_types(&mut self, results: &[ResultName<'t>]) -> Parse<(Vec<TypeId>, Vec<usize>)> {
        if !self.cur.eat(":") {
            return Ok((vec![TypeId(0); results.len()], Vec::new()));
        }
        let start = self.cur.here();
        let (mut types, mut declared) = (Vec::new(), Vec::new());
        loop {
            let (ty, flag) = self.value_type()?;
            if flag != 0 {
                declared.push(types.len());
            }
            types.push(ty);
            if !self.cur.eat(",") {
                break;
            }
        }
        if types.len() != results.len() {
            let message = format!(
                "expected one type per result; the op has {}, found {}",
                count(results.len(), "result"),
                count(types.len(), "type")
            );
            return self.fail(start, message);
        }
        Ok((types, declared))
    }

    fn insert(
        &mut self,
        name: SymbolId,
        operands: &[ValueId],
        types: &[TypeId],
        start: usize,
    ) -> Parse<OpId> {
        let room = self.f.check_capacity(operands.len() + types.len());
        room.map_err(|error| self.cur.error_since(start, error.message))?;
        if types.len() > MAX_LIST {
            let message = format!("op has more than {MAX_LIST} results");
            return self.fail(start, message);
        }
        let new = NewOp {
            operands,
            result_types: types,
            ..NewOp::new(name)
        };
        let op = self.f.insert_op(&new, self.region(), OpId::NONE);
        self.anchor(op);
        Ok(op)
    }

    fn op_clauses(&mut self, op: OpId) -> Parse<LocId> {
        let loc = self.clauses(Entity::Op(op))?;
        if self.f.origins.extras(Entity::Op(op)).is_some() {
            self.f.import_annotated(op);
        }
        Ok(loc)
    }

    /// Returns the location, or the op's position in the text if it has none and the text has a name.
    fn loc_or_position(&mut self, loc: LocId, start: usize) -> LocId {
        if loc.is_some() || self.file.is_none() {
            return loc;
        }
        let (a, b) = self.line_column(start);
        self.f.add_loc(Loc {
            kind: LocKind::TEXT,
            name: self.file,
            a,
            b,
        })
    }

    /// Parses `for %i in 0..128 step 2 unroll tag("x") {`.
    fn short_loop(&mut self, results: Vec<ResultName<'t>>, start: usize) -> Parse<()> {
        if !results.is_empty() {
            let message = "the short form of `for` has no results; write `for(…)` with a region";
            return self.fail(start, message);
        }
        self.cur.ident();
        let at = self.cur.here();
        let name = self.cur.value_name()?;
        let (ty, declared) = match self.cur.eat(":") {
            true => self.value_type()?,
            false => (self.f.add_type(TypeData::Scalar(DType::INDEX, 1)), 0),
        };
        if !self.cur.eat_keyword("in") {
            return self.fail_here("expected `in` and the bounds of the loop, such as `in 0..128`");
        }
        let mut operands = vec![self.operand()?];
        self.cur.expect("..", "between the bounds of a loop")?;
        operands.push(self.operand()?);
        if self.cur.eat_keyword("step") {
            operands.push(self.operand()?);
        }
        let attrs = self.loop_attrs()?;
        let op = self.insert(symbol::FOR, &operands, &[], start)?;
        self.f.ops[op.index()].attrs = push_range(&mut self.f.attrs, attrs);
        let loc = self.op_clauses(op)?;
        self.f.ops[op.index()].loc = self.loc_or_position(loc, start);
        self.cur.expect("{", "before the body of a loop")?;
        let body = self.symbols.intern("body");
        let mut owner = Owner {
            op,
            regions: Vec::new(),
            results: Vec::new(),
            region_attrs: Vec::new(),
            short: true,
        };
        let region = self.new_region(&mut owner, body, start)?;
        let mark = self.scope.mark();
        let arg = self.f.push_arg(region, &NewPort { name: "", ty });
        self.f.values[arg.index()].flags |= declared;
        self.define(name, arg, at)?;
        self.push_frame(region, None, Some(owner), start, mark);
        Ok(())
    }

    fn loop_attrs(&mut self) -> Parse<Vec<Attr>> {
        let mut attrs = Vec::new();
        let ident = self.cur.peek_ident();
        if LOOP_KINDS.contains(&ident) {
            self.cur.ident();
            attrs.push(self.text_attr(self.symbols.intern("kind"), ident.as_bytes()));
        } else if !matches!(ident, "" | "tag" | "loc" | "doc" | "meta" | "extra") {
            let message = format!("unknown loop kind `{ident}`");
            let error = self.cur.error_here(message);
            return Err(error.suggest(ident, LOOP_KINDS.iter().copied()));
        }
        if self.cur.eat_keyword("tag") {
            self.cur.expect("(", "after `tag`")?;
            let tag = self.cur.string()?;
            self.cur.expect(")", "after the tag")?;
            attrs.push(self.text_attr(self.symbols.intern("tag"), &tag));
        }
        Ok(attrs)
    }

    fn text_attr(&mut self, name: SymbolId, text: &[u8]) -> Attr {
        Attr {
            kind: AttrKind::STRING,
            list: self.f.pools.add_bytes(text),
            ..bare_attr(name)
        }
    }

    /// Creates an error about a value that isn't visible, with the reason if it can be determined.
    fn undefined(&self, name: &ValueName<'t>, start: usize) -> ParseError {
        let shown = spell(name);
        let text = self.cur.text();
        let written = &text[start..self.cur.end()];
        let span = start..self.cur.end();
        let fail = |message: String| self.cur.error_at(span.clone(), message);
        let header = self.frames.first().map_or(0, |frame| frame.start);
        let rest = &text[self.cur.end()..];
        let after = ["fn @", "prim @"]
            .iter()
            .filter_map(|ident| rest.find(ident));
        let end = self.cur.end() + after.min().unwrap_or(rest.len());
        if let Some(at) = definition(text, written, self.cur.end()..end) {
            let line = line_number(text, at);
            return fail(format!(
                "`{shown}` is used before its definition on line {line}"
            ))
            .help("define the value before its first use");
        }
        let known = definition(text, written, header..start);
        if known.is_some_and(|at| !text[at..start].contains('}')) {
            return fail(format!("`{shown}` is used by the op that defines it"));
        }
        if let Some(at) = known {
            let line = line_number(text, at);
            return fail(format!(
                "`{shown}` is not visible here: it is defined in a region that has ended, on line {line}"
            ));
        }
        let error = fail(format!("unknown value `{shown}`"));
        let ValueName::Name(name) = name else {
            return error;
        };
        let known = self.scope.names().map(|id| self.symbols.text(id));
        match nearest(name, known.take(10_000)) {
            Some(near) => error.help(format!("did you mean `{}`?", value_text(near))),
            None => error,
        }
    }
}

/// Returns the first position where a value's name is followed by `=` or `:`, as in a definition.
fn definition(text: &str, name: &str, range: std::ops::Range<usize>) -> Option<usize> {
    let part = text.get(range.clone())?;
    let found = part.match_indices(name).find(|(at, _)| {
        let after = part[at + name.len()..].trim_start_matches(' ');
        after.starts_with('=') || after.starts_with(':')
    });
    found.map(|(at, _)| range.start + at)
}
