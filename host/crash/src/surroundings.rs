//! What belongs to the whole process, and what a plugin may have changed of it.
//!
//! The current directory, the mode of new files, the standard streams, and how numbers are computed, are put back as soon as a call returns, so
//! that files go where they should. What can't be put back safely is told: the locale, and handlers of signals.
//! A process whose descriptors were closed behind the host's back can't go on: their numbers stand for other files.

use std::ffi::CStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use libc::{c_int, sigaction};

use crate::death::Named;
use crate::float_mode::FloatMode;
use crate::watch::{self, is_own_process};
use crate::{CallKind, Callee, DeathCause, ProcessChange};

/// The number from which on the descriptors here are kept, away from those that come and go.
const KEPT_FROM: c_int = 200;

/// The limits of a process that are looked at, and what they are called.
const LIMITS: [(Resource, &str); 3] = [
    (libc::RLIMIT_NOFILE, "files that are open"),
    (libc::RLIMIT_FSIZE, "bytes of a file"),
    (libc::RLIMIT_AS, "memory"),
];

/// The type of a resource's number.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = c_int;

/// The signals that are looked at: all but those of real time.
const SIGNALS: std::ops::Range<c_int> = 1..32;

/// What the standard streams are called.
const STREAMS: [&str; 3] = ["standard input", "standard output", "standard error"];

/// What the process had when it was looked at first, with what was changed since.
struct Surroundings {
    /// The current directory, which also says whether descriptors were closed.
    directory: Option<File>,
    /// The device and the number of that directory.
    place: Option<(u64, u64)>,
    /// A channel that the process needs, and a copy of its descriptor.
    channel: Option<(RawFd, OwnedFd)>,
    streams: [Option<OwnedFd>; 3],
    /// Whether they never waited.
    never_wait: [bool; 3],
    mask: libc::mode_t,
    floats: FloatMode,
    limits: [(libc::rlim_t, libc::rlim_t); LIMITS.len()],
    locale: Option<Vec<u8>>,
    handlers: [usize; SIGNALS.end as usize],
    changes: Vec<ProcessChange>,
}

static SURROUNDINGS: Mutex<Option<Surroundings>> = Mutex::new(None);

/// Whether anything is looked at.
static LOOKS: AtomicBool = AtomicBool::new(false);

/// Whether code of a plugin was loaded.
static LOADED: AtomicBool = AtomicBool::new(false);

/// Remembers what belongs to the whole process, as it is before any plugin is loaded: from now on [`returned`] looks
/// whether it still is so. For a program that is its process; the first call counts.
pub fn look_after() {
    let mut known = SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_with(Surroundings::now);
    LOOKS.store(true, Ordering::SeqCst);
}

/// From now on the process dies if a plugin closes or exchanges this descriptor, or what is behind it has gone. It needs it
/// as long as it lives.
pub fn rely_on(channel: RawFd) {
    let mut known = SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &mut *known {
        known.channel = copy(channel).map(|kept| (channel, kept));
    }
}

/// Looks whether a call into a plugin's file left the process as it was. It doesn't return if the host's descriptors are
/// closed: that is told as a death. Nor in a process that the call made by `fork`.
pub(crate) fn returned(callee: &Callee<'_>) {
    if callee.plugin.is_none() {
        return;
    }
    if callee.kind == CallKind::Library {
        LOADED.store(true, Ordering::SeqCst);
    }
    if !LOOKS.load(Ordering::Relaxed) {
        return;
    }
    if !is_own_process() {
        watch::end(1);
    }
    let mut known = SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &mut *known {
        known.check(callee);
    }
}

/// Whether code of a plugin was loaded in this process.
pub(crate) fn has_loaded() -> bool {
    LOADED.load(Ordering::SeqCst)
}

/// Takes what was changed so far.
pub fn changes() -> Vec<ProcessChange> {
    let mut known = SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .as_mut()
        .map(|known| std::mem::take(&mut known.changes))
        .unwrap_or_default()
}

