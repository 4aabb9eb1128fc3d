//! Named states of a module: what passes need, establish and break.
//!
//! A state is something true of a whole module that passes rely on: `types-inferred`, `opset >=
//! 13`. A pass declares the states that it needs before it runs, those that it establishes, and
//! those that it breaks; it keeps all others. So a pipeline can be checked before it runs: a state
//! that a pass needs must be established before the pass, and not broken since.
//!
//! [`KNOWN`] lists the names that have a meaning here. Any other name is a vendor's own, and true
//! only after a pass that establishes it. Some states are facts that can be read off the module: if
//! no pass establishes such a state before the first one that needs it, the model itself must
//! be in it, which is checked before anything runs.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The states that have a meaning, and that meaning.
pub const KNOWN: &[(&str, &str)] = &[
    (
        "opset >= N",
        "the functions import version N of ONNX's own operators, or a later one",
    ),
    (
        "types-inferred",
        "each value has a type, as far as its op has a definition",
    ),
    (
        "no-control-flow",
        "there is no if, for, while, onnx.If, onnx.Loop and onnx.Scan",
    ),
    ("no-tuples", "there is no tuple and no tuple_get"),
    (
        "a-normal-form",
        "each operand is a value with a name of its own, which this IR guarantees",
    ),
    (
        "constants-folded",
        "constant expressions are folded, as far as that is worth it",
    ),
];

/// The states that a pass names in its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct States {
    /// The states that must hold before the pass runs.
    pub needs: Vec<State>,
    /// The states that hold after the pass ran.
    pub establishes: Vec<State>,
    /// The states that may not hold any more after the pass ran, unless it establishes them.
    pub breaks: Vec<State>,
}

/// A state by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// `opset >= N`: the version of ONNX's own operators.
    Opset(u32),
    /// A state of any other name.
    Named(String),
}

impl States {
    /// The states of a pass that names none.
    pub const NONE: &'static States = &States {
        needs: Vec::new(),
        establishes: Vec::new(),
        breaks: Vec::new(),
    };

    /// The first state whose name isn't valid.
    pub fn invalid(&self) -> Option<&State> {
        let all = [&self.needs, &self.establishes, &self.breaks];
        all.into_iter().flatten().find(|state| !state.is_valid())
    }
}

/// The rule for the name of a state, as a sentence.
pub const RULE: &str =
    "a state is `opset >= N`, or words of lower-case letters, digits, `-`, `_` and dots";

impl State {
    /// A state as a pass writes it. [`States::invalid`] finds an invalid one.
    pub fn new(text: &str) -> State {
        let version = text
            .strip_prefix("opset")
            .and_then(|rest| rest.trim_start().strip_prefix(">="))
            .and_then(|version| version.trim_start().parse().ok());
        match version {
            Some(version) => State::Opset(version),
            None => State::Named(text.to_owned()),
        }
    }

    /// Whether the state's name is valid.
    pub fn is_valid(&self) -> bool {
        match self {
            State::Opset(_) => true,
            State::Named(name) => is_name(name),
        }
    }

    /// The subject of the state. States of one subject differ in degree only.
    pub fn subject(&self) -> &str {
        match self {
            State::Opset(_) => "opset",
            State::Named(name) => name,
        }
    }

    /// The degree of the state: a state implies those of its subject that have a lower one.
    pub fn degree(&self) -> u32 {
        match self {
            State::Opset(version) => *version,
            State::Named(_) => 0,
        }
    }

    /// Whether a module that is in this state is also in the other one.
    pub fn implies(&self, other: &State) -> bool {
        self.subject() == other.subject() && self.degree() >= other.degree()
    }
}

fn is_name(name: &str) -> bool {
    let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    name != "opset"
        && name.len() <= 256
        && name.bytes().all(inside)
        && name.starts_with(|first: char| first.is_ascii_lowercase())
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Opset(version) => write!(f, "opset >= {version}"),
            State::Named(name) => f.write_str(name),
        }
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
        String::deserialize(deserializer).map(|text| State::new(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_by_their_names() {
        for (text, shown) in [
            ("opset>=13", "opset >= 13"),
            ("opset >= 13", "opset >= 13"),
            ("types-inferred", "types-inferred"),
            ("acme.tiled_2", "acme.tiled_2"),
        ] {
            let state = State::new(text);
            assert!(state.is_valid(), "{text}");
            assert_eq!(state.to_string(), shown);
        }
        for text in [
            "",
            "opset",
            "opset >= x",
            "opset > 3",
            "Types",
            "a b",
            "-a",
            "opset >= -1",
        ] {
            assert!(!State::new(text).is_valid(), "{text}");
        }
        assert!(State::Opset(17).implies(&State::Opset(13)));
        assert!(!State::Opset(13).implies(&State::Opset(17)));
    }
}
