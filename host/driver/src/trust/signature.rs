//! Signatures of plugin files, which the tool `minisign` writes next to them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use minisign_verify::{Error, PublicKey, Signature, StreamVerifier};
use passdock_core::{ErrorKind, PassError, Plugin};

use crate::pipeline_file::PipelineFile;

/// The maximum size of a signature file in bytes. A comment of minisign has at most 8 KiB.
const MAX_LEN: u64 = 32 << 10;

/// The algorithm and the identifier of the key at the start of a public key or of a signature.
const HEAD: usize = 10;

/// The public keys whose signatures are trusted, with their identifiers.
pub(super) struct TrustedKeys(Vec<(String, PublicKey)>);

impl TrustedKeys {
    /// Reads the `trusted_keys` of a pipeline file.
    pub(super) fn new(file: &PipelineFile) -> Result<TrustedKeys, PassError> {
        let keys = file.plugins.trusted_keys.iter().map(|key| {
            let text = key.get_ref();
            let id = key_id(text).zip(PublicKey::from_base64(text).ok());
            id.ok_or_else(|| {
                let message = format!("`{text}` is not a public key of minisign");
                let error = file.source.error(key.span(), "not a public key", message);
                error.help("copy the second line of the `.pub` file, which starts with `RW`")
            })
        });
        keys.collect::<Result<_, _>>().map(TrustedKeys)
    }

    /// Whether there are no keys.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the verifier of a signature, or the reason why the signature isn't valid.
    pub(super) fn verifier<'k>(
        &'k self,
        signature: &'k SignatureFile,
    ) -> Result<StreamVerifier<'k>, String> {
        let id = &signature.key_id;
        let mut keys = self.0.iter();
        let Some((_, key)) = keys.find(|(known, _)| known == id) else {
            let known: Vec<&str> = self.0.iter().map(|(id, _)| &**id).collect();
            return Err(match known.as_slice() {
                [] => format!("the signature is of key {id}, but no key is trusted"),
                known => format!(
                    "the signature is of key {id}, which is not trusted; trusted keys: {}",
                    known.join(", ")
                ),
            });
        };
        key.verify_stream(&signature.signature).map_err(|error| match error {
            Error::UnsupportedLegacyMode => {
                "the signature has minisign's legacy format, which `minisign -S -l` writes; sign the file without `-l`"
                    .to_owned()
            }
            error => format!("invalid signature: {error}"),
        })
    }
}

/// A parsed signature file.
pub(super) struct SignatureFile {
    signature: Signature,
    key_id: String,
}

/// Returns the path of a plugin's signature: `libacme.so.minisig` for `libacme.so`.
pub fn signature_path(plugin: &Path) -> PathBuf {
    let mut path = plugin.as_os_str().to_owned();
    path.push(".minisig");
    path.into()
}

/// Returns the identifier of the key in the signature next to a plugin file, without verifying the signature. Returns
/// `None` if there is no signature.
///
/// # Errors
/// If the signature can't be read.
pub fn signature_key(plugin: &Path) -> Result<Option<String>, PassError> {
    let signature = read(plugin);
    let signature = signature.map_err(|reason| PassError::new(ErrorKind::Signature, reason))?;
    Ok(signature.map(|signature| signature.key_id))
}

/// Reads the signature of a plugin file. Returns `None` if there is none, and the reason if it can't be read.
pub(super) fn read(plugin: &Path) -> Result<Option<SignatureFile>, String> {
    let path = signature_path(plugin);
    let unreadable = |error: io::Error| format!("could not read `{}`: {error}", path.display());
    let file = match passdock_files::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let mut text = String::new();
    let limited = file.take(MAX_LEN).read_to_string(&mut text);
    limited.map_err(unreadable)?;
    parse(&text).map(Some).ok_or_else(|| {
        let path = path.display();
        format!("`{path}` is not a signature of minisign; sign the file again")
    })
}

fn parse(text: &str) -> Option<SignatureFile> {
    Some(SignatureFile {
        key_id: key_id(text.lines().nth(1)?)?,
        signature: Signature::decode(text).ok()?,
    })
}

/// Returns the identifier in a public key or a signature in base64, as minisign prints it.
fn key_id(text: &str) -> Option<String> {
    let bytes = BASE64.decode(text).ok()?;
    let id = bytes.get(2..HEAD)?.try_into().ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(id)))
}

/// Returns the error for a plugin without a valid signature of a trusted key.
pub(super) fn invalid(plugin: &Plugin, reason: &str, no_keys: bool) -> PassError {
    let (name, origin) = (plugin.name(), plugin.origin());
    let message = format!("plugin `{name}` in {origin} has no valid signature: {reason}");
    let error = PassError::new(ErrorKind::Signature, message);
    error.help(match no_keys {
        true => "add the public key of the plugin's vendor to `trusted_keys` in `[plugins]` of the pipeline",
        false => {
            "get the signed plugin from its vendor; if you built it, sign it: `minisign -S -m FILE`; if you trust \
             another key, add it to `trusted_keys`"
        }
    })
}
