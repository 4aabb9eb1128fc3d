//! Text that is written where nothing may be allocated: into a buffer of a fixed size.

use std::fmt::{self, Write};

/// The length of the buffer in bytes.
pub(crate) const CAPACITY: usize = 4096;

/// A text in a fixed buffer. What doesn't fit is left out.
pub(crate) struct Record {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Record {
    pub(crate) const EMPTY: Record = Record {
        bytes: [0; CAPACITY],
        len: 0,
    };

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds a string of JSON, of at most `room` bytes; bytes that aren't ASCII text are kept if they are UTF-8's.
    pub(crate) fn json(&mut self, text: &str, room: usize) -> fmt::Result {
        self.write_char('"')?;
        let end = self.len + room.min(CAPACITY);
        for c in text.chars() {
            if self.len >= end {
                break;
            }
            match c {
                '"' | '\\' => {
                    self.write_char('\\')?;
                    self.write_char(c)?;
                }
                c if (c as u32) < 0x20 => write!(self, "\\u{:04x}", c as u32)?,
                c => self.write_char(c)?,
            }
        }
        self.write_char('"')
    }
}

/// A name as it may be shown on a terminal: what would steer that is a question mark.
pub(crate) struct Shown<'t>(pub(crate) &'t str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            let steers = c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
            f.write_char(if steers { '?' } else { c })?;
        }
        Ok(())
    }
}

impl Write for Record {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = CAPACITY - self.len;
        if text.len() > room {
            return Err(fmt::Error);
        }
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_steers_no_terminal() {
        let shown = Shown("a\u{1b}[31m\u{9b}\u{202e}b\n").to_string();
        assert_eq!(shown, "a?[31m??b?");
    }
}
