//! Assertions about finding the manifest in a library file.

use passdock_loader::file;

use super::memory::bounded;

/// Finds the manifest in the bytes of a library of any system and machine. The result must be an error with a
/// printable message, or a slice of the file. Returns `true` if it is a library.
pub fn check(bytes: &[u8]) -> bool {
    match bounded("looking through", bytes.len(), || file::manifest_in(bytes)) {
        Ok(manifest) => {
            let (outer, inner) = (bytes.as_ptr_range(), manifest.as_ptr_range());
            // An empty slice may be anywhere.
            let is_inside = outer.start <= inner.start && inner.end <= outer.end;
            assert!(is_inside || manifest.is_empty());
            true
        }
        Err(error) => {
            let error = error.to_string();
            let is_sentence = error.len() > 10 && !error.contains(char::is_control);
            assert!(is_sentence, "{error:?}");
            false
        }
    }
}
