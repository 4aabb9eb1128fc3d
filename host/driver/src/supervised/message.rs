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

/// The room for most messages, in bytes.
const ROOM: usize = 1 << 16;

/// What a worker is told, first and once.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<J> {
    /// The work.
    pub(super) job: J,
    /// The deaths of workers that did the same before.
    #[serde(default)]
    pub(super) deaths: Vec<Death>,
    /// Whether it is to say which passes begin.
    #[serde(default)]
    pub(super) says_passes: bool,
}

/// What a worker says.
#[derive(Serialize, Deserialize)]
pub(super) enum Said<Q, A> {
    /// A pass of this name begins.
    Pass(String),
    /// An instrument shows this text.
    Print(String),
    /// The worker asks something, and waits for an answer.
    Ask(Q),
    /// The output is about to be put in its place. The supervisor answers, or ends the worker.
    Writes,
    /// The work is done, and this came of it. It is the last message, or the last about this piece of work.
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
    let (len, mut bytes) = (len as usize, Vec::new());
    while bytes.len() < len {
        let at = bytes.len();
        // What a length says is believed as far as there are bytes.
        bytes.resize(len.min((at * 2).max(ROOM)), 0);
        from.read_exact(&mut bytes[at..])?;
    }
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_as_it_went() {
        let mut sent = Vec::new();
        send(&mut sent, &Said::<u8, u8>::Print("a \"b\"".to_owned())).unwrap();
        send(&mut sent, &Said::<u8, u8>::Answer(7)).unwrap();
        let mut from = &*sent;
        assert!(
            matches!(receive(&mut from).unwrap(), Said::<u8, u8>::Print(text) if text == "a \"b\"")
        );
        assert!(matches!(
            receive(&mut from).unwrap(),
            Said::<u8, u8>::Answer(7)
        ));
        assert!(receive::<Said<u8, u8>>(&mut from).is_err());
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
