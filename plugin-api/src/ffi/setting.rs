//! Conversion of options and config values from the host.

use std::fmt;

use passdock_abi as abi;
use passdock_abi::{SettingKind, Status};

use super::tables::{prefix, strided, text};
use crate::data::{EditError, OptionValue};

/// Returns the value of a setting; `None` if it isn't set.
///
/// # Safety
/// The host wrote the setting, and the memory that it points to is valid.
pub(crate) unsafe fn setting(
    setting: &abi::Setting,
    name: fmt::Arguments<'_>,
) -> Result<Option<OptionValue>, EditError> {
    if setting.kind == SettingKind::NONE {
        return Ok(None);
    }
    // SAFETY: the caller guarantees a valid setting.
    unsafe { value(setting) }.map(Some).map_err(|kind| {
        let message = format!(
            "{} has unknown kind {}; the plugin is older than the host",
            name, kind.0
        );
        EditError::new(Status::UNSUPPORTED, message, None)
    })
}

/// Returns the value of a setting, or its kind if the SDK doesn't support it.
///
/// # Safety
/// See [`setting`].
unsafe fn value(setting: &abi::Setting) -> Result<OptionValue, SettingKind> {
    let (count, stride) = (setting.item_count as usize, setting.item_stride as usize);
    // SAFETY: the caller guarantees valid items; each value begins with its size.
    let items =
        unsafe { strided(setting.items, count, stride) }.map(|item: abi::SettingItem| unsafe {
            Ok((text(item.name).to_owned(), value(&prefix(&item.value))?))
        });
    Ok(match setting.kind {
        SettingKind::BOOL => OptionValue::Bool(setting.int != 0),
        SettingKind::INT => OptionValue::Int(setting.int),
        SettingKind::FLOAT => OptionValue::Float(setting.float),
        // SAFETY: the caller guarantees a valid string.
        SettingKind::STRING => OptionValue::String(unsafe { text(setting.string) }.to_owned()),
        SettingKind::LIST => {
            let values = items.map(|item| item.map(|(_, value)| value));
            OptionValue::List(values.collect::<Result<_, _>>()?)
        }
        SettingKind::TABLE => OptionValue::Table(items.collect::<Result<_, _>>()?),
        kind => return Err(kind),
    })
}
