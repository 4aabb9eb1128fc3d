//! The messages between a supervisor and its worker: a length, and JSON.
//!
//! Each is four bytes of length, little-endian, and so many bytes of JSON. What a message doesn't say has a default,
//! so that messages grow. Before a message of a worker stands its mark: a plugin has the channel, too, and might say
//! that all is done.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::time::Duration;

use crate::pipeline::Report;
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
    /// Whether it is to wait at each step until it was heard: whoever spoils the channel before is known then.
    #[serde(default)]
    pub(super) waits: bool,
    /// The time that it has.
    #[serde(default)]
    pub(super) limit: Option<Duration>,
    /// The marks of its messages.
    pub(super) marks: Marks,
}

/// The marks of messages, one after the other.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Marks(u64);

impl Marks {
    /// Marks that nobody can guess.
    pub(super) fn new() -> Marks {
        Marks(RandomState::new().build_hasher().finish())
    }

    /// The next one (SplitMix64).
    fn next(&mut self) -> [u8; 8] {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    }
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
    /// The worker is somewhere else now, and waits until that was heard.
    Here,
    /// The output is about to be put in its place, and this is the report so far. The supervisor answers, with an error
    /// if it must not be, or ends the worker; once it answered, the worker has time anew.
    Writes(Box<Report>),
    /// The work is done, and this came of it. It is the last message, or the last about this piece of work.
    Answer(A),
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    write(to, Vec::new(), message)
}

/// Writes a message of a worker.
pub(super) fn send_marked(
    to: &mut impl Write,
    marks: &mut Marks,
    message: &impl Serialize,
) -> io::Result<()> {
    write(to, marks.next().to_vec(), message)
}

fn write(to: &mut impl Write, mut bytes: Vec<u8>, message: &impl Serialize) -> io::Result<()> {
    let start = bytes.len() + 4;
    bytes.resize(start, 0);
    serde_json::to_writer(&mut bytes, message)?;
    let len = u32::try_from(bytes.len() - start)
        .ok()
        .filter(|len| *len <= MAX);
    let len = len.ok_or_else(|| io::Error::other("the message is too long"))?;
    bytes[start - 4..start].copy_from_slice(&len.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads a message of a worker.
pub(super) fn receive_marked<M: DeserializeOwned>(
    from: &mut impl Read,
    marks: &mut Marks,
) -> io::Result<M> {
    let mut mark = [0; 8];
    from.read_exact(&mut mark)?;
    if mark != marks.next() {
        return Err(io::Error::other("nobody knows whose message it is"));
    }
    receive(from)
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
    fn a_message_without_its_mark_is_an_error() {
        let marks = Marks::new();
        let (mut sent, mut theirs) = (Vec::new(), marks.clone());
        send_marked(&mut sent, &mut theirs, &"first").unwrap();
        let once = sent.clone();
        send_marked(&mut sent, &mut theirs, &"second").unwrap();
        let (mut from, mut ours) = (&*sent, marks.clone());
        for text in ["first", "second"] {
            assert_eq!(
                receive_marked::<String>(&mut from, &mut ours).unwrap(),
                text
            );
        }
        // Neither one of somebody else nor one that was there already.
        let mut forged = Vec::new();
        send_marked(&mut forged, &mut Marks::new(), &"first").unwrap();
        for bytes in [forged, [&*once, &*once].concat()] {
            let (mut from, mut ours) = (&*bytes, marks.clone());
            let mut heard = (0..2).map(|_| receive_marked::<String>(&mut from, &mut ours));
            assert!(heard.any(|message| message.is_err()));
        }
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
