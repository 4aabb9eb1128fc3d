//! The steps that passes and definitions take, one after the other, whoever asks next.

use std::cell::{Cell, RefCell};
use std::ptr;

/// The bytes of a step.
pub const STEP: usize = 12;

/// The most steps that are taken: each may make a function a little larger.
const MOST: usize = 256;

thread_local! {
    static SCRIPT: RefCell<Vec<[u8; STEP]>> = const { RefCell::new(Vec::new()) };
    static AT: Cell<usize> = const { Cell::new(0) };
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// The script of this thread; dropped, there is none.
pub(super) struct Script(());

impl Script {
    /// Begins with the first step. If `ends`, passes give an end to the regions that lack one.
    pub(super) fn start(steps: &[u8], ends: bool) -> Script {
        let steps = steps.chunks_exact(STEP).take(MOST);
        let steps = steps.map(|step| step.try_into().expect("as long as a step"));
        SCRIPT.set(steps.collect());
        AT.set(0);
        ENDS.set(ends);
        Script(())
    }

    /// Whether passes give an end to the regions that lack one.
    pub(super) fn ends() -> bool {
        ENDS.get()
    }

    /// The next step.
    pub(super) fn next() -> Option<Step> {
        let at = AT.replace(AT.get() + 1);
        let bytes = SCRIPT.with_borrow(|steps| steps.get(at).copied())?;
        Some(Step {
            bytes,
            at: Cell::new(2),
        })
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        SCRIPT.set(Vec::new());
    }
}

/// A step: its first byte says what is called, the second what is wrong about it, the others with what.
pub(super) struct Step {
    bytes: [u8; STEP],
    at: Cell<usize>,
}

/// What may be wrong with the arguments of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Odd {
    Nothing,
    NullList,
    MisalignedList,
    EndlessList,
    LongList,
    NoSize,
    ThreeBytes,
    Short,
    Longer,
    NullOut,
    MisalignedOut,
    NullDesc,
    MisalignedDesc,
    NoStride,
    ShortStride,
    UnevenStride,
    NullHandle,
    OtherHandle,
}

impl Step {
    /// What is called.
    pub(super) fn what(&self) -> u8 {
        self.bytes[0]
    }

    /// What is wrong with it: mostly nothing.
    pub(super) fn odd(&self) -> Odd {
        const ALL: [Odd; 18] = [
            Odd::Nothing,
            Odd::NullList,
            Odd::MisalignedList,
            Odd::EndlessList,
            Odd::LongList,
            Odd::NoSize,
            Odd::ThreeBytes,
            Odd::Short,
            Odd::Longer,
            Odd::NullOut,
            Odd::MisalignedOut,
            Odd::NullDesc,
            Odd::MisalignedDesc,
            Odd::NoStride,
            Odd::ShortStride,
            Odd::UnevenStride,
            Odd::NullHandle,
            Odd::OtherHandle,
        ];
        match self.bytes[1].checked_sub(208) {
            Some(which) => ALL[usize::from(which) % ALL.len()],
            None => Odd::Nothing,
        }
    }

    /// The next byte; behind the last, others that follow from them.
    pub(super) fn byte(&self) -> u8 {
        let at = self.at.replace(self.at.get() + 1);
        let round = (at / STEP) as u8;
        self.bytes[at % STEP].wrapping_mul(round.wrapping_mul(2).wrapping_add(1)) ^ round
    }

    /// A number below `n`.
    pub(super) fn below(&self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    /// Whether something is so that is so once in `n`.
    pub(super) fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// The number of an entity of which there are `len`, `live` among them: mostly one of these.
    pub(super) fn id(&self, live: &[u32], len: u32) -> u32 {
        let byte = self.byte();
        match byte {
            0..224 if !live.is_empty() => live[usize::from(byte) % live.len()],
            0..240 => u32::from(byte) % len.max(1),
            240..246 => len.wrapping_add(u32::from(byte - 240)).wrapping_sub(1),
            246..253 => u32::MAX,
            253 => u32::MAX - 1,
            254 => 1 << 31,
            255 => 0x1_0000,
        }
    }

    /// A size of a struct, as wrong as the step says.
    pub(super) fn size(&self, right: usize) -> u32 {
        match self.odd() {
            Odd::NoSize => 0,
            Odd::ThreeBytes => 3,
            // Where a field ends: no pointer is cut.
            Odd::Short => (self.below(right / 8) * 8).max(4) as u32,
            // Longer than any: what isn't there isn't read.
            Odd::Longer => right as u32 + (1 << 16) * (1 + u32::from(self.byte())),
            _ => right as u32,
        }
    }

    /// The stride of a list, as wrong as the step says. It is never more than the right one: there is
    /// no more memory.
    pub(super) fn stride(&self, right: usize) -> u32 {
        match self.odd() {
            Odd::NoStride => 0,
            Odd::ShortStride => (self.below(right / 8) * 8) as u32,
            Odd::UnevenStride => right as u32 - 3,
            _ => right as u32,
        }
    }
    /// A pointer to the place for an answer, as wrong as the step says.
    pub(super) fn out<T>(&self, out: *mut T) -> *mut T {
        match self.odd() {
            Odd::NullOut => ptr::null_mut(),
            Odd::MisalignedOut if align_of::<T>() > 1 => out.wrapping_byte_add(1),
            _ => out,
        }
    }
}
