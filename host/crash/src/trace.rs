//! What a process is at that may end without a word: `_exit` and another program in its place tell nobody.
//!
//! A few numbers and names stand in a file that is mapped, and are written all the time; writing one costs no call of the
//! system. Whoever finds the process gone reads them there.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::Callee;

/// How many threads are traced: the first so many.
const THREADS: usize = 64;

/// The room for names, in bytes.
const ROOM: usize = 1008;

/// What is written at once.
const WORD: usize = size_of::<u64>();

/// The bytes of what is traced.
pub const TRACE_BYTES: usize = size_of::<Trace>();

/// What is traced. Zeros stand for nothing.
#[repr(C)]
pub struct Trace {
    rewrites: AtomicU64,
    rule: Text,
    threads: [Thread; THREADS],
}

/// Where a thread is.
#[repr(C)]
struct Thread {
    /// The function that a pass is called on: its number in the module, from 1 on.
    function: AtomicU32,
    _unused: AtomicU32,
    /// The name of the op whose definition is called, its plugin's file and the function, each with a NUL behind it.
    definition: Text,
}

/// A text that changes; its length is written last.
#[repr(C)]
struct Text {
    len: AtomicU64,
    words: [AtomicU64; ROOM / WORD],
}

/// What a trace says.
#[derive(Debug, Default, PartialEq)]
pub struct Traced {
    /// The number of rewrites that the pass had done, and the rule that began the next one or did the last one; `None`:
    /// nobody counts.
    pub rewrites: Option<(u64, String)>,
    /// The number of the function that a pass was called on, from 1 on; `None`: it was called on none, or on several.
    pub function: Option<u32>,
    /// The definition that was called, if it is one.
    pub definition: Option<TracedDefinition>,
}

/// A definition that was called.
#[derive(Debug, PartialEq)]
pub struct TracedDefinition {
    /// The op.
    pub op: String,
    /// The plugin's file.
    pub plugin: String,
    /// The function that has the op.
    pub function: Option<String>,
}

static TRACE: OnceLock<&'static Trace> = OnceLock::new();

/// What threads write to that aren't traced.
static NOWHERE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread's place; the outer `None`: it wasn't asked for yet.
    static PLACE: Cell<Option<Option<&'static Thread>>> = const { Cell::new(None) };
}

/// Writes what the process is at there from now on. The first call counts.
pub fn trace_to(trace: &'static Trace) {
    _ = TRACE.set(trace);
}

fn place() -> Option<&'static Thread> {
    if let Some(place) = PLACE.get() {
        return place;
    }
    let trace = TRACE.get()?;
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let at = TAKEN.fetch_add(1, Ordering::Relaxed) as usize;
    let place = trace.threads.get(at);
    PLACE.set(Some(place));
    place
}

/// The functions that a pass is called on, one after the other, by this thread.
pub struct FunctionTrace {
    at: &'static AtomicU32,
    /// What stands there of the pass around it.
    before: u32,
}

impl FunctionTrace {
    /// Begins; the pass isn't called on a function yet.
    pub fn begin() -> FunctionTrace {
        let at = place().map_or(&NOWHERE, |thread| &thread.function);
        let before = at.swap(0, Ordering::Relaxed);
        FunctionTrace { at, before }
    }

    /// The pass is about to be called on the function of this number in the module, from 1 on.
    #[inline]
    pub fn at(&self, number: u32) {
        self.at.store(number, Ordering::Relaxed);
    }
}

impl Drop for FunctionTrace {
    fn drop(&mut self) {
        self.at.store(self.before, Ordering::Relaxed);
    }
}

/// A rule may begin a rewrite, or has done one: so many are done.
pub fn trace_rewrites(count: u64, rule: &str) {
    if let Some(trace) = TRACE.get() {
        trace.rewrites.store(count, Ordering::Relaxed);
        trace.rule.write([rule]);
    }
}

/// The definition of an op is called, until what is returned is dropped.
pub(crate) fn defined(callee: &Callee<'_>, op: Option<&str>, function: Option<&str>) -> Defined {
    let plugin = callee.plugin.and_then(std::path::Path::to_str);
    let text = place()
        .zip(plugin)
        .map(|(thread, plugin)| (&thread.definition, plugin));
    // One that is called in the definition of another op is told of alone, and then the other isn't.
    Defined(text.map(|(text, plugin)| {
        text.write([op.unwrap_or_default(), plugin, function.unwrap_or_default()]);
        text
    }))
}

