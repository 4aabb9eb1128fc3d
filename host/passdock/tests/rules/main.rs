//! Guarantees of the host in addition to the numbered rules of the pass infrastructure, which `passdock-tests` tests
//! one by one.
//!
//! Most tests record events and compare the list.

mod common;

mod config;
mod context;
mod diagnostics;
mod explain;
mod inner;
mod instruments;
mod kinds;
mod phases;
mod plugins;
mod required;
mod requirements;
mod rewriting;
mod sequentials;
mod threads;
mod view_writes;
