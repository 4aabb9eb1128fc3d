//! Messages between a supervisor and its worker: a four-byte little-endian length, followed by JSON of that length.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use passdock_crash::Termination;
use passdock_files::{OutputRequest, raw_path};
use passdock_sandbox::{CallLimits, SandboxMode, SandboxPart};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first message to a worker.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<J> {
    /// The job.
    pub(super) job: J,
    /// The terminations of earlier workers with the same job.
    pub(super) terminations: Vec<Termination>,
    /// Whether the worker should report which pass starts.
    pub(super) sends_passes: bool,
    /// Whether the worker enters a sandbox before it runs plugin code.
    pub(super) sandbox: SandboxMode,
}

/// A message of a worker. After [`WorkerMessage::Entered`], plugins may have written it.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerMessage<A> {
    /// The worker has entered its sandbox and is about to run plugin code.
    Entered(EnteredSandbox),
    /// A pass with this name starts.
    Pass(String),
    /// An instrument prints this text.
    Print(String),
    /// The worker asks for a change to files, and waits for a [`Reply`].
    Output(OutputRequest),
    /// The worker asks the program for something, and waits for a [`Reply`].
    Ask(Value),
    /// The result of the task or of a piece of work, and the number of calls skipped because of terminations.
    Response(A, usize),
}

/// The result of entering a sandbox.
#[derive(Serialize, Deserialize)]
pub(super) struct EnteredSandbox {
    /// The active parts.
    pub(super) active: Vec<SandboxPart>,
    /// Why the other parts aren't active.
    pub(super) missing: Vec<String>,
    /// The files and directories that the worker may ask to write.
    #[serde(with = "raw_path")]
    pub(super) outputs: Vec<PathBuf>,
    /// The limits of calls into plugins, by file.
    pub(super) limits: Vec<(String, CallLimits)>,
}

/// The result of a request.
pub(super) type Reply = Result<Value, FailedRequest>;

/// The system's error for a request.
#[derive(Serialize, Deserialize)]
pub(super) struct FailedRequest {
    code: Option<i32>,
    message: String,
}

impl From<io::Error> for FailedRequest {
    fn from(error: io::Error) -> FailedRequest {
        FailedRequest {
            code: error.raw_os_error(),
            message: error.to_string(),
        }
    }
}

impl From<FailedRequest> for io::Error {
    fn from(failed: FailedRequest) -> io::Error {
        match failed.code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::other(failed.message),
        }
    }
}

/// Returns the bytes of a message.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let len = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    Ok(bytes)
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// Reads a message.
pub(super) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<M> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    let mut bytes = Vec::new();
    // Allocates as bytes arrive, because the length isn't trusted.
    from.take(len.into()).read_to_end(&mut bytes)?;
    if bytes.len() < len as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&bytes)?)
}

/// Handles the messages of a worker that has run plugin code, as a supervisor does, until its response. For fuzzing.
#[doc(hidden)]
pub fn handle_messages<A: DeserializeOwned>(
    mut messages: &[u8],
    temporary: &Path,
    outputs: &[PathBuf],
) -> io::Result<A> {
    loop {
        match receive(&mut messages)? {
            WorkerMessage::Output(request) => _ = request.fulfill(temporary, Some(outputs)),
            WorkerMessage::Response(response, _) => return Ok(response),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let mut sent = Vec::new();
        send(&mut sent, &"a \"b\"").unwrap();
        send(&mut sent, &7).unwrap();
        let mut from = &*sent;
        assert_eq!(receive::<String>(&mut from).unwrap(), "a \"b\"");
        assert_eq!(receive::<u8>(&mut from).unwrap(), 7);
        for end in 0..7 {
            assert!(receive::<String>(&mut &sent[..end]).is_err());
        }
        assert!(receive::<String>(&mut &[255; 8][..]).is_err());
    }
}
