//! The passes that an instrument is for.

/// The passes that an option names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PassFilter {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those of these names.
    These(Vec<String>),
}

impl PassFilter {
    /// As the command line gives them: `all` is all.
    pub fn new(names: &[String]) -> PassFilter {
        if names.is_empty() {
            PassFilter::None
        } else if names.iter().any(|name| name == "all") {
            PassFilter::All
        } else {
            PassFilter::These(names.to_vec())
        }
    }

    /// Whether this pass is one of them.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            PassFilter::None => false,
            PassFilter::All => true,
            PassFilter::These(names) => names.iter().any(|known| known == name),
        }
    }
}
