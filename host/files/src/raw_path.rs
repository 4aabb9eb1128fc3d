//! Serialization of paths: as a string if they are UTF-8, and as bytes otherwise, so that requests are sent without
//! loss.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A serialized path.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Raw {
    /// UTF-8.
    Text(String),
    /// Other bytes.
    Bytes(Vec<u8>),
}

/// Types that are serialized as [`Raw`] paths: a path, an optional one, or a list.
pub trait Paths {
    /// The serialized form.
    type Raw: Serialize + DeserializeOwned;

    /// Returns the serialized form.
    fn to_raw(&self) -> Self::Raw;

    /// Returns the path.
    fn from_raw(raw: Self::Raw) -> Self;
}

impl Paths for PathBuf {
    type Raw = Raw;

    fn to_raw(&self) -> Raw {
        match self.to_str() {
            Some(text) => Raw::Text(text.to_owned()),
            None => Raw::Bytes(self.as_os_str().as_encoded_bytes().to_vec()),
        }
    }

    fn from_raw(raw: Raw) -> PathBuf {
        match raw {
            Raw::Text(text) => text.into(),
            #[cfg(unix)]
            Raw::Bytes(bytes) => {
                use std::os::unix::ffi::OsStringExt;
                std::ffi::OsString::from_vec(bytes).into()
            }
            #[cfg(not(unix))]
            Raw::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        }
    }
}

impl<P: Paths> Paths for Option<P> {
    type Raw = Option<P::Raw>;

    fn to_raw(&self) -> Self::Raw {
        self.as_ref().map(P::to_raw)
    }

    fn from_raw(raw: Self::Raw) -> Self {
        raw.map(P::from_raw)
    }
}

impl<P: Paths> Paths for Vec<P> {
    type Raw = Vec<P::Raw>;

    fn to_raw(&self) -> Self::Raw {
        self.iter().map(P::to_raw).collect()
    }

    fn from_raw(raw: Self::Raw) -> Self {
        raw.into_iter().map(P::from_raw).collect()
    }
}

/// Serializes paths.
///
/// # Errors
/// The serializer's error.
pub fn serialize<P: Paths, S: Serializer>(paths: &P, to: S) -> Result<S::Ok, S::Error> {
    paths.to_raw().serialize(to)
}

/// Deserializes paths.
///
/// # Errors
/// The deserializer's error.
pub fn deserialize<'de, P: Paths, D: Deserializer<'de>>(from: D) -> Result<P, D::Error> {
    P::Raw::deserialize(from).map(P::from_raw)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn non_utf8_paths_round_trip() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct All {
            #[serde(with = "super")]
            one: PathBuf,
            #[serde(with = "super")]
            optional: Option<PathBuf>,
            #[serde(with = "super")]
            none: Option<PathBuf>,
            #[serde(with = "super")]
            several: Vec<PathBuf>,
        }
        let odd = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0xfe]));
        let all = All {
            one: odd.clone(),
            optional: Some(odd.clone()),
            none: None,
            several: vec!["plain".into(), odd],
        };
        let text = serde_json::to_string(&all).unwrap();
        assert!(text.contains(r#"["plain",[97,254]]"#), "{text}");
        assert_eq!(serde_json::from_str::<All>(&text).unwrap(), all);
    }
}
