//! Attributes: their values go straight to the function's pools.

use passdock_abi::{Attr, AttrKind, OpId, Range, RegionId, SymbolId};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::syntax::error::ParseError;
use super::super::syntax::lex::Number;
use super::super::syntax::{ATTR_KINDS, RESERVED};
use super::options::ParseOptions;
use super::parser::{FixPlace, Parse, Parser, RegionFix};
use crate::edit::{AttrValue, NewAttr};
use crate::function::{Function, MAX_LIST};
use crate::pool::{bare_attr, push_range};

/// A value, before it is known to be alone or in a list.
#[derive(Clone, Copy)]
struct Item {
    kind: AttrKind,
    bits: u64,
    list: Range,
}

/// Gives a function an attribute with a value that stands alone, as
/// [`attr_text`](crate::text::attr_text) writes it.
///
/// # Errors
/// If the text isn't such a value.
pub fn set_attr_text(f: &mut Function, name: SymbolId, text: &str) -> Parse<()> {
    let options = ParseOptions::default();
    let mut parser = Parser::new(text, &options, f.symbols().clone());
    let mut attr = bare_attr(name);
    parser.attr_value(&mut attr, 0, &mut Vec::new())?;
    parser.nothing_follows("the value")?;
    let read = &parser.f;
    let strings: Vec<&[u8]>;
    let value = match attr.kind {
        AttrKind::INT => AttrValue::Int(attr.bits as i64),
        AttrKind::FLOAT => AttrValue::Float(f32::from_bits(attr.bits as u32)),
        AttrKind::STRING => AttrValue::String(read.bytes_in(attr.list)),
        AttrKind::INTS => AttrValue::Ints(read.ints_in(attr.list)),
        AttrKind::FLOATS => AttrValue::Floats(read.floats_in(attr.list)),
        AttrKind::STRINGS => {
            strings = read.strings_in(attr.list).collect();
            AttrValue::Strings(&strings)
        }
        _ => {
            let message = "Only numbers, strings and lists of them stand alone.";
            return Err(parser.cur.error_since(0, message));
        }
    };
    let set = f.set_attr(OpId::NONE, &NewAttr::new(name, value));
    set.map_err(|error| parser.cur.error_since(0, error.message))
}

