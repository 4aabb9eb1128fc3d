//! The filter for the passes that an instrument acts on.

/// The passes that an option names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PassFilter {
    /// No passes: the option names none.
    #[default]
    None,
    /// All passes.
    All,
    /// The passes of these names.
    These(Vec<String>),
}

impl PassFilter {
    /// The filter of a list of names, in which `all` stands for all passes.
    pub fn new(names: &[String]) -> PassFilter {
        if names.is_empty() {
            PassFilter::None
        } else if names.iter().any(|name| name == "all") {
            PassFilter::All
        } else {
            PassFilter::These(names.to_vec())
        }
    }

    /// Whether the filter names a pass.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            PassFilter::None => false,
            PassFilter::All => true,
            PassFilter::These(names) => names.iter().any(|other| other == name),
        }
    }
}
