//! Lending: in a process that checks plugins, what a plugin gets expires exactly when passdock.h allows it.
//!
//! Normally, handles and views are addresses of the host's own objects, which often live longer than a plugin may use
//! them. A process that checks plugins instead lends copies in memory that becomes inaccessible, and handles that are
//! numbers. They are odd, so [`Session::from_handle`](super::gate::Session::from_handle) recognizes them
//! where it rejects misaligned pointers, and calls of other processes pay nothing. A violation is recorded, or crashes
//! the process with an explanation by `passdock_crash`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread::{self, ThreadId};
use std::{mem, ptr};

use passdock_abi as abi;
use passdock_abi::{Bytes, Column, FunctionView, Str};
use passdock_crash::{LentFor, LentMemory};
use rustc_hash::FxHashMap;

use super::{LENDS, lends};
use crate::util;

/// The phrase in messages about violations of the rules for handles and memory.
pub const VIOLATION: &str = "violates passdock.h: ";

/// The violations that haven't been taken, with the thread of the call into the plugin, if it is known.
static VIOLATIONS: Mutex<Vec<Violation>> = Mutex::new(Vec::new());

type Violation = (Option<ThreadId>, &'static str);

/// Starts lending. The process can't stop it, because plugins have lent handles.
pub fn lend() {
    LENDS.store(true, Ordering::Relaxed);
}

/// Takes the violations of calls into plugins on this thread. Those that crash the process aren't among them.
fn take_violations() -> Vec<Violation> {
    let this = thread::current().id();
    let mut all = util::lock(&VIOLATIONS);
    all.extract_if(.., |(by, _)| by.is_none_or(|by| by == this))
        .collect()
}

/// The violations of the calls around a call into a plugin, which aren't taken during the call.
pub(in crate::boundary) struct OuterViolations(Vec<Violation>);

/// Puts the violations so far aside until the result is dropped.
pub(in crate::boundary) fn put_aside() -> OuterViolations {
    OuterViolations(take_violations())
}

impl Drop for OuterViolations {
    fn drop(&mut self) {
        util::lock(&VIOLATIONS).append(&mut self.0);
    }
}

/// Takes the violations of calls into plugins on this thread, as a message.
#[inline]
pub(in crate::boundary) fn take_message() -> Option<String> {
    if !lends() {
        return None;
    }
    let all = take_violations();
    let texts: Vec<&str> = all.into_iter().map(|(_, text)| text).collect();
    (!texts.is_empty()).then(|| format!("{VIOLATION}{}", texts.join("; ")))
}

fn record(by: Option<ThreadId>, violation: &'static str) {
    let mut all = util::lock(&VIOLATIONS);
    if !all.contains(&(by, violation)) {
        all.push((by, violation));
    }
}

/// Blocks of memory that expire together.
pub(in crate::boundary) struct Loans {
    lent_for: LentFor,
    blocks: Vec<LentMemory>,
}

impl Loans {
    pub(in crate::boundary) fn new(lent_for: LentFor) -> Loans {
        Loans {
            lent_for,
            blocks: Vec::new(),
        }
    }

    /// Lends a copy of a list. Its items have no padding, like all records of the plugin ABI.
    pub(in crate::boundary) fn list<T: Copy + 'static>(&mut self, items: &[T]) -> &'static [T] {
        let at: *const T = self.block(bytes_of(items)).cast();
        // SAFETY: the memory has a copy of the items, and pages are aligned for all records. Only the plugin uses the
        // result, and the plugin ABI says for how long.
        unsafe { std::slice::from_raw_parts(at, items.len()) }
    }

    /// Lends a copy of a string.
    ///
    /// # Safety
    /// The string is valid.
    pub(in crate::boundary) unsafe fn text(&mut self, text: Str) -> Str {
        let Str { ptr, len } = text;
        // SAFETY: the caller's promise.
        let Bytes { ptr, len } = unsafe { self.bytes(Bytes { ptr, len }) };
        Str { ptr, len }
    }

    /// Lends a copy of bytes.
    ///
    /// # Safety
    /// The bytes are valid.
    pub(in crate::boundary) unsafe fn bytes(&mut self, bytes: Bytes) -> Bytes {
        if bytes.len == 0 {
            return bytes;
        }
        // SAFETY: the caller's promise.
        let copied = unsafe { std::slice::from_raw_parts(bytes.ptr, bytes.len) };
        Bytes {
            ptr: self.block(copied),
            ..bytes
        }
    }

    /// Lends a copy of a function's arenas, which the list in the body has. Returns the view with the addresses of the
    /// copies.
    pub(in crate::boundary) fn columns(&mut self, mut view: FunctionView) -> FunctionView {
        let FunctionView {
            ops,
            values,
            uses,
            regions,
            ports,
            attrs,
            types,
            dims,
            exprs,
            constants,
            locs,
            opsets,
            ids,
            ints,
            floats,
            strings,
            bytes,
            ..
        } = &mut view;
        let mut columns = [
            (ops, size_of::<abi::Op>()),
            (values, size_of::<abi::Value>()),
            (uses, size_of::<abi::Use>()),
            (regions, size_of::<abi::Region>()),
            (ports, size_of::<abi::Port>()),
            (attrs, size_of::<abi::Attr>()),
            (types, size_of::<abi::Type>()),
            (dims, size_of::<abi::Dim>()),
            (exprs, size_of::<abi::DimExpr>()),
            (constants, size_of::<abi::Constant>()),
            (locs, size_of::<abi::Loc>()),
            (opsets, size_of::<abi::Opset>()),
            (ids, size_of::<u32>()),
            (ints, size_of::<i64>()),
            (floats, size_of::<f32>()),
            (strings, size_of::<abi::Range>()),
            (bytes, size_of::<u8>()),
        ];
        let mut content = Vec::new();
        let offsets = columns.each_ref().map(|(column, size)| {
            content.resize(content.len().next_multiple_of(ALIGNMENT), 0);
            let offset = content.len();
            // SAFETY: the view is one of the host, whose columns have as many records.
            content.extend(unsafe { column_bytes(column, *size) });
            offset
        });
        let block = self.block(&content);
        for ((column, _), offset) in columns.iter_mut().zip(offsets) {
            column.base = block.wrapping_add(offset).cast();
        }
        view
    }

    /// Lends a copy of a column whose records have this size.
    ///
    /// # Safety
    /// The column has as many records.
    pub(in crate::boundary) unsafe fn column(&mut self, column: Column, size: usize) -> Column {
        // SAFETY: the caller's promise.
        let bytes = unsafe { column_bytes(&column, size) };
        Column {
            base: self.block(bytes).cast(),
            ..column
        }
    }

    fn block(&mut self, bytes: &[u8]) -> *const u8 {
        let block = LentMemory::new(self.lent_for, bytes.into());
        let at = block.as_ptr();
        self.blocks.push(block);
        at
    }

    /// Ends the loans.
    pub(in crate::boundary) fn expire(&mut self) {
        if self.blocks.drain(..).any(|block| block.is_changed()) {
            record_write();
        }
    }
}

impl Default for Loans {
    fn default() -> Loans {
        Loans::new(LentFor::Callback)
    }
}

impl Drop for Loans {
    fn drop(&mut self) {
        self.expire();
    }
}

/// The alignment of columns, sufficient for all records.
const ALIGNMENT: usize = 16;

/// # Safety
/// The column has as many records of this size.
unsafe fn column_bytes(column: &Column, size: usize) -> &[u8] {
    match column.len {
        0 => &[],
        // SAFETY: the caller's promise.
        len => unsafe { std::slice::from_raw_parts(column.base.cast(), len as usize * size) },
    }
}

/// Returns the bytes of records of the plugin ABI, which have no padding.
fn bytes_of<T: Copy>(records: &[T]) -> &[u8] {
    // SAFETY: without padding, all bytes are initialized.
    unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), size_of_val(records)) }
}

