//! Packs the source of the SDK and the licenses into one deflated file, for `passdock plugin new`. The file has the
//! same content as the SDK's packages. `src/command/plugin/new/sdk.rs` unpacks it.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use miniz_oxide::deflate::compress_to_vec;

/// Paths in the repository, and the corresponding paths in the SDK's directory. Tests are left out, as in the SDK's
/// packages.
const PARTS: [(&str, &str); 11] = [
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("plugin-api/Cargo.toml", "Cargo.toml"),
    ("plugin-api/build.rs", "build.rs"),
    ("plugin-api/src", "src"),
    ("plugin-api/abi/Cargo.toml", "abi/Cargo.toml"),
    ("plugin-api/abi/include", "abi/include"),
    ("plugin-api/abi/share", "abi/share"),
    ("plugin-api/abi/src", "abi/src"),
    ("plugin-share/Cargo.toml", "share/Cargo.toml"),
    ("plugin-share/src", "share/src"),
];
/// The path from `plugin-share` to the SDK, in the repository and in the SDK's directory. `plugin-share` is packed with
/// the SDK because cargo rejects a build with two SDKs, one vendored and one from a checkout.
const SDK_OF_SHARE: [&str; 2] = ["path = \"../plugin-api\"", "path = \"..\""];
/// Compression level. Levels above 10 take much longer and save little.
const LEVEL: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = here.join("../..");
    let mut files = Vec::new();
    for (from, to) in PARTS {
        println!("cargo:rerun-if-changed={}", root.join(from).display());
        add(&root.join(from), to, &mut files)?;
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let packed = compress_to_vec(&serde_json::to_vec(&files)?, LEVEL);
    fs::write(out.join("sdk.packed"), packed)?;
    Ok(())
}

/// Adds the path and the content of a file, or of all files in a directory, ordered by name.
fn add(from: &Path, to: &str, files: &mut Vec<(String, String)>) -> Result<(), Box<dyn Error>> {
    if !from.is_dir() {
        // A checkout may have CRLF line endings.
        let mut text = fs::read_to_string(from)?.replace("\r\n", "\n");
        if to == "share/Cargo.toml" {
            let [there, here] = SDK_OF_SHARE;
            if !text.contains(there) {
                return Err(format!("plugin-share doesn't say `{there}`").into());
            }
            text = text.replace(there, here);
        }
        files.push((to.to_owned(), text));
        return Ok(());
    }
    let entries = fs::read_dir(from)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{} isn't UTF-8", path.display()))?;
        add(&path, &format!("{to}/{name}"), files)?;
    }
    Ok(())
}
