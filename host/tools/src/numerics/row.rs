//! A row of the table of `numerics`: the effect of a pass on the results.

use passdock_abi::DType;
use passdock_core::{ErrorKind, PassError};

/// The effect of a pass on the results.
#[derive(Default)]
pub(super) struct Row {
    pub(super) pass: String,
    pub(super) result: RowResult,
    /// The difference, or the reason why the pass isn't checked.
    pub(super) detail: Option<String>,
    /// The largest distance relative to the tolerance, for this pass and since the first one.
    pub(super) error: Option<f64>,
    pub(super) total: Option<f64>,
    /// The type that passes introduced, whose tolerance applies.
    pub(super) compute_dtype: Option<DType>,
    /// Earlier passes that couldn't be compared, and are compared together with this one.
    pub(super) merged: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum RowResult {
    #[default]
    Unchanged,
    Same,
    Different,
    NotChecked,
}

impl RowResult {
    pub(super) fn name(self) -> &'static str {
        match self {
            RowResult::Unchanged => "unchanged",
            RowResult::Same => "same",
            RowResult::Different => "DIFFERENT",
            RowResult::NotChecked => "not checked",
        }
    }
}

impl Row {
    /// Sets the result, and the difference or the reason.
    pub(super) fn set(&mut self, result: RowResult, detail: String) {
        (self.result, self.detail) = (result, Some(detail));
    }

    /// Returns the error that the instrument reports for this row; `None` if there is no detail.
    pub(super) fn failure(&self) -> Option<PassError> {
        let detail = self.detail.as_deref()?;
        if self.result == RowResult::NotChecked {
            let message =
                format!("the pass's effect on the model's results is not checked: {detail}");
            return Some(PassError::new(ErrorKind::NotChecked, message));
        }
        let passes = match &self.merged[..] {
            [] => "the pass changes".to_owned(),
            others => {
                let others = others.join(", ");
                format!("the pass or an unchecked one before it ({others}) changes")
            }
        };
        let message = format!("{passes} the model's results: {detail}");
        let error = PassError::new(ErrorKind::Numerics, message);
        Some(error.help("pass `--print-changed` to print its changes"))
    }

    /// Returns the text of the row's last column.
    pub(super) fn note(&self) -> Option<String> {
        if self.result == RowResult::NotChecked {
            return self.detail.clone();
        }
        let merged =
            (!self.merged.is_empty()).then(|| format!("together with {}", self.merged.join(", ")));
        let allowed = self.compute_dtype.and_then(DType::name);
        let allowed = allowed.map(|dtype| format!("tolerance of {dtype}"));
        let parts = self.detail.clone().or(merged).into_iter().chain(allowed);
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
