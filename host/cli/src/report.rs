//! The report of a run as people read it: what each pass did and what it cost, and what became of the model.
//!
//! Passes that changed something, or failed, have a row each; the others are named on a line below. In full each
//! pass has its row.

use std::collections::BTreeMap;

use passdock::pipeline::{KindReport, PipelineReport, Report};
use passdock::{Diagnostic, PassRecord, PassStatus, Severity};

use crate::names::{Counted, ShortNames};
use crate::show::{self, TextTable};

/// How much of a report is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// Whether each pass has a row.
    pub(crate) in_full: bool,
    /// The columns of the terminal.
    pub(crate) width: usize,
}

/// Which notes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    /// None, nor anything but errors.
    None,
    /// A line each, and of many that are alike the first.
    OneLine,
    /// All.
    All,
}

/// The kinds of ops that a report names.
const MAX_KINDS: usize = 12;

pub(crate) fn render(report: &Report, shown: Shown) -> String {
    let mut text = passes(&report.passes, shown);
    for instrument in &report.instruments {
        // A plugin's text may end with a line that isn't ended.
        let report = instrument.text.trim_end();
        text.push_str(&format!("\n{}:\n{report}\n", instrument.name));
    }
    if report.ok {
        text += &kinds(&report.model.kinds, shown.width);
        text += &summary(report, shown.width);
    }
    text
}

/// The model before and after, where it is, and how long that took.
fn summary(report: &Report, width: usize) -> String {
    let model = &report.model;
    let mut parts = vec![format!("{} → {} ops", model.ops_before, model.ops_after)];
    if let (Some(before), Some(after)) = (model.bytes_before, model.bytes_after) {
        parts.push(show::bytes_change(before, after));
    }
    let time = show::seconds(report.seconds);
    parts.push(format!("in {time}{}", built_in(&report.pipeline)));
    parts.push(show::written_to(model.output.as_deref()));
    let head = format!("{}: ", model.input);
    show::wrapped(&head, &parts, "  ", width)
}

/// The pipeline that ran, if it is no file that the user named.
fn built_in(pipeline: &PipelineReport) -> String {
    match (&pipeline.name, pipeline.opt_level) {
        (Some(name), Some(level)) if pipeline.built_in => format!(" with `{name}` at -O{level}"),
        _ => String::new(),
    }
}

/// The kinds of ops whose number changed.
fn kinds(kinds: &[KindReport], width: usize) -> String {
    let changed = kinds.iter().filter(|kind| kind.before != kind.after);
    let mut words: Vec<String> = changed
        .map(|kind| {
            let op = kind.op.strip_prefix("onnx.").unwrap_or(&kind.op);
            format!("{} {} → {}", show::safe(op), kind.before, kind.after)
        })
        .collect();
    if words.is_empty() {
        return String::new();
    }
    if words.len() > MAX_KINDS {
        let more = words.len() - MAX_KINDS + 1;
        words.truncate(MAX_KINDS - 1);
        words.push(format!("{more} more kinds"));
    }
    show::wrapped("ops: ", &words, "     ", width)
}

/// The table of what each pass did.
pub(crate) fn passes(passes: &[PassRecord], shown: Shown) -> String {
    let required = passes.iter();
    let required = required.filter_map(|pass| pass.requested_by.as_deref());
    let names = ShortNames::new(passes.iter().map(|pass| &*pass.name).chain(required));
    let mut table = TextTable::new(["pass", ">time", ">ops"]);
    let mut at = 0;
    while let Some(pass) = passes.get(at) {
        at += 1;
        if is_quiet(pass) && !shown.in_full {
            continue;
        }
        add(&mut table, pass, &names, shown.width);
        let (inner, hidden) = recursion(&passes[at - 1..]);
        for pass in &passes[at..at + inner] {
            add(&mut table, pass, &names, shown.width);
        }
        at += inner + hidden;
        if hidden > 0 {
            let indent = indent(passes[at - hidden].depth);
            let line = format!("{indent}… {hidden} more, each run by the one above: FAILED");
            table.line(&line);
        }
    }
    if !shown.in_full {
        quiet(&mut table, passes, &names, shown.width);
    }
    table.render() + &names.files(passes.iter().map(provided), shown.width)
}

/// The file that a pass is of, or its plugin, and its name.
fn provided(pass: &PassRecord) -> (Option<&str>, &str) {
    let file = pass.file.as_deref().or(pass.plugin.as_deref());
    (file, &pass.name)
}

/// Whether nothing came of a pass.
fn is_quiet(pass: &PassRecord) -> bool {
    matches!(pass.status, PassStatus::Unchanged | PassStatus::Skipped)
}

