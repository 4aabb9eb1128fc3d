//! Parser for case files.

use std::fmt;

/// The prefix of the line before a case. The case's name follows.
const CASE: &str = "; ---";

/// The prefix of the line between a case's module and its expected result.
const EXPECT: &str = "; expect";

/// A file of cases.
pub struct CaseFile {
    /// The text before the first case, with the settings of all cases.
    head: String,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// A module, the settings that apply to it, and the expected result.
pub struct Case {
    /// The name; a case without one continues the subject of the previous case.
    pub name: String,
    /// The settings in TOML: those of the file, overridden by those of the case.
    pub settings: toml::Table,
    /// The comments below the name, unchanged.
    head: String,
    /// The module in IR text.
    pub source: String,
    /// The rest of the `; expect` line, and the lines below it.
    pub expected: String,
}

impl CaseFile {
    /// Parses a file.
    ///
    /// # Errors
    /// If settings aren't TOML.
    pub fn parse(text: &str) -> Result<CaseFile, String> {
        let mut parts = split_before(text, CASE).into_iter();
        let head = match text.starts_with(CASE) {
            true => "",
            false => parts.next().unwrap_or_default(),
        };
        let shared = table_of(&settings_in(head), 1)?;
        let mut file = CaseFile {
            head: head.trim_end().to_owned() + if head.trim().is_empty() { "" } else { "\n" },
            cases: Vec::new(),
        };
        let mut above = head.lines().count();
        for part in parts {
            file.cases.push(Case::parse(part, &shared, above + 1)?);
            above += part.lines().count();
        }
        Ok(file)
    }
}

impl Case {
    fn parse(text: &str, shared: &toml::Table, line: usize) -> Result<Case, String> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let is_comment = |line: &&str| line.starts_with(';') && !line.starts_with(EXPECT);
        let head: String = rest.split_inclusive('\n').take_while(is_comment).collect();
        let body = &rest[head.len()..];
        let mut parts = split_before(body, EXPECT).into_iter();
        let source = match body.starts_with(EXPECT) {
            true => "",
            false => parts.next().unwrap_or_default(),
        };
        let expected: String = parts.collect();
        let mut settings = shared.clone();
        settings.extend(table_of(&settings_in(&head), line)?);
        Ok(Case {
            name: first[CASE.len()..].trim().to_owned(),
            settings,
            source: source.to_owned(),
            expected: format!("{}\n", expected.trim_start_matches(EXPECT).trim_end()),
            head,
        })
    }
}

impl fmt::Display for CaseFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        for (n, case) in self.cases.iter().enumerate() {
            let gap = if n == 0 && self.head.is_empty() {
                ""
            } else {
                "\n"
            };
            write!(f, "{gap}{case}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case {
            name,
            head,
            source,
            expected,
            ..
        } = self;
        let name = match name.as_str() {
            "" => String::new(),
            name => format!(" {name}"),
        };
        write!(f, "{CASE}{name}\n{head}{source}{EXPECT}{expected}")
    }
}

/// Splits a text before each line with this prefix. The first part may begin without it.
fn split_before<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut begin, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with(start) && at > begin {
            parts.push(&text[begin..at]);
            begin = at;
        }
        at += line.len();
    }
    parts.push(&text[begin..]);
    parts
}

/// Returns the part of comments that is TOML: from the first line with a key or a table's header on.
fn settings_in(comments: &str) -> String {
    let lines = comments.lines().filter_map(|line| line.strip_prefix(';'));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let settings = lines.skip_while(|line| !is_setting(line));
    settings.flat_map(|line| [line, "\n"]).collect()
}

/// Whether a line is a setting, `key = value` or `[table]`, and not prose.
fn is_setting(line: &str) -> bool {
    let key = line.split_once(" = ").map_or("", |(key, _)| key);
    let is_key = |c: char| c.is_alphanumeric() || "_.-\"".contains(c);
    line.starts_with('[') || !key.is_empty() && key.chars().all(is_key)
}

fn table_of(settings: &str, line: usize) -> Result<toml::Table, String> {
    let table = settings.parse::<toml::Table>();
    table.map_err(|error| format!("line {line}: The settings aren't TOML: {error}"))
}
