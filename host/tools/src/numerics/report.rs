//! What came of the checks, as a table for people and as data for programs.

use serde_json::{Map, Value, json};

use super::check::Checker;
use super::compare::Difference;
use super::samples::Sample;

/// A pass that was looked at.
pub(super) struct Row {
    pub(super) pass: String,
    pub(super) verdict: Verdict,
}

/// What a pass did to the results. Errors are parts of what is allowed.
pub(super) enum Verdict {
    /// It changed nothing.
    Unchanged,
    /// They are the same.
    Same {
        /// The largest error.
        worst: f64,
        /// The largest error since the first pass.
        total: Option<f64>,
        /// Passes before it that couldn't be checked and are now.
        together: Vec<String>,
    },
    /// They aren't.
    Different {
        difference: Box<Difference>,
        total: Option<f64>,
        together: Vec<String>,
    },
    /// It can't be told.
    NotChecked { reason: String },
}

impl Verdict {
    fn name(&self) -> &'static str {
        match self {
            Verdict::Unchanged => "unchanged",
            Verdict::Same { .. } => "same",
            Verdict::Different { .. } => "DIFFERENT",
            Verdict::NotChecked { .. } => "not checked",
        }
    }

    /// The error of the pass, and since the first one.
    fn errors(&self) -> [Option<f64>; 2] {
        match self {
            Verdict::Same { worst, total, .. } => [Some(*worst), *total],
            Verdict::Different {
                difference, total, ..
            } => [Some(difference.ratio()), *total],
            Verdict::Unchanged | Verdict::NotChecked { .. } => [None, None],
        }
    }

    fn reason(&self) -> Option<String> {
        match self {
            Verdict::NotChecked { reason } => Some(reason.clone()),
            Verdict::Different { difference, .. } => Some(difference.to_string()),
            Verdict::Same { together, .. } if !together.is_empty() => {
                Some(format!("together with {}", together.join(", ")))
            }
            Verdict::Same { .. } | Verdict::Unchanged => None,
        }
    }
}

/// What all checks have in common.
pub(super) struct Setting<'a> {
    /// `None`: it wasn't found.
    pub(super) checker: Option<&'a Checker>,
    /// Why nothing is checked.
    pub(super) not_checked: Option<&'a str>,
    pub(super) inputs: &'a [Sample],
}

/// A table: the pass, what it did, its largest error over what is allowed, the same since the start.
pub(super) fn text(setting: &Setting<'_>, rows: &[Row]) -> String {
    let mut text = match (setting.not_checked, setting.checker) {
        (Some(reason), _) => format!("not checked: {reason}\n"),
        (None, None) => String::new(),
        (None, Some(checker)) => {
            let version = &checker.runtime().version;
            let count = setting.inputs.len();
            let s = if count == 1 { "" } else { "s" };
            let first = setting.inputs.first();
            let types: Vec<String> = first
                .map_or(&[][..], |sample| &sample[..])
                .iter()
                .map(|(name, tensor)| format!("{name}: {}", tensor.ty()))
                .collect();
            format!(
                "ONNX Runtime {version}, {count} sample{s} ({})\n",
                types.join(", ")
            )
        }
    };
    if rows.is_empty() {
        return text;
    }
    let head = ["pass", "results", "error/allowed", "since the start"].map(str::to_owned);
    let error = |error: Option<f64>| error.map_or(String::new(), |error| format!("{error:.4}"));
    let cells = rows.iter().map(|row| {
        let [worst, total] = row.verdict.errors().map(error);
        [
            row.pass.clone(),
            row.verdict.name().to_owned(),
            worst,
            total,
        ]
    });
    let lines: Vec<[String; 4]> = [head].into_iter().chain(cells).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
    let [a, b, c, d] = [0, 1, 2, 3].map(|column| width(column).unwrap_or(0));
    for (at, [pass, result, worst, total]) in lines.iter().enumerate() {
        let mut line = format!("{pass:a$}  {result:b$}  {worst:>c$}  {total:>d$}");
        // Where nothing is checked, the reason stands above.
        let row = at.checked_sub(1).filter(|_| setting.not_checked.is_none());
        if let Some(reason) = row.and_then(|at| rows[at].verdict.reason()) {
            line.push_str("  ");
            line.push_str(&reason);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The same as an object.
pub(super) fn data(setting: &Setting<'_>, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let [error, total] = row.verdict.errors();
        json!({
            "pass": row.pass,
            "result": row.verdict.name().to_ascii_lowercase(),
            "error": error,
            "total": total,
            "reason": row.verdict.reason(),
        })
    };
    let runtime = setting.checker.map(Checker::runtime);
    let sample = |sample: &Sample| -> Map<String, Value> {
        let types = sample
            .iter()
            .map(|(name, tensor)| (name.clone(), tensor.ty().into()));
        types.collect()
    };
    json!({
        "onnxruntime": runtime.map(|runtime| json!({
            "library": runtime.path,
            "version": runtime.version,
        })),
        "not_checked": setting.not_checked,
        "samples": setting.inputs.iter().map(sample).collect::<Vec<_>>(),
        "passes": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
