//! The instruments that come with the host, one file each.

mod dump;
mod print;
mod print_changed;
mod timing;
mod verifier;

use std::io::Write;
use std::sync::Arc;

pub use dump::DumpIr;
pub use print::{Names, PrintIr, print_ir};
pub use print_changed::PrintChanged;
pub use timing::PassTimingInstrument;
pub use verifier::WellFormed;

/// Where an instrument's text goes.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink to standard error.
pub fn stderr() -> Sink {
    // There is nobody to tell that standard error is closed.
    Arc::new(|text| _ = std::io::stderr().lock().write_all(text.as_bytes()))
}

/// A sink to standard output.
pub fn stdout() -> Sink {
    Arc::new(|text| _ = std::io::stdout().lock().write_all(text.as_bytes()))
}
