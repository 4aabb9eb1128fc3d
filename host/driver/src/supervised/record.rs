//! The record of a worker: a file without a name that its supervisor reads when it died.
//!
//! It begins with what the worker itself wrote of its death, in the handler of a signal, if it could. Behind that stands
//! what it is at, so that somebody knows if it couldn't: that is written all the time, and wakes nobody.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use passdock_core::util;
use passdock_crash::{
    CallKind, Callee, Culprit, DEATH_BYTES, Death, Mapped, Seen, TRACE_BYTES, Traced,
    TracedDefinition, traced,
};
use serde::{Deserialize, Serialize};

/// Where it stands what the worker is at, behind the longest death: which of two places it is in, and these. A worker that
/// is killed while it writes to one leaves the other.
const STATE: usize = DEATH_BYTES;

/// The bytes of one of the places: a length, and JSON.
const ROOM: usize = 1 << 16;

/// The length of the file.
pub(super) const LEN: usize = TRACE + TRACE_BYTES;

/// Where it is traced which function, and whose definition.
pub(super) const TRACE: usize = place_of(2).next_multiple_of(64);

/// Where the first, or the second, place begins.
const fn place_of(place: usize) -> usize {
    STATE + 1 + place * ROOM
}

/// What a worker is at.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct State {
    /// The pass that began last.
    pub(super) pass: Option<Culprit>,
    /// The instrument that is called since, the library that is loaded: the innermost last. With the pass around it, if
    /// there is one.
    pub(super) inside: Vec<(Culprit, Option<Culprit>)>,
    /// The files of the plugins that it loaded.
    pub(super) loaded: Vec<String>,
}

impl State {
    fn see(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Began(callee, _) if callee.kind() == CallKind::Pass => {
                self.pass = Some(culprit(callee));
            }
            Seen::Began(callee, pass) => {
                let (callee, mut pass) = (culprit(callee), pass.map(culprit));
                if callee.kind == CallKind::Library {
                    self.loaded.extend(callee.plugin.clone());
                    pass.clone_from(&self.pass);
                }
                self.inside.push((callee, pass));
            }
            Seen::Returned => _ = self.inside.pop(),
            Seen::GoesOn(pass) => self.pass = Some(culprit(pass)),
            Seen::Over => self.pass = None,
        }
    }

    /// What was called last, if it isn't a pass, and the pass that it was called in or around.
    pub(super) fn innermost(
        mut self,
        definition: Option<TracedDefinition>,
    ) -> (Option<Culprit>, Option<Culprit>) {
        let (called, pass) = match self.inside.pop() {
            Some((called, pass)) => (Some(called), pass),
            None => (None, self.pass),
        };
        let defined = definition.map(|definition| Culprit {
            kind: CallKind::Definition,
            name: definition.op,
            plugin: Some(definition.plugin),
            function: definition.function,
            number: 0,
        });
        (defined.or(called), pass)
    }
}

fn culprit(callee: &Callee<'_>) -> Culprit {
    Culprit {
        kind: callee.kind(),
        name: callee.name().to_owned(),
        plugin: callee.plugin().map(|path| path.display().to_string()),
        function: None,
        number: callee.number(),
    }
}

/// A file without a name.
pub(super) fn create() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    let file = {
        use rustix::fs::{MemfdFlags, memfd_create};
        File::from(memfd_create("passdock", MemfdFlags::CLOEXEC)?)
    };
    #[cfg(not(target_os = "linux"))]
    let file = tempfile::tempfile()?;
    file.set_len(LEN as u64)?;
    Ok(file)
}

/// The worker's side of its record.
pub(super) struct Written {
    memory: Mapped,
    /// What it is at, and the place where that is written next.
    state: Mutex<(State, usize)>,
}

impl Written {
    pub(super) fn new(memory: Mapped) -> Written {
        Written {
            memory,
            state: Mutex::default(),
        }
    }

    /// Writes what the worker is at now. For what doesn't fit, the files are left out.
    pub(super) fn see(&self, seen: Seen<'_>) {
        let mut guard = util::lock(&self.state);
        let (state, next) = &mut *guard;
        state.see(seen);
        let mut bytes = bytes_of(state);
        if bytes.len() > ROOM {
            state.loaded.clear();
            bytes = bytes_of(state);
        }
        self.memory.write(place_of(*next), &bytes);
        self.memory.write(STATE, &[*next as u8]);
        *next = 1 - *next;
    }
}

/// A state as it is written.
fn bytes_of(state: &State) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    // Nothing in it can't be written; half of it is read as nothing.
    _ = serde_json::to_writer(&mut bytes, state);
    let len = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    bytes
}

/// The trace of a worker.
pub(super) fn read_trace(file: &File) -> Traced {
    let mut bytes = vec![0; TRACE_BYTES];
    let read = file.read_exact_at(&mut bytes, TRACE as u64);
    read.map_or_else(|_| Traced::default(), |()| traced(&bytes))
}

/// What a worker wrote of its death, and what it was at.
pub(super) fn read(file: &File) -> (Option<Death>, State) {
    let mut bytes = vec![0; STATE];
    let len = file.read_at(&mut bytes, 0).unwrap_or(0);
    let bytes = &bytes[..len];
    // Behind it stand zeros.
    let end = bytes.iter().position(|byte| *byte == 0);
    let death = serde_json::from_slice(&bytes[..end.unwrap_or(len)]).ok();
    (death, read_state(file).unwrap_or_default())
}

fn read_state(file: &File) -> Option<State> {
    let mut place = [0];
    file.read_exact_at(&mut place, STATE as u64).ok()?;
    let mut bytes = vec![0; ROOM];
    let at = place_of(usize::from(place[0] & 1));
    file.read_exact_at(&mut bytes, at as u64).ok()?;
    let (len, text) = bytes.split_first_chunk()?;
    let text = text.get(..u32::from_le_bytes(*len) as usize)?;
    serde_json::from_slice(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_is_at_is_known_without_its_help() {
        let file = create().unwrap();
        assert!(read(&file).0.is_none());
        let memory = Mapped::new(&file, LEN).unwrap();
        let written = Written::new(memory);
        let pass = Callee::new(CallKind::Pass, "a.pass", None);
        let library = Callee::new(CallKind::Library, "lib", Some("lib.so".as_ref()));
        let watch = Callee::new(CallKind::Instrument, "watch", None);
        written.see(Seen::Began(&pass, None));
        written.see(Seen::Began(&library, None));
        written.see(Seen::Returned);
        written.see(Seen::Began(&watch, Some(&pass)));
        let (death, state) = read(&file);
        assert!(death.is_none());
        assert_eq!(state.pass.unwrap().name, "a.pass");
        assert_eq!(state.loaded, ["lib.so"]);
        let [(watch, Some(pass))] = &state.inside[..] else {
            panic!("{:?}", state.inside);
        };
        assert_eq!((&*watch.name, &*pass.name), ("watch", "a.pass"));
        written.see(Seen::Returned);
        assert!(read(&file).1.inside.is_empty());
    }

    #[test]
    fn what_it_wrote_of_its_death_is_read() {
        let file = create().unwrap();
        let memory = Mapped::new(&file, LEN).unwrap();
        let written = Written::new(memory);
        let pass = Callee::new(CallKind::Pass, "a.pass", None);
        written.see(Seen::Began(&pass, None));
        memory.write(0, b"{\"cause\":\"exit\",\"status\":3}\n");
        let (death, state) = read(&file);
        assert_eq!(
            death.unwrap().cause.to_string(),
            "ended the process with status 3"
        );
        assert!(state.pass.is_some());
    }
}
