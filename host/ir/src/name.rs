//! Canonical names of ops and functions: one symbol for domain, name and overload.
//!
//! `onnx.Relu` is ONNX's own Relu (domain `""`, also written `ai.onnx` in files); `com.microsoft.Gelu` is Gelu of
//! `com.microsoft`: the last dot separates domain and name. Parts that would be ambiguous are quoted, with `\` before
//! `"` and `\`: a domain called `onnx` (`"onnx".Relu`), a name with a dot (`x."A.B"`), special characters. An overload
//! follows a `#`. Names without a domain are built into the IR (`return`, `for`).

use std::borrow::Cow;
use std::fmt;

/// A canonical name, split into its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpName<'a> {
    /// `None`: built into the IR; `""`: ONNX's own domain.
    pub domain: Option<Cow<'a, str>>,
    /// The name within the domain.
    pub name: Cow<'a, str>,
    /// The overload; empty if there is none.
    pub overload: Cow<'a, str>,
}

impl<'a> OpName<'a> {
    /// Creates the name of an op or function of a domain, with the domain as an ONNX file spells it.
    pub fn in_domain(domain: &'a str, name: &'a str, overload: &'a str) -> OpName<'a> {
        OpName {
            domain: Some(self::domain(domain).into()),
            name: name.into(),
            overload: overload.into(),
        }
    }

    /// Splits a canonical name; `None` if `text` isn't one.
    pub fn parse(text: &'a str) -> Option<OpName<'a>> {
        let mut parts = Vec::new();
        let mut rest = text;
        let mut overload = Cow::Borrowed("");
        loop {
            let (part, after) = take_part(rest)?;
            parts.push(part);
            match after.as_bytes().first() {
                None => break,
                Some(b'.') => rest = &after[1..],
                Some(b'#') => {
                    let (part, after) = take_part(&after[1..])?;
                    overload = part.0;
                    if !after.is_empty() {
                        return None;
                    }
                    break;
                }
                Some(_) => return None,
            }
        }
        let (name, _) = parts.pop()?;
        let domain = match parts.as_slice() {
            [] => None,
            [(domain, false)] if domain == "onnx" => Some(Cow::Borrowed("")),
            [(domain, _)] => Some(domain.clone()),
            many if many.iter().all(|(_, quoted)| !quoted) => {
                let joined: Vec<&str> = many.iter().map(|(part, _)| part.as_ref()).collect();
                Some(Cow::Owned(joined.join(".")))
            }
            _ => return None,
        };
        Some(OpName {
            domain,
            name,
            overload,
        })
    }
}

/// Returns the canonical spelling of a domain: `""` for ONNX's own, which files may call `ai.onnx`.
pub fn domain(text: &str) -> &str {
    if text == "ai.onnx" { "" } else { text }
}

/// Checks that the name of an op or function has the canonical spelling.
///
/// # Errors
/// If it doesn't; the message contains the canonical spelling.
pub fn check_canonical(text: &str) -> Result<(), String> {
    if is_canonical(text) {
        return Ok(());
    }
    let spelled = match OpName::parse(text) {
        Some(name) => {
            let domain = name.domain.as_deref().unwrap_or("");
            OpName::in_domain(domain, &name.name, &name.overload).to_string()
        }
        // Probably a domain, the last dot, and a name.
        None => match text.rsplit_once('.') {
            Some((domain, name)) if !text.contains(['"', '#']) && !name.is_empty() => {
                OpName::in_domain(domain, name, "").to_string()
            }
            _ => {
                return Err(format!(
                    "invalid name {text:?}: expected `DOMAIN.NAME`, with quotes around parts with characters \
                     other than letters, digits and `_`"
                ));
            }
        },
    };
    Err(format!(
        "name {text:?} is not canonical: expected `{spelled}`"
    ))
}

/// Whether a name has the canonical spelling.
pub(crate) fn is_canonical(text: &str) -> bool {
    if text.starts_with("ai.onnx.") && text.matches('.').count() == 2 {
        return false;
    }
    is_path(text) || OpName::parse(text).is_some_and(|name| name.to_string() == text)
}

impl fmt::Display for OpName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.domain.as_deref() {
            None => {}
            Some("") => f.write_str("onnx.")?,
            Some(domain) => {
                let plain = domain != "onnx" && is_path(domain);
                write_part(f, domain, plain)?;
                f.write_str(".")?;
            }
        }
        write_part(f, &self.name, is_plain(&self.name))?;
        if !self.overload.is_empty() {
            f.write_str("#")?;
            write_part(f, &self.overload, is_plain(&self.overload))?;
        }
        Ok(())
    }
}

