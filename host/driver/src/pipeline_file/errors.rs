//! Errors for text that isn't valid TOML or isn't a pipeline.

use std::ops::Range;

use passdock_core::{InvalidShape, PassError, suggest};

use super::spans::EntrySpans;
use super::{INSTRUMENT, SourceText};

/// Keys that are often misplaced at the top level of a file, with the tables that they belong to.
const KEY_TABLES: [(&str, &str); 13] = [
    ("config", "`[context]`, as `[context.config]`"),
    ("opt_level", "`[context]`"),
    ("required_pass", "`[context]`"),
    ("disabled_pass", "`[context]`"),
    ("disabled_rule", "`[context]`"),
    ("rewrite_limit", "`[context]`"),
    ("dirs", "`[plugins]`"),
    ("trusted_keys", "`[plugins]`"),
    ("version", "`[plugins.NAME]`"),
    ("override", "`[plugins.NAME]`"),
    ("options", "`[[passes]]`"),
    ("phase", "`[[passes]]`"),
    ("name", "`[[passes]]` or `[[instruments]]`"),
];

/// The keys of `[plugins]` that aren't names of plugins.
const PLUGINS: [&str; 3] = ["dirs", "files", "trusted_keys"];

/// Returns the error for text that isn't valid TOML.
pub(super) fn invalid_syntax(source: &SourceText, error: &toml::de::Error) -> PassError {
    let span = error.span().unwrap_or(0..0);
    if let Some(span) = unquoted_string(&source.text, span.start) {
        let found = &source.text[span.clone()];
        return source
            .error(
                span,
                "",
                format!("invalid TOML: expected a value, found `{found}`"),
            )
            .help(format!("put the string in quotes: `\"{found}\"`"));
    }
    let why = error.message();
    if why.contains("recursion") {
        let message = "inline tables and lists are nested too deeply";
        return source
            .error(span, "", message)
            .help("write nested groups as separate tables: `[[passes]]` and `[[passes.passes]]`");
    }
    source.error(span, "", format!("invalid TOML: {why}"))
}

/// Returns the span of an unquoted word at a byte where a value is expected.
fn unquoted_string(text: &str, at: usize) -> Option<Range<usize>> {
    let is_unquoted = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let (before, after) = text.split_at_checked(at)?;
    let start = before.trim_end_matches(is_unquoted).len();
    let end = at + after.find(|c| !is_unquoted(c)).unwrap_or(after.len());
    let opens = text[..start].trim_end().ends_with(['=', '[', ',']);
    let found = &text[start..end];
    (opens && found.starts_with(|c: char| is_unquoted(c) && !c.is_numeric() && c != '-'))
        .then_some(start..end)
}

/// Returns the error for a document that isn't a pipeline, from serde's message.
pub(super) fn invalid_shape(
    source: &SourceText,
    spans: &[EntrySpans],
    error: &toml::de::Error,
) -> PassError {
    let span = error.span().unwrap_or(0..0);
    let is_at_span = |entry: &EntrySpans| entry.key == span || entry.value == span;
    let Some(at) = spans.iter().position(is_at_span) else {
        let message = format!("invalid pipeline: {}", error.message());
        return source.error(span, "", message);
    };
    let entry = &spans[at];
    let name = entry.name.as_str();
    let table = entry.path.split_last().map(|(_, table)| table);
    let is_plugin = table.is_some_and(|table| *table == ["plugins"]) && !PLUGINS.contains(&name);
    match InvalidShape::parse(error.message()) {
        // The form in which the parser passes a date to serde.
        InvalidShape::UnknownKey(key, _) if key.starts_with("$__toml") => {
            let message = format!("unsupported value for `{name}`: a date");
            source.error(span, "", message)
        }
        InvalidShape::UnknownKey(_, valid) => unknown_key(source, entry, &valid),
        // A value in `[plugins]` that isn't a table can't be a plugin's.
        _ if is_plugin => unknown_key(source, entry, &PLUGINS),
        InvalidShape::UnknownVariant(found, valid) => {
            let message = format!("unknown {name} `{found}`");
            let error = source.error(span, &format!("unknown {name}"), message);
            let valid = || valid.iter().copied();
            error.help(suggest::help_or_list(found, valid, "valid values"))
        }
        InvalidShape::MissingKey(key) => {
            // An array of tables has the span of its first table.
            let innermost = spans.iter().rposition(is_at_span);
            let mut keys = EntrySpans::entries(spans, innermost.unwrap_or(at));
            match keys.find(|near| suggest::nearest(&near.name, [key]).is_some()) {
                Some(near) => unknown_key(source, near, &[key]),
                None => source.error(span, "", format!("missing key `{key}` in `[[{name}]]`")),
            }
        }
        InvalidShape::TypeMismatch { got, expected } => {
            let text = &source.text[span.clone()];
            let help = match (expected, got.starts_with("string")) {
                ("a list", true) => Some(format!("did you mean `{name} = [{text}]`?")),
                (INSTRUMENT, true) => Some(format!("did you mean `{{ name = {text} }}`?")),
                _ => None,
            };
            let message = format!("invalid value for `{name}`: expected {expected}, found {got}");
            let mut error = source.error(span, &format!("expected {expected}"), message);
            error.help = help;
            error
        }
        InvalidShape::Other(message) => {
            source.error(span, "", format!("invalid `{name}`: {message}"))
        }
    }
}

/// Returns the error for an unknown key. `valid` has the table's keys.
fn unknown_key(source: &SourceText, entry: &EntrySpans, valid: &[&str]) -> PassError {
    let name = entry.name.as_str();
    let table = match entry.path.split_last() {
        None | Some((_, [])) => "the pipeline".to_owned(),
        Some((_, [list, ..])) if list == "passes" || list == "instruments" => {
            format!("`[[{list}]]`")
        }
        Some((_, table)) => format!("`[{}]`", table.join(".")),
    };
    let valid = || valid.iter().copied();
    let table_name = KEY_TABLES.into_iter().find(|(key, _)| *key == name);
    let help = match table_name.filter(|_| entry.path.len() == 1) {
        Some((_, table_name)) => format!("move `{name}` to {table_name}"),
        None => suggest::help(name, valid()).unwrap_or_else(|| {
            let list = suggest::listed(valid());
            match table.as_str() {
                "`[[passes]]`" => format!(
                    "write an option of the pass as `options = {{ {name} = … }}`; valid keys: {list}"
                ),
                "`[plugins]`" => format!(
                    "valid keys: {list}, or a table `[plugins.NAME]` for a plugin"
                ),
                _ => format!("valid keys: {list}"),
            }
        }),
    };
    let message = format!("unknown key `{name}` in {table}");
    let error = source.error(entry.key.clone(), "unknown key", message);
    error.help(help)
}
