//! The report of the checks, as a table for people and as data for programs.

use passdock_abi::DType;
use serde_json::{Map, Value, json};

use super::check::Checker;
use super::compare::Compared;
use super::samples::Sample;
use passdock_core::table::Table;

/// A pass that was looked at, and what it did to the results. Errors are parts of what is allowed.
pub(super) struct Row {
    pub(super) pass: String,
    /// The results before and after it; `None`: it changed nothing.
    pub(super) compared: Option<Compared>,
    /// The largest error since the first pass.
    pub(super) total: Option<f64>,
    /// The type that passes brought in, whose tolerance counts.
    pub(super) computed_in: Option<DType>,
    /// Passes before it that couldn't be checked and are now.
    pub(super) together: Vec<String>,
}

impl Row {
    fn result(&self) -> &'static str {
        match &self.compared {
            None => "unchanged",
            Some(Compared::Same { .. }) => "same",
            Some(Compared::Different(_)) => "DIFFERENT",
            Some(Compared::NotChecked(_)) => "not checked",
        }
    }

    /// The error of the pass, and since the first one.
    fn errors(&self) -> [Option<f64>; 2] {
        let error = self.compared.as_ref().and_then(Compared::error);
        [error, error.and(self.total)]
    }

    fn reason(&self) -> Option<String> {
        let together = match &self.compared {
            Some(Compared::NotChecked(reason)) => return Some(reason.clone()),
            Some(Compared::Different(difference)) => Some(difference.to_string()),
            Some(Compared::Same { .. }) if !self.together.is_empty() => {
                Some(format!("together with {}", self.together.join(", ")))
            }
            Some(Compared::Same { .. }) | None => None,
        };
        let allowed = self.computed_in();
        let allowed = allowed.map(|dtype| format!("held to what {dtype} allows"));
        let parts: Vec<String> = together.into_iter().chain(allowed).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn computed_in(&self) -> Option<&'static str> {
        self.computed_in?.name()
    }
}

/// The basis of all checks: runtime and samples.
pub(super) struct Basis<'a> {
    /// `None`: it wasn't found.
    pub(super) checker: Option<&'a Checker>,
    /// The reason why nothing is checked.
    pub(super) not_checked: Option<&'a str>,
    pub(super) inputs: &'a [Sample],
}

/// A table: the pass, what it did, its largest error over what is allowed, the same since the start.
pub(super) fn text(basis: &Basis<'_>, rows: &[Row]) -> String {
    let text = match (basis.not_checked, basis.checker) {
        (Some(reason), _) => format!("not checked: {reason}\n"),
        (None, None) => String::new(),
        (None, Some(checker)) => {
            let version = &checker.runtime().version;
            let count = basis.inputs.len();
            let s = if count == 1 { "" } else { "s" };
            let first = basis.inputs.first();
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
    let columns = ["pass", "results", ">error/allowed", ">since the start", ""];
    let error = |error: Option<f64>| error.map_or(String::new(), |error| format!("{error:.4}"));
    let rows = rows.iter().map(|row| {
        let [worst, total] = row.errors().map(error);
        // Where nothing is checked, the reason stands above.
        let reason = row.reason().filter(|_| basis.not_checked.is_none());
        let (pass, result) = (row.pass.clone(), row.result().to_owned());
        [pass, result, worst, total, reason.unwrap_or_default()]
    });
    text + &Table::of(columns, rows).render()
}

/// The table's content as an object, with the library's file.
pub(super) fn data(basis: &Basis<'_>, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let [error, total] = row.errors();
        json!({
            "pass": row.pass,
            "result": row.result().to_ascii_lowercase(),
            "error": error,
            "total": total,
            "computed_in": row.computed_in(),
            "reason": row.reason(),
        })
    };
    let runtime = basis.checker.map(Checker::runtime);
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
        "not_checked": basis.not_checked,
        "samples": basis.inputs.iter().map(sample).collect::<Vec<_>>(),
        "passes": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