/// The header of a view. Its address doesn't change.
pub(in crate::boundary) struct LentView<T>(LentMemory, PhantomData<T>);

impl<T: Copy> LentView<T> {
    pub(in crate::boundary) fn new(view: T) -> LentView<T> {
        let memory = LentMemory::new(LentFor::View, bytes_of(&[view]).into());
        LentView(memory, PhantomData)
    }

    pub(in crate::boundary) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr().cast()
    }

    /// Writes a changed view.
    pub(in crate::boundary) fn write(&mut self, view: T) {
        if self.0.is_changed() {
            record_write();
        }
        self.0.write(bytes_of(&[view]));
    }
}

impl<T> Drop for LentView<T> {
    fn drop(&mut self) {
        if self.0.is_changed() {
            record_write();
        }
    }
}

fn record_write() {
    record(
        Some(thread::current().id()),
        "it wrote to read-only memory (Views); change functions only through the functions of the host",
    );
}

/// A handle: a number that refers to a session until it is dropped.
pub(in crate::boundary) struct LentHandle(usize);

/// The session of a handle.
struct Borrower {
    session: AtomicPtr<()>,
    thread: ThreadId,
    /// The results of the last call on the handle.
    results: Loans,
    /// The results of the call before, which may be arguments of the last call.
    previous: Loans,
}

