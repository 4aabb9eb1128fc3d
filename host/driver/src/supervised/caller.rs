//! The plugin that made a system call on a thread, found by the thread's stack.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The part of a stack that is searched, in bytes.
const STACK: usize = 64 << 10;

/// Returns the file of the innermost library with code on a thread's stack, out of `libraries`. The thread must be
/// waiting in a system call.
pub(super) fn library_on_stack(process: u32, thread: u32, libraries: &[String]) -> Option<String> {
    let code = code_of(process, libraries).ok()?;
    let stack = stack_of(process, thread)?;
    let words = stack.as_chunks::<8>().0.iter();
    let mut addresses = words.map(|word| u64::from_ne_bytes(*word));
    let has = |address: u64| code.iter().find(|(range, _)| range.contains(&address));
    addresses.find_map(has).map(|(_, file)| file.clone())
}

/// Returns the address ranges of the code of libraries.
fn code_of(process: u32, libraries: &[String]) -> io::Result<Vec<(Range<u64>, String)>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let whole = libraries
        .iter()
        .filter_map(|file| Some((file, fs::canonicalize(file).ok()?)));
    let whole: Vec<_> = whole.collect();
    let code = maps.lines().filter_map(|line| {
        let mut fields = line.split_whitespace();
        let (range, rights, path) = (fields.next()?, fields.next()?, fields.nth(3)?);
        let (start, end) = range.split_once('-')?;
        let (start, end) = (
            u64::from_str_radix(start, 16).ok()?,
            u64::from_str_radix(end, 16).ok()?,
        );
        let (file, _) = whole.iter().find(|(_, whole)| whole.as_os_str() == path)?;
        rights.contains('x').then(|| (start..end, (*file).clone()))
    });
    Ok(code.collect())
}

/// Returns the innermost part of a thread's stack.
fn stack_of(process: u32, thread: u32) -> Option<Vec<u8>> {
    // The number of the call, its six arguments, the stack pointer and the program counter.
    let call = fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall")).ok()?;
    let pointer = call.split_whitespace().nth(7)?.strip_prefix("0x")?;
    let pointer = u64::from_str_radix(pointer, 16).ok()?;
    let mut stack = vec![0; STACK];
    let memory = File::open(format!("/proc/{process}/mem")).ok()?;
    let len = memory.read_at(&mut stack, pointer).ok()?;
    stack.truncate(len);
    Some(stack)
}
