//! `passdock diff`: shows the differences between two models.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use passdock::PassError;
use passdock_tools::diff::{
    self, Change, ConstantDiff, Diff, FunctionDiff, OpChange, OpDiff, PortChange, PortDiff,
    Rewired, Setting, Summary,
};
use serde::Serialize;

use super::{read, result};
use crate::args::DiffArgs;
use crate::show;

/// Maximum number of ops per function that are listed without `--all`. The rest are counted by kind.
const MAX_OPS: usize = 100;
/// Maximum number of other items that are listed.
const MAX_ITEMS: usize = 20;
/// Maximum number of users that are listed for an added or removed op.
const MAX_USERS: usize = 4;

/// The output of `--json`.
#[derive(Serialize)]
struct DiffOutput {
    same: bool,
    summary: Summary,
    #[serde(flatten)]
    diff: Diff,
    /// The diff of the texts, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(crate) fn diff(args: &DiffArgs) -> u8 {
    let paths = [&*args.before, &*args.after];
    let is_same = |compared: &DiffOutput| compared.same;
    result(&compare(args), is_same, paths, args.json, |compared| {
        let DiffOutput {
            same, diff, text, ..
        } = compared;
        match (args.quiet, text) {
            (true, _) if *same => {}
            (true, _) => {
                let [old, new] = paths.map(Path::display);
                show::print(&show::line(&format!("{old} and {new} differ")));
            }
            (false, Some(text)) => show::print_diff(&format!("{text}{}", summary(diff))),
            (false, None) => show::print_diff(&(render(diff, args.all) + &summary(diff))),
        }
    })
}

fn compare(args: &DiffArgs) -> Result<DiffOutput, PassError> {
    let [before, after] = read([&args.before, &args.after], args.allow_outside_data)?;
    let diff = diff::compare(&before, &after)?;
    Ok(DiffOutput {
        same: diff.is_same(),
        summary: diff.summary(),
        diff,
        text: (args.text && !args.quiet).then(|| diff::unified(&before, &after)),
    })
}

/// Renders the differences as lines. Without `all`, long lists are replaced by counts.
pub(crate) fn render(diff: &Diff, all: bool) -> String {
    let mut out = Out {
        text: String::new(),
        all,
    };
    if !diff.metadata.is_empty() {
        out.line("model");
        diff.metadata
            .iter()
            .for_each(|setting| out.setting(setting));
    }
    for function in &diff.functions {
        out.function(function);
    }
    out.text
}

struct Out {
    text: String,
    all: bool,
}

