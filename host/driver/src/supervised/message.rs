//! The messages between a supervisor and its worker: four bytes of length, little-endian, and so many bytes of JSON.

use std::io::{self, Read, Write};

use passdock_crash::Termination;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The first message to a worker.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<J> {
    /// The work.
    pub(super) job: J,
    /// The terminations of workers that did the same before.
    pub(super) terminations: Vec<Termination>,
    /// Whether it is to send which passes begin.
    pub(super) sends_passes: bool,
}

/// A message of a worker.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerMessage<A> {
    /// A pass of this name begins.
    Pass(String),
    /// An instrument shows this text.
    Print(String),
    /// The worker waits for a process of this number, which has a limit of its own; `None`: no longer.
    Waits(Option<i32>),
    /// The answer to the task or to a piece of work, and the number of terminations that it went past.
    Answer(A, usize),
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
    // Memory is taken as bytes come.
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
    fn a_message_comes_as_it_went() {
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
