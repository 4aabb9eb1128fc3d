//! The running pass's context.

use std::ptr;

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::function::RawFunction;
use super::tables::{prefix, text, Tables, Texts};
use crate::data::{EditError, LaidOut, OptionValue};

/// A context handle and the tables to call.
#[derive(Clone)]
pub(crate) struct RawContext {
    pub(super) tables: &'static Tables,
    pub(super) handle: *mut abi::Context,
}

impl RawContext {
    /// # Safety
    /// `handle` is as the contract says and outlives the answer.
    #[inline]
    pub(crate) unsafe fn new(tables: &'static Tables, handle: *mut abi::Context) -> RawContext {
        RawContext { tables, handle }
    }

    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables
    }

    /// Turns a status into a result with the host's sentence.
    pub(super) fn done(
        &self,
        status: Status,
        call: &str,
        op: Option<OpId>,
    ) -> Result<(), EditError> {
        if status.is_ok() {
            return Ok(());
        }
        Err(EditError::described(status, self.last_error(), call, op))
    }

    /// An option of the running pass; `None` if it has none of that name.
    pub(crate) fn option_value(&self, name: &str) -> Result<Option<OptionValue>, EditError> {
        match self.option(name) {
            // SAFETY: the host wrote the setting, whose text lives as long as the context.
            Ok(out) => unsafe { setting(&out, || format!("option `{}`", name)) },
            Err(error) if error.status == Status::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A registered config value. An error if no such key or field is registered.
    pub(crate) fn config_value(
        &self,
        key: &str,
        field: &str,
    ) -> Result<Option<OptionValue>, EditError> {
        match self.config(key, field) {
            // SAFETY: the host wrote the setting, whose text lives as long as the context.
            Ok(out) => unsafe { setting(&out, || format!("config `{}`", key)) },
            // Not `NOT_FOUND`, which stands for an option that has its default.
            Err(error) if error.status == Status::NOT_FOUND => Err(EditError {
                status: Status::INVALID,
                ..error
            }),
            Err(error) => Err(error),
        }
    }

    /// Asks what an op is in other layouts.
    pub(crate) fn laid_out(
        &self,
        function: &mut RawFunction,
        op: OpId,
        layouts: &[&str],
        ask: AskLayout,
    ) -> Result<LaidOut, EditError> {
        let layouts: Vec<abi::Str> = layouts.iter().map(|text| abi::Str::new(text)).collect();
        // SAFETY: the texts live until the call returns.
        let said = unsafe { ask(self, function, op, &layouts)? };
        // SAFETY: what the host said lives until the next such call; it is copied.
        unsafe {
            let all = |texts: Texts<'_>| texts.iter().map(str::to_owned).collect();
            Ok(LaidOut {
                operands: all(Texts::new(said.operands, said.operand_count)),
                results: all(Texts::new(said.results, said.result_count)),
                body: text(said.body).to_owned(),
            })
        }
    }
}

/// [`RawContext::layout`] or [`RawContext::alter_layout`].
pub(crate) type AskLayout =
    unsafe fn(&RawContext, &mut RawFunction, OpId, &[abi::Str]) -> Result<abi::LaidOut, EditError>;

/// # Safety
/// The host wrote `out`, and what it points to is alive.
unsafe fn setting(
    out: &abi::Setting,
    what: impl Fn() -> String,
) -> Result<Option<OptionValue>, EditError> {
    if out.kind == abi::SettingKind::NONE {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let value = unsafe { value(out) };
    value.map(Some).map_err(|kind| {
        let message = format!(
            "{} is of a kind ({}) that this plugin is too old to know",
            what(),
            kind.0
        );
        EditError::new(Status::UNSUPPORTED, message, None)
    })
}

/// The value of a setting, or the kind of one that this side doesn't know.
///
/// # Safety
/// The host wrote it, and what it points to is alive.
unsafe fn value(setting: &abi::Setting) -> Result<OptionValue, abi::SettingKind> {
    let items = || {
        (0..setting.item_count as usize).map(move |at| {
            let offset = at * setting.item_stride as usize;
            // SAFETY: the host's array, with as many items; the setting starts with its size.
            unsafe {
                let item = setting
                    .items
                    .cast::<u8>()
                    .add(offset)
                    .cast::<abi::SettingItem>();
                let name = text(ptr::addr_of!((*item).name).read()).to_owned();
                Ok((name, value(&prefix(ptr::addr_of!((*item).value)))?))
            }
        })
    };
    Ok(match setting.kind {
        abi::SettingKind::BOOL => OptionValue::Bool(setting.int != 0),
        abi::SettingKind::INT => OptionValue::Int(setting.int),
        abi::SettingKind::FLOAT => OptionValue::Float(setting.float),
        // SAFETY: the caller's promise.
        abi::SettingKind::STRING => OptionValue::String(unsafe { text(setting.string) }.to_owned()),
        abi::SettingKind::LIST => {
            let values = items().map(|item| item.map(|(_, value)| value));
            OptionValue::List(values.collect::<Result<_, _>>()?)
        }
        abi::SettingKind::TABLE => OptionValue::Table(items().collect::<Result<_, _>>()?),
        kind => return Err(kind),
    })
}
