//! Paths in JSON: text where they are, bytes where they aren't, so that a request goes to another process as it is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Raw {
    Text(String),
    Bytes(Vec<u8>),
}

/// What is written as [`Raw`] paths: a path, perhaps one, several.
pub(crate) trait Paths: Sized {
    fn raw(&self) -> impl Serialize;
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

impl Paths for PathBuf {
    fn raw(&self) -> impl Serialize {
        raw(self)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Raw::deserialize(from).map(path)
    }
}

impl Paths for Option<PathBuf> {
    fn raw(&self) -> impl Serialize {
        self.as_deref().map(raw)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = Option::<Raw>::deserialize(from)?;
        Ok(read.map(path))
    }
}

impl Paths for Vec<PathBuf> {
    fn raw(&self) -> impl Serialize {
        self.iter().map(|path| raw(path)).collect::<Vec<_>>()
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = Vec::<Raw>::deserialize(from)?;
        Ok(read.into_iter().map(path).collect())
    }
}

pub(crate) fn serialize<P: Paths, S: Serializer>(paths: &P, to: S) -> Result<S::Ok, S::Error> {
    paths.raw().serialize(to)
}

pub(crate) fn deserialize<'de, P: Paths, D: Deserializer<'de>>(from: D) -> Result<P, D::Error> {
    P::read(from)
}

fn raw(path: &Path) -> Raw {
    match path.to_str() {
        Some(text) => Raw::Text(text.to_owned()),
        None => Raw::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
    }
}

#[cfg(unix)]
fn path(raw: Raw) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    match raw {
        Raw::Text(text) => text.into(),
        Raw::Bytes(bytes) => std::ffi::OsString::from_vec(bytes).into(),
    }
}

#[cfg(not(unix))]
fn path(raw: Raw) -> PathBuf {
    match raw {
        Raw::Text(text) => text.into(),
        Raw::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_path_comes_back_whatever_its_bytes_are() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct All {
            #[serde(with = "super")]
            one: PathBuf,
            #[serde(with = "super")]
            perhaps: Option<PathBuf>,
            #[serde(with = "super")]
            none: Option<PathBuf>,
            #[serde(with = "super")]
            several: Vec<PathBuf>,
        }
        let odd = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0xfe]));
        let all = All {
            one: odd.clone(),
            perhaps: Some(odd.clone()),
            none: None,
            several: vec!["plain".into(), odd],
        };
        let text = serde_json::to_string(&all).unwrap();
        assert!(text.contains(r#"["plain",[97,254]]"#), "{text}");
        assert_eq!(serde_json::from_str::<All>(&text).unwrap(), all);
    }
}
