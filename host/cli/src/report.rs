//! The report of a run as text: what each pass changed, how long it took, and the totals for the model.
//!
//! Passes that changed the module or failed have a row each. The others are listed on a line below. With `--verbose`,
//! each pass has a row.

use std::collections::{BTreeMap, HashSet};

use passdock::pipeline::{KindReport, PipelineReport, Report};
use passdock::{Diagnostic, PassRecord, PassStatus, Severity};

use crate::names::{Counted, ShortNames};
use crate::show::{self, TextTable};

/// How much of a report is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportStyle {
    /// Whether each pass has a row.
    pub(crate) in_full: bool,
    /// The terminal's width in columns.
    pub(crate) width: usize,
}

/// Verbosity of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Only errors, no notes.
    None,
    /// One line per note; of similar notes, only the first.
    OneLine,
    /// All notes in full.
    All,
}

/// Maximum number of op kinds in a report.
const MAX_KINDS: usize = 12;

pub(crate) fn render(report: &Report, style: ReportStyle) -> String {
    let mut text = passes(&report.passes, style);
    for instrument in &report.instruments {
        // The text of a plugin may lack the final newline.
        let report = instrument.text.trim_end();
        text.push_str(&format!("\n{}:\n{report}\n", instrument.name));
    }
    if report.ok {
        text += &kinds(&report.model.kinds, style.width);
        text += &summary(report, style.width);
    }
    text
}

/// Renders the model before and after, its path, and the time.
fn summary(report: &Report, width: usize) -> String {
    let model = &report.model;
    let mut parts = vec![format!("{} → {} ops", model.ops_before, model.ops_after)];
    if model.constant_nodes > 0 {
        parts[0] += &format!(" (+{} Constant)", model.constant_nodes);
    }
    if let (Some(before), Some(after)) = (model.bytes_before, model.bytes_after) {
        parts.push(show::bytes_change(before, after));
    }
    let time = show::seconds(report.seconds);
    parts.push(format!("in {time}{}", built_in(&report.pipeline)));
    parts.push(show::written_to(model.output.as_deref()));
    let head = format!("{}: ", model.input);
    show::wrapped(&head, &parts, "  ", width)
}

/// Returns the pipeline that ran, if it is a built-in one.
fn built_in(pipeline: &PipelineReport) -> String {
    match (&pipeline.name, pipeline.opt_level) {
        (Some(name), Some(level)) if pipeline.built_in => format!(" with `{name}` at -O{level}"),
        _ => String::new(),
    }
}

/// Renders the op kinds whose counts changed.
fn kinds(kinds: &[KindReport], width: usize) -> String {
    let changed = kinds.iter().filter(|kind| kind.before != kind.after);
    let mut parts: Vec<String> = changed
        .map(|kind| {
            let op = kind.op.strip_prefix("onnx.").unwrap_or(&kind.op);
            format!("{} {} → {}", show::safe(op), kind.before, kind.after)
        })
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    if parts.len() > MAX_KINDS {
        let more = parts.len() - MAX_KINDS + 1;
        parts.truncate(MAX_KINDS - 1);
        parts.push(format!("{more} more kinds"));
    }
    show::wrapped("ops: ", &parts, "     ", width)
}

/// Renders the table of passes.
pub(crate) fn passes(passes: &[PassRecord], style: ReportStyle) -> String {
    let required = passes.iter();
    let required = required.filter_map(|pass| pass.requested_by.as_deref());
    let names = ShortNames::new(passes.iter().map(|pass| &*pass.name).chain(required));
    let mut table = TextTable::new(["pass", ">time", ">ops"]);
    let mut at = 0;
    while let Some(pass) = passes.get(at) {
        at += 1;
        let is_quiet = matches!(pass.status, PassStatus::Unchanged | PassStatus::Skipped);
        if is_quiet && !style.in_full {
            continue;
        }
        add(&mut table, pass, &names, style.width);
        let (inner, hidden) = recursion(&passes[at - 1..]);
        for pass in &passes[at..at + inner] {
            add(&mut table, pass, &names, style.width);
        }
        at += inner + hidden;
        if hidden > 0 {
            let indent = indent(passes[at - hidden].depth);
            let line = format!("{indent}… {hidden} more nested calls: FAILED");
            table.line(&line);
        }
    }
    if !style.in_full {
        quiet(&mut table, passes, &names, style.width);
    }
    table.render() + &names.files(passes.iter().map(provided), style.width)
}

/// Returns the file or the plugin that provides a pass, and the pass's name.
fn provided(pass: &PassRecord) -> (Option<&str>, &str) {
    let file = pass.file.as_deref().or(pass.plugin.as_deref());
    (file, &pass.name)
}

