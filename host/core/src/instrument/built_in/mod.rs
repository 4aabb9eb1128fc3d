//! The instruments of the host, one per file: the instrument, its options in pipelines, and its registered name.

mod bisect;
mod dump;
mod memory;
mod op_count;
mod print;
mod print_changed;
mod timing;
mod trace;
mod verifier;

use std::io;
use std::path::Path;

pub use bisect::Bisect;
pub use dump::DumpIr;
pub use memory::PassMemory;
pub use op_count::OpCount;
pub use print::PrintIr;
pub(crate) use print::shown;
pub use print_changed::PrintChanged;
pub use timing::PassTimingInstrument;
pub use verifier::WellFormed;

use crate::instrument::InstrumentSpec;

/// Returns the specs of the instruments that every registry has.
pub(crate) fn specs() -> Vec<InstrumentSpec> {
    vec![
        timing::spec(),
        memory::spec(),
        op_count::spec(),
        print::spec_before(),
        print::spec_after(),
        print_changed::spec(),
        dump::spec(),
        verifier::spec(),
        bisect::spec(),
    ]
}

/// Adds the path of a file to an error about it.
fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod testing;
