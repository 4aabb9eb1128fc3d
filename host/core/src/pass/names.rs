//! The check of pass names.

use passdock_diagnostic::terminal::is_hidden;

use super::PassInfo;
use crate::error::{ErrorKind, PassError};

/// Rejects a pass if its name, or a name in its `required`, is invalid.
pub(crate) fn check_info(info: &PassInfo) -> Result<(), PassError> {
    check_name(&info.name)?;
    info.required.iter().try_for_each(|name| check_name(name))
}

/// Rejects an empty name, and one with whitespace at either end or with control or invisible
/// characters.
pub(crate) fn check_name(name: &str) -> Result<(), PassError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.trim() != name {
        "it starts or ends with whitespace"
    } else if name.contains(is_hidden) {
        "it contains a control or invisible character"
    } else {
        return Ok(());
    };
    Err(PassError::new(
        ErrorKind::Name,
        format!(
            "invalid pass name {name:?}: {problem}; expected a name such as `acme.transform.FuseRelu`"
        ),
    ))
}