/// Whether a part needs no quotes.
pub fn is_plain(part: &str) -> bool {
    is_plain_part(part.as_bytes())
}

/// Whether `text` consists of parts that need no quotes, separated by dots.
fn is_path(text: &str) -> bool {
    let mut parts = text.as_bytes().split(|&byte| byte == b'.');
    parts.all(is_plain_part)
}

fn is_plain_part(part: &[u8]) -> bool {
    !part.is_empty() && part.iter().copied().all(is_plain_byte)
}

/// Whether a byte may occur in an unquoted name.
pub(crate) fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn write_part(f: &mut fmt::Formatter<'_>, part: &str, plain: bool) -> fmt::Result {
    if plain {
        return f.write_str(part);
    }
    f.write_str("\"")?;
    for c in part.chars() {
        if matches!(c, '"' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    f.write_str("\"")
}

/// Splits off the first part; returns it, whether it was quoted, and the rest of the text.
fn take_part(text: &str) -> Option<((Cow<'_, str>, bool), &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text
            .bytes()
            .position(|b| !is_plain_byte(b))
            .unwrap_or(text.len());
        return (end > 0).then(|| ((Cow::Borrowed(&text[..end]), false), &text[end..]));
    };
    let mut part = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(((Cow::Owned(part), true), &quoted[at + 1..])),
            '\\' => part.push(chars.next()?.1),
            c => part.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_names_round_trip() {
        for (domain, name, overload, text) in [
            ("", "Relu", "", "onnx.Relu"),
            ("ai.onnx", "Relu", "", "onnx.Relu"),
            ("onnx", "Relu", "", "\"onnx\".Relu"),
            ("com.microsoft", "Gelu", "", "com.microsoft.Gelu"),
            ("ai.onnx.ml", "Scaler", "", "ai.onnx.ml.Scaler"),
            ("x", "A.B", "v2", "x.\"A.B\"#v2"),
            ("a b", "q\"\\", "", "\"a b\".\"q\\\"\\\\\""),
            ("x", "", "", "x.\"\""),
        ] {
            let op = OpName::in_domain(domain, name, overload);
            assert_eq!(op.to_string(), text);
            assert_eq!(OpName::parse(text), Some(op));
        }
        assert_eq!(OpName::parse("return").unwrap().domain, None);
        for (bad, expected) in [
            ("ai.onnx.Relu", "expected `onnx.Relu`"),
            ("a b.F", "expected `\"a b\".F`"),
            ("x.A-B", "expected `x.\"A-B\"`"),
            ("\"x\".F", "expected `x.F`"),
            ("a b", "expected `DOMAIN.NAME`"),
            ("", "expected `DOMAIN.NAME`"),
        ] {
            let error = check_canonical(bad).unwrap_err();
            assert!(error.contains(expected), "{bad}: {error}");
        }
        for good in ["return", "onnx.Relu", "ai.onnx.ml.Scaler", "\"onnx\".Relu"] {
            assert_eq!(check_canonical(good), Ok(()));
        }
        for bad in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "\"",
            "a b",
            "a#",
            "a#b#c",
            "\"a\".\"b\".c",
        ] {
            assert_eq!(OpName::parse(bad), None, "{bad}");
        }
    }
}
