//! The declaration of a pass: its properties, available without running it.

use std::fmt;

use passdock_plugin_api::Options;
use serde::Serialize;

use super::Phase;
use super::schema::Field;

/// A pass's name, level and requirements.
///
/// # Examples
/// ```
/// # extern crate passdock_loader as passdock;
/// use passdock::PassInfo;
///
/// let info = PassInfo::new("acme.transform.Fuse").opt_level(1).required(["InferType"]);
/// assert_eq!(info.required, ["InferType"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct PassInfo {
    /// The registered name: `relax.transform.FoldConstant`.
    pub name: String,
    /// The minimum `PassContext.opt_level` at which a pipeline runs it.
    pub opt_level: u32,
    /// The registered names of the passes whose results it needs.
    pub required: Vec<String>,
}

impl PassInfo {
    /// Creates the info of a pass of level 0 without requirements.
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

    /// Sets the passes whose results it needs.
    pub fn required<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> PassInfo {
        self.required = names.into_iter().map(Into::into).collect();
        self
    }
}

/// The declaration of a pass: its info, phase, permissions and options.
///
/// It is created from a [`PassInfo`], for example
/// `PassDeclaration { thread_safe: false, ..PassInfo::new("a.transform.B").into() }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassDeclaration {
    /// The name, level and requirements.
    #[serde(flatten)]
    pub info: PassInfo,
    /// The phase of a pipeline in which the pass runs.
    pub phase: Option<Phase>,
    /// Whether the pass is thread-safe: it may run on several functions in parallel.
    pub thread_safe: bool,
    /// Whether the pass may change parameters and results of a function. If it may not and does, it fails.
    pub changes_interface: bool,
    /// Other names of the pass, such as former names.
    pub aliases: Vec<String>,
    /// The config key for the pass's options. Its values apply to options that the pipeline doesn't set.
    pub config: Option<String>,
    /// The options of the pass.
    pub options: Vec<Field>,
}

/// Creates the declaration of a pass of the program itself. It is trusted: it is thread-safe and may change interfaces.
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
    /// Returns a declaration with options: the fields of `T`, a struct of the SDK's `options!`. The body reads them
    /// with `cx.options::<T>()`.
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
