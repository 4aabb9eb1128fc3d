//! The names and hashes of files in a statement.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

/// Returns the SHA-256 hash of a regular file in hexadecimal, as `sha256sum` prints it. The file is read in parts,
/// because weights are large.
///
/// # Errors
/// If it isn't a regular file, or can't be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    // Opening a pipe would block.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut part = vec![0; 1 << 20];
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(hexadecimal(&hasher.finalize())),
            Ok(len) => hasher.update(&part[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the SHA-256 hash of bytes in hexadecimal.
pub(super) fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a `String` can't fail.
        _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns the path of a file relative to a directory, with `/`. The path stays absolute if the two have only the root
/// in common. Both must be absolute and without links.
pub(super) fn relative(file: &Path, dir: &Path) -> io::Result<String> {
    let (from, to): (Vec<_>, Vec<_>) = (dir.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let name = match from[..common].iter().any(is_name) || from.len() == common {
        true => {
            let up = from[common..].iter().map(|_| Component::ParentDir);
            let parts = up.chain(to[common..].iter().copied());
            let parts = parts.map(|part| part.as_os_str().to_str());
            parts
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.join("/"))
        }
        false => file.to_str().map(str::to_owned),
    };
    name.ok_or_else(|| io::Error::other("the path is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_the_statement() {
        let cases = [
            ("/p/out/m.onnx", "/p/out", "m.onnx"),
            ("/p/out/data/w", "/p/out", "data/w"),
            ("/p/in/m.onnx", "/p/out/x", "../../in/m.onnx"),
            ("/p/out", "/p/out/x", ".."),
            ("/usr/lib/a.so", "/p/out", "/usr/lib/a.so"),
            ("/usr/lib/a.so", "/", "usr/lib/a.so"),
        ];
        for (file, dir, name) in cases.iter().filter(|_| cfg!(unix)) {
            let found = relative(Path::new(file), Path::new(dir)).unwrap();
            assert_eq!(&found, name);
        }
    }

    #[test]
    fn hashes_are_those_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256_of(b""), empty);
        let dir = tempfile::tempdir().unwrap();
        assert!(sha256(dir.path()).is_err());
        let path = dir.path().join("empty");
        File::create(&path).unwrap();
        assert_eq!(sha256(&path).unwrap(), empty);
    }
}
