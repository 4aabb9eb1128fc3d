//! A cursor over IR text that splits off words, numbers, strings and names.
//!
//! There is no token list, because the meaning of a character depends on its context: `%` is the sigil of a value in an
//! op and "modulo" in a dim. So the parser requests the token that it expects.

use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;

use super::error::ParseError;
use crate::name::{OpName, is_plain_byte};

/// A number without a type yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number<'t> {
    /// Digits with an optional sign.
    Int(&'t str),
    /// Digits with a point or an exponent.
    Float(&'t str),
    /// The bits after `0x`.
    Hex(u64),
    /// `inf`, `-inf`, `nan`, `true`, `false`.
    Keyword(&'t str),
}

impl<'t> Number<'t> {
    pub(crate) fn int<T: FromStr>(self) -> Option<T> {
        match self {
            Number::Int(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn float(self) -> Option<f64> {
        match self {
            Number::Int(text) | Number::Float(text) => text.parse().ok(),
            Number::Keyword("nan") => Some(f64::NAN),
            Number::Keyword("inf") => Some(f64::INFINITY),
            Number::Keyword("-inf") => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }

    pub(crate) fn float32(self) -> Option<f32> {
        match self {
            Number::Int(text) | Number::Float(text) => text.parse().ok(),
            _ => self.float().map(|value| value as f32),
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Number::Int(text) | Number::Float(text) | Number::Keyword(text) => text.to_owned(),
            Number::Hex(bits) => format!("0x{bits:x}"),
        }
    }
}

/// A value's name as written in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueName<'t> {
    /// The number of an unnamed value: `%12`.
    Number(u32),
    /// A name: `%x`, `%"a/b"`.
    Name(Cow<'t, str>),
}

/// The position of the parser in the text.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    pos: usize,
    /// The end of the last word, where skipped white space begins.
    consumed: usize,
}

type Lex<T> = Result<T, ParseError>;

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Cursor<'t> {
        Cursor {
            text,
            pos: 0,
            consumed: 0,
        }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the next byte after white space and comments; 0 at the end.
    pub(crate) fn peek(&mut self) -> u8 {
        self.skip();
        self.byte(0)
    }

    /// Returns the start of the next word.
    pub(crate) fn here(&mut self) -> usize {
        self.skip();
        self.pos
    }

    /// Returns the end of the last word.
    pub(crate) fn end(&self) -> usize {
        self.pos
    }

    /// Returns the byte `ahead` of the next one.
    fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// Returns the remaining bytes.
    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.pos..).unwrap_or_default()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    /// Skips white space and comments, which extend from `;` to the end of the line.
    #[inline]
    fn skip(&mut self) {
        if matches!(self.byte(0), b' ' | b'\n' | b'\t' | b'\r' | b';') {
            self.skip_space();
        }
    }

    fn skip_space(&mut self) {
        self.consumed = self.pos;
        loop {
            match self.byte(0) {
                b' ' | b'\n' | b'\t' | b'\r' => self.pos += 1,
                b';' => {
                    let rest = self.rest();
                    self.pos += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Consumes the byte that [`Cursor::peek`] returned.
    pub(crate) fn bump(&mut self) {
        self.pos += 1;
    }

    /// Consumes punctuation if it is next.
    #[inline]
    pub(crate) fn eat(&mut self, what: &str) -> bool {
        self.skip();
        let found = self.bytes().starts_with(what.as_bytes());
        if found {
            self.pos += what.len();
        }
        found
    }

    /// Consumes punctuation, or returns an error that it is missing; `context` describes the position.
    pub(crate) fn expect(&mut self, what: &str, context: &str) -> Lex<()> {
        if self.eat(what) {
            return Ok(());
        }
        Err(self.missing(&format!("`{what}` {context}")))
    }

    /// Whether a list has another item. Consumes `close` at its end, and the comma between items.
    pub(crate) fn another(&mut self, close: &str, first: bool, context: &str) -> Lex<bool> {
        if self.eat(close) {
            return Ok(false);
        }
        if !first {
            self.expect(",", context)?;
        }
        Ok(true)
    }

    /// Creates an error about a missing token.
    pub(crate) fn missing(&mut self, what: &str) -> ParseError {
        let here = self.here();
        let skipped = self.text.get(self.consumed..here).unwrap_or("");
        let only_space = skipped.bytes().all(|byte| byte.is_ascii_whitespace());
        if only_space && skipped.contains('\n') && self.consumed > 0 {
            // The next line may be correct; this one is incomplete.
            let message = format!("expected {what}, found end of line");
            return self.error_at(self.consumed..self.consumed, message);
        }
        let found = self.found();
        self.error_here(format!("expected {what}, found {found}"))
    }

    /// Returns the next word or character for a message.
    pub(crate) fn found(&mut self) -> String {
        match self.token() {
            "" => "end of input".to_owned(),
            token => format!("`{}`", token.chars().take(40).collect::<String>()),
        }
    }

    /// Returns the next word with its sigil, or the next character; empty at the end.
    fn token(&mut self) -> &'t str {
        self.skip();
        let rest = self.rest();
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let ident = rest.strip_prefix(['%', '@']).unwrap_or(rest);
        let after = ident.trim_start_matches(plain);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        &rest[..(rest.len() - after.len()).max(first)]
    }

    /// Creates an error about the next word.
    pub(crate) fn error_here(&mut self, message: impl Into<String>) -> ParseError {
        let start = self.here();
        let end = start + self.token().len();
        self.error_at(start..end, message)
    }

    /// Creates an error about the text since `start`.
    pub(crate) fn error_since(&self, start: usize, message: impl Into<String>) -> ParseError {
        self.error_at(start..self.pos.max(start), message)
    }

    /// Creates an error about a span of the text.
    pub(crate) fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        ParseError::new(self.text, span, message)
    }

    /// Returns the next word without consuming it.
    pub(crate) fn peek_ident(&mut self) -> &'t str {
        self.skip();
        self.plain_ident()
    }

    /// Consumes a word of letters, digits and `_`; empty if none is next.
    pub(crate) fn ident(&mut self) -> &'t str {
        let ident = self.peek_ident();
        self.pos += ident.len();
        ident
    }

    /// Consumes this word if it is next.
    pub(crate) fn eat_keyword(&mut self, ident: &str) -> bool {
        let found = self.peek_ident() == ident;
        if found {
            self.pos += ident.len();
        }
        found
    }

    /// Returns the byte after the next word, skipping white space.
    pub(crate) fn after_ident(&mut self) -> u8 {
        let mut ahead = self.clone();
        ahead.ident();
        ahead.peek()
    }

    /// Parses a name: a word that doesn't start with a digit, or a string.
    pub(crate) fn name(&mut self, what: &str) -> Lex<Cow<'t, str>> {
        match self.peek() {
            b'"' => self.string_text(),
            byte if is_plain_byte(byte) && !byte.is_ascii_digit() => Ok(self.ident().into()),
            _ => Err(self.missing(what)),
        }
    }

    /// Parses `%x`, `%"a b"`, `%12`.
    pub(crate) fn value_name(&mut self) -> Lex<ValueName<'t>> {
        self.expect("%", "before a value name")?;
        match self.byte(0) {
            b'"' => Ok(ValueName::Name(self.string_text()?)),
            byte if byte.is_ascii_digit() => {
                let start = self.pos - 1;
                let digits = self.ident();
                match digits.parse() {
                    Ok(number) => Ok(ValueName::Number(number)),
                    Err(_) => {
                        let message = format!(
                            "invalid value number `%{digits}`; quote a name that starts with a digit: \
                             `%\"{digits}\"`"
                        );
                        Err(self.error_since(start, message))
                    }
                }
            }
            byte if is_plain_byte(byte) => Ok(ValueName::Name(self.ident().into())),
            _ => {
                self.pos -= 1;
                let message = "expected a name or a number after `%`";
                Err(self.error_at(self.pos..self.pos + 1, message))
            }
        }
    }

    /// Parses the canonical name of an op or a function, or `symbol("…")` for a symbol that isn't canonical.
    pub(crate) fn op_name(&mut self, what: &str) -> Lex<Cow<'t, str>> {
        self.skip();
        let start = self.pos;
        let mut quoted = false;
        loop {
            if self.byte(0) == b'"' {
                quoted = true;
                self.skip_quoted()?;
            } else {
                let ident = self.suffix();
                if ident.is_empty() {
                    if start == self.pos {
                        return Err(self.missing(what));
                    }
                    return Err(self.error_here("expected a name part"));
                }
                if ident == "symbol" && self.pos - start == 6 && self.byte(0) == b'(' {
                    self.pos += 1;
                    let text = self.string_text()?;
                    self.expect(")", "after a symbol")?;
                    return Ok(text);
                }
            }
            match self.byte(0) {
                // `..` is part of a range.
                b'.' if self.byte(1) != b'.' => self.pos += 1,
                b'#' => self.pos += 1,
                _ => break,
            }
        }
        let text = &self.text[start..self.pos];
        if !quoted && !text.contains('#') && !text.starts_with("ai.onnx.") {
            return Ok(text.into());
        }
        match OpName::parse(text) {
            Some(mut name) => {
                if name.domain.as_deref() == Some("ai.onnx") {
                    name.domain = Some("".into());
                }
                Ok(name.to_string().into())
            }
            None => {
                let message = format!(
                    "expected {what}, `domain.Name` or `domain.Name#overload`, found `{text}`"
                );
                Err(self.error_since(start, message))
            }
        }
    }

    /// Returns the word at the current position without consuming it.
    fn plain_ident(&self) -> &'t str {
        let bytes = self.bytes().iter();
        let len = bytes.take_while(|&&byte| is_plain_byte(byte)).count();
        &self.text[self.pos..self.pos + len]
    }

    fn skip_quoted(&mut self) -> Lex<()> {
        let start = self.pos;
        let mut escaped = false;
        for (at, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                b'"' if !escaped => {
                    self.pos += at + 1;
                    return Ok(());
                }
                byte => escaped = byte == b'\\' && !escaped,
            }
        }
        Err(self.error_at(start..start + 1, "unterminated string"))
    }

    /// Parses a number with an optional sign.
    pub(crate) fn number(&mut self, what: &str) -> Lex<Number<'t>> {
        self.skip();
        let start = self.pos;
        let sign = usize::from(self.byte(0) == b'-');
        self.pos += sign;
        let ident = self.suffix();
        let whole = &self.text[start..self.pos];
        if let ("inf", _) | ("nan" | "true" | "false", 0) = (ident, sign) {
            return Ok(Number::Keyword(whole));
        }
        if let (Some(hex), 0) = (ident.strip_prefix("0x"), sign) {
            if let Ok(bits) = u64::from_str_radix(hex, 16) {
                return Ok(Number::Hex(bits));
            }
            let message =
                format!("invalid number `{ident}`: expected 1 to 16 hex digits after `0x`");
            return Err(self.error_since(start, message));
        }
        let digits = ident.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            self.pos = start;
            return Err(self.missing(what));
        }
        self.pos = start + sign + digits;
        let mut float = false;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            float = true;
            self.pos += 1;
            self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                float = true;
                self.pos += 1 + sign;
                self.digits();
            }
        }
        let text = &self.text[start..self.pos];
        Ok(if float {
            Number::Float(text)
        } else {
            Number::Int(text)
        })
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.pos += 1;
        }
    }

    /// Consumes the word that follows directly, without a space.
    pub(crate) fn suffix(&mut self) -> &'t str {
        let ident = self.plain_ident();
        self.pos += ident.len();
        ident
    }

    /// Parses an integer.
    pub(crate) fn integer<T: FromStr>(&mut self, what: &str) -> Lex<T> {
        let start = self.here();
        let number = self.number(what)?;
        number.int().ok_or_else(|| {
            let message = format!("expected {what}, found `{}`", number.text());
            self.error_since(start, message)
        })
    }

    /// Parses a string that has to be UTF-8.
    pub(crate) fn string_text(&mut self) -> Lex<Cow<'t, str>> {
        let start = self.here();
        match self.string()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
        .ok_or_else(|| self.error_since(start, "string is not valid UTF-8"))
    }

    /// Parses a quoted string.
    pub(crate) fn string(&mut self) -> Lex<Cow<'t, [u8]>> {
        let start = self.here();
        if self.byte(0) != b'"' {
            return Err(self.missing("a string"));
        }
        self.pos += 1;
        let plain = self
            .rest()
            .bytes()
            .position(|b| matches!(b, b'"' | b'\\' | b'\n'));
        let bytes = self.rest().as_bytes();
        let end = plain.unwrap_or(bytes.len());
        if bytes.get(end) == Some(&b'"') {
            self.pos += end + 1;
            return Ok(Cow::Borrowed(&bytes[..end]));
        }
        let mut text = bytes[..end].to_vec();
        self.pos += end;
        loop {
            match self.byte(0) {
                b'"' => {
                    self.pos += 1;
                    return Ok(Cow::Owned(text));
                }
                b'\\' => self.escape(&mut text)?,
                0 | b'\n' if self.byte(0) == b'\n' || self.pos >= self.text.len() => {
                    let message = "unterminated string; write a line break as `\\n`";
                    return Err(self.error_at(start..start + 1, message));
                }
                byte => {
                    text.push(byte);
                    self.pos += 1;
                }
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Lex<()> {
        let start = self.pos;
        let (len, byte) = match self.byte(1) {
            b'n' => (2, b'\n'),
            b'r' => (2, b'\r'),
            b't' => (2, b'\t'),
            byte @ (b'"' | b'\\') => (2, byte),
            b'x' => match hex_byte(self.byte(2), self.byte(3)) {
                Some(byte) => (4, byte),
                None => return Err(self.bad_escape(start)),
            },
            b'u' => {
                let hex = self.rest().get(2..).and_then(|rest| rest.strip_prefix('{'));
                let hex = hex
                    .and_then(|rest| rest.split_once('}'))
                    .map(|(hex, _)| hex);
                let c = hex
                    .filter(|hex| hex.len() <= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                    .and_then(char::from_u32);
                let (Some(c), Some(hex)) = (c, hex) else {
                    return Err(self.bad_escape(start));
                };
                text.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                self.pos += hex.len() + 4;
                return Ok(());
            }
            _ => return Err(self.bad_escape(start)),
        };
        text.push(byte);
        self.pos += len;
        Ok(())
    }

    fn bad_escape(&self, start: usize) -> ParseError {
        let after = self.rest().chars().nth(1).map_or(0, char::len_utf8);
        let message =
            "invalid escape: expected `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t`, `\\xNN` or `\\u{N}`";
        self.error_at(start..start + 1 + after, message)
    }

    /// Parses a quoted string of hexadecimal bytes.
    pub(crate) fn hex_string(&mut self) -> Lex<Vec<u8>> {
        let start = self.here();
        let text = self.string()?;
        let pairs = text.chunks(2).map(|pair| match *pair {
            [high, low] => hex_byte(high, low),
            _ => None,
        });
        pairs
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(|| self.error_since(start, "expected an even number of hex digits"))
    }
}

/// Decodes a byte from two hex digits.
fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}