impl<'t> Parser<'t, '_> {
    /// `{a = 1, b = "x"}` after the brace.
    pub(super) fn attrs(&mut self, fixes: &mut Vec<RegionFix>) -> Parse<Vec<Attr>> {
        let mut attrs: Vec<Attr> = Vec::new();
        let mut seen = FxHashSet::default();
        while self
            .cur
            .another("}", attrs.is_empty(), "between attributes")?
        {
            let start = self.cur.here();
            // A parameter, unless it is an attribute that is called so.
            let param = self.cur.peek_word() == "param"
                && !matches!(self.cur.after_word(), b'=' | b',' | b'}')
                && self.cur.eat_word("param");
            let name = self.cur.name("an attribute's name or `}`")?;
            let name = self.intern(&name, start)?;
            // A set only where there are many.
            let repeated = if attrs.len() < 16 {
                attrs.iter().any(|attr| attr.name == name)
            } else {
                if seen.is_empty() {
                    seen.extend(attrs.iter().map(|attr| attr.name));
                }
                !seen.insert(name)
            };
            if repeated {
                let message = format!("There are two attributes `{}`.", self.symbols.text(name));
                return self.fail(start, message);
            }
            if attrs.len() == MAX_LIST {
                let message = format!("An op can't have more than {MAX_LIST} attributes.");
                return self.fail(start, message);
            }
            let mut attr = bare_attr(name);
            attr.flags = if param { Attr::PARAM } else { 0 };
            if self.cur.eat("=") {
                self.attr_value(&mut attr, attrs.len(), fixes)?;
            }
            attrs.push(attr);
        }
        Ok(attrs)
    }

    fn attr_value(
        &mut self,
        attr: &mut Attr,
        place: usize,
        fixes: &mut Vec<RegionFix>,
    ) -> Parse<()> {
        let start = self.cur.here();
        if self.cur.eat("[") {
            return self.attr_list(attr, fixes, start);
        }
        let before = fixes.len();
        let word = self.cur.peek_word();
        if word == "ref" {
            self.cur.word();
            return self.reference(attr);
        }
        if self.cur.after_word() == b'['
            && let Some(kind) = list_named(word)
        {
            self.cur.word();
            self.cur.eat("[");
            self.cur.expect(
                "]",
                "in an empty list; one that isn't needs no word before it",
            )?;
            attr.kind = kind;
            return Ok(());
        }
        let item = self.attr_item(fixes)?;
        for fix in &mut fixes[before..] {
            fix.place = FixPlace::Attr(place);
        }
        (attr.kind, attr.bits, attr.list) = (item.kind, item.bits, item.list);
        Ok(())
    }

    /// `ref(alpha, float)`.
    fn reference(&mut self, attr: &mut Attr) -> Parse<()> {
        self.cur.expect("(", "after `ref`")?;
        let at = self.cur.here();
        let param = self.cur.name("an attribute parameter's name")?;
        let param = self.intern(&param, at)?;
        self.cur.expect(",", "after the parameter's name")?;
        let at = self.cur.here();
        let word = self.cur.word();
        let Some((kind, _)) = ATTR_KINDS.iter().find(|(_, name)| *name == word) else {
            let message = format!("There is no kind of attribute `{word}`.");
            let known = ATTR_KINDS.iter().map(|(_, name)| *name);
            return Err(self.cur.error_since(at, message).suggest(word, known));
        };
        self.cur.expect(")", "after the kind")?;
        attr.kind = AttrKind::REFERENCE;
        attr.bits = u64::from(param.0);
        attr.stands_for = *kind;
        Ok(())
    }

    fn attr_list(
        &mut self,
        attr: &mut Attr,
        fixes: &mut Vec<RegionFix>,
        start: usize,
    ) -> Parse<()> {
        let mut items: Vec<Item> = Vec::new();
        let before = fixes.len();
        while self
            .cur
            .another("]", items.is_empty(), "between the items of a list")?
        {
            let at = self.cur.here();
            let mut item = self.attr_item(fixes)?;
            // `[1.0, 2]` is floats.
            let first = items.first().map_or(item.kind, |first| first.kind);
            if first == AttrKind::FLOAT && item.kind == AttrKind::INT {
                item.kind = AttrKind::FLOAT;
                item.bits = u64::from((item.bits as i64 as f32).to_bits());
            }
            if first != item.kind || list_of(item.kind).is_none() {
                return self.fail(at, "The items of a list have to be of one kind.");
            }
            items.push(item);
        }
        let Some(first) = items.first().copied() else {
            return Err(self.cur.error_since(start, "An empty list has to say of what it is.")
                .help("Write `ints[]`, `floats[]`, `strings[]`, `tensors[]`, `types[]` or `regions[]`."));
        };
        attr.kind = list_of(first.kind).unwrap_or(AttrKind::NONE);
        let f = &mut self.f;
        attr.list = match first.kind {
            AttrKind::INT => {
                push_range(&mut f.pools.ints, items.iter().map(|item| item.bits as i64))
            }
            AttrKind::FLOAT => push_range(
                &mut f.pools.floats,
                items.iter().map(|item| f32::from_bits(item.bits as u32)),
            ),
            AttrKind::STRING => {
                push_range(&mut f.pools.strings, items.iter().map(|item| item.list))
            }
            _ => push_range(&mut f.ids, items.iter().map(|item| item.bits as u32)),
        };
        for (at, fix) in fixes[before..].iter_mut().enumerate() {
            if fix.index.is_none() {
                let message = "A list of regions says their places: `[region 0, region 1]`.";
                let text = self.cur.text();
                return Err(ParseError::new(text, fix.start..fix.end, message));
            }
            fix.place = FixPlace::Id(attr.list.start as usize + at);
        }
        Ok(())
    }

    fn attr_item(&mut self, fixes: &mut Vec<RegionFix>) -> Parse<Item> {
        let start = self.cur.here();
        let item = |kind, bits| Item {
            kind,
            bits,
            list: Range::EMPTY,
        };
        match self.cur.peek() {
            b'"' => {
                let text = self.cur.string()?;
                let list = self.f.pools.add_bytes(&text);
                Ok(Item {
                    kind: AttrKind::STRING,
                    bits: 0,
                    list,
                })
            }
            b'-' | b'0'..=b'9' => self.attr_number(start),
            _ => match self.cur.peek_word() {
                "inf" | "nan" => self.attr_number(start),
                "tensor" => {
                    self.cur.word();
                    // It goes with the op, wherever that goes.
                    let id = self.tensor(self.f.body())?;
                    self.constant_clauses(id)?;
                    Ok(item(AttrKind::TENSOR, u64::from(id.0)))
                }
                "type" => {
                    self.cur.word();
                    let ty = self.ty()?;
                    Ok(item(AttrKind::TYPE, u64::from(ty.0)))
                }
                "opaque" => {
                    self.cur.word();
                    self.cur.expect("(", "after `opaque`")?;
                    let bytes = self.cur.hex_string()?;
                    self.cur.expect(")", "after the bytes")?;
                    let list = self.f.pools.add_bytes(&bytes);
                    Ok(Item {
                        kind: AttrKind::OPAQUE,
                        bits: 0,
                        list,
                    })
                }
                "region" => {
                    self.cur.word();
                    let index = match self.cur.peek() {
                        b'0'..=b'9' => Some(self.cur.integer("a region's place")?),
                        _ => None,
                    };
                    fixes.push(RegionFix {
                        place: FixPlace::Attr(0),
                        index,
                        start,
                        end: self.cur.end(),
                    });
                    Ok(item(AttrKind::REGION, u64::from(RegionId::NONE.0)))
                }
                word => {
                    let found = self.cur.found();
                    let message = format!("Expected an attribute's value, found {found}.");
                    let error = self.cur.error_here(message);
                    let known = ["tensor", "type", "region", "ref", "opaque", "inf", "nan"];
                    Err(if word.is_empty() || RESERVED.contains(&word) {
                        error
                    } else {
                        error.suggest(word, known)
                    })
                }
            },
        }
    }

    fn attr_number(&mut self, start: usize) -> Parse<Item> {
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
                "`{}` isn't an attribute's number: those are i64 or f32.",
                number.text()
            );
            return self.fail(start, message);
        };
        Ok(Item {
            kind,
            bits,
            list: Range::EMPTY,
        })
    }

    /// Resolves the regions that an op's attributes refer to.
    pub(super) fn fix_regions(&mut self, op: passdock_abi::OpId, fixes: &[RegionFix]) -> Parse<()> {
        if fixes.is_empty() {
            return Ok(());
        }
        let attrs = self.f.ops[op.index()].attrs.start as usize;
        let regions: Vec<RegionId> = self.f.regions_of(op).collect();
        // Of several with one name it is the first.
        let names = regions.iter().rev();
        let named: FxHashMap<SymbolId, RegionId> = names
            .map(|&region| (self.f.region(region).name, region))
            .collect();
        for fix in fixes {
            let found = match (fix.index, &fix.place) {
                (Some(index), _) => regions.get(index as usize).copied(),
                (None, FixPlace::Attr(place)) => {
                    named.get(&self.f.attrs[attrs + place].name).copied()
                }
                (None, FixPlace::Id(_)) => None,
            };
            let Some(region) = found else {
                let message = "The op has no such region.";
                let text = self.cur.text();
                let error = ParseError::new(text, fix.start..fix.end, message);
                return Err(error.help(
                    "An op's regions follow it: `region then_branch { … }` is the region of \
                     `then_branch = region`.",
                ));
            };
            match fix.place {
                FixPlace::Attr(place) => self.f.attrs[attrs + place].bits = u64::from(region.0),
                FixPlace::Id(at) => self.f.ids[at] = region.0,
            }
        }
        Ok(())
    }
}

/// Kinds of items with the kinds of their lists.
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

fn list_named(word: &str) -> Option<AttrKind> {
    let (kind, _) = ATTR_KINDS.iter().find(|(_, name)| *name == word)?;
    LISTS.iter().any(|row| row.1 == *kind).then_some(*kind)
}
