//! Excerpts of ops for messages: the line that the op was read from, or its current form as IR text.

use std::cell::RefCell;
use std::ops::Range;

use passdock_abi::{Loc, LocId, LocKind, OpId, OpPart, SymbolId};
use passdock_ir::Function;
use passdock_ir::text::{Naming, OpSpans, Pieces, TextSource};
use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Snippet};

/// Maximum number of source locations shown for an op.
const MAX_PARTS: usize = 4;

/// How often a pass may number the values of a function for excerpts. Numbering takes time linear in the size of the
/// function. A pass that edits the function between messages gets no excerpts after this limit.
const MAX_NUMBERINGS: u32 = 16;

/// The part of an op to underline.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The kind of part.
    pub part: OpPart,
    /// The index of the operand or result.
    pub index: u32,
    /// The name of the attribute.
    pub attr: &'a str,
}

impl Part<'static> {
    /// The whole op.
    pub const WHOLE: Part<'static> = Part {
        part: OpPart::OP,
        index: 0,
        attr: "",
    };
}

/// An op as shown in a message.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// The op's description: its id and name.
    pub op: Option<String>,
    /// The function that contains the op.
    pub function: Option<String>,
    /// The source location of the op.
    pub location: Option<String>,
    /// The op's source line.
    pub snippet: Option<Snippet>,
    /// The op's other source locations.
    pub others: Vec<Label>,
}

/// The value names of the function that was shown last.
#[derive(Default)]
pub struct Numbering {
    last: Option<(SymbolId, u64, Naming)>,
    spent: FxHashMap<SymbolId, u32>,
}

/// Returns an excerpt of an op. If the function doesn't have the op, the excerpt only names the function.
pub fn excerpt(
    f: &Function,
    op: OpId,
    part: Part<'_>,
    text: Option<&TextSource>,
    numbering: &RefCell<Numbering>,
) -> Excerpt {
    let mut excerpt = Excerpt {
        function: Some(f.text(f.name()).to_owned()),
        op: op.option().map(|op| op.to_string()),
        ..Excerpt::default()
    };
    let Ok(record) = f.live_op(op) else {
        return excerpt;
    };
    excerpt.op = Some(f.describe_op(op));
    excerpt.location = location(f, record.loc);
    let mut lines = locs(f, record.loc).filter_map(|loc| {
        let location = line_of(f, loc, text?)?;
        Some((written(f, loc)?, location))
    });
    match lines.next() {
        Some((_, (number, line, start))) => {
            let under = span(line, start, part);
            let file = text.map_or("", TextSource::name);
            excerpt.snippet = Some(Snippet::from_line(file, number, line, under));
            excerpt.others = lines
                .map(|(location, (number, line, start))| Label {
                    text: "and from here".to_owned(),
                    location: Some(location),
                    snippet: Some(Snippet {
                        label: "and from here".to_owned(),
                        ..Snippet::from_line(file, number, line, span(line, start, Part::WHOLE))
                    }),
                    ..Label::default()
                })
                .collect();
        }
        None => {
            let location = excerpt.location.as_deref().unwrap_or_default();
            let line = printed(f, op, &mut numbering.borrow_mut());
            excerpt.snippet =
                line.map(|line| Snippet::from_line(location, 0, &line, span(&line, 0, part)));
        }
    }
    excerpt
}

/// Returns the source line of a location: its number, its text, and the byte at which the op starts.
fn line_of<'t>(f: &Function, loc: &Loc, text: &'t TextSource) -> Option<(usize, &'t str, usize)> {
    let name = f.text(loc.name);
    match loc.kind {
        LocKind::TEXT if name == text.name() => {
            let line = text.line(loc.a)?;
            let column = (loc.b as usize).checked_sub(1)?;
            let starts = line.char_indices().map(|(at, _)| at);
            let start = starts.chain([line.len()]).nth(column)?;
            Some((loc.a as usize, line, start))
        }
        LocKind::NAME => {
            let number = text.line_of_loc(name)?;
            let line = text.line(number)?;
            Some((number as usize, line, line.len() - line.trim_start().len()))
        }
        _ => None,
    }
}

fn printed(f: &Function, op: OpId, numbering: &mut Numbering) -> Option<String> {
    let state = (f.name(), f.version());
    let reused = numbering.last.take();
    let reused = reused.filter(|(name, version, _)| (*name, *version) == state);
    let pieces = match reused {
        Some((_, _, naming)) => Pieces { f, naming },
        None => {
            let spent = numbering.spent.entry(f.name()).or_default();
            if *spent >= MAX_NUMBERINGS {
                return None;
            }
            *spent += 1;
            Pieces::new(f)
        }
    };
    let line = pieces.op(op).trim_start().to_owned();
    numbering.last = Some((state.0, state.1, pieces.naming));
    Some(line)
}

/// Returns the byte range of a part of an op. The op starts at byte `start` of the line. If it has no such part,
/// returns the range of the whole op.
fn span(line: &str, start: usize, part: Part<'_>) -> Range<usize> {
    let spans = OpSpans::new(line, start);
    let index = part.index as usize;
    let range = match part.part {
        OpPart::NAME => Some(spans.name),
        OpPart::OPERAND => spans.operands.get(index).cloned(),
        OpPart::RESULT => spans.results.get(index).cloned(),
        OpPart::ATTR => {
            let mut attrs = spans.attrs.into_iter();
            attrs
                .find(|(name, _)| name == part.attr)
                .map(|(_, span)| span)
        }
        _ => None,
    };
    range.unwrap_or(spans.whole)
}

/// Returns the single locations that a location consists of.
fn locs(f: &Function, id: LocId) -> impl Iterator<Item = &Loc> + '_ {
    f.single_locs(id).take(MAX_PARTS)
}

/// Formats a location for messages.
pub fn location(f: &Function, id: LocId) -> Option<String> {
    let parts = locs(f, id).filter_map(|loc| written(f, loc));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Formats a single location.
fn written(f: &Function, loc: &Loc) -> Option<String> {
    let name = f.text(loc.name);
    match loc.kind {
        LocKind::NAME if !name.is_empty() => Some(name.to_owned()),
        LocKind::TEXT => Some(format!("{name}:{}:{}", loc.a, loc.b)),
        _ => None,
    }
}