impl Out {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(&show::line(line.as_ref()));
    }

    fn function(&mut self, function: &FunctionDiff) {
        let (name, before, after) = (&function.name, function.ops_before, function.ops_after);
        match function.change {
            Change::Added => return self.line(format!("+ fn @{name}: {}", ops(after))),
            Change::Removed => return self.line(format!("- fn @{name}: {}", ops(before))),
            Change::Changed if before == after => self.line(format!("fn @{name}")),
            Change::Changed => self.line(format!("fn @{name}: {before} → {}", ops(after))),
        }
        let settings = function.settings.iter();
        settings.for_each(|setting| self.setting(setting));
        self.list("", &function.interface, "inputs and outputs", Self::port);
        self.ops(&function.ops);
        self.constants(&function.constants);
        let renamed = show::counted(function.renamed.len() as u64, "value");
        let heading = format!("  renamed: {renamed}\n");
        self.brief(&heading, &function.renamed, |out, name| {
            let (old, new) = (quote(&name.before), quote(&name.after));
            out.line(format!("    ~ {old} → {new}"));
        });
        let unknown = |ty: &Option<String>| ty.as_deref() == Some("?");
        let types = &function.retyped;
        let newly_typed = types.iter().filter(|value| unknown(&value.before)).count();
        let lost = types.iter().filter(|value| unknown(&value.after)).count();
        let types = join([
            (types.len() - newly_typed - lost, "changed"),
            (newly_typed, "newly inferred"),
            (lost, "lost"),
        ]);
        let heading = format!("  types of values: {types}\n");
        self.brief(&heading, &function.retyped, |out, ty| {
            let (old, new) = (or_none(&ty.before), or_none(&ty.after));
            out.line(format!("    ~ {}: {old} → {new}", ty.value));
        });
        let heading = format!("  ONNX nodes renamed: {}\n", ops(function.relocated.len()));
        self.brief(&heading, &function.relocated, |out, name| {
            let (old, new) = (quote(&name.before), quote(&name.after));
            out.line(format!("    ~ {}: {old} → {new}", name.op));
        });
        let note = match function.ordered {
            true => "the order matters in this function",
            false => "the order does not matter in this function",
        };
        let heading = format!("  moved: {}; {note}\n", ops(function.moved.len()));
        self.brief(&heading, &function.moved, |out, op| {
            out.line(format!("    ~ {op}"))
        });
    }

    /// Adds items under a heading. Items after the first [`MAX_ITEMS`] are counted.
    fn list<T>(&mut self, heading: &str, items: &[T], what: &str, show: impl Fn(&mut Self, &T)) {
        if items.is_empty() {
            return;
        }
        self.text.push_str(heading);
        let most = if self.all { items.len() } else { MAX_ITEMS };
        items.iter().take(most).for_each(|item| show(self, item));
        if items.len() > most {
            let rest = items.len() - most;
            self.line(format!("    … and {rest} more {what} (--all lists them)"));
        }
    }

    /// Adds items under a heading, or only the heading if there are many.
    fn brief<T>(&mut self, heading: &str, items: &[T], show: impl Fn(&mut Self, &T)) {
        if items.len() <= MAX_ITEMS || self.all {
            return self.list(heading, items, "", show);
        }
        self.line(format!("{} (--all lists them)", heading.trim_end()));
    }

    fn setting(&mut self, setting: &Setting) {
        let name = &setting.name;
        match (&setting.before, &setting.after) {
            (Some(old), Some(new)) => self.line(format!("  ~ {name}: {old} → {new}")),
            (Some(old), None) => self.line(format!("  - {name}: {old}")),
            (None, new) => self.line(format!("  + {name}: {}", or_none(new))),
        }
    }

    fn port(&mut self, port: &PortDiff) {
        let name = format!("{} {}", port.port, port.name);
        self.line(match &port.change {
            PortChange::Added { ty } => format!("  + {name}: {ty}"),
            PortChange::Removed { ty } => format!("  - {name}: {ty}"),
            PortChange::Renamed { before, .. } => {
                format!("  ~ {name}: renamed from {}", quote(before))
            }
            PortChange::Moved { before, after } => {
                format!("  ~ {name}: index {before} → {after}")
            }
            PortChange::Type { before, after } => format!("  ~ {name}: type {before} → {after}"),
            PortChange::Default { before, after } => {
                format!(
                    "  ~ {name}: default {} → {}",
                    or_none(before),
                    or_none(after)
                )
            }
            PortChange::Value { before, after } => {
                format!("  ~ {name}: value {}", values(before, after))
            }
        });
    }

    fn ops(&mut self, all: &[OpDiff]) {
        if all.is_empty() {
            return;
        }
        self.line(format!("  ops: {}", counts(all, |op| op.change)));
        let most = if self.all { all.len() } else { MAX_OPS };
        all.iter().take(most).for_each(|op| self.op(op));
        let Some(rest) = all.get(most..).filter(|rest| !rest.is_empty()) else {
            return;
        };
        self.line(format!("    … and {} more (--all lists them):", rest.len()));
        let mut kinds: BTreeMap<(Change, &str), usize> = BTreeMap::new();
        for op in rest {
            *kinds.entry((op.change, &op.kind)).or_default() += 1;
        }
        for ((change, kind), number) in kinds {
            self.line(format!("    {} {number} {kind}", sign(change)));
        }
    }

    fn op(&mut self, op: &OpDiff) {
        let mut line = format!("    {} {}", sign(op.change), op.op);
        if op.nested > 0 && op.change != Change::Changed {
            // Writing to a `String` can't fail, here and below.
            _ = write!(line, " with {} inside", ops(op.nested));
        }
        if let Some(inside) = &op.region {
            _ = write!(line, "   in {inside}");
        }
        self.line(line);
        for change in &op.changes {
            self.line(format!("        {}", op_change(change)));
        }
        if let Some(constant) = &op.folded {
            self.line(format!("        folded to the constant {constant}"));
        }
        self.rewired(&op.rewired);
    }

    fn constants(&mut self, all: &[ConstantDiff]) {
        let mut heading = format!("  constants: {}", counts(all, |constant| constant.change));
        // A constant that replaces an op is listed with the op. A constant removed with its users needs no line.
        let number = |predicate: fn(&ConstantDiff) -> bool| {
            all.iter().filter(|&item| predicate(item)).count()
        };
        let folded = |constant: &ConstantDiff| constant.replaces.is_some();
        let removed_with_users =
            |item: &ConstantDiff| item.with_users && item.change == Change::Removed;
        let notes = join([
            (number(folded), "replacing ops above"),
            (number(removed_with_users), "removed with their users"),
        ]);
        if !notes.is_empty() {
            _ = write!(heading, " ({notes})");
        }
        let all_shown = self.all;
        let own = all
            .iter()
            .filter(|item| !folded(item) && (all_shown || !removed_with_users(item)));
        let own: Vec<&ConstantDiff> = own.collect();
        if own.is_empty() && !all.is_empty() {
            return self.line(heading);
        }
        self.list(&(heading + "\n"), &own, "constants", |out, constant| {
            out.constant(constant);
        });
    }

    fn constant(&mut self, constant: &ConstantDiff) {
        let mut line = format!("    {} {}", sign(constant.change), constant.name);
        _ = match (&constant.before, &constant.after) {
            (Some(old), Some(new)) if old == new => write!(line, " = {new}"),
            (Some(old), Some(new)) => write!(line, " = {old} → {new}"),
            (old, new) => write!(line, " = {}", or_none(old.as_ref().map_or(new, |_| old))),
        };
        if let Some(inside) = &constant.region {
            _ = write!(line, "   in {inside}");
        }
        self.line(line);
        if let Some(diff) = &constant.numeric_diff {
            let (mismatched, elements) = (diff.mismatched, diff.elements);
            let most = diff.max_abs;
            self.line(format!(
                "        {mismatched} of {elements} elements differ, by {most} at most"
            ));
        }
        self.rewired(&constant.rewired);
    }

    fn rewired(&mut self, all: &[Rewired]) {
        let most = if self.all { all.len() } else { MAX_USERS };
        for slot in all.iter().take(most) {
            let (user, operand) = (&slot.user, slot.operand);
            let (old, new) = (or_none(&slot.before), or_none(&slot.after));
            let values = values(old, new);
            let line = match user.starts_with("output ") {
                true => format!("        {user}: {values}"),
                false => format!("        {user}, operand {operand}: {values}"),
            };
            self.line(line);
        }
        if all.len() > most {
            self.line(format!("        … and {} more uses", all.len() - most));
        }
    }
}

