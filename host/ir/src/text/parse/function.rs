//! Parsing the headers of functions and regions, and clauses.

use passdock_abi::{
    FunctionKind, Loc, LocId, LocKind, OpId, Port, RegionId, SymbolId, TypeId, Value, ValueId,
};

use super::super::syntax::error::{count, line_number};
use super::super::syntax::lex::ValueName;
use super::parser::{Parse, Parser, Ports};
use super::scope::Key;
use crate::edit::MAX_OPSETS;
use crate::function::origin::{Entity, Extras};
use crate::function::{Function, MAX_LIST};
use crate::pool::push_range;
use crate::quote::value_text;

/// A port without a name or type.
const BARE_PORT: Port = Port {
    name: SymbolId::NONE,
    ty: TypeId::NONE,
    flags: Port::TOUCHED,
    reserved: 0,
};

impl<'t> Parser<'t, '_> {
    /// Parses a function, from `fn` to `}`.
    pub(super) fn function(&mut self) -> Parse<Function> {
        let start = self.cur.here();
        let kind = match self.cur.ident() {
            "prim" => FunctionKind::PRIM,
            _ => FunctionKind::GRAPH,
        };
        self.cur.expect("@", "before a function name")?;
        let at = self.cur.here();
        let name = self.cur.op_name("a function name")?;
        let name = self.intern(&name, at)?;
        self.f = Function::new(self.symbols.clone(), kind, name);
        self.literals.clear();
        let body = self.f.body();
        self.args(body)?;
        let ports = self.ports()?;
        self.function_clauses()?;
        self.body(ports, start)?;
        let next = Function::new(self.symbols.clone(), FunctionKind::GRAPH, SymbolId(0));
        Ok(std::mem::replace(&mut self.f, next))
    }

    fn function_clauses(&mut self) -> Parse<()> {
        let body = self.f.body();
        loop {
            match self.cur.peek_ident() {
                "opset" => self.opsets()?,
                "loc" => self.f.regions[body.index()].loc = self.loc()?,
                _ if self.is_extras() => self.extras_of(Entity::Function)?,
                "attributes" => {
                    self.cur.ident();
                    self.cur.expect("{", "after `attributes`")?;
                    let mut regions = Vec::new();
                    let attrs = self.attrs(&mut regions)?;
                    if let Some(span) = regions.pop() {
                        return self.fail_at(span, "a function attribute cannot be a region");
                    }
                    self.f.function_attrs = push_range(&mut self.f.attrs, attrs);
                }
                "" if self.cur.eat("{") => return Ok(()),
                ident => {
                    let found = self.cur.found();
                    let message = format!("expected `{{` and the function body, found {found}");
                    let error = self.cur.error_here(message);
                    let known = ["opset", "attributes", "loc", "doc", "meta", "extra"];
                    return Err(error.suggest(ident, known));
                }
            }
        }
    }

    /// Parses `opset("" = 17)`.
    fn opsets(&mut self) -> Parse<()> {
        self.cur.ident();
        self.cur.expect("(", "after `opset`")?;
        while self
            .cur
            .another(")", self.f.opsets().is_empty(), "between opsets")?
        {
            let at = self.cur.here();
            let domain = self.cur.string_text()?;
            let domain = self.intern(crate::name::domain(&domain), at)?;
            if self.f.opset(domain).is_some() {
                return self.fail(at, "duplicate opset domain");
            }
            if self.f.opsets().len() == MAX_OPSETS {
                let message = format!("function has opsets of more than {MAX_OPSETS} domains");
                return self.fail(at, message);
            }
            self.cur.expect("=", "after a domain")?;
            let version = self.cur.integer("an opset version")?;
            self.f.set_opset(domain, version);
        }
        Ok(())
    }

    /// Parses `(%x: f32[n], %y: i64[])`.
    pub(super) fn args(&mut self, region: RegionId) -> Parse<()> {
        self.cur.expect("(", "before the parameters")?;
        let args = self.list(")", "between parameters", |p, args| {
            if args.len() == MAX_LIST {
                let message = format!("region has more than {MAX_LIST} arguments");
                return p.fail_here(message);
            }
            Ok(p.arg(region, args.len() as u32)?.0)
        })?;
        self.f.regions[region.index()].args = push_range(&mut self.f.ids, args);
        Ok(())
    }

    fn arg(&mut self, region: RegionId, index: u32) -> Parse<ValueId> {
        let start = self.cur.here();
        let name = self.cur.value_name()?;
        let (ty, declared) = match self.cur.eat(":") {
            true => self.value_type()?,
            false => (TypeId(0), 0),
        };
        let kind = Value::ARG | declared;
        let value = self.f.make_value(kind, region.0, index, ty);
        self.define(name, value, start)?;
        self.extras_of(Entity::Value(value))?;
        if self.cur.eat("=") {
            if !self.cur.eat_keyword("const") {
                return self.fail_here("expected `const` and the default of the parameter");
            }
            let id = self.tensor(region)?;
            self.f.constants[id.index()].value = value;
            self.f.values[value.index()].constant = id;
            self.constant_clauses(id)?;
        }
        Ok(value)
    }

    /// Parses a value's type; returns it with the value's flags.
    pub(super) fn value_type(&mut self) -> Parse<(TypeId, u32)> {
        let declared = self.declared();
        Ok((self.ty()?, declared))
    }

    /// Parses the `!` of a value whose type the file declares; returns the flag.
    pub(super) fn declared(&mut self) -> u32 {
        if self.cur.eat("!") {
            Value::DECLARED
        } else {
            0
        }
    }

    /// Parses ` -> (%y: f32[n])`, if it is next.
    pub(super) fn ports(&mut self) -> Parse<Option<Ports>> {
        if !self.cur.eat("->") {
            return Ok(None);
        }
        self.cur.expect("(", "before the results")?;
        let mut extras = Vec::new();
        let records = self.list(")", "between results", |p, ports| {
            let start = p.cur.here();
            let mut port = BARE_PORT;
            if !p.cur.eat_keyword("_") {
                let ValueName::Name(name) = p.cur.value_name()? else {
                    return p.fail(start, "expected a result name or `_`, found a number");
                };
                port.name = p.intern(&name, start)?;
            }
            if p.cur.eat(":") {
                port.ty = p.ty()?;
            }
            extras.extend(p.extras()?.map(|own| (ports.len(), own)));
            Ok(port)
        })?;
        Ok(Some(Ports { records, extras }))
    }

    /// Parses `loc("conv1")`, `loc("a", "f.ir":3:5)`.
    pub(super) fn loc(&mut self) -> Parse<LocId> {
        self.cur.ident();
        self.cur.expect("(", "after `loc`")?;
        let parts = self.list(")", "between locations", |p, _| {
            let at = p.cur.here();
            let name = p.cur.string_text()?;
            let name = p.intern(&name, at)?;
            let (mut kind, mut a, mut b) = (LocKind::NAME, 0, 0);
            if p.cur.eat(":") {
                kind = LocKind::TEXT;
                a = p.cur.integer("a line number")?;
                p.cur.expect(":", "between line and column")?;
                b = p.cur.integer("a column number")?;
            }
            Ok(p.f.add_loc(Loc { kind, name, a, b }))
        })?;
        Ok(self.f.fuse_locs(&parts))
    }

    /// Parses the location of an entity, if it is next, and its extras.
    pub(super) fn clauses(&mut self, entity: Entity) -> Parse<LocId> {
        let mut loc = LocId::NONE;
        loop {
            match self.cur.peek_ident() {
                "loc" if self.cur.after_ident() == b'(' => loc = self.loc()?,
                _ if self.is_extras() => self.extras_of(entity)?,
                _ => return Ok(loc),
            }
        }
    }

    /// Whether extras are next: `doc(`, `meta {` or `extra(`.
    pub(super) fn is_extras(&mut self) -> bool {
        match self.cur.peek_ident() {
            "doc" | "extra" => self.cur.after_ident() == b'(',
            "meta" => self.cur.after_ident() == b'{',
            _ => false,
        }
    }

    /// Parses `doc("…") meta {key = "…"} extra("0a0b")`, if they are next, and merges them with the entity's earlier
    /// extras.
    pub(super) fn extras_of(&mut self, entity: Entity) -> Parse<()> {
        let known = self.f.origins.extras(entity).map(|known| (**known).clone());
        if let Some(extras) = self.more_extras(known)? {
            self.f.origins.set_extras(entity, extras);
        }
        Ok(())
    }

    /// Parses extras, if they are next.
    pub(super) fn extras(&mut self) -> Parse<Option<Extras>> {
        self.more_extras(None)
    }

    fn more_extras(&mut self, mut extras: Option<Extras>) -> Parse<Option<Extras>> {
        while self.is_extras() {
            let extras = extras.get_or_insert_default();
            let start = self.cur.here();
            match self.cur.ident() {
                "doc" => {
                    self.cur.eat("(");
                    let doc = self.cur.string_text()?;
                    if extras.doc.replace(doc.into()).is_some() {
                        return self.fail(start, "duplicate `doc`");
                    }
                    self.cur.expect(")", "after the string")?;
                }
                "meta" => {
                    self.cur.eat("{");
                    let metadata = extras.metadata.get_or_insert_default();
                    metadata.append(&mut self.metadata()?);
                }
                _ => extras.bytes.extend(self.hex_in_parens("after `extra`")?),
            }
        }
        Ok(extras)
    }

    /// Parses `key = "value", …}` after the brace.
    fn metadata(&mut self) -> Parse<Vec<(Box<str>, Box<str>)>> {
        self.list("}", "between pairs of metadata", |p, _| {
            let key = p.cur.name("a key or `}`")?;
            p.cur.expect("=", "after a key")?;
            Ok((key.into(), p.cur.string_text()?.into()))
        })
    }

    /// Binds a name to a value for the text that follows.
    pub(super) fn define(
        &mut self,
        name: ValueName<'t>,
        value: ValueId,
        start: usize,
    ) -> Parse<()> {
        let key = match &name {
            ValueName::Number(number) => Key::Number(*number),
            ValueName::Name(text) => {
                let symbol = self.intern(text, start)?;
                self.f.values[value.index()].name = symbol;
                Key::Name(symbol)
            }
        };
        let Err(known) = self.scope.define(key, value, start) else {
            return Ok(());
        };
        let line = line_number(self.cur.text(), known);
        let message = format!("`{}` is already defined on line {line}", spell(&name));
        let error = self.cur.error_at(start..start + self.width(start), message);
        Err(error.help("rename one of them; values that are visible together have unique names"))
    }

    /// Returns the length in bytes of the value's name at `start`.
    pub(super) fn width(&self, start: usize) -> usize {
        let text = self.cur.text().get(start..).unwrap_or("");
        if let Some(quoted) = text.strip_prefix("%\"") {
            return quoted.find('"').map_or(text.len(), |end| end + 3);
        }
        let ident = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = text.get(1..).and_then(|rest| rest.find(|c| !ident(c)));
        end.map_or(text.len(), |end| end + 1)
    }

    /// Ends a region with these values as its results.
    pub(super) fn end_region(
        &mut self,
        region: RegionId,
        values: &[ValueId],
        ports: Option<Ports>,
        span: std::ops::Range<usize>,
    ) -> Parse<OpId> {
        let (records, extras) = match ports {
            Some(ports) => (ports.records, ports.extras),
            None => (vec![BARE_PORT; values.len()], Vec::new()),
        };
        if records.len() != values.len() {
            let message = format!(
                "expected {} as in the header, found {}",
                count(records.len(), "result"),
                count(values.len(), "value")
            );
            return self.fail_at(span, message);
        }
        self.f.end_region(region, values, &records);
        let start = self.f.region(region).ports.start;
        for (at, extras) in extras {
            let port = Entity::Port(start + at as u32);
            self.f.origins.set_extras(port, extras);
        }
        match self.f.terminator(region) {
            Some(op) => Ok(op),
            None => self.fail_at(span, "cannot end the region"),
        }
    }
}

/// Returns a value's name for messages.
pub(super) fn spell(name: &ValueName<'_>) -> String {
    match name {
        ValueName::Number(number) => format!("%{number}"),
        ValueName::Name(name) => value_text(name),
    }
}
