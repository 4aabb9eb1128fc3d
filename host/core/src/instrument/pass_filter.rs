//! The filter for the passes that an instrument acts on.

/// The set of passes that an option names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PassFilter {
    /// No passes, for an empty list.
    #[default]
    None,
    /// All passes.
    All,
    /// The passes with these names.
    These(Vec<String>),
}

impl PassFilter {
    /// Creates the filter for a list of names, in which `all` means all passes.
    pub fn new(names: &[String]) -> PassFilter {
        if names.is_empty() {
            PassFilter::None
        } else if names.iter().any(|name| name == "all") {
            PassFilter::All
        } else {
            PassFilter::These(names.to_vec())
        }
    }

    /// Whether the filter contains a pass.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            PassFilter::None => false,
            PassFilter::All => true,
            PassFilter::These(names) => names.iter().any(|other| other == name),
        }
    }
}