fn op_change(change: &OpChange) -> String {
    match change {
        OpChange::Kind { before, after } => format!("{before} → {after}"),
        OpChange::Attribute {
            name,
            before,
            after,
        } => match (before, after) {
            (Some(before), Some(after)) => format!("{name}: {before} → {after}"),
            (Some(before), None) => format!("{name}: {before} removed"),
            (None, after) => format!("{name}: {} added", or_none(after)),
        },
        OpChange::Operand {
            index,
            before,
            after,
        } => {
            format!(
                "operand {index}: {}",
                values(or_none(before), or_none(after))
            )
        }
        OpChange::Result {
            index,
            before,
            after,
        } => {
            format!("result {index}: {} → {}", or_none(before), or_none(after))
        }
        OpChange::Region {
            name,
            change,
            ops: inside,
        } => {
            format!("{} region {name} with {}", sign(*change), ops(*inside))
        }
        OpChange::Argument {
            region,
            index,
            change,
        } => format!("{} argument {index} of region {region}", sign(*change)),
    }
}

/// Renders counts such as `3 added, 1 changed`.
fn counts<T>(items: &[T], change: impl Fn(&T) -> Change) -> String {
    let number = |which: Change| items.iter().filter(|item| change(item) == which).count();
    let [added, removed, changed] = [Change::Added, Change::Removed, Change::Changed].map(number);
    changes(added, removed, changed)
}

fn changes(added: usize, removed: usize, changed: usize) -> String {
    join([(added, "added"), (removed, "removed"), (changed, "changed")])
}

fn join<const N: usize>(counts: [(usize, &str); N]) -> String {
    let parts = counts.into_iter().filter(|(number, _)| *number > 0);
    let parts = parts.map(|(number, noun)| format!("{number} {noun}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Renders the last line, with the number of differences.
fn summary(diff: &Diff) -> String {
    let sum = diff.summary();
    let ops = changes(sum.ops_added, sum.ops_removed, sum.ops_changed);
    let moved = join([(sum.moved, "moved")]);
    let values = join([(sum.renamed, "renamed"), (sum.retyped, "retyped")]);
    let ops = [ops, moved].into_iter().filter(|text| !text.is_empty());
    let functions = changes(sum.functions_added, sum.functions_removed, 0);
    let (added, removed) = (sum.constants_added, sum.constants_removed);
    let parts = [
        ("functions", functions),
        ("ops", ops.collect::<Vec<_>>().join(", ")),
        ("constants", changes(added, removed, sum.constants_changed)),
        ("inputs and outputs", changes(0, 0, sum.interface)),
        ("settings", changes(0, 0, sum.settings)),
        ("values", values),
        ("nodes", join([(sum.relocated, "renamed")])),
    ];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let parts: Vec<String> = parts
        .map(|(what, text)| format!("{what}: {text}"))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => parts.join("; ") + "\n",
    }
}

fn sign(change: Change) -> char {
    match change {
        Change::Added => '+',
        Change::Removed => '-',
        Change::Changed => '~',
    }
}

fn ops(number: usize) -> String {
    show::counted(number as u64, "op")
}

/// Renders the replacement of a value by another one, which may have the same name.
fn values(old: &str, new: &str) -> String {
    match old == new {
        true => format!("{old} → new {new}"),
        false => format!("{old} → {new}"),
    }
}

fn or_none(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("none")
}

fn quote(name: &Option<String>) -> String {
    match name {
        Some(name) => format!("`{name}`"),
        None => "no name".to_owned(),
    }
}
