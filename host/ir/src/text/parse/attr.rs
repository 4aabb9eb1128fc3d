//! Parsing attributes; their values are written directly to the function's pools.

use passdock_abi::{Attr, AttrKind, OpId, Range, RegionId, SymbolId};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::syntax::lex::Number;
use super::super::syntax::{ATTR_KINDS, RESERVED};
use super::options::ParseOptions;
use super::parser::{Parse, Parser, Spans};
use crate::function::{Function, MAX_LIST};
use crate::pool::{bare_attr, push_range, span};
use crate::text::attr_text;

/// Sets an attribute of a function to a standalone value, as written by [`attr_text`](crate::text::attr_text).
///
/// # Errors
/// If the text isn't such a value.
pub fn set_attr_text(f: &mut Function, name: SymbolId, text: &str) -> Parse<()> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, f.symbols().clone());
    let mut attr = parser.attr_value(&mut Vec::new())?;
    parser.nothing_follows("the value")?;
    if attr_text(&parser.f, &attr).is_none() {
        return parser.fail(0, "expected a number, a string or a list of them");
    }
    attr.name = name;
    f.pools.copy_list(&parser.f.pools, &mut attr);
    f.put_attr(OpId::NONE, attr);
    Ok(())
}

impl<'t> Parser<'t, '_> {
    /// Parses `{a = 1, b = "x"}` after the brace. Region attributes refer to regions of the op that follow, so they
    /// contain indexes until [`Parser::resolve_regions`]; `regions` receives their spans.
    pub(super) fn attrs(&mut self, regions: &mut Spans) -> Parse<Vec<Attr>> {
        let mut seen = FxHashSet::default();
        self.list("}", "between attributes", |p, attrs: &[Attr]| {
            let start = p.cur.here();
            // A parameter, unless `param` is the attribute's name.
            let param = p.cur.peek_ident() == "param"
                && !matches!(p.cur.after_ident(), b'=' | b',' | b'}')
                && p.cur.eat_keyword("param");
            let is_value = p.cur.peek() == b'%';
            let name = p.symbol("an attribute name or `}`");
            let name = name.map_err(|error| match is_value {
                true => error.help(
                    "write regions after the op: `region then_branch { … }`; `{` after the operands starts the \
                     attributes",
                ),
                false => error,
            })?;
            if !seen.insert(name) {
                let message = format!("duplicate attribute `{}`", p.symbols.text(name));
                return p.fail(start, message);
            }
            if attrs.len() == MAX_LIST {
                let message = format!("more than {MAX_LIST} attributes");
                return p.fail(start, message);
            }
            let mut attr = bare_attr(name);
            if p.cur.eat("=") {
                attr = p.attr_value(regions)?;
                attr.name = name;
            }
            attr.flags |= if param { Attr::PARAM } else { 0 };
            Ok(attr)
        })
    }

    fn attr_value(&mut self, regions: &mut Spans) -> Parse<Attr> {
        let start = self.cur.here();
        if self.cur.eat("[") {
            return self.attr_list(regions, start);
        }
        let ident = self.cur.peek_ident();
        if ident == "ref" {
            self.cur.ident();
            return self.reference();
        }
        if self.cur.after_ident() == b'['
            && let Some(kind) = list_named(ident)
        {
            self.cur.ident();
            self.cur.eat("[");
            let closed = self.cur.expect("]", "in an empty list");
            closed
                .map_err(|error| error.help(format!("write a non-empty list without `{ident}`")))?;
            return Ok(unnamed(kind, 0, Range::EMPTY));
        }
        self.attr_item(regions)
    }

    /// Parses `ref(alpha, float)` after `ref`.
    fn reference(&mut self) -> Parse<Attr> {
        self.cur.expect("(", "after `ref`")?;
        let param = self.symbol("the name of an attribute parameter")?;
        self.cur.expect(",", "after the parameter name")?;
        let at = self.cur.here();
        let ident = self.cur.ident();
        let Some((kind, _)) = ATTR_KINDS.iter().find(|(_, name)| *name == ident) else {
            let message = format!("unknown attribute kind `{ident}`");
            let known = ATTR_KINDS.iter().map(|(_, name)| *name);
            return Err(self.cur.error_since(at, message).suggest(ident, known));
        };
        self.cur.expect(")", "after the kind")?;
        Ok(Attr {
            stands_for: *kind,
            ..unnamed(AttrKind::REFERENCE, param.0.into(), Range::EMPTY)
        })
    }

    fn attr_list(&mut self, regions: &mut Spans, start: usize) -> Parse<Attr> {
        let items = self.list("]", "between the items of a list", |p, items: &[Attr]| {
            let at = p.cur.here();
            let mut item = p.attr_item(regions)?;
            if item.kind == AttrKind::REGION && item.bits == SAME_NAME {
                return p.fail(
                    at,
                    "expected region indices in a list: `[region 0, region 1]`",
                );
            }
            // `[1.0, 2]` is a list of floats.
            let first = items.first().map_or(item.kind, |first| first.kind);
            if first == AttrKind::FLOAT && item.kind == AttrKind::INT {
                item.kind = AttrKind::FLOAT;
                item.bits = u64::from((item.bits as i64 as f32).to_bits());
            }
            if first != item.kind || list_of(item.kind).is_none() {
                return p.fail(
                    at,
                    "list items must all be ints, floats, strings, tensors, types or regions",
                );
            }
            Ok(item)
        })?;
        let Some(first) = items.first() else {
            return Err(self.cur.error_since(start, "empty list without a kind")
                .help("write `ints[]`, `floats[]`, `strings[]`, `tensors[]`, `types[]` or `regions[]`"));
        };
        let (pools, ids) = (&mut self.f.pools, &mut self.f.ids);
        let low = items.iter().map(|item| item.bits as u32);
        let list = match first.kind {
            AttrKind::INT => pools.add_ints(items.iter().map(|i| i.bits as i64)),
            AttrKind::FLOAT => pools.add_floats(low.map(f32::from_bits)),
            AttrKind::STRING => pools.add_ranges(items.iter().map(|i| i.list)),
            _ => push_range(ids, low),
        };
        let kind = list_of(first.kind).unwrap_or(AttrKind::NONE);
        Ok(unnamed(kind, 0, list))
    }

    /// Parses a value that may stand alone or in a list.
    fn attr_item(&mut self, regions: &mut Spans) -> Parse<Attr> {
        let start = self.cur.here();
        let item = |kind, id: u32| Ok(unnamed(kind, id.into(), Range::EMPTY));
        match self.cur.peek() {
            b'"' => {
                let text = self.cur.string()?;
                let list = self.f.pools.add_bytes(&text);
                Ok(unnamed(AttrKind::STRING, 0, list))
            }
            b'-' | b'0'..=b'9' => self.attr_number(start),
            _ => match self.cur.peek_ident() {
                "inf" | "nan" => self.attr_number(start),
                "tensor" => {
                    self.cur.ident();
                    // Created in the body, so that the tensor stays valid if the op moves to another region.
                    let id = self.tensor(self.f.body())?;
                    self.constant_clauses(id)?;
                    item(AttrKind::TENSOR, id.0)
                }
                "type" => {
                    self.cur.ident();
                    item(AttrKind::TYPE, self.ty()?.0)
                }
                "opaque" => {
                    self.cur.ident();
                    let bytes = self.hex_in_parens("after `opaque`")?;
                    let list = self.f.pools.add_bytes(&bytes);
                    Ok(unnamed(AttrKind::OPAQUE, 0, list))
                }
                "region" => {
                    self.cur.ident();
                    let index = match self.cur.peek() {
                        b'0'..=b'9' => self.cur.integer::<u32>("a region index")?.into(),
                        _ => SAME_NAME,
                    };
                    regions.push(start..self.cur.end());
                    Ok(unnamed(AttrKind::REGION, index, Range::EMPTY))
                }
                ident => {
                    let found = self.cur.found();
                    let message = format!("expected an attribute value, found {found}");
                    let error = self.cur.error_here(message);
                    let known = ["tensor", "type", "region", "ref", "opaque", "inf", "nan"];
                    Err(if ident.is_empty() || RESERVED.contains(&ident) {
                        error
                    } else {
                        error.suggest(ident, known)
                    })
                }
            },
        }
    }

    fn attr_number(&mut self, start: usize) -> Parse<Attr> {
        let number = self.cur.number("a number")?;
        let (kind, bits) = match number {
            Number::Int(_) => (AttrKind::INT, number.int::<i64>().map(|value| value as u64)),
            Number::Hex(bits) => (AttrKind::FLOAT, u32::try_from(bits).ok().map(u64::from)),
            _ => {
                let bits = number.float32().map(|value| u64::from(value.to_bits()));
                (AttrKind::FLOAT, bits)
            }
        };
        let Some(bits) = bits else {
            let message = format!(
                "invalid attribute number `{}`: expected an i64 or an f32",
                number.text()
            );
            return self.fail(start, message);
        };
        Ok(unnamed(kind, bits, Range::EMPTY))
    }

    /// Replaces the indexes in an op's region attributes with its regions, which are parsed now.
    pub(super) fn resolve_regions(&mut self, op: OpId, spans: Spans) -> Parse<()> {
        if spans.is_empty() {
            return Ok(());
        }
        let regions: Vec<RegionId> = self.f.regions_of(op).collect();
        // Several regions may have the same name; the first one counts.
        let named = regions.iter().rev();
        let named = named.map(|&region| (self.f.region(region).name, region));
        let named: FxHashMap<SymbolId, RegionId> = named.collect();
        let mut spans = spans.into_iter();
        let mut resolve = |found: Option<&RegionId>| {
            let span = spans.next().unwrap_or_default();
            found.map(|region| region.0).ok_or_else(|| {
                let error = self.cur.error_at(span, "the op has no such region");
                error.help(
                    "write the regions after the op: `region then_branch { … }` is the region of \
                     `then_branch = region`",
                )
            })
        };
        for attr in &mut self.f.attrs[span(self.f.ops[op.index()].attrs)] {
            match attr.kind {
                AttrKind::REGION if attr.bits == SAME_NAME => {
                    attr.bits = resolve(named.get(&attr.name))?.into();
                }
                AttrKind::REGION => attr.bits = resolve(regions.get(attr.bits as usize))?.into(),
                AttrKind::REGIONS => {
                    for id in &mut self.f.ids[span(attr.list)] {
                        *id = resolve(regions.get(*id as usize))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The index of a region with the same name as its attribute.
const SAME_NAME: u64 = u64::MAX;

/// Creates an attribute without a name yet.
fn unnamed(kind: AttrKind, bits: u64, list: Range) -> Attr {
    Attr {
        kind,
        bits,
        list,
        ..bare_attr(SymbolId::NONE)
    }
}

/// Maps the kind of an item to the kind of its list.
const LISTS: [(AttrKind, AttrKind); 6] = [
    (AttrKind::INT, AttrKind::INTS),
    (AttrKind::FLOAT, AttrKind::FLOATS),
    (AttrKind::STRING, AttrKind::STRINGS),
    (AttrKind::TENSOR, AttrKind::TENSORS),
    (AttrKind::TYPE, AttrKind::TYPES),
    (AttrKind::REGION, AttrKind::REGIONS),
];

fn list_of(item: AttrKind) -> Option<AttrKind> {
    let row = LISTS.iter().find(|row| row.0 == item);
    row.map(|row| row.1)
}

fn list_named(ident: &str) -> Option<AttrKind> {
    let (kind, _) = ATTR_KINDS.iter().find(|(_, name)| *name == ident)?;
    LISTS.iter().any(|row| row.1 == *kind).then_some(*kind)
}
