//! The instruments that come with the host, one file each: what it does, the options that a pipeline
//! may give it, and the name that it is registered by.

mod bisect;
mod dump;
mod memory;
mod op_count;
mod print;
mod print_changed;
pub mod running;
mod table;
mod timing;
mod trace;
mod verifier;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

pub use bisect::Bisect;
pub use dump::DumpIr;
pub use memory::PassMemory;
pub use op_count::OpCount;
pub use print::{Names, PrintIr, print_ir};
pub use print_changed::PrintChanged;
pub use timing::PassTimingInstrument;
pub use verifier::WellFormed;

use crate::registry::InstrumentSpec;

/// The instruments that every registry has.
pub(crate) fn built_in() -> Vec<InstrumentSpec> {
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

/// Where an instrument's text goes.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink to standard error.
pub fn stderr() -> Sink {
    // There is nobody to tell that standard error is closed.
    Arc::new(|text| _ = io::stderr().lock().write_all(text.as_bytes()))
}

/// A sink to standard output.
pub fn stdout() -> Sink {
    Arc::new(|text| _ = io::stdout().lock().write_all(text.as_bytes()))
}

/// An error with the file that it is about.
fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod testing;
