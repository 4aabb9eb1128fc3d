//! What is known about a pass without running it.

use std::fmt;

use crate::error::{ErrorKind, PassError};

/// A pass's name, level and requirements. Compared by value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PassInfo {
    /// The registered name: `relax.transform.FoldConstant`.
    pub name: String,
    /// The lowest `PassContext.opt_level` at which a pipeline runs it.
    pub opt_level: u32,
    /// Registered names of the passes that must have run before it.
    pub required: Vec<String>,
}

impl PassInfo {
    /// A pass of level 0 that requires nothing.
    pub fn new(name: impl Into<String>) -> PassInfo {
        PassInfo {
            name: name.into(),
            ..PassInfo::default()
        }
    }

    /// Sets the level.
    pub fn opt_level(mut self, opt_level: u32) -> PassInfo {
        self.opt_level = opt_level;
        self
    }

    /// Sets the passes that must have run before it.
    pub fn required<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> PassInfo {
        self.required = names.into_iter().map(Into::into).collect();
        self
    }

    /// Refuses names that nobody could ask for.
    pub fn check(&self) -> Result<(), PassError> {
        check_name(&self.name)?;
        self.required.iter().try_for_each(|name| check_name(name))
    }
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

impl fmt::Display for PassInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The meta data of the pass - pass name: {}, opt_level: {}, required passes: [{}]",
            self.name,
            self.opt_level,
            self.required.join(", ")
        )
    }
}
