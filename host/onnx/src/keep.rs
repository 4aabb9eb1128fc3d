//! What the reader keeps for the writer beside spans: the extras of a few rare entities.

/// The name in the file of a value whose name meant another value outside its graph.
pub(crate) struct Original<'a> {
    /// The name that the value got instead; renamed since, it keeps its newer name.
    pub(crate) given: &'a str,
    /// The name in the file.
    pub(crate) original: &'a str,
}

impl<'a> Original<'a> {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let len = (self.given.len() as u32).to_le_bytes();
        [&len[..], self.given.as_bytes(), self.original.as_bytes()].concat()
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Original<'a>> {
        let (len, texts) = bytes.split_first_chunk::<4>()?;
        let texts = std::str::from_utf8(texts).ok()?;
        let (given, original) = texts.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        Some(Original { given, original })
    }
}

/// Where the sparse initializer stands that an op is made of.
#[derive(Clone, Copy)]
pub(crate) struct SparseSpan {
    pub(crate) at: u64,
    pub(crate) len: u64,
}

impl SparseSpan {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [self.at.to_le_bytes(), self.len.to_le_bytes()].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<SparseSpan> {
        let (words, rest) = bytes.as_chunks::<8>();
        match (words, rest) {
            (&[at, len], []) => Some(SparseSpan {
                at: u64::from_le_bytes(at),
                len: u64::from_le_bytes(len),
            }),
            _ => None,
        }
    }
}