static HANDLES: LazyLock<Mutex<FxHashMap<usize, Borrower>>> = LazyLock::new(Mutex::default);

/// The next handle.
static NEXT: AtomicUsize = AtomicUsize::new(1);

thread_local! {
    /// The handle of the thread's last call.
    static CALLED: Cell<usize> = const { Cell::new(0) };
}

impl LentHandle {
    /// Lends a handle to a session, which doesn't move while the handle exists.
    pub(in crate::boundary) fn new<S>(session: &S) -> LentHandle {
        let borrower = Borrower {
            session: AtomicPtr::new(ptr::from_ref(session).cast_mut().cast()),
            thread: thread::current().id(),
            results: Loans::new(LentFor::Result),
            previous: Loans::new(LentFor::Result),
        };
        let number = NEXT.fetch_add(2, Ordering::Relaxed);
        util::lock(&HANDLES).insert(number, borrower);
        LentHandle(number)
    }

    pub(in crate::boundary) fn as_ptr<T>(&self) -> *mut T {
        ptr::without_provenance_mut(self.0)
    }
}

impl Drop for LentHandle {
    fn drop(&mut self) {
        let ended = util::lock(&HANDLES).remove(&self.0);
        drop(ended);
    }
}

/// Returns the session of a lent handle for a call on it, which ends with [`end_call`].
#[cold]
pub(in crate::boundary) fn session_of(handle: usize) -> Option<*mut ()> {
    let mut handles = util::lock(&HANDLES);
    let Some(borrower) = handles.get_mut(&handle) else {
        if handle % 2 == 1 && handle < NEXT.load(Ordering::Relaxed) {
            record(
                None,
                "it called the host with a handle that had expired (Lifetime); don't keep handles after the function \
                 that received them has returned",
            );
        }
        return None;
    };
    if borrower.thread != thread::current().id() {
        record(
            Some(borrower.thread),
            "it called the host on a thread that didn't receive the handle (Threads); use each handle only on its \
             thread",
        );
        return None;
    }
    borrower.previous.expire();
    mem::swap(&mut borrower.results, &mut borrower.previous);
    CALLED.set(handle);
    Some(borrower.session.load(Ordering::Relaxed))
}

/// Returns the handle of the thread's last call, for [`end_call`].
pub(in crate::boundary) fn called() -> usize {
    CALLED.get()
}

/// Ends a call on a lent handle: the results of the call before expire.
#[cold]
pub(in crate::boundary) fn end_call(handle: usize) {
    if let Some(borrower) = util::lock(&HANDLES).get_mut(&handle) {
        borrower.previous.expire();
    }
}

/// Returns the result of a call, which `lend` lends until the next call on the same handle if the process lends.
pub(in crate::boundary) fn result<T>(owned: T, lend: impl FnOnce(&mut Loans, T) -> T) -> T {
    if !lends() {
        return owned;
    }
    match util::lock(&HANDLES).get_mut(&CALLED.get()) {
        Some(borrower) => lend(&mut borrower.results, owned),
        None => owned,
    }
}

/// Returns a list as the result of a call.
pub(in crate::boundary) fn result_list<T: Copy + 'static>(list: &[T]) -> &[T] {
    result(list, |loans, list| loans.list(list))
}

/// Returns a string as the result of a call.
pub(in crate::boundary) fn result_text(text: &str) -> Str {
    // SAFETY: the text is borrowed.
    result(Str::new(text), |loans, text| unsafe { loans.text(text) })
}
