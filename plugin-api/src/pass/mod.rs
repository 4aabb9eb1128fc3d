//! The run that a pass or instrument is part of: context, instruments, analyses.

mod analysis;
mod attr_default;
mod bodies;
mod context;
mod instrument;
mod operators;

pub use analysis::Analysis;
pub use context::{end, Evaluated, PassContext, Support};
pub use instrument::{Instrument, InstrumentFunctions, MakeInstrument, PassInfo};
pub use operators::nearest;
