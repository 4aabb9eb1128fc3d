//! Checks for names of operators in options.

use crate::data::PassError;
use crate::ir::Module;

impl Module<'_> {
    /// Checks names of operators in an option. A name is rejected if it has no domain or is in ONNX's domain, and
    /// neither a plugin defines it nor an op has it. Names of other domains aren't checked, since their definitions
    /// needn't be loaded.
    ///
    /// # Errors
    /// If a name is rejected; the message suggests the most similar one. If the host can't read a function.
    pub fn check_operators<I>(&self, option: &str, names: I) -> Result<(), PassError>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let f = match self.entries().next() {
            Some(entry) => self.snapshot(entry.name)?,
            None => return Ok(()),
        };
        for name in names {
            let name = name.as_ref();
            let is_defined =
                |name: &str| -> Result<bool, PassError> { Ok(f.traits_of(f.intern(name)?).0 != 0) };
            let is_other = name.contains('.') && !name.starts_with("onnx.");
            if is_other || (name.contains('.') && is_defined(name)?) {
                continue;
            }
            let mut used = Vec::new();
            for entry in self.functions() {
                let function = self.snapshot(entry.name)?;
                let names = function.names()?;
                used.extend(names.iter().map(|one| self.text(one.name).to_owned()));
            }
            if used.iter().any(|other| other == name) {
                continue;
            }
            let own = format!("onnx.{}", name);
            let near = match is_defined(&own)? {
                true => Some(&*own),
                false => nearest(name, used.iter().map(String::as_str)),
            };
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{}`?", near));
            return Err(PassError::config(format!(
                "invalid value for option `{}`: unknown operator `{}`{}",
                option, name, near
            )));
        }
        Ok(())
    }
}

/// Returns the most similar name, if the edit distance is at most two fifths of the length. For suggestions in error
/// messages about misspelled names.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::nearest;
///
/// assert_eq!(nearest("chanels", ["channels", "groups"]), Some("channels"));
/// assert_eq!(nearest("axis", ["channels", "groups"]), None);
/// ```
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let names = names
        .into_iter()
        .map(|other| (distance(name, other), other));
    let near = names.min();
    near.filter(|(distance, other)| distance * 5 <= name.len().max(other.len()) * 2)
        .map(|(_, other)| other)
}

/// Returns the edit distance: the number of letters to insert, remove or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
