//! The source of the SDK, which the build script deflates into this program.

use miniz_oxide::inflate::decompress_to_vec;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sdk.packed"));

/// Returns the files of the SDK: their paths, separated by `/`, and their contents.
///
/// Returns `None` if the data is corrupt.
pub(super) fn files() -> Option<Vec<(String, String)>> {
    serde_json::from_slice(&decompress_to_vec(PACKED).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_files_are_those_of_the_repository() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let files = files().expect("files");
        assert!(files.len() > 60, "{}", files.len());
        for (path, text) in &files {
            let path_in_repository = match path.strip_prefix("share/") {
                Some(path) => format!("{root}/plugin-share/{path}"),
                None if path.starts_with("LICENSE") => format!("{root}/{path}"),
                None => format!("{root}/plugin-api/{path}"),
            };
            let mut packed =
                std::fs::read_to_string(&path_in_repository).expect("a file of the repository");
            if path == "share/Cargo.toml" {
                packed = packed.replace("\"../plugin-api\"", "\"..\"");
            }
            assert_eq!(&packed.replace("\r\n", "\n"), text, "{path}");
        }
        assert!(PACKED.len() < 330_000, "{} bytes", PACKED.len());
    }
}