impl Surroundings {
    fn now() -> Surroundings {
        let directory = directory();
        Surroundings {
            place: directory.as_ref().and_then(place),
            directory,
            channel: None,
            streams: [0, 1, 2].map(copy),
            never_wait: [0, 1, 2].map(never_waits),
            mask: mask(),
            floats: FloatMode::now(),
            limits: limits(),
            locale: locale(),
            handlers: handlers(),
            changes: Vec::new(),
        }
    }

    /// Compares what there is, and puts back what can be put back.
    fn check(&mut self, callee: &Callee<'_>) {
        if let Some(directory) = &self.directory {
            if place(directory) != self.place {
                watch::die(&DeathCause::Descriptors);
                return;
            }
            if std::fs::metadata(".").ok().map(|known| id(&known)) != self.place {
                let what = "the current directory";
                // SAFETY: the call is given a descriptor that is open.
                let back = unsafe { libc::fchdir(directory.as_raw_fd()) } == 0;
                self.note(callee, what, back);
            }
        }
        if let Some((channel, kept)) = &self.channel {
            if !same_file(kept.as_raw_fd(), *channel) || is_over(*channel) {
                watch::die(&DeathCause::Descriptors);
                return;
            }
            wait_again(*channel);
        }
        for (at, name) in STREAMS.into_iter().enumerate() {
            let kept = self.streams[at].as_ref().map(AsRawFd::as_raw_fd);
            let Some(kept) = kept else { continue };
            let stream = at as RawFd;
            if same_file(kept, stream) {
                if !self.never_wait[at] && wait_again(stream) {
                    let what = format!("that {name} waits (`O_NONBLOCK`)");
                    self.note(callee, &what, true);
                }
                continue;
            }
            // SAFETY: the call is given a descriptor that is open.
            let back = unsafe { libc::dup2(kept, stream) } == stream;
            self.note(callee, name, back);
        }
        let mask = mask();
        if mask != self.mask {
            // SAFETY: it has no preconditions.
            unsafe { libc::umask(self.mask) };
            self.note(callee, "the mode of new files (`umask`)", true);
        }
        if FloatMode::now() != self.floats {
            self.floats.set();
            self.note(
                callee,
                "how numbers are computed (rounding, `-ffast-math`)",
                true,
            );
        }
        let limits = limits();
        for (at, (resource, name)) in LIMITS.into_iter().enumerate() {
            let (soft, hard) = self.limits[at];
            if limits[at].0 >= soft && limits[at].1 >= hard {
                continue;
            }
            let limit = libc::rlimit {
                rlim_cur: soft,
                rlim_max: hard,
            };
            // SAFETY: the call is given a pointer to the limits.
            let back = unsafe { libc::setrlimit(resource, &limit) } == 0;
            if !back {
                self.limits[at] = limits[at];
            }
            self.note(callee, &format!("the limit of {name}"), back);
        }
        let locale = locale();
        if locale != self.locale {
            self.locale = locale;
            self.note(callee, "the locale", false);
        }
        let handlers = handlers();
        if handlers != self.handlers {
            let differs = |signal: &c_int| {
                let at = *signal as usize;
                handlers[at] != self.handlers[at]
            };
            let names = SIGNALS
                .filter(differs)
                .map(|signal| Named(signal).to_string());
            let names: Vec<String> = names.collect();
            self.handlers = handlers;
            let what = format!("how signals are handled ({})", names.join(", "));
            self.note(callee, &what, false);
        }
    }

    fn note(&mut self, callee: &Callee<'_>, what: &str, put_back: bool) {
        let plugin = callee
            .plugin
            .map(|path| path.to_string_lossy().into_owned());
        let change = ProcessChange {
            what: what.to_owned(),
            put_back,
            kind: callee.kind,
            name: callee.name.to_owned(),
            plugin,
        };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }
}

