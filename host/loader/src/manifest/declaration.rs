//! What is known about a pass without running it.

use std::fmt;

use serde::Serialize;

use super::Phase;
use super::states::{State, States};

/// A pass's name, level and requirements. Compared by value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
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
}

/// Everything that a pass says about itself: its info, and what few passes have to say.
///
/// It comes from a [`PassInfo`], and is asked for where a pass is made:
/// `create_function_pass(PassInfo::new("a.transform.B").needs(["no-control-flow"]), …)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassDeclaration {
    /// Name, level and requirements.
    #[serde(flatten)]
    pub info: PassInfo,
    /// The states of the module that it needs, establishes and breaks.
    #[serde(flatten)]
    pub states: States,
    /// Where pipelines with places for phases run it.
    pub phase: Option<Phase>,
    /// Whether it may run on several functions at once.
    pub thread_safe: bool,
    /// Whether it may change parameters and results of a function.
    pub changes_interface: bool,
}

/// A pass of the program itself is trusted: thread-safe, and free to change interfaces.
impl From<PassInfo> for PassDeclaration {
    fn from(info: PassInfo) -> PassDeclaration {
        PassDeclaration {
            info,
            states: States::default(),
            phase: None,
            thread_safe: true,
            changes_interface: true,
        }
    }
}

/// Shorthands for [`PassDeclaration`]'s own.
impl PassInfo {
    /// States that have to hold before it runs.
    pub fn needs<S: AsRef<str>>(self, states: impl IntoIterator<Item = S>) -> PassDeclaration {
        PassDeclaration::from(self).needs(states)
    }

    /// States that hold after it ran.
    pub fn establishes<S: AsRef<str>>(
        self,
        states: impl IntoIterator<Item = S>,
    ) -> PassDeclaration {
        PassDeclaration::from(self).establishes(states)
    }

    /// States that may not hold any more after it ran.
    pub fn breaks<S: AsRef<str>>(self, states: impl IntoIterator<Item = S>) -> PassDeclaration {
        PassDeclaration::from(self).breaks(states)
    }

    /// The phase in which pipelines with a place for it run it.
    pub fn phase(self, phase: Phase) -> PassDeclaration {
        PassDeclaration::from(self).phase(phase)
    }

    /// Whether it may run on several functions at once.
    pub fn thread_safe(self, thread_safe: bool) -> PassDeclaration {
        PassDeclaration::from(self).thread_safe(thread_safe)
    }

    /// Whether it may change parameters and results.
    pub fn changes_interface(self, changes_interface: bool) -> PassDeclaration {
        PassDeclaration::from(self).changes_interface(changes_interface)
    }
}

impl PassDeclaration {
    /// States that have to hold before it runs: `types-inferred`, `opset >= 13`.
    pub fn needs<S: AsRef<str>>(mut self, states: impl IntoIterator<Item = S>) -> PassDeclaration {
        self.states.needs = named(states);
        self
    }

    /// States that hold after it ran.
    pub fn establishes<S: AsRef<str>>(
        mut self,
        states: impl IntoIterator<Item = S>,
    ) -> PassDeclaration {
        self.states.establishes = named(states);
        self
    }

    /// States that may not hold any more after it ran. Those that it doesn't mention it keeps.
    pub fn breaks<S: AsRef<str>>(mut self, states: impl IntoIterator<Item = S>) -> PassDeclaration {
        self.states.breaks = named(states);
        self
    }

    /// The phase in which pipelines with a place for it run it.
    pub fn phase(mut self, phase: Phase) -> PassDeclaration {
        self.phase = Some(phase);
        self
    }

    /// Whether it may run on several functions at once.
    pub fn thread_safe(mut self, thread_safe: bool) -> PassDeclaration {
        self.thread_safe = thread_safe;
        self
    }

    /// Whether it may change parameters and results. One that may not, and does, fails.
    pub fn changes_interface(mut self, changes_interface: bool) -> PassDeclaration {
        self.changes_interface = changes_interface;
        self
    }
}

fn named<S: AsRef<str>>(states: impl IntoIterator<Item = S>) -> Vec<State> {
    let states = states.into_iter();
    states.map(|state| State::new(state.as_ref())).collect()
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
