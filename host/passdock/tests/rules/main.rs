//! What the host promises beside the numbered rules of the pass infrastructure, which
//! `passdock-tests` shows one by one.
//!
//! Most write down what happens as a list of events and compare the list.

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
mod rewriting;
mod scribbled;
mod sequentials;
mod threads;
