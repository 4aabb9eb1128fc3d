//! [`Table`]: an option whose entries the user names, and values of such.

use super::setting::{OptionType, OptionValue};

/// An option that is a table: entries under names that the user chooses, sorted by name. Of type
/// `Table<i64>` or `Table<OptionValue>` in [`options!`](crate::options).
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    entries: Vec<(String, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            entries: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let mut entries = self.entries.iter();
        entries.find(|(known, _)| known == name).map(|(_, v)| v)
    }

    /// Names and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> + '_ {
        self.entries.iter().map(|(name, v)| (name.as_str(), v))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for Table<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Table<T> {
        Table {
            entries: entries.into_iter().collect(),
        }
    }
}

impl<T> IntoIterator for Table<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<T: OptionType> OptionType for Table<T> {
    fn from_value(value: &OptionValue) -> Option<Table<T>> {
        match value {
            OptionValue::Table(entries) => entries
                .iter()
                .map(|(name, value)| Some((name.clone(), T::from_value(value)?)))
                .collect(),
            _ => None,
        }
    }

    fn into_value(self) -> OptionValue {
        let entries = self.into_iter().map(|(name, v)| (name, v.into_value()));
        OptionValue::Table(entries.collect())
    }
}

/// The entries that a host hands over: of each its name and its value as TOML, each ended by a NUL.
pub(crate) fn table_entries(joined: &str) -> Option<Vec<(String, OptionValue)>> {
    let mut parts = joined.split_terminator('\0');
    let mut entries = Vec::new();
    while let Some(name) = parts.next() {
        entries.push((name.to_owned(), value(parts.next()?)?));
    }
    Some(entries)
}

/// A value as hosts write it: a small part of TOML.
fn value(text: &str) -> Option<OptionValue> {
    let (value, rest) = leading(text)?;
    if rest.is_empty() {
        Some(value)
    } else {
        None
    }
}

/// The value at the start of a text, and what follows it.
fn leading(text: &str) -> Option<(OptionValue, &str)> {
    if let Some(inner) = text.strip_prefix('"') {
        let (text, rest) = string(inner)?;
        return Some((OptionValue::String(text), rest));
    }
    if let Some(inner) = text.strip_prefix('[') {
        return list(inner);
    }
    let end = text.find([',', ']']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word {
        "true" => OptionValue::Bool(true),
        "false" => OptionValue::Bool(false),
        word => match word.parse::<i64>() {
            Ok(int) => OptionValue::Int(int),
            // Also `inf`, `-inf` and `nan`.
            Err(_) => OptionValue::Float(word.parse().ok()?),
        },
    };
    Some((value, rest))
}

fn list(inner: &str) -> Option<(OptionValue, &str)> {
    let mut items = Vec::new();
    let mut rest = inner;
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((OptionValue::List(items), rest));
    }
    loop {
        let (item, after) = leading(rest.trim_start_matches(' '))?;
        items.push(item);
        rest = match after.strip_prefix(',') {
            Some(after) => after,
            None => return Some((OptionValue::List(items), after.strip_prefix(']')?)),
        };
    }
}

/// The text before the closing quote, unescaped, and the rest behind it.
fn string(inner: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, &inner[at + 1..])),
            '\\' => match chars.next()? {
                (at, 'u') => {
                    let digits = inner.get(at + 1..at + 5)?;
                    text.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    chars.nth(3)?;
                }
                (_, escaped) => text.push(escaped),
            },
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_hosts_write_them() {
        let joined = "a\x001\0b\0[1, [-2.5, inf], []]\0c d\0\"x\\\"y\\\\\\u000a], é\"\0e\0true\0";
        let read = table_entries(joined).expect("it is well formed");
        let shown: Vec<String> = read.iter().map(|(n, v)| format!("{} = {}", n, v)).collect();
        assert_eq!(
            shown,
            [
                "a = 1",
                "b = [1, [-2.5, inf], []]",
                "c d = \"x\\\"y\\\\\\n], é\"",
                "e = true"
            ]
        );
        assert!(value("nan").map_or(false, |v| matches!(v, OptionValue::Float(x) if x.is_nan())));
    }

    #[test]
    fn what_is_no_value_is_none() {
        for bad in ["", "[1", "[1,,2]", "\"a", "1 2", "[1] 2", "\"\\u00\"", "x"] {
            assert_eq!(value(bad), None, "{}", bad);
        }
        assert_eq!(table_entries("name\0"), None);
    }
}
