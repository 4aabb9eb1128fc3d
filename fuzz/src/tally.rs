//! What became of the inputs, said when the fuzzer ends.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libfuzzer_sys::Corpus;

use crate::memory::MOST_PER_BYTE;

static INPUTS: AtomicU64 = AtomicU64::new(0);
static TO_THE_END: AtomicU64 = AtomicU64::new(0);
static BEGIN: Once = Once::new();

unsafe extern "C" {
    fn atexit(call: extern "C" fn()) -> i32;
}

extern "C" fn say() {
    let (inputs, read) = (INPUTS.load(Relaxed), TO_THE_END.load(Relaxed));
    let share = read as f64 * 100.0 / inputs.max(1) as f64;
    let memory = MOST_PER_BYTE.load(Relaxed);
    eprintln!(
        "tally: {inputs} inputs, {read} parsed to the end ({share:.1} %), at most {memory} bytes of \
         memory a byte of one above 1 KiB"
    );
}

/// Notes whether an input was parsed to its end, and says whether to go on from it. One that wasn't is
/// kept if it has at most `longest` bytes: small ones find the ways to be wrong, and what comes of
/// large ones is mostly wrong in the same way.
pub fn count(parsed: bool, longest: usize, input: &[u8]) -> Corpus {
    BEGIN.call_once(|| {
        // SAFETY: `say` is a function of this program, which takes and gives nothing.
        let refused = unsafe { atexit(say) };
        assert_eq!(refused, 0, "the system takes no functions to call at exit");
    });
    INPUTS.fetch_add(1, Relaxed);
    TO_THE_END.fetch_add(u64::from(parsed), Relaxed);
    if parsed || input.len() <= longest {
        Corpus::Keep
    } else {
        Corpus::Reject
    }
}
