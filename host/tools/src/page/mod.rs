//! The page of a run: one HTML file that says what each pass did, and needs no network.
//!
//! [`instrument`] watches the passes and keeps what only the process that runs them knows; its report is a
//! [`Recorded`]. With the run's own [`Report`](passdock_driver::pipeline::Report) it makes a [`Document`], the
//! page's data: JSON with a version. [`write()`] puts that into the page, whose text, styles and scripts are one file,
//! `assets/page.html`, which `web/` is built into.
//!
//! [`register`] puts [`instrument`] into the registry of a program, with the rest that the command and the Python
//! package have beside the library.
//!
//! A run that died without a report of the instrument has a page, too, with what is known.

mod document;
mod html;
mod lineage;
mod picture;
mod programs;
mod recorder;
mod run;

pub use document::{Document, RunFacts};
pub use html::{render, write};
pub use picture::{DrawnFunction, DrawnOp, DrawnValue, OpFate};
pub use programs::register;
pub use recorder::{NAME, PassTrail, PluginRelease, Recorded, instrument};
pub use run::RunPage;
