//! The text from which a module was parsed, stored so that messages can show its lines.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

/// A text and the positions of its lines.
#[derive(Debug)]
pub struct TextSource {
    name: Arc<str>,
    text: String,
    /// The start of each line; computed at the first use.
    starts: OnceLock<Vec<usize>>,
    /// The line of each `loc("…")`, 0 if there are several; computed at the first use.
    locs: OnceLock<FxHashMap<String, u32>>,
}

impl TextSource {
    /// Stores a text under the name that locations use for it, without the blobs of large constants at its end.
    pub fn new(name: &str, text: &str) -> TextSource {
        let is_blob = |line: &&str| line.trim_start().starts_with("blob ");
        let blob = text.split_inclusive('\n').find(is_blob);
        let end = blob.map_or(text.len(), |line| {
            line.as_ptr() as usize - text.as_ptr() as usize
        });
        TextSource {
            name: name.into(),
            text: text[..end].to_owned(),
            starts: OnceLock::new(),
            locs: OnceLock::new(),
        }
    }

    /// Returns the name that locations use for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a line by its 1-based number, without its line ending.
    pub fn line(&self, number: u32) -> Option<&str> {
        let starts = self.starts.get_or_init(|| {
            let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let at = (number as usize).checked_sub(1)?;
        let start = *starts.get(at)?;
        let end = starts.get(at + 1).map_or(self.text.len(), |end| end - 1);
        Some(self.text[start..end].trim_end_matches('\r'))
    }

    /// Returns the number of the only line with the location `name`.
    pub fn line_of_loc(&self, name: &str) -> Option<u32> {
        let locs = self.locs.get_or_init(|| {
            let mut locs = FxHashMap::default();
            for (at, line) in self.text.lines().enumerate() {
                let Some((_, rest)) = line.rsplit_once(" loc(\"") else {
                    continue;
                };
                // Fused locations and names with escapes aren't indexed.
                let name = rest.split_once("\")").map(|(name, _)| name);
                if let Some(name) = name.filter(|name| !name.contains(['"', '\\'])) {
                    let line = at as u32 + 1;
                    let known = locs.entry(name.to_owned()).or_insert(line);
                    *known = if *known == line { line } else { 0 };
                }
            }
            locs
        });
        locs.get(name).copied().filter(|&line| line > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_without_blobs() {
        let source = TextSource::new("m.ir", "module {\r\n  fn\n  blob 0 = \"AAAA\"\n}\n");
        let lines: Vec<_> = (0..5).map(|number| source.line(number)).collect();
        assert_eq!(
            lines,
            [None, Some("module {"), Some("  fn"), Some(""), None]
        );
        let source = TextSource::new("m.ir", "module { fn }");
        assert_eq!(source.line(1), Some("module { fn }"));
    }

    #[test]
    fn lines_are_found_by_location() {
        let text = "%0 = a(\"loc\") loc(\"x\")\n%1 = b() loc(\"y\") ; no loc\n%2 = c() loc(\"y\")\n%3 = d() loc(\"p\", \
            \"q\")\n";
        let source = TextSource::new("m.ir", text);
        let lines = ["x", "y", "p", "q", ""].map(|name| source.line_of_loc(name));
        assert_eq!(lines, [Some(1), None, None, None, None]);
    }
}
