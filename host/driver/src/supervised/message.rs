//! The messages between a supervisor and its worker: a length, and JSON.
//!
//! Each is four bytes of length, little-endian, and so many bytes of JSON. What a message doesn't say has a default,
//! so that messages grow.

use std::io::{self, Read, Write};

use passdock_crash::Death;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest message, in bytes: a report with very much in it.
const MAX: u32 = 1 << 30;

/// The byte that lets a worker put the output in its place.
pub(super) const GO: u8 = 1;

/// What a worker is told, first and once.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<J> {
    /// The work.
    pub(super) job: J,
    /// The deaths of workers that did the same before.
    #[serde(default)]
    pub(super) deaths: Vec<Death>,
}

/// What a worker says.
#[derive(Serialize, Deserialize)]
pub(super) enum Said<A> {
    /// A pass of this name begins.
    Pass(String),
    /// An instrument shows this text.
    Print(String),
    /// The output is about to be put in its place. The supervisor answers [`GO`], or ends the worker.
    Writes,
    /// The work is done, and this came of it. It is the last message.
    Answer(A),
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let len = u32::try_from(bytes.len() - 4)
        .ok()
        .filter(|len| *len <= MAX);
    let len = len.ok_or_else(|| io::Error::other("the message is too long"))?;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads a message.
pub(super) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<M> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    if len > MAX {
        return Err(io::Error::other("the message is too long"));
    }
    let mut bytes = Vec::new();
    let read = from.take(len.into()).read_to_end(&mut bytes)?;
    if read < len as usize {
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
        send(&mut sent, &Said::<u8>::Pass("a \"b\"".to_owned())).unwrap();
        send(&mut sent, &Said::Answer(7)).unwrap();
        let mut from = &*sent;
        assert!(matches!(receive(&mut from).unwrap(), Said::<u8>::Pass(name) if name == "a \"b\""));
        assert!(matches!(receive(&mut from).unwrap(), Said::Answer(7_u8)));
        assert!(receive::<Said<u8>>(&mut from).is_err());
    }

    #[test]
    fn a_message_that_is_cut_off_is_an_error() {
        let mut sent = Vec::new();
        send(&mut sent, &"text").unwrap();
        for end in 0..sent.len() {
            assert!(receive::<String>(&mut &sent[..end]).is_err());
        }
        assert!(receive::<String>(&mut &[255; 8][..]).is_err());
    }
}
