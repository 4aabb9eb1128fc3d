//! A TOML table that remembers where everything stands, read key by key.

use std::collections::VecDeque;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::context;
use super::{Entry, Given, Located, Place, SourceText};
use passdock_core::{PassError, suggest};

/// The table that is all of a file, as messages call it.
pub(super) const TOP: &str = "the pipeline";

/// A pass's table, as messages call it.
pub(super) const PASS: &str = "`[[passes]]`";

/// Keys that people write at the top of a file, and the tables that they are of, beside those of
/// `[context]`.
const HOMES: [(&str, &str); 6] = [
    ("config", "`[context.config]`"),
    ("dirs", "`[plugins]`"),
    ("override", "`[plugins.NAME]`"),
    ("options", "`[[passes]]`"),
    ("phase", "`[[passes]]`"),
    ("name", "`[[passes]]` or `[[instruments]]`"),
];

/// A table whose keys are taken out one by one; what is left over is unknown.
pub(super) struct Table<'s, 'i> {
    pub(super) source: &'s SourceText,
    what: String,
    pub(super) span: Range<usize>,
    pub(super) rest: Vec<(Located<String>, Spanned<DeValue<'i>>)>,
    known: Vec<&'static str>,
}

impl<'s, 'i> Table<'s, 'i> {
    pub(super) fn new(
        source: &'s SourceText,
        what: &str,
        table: Located<DeTable<'i>>,
    ) -> Table<'s, 'i> {
        let Located { value, span } = table;
        let located = |key: Spanned<std::borrow::Cow<'i, str>>| Located {
            span: key.span(),
            value: key.into_inner().into_owned(),
        };
        let entries = value.into_iter();
        let mut rest: Vec<_> = entries.map(|(key, value)| (located(key), value)).collect();
        rest.sort_by_key(|(key, _)| key.span.start);
        Table {
            source,
            what: what.to_owned(),
            span,
            rest,
            known: Vec::new(),
        }
    }

    pub(super) fn from_value(
        source: &'s SourceText,
        what: &str,
        value: Spanned<DeValue<'i>>,
    ) -> Result<Table<'s, 'i>, PassError> {
        let Located { value, span } = value.into();
        match value {
            DeValue::Table(value) => Ok(Table::new(source, what, Located { value, span })),
            other => {
                let message = format!("{what} has to be a table, and this is {}.", shown(&other));
                Err(source.error(&span, "not a table", message))
            }
        }
    }

    pub(super) fn take(
        &mut self,
        key: &'static str,
    ) -> Option<(Located<String>, Spanned<DeValue<'i>>)> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let at = self.rest.iter().position(|(name, _)| name.value == key)?;
        Some(self.rest.remove(at))
    }

