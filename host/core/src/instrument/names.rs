//! The passes that an instrument is for.

/// The passes that an option names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those of these names.
    These(Vec<String>),
}

impl Names {
    /// As the command line gives them: `all` is all.
    pub fn new(names: &[String]) -> Names {
        if names.is_empty() {
            Names::None
        } else if names.iter().any(|name| name == "all") {
            Names::All
        } else {
            Names::These(names.to_vec())
        }
    }

    /// Whether this pass is one of them.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Names::None => false,
            Names::All => true,
            Names::These(names) => names.iter().any(|known| known == name),
        }
    }
}
