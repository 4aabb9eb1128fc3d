//! A death as the process that dies tells it: a sentence for people, written where nothing may be allocated.

use std::fmt::{self, Write};

use crate::call::{CallKind, current};
use crate::death::DeathCause;

/// The room for a sentence, in bytes.
const ROOM: usize = 4096;

/// The words before the sentence.
pub(crate) const CODE: &str = "error[crashed]: ";

/// A text in a fixed buffer. What doesn't fit is an error.
pub(crate) struct FixedText {
    bytes: [u8; ROOM],
    len: usize,
}

impl FixedText {
    pub(crate) const EMPTY: FixedText = FixedText {
        bytes: [0; ROOM],
        len: 0,
    };

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds a text as a string of JSON.
    pub(crate) fn write_json(&mut self, text: &str) -> fmt::Result {
        self.write_char('"')?;
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(self, "\\{c}")?,
                c if (c as u32) < 0x20 => write!(self, "\\u{:04x}", c as u32)?,
                c => self.write_char(c)?,
            }
        }
        self.write_char('"')
    }
}

impl Write for FixedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len());
        room.ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// A name as it may be shown on a terminal: characters that control it become question marks.
struct Shown<'t>(&'t str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            let controls = c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
            f.write_char(if controls { '?' } else { c })?;
        }
        Ok(())
    }
}

/// Writes what ended the process, and what this thread called.
pub(crate) fn write_death(out: &mut FixedText, cause: &DeathCause) -> fmt::Result {
    let mut buffer = [0; 504];
    let mut calls = current().into_iter().flat_map(|thread| thread.calls());
    let Some((culprit, kind)) = calls.next().and_then(|call| Some((call, call.kind()?))) else {
        writeln!(
            out,
            "{CODE}Something {cause}; no call into a plugin was on this thread."
        )?;
        return out.write_str("  = Nothing was written.\n");
    };
    let pass = calls.find(|call| call.kind() == Some(CallKind::Pass));
    let pass = pass.filter(|_| kind != CallKind::Pass);
    for (call, is_culprit) in [(Some(culprit), true), (pass, false)] {
        let Some(call) = call else { continue };
        let (name, plugin, function) = call.texts();
        let name = Shown(name.copy_to(&mut buffer));
        match (is_culprit, kind) {
            (true, CallKind::Definition) => {
                writeln!(out, "{CODE}The definition of `{name}` {cause}.")?
            }
            (true, kind) => writeln!(out, "{CODE}The {} `{name}` {cause}.", kind.name())?,
            (false, CallKind::Instrument) => {
                writeln!(out, "  = it was called around the pass `{name}`")?;
            }
            (false, _) => writeln!(out, "  = in the pass `{name}`")?,
        }
        let function = function.copy_to(&mut buffer);
        if !function.is_empty() {
            writeln!(out, "  = in the function @{}", Shown(function))?;
        }
        let plugin = plugin.copy_to(&mut buffer);
        if !plugin.is_empty() {
            writeln!(out, "  = of the plugin `{}`", Shown(plugin))?;
        }
    }
    out.write_str("  = Nothing was written.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_controls_no_terminal() {
        let shown = Shown("a\u{1b}[31m\u{9b}\u{202e}b\n").to_string();
        assert_eq!(shown, "a?[31m??b?");
    }
}