/// The current directory, opened in a place where it stays.
fn directory() -> Option<File> {
    let opened = File::open(".").or_else(|_| File::open("/")).ok()?;
    copy(opened.as_raw_fd()).map(File::from)
}

/// A copy of a descriptor, with a number of its own.
fn copy(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: the call fails if there is no such descriptor.
    let kept = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, KEPT_FROM) };
    // SAFETY: it was made here.
    (kept >= 0).then(|| unsafe { OwnedFd::from_raw_fd(kept) })
}

fn place(directory: &File) -> Option<(u64, u64)> {
    directory.metadata().ok().map(|known| id(&known))
}

fn id(known: &std::fs::Metadata) -> (u64, u64) {
    (known.dev(), known.ino())
}

/// Whether two descriptors stand for one file.
fn same_file(a: RawFd, b: RawFd) -> bool {
    let of = |fd| {
        let mut known = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the call is given memory for what it says, for which all zeros are a value.
        let known =
            unsafe { (libc::fstat(fd, known.as_mut_ptr()) == 0).then(|| known.assume_init()) };
        known.map(|known| (known.st_dev, known.st_ino, known.st_rdev))
    };
    of(a).is_some_and(|known| of(b) == Some(known))
}

/// Whether nothing more can come from a channel, or go into it.
fn is_over(channel: RawFd) -> bool {
    #[cfg(target_os = "linux")]
    const ENDS: libc::c_short = libc::POLLRDHUP;
    #[cfg(not(target_os = "linux"))]
    const ENDS: libc::c_short = 0;
    let mut seen = libc::pollfd {
        fd: channel,
        events: ENDS,
        revents: 0,
    };
    // SAFETY: the call is given a pointer to one of them.
    let count = unsafe { libc::poll(&mut seen, 1, 0) };
    if count > 0 && seen.revents & (libc::POLLHUP | libc::POLLNVAL | ENDS) != 0 {
        return true;
    }
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: nothing is sent; what is shut refuses that, too.
    let sent = unsafe { libc::send(channel, ptr::null(), 0, flags) };
    sent < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPIPE)
}

/// Whether a descriptor's file answers at once that there is nothing, instead of waiting.
fn never_waits(fd: RawFd) -> bool {
    // SAFETY: the call fails if there is no such descriptor.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

/// Has a descriptor's file wait again; whether it didn't.
fn wait_again(fd: RawFd) -> bool {
    if !never_waits(fd) {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags & !libc::O_NONBLOCK);
    }
    true
}

/// The bits that new files don't get. Asking for them sets them: for a moment to those of files of the user alone.
fn mask() -> libc::mode_t {
    // SAFETY: the calls have no preconditions.
    unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        mask
    }
}

/// What of each resource the process may have: now, and at most.
fn limits() -> [(libc::rlim_t, libc::rlim_t); LIMITS.len()] {
    LIMITS.map(|(resource, _)| {
        let mut limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: the call is given a pointer to them.
        unsafe { libc::getrlimit(resource, &mut limit) };
        (limit.rlim_cur, limit.rlim_max)
    })
}

fn locale() -> Option<Vec<u8>> {
    // SAFETY: with a null pointer the call only says what is set; the text stays until it is called again.
    let name = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
    // SAFETY: it is null or a text.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes().to_vec())
}

/// What handles each signal.
fn handlers() -> [usize; SIGNALS.end as usize] {
    let mut handlers = [0; SIGNALS.end as usize];
    for signal in SIGNALS {
        // SAFETY: the memory is a `sigaction`, for which all zeros are a value; the call is given a pointer to it.
        handlers[signal as usize] = unsafe {
            let mut action: sigaction = MaybeUninit::zeroed().assume_init();
            sigaction(signal, ptr::null(), &mut action);
            action.sa_sigaction
        };
    }
    handlers
}
