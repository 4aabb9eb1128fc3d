//! The page's data: one JSON object with a version.

use passdock_core::{PassRecord, PassStatus, Severity};
use passdock_driver::pipeline::Report;
use serde::Serialize;

use super::recorder::Recorded;

/// The version of the data that the page's script reads.
const VERSION: u32 = 1;

/// What the run's report doesn't say, and its program knows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunFacts {
    /// The program's name and version.
    pub program: String,
    /// The command line.
    pub command: Vec<String>,
    /// The bytes of the model's file; `None`: it isn't one.
    pub bytes_before: Option<u64>,
    /// The bytes of the file that was written.
    pub bytes_after: Option<u64>,
}

/// The data of a page.
#[derive(Serialize)]
pub struct Document<'r> {
    version: u32,
    facts: &'r RunFacts,
    ok: bool,
    pipeline: &'r passdock_driver::pipeline::PipelineReport,
    model: &'r passdock_driver::pipeline::ModelReport,
    seconds: f64,
    passes: Vec<ListedPass<'r>>,
    diagnostics: Vec<Said<'r>>,
    reproducer: Option<&'r str>,
    /// `None`: the process of the passes died.
    recorded: Option<&'r Recorded>,
}

/// A pass of the report.
#[derive(Serialize)]
struct ListedPass<'r> {
    #[serde(flatten)]
    record: &'r PassRecord,
    /// The number of what it left: none of a pass that didn't run.
    trail: Option<usize>,
}

/// A diagnostic.
#[derive(Serialize)]
struct Said<'r> {
    severity: Severity,
    message: &'r str,
    /// All of it, as a terminal shows it.
    text: String,
}

impl<'r> Document<'r> {
    /// The data of a run's page.
    pub fn new(report: &'r Report, recorded: Option<&'r Recorded>, facts: &'r RunFacts) -> Self {
        let diagnostics = report.diagnostics.iter().map(|diagnostic| Said {
            severity: diagnostic.severity,
            message: &diagnostic.message,
            text: diagnostic.render(false),
        });
        Document {
            version: VERSION,
            facts,
            ok: report.ok,
            pipeline: &report.pipeline,
            model: &report.model,
            seconds: report.seconds,
            passes: listed(&report.passes, recorded),
            diagnostics: diagnostics.collect(),
            reproducer: report.reproducer.as_deref(),
            recorded,
        }
    }
}

/// The passes, with the numbers of what they left: both lists are in the order in which passes started. Only the report
/// has those that didn't run, and only the trails have the pipeline itself.
fn listed<'r>(records: &'r [PassRecord], recorded: Option<&Recorded>) -> Vec<ListedPass<'r>> {
    let trails = recorded.map_or(&[][..], |recorded| &recorded.passes);
    let mut next = 0;
    let listed = records.iter().map(|record| {
        let ran = record.status != PassStatus::Skipped;
        let mut left = trails.iter().skip(next);
        let at = left.position(|trail| ran && trail.name == record.name);
        let trail = at.map(|at| next + at);
        next = trail.map_or(next, |trail| trail + 1);
        ListedPass { record, trail }
    });
    listed.collect()
}
