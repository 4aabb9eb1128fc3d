//! The name of a new plugin, which is the name of its crate and library, and the namespace of its passes.

use std::path::Path;

use passdock::{ErrorKind, PassError};

/// The maximum length of a name.
const MAX_LEN: usize = 64;
/// Names that would clash with Rust's keywords and crates, the SDK's crates, or the standard plugins.
const RESERVED: &str = "\
    abstract alloc as async await become box break const continue core crate do dyn else enum \
    extern false final fn for if impl in let loop macro match mod move mut onnx onnx_ops override \
    passdock_abi passdock_plugin_api priv proc_macro pub ref relax return std static struct test \
    tir trait true try type unsafe use virtual where while";

/// Returns the requested name, or a name derived from the directory's name.
///
/// # Errors
/// If the name isn't a valid crate name or would clash with another one.
pub(super) fn plugin_name(dir: &Path, requested: Option<&str>) -> Result<String, PassError> {
    let name = match requested {
        Some(name) => name.to_owned(),
        None => name_from_directory(dir)?,
    };
    let invalid = |why: &str| {
        let error = PassError::new(
            ErrorKind::Usage,
            format!("invalid plugin name `{name}`: {why}"),
        );
        let help = match requested {
            Some(_) => "a valid name is `acme-passes`",
            None => "pass a name: `--name acme-passes`",
        };
        Err(error.help(help))
    };
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_part) {
        return invalid("expected lower-case letters, digits, `-` and `_`, starting with a letter");
    }
    if name.replace('-', "_").contains("__") {
        return invalid("`-` and `_` cannot follow each other in the name of a crate");
    }
    if name.len() > MAX_LEN {
        return invalid("longer than 64 bytes");
    }
    let is_reserved = |reserved: &str| reserved == name.replace('-', "_");
    if RESERVED.split(' ').any(is_reserved) {
        return invalid("reserved by Rust, passdock or a standard plugin");
    }
    Ok(name)
}

/// Returns the directory's name in lower case, with `-` for spaces and dots.
fn name_from_directory(dir: &Path) -> Result<String, PassError> {
    // `.` has no file name.
    let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    let name = whole.file_name().and_then(|name| name.to_str());
    let Some(name) = name else {
        let message = format!("cannot derive a plugin name from `{}`", dir.display());
        return Err(
            PassError::new(ErrorKind::Usage, message).help("pass a name: `--name acme-passes`")
        );
    };
    Ok(name.to_ascii_lowercase().replace([' ', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_derived_from_the_directory() {
        for (dir, name) in [
            ("acme-passes", "acme-passes"),
            ("a/b/My Passes", "my-passes"),
            ("v1.2", "v1-2"),
            ("a/b/", "b"),
        ] {
            assert_eq!(
                plugin_name(Path::new(dir), None).ok().as_deref(),
                Some(name)
            );
        }
    }

    #[test]
    fn invalid_plugin_names_are_rejected() {
        let error_of = |dir: &str, name: Option<&str>| match plugin_name(Path::new(dir), name) {
            Ok(name) => panic!("{name} was accepted"),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            error_of("9lives", None),
            "invalid plugin name `9lives`: expected lower-case letters, digits, `-` and `_`, starting with a letter; \
             pass a name: `--name acme-passes`"
        );
        assert_eq!(
            error_of("x", Some("Acme")),
            "invalid plugin name `Acme`: expected lower-case letters, digits, `-` and `_`, starting with a letter; \
             a valid name is `acme-passes`"
        );
        for taken in ["fn", "relax", "onnx-ops", "passdock-plugin-api"] {
            assert!(error_of(taken, None).contains("a standard plugin"));
        }
        for repeated in ["a--b", "a-_b", "a - b"] {
            assert!(
                error_of(repeated, None).contains("follow each other"),
                "{repeated}"
            );
        }
        assert!(error_of("/", None).contains("cannot derive"));
        assert!(error_of("x", Some(&"a".repeat(65))).contains("64 bytes"));
        assert!(error_of("größe", None).contains("lower-case letters"));
    }
}
