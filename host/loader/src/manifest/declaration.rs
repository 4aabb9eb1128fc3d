//! The declaration of a pass: what is known about it without running it.

use std::fmt;

use passdock_plugin_api::Options;
use serde::Serialize;

use super::Phase;
use super::schema::Field;

/// A pass's name, level and requirements. Compared by value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct PassInfo {
    /// The registered name: `relax.transform.FoldConstant`.
    pub name: String,
    /// The lowest `PassContext.opt_level` at which a pipeline runs it.
    pub opt_level: u32,
    /// The registered names of the passes that must have run before it.
    pub required: Vec<String>,
}

impl PassInfo {
    /// The info of a pass of level 0 that requires nothing.
    pub fn new(name: impl Into<String>) -> PassInfo {
        PassInfo {
            name: name.into(),
            ..PassInfo::default()
        }
    }

    /// Sets the opt level of the pass.
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

/// The declaration of a pass: its info, phase, permissions and options.
///
/// It comes from a [`PassInfo`], and is asked for where a pass is made:
/// `PassDeclaration { thread_safe: false, ..PassInfo::new("a.transform.B").into() }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassDeclaration {
    /// The name, level and requirements.
    #[serde(flatten)]
    pub info: PassInfo,
    /// The phase of a pipeline in which the pass asks to run.
    pub phase: Option<Phase>,
    /// Whether the pass is thread-safe: it may run on several functions at once.
    pub thread_safe: bool,
    /// Whether the pass may change parameters and results of a function. A pass that may not, and does, fails.
    pub changes_interface: bool,
    /// Other names that the pass goes by: those that it had once, or has elsewhere.
    pub aliases: Vec<String>,
    /// The config key, registered with the struct of the pass's options, whose values they have where the pipeline
    /// doesn't set them.
    pub config: Option<String>,
    /// The options that the pass takes.
    pub options: Vec<Field>,
}

/// The declaration of a pass of the program itself, which is trusted: thread-safe, and free to
/// change interfaces.
impl From<PassInfo> for PassDeclaration {
    fn from(info: PassInfo) -> PassDeclaration {
        PassDeclaration {
            info,
            phase: None,
            thread_safe: true,
            changes_interface: true,
            aliases: Vec::new(),
            config: None,
            options: Vec::new(),
        }
    }
}

impl PassInfo {
    /// Returns the declaration with the options that the pass takes: the fields of `T`, a struct of the SDK's
    /// `options!`, which the body reads by `cx.options::<T>()`.
    pub fn options<T: Options>(self) -> PassDeclaration {
        PassDeclaration {
            options: Field::from_options::<T>(),
            ..self.into()
        }
    }
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
