//! What the host promises beside the rules of the pass infrastructure, which `passdock-tests` shows
//! one by one, and parts of a rule that only the host can show: a test `r057_…` is about rule 57.
//!
//! Most write down what happens as a list of events and compare the list.

mod common;

mod config;
mod context;
mod diagnostics;
mod explain;
mod host_passes;
mod instruments;
mod kinds;
mod phases;
mod plugins;
mod registry;
mod required;
mod scribbled;
mod states;
mod threads;
mod timing;
