//! The mock host's contexts: options in, diagnostics and the failure out.

use std::collections::HashMap;

use passdock_abi as abi;
use passdock_abi::{OpId, SettingKind, Status, Str};

use crate::data::OptionValue;
use crate::raw::text;

/// The reason why a pass failed, as the host was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The op, if it is about one.
    pub op: Option<OpId>,
    /// The message: a sentence.
    pub message: String,
    /// The panic's source file, or empty.
    pub file: String,
    /// The line, or 0.
    pub line: u32,
}

/// The mock host's context: what a `*mut abi::Context` points to.
#[derive(Default)]
pub(super) struct MockContext {
    pub(super) failure: Option<Failure>,
    /// The options that are given.
    pub(super) options: HashMap<String, MockOption>,
    /// Messages of diagnostics.
    pub(super) messages: Vec<String>,
}

/// The value of an option, as it crosses.
pub(super) struct MockOption((SettingKind, i64, f64, String));

impl From<&OptionValue> for MockOption {
    fn from(value: &OptionValue) -> MockOption {
        MockOption(match value {
            OptionValue::Bool(value) => (SettingKind::BOOL, i64::from(*value), 0.0, String::new()),
            OptionValue::Int(value) => (SettingKind::INT, *value, 0.0, String::new()),
            OptionValue::Float(value) => (SettingKind::FLOAT, 0, *value, String::new()),
            OptionValue::String(value) => (SettingKind::STRING, 0, 0.0, value.clone()),
            OptionValue::Strings(list) => {
                let joined = list.iter().map(|item| format!("{}\0", item)).collect();
                (SettingKind::STRINGS, list.len() as i64, 0.0, joined)
            }
            OptionValue::Table(entries) => {
                let entry = |(name, value): &(String, _)| format!("{}\0{}\0", name, value);
                let joined = entries.iter().map(entry).collect();
                (SettingKind::TABLE, entries.len() as i64, 0.0, joined)
            }
            // Only in a table.
            OptionValue::List(_) => (SettingKind::NONE, 0, 0.0, String::new()),
        })
    }
}

// The functions of the table. SAFETY (all): the SDK keeps the contract.

pub(super) unsafe extern "C" fn opt_level(_: *const abi::Context) -> u32 {
    2
}

pub(super) unsafe extern "C" fn option(
    handle: *const abi::Context,
    name: Str,
    out: *mut abi::Setting,
) -> Status {
    // SAFETY: as above.
    let (context, name, out) = unsafe {
        let context = &*handle.cast::<MockContext>();
        (context, text(name), &mut *out)
    };
    let (kind, int, float, string) = match context.options.get(name) {
        None => return Status::NOT_FOUND,
        Some(option) => &option.0,
    };
    *out = abi::Setting {
        kind: *kind,
        int: *int,
        float: *float,
        string: Str::new(string),
        ..*out
    };
    Status::OK
}

pub(super) unsafe extern "C" fn emit(
    handle: *mut abi::Context,
    said: *const abi::Diagnostic,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let context = &mut *handle.cast::<MockContext>();
        let message = text((*said).message).to_owned();
        context.messages.push(message);
    }
    Status::OK
}

pub(super) unsafe extern "C" fn fail(handle: *mut abi::Context, failure: *const abi::Failure) {
    // SAFETY: as above.
    unsafe {
        let failure = &*failure;
        (*handle.cast::<MockContext>()).failure = Some(Failure {
            op: failure.op.option(),
            message: text(failure.message).to_owned(),
            file: text(failure.file).to_owned(),
            line: failure.line,
        });
    }
}
