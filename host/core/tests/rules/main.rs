//! The rules of the pass infrastructure, by number: a test `r046_…` shows rule 46.
//!
//! Most write down what happens as a list of events and compare the list.

mod common;

mod config;
mod context;
mod diagnostics;
mod enable;
mod host_passes;
mod info;
mod instruments;
mod kinds;
mod override_instruments;
mod phases;
mod plugins;
mod registry;
mod required;
mod sequential;
mod states;
mod timing;