/// Adds passes that changed nothing, with their time, and skipped passes, with the reason. Passes that were skipped
/// because the module hasn't changed since they last ran are left out.
fn quiet(table: &mut TextTable<3>, passes: &[PassRecord], names: &ShortNames<'_>, width: usize) {
    let mut unchanged = Counted::default();
    let mut skipped: BTreeMap<&str, Counted> = BTreeMap::new();
    let mut seconds = 0.0;
    let parents: HashSet<&String> = passes.iter().flat_map(|pass| &pass.parent).collect();
    for pass in passes {
        match pass.status {
            // The time of a Sequential is the sum of its passes.
            PassStatus::Unchanged if !parents.contains(&pass.name) => {
                seconds += pass.seconds;
                unchanged.add(names.short(&pass.name));
            }
            PassStatus::Skipped if pass.reason != PassRecord::RAN_BEFORE => {
                let list = skipped.entry(&pass.reason).or_default();
                list.add(names.short(&pass.name));
            }
            _ => {}
        }
    }
    if !unchanged.is_empty() {
        table.line(&format!("no change, {}:", show::seconds(seconds)));
        table.line(&show::wrapped("  ", &unchanged.items(), "  ", width));
    }
    for (reason, passes) in skipped {
        let head = match reason {
            "" => "skipped: ".to_owned(),
            reason => format!("skipped, {reason}: "),
        };
        table.line(&show::wrapped(&head, &passes.items(), "  ", width));
    }
}

/// Counts nested failed passes. Returns how many to show after the first, and how many more to hide. Hidden passes
/// start where a pass runs again inside itself.
fn recursion(passes: &[PassRecord]) -> (usize, usize) {
    let pairs = passes.windows(2);
    let is_inside = |pair: &&[PassRecord]| {
        let both = pair.iter().all(|pass| pass.status == PassStatus::Failed);
        both && pair[1].depth == pair[0].depth + 1
    };
    let inside = pairs.take_while(is_inside).count();
    let is_again = |&at: &usize| {
        let mut before = passes[..at].iter();
        before.any(|pass| pass.name == passes[at].name)
    };
    match (1..=inside).find(is_again) {
        Some(last_run) => (last_run - 1, inside + 1 - last_run),
        None => (0, 0),
    }
}

/// Adds a pass, and below it the rules that it applied.
fn add(table: &mut TextTable<3>, pass: &PassRecord, names: &ShortNames<'_>, width: usize) {
    let mut name = indent(pass.depth) + &names.short(&pass.name);
    if let Some(by) = &pass.requested_by {
        name += &format!(" (required by {})", names.short(by));
    }
    let ops = match pass.status {
        PassStatus::Changed => format!("{} → {}", pass.ops_before, pass.ops_after),
        PassStatus::Unchanged => "no change".to_owned(),
        PassStatus::Skipped => "skipped".to_owned(),
        // A diagnostic has the reason.
        PassStatus::Failed => "FAILED".to_owned(),
    };
    table.row([name, show::seconds(pass.seconds), ops]);
    let below = indent(pass.depth) + "  ";
    if pass.status == PassStatus::Skipped && !pass.reason.is_empty() {
        table.line(&show::wrapped(&below, &[&pass.reason], &below, width));
    }
    if !pass.changes.is_empty() {
        let parts: Vec<String> = pass.changes.iter().map(changed).collect();
        table.line(&show::wrapped(&below, &parts, &below, width));
    }
    if !pass.rewrites.is_empty() {
        let rules = pass.rewrites.iter();
        let rules = rules.map(|(rule, times)| format!("{rule} ×{times}"));
        let rules: Vec<String> = rules.collect();
        table.line(&show::wrapped(&below, &rules, &below, width));
    }
}

/// Renders a change that left the number of ops as it was.
fn changed((what, &count): (&String, &usize)) -> String {
    let items = |noun| show::counted(count as u64, noun);
    match &**what {
        "ops" => format!("recreated {}", items("op")),
        "constants" => format!("added {}", items("constant")),
        "opsets" => format!("changed opsets of {}", items("function")),
        "types" | "names" => format!("changed {what} of {}", items("value")),
        _ => format!("changed {what} of {}", items("op")),
    }
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth as usize)
}

/// Prints the diagnostics of a run.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], notes: Notes) {
    let is_note = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Note;
    // Notes are similar if they have the same code, and the same message except for numbers.
    let kind = |note: &Diagnostic| {
        let parts = note.message.split(|c: char| c.is_ascii_digit());
        (note.code.clone(), parts.collect::<String>())
    };
    let mut alike: BTreeMap<(String, String), usize> = BTreeMap::new();
    for note in diagnostics.iter().filter(is_note) {
        *alike.entry(kind(note)).or_default() += 1;
    }
    for diagnostic in diagnostics {
        // The reproducer's note is always shown in full: it tells the user how to proceed after a failure.
        let is_whole = match notes {
            Notes::None => diagnostic.severity.is_failure(),
            Notes::OneLine => !is_note(&diagnostic) || diagnostic.code == "reproducer",
            Notes::All => true,
        };
        if is_whole {
            show::diagnostic(diagnostic);
        } else if notes == Notes::OneLine {
            // Similar notes are counted in the line of the first.
            let count = alike.remove(&kind(diagnostic)).unwrap_or(0);
            let line = Diagnostic::new(Severity::Note, &diagnostic.code, &*diagnostic.message);
            let more = match count {
                0 => continue,
                1 if line == *diagnostic => String::new(),
                1 => "; details: `--notes`".to_owned(),
                count => format!("; all {count}: `--notes`"),
            };
            let message = line.message.clone() + &more;
            show::diagnostic(&Diagnostic { message, ..line });
        }
    }
}
