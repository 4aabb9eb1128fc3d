//! Messages between a supervisor and its worker: a four-byte little-endian length, followed by JSON of that length.

use std::io::{self, Read, Write};

use passdock_crash::Termination;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The first message to a worker.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<J> {
    /// The job.
    pub(super) job: J,
    /// The terminations of earlier workers with the same job.
    pub(super) terminations: Vec<Termination>,
    /// Whether the worker should report which pass starts.
    pub(super) sends_passes: bool,
}

/// A message of a worker.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerMessage<A> {
    /// A pass with this name starts.
    Pass(String),
    /// An instrument prints this text.
    Print(String),
    /// The worker waits for a process with this id, which has a separate time limit; `None` when it stops waiting.
    Waits(Option<i32>),
    /// The result of the task or of a piece of work, and the number of calls skipped because of terminations.
    Response(A, usize),
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let len = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    to.write_all(&bytes)
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
