//! A row of the table of `numerics`: a pass, and what it did to the results.

use passdock_abi::DType;
use passdock_core::ErrorKind;

/// A pass, and its effect on the results.
#[derive(Default)]
pub(super) struct Row {
    pub(super) pass: String,
    pub(super) result: RowResult,
    /// The largest distance as a part of what is allowed, of this pass and since the first one.
    pub(super) error: Option<f64>,
    pub(super) total: Option<f64>,
    /// The type that passes brought in, whose tolerance counts.
    pub(super) computed_in: Option<DType>,
    /// Passes before it that couldn't be compared and are now.
    pub(super) together: Vec<String>,
}

#[derive(Default)]
pub(super) enum RowResult {
    #[default]
    Unchanged,
    Same,
    Different(String),
    NotChecked(String),
}

impl Row {
    pub(super) fn result(&self) -> &'static str {
        match &self.result {
            RowResult::Unchanged => "unchanged",
            RowResult::Same => "same",
            RowResult::Different(_) => "DIFFERENT",
            RowResult::NotChecked(_) => "not checked",
        }
    }

    /// The message to report at once, with its kind and help.
    pub(super) fn message(&self) -> Option<(ErrorKind, String, Option<&'static str>)> {
        match &self.result {
            RowResult::Unchanged | RowResult::Same => None,
            RowResult::NotChecked(reason) => {
                let reason = reason.trim_end_matches('.');
                let message =
                    format!("What the pass does to the model's results isn't checked: {reason}.");
                Some((ErrorKind::NotChecked, message, None))
            }
            RowResult::Different(difference) => {
                let passes = match &self.together[..] {
                    [] => "The pass changes".to_owned(),
                    others => format!(
                        "The pass, or what wasn't checked before it ({}), changes",
                        others.join(", ")
                    ),
                };
                let difference = difference.trim_end_matches('.');
                let message = format!("{passes} the model's results: {difference}.");
                Some((
                    ErrorKind::Numerics,
                    message,
                    Some("`--print-changed` shows what it changed."),
                ))
            }
        }
    }

    pub(super) fn reason(&self) -> Option<String> {
        let together = match &self.result {
            RowResult::NotChecked(reason) => return Some(reason.clone()),
            RowResult::Different(difference) => Some(difference.clone()),
            _ if !self.together.is_empty() => {
                Some(format!("together with {}", self.together.join(", ")))
            }
            _ => None,
        };
        let allowed = self.computed_in.and_then(DType::name);
        let allowed = allowed.map(|dtype| format!("held to what {dtype} allows"));
        let parts: Vec<String> = together.into_iter().chain(allowed).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
