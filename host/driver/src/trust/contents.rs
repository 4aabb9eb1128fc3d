//! Reading a plugin file once for all checks of its contents.

use std::io::{self, Read};

use passdock_core::{ErrorKind, PassError, Plugin};

/// Passes the bytes of a plugin's file to `update`. Afterwards the plugin can't be loaded if the file changes.
///
/// # Errors
/// If the file can't be read, or changed after its manifest was read.
pub(super) fn read(plugin: &Plugin, mut update: impl FnMut(&[u8])) -> Result<(), PassError> {
    let Some(mut file) = plugin.pin()? else {
        return Ok(());
    };
    let mut part = vec![0; 1 << 16];
    let mut read = || -> io::Result<()> {
        loop {
            match file.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(len) => update(&part[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    };
    read().map_err(|error| {
        let message = format!("could not read plugin {}: {error}", plugin.origin());
        PassError::new(ErrorKind::Plugin, message)
    })
}

/// Returns the BLAKE3 hash of a plugin's file.
///
/// # Errors
/// See [`read`].
pub(super) fn blake3(plugin: &Plugin) -> Result<String, PassError> {
    let mut hasher = blake3::Hasher::new();
    read(plugin, |bytes| _ = hasher.update(bytes))?;
    Ok(hasher.finalize().to_hex().to_string())
}
