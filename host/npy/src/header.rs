//! The header of a `.npy` file: a version, a length, and a dictionary in Python's words,
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.

use std::io::Read;

use passdock_abi::DType;

use crate::Error;

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy itself takes none that is longer than 10,000.
const MAX_HEADER: u32 = 1 << 16;
/// No tensor has more dims.
const MAX_RANK: usize = 64;

/// The contents of a header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<i64>,
    /// Bytes of an element.
    pub(crate) element_len: usize,
    /// Bytes of a number: a complex element has two.
    pub(crate) number_len: usize,
    /// Bytes of all elements.
    pub(crate) byte_len: u64,
    pub(crate) is_big_endian: bool,
    pub(crate) by_columns: bool,
}

impl Header {
    pub(crate) fn read(file: &mut impl Read) -> Result<Header, Error> {
        let mut start = [0; 8];
        let is_short = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::NotNpy,
            _ => Error::Io(error),
        };
        file.read_exact(&mut start).map_err(is_short)?;
        let [magic @ .., major, _] = start;
        if magic != MAGIC {
            return Err(Error::NotNpy);
        }
        let mut len = [0; 4];
        let width = match major {
            1 => 2,
            2 | 3 => 4,
            other => return Err(wrong(format!("is of version {other}; 1 to 3 can be read"))),
        };
        file.read_exact(&mut len[..width]).map_err(is_short)?;
        let len = u32::from_le_bytes(len);
        if len > MAX_HEADER {
            return Err(wrong(format!("would be {len} bytes long")));
        }
        let mut text = vec![0; len as usize];
        file.read_exact(&mut text).map_err(is_short)?;
        let text = String::from_utf8(text).map_err(|_| wrong("isn't text"))?;
        Fields::parse(&text)?.header()
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::Header(what.into())
}

/// The dictionary.
#[derive(Default)]
struct Fields {
    descr: Option<String>,
    by_columns: Option<bool>,
    shape: Option<Vec<i64>>,
}

impl Fields {
    fn parse(text: &str) -> Result<Fields, Error> {
        let mut words = Words(text);
        let mut fields = Fields::default();
        words.expect('{')?;
        while !words.take('}') {
            let key = words.string()?;
            words.expect(':')?;
            match key {
                "descr" if words.sees('[') => {
                    return Err(Error::Elements("records of several fields".to_owned()));
                }
                "descr" => fields.descr = Some(words.string()?.to_owned()),
                "fortran_order" => fields.by_columns = Some(words.bool()?),
                "shape" => fields.shape = Some(words.sizes()?),
                other => return Err(wrong(format!("has a field `{}`", other.escape_debug()))),
            }
            if !words.take(',') && !words.sees('}') {
                return Err(words.wrong());
            }
        }
        match words.rest() {
            "" => Ok(fields),
            _ => Err(words.wrong()),
        }
    }

    fn header(self) -> Result<Header, Error> {
        let lacks = |field: &str| wrong(format!("doesn't say `{field}`"));
        let descr = self.descr.ok_or_else(|| lacks("descr"))?;
        let by_columns = self.by_columns.ok_or_else(|| lacks("fortran_order"))?;
        let shape = self.shape.ok_or_else(|| lacks("shape"))?;
        let (dtype, element_len, number_len) = element(&descr)?;
        let too_large = || wrong(format!("says {shape:?}, which nothing can hold"));
        let mut count = Some(1_u64);
        for &size in shape.iter().filter(|&&size| size != 0) {
            count = count.and_then(|count| count.checked_mul(size as u64));
        }
        let bytes = count.and_then(|count| count.checked_mul(element_len as u64));
        let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let byte_len = match shape.contains(&0) {
            // Whatever the others are, they are no more than memory has.
            true => bytes.map(|_| 0),
            false => bytes,
        };
        Ok(Header {
            byte_len: byte_len.ok_or_else(too_large)?,
            dtype,
            element_len,
            number_len,
            is_big_endian: descr.starts_with('>'),
            by_columns: by_columns && shape.len() > 1,
            shape,
        })
    }
}

/// The element type that NumPy calls so, the bytes of an element and those of a number.
fn element(descr: &str) -> Result<(DType, usize, usize), Error> {
    let kind = descr.trim_start_matches(['<', '>', '|']);
    let one = |dtype, len| Ok((dtype, len, len));
    match kind {
        "b1" => one(DType::BOOL, 1),
        "i1" => one(DType::I8, 1),
        "i2" => one(DType::I16, 2),
        "i4" => one(DType::I32, 4),
        "i8" => one(DType::I64, 8),
        "u1" => one(DType::U8, 1),
        "u2" => one(DType::U16, 2),
        "u4" => one(DType::U32, 4),
        "u8" => one(DType::U64, 8),
        "f2" => one(DType::F16, 2),
        "V2" => one(DType::BF16, 2),
        "f4" => one(DType::F32, 4),
        "f8" => one(DType::F64, 8),
        "c8" => Ok((DType::C64, 8, 4)),
        "c16" => Ok((DType::C128, 16, 8)),
        _ => Err(Error::Elements(match kind.chars().next() {
            Some('O') => "Python objects".to_owned(),
            Some('U' | 'S' | 'a') => "strings".to_owned(),
            _ => format!("`{}`", descr.escape_debug()),
        })),
    }
}

/// The rest of the header's text.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn rest(&mut self) -> &'t str {
        self.0 = self.0.trim_start();
        self.0
    }

    fn sees(&mut self, char: char) -> bool {
        self.rest().starts_with(char)
    }

    fn take(&mut self, char: char) -> bool {
        let after = self.rest().strip_prefix(char);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    fn expect(&mut self, char: char) -> Result<(), Error> {
        match self.take(char) {
            true => Ok(()),
            false => Err(self.wrong()),
        }
    }

    /// An error about the next word, which isn't understood.
    fn wrong(&mut self) -> Error {
        let start: String = self.rest().chars().take(20).collect();
        wrong(format!("isn't understood at `{}`", start.escape_debug()))
    }

    fn string(&mut self) -> Result<&'t str, Error> {
        let quote = match self.rest().chars().next() {
            Some(quote @ ('\'' | '"')) => quote,
            _ => return Err(self.wrong()),
        };
        match self.0[1..].split_once(quote) {
            Some((string, rest)) if !string.contains('\\') => {
                self.0 = rest;
                Ok(string)
            }
            _ => Err(self.wrong()),
        }
    }

    fn bool(&mut self) -> Result<bool, Error> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest().strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(self.wrong())
    }

    /// `()`, `(3,)`, `(3, 4)`.
    fn sizes(&mut self) -> Result<Vec<i64>, Error> {
        self.expect('(')?;
        let mut sizes = Vec::new();
        while !self.take(')') {
            let rest = self.rest();
            let digits = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let Ok(size) = rest[..digits].parse() else {
                return Err(self.wrong());
            };
            if sizes.len() == MAX_RANK {
                return Err(wrong(format!("says more than {MAX_RANK} dims")));
            }
            sizes.push(size);
            // Python 2 wrote long integers so.
            self.0 = rest[digits..].strip_prefix('L').unwrap_or(&rest[digits..]);
            if !self.take(',') && !self.sees(')') {
                return Err(self.wrong());
            }
        }
        Ok(sizes)
    }
}
