//! Passes through the boundary: closures and a static plugin edit functions and modules through the same tables as
//! loaded plugins. Every misuse is an error with a message.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod analyses;
mod bodies;
mod decompose;
mod definitions;
mod diagnostics;
mod extensions;
mod functions;
mod growth;
mod kept;
mod layouts;
mod misuse;
mod modules;
mod named;
mod random;
mod safety;
mod support;
