//! The HTML report of a run: one file that shows the effect of each pass, and needs no network.
//!
//! [`instrument`] records the data that only the process of the passes has; its report is a [`Recorded`]. A
//! [`Document`] is the report's data, computed from it and from the run's
//! [`Report`](passdock_driver::pipeline::Report): JSON with a version. [`write()`] inserts the data into the template
//! `assets/page.html`, which is built from `web/` and has all text, styles and scripts.
//!
//! [`register`] adds [`instrument`] to a program's registry, with the other instruments and passes that the command
//! and the Python package register in addition to the library's.
//!
//! A run that crashed before the instrument reported has an HTML report, too, with less data.

mod document;
mod html;
mod lineage;
mod picture;
mod programs;
mod recorder;
mod run;

pub use document::{Document, RunFacts};
pub use html::{render, write};
pub use picture::{DrawnFunction, DrawnOp, DrawnValue, OpHistory};
pub use programs::register;
pub use recorder::{NAME, PassTrail, PluginRelease, Recorded, instrument};
pub use run::RunPage;