/// A definition that is called.
pub(crate) struct Defined(Option<&'static Text>);

impl Drop for Defined {
    #[inline]
    fn drop(&mut self) {
        if let Some(text) = self.0 {
            text.len.store(0, Ordering::Release);
        }
    }
}

impl Text {
    /// Writes names, if there is room for all of them.
    fn write<const N: usize>(&self, names: [&str; N]) {
        self.len.store(0, Ordering::Release);
        let len: usize = names.iter().map(|name| name.len() + 1).sum();
        if len > ROOM {
            return;
        }
        let mut bytes = [0; ROOM];
        let mut rest = &mut bytes[..];
        for name in names {
            let (here, behind) = rest.split_at_mut(name.len() + 1);
            here[..name.len()].copy_from_slice(name.as_bytes());
            rest = behind;
        }
        let (words, _) = bytes.as_chunks::<WORD>();
        for (to, word) in self.words.iter().zip(&words[..len.div_ceil(WORD)]) {
            to.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        self.len.store(len as u64, Ordering::Release);
    }
}

/// What the bytes of a trace say; whoever wrote them may have been a plugin.
pub fn traced(bytes: &[u8]) -> Traced {
    let mut reader = Reader(bytes);
    reader.trace().unwrap_or_default()
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn trace(&mut self) -> Option<Traced> {
        let rewrites = self.wide_number()?;
        let rule = self.text::<1>()?;
        let (mut functions, mut definitions) = (Vec::new(), Vec::new());
        for _ in 0..THREADS {
            let [function, _unused] = [self.number()?, self.number()?];
            functions.push(function);
            definitions.extend(self.text::<3>()?);
        }
        functions.retain(|number| *number > 0);
        definitions.dedup();
        Some(Traced {
            rewrites: rule.map(|[rule]| (rewrites, rule.to_owned())),
            function: match functions[..] {
                [number] => Some(number),
                _ => None,
            },
            definition: match definitions[..] {
                [[op, plugin, function]] => Some(TracedDefinition {
                    op: op.to_owned(),
                    plugin: plugin.to_owned(),
                    function: (!function.is_empty()).then(|| function.to_owned()),
                }),
                _ => None,
            },
        })
    }

    fn bytes(&mut self, len: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn wide_number(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// So many names; the inner `None`: there are none.
    #[expect(
        clippy::option_option,
        reason = "the outer one says that the bytes are cut off"
    )]
    fn text<const N: usize>(&mut self) -> Option<Option<[&'b str; N]>> {
        let len = usize::try_from(self.wide_number()?).unwrap_or(usize::MAX);
        let text = self.bytes(ROOM)?.get(..len).unwrap_or_default();
        let names = std::str::from_utf8(text).unwrap_or_default();
        let mut names = names.split_terminator('\0');
        let names = [(); N].map(|()| names.next());
        let is_whole = names.iter().all(Option::is_some);
        Some(is_whole.then(|| names.map(Option::unwrap_or_default)))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::*;
    use crate::{CallKind, Mapped};

    /// A trace in a file, which is read while it is written.
    fn read(file: &File) -> Traced {
        use std::os::unix::fs::FileExt;
        let mut bytes = vec![0; TRACE_BYTES];
        file.read_exact_at(&mut bytes, 8).unwrap();
        traced(&bytes)
    }

    #[test]
    fn what_a_thread_is_at_is_read_by_another() {
        let path = std::env::temp_dir().join(format!("passdock-trace-{}", std::process::id()));
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(8 + TRACE_BYTES as u64).unwrap();
        trace_to(
            Mapped::new(&file, 8 + TRACE_BYTES)
                .unwrap()
                .trace(8)
                .unwrap(),
        );
        assert_eq!(read(&file), Traced::default());

        let functions = FunctionTrace::begin();
        functions.at(7);
        assert_eq!(read(&file).function, Some(7));
        {
            let inner = FunctionTrace::begin();
            assert_eq!(read(&file).function, None);
            inner.at(2);
            assert_eq!(read(&file).function, Some(2));
        }
        assert_eq!(read(&file).function, Some(7));
        // Of two threads, nobody knows which one it was.
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let functions = FunctionTrace::begin();
                functions.at(3);
                assert_eq!(read(&file).function, None);
            });
            other.join().unwrap();
        });
        assert_eq!(read(&file).function, Some(7));
        drop(functions);
        assert_eq!(read(&file).function, None);

        let callee = Callee::new(CallKind::Definition, "", Some(Path::new("ops.so")));
        {
            let _defined = defined(&callee, Some("a.Op"), Some("main"));
            let definition = read(&file).definition.unwrap();
            assert_eq!((&*definition.op, &*definition.plugin), ("a.Op", "ops.so"));
            assert_eq!(definition.function.as_deref(), Some("main"));
        }
        assert_eq!(read(&file).definition, None);

        trace_rewrites(2, "a rule");
        assert_eq!(read(&file).rewrites, Some((2, "a rule".to_owned())));
    }

    #[test]
    fn bytes_that_a_plugin_wrote_are_nothing() {
        for bytes in [vec![255; TRACE_BYTES], vec![1; TRACE_BYTES], vec![0; 5]] {
            let traced = traced(&bytes);
            assert_eq!((traced.rewrites, traced.definition), (None, None));
        }
    }
}
