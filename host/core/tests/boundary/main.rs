//! Passes through the boundary: closures and a static plugin edit functions and modules through the same tables as
//! loaded plugins. Every misuse is an error with a message.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod ambiguous_names;
mod analyses;
mod analysis_limit;
mod bodies;
mod decompose;
mod definitions;
mod diagnostics;
mod extensions;
mod functions;
mod layouts;
mod misuse;
mod modules;
mod random;
mod safety;
mod support;
