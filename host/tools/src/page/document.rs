//! The data of the HTML report: one JSON object with a version.

use passdock_core::{PassRecord, PassStatus, Severity};
use passdock_driver::pipeline::Report;
use serde::Serialize;

use super::recorder::Recorded;

/// The version of the format that the report's script reads.
const VERSION: u32 = 1;

/// Facts about a run that its program supplies, because its [`Report`] doesn't contain them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunFacts {
    /// The program's name and version.
    pub program: String,
    /// The command line.
    pub command: Vec<String>,
    /// The size of the model's file in bytes; `None` if the model isn't a file.
    pub bytes_before: Option<u64>,
    /// The size of the output file in bytes.
    pub bytes_after: Option<u64>,
}

/// The data of an HTML report.
#[derive(Serialize)]
pub struct Document<'r> {
    version: u32,
    facts: &'r RunFacts,
    ok: bool,
    pipeline: &'r passdock_driver::pipeline::PipelineReport,
    model: &'r passdock_driver::pipeline::ModelReport,
    seconds: f64,
    passes: Vec<ListedPass<'r>>,
    diagnostics: Vec<RenderedDiagnostic<'r>>,
    reproducer: Option<&'r str>,
    /// `None` if the process that ran the passes crashed.
    recorded: Option<&'r Recorded>,
}

/// A pass of the report.
#[derive(Serialize)]
struct ListedPass<'r> {
    #[serde(flatten)]
    record: &'r PassRecord,
    /// The index of the pass's [`PassTrail`](super::PassTrail); `None` if the pass didn't run.
    trail: Option<usize>,
}

/// A diagnostic.
#[derive(Serialize)]
struct RenderedDiagnostic<'r> {
    severity: Severity,
    message: &'r str,
    /// The whole diagnostic, rendered for a terminal without colors.
    text: String,
}

impl<'r> Document<'r> {
    /// Creates the data of a run's HTML report.
    pub fn new(report: &'r Report, recorded: Option<&'r Recorded>, facts: &'r RunFacts) -> Self {
        let diagnostics = report
            .diagnostics
            .iter()
            .map(|diagnostic| RenderedDiagnostic {
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

/// Returns the passes of the report with the indices of their trails. Both lists are in the order in which passes
/// started. Skipped passes have no trail, and the pipeline itself has a trail but no record.
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
