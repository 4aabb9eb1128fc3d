//! The record of a worker: a file without a name that its supervisor reads when it died.
//!
//! It begins with what the worker itself wrote of its death, in the handler of a signal, if it could. Behind that stands
//! what it is at, so that somebody knows if it couldn't: that is written all the time, and wakes nobody.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use passdock_core::util;
use passdock_crash::{CallKind, Callee, Culprit, Death, Seen};
use serde::{Deserialize, Serialize};

/// Where it stands what the worker is at: behind the longest death.
const STATE: u64 = 1 << 16;

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
        }
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
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        Ok(memfd_create("passdock", MemfdFlags::CLOEXEC)?.into())
    }
    #[cfg(not(target_os = "linux"))]
    {
        tempfile::tempfile()
    }
}

/// The worker's side of its record.
pub(super) struct Written {
    file: File,
    state: Mutex<State>,
}

impl Written {
    pub(super) fn new(file: File) -> Written {
        Written {
            file,
            state: Mutex::default(),
        }
    }

    /// Writes what the worker is at now. A record that can't be written says less.
    pub(super) fn see(&self, seen: Seen<'_>) {
        let mut state = util::lock(&self.state);
        state.see(seen);
        let mut bytes = vec![0; 4];
        if serde_json::to_writer(&mut bytes, &*state).is_ok()
            && let Ok(len) = u32::try_from(bytes.len() - 4)
        {
            bytes[..4].copy_from_slice(&len.to_le_bytes());
            _ = self.file.write_all_at(&bytes, STATE);
        }
    }
}

/// What a worker wrote of its death, and what it was at.
pub(super) fn read(file: &File) -> (Option<Death>, State) {
    let mut bytes = vec![0; STATE as usize];
    let len = file.read_at(&mut bytes, 0).unwrap_or(0);
    let bytes = &bytes[..len];
    // Behind it stand zeros.
    let end = bytes.iter().position(|byte| *byte == 0);
    let death = serde_json::from_slice(&bytes[..end.unwrap_or(len)]).ok();
    (death, read_state(file).unwrap_or_default())
}

fn read_state(file: &File) -> Option<State> {
    let mut len = [0; 4];
    file.read_exact_at(&mut len, STATE).ok()?;
    let size = file.metadata().ok()?.len();
    let len = u32::from_le_bytes(len);
    let is_there = STATE + 4 + u64::from(len) <= size;
    let mut bytes = vec![0; is_there.then_some(len)? as usize];
    file.read_exact_at(&mut bytes, STATE + 4).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_a_worker_is_at_is_known_without_its_help() {
        let file = create().unwrap();
        assert!(read(&file).0.is_none());
        let written = Written::new(file.try_clone().unwrap());
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
        let mut file = create().unwrap();
        let written = Written::new(file.try_clone().unwrap());
        let pass = Callee::new(CallKind::Pass, "a.pass", None);
        written.see(Seen::Began(&pass, None));
        file.write_all(b"{\"cause\":\"exit\",\"status\":3}\n")
            .unwrap();
        let (death, state) = read(&file);
        assert_eq!(
            death.unwrap().cause.to_string(),
            "ended the process with status 3"
        );
        assert!(state.pass.is_some());
    }
}
