//! The check of pass names.

use super::PassInfo;
use crate::error::{ErrorKind, PassError};

/// Rejects a pass if its name, or a name in its `required`, is invalid.
pub(crate) fn check_info(info: &PassInfo) -> Result<(), PassError> {
    check_name(&info.name)?;
    info.required.iter().try_for_each(|name| check_name(name))
}

/// Rejects an empty name, and one with whitespace at either end or with control characters.
pub(crate) fn check_name(name: &str) -> Result<(), PassError> {
    let problem = if name.is_empty() {
        "is empty"
    } else if name.trim() != name {
        "starts or ends with a blank"
    } else if name.chars().any(char::is_control) {
        "holds a control character"
    } else {
        return Ok(());
    };
    Err(PassError::new(
        ErrorKind::Name,
        format!("The pass name {name:?} {problem}; give it a name like `acme.transform.FuseRelu`."),
    ))
}