    /// Takes a key's value, if it is there, and reads it.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'s SourceText, Spanned<DeValue<'i>>) -> Result<T, PassError>,
    ) -> Result<Option<T>, PassError> {
        let value = self.take(key);
        value.map(|(_, value)| read(self.source, value)).transpose()
    }

    pub(super) fn table(
        &mut self,
        key: &'static str,
        what: &str,
    ) -> Result<Option<Table<'s, 'i>>, PassError> {
        self.read(key, |source, value| Table::from_value(source, what, value))
    }

    pub(super) fn tables(
        &mut self,
        key: &'static str,
        what: &str,
    ) -> Result<Vec<Table<'s, 'i>>, PassError> {
        let tables = self.read(key, |source, value| {
            let Located { value, span } = value.into();
            let DeValue::Array(items) = value else {
                let message = format!("`{key}` has to be a list of tables, written {what}.");
                return Err(source.error(&span, "not a list", message));
            };
            let items = items.into_iter();
            items
                .map(|item| {
                    let name = item.get_ref().as_str().map(str::to_owned);
                    let table = Table::from_value(source, what, item);
                    table.map_err(|error| match name {
                        Some(name) => {
                            error.help(format!("Did you mean `{{ name = \"{name}\" }}`?"))
                        }
                        None => error,
                    })
                })
                .collect()
        })?;
        Ok(tables.unwrap_or_default())
    }

    /// Takes a key's value, if it is there; `expected` describes it in messages.
    fn value<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        expected: &str,
    ) -> Result<Option<T>, PassError> {
        self.read(key, |source, value| {
            let whole = value.clone();
            let read = T::deserialize(toml::de::ValueDeserializer::from(value));
            read.map_err(|error| {
                let items = whole.get_ref().as_array().into_iter().flatten();
                let mut wrong = items.filter(|item| error.span() == Some(item.span()));
                if let Some(item) = wrong.next() {
                    let what = shown(item.get_ref());
                    let message = format!("`{key}` takes strings, and this is {what}.");
                    return source.error(&item.span(), "not a string", message);
                }
                let what = shown(whole.get_ref());
                let message = format!("`{key}` has to be {expected}, and this is {what}.");
                let label = format!("not {expected}");
                source.error(&whole.span(), &label, message)
            })
        })
    }

    pub(super) fn unsigned<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<T>, PassError> {
        self.value(key, "an integer ≥ 0")
    }

    pub(super) fn string(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Located<String>>, PassError> {
        self.value(key, "a string")
    }

    pub(super) fn required_string(
        &mut self,
        key: &'static str,
    ) -> Result<Located<String>, PassError> {
        if let Some(text) = self.string(key)? {
            return Ok(text);
        }
        let mut names = self.rest.iter().map(|(name, _)| name);
        Err(
            match names.find(|name| suggest::help(&name.value, [key]).is_some()) {
                Some(near) => self.unknown(near).help(format!("Did you mean `{key}`?")),
                None => {
                    let message = format!("{} needs a `{key}`.", self.what);
                    self.source.error(&self.span, "", message)
                }
            },
        )
    }

    pub(super) fn strings(&mut self, key: &'static str) -> Result<Vec<Located<String>>, PassError> {
        let lone = self.rest.iter().find(|(name, _)| name.value == key);
        let lone = lone.and_then(|(_, value)| value.get_ref().as_str().map(str::to_owned));
        let names = self.value(key, "a list of names");
        let names = names.map_err(|error| match lone {
            Some(name) => error.help(format!("Did you mean `{key} = [\"{name}\"]`?")),
            None => error,
        })?;
        Ok(names.unwrap_or_default())
    }

    /// Everything in a table below, if it is there.
    pub(super) fn entries_of(
        &mut self,
        key: &'static str,
        what: &str,
    ) -> Result<Vec<Entry>, PassError> {
        let entries = self.table(key, what)?.map(Table::entries).transpose()?;
        Ok(entries.unwrap_or_default())
    }

    /// Everything that is left, as it is.
    pub(super) fn entries(self) -> Result<Vec<Entry>, PassError> {
        let source = self.source;
        let entry = |(key, value): (Located<String>, Spanned<DeValue<'i>>)| {
            let (span, entries) = (value.span(), places(value.get_ref()));
            let value = toml::Value::deserialize(toml::de::ValueDeserializer::from(value));
            let value = value.map_err(|error| source.error(&span, "", error.message()))?;
            let given = Given {
                value,
                span,
                entries,
            };
            Ok((key, given))
        };
        self.rest.into_iter().map(entry).collect()
    }

    /// Rejects what is left.
    pub(super) fn finish(self) -> Result<(), PassError> {
        let Some((key, _)) = self.rest.first() else {
            return Ok(());
        };
        let error = self.unknown(key);
        let is_top = self.what == TOP;
        let name = key.value.as_str();
        let homes = HOMES.into_iter();
        let mut homes = homes.chain(context::KEYS.map(|key| (key, "`[context]`")));
        let home = homes.find(|(known, _)| is_top && *known == name);
        let known = || self.known.iter().copied();
        let list = || format!("Valid keys: {}.", suggest::listed(known()));
        Err(error.help(match home {
            Some((_, home)) if home.ends_with(&format!(".{name}]`")) => {
                format!("Did you mean {home}?")
            }
            Some((_, home)) => format!("`{name}` stands in {home}."),
            None => suggest::help(name, known()).unwrap_or_else(|| {
                match self.what == PASS && name != "options" {
                    true => format!(
                        "An option of the pass stands in `options = {{ {name} = … }}`. {}",
                        list()
                    ),
                    false => list(),
                }
            }),
        }))
    }

    fn unknown(&self, key: &Located<String>) -> PassError {
        let message = format!("There is no key `{}` in {}.", key.value, self.what);
        self.source.error(&key.span, "unknown key", message)
    }
}

/// Where the entries of a table and of the tables in it stand, the outer ones first.
fn places(value: &DeValue<'_>) -> Vec<Place> {
    let (mut places, mut open) = (Vec::new(), VecDeque::from([value]));
    while let Some(value) = open.pop_front() {
        let DeValue::Table(table) = value else {
            continue;
        };
        for (name, value) in table {
            let name = Located {
                span: name.span(),
                value: name.get_ref().to_string(),
            };
            places.push(Place {
                name,
                value: value.span(),
            });
            open.push_back(value.get_ref());
        }
    }
    places
}

/// The error of a text that isn't TOML.
pub(super) fn not_toml(source: &SourceText, error: &toml::de::Error) -> PassError {
    let span = error.span().unwrap_or(0..0);
    if let Some(span) = bare_word(&source.text, span.start) {
        let word = &source.text[span.clone()];
        return source
            .error(&span, "", format!("This isn't TOML: `{word}` is no value."))
            .help(format!("A string needs quotes: `\"{word}\"`."));
    }
    let why = error.message().trim_end_matches('.');
    if why.contains("recursion") {
        let message = "What is written in one line nests deeper than TOML is read here.";
        return source
            .error(&span, "", message)
            .help("Write groups as tables of their own: `[[passes]]`, in it `[[passes.passes]]`.");
    }
    source.error(&span, "", format!("This isn't TOML: {why}."))
}

/// The word without quotes that stands around a byte where a value should be.
fn bare_word(text: &str, at: usize) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let (before, after) = text.split_at_checked(at)?;
    let start = before.trim_end_matches(is_word).len();
    let end = at + after.find(|c| !is_word(c)).unwrap_or(after.len());
    let opens = text[..start].trim_end().ends_with(['=', '[', ',']);
    let word = &text[start..end];
    (opens && word.starts_with(|c: char| is_word(c) && !c.is_numeric() && c != '-'))
        .then_some(start..end)
}

/// A value as messages name it.
fn shown(value: &DeValue<'_>) -> String {
    let kind = match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(number) => return number.to_string(),
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    kind.to_owned()
}