/// Adds the passes of which nothing came: what they took, or why they were skipped. That a pass ran before and
/// nothing changed since goes without saying.
fn quiet(table: &mut TextTable<3>, passes: &[PassRecord], names: &ShortNames<'_>, width: usize) {
    let mut unchanged = Counted::default();
    let mut skipped: BTreeMap<&str, Counted> = BTreeMap::new();
    let mut seconds = 0.0;
    for pass in passes {
        match pass.status {
            PassStatus::Unchanged => {
                // A Sequential's time is that of the passes in it.
                let mut inner = passes.iter();
                if inner.all(|inner| inner.parent.as_ref() != Some(&pass.name)) {
                    seconds += pass.seconds;
                    unchanged.add(names.short(&pass.name));
                }
            }
            PassStatus::Skipped if pass.reason != PassRecord::RAN_BEFORE => {
                let list = skipped.entry(&pass.reason).or_default();
                list.add(names.short(&pass.name));
            }
            _ => {}
        }
    }
    if !unchanged.is_empty() {
        let time = show::seconds(seconds);
        table.row(["(unchanged)".to_owned(), time, String::new()]);
        table.line(&show::wrapped("  ", &unchanged.words(), "  ", width));
    }
    for (reason, passes) in skipped {
        let head = match reason {
            "" => "skipped: ".to_owned(),
            reason => format!("skipped, {reason}: "),
        };
        table.line(&show::wrapped(&head, &passes.words(), "  ", width));
    }
}

/// How many passes follow the first one that failed each in the one before, and then how many more do of which
/// the first runs again what is around it.
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
        Some(again) => (again - 1, inside + 1 - again),
        None => (0, 0),
    }
}

/// Adds a pass, and below it the rules that it applied.
fn add(table: &mut TextTable<3>, pass: &PassRecord, names: &ShortNames<'_>, width: usize) {
    let mut name = indent(pass.depth) + &names.short(&pass.name);
    if let Some(by) = &pass.requested_by {
        name += &format!(" (for {})", names.short(by));
    }
    let ops = match pass.status {
        PassStatus::Changed => format!("{} → {}", pass.ops_before, pass.ops_after),
        PassStatus::Unchanged => pass.ops_after.to_string(),
        PassStatus::Skipped => "skipped".to_owned(),
        // Why is a diagnostic, and isn't said twice.
        PassStatus::Failed => "FAILED".to_owned(),
    };
    table.row([name, show::seconds(pass.seconds), ops]);
    let below = indent(pass.depth) + "  ";
    if pass.status == PassStatus::Skipped && !pass.reason.is_empty() {
        table.line(&show::wrapped(&below, &[&pass.reason], &below, width));
    }
    if !pass.changes.is_empty() {
        let words: Vec<String> = pass.changes.iter().map(changed).collect();
        table.line(&show::wrapped(&below, &words, &below, width));
    }
    if !pass.rewrites.is_empty() {
        let rules = pass.rewrites.iter();
        let rules = rules.map(|(rule, times)| format!("{rule} ×{times}"));
        let rules: Vec<String> = rules.collect();
        table.line(&show::wrapped(&below, &rules, &below, width));
    }
}

/// A change of what a pass left as many ops of as there were.
fn changed((what, &count): (&String, &usize)) -> String {
    let of = |noun| show::count_of(count as u64, noun);
    match &**what {
        "ops" => format!("{} made anew", of("op")),
        "constants" => of("new constant"),
        "opsets" => format!("opsets of {}", of("function")),
        "types" | "names" => format!("{what} of {}", of("value")),
        _ => format!("{what} of {}", of("op")),
    }
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth as usize)
}

/// Shows the diagnostics of a run.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], notes: Notes) {
    let is_note = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Note;
    // Alike are those of one code that say the same but for numbers.
    let kind = |note: &Diagnostic| {
        let words = note.message.split(|c: char| c.is_ascii_digit());
        (note.code.clone(), words.collect::<String>())
    };
    let mut alike: BTreeMap<(String, String), usize> = BTreeMap::new();
    for note in diagnostics.iter().filter(is_note) {
        *alike.entry(kind(note)).or_default() += 1;
    }
    for diagnostic in diagnostics {
        // What to do about a failure is told whole.
        let is_whole = match notes {
            Notes::None => diagnostic.severity.is_failure(),
            Notes::OneLine => !is_note(&diagnostic) || diagnostic.code == "reproducer",
            Notes::All => true,
        };
        if is_whole {
            show::diagnostic(diagnostic);
        } else if notes == Notes::OneLine {
            // Those that are alike are told of with the first.
            let count = alike.remove(&kind(diagnostic)).unwrap_or(0);
            let line = Diagnostic::new(Severity::Note, &diagnostic.code, &*diagnostic.message);
            let more = match count {
                0 => continue,
                1 if line == *diagnostic => String::new(),
                1 => " More: `--notes`.".to_owned(),
                count => format!(" All {count}: `--notes`."),
            };
            let message = line.message.clone() + &more;
            show::diagnostic(&Diagnostic { message, ..line });
        }
    }
}
