//! The record of a process that runs plugins: the calls on each thread's stack. It may be in memory shared with a
//! supervisor, which reads it after the process has terminated. Writing it takes one system call per thread.

#[cfg(unix)]
use std::fmt::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use passdock_ir::text::is_hidden;

use crate::call::{CallKind, Callee};
use crate::termination::{Culprit, Termination, TerminationCause};

/// Maximum number of recorded threads. Threads beyond the first 64 that call a plugin aren't recorded.
const THREADS: usize = 64;

/// Maximum number of recorded calls per thread, which are the innermost ones.
const CALLS: usize = 8;

/// The calls of a process. The all-zero record is empty.
#[repr(C)]
pub struct Record {
    /// The signal that terminated the process, written by its handler.
    signal: AtomicU32,
    /// Bits: whether the signal has an address, whether it is a stack overflow, and whether the channel to the
    /// supervisor is closed.
    flags: AtomicU32,
    address: AtomicU64,
    /// The 1-based number of the thread that received the signal; 0 if no plugin was called on it.
    thread: AtomicU32,
    threads_taken: AtomicU32,
    rewrites: AtomicU64,
    rule: Text<31>,
    /// The paths of all loaded plugins, one per line.
    loaded: Text<511>,
    threads: [ThreadRecord; THREADS],
}

const HAS_ADDRESS: u32 = 1;
const STACK_OVERFLOW: u32 = 2;
const CHANNEL_LOST: u32 = 4;

/// The calls of a thread.
#[repr(C)]
pub(crate) struct ThreadRecord {
    number: AtomicU32,
    depth: AtomicU32,
    /// The system's id of the thread, on Linux.
    id: AtomicU32,
    _unused: AtomicU32,
    calls: [CallRecord; CALLS],
}

/// A call.
#[repr(C)]
pub(crate) struct CallRecord {
    /// The number of the [`CallKind`]; 0 for an unused entry.
    kind: AtomicU32,
    _unused: AtomicU32,
    number: AtomicU64,
    pub(crate) name: Text<31>,
    pub(crate) plugin: Text<63>,
    pub(crate) function: Text<31>,
}

/// A string of at most `WORDS` 8-byte words. Longer strings are truncated. The length is written last.
#[repr(C)]
pub(crate) struct Text<const WORDS: usize> {
    len: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Record {
    /// Creates a record that only this process reads.
    #[cfg(unix)]
    pub(crate) fn in_own_memory() -> &'static Record {
        // SAFETY: a record consists of atomic integers, for which zero bytes are valid.
        Box::leak(unsafe { Box::<Record>::new_zeroed().assume_init() })
    }

