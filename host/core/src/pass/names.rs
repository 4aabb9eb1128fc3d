//! The names that passes may have.

use super::PassInfo;
use crate::error::{ErrorKind, PassError};

/// Refuses a pass whose name, or a name that it requires, is invalid.
pub(crate) fn check_info(info: &PassInfo) -> Result<(), PassError> {
    check_name(&info.name)?;
    info.required.iter().try_for_each(|name| check_name(name))
}

/// Refuses an empty name, and one with blanks around it or control characters in it.
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
