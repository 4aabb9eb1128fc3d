//! Brief text for humans: omitted parts, and consistent numbers for two compared functions.

use passdock_abi::{Value, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::function::MAX_INDENT;
use super::names::ValueNames;
use super::options::{Constants, PrintOptions};
use super::out::Out;
use super::printer::Printer;
use crate::function::Function;

/// The first line of brief text.
pub(super) const FIRST_LINE: &str =
    "; Brief text, which cannot be parsed: names, long data and other details are omitted.\n";

/// The maximum size in bytes of data, attributes and strings that are written in full.
pub(super) const MAX_LEN: usize = 40;

/// The maximum length of a line in characters, if it can be broken.
const WIDTH: usize = 98;

/// Truncates the text from `start` on, if it is long.
pub(super) fn cut(text: &mut String, start: usize) {
    if text.len() - start <= MAX_LEN {
        return;
    }
    let end = text.pop().filter(|end| matches!(end, ']' | '"'));
    text.truncate(text.floor_char_boundary(start + MAX_LEN));
    text.push('…');
    text.extend(end);
}

/// Inserts a line break at `start` if the line is too long.
pub(super) fn wrap(text: &mut String, start: usize, level: usize) {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let begun = text[line..start].trim_start();
    if begun.is_empty() || text[line..].chars().count() <= WIDTH {
        return;
    }
    let blank = text[..start].trim_end_matches(' ').len();
    let indent = "  ".repeat(level.min(MAX_INDENT));
    text.replace_range(blank..start, &format!("\n{indent}"));
}

/// Prints a function before and after a change as brief text. A value that exists in both has the same number in both,
/// so that lines can be compared.
pub fn print_brief_pair(old: Option<&Function>, new: Option<&Function>) -> [String; 2] {
    let named = |f| ValueNames::new(f, true);
    let old = old.map(|f| (f, named(f)));
    let new = new.map(|f| {
        let mut names = named(f);
        if let Some((old, old_names)) = &old {
            renumber(f, &mut names, old, old_names);
        }
        (f, names)
    });
    [old, new].map(|printed| printed.map_or(String::new(), |(f, names)| print(f, &names)))
}

/// Returns the value with a number in the brief text of a function.
pub fn brief_value(f: &Function, number: u32) -> Option<ValueId> {
    let names = ValueNames::new(f, true);
    let mut numbered = names.numbered().into_iter();
    numbered
        .find(|(_, known)| *known == number)
        .map(|(value, _)| value)
}

fn print(f: &Function, names: &ValueNames) -> String {
    let options = PrintOptions {
        constants: Constants::Elide,
        brief: true,
        ..PrintOptions::default()
    };
    let mut out = Out::new(None);
    Printer::new(f, &options, &mut out, names).function();
    out.text
}

/// Numbers the values of `f` as in `old`. A new value gets the number of a removed value in the same position, or a new
/// number.
fn renumber(f: &Function, names: &mut ValueNames, old: &Function, old_names: &ValueNames) {
    let mut known: FxHashMap<Key<'_>, u32> = FxHashMap::default();
    let numbered = old_names.numbered();
    let count = numbered.len() as u32;
    for (value, number) in numbered {
        known.entry(key(old, value)).or_insert(number);
    }
    let mut used = FxHashSet::default();
    let values = names.numbered().into_iter().map(|(value, _)| {
        let number = known.get(&key(f, value)).copied();
        (value, number.filter(|number| used.insert(*number)))
    });
    let values: Vec<(ValueId, Option<u32>)> = values.collect();
    let (mut place, mut fresh) = (0, count);
    for (value, known) in values {
        let number = match known {
            Some(number) => number,
            None if place < count && used.insert(place) => place,
            None => {
                fresh += 1;
                fresh - 1
            }
        };
        if number < count {
            place = number + 1;
        }
        names.set_number(value, number);
    }
}

/// A key that identifies a value across two states of a function: its name, or, for unnamed values, its id and
/// definition.
#[derive(PartialEq, Eq, Hash)]
enum Key<'f> {
    Named(&'f str),
    Unnamed(ValueId, u32, &'f str),
}

fn key(f: &Function, value: ValueId) -> Key<'_> {
    let record = f.value(value);
    if record.name.is_some() {
        return Key::Named(f.text(record.name));
    }
    let op = f.defining_op(value);
    let kind = op.map_or("", |op| f.text(f.op(op).name));
    Key::Unnamed(value, record.flags & Value::KIND, kind)
}
