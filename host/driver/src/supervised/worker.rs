//! The worker: it does what it is told, and tells what comes of it.

use std::io::{self, Read};
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use passdock_core::files::give_up;
use passdock_core::{Watch, util};
use passdock_crash::{Then, expect, inherited, look_after, watch};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{GO, Said, Task, receive, send};

/// A worker that has its task.
pub struct Worker {
    channel: Arc<Mutex<UnixStream>>,
}

impl Worker {
    /// Takes the task of the supervisor that started this process with these descriptors, and watches for crashes
    /// from now on. The process dies with its supervisor.
    ///
    /// # Errors
    /// If this process wasn't started by a supervisor.
    pub fn start<J: DeserializeOwned>(channel: RawFd, deaths: RawFd) -> io::Result<(Worker, J)> {
        let mut channel = UnixStream::from(inherited(channel)?);
        let deaths = inherited(deaths)?;
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::TERM))?;
        }
        let task: Task<J> = receive(&mut channel)?;
        expect(task.deaths);
        watch(Then::Tell(deaths));
        look_after();
        let channel = Arc::new(Mutex::new(channel));
        Ok((Worker { channel }, task.job))
    }

    /// The watch of a run: the supervisor hears of it.
    pub fn watch(&self) -> Watch {
        let (passes, texts, writes) = (
            self.channel.clone(),
            self.channel.clone(),
            self.channel.clone(),
        );
        Watch {
            on_pass: Some(Box::new(move |name| {
                tell(&passes, &Said::<()>::Pass(name.to_owned()));
            })),
            sink: Some(Arc::new(move |text| {
                tell(&texts, &Said::<()>::Print(text.to_owned()));
            })),
            on_write: Some(Box::new(move || ask_to_write(&writes))),
        }
    }

    /// Ends the work with its answer.
    ///
    /// # Errors
    /// If the supervisor doesn't take it.
    pub fn answer(self, answer: &impl Serialize) -> io::Result<()> {
        send(&mut *util::lock(&self.channel), &Said::Answer(answer))
    }
}

/// Tells the supervisor something. One that is gone ends this process otherwise.
fn tell(channel: &Mutex<UnixStream>, said: &Said<()>) {
    _ = send(&mut *util::lock(channel), said);
}

/// Waits until the supervisor lets this process put the output in its place. One that gave this process up, or can't be
/// heard any more, doesn't: then it ends here.
fn ask_to_write(channel: &Mutex<UnixStream>) {
    let mut channel = util::lock(channel);
    let mut answer = [0];
    let asked = send(&mut *channel, &Said::<()>::Writes);
    let heard = asked.and_then(|()| channel.read_exact(&mut answer));
    if heard.is_err() || answer != [GO] {
        give_up();
        std::process::exit(1);
    }
}
