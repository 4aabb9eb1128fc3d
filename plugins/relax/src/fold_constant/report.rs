//! The note about ops with constant operands that weren't folded, with reasons.

use std::collections::BTreeMap;

use passdock_plugin_api::prelude::*;

use super::budget::{Plan, static_len};
use super::forward::{Forward, GROWS, byte_len};
use crate::shared::operators::op_count;

/// The maximum number of groups that are listed.
const MAX_NOTES: usize = 12;

/// Emits a note if any such op is left.
pub(super) fn emit(f: &Function, cx: &PassContext, forward: &Forward<'_>, plan: &Plan) {
    let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
    for ((name, why), ops) in &forward.rejected {
        let mut left = ops.iter().copied().filter(|&op| f.is_live(op));
        let Some(example) = left.next() else {
            continue;
        };
        let count = 1 + left.count();
        let bytes = match why.as_str() {
            GROWS => f
                .results(example)
                .iter()
                .filter_map(|&value| static_len(f, value))
                .sum(),
            _ => 0,
        };
        let group = Group {
            count,
            example,
            bytes,
        };
        groups.insert((name, why), group);
    }
    let staying = forward
        .folded
        .iter()
        .zip(&plan.stays)
        .filter(|(folded, stays)| **stays && !forward.pinned.contains(&folded.op));
    for (folded, _) in staying {
        let bytes = folded.values.iter().map(|&value| byte_len(f, value)).sum();
        let group = groups.entry((f.name(folded.op), GROWS)).or_insert(Group {
            count: 0,
            example: folded.op,
            bytes: 0,
        });
        group.count += 1;
        if bytes > group.bytes {
            (group.example, group.bytes) = (folded.op, bytes);
        }
    }
    if groups.is_empty() {
        return;
    }
    let count: usize = groups.values().map(|group| group.count).sum();
    let message = format!("{} with constant operands not folded", op_count(count));
    let mut note = Diagnostic::note(message).code("relax::not-folded");
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
    let more = groups.len().saturating_sub(MAX_NOTES);
    for ((name, why), group) in groups.into_iter().take(MAX_NOTES) {
        note = note.with_note(group.message(f, name, why));
    }
    if more > 0 {
        note = note.with_note(format!("further kinds not listed: {more}"));
    }
    cx.emit(&note);
}

/// Ops with the same name and reason.
struct Group {
    count: usize,
    /// The op with the largest value.
    example: OpId,
    /// The size of the example's value in bytes, if the size is the reason; 0 otherwise.
    bytes: u64,
}

impl Group {
    fn message(&self, f: &Function, name: &str, why: &str) -> String {
        let example = match (f.loc_name(self.example), f.results(self.example).first()) {
            (Some(node), _) if !node.is_empty() => format!(" ({node:?})"),
            (_, Some(&value)) => match f.value_name(value) {
                Some(value) => format!(" ({})", spelled(value)),
                None => String::new(),
            },
            _ => String::new(),
        };
        let such_as = match (self.count, example.is_empty()) {
            (_, true) => String::new(),
            (1, false) => example,
            (_, false) => example.replacen(" (", " (such as ", 1),
        };
        let size = match self.bytes {
            0 => String::new(),
            bytes => {
                let (up_to, it) = if self.count == 1 {
                    ("", "it")
                } else {
                    ("up to ", "them")
                };
                let bytes = in_bytes(bytes);
                format!(" ({up_to}{bytes}; pass `--allow-growth` to fold {it})")
            }
        };
        let count = self.count;
        format!("{count} {name}{such_as}: {why}{size}")
    }
}

/// Formats a value's name as in IR text.
fn spelled(name: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    match name.bytes().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("%{name}"),
        false => format!("%{name:?}"),
    }
}

fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