    pub(crate) fn take_thread(&'static self) -> Option<&'static ThreadRecord> {
        let at = self.threads_taken.fetch_add(1, Ordering::Relaxed);
        let thread = self.threads.get(at as usize)?;
        thread.number.store(at + 1, Ordering::Relaxed);
        #[cfg(target_os = "linux")]
        {
            let id = rustix::thread::gettid().as_raw_nonzero().get();
            thread.id.store(id.cast_unsigned(), Ordering::Relaxed);
        }
        Some(thread)
    }

    pub(crate) fn add_library(&self, file: Option<&Path>) {
        static LOADED: Mutex<String> = Mutex::new(String::new());
        if let Some(file) = file.and_then(Path::to_str) {
            let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
            loaded.push_str(file);
            loaded.push('\n');
            self.loaded.write(&loaded);
        }
    }

    pub(crate) fn set_rewrites(&self, count: u64, rule: &str) {
        self.rewrites.store(count, Ordering::Relaxed);
        self.rule.write(rule);
    }

    /// Records that a plugin closed the channel to the supervisor.
    #[cfg(unix)]
    pub(crate) fn set_channel_lost(&self) {
        self.flags.store(CHANNEL_LOST, Ordering::Relaxed);
    }

    /// Records the signal that terminates the process.
    #[cfg(unix)]
    pub(crate) fn set_signal(&self, cause: &TerminationCause, thread: Option<&ThreadRecord>) {
        let &TerminationCause::Signal {
            signal,
            address,
            stack_overflow,
        } = cause
        else {
            return;
        };
        let mut flags = if stack_overflow { STACK_OVERFLOW } else { 0 };
        if let Some(address) = address {
            flags |= HAS_ADDRESS;
            self.address.store(address, Ordering::Relaxed);
        }
        let thread = thread.map_or(0, |thread| thread.number.load(Ordering::Relaxed));
        self.thread.store(thread, Ordering::Relaxed);
        self.flags.store(flags, Ordering::Relaxed);
        self.signal.store(signal.cast_unsigned(), Ordering::Release);
    }

    /// Returns the innermost call on the thread with this id of the system.
    #[cfg(target_os = "linux")]
    pub fn call_on(&self, thread: u32) -> Option<Culprit> {
        let mut threads = self.threads.iter();
        let thread = threads.find(|record| record.id.load(Ordering::Relaxed) == thread)?;
        thread.stack().into_iter().next()
    }

    /// Returns the calls of passes, instruments and libraries on all threads, with the threads' numbers.
    pub fn calls(&self) -> impl Iterator<Item = (u32, Culprit)> {
        // Definitions have no numbers, so two calls of one can't be told apart.
        let is_numbered = |call: &Culprit| call.kind != CallKind::Definition;
        self.threads.iter().flat_map(move |thread| {
            let number = thread.number.load(Ordering::Relaxed);
            let calls = thread.stack().into_iter().filter(is_numbered);
            calls.map(move |call| (number, call))
        })
    }

    /// Returns the paths of all loaded plugins.
    pub fn loaded(&self) -> Vec<String> {
        self.loaded.read().lines().map(str::to_owned).collect()
    }

    /// Returns the termination of the process that wrote this record, given the cause that the system reports.
    pub fn termination(&self, cause: TerminationCause) -> Termination {
        let mut termination = Termination::new(cause);
        if self.flags.load(Ordering::Relaxed) & CHANNEL_LOST != 0 {
            termination.cause = TerminationCause::Descriptors;
        }
        let mut thread = None;
        let signal = self.signal.load(Ordering::Acquire).cast_signed();
        if let TerminationCause::Signal { signal: known, .. } = termination.cause
            && known == signal
        {
            let flags = self.flags.load(Ordering::Relaxed);
            let address = self.address.load(Ordering::Relaxed);
            termination.cause = TerminationCause::Signal {
                signal,
                address: (flags & HAS_ADDRESS != 0).then_some(address),
                stack_overflow: flags & STACK_OVERFLOW != 0,
            };
            let number = self.thread.load(Ordering::Relaxed);
            thread = self.threads.get((number as usize).wrapping_sub(1));
            termination.on_other_thread = thread.is_none();
        }
        let stack = match thread {
            Some(thread) => {
                termination.called_before = thread.called_before();
                thread.stack()
            }
            None => self.common_stack(),
        };
        let pass = stack.iter().find(|call| call.kind == CallKind::Pass);
        let is_pass = stack
            .first()
            .is_some_and(|call| call.kind == CallKind::Pass);
        termination.pass = pass.filter(|_| !is_pass).cloned();
        termination.culprit = stack.into_iter().next();
        termination.on_other_thread &= termination.culprit.is_some();
        let rule = self.rule.read();
        termination.rewrites =
            (!rule.is_empty()).then(|| (self.rewrites.load(Ordering::Relaxed), rule));
        termination.loaded = self.loaded();
        termination
    }

    /// Returns the calls of the thread that called a plugin, innermost first. If several threads ran different calls,
    /// returns only the pass that all of them ran.
    fn common_stack(&self) -> Vec<Culprit> {
        let stacks = self.threads.iter().map(ThreadRecord::stack);
        let mut stacks: Vec<Vec<Culprit>> = stacks.filter(|stack| !stack.is_empty()).collect();
        // A thread that waits for threads which run the same pass.
        let waits =
            |stack: &Vec<Culprit>| stack[0].kind == CallKind::Pass && stack[0].function.is_none();
        if !stacks.iter().all(waits) {
            stacks.retain(|stack| !waits(stack));
        }
        let Some(first) = stacks.first().cloned() else {
            return Vec::new();
        };
        if stacks.iter().all(|stack| stack[0] == first[0]) {
            return first;
        }
        let mut pass = first.into_iter().find(|call| call.kind == CallKind::Pass);
        if let Some(pass) = &mut pass {
            pass.function = None;
        }
        pass.into_iter().collect()
    }
}

impl ThreadRecord {
    #[inline]
    pub(crate) fn push(&self, callee: &Callee<'_>) {
        let depth = self.depth.load(Ordering::Relaxed);
        let call = &self.calls[depth as usize % CALLS];
        call.number.store(callee.number, Ordering::Relaxed);
        call.name.write(callee.name);
        let plugin = callee.plugin.and_then(Path::to_str);
        call.plugin.write(plugin.unwrap_or_default());
        call.function.write(callee.function);
        call.kind.store(callee.kind as u32 + 1, Ordering::Relaxed);
        // It hasn't called anything yet.
        let inner = &self.calls[(depth as usize + 1) % CALLS];
        inner.kind.store(0, Ordering::Relaxed);
        self.depth.store(depth + 1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn pop(&self) {
        let depth = self.depth.load(Ordering::Relaxed);
        self.depth.store(depth.saturating_sub(1), Ordering::Release);
    }

    #[inline]
    pub(crate) fn set_function(&self, name: &str) {
        let depth = self.depth.load(Ordering::Relaxed) as usize;
        self.calls[depth.wrapping_sub(1) % CALLS]
            .function
            .write(name);
    }

    /// Returns the calls on the thread's stack, innermost first.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &CallRecord> {
        let depth = self.depth.load(Ordering::Acquire) as usize;
        let least = depth.saturating_sub(CALLS);
        (least..depth).rev().map(|at| &self.calls[at % CALLS])
    }

    fn stack(&self) -> Vec<Culprit> {
        self.calls().filter_map(CallRecord::read).collect()
    }

    /// Returns the op definition that the innermost call called last.
    fn called_before(&self) -> Option<Culprit> {
        let depth = self.depth.load(Ordering::Acquire) as usize;
        let last = self.calls[depth % CALLS].read();
        last.filter(|call| call.kind == CallKind::Definition)
    }
}

impl CallRecord {
    pub(crate) fn kind(&self) -> Option<CallKind> {
        let number = self.kind.load(Ordering::Relaxed) as usize;
        CallKind::ALL.get(number.wrapping_sub(1)).copied()
    }

    fn read(&self) -> Option<Culprit> {
        let some = |text: String| (!text.is_empty()).then_some(text);
        Some(Culprit {
            kind: self.kind()?,
            name: self.name.read(),
            plugin: some(self.plugin.read()),
            function: some(self.function.read()),
            number: self.number.load(Ordering::Relaxed),
        })
    }
}

impl<const WORDS: usize> Text<WORDS> {
    #[inline]
    fn write(&self, text: &str) {
        let bytes = text.as_bytes();
        let bytes = &bytes[..bytes.len().min(WORDS * 8)];
        self.len.store(0, Ordering::Release);
        let (words, rest) = bytes.as_chunks::<8>();
        for (to, word) in self.words.iter().zip(words) {
            to.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        if let Some(to) = self.words.get(words.len()).filter(|_| !rest.is_empty()) {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            to.store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
        self.len.store(bytes.len() as u64, Ordering::Release);
    }

    #[cfg(unix)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Returns the bytes, padded to whole words, and their length. `map` would copy the array several times in builds
    /// without optimization, too much for a signal handler's stack, of which AVX-512 registers take 3 of 8 KiB.
    fn bytes(&self) -> ([[u8; 8]; WORDS], usize) {
        let len = self.len.load(Ordering::Acquire) as usize;
        let mut words = [[0; 8]; WORDS];
        for (bytes, word) in words.iter_mut().zip(&self.words) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        (words, len.min(WORDS * 8))
    }

    fn read(&self) -> String {
        let (words, len) = self.bytes();
        whole(&words.as_flattened()[..len]).to_owned()
    }
}

/// Formats the string for a terminal without allocating. Hidden characters are replaced by question marks.
#[cfg(unix)]
impl<const WORDS: usize> fmt::Display for Text<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, len) = self.bytes();
        for c in whole(&words.as_flattened()[..len]).chars() {
            f.write_char(if is_hidden(c) { '?' } else { c })?;
        }
        Ok(())
    }
}

/// Returns the valid UTF-8 prefix. A truncated string may end within a character.
fn whole(bytes: &[u8]) -> &str {
    let first = bytes.utf8_chunks().next();
    first.map_or("", |chunk| chunk.valid())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::call::record_to;

    #[test]
    fn active_calls_are_read_after_termination() {
        let record = Record::in_own_memory();
        record_to(record);
        let exit = || TerminationCause::Exit { status: Some(0) };
        assert!(record.termination(exit()).is_unattributed());

        let pass = Callee::pass("a.pass", Some(Path::new("a.so")));
        let entered = pass.enter();
        entered.set_function(|| "main");
        let termination = record.termination(exit());
        let culprit = termination.culprit.unwrap();
        assert_eq!((&*culprit.name, culprit.number), ("a.pass", pass.number));
        assert_eq!(culprit.plugin.as_deref(), Some("a.so"));
        assert_eq!(culprit.function.as_deref(), Some("main"));
        {
            let op = Callee::new(CallKind::Definition, "an.Op", Some(Path::new("b.so")));
            let entered = op.on_function("main").enter();
            let termination = record.termination(exit());
            assert_eq!(termination.culprit.unwrap().name, "an.Op");
            assert_eq!(termination.pass.unwrap().name, "a.pass");
            entered.leave();
        }
        let signal = TerminationCause::Signal {
            signal: 11,
            address: None,
            stack_overflow: false,
        };
        record.set_signal(&signal, crate::call::current());
        let termination = record.termination(signal);
        assert_eq!(termination.culprit.unwrap().name, "a.pass");
        assert_eq!(termination.called_before.unwrap().name, "an.Op");
        // If two threads run the pass on different functions, only the pass is reported.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let entered = pass.enter();
                entered.set_function(|| "other");
                let culprit = record.termination(exit()).culprit.unwrap();
                assert_eq!((&*culprit.name, culprit.function), ("a.pass", None));
                entered.leave();
            });
        });
        entered.leave();
        assert!(record.termination(exit()).is_unattributed());

        trace_rewrites_and_long_names(record);
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        let text = Text::<4> {
            len: AtomicU64::new(0),
            words: Default::default(),
        };
        text.write("a\u{1b}[31m\u{9b}\u{202e}b\n");
        assert_eq!(text.to_string(), "a?[31m??b?");
        assert_eq!(text.read(), "a\u{1b}[31m\u{9b}\u{202e}b\n");
    }

    fn trace_rewrites_and_long_names(record: &Record) {
        crate::trace_rewrites(2, "a rule");
        let name = "é".repeat(300);
        let entered = Callee::new(CallKind::Instrument, &name, None).enter();
        let termination = record.termination(TerminationCause::Descriptors);
        entered.leave();
        assert_eq!(termination.rewrites, Some((2, "a rule".to_owned())));
        assert_eq!(termination.culprit.unwrap().name, "é".repeat(124));
    }
}
