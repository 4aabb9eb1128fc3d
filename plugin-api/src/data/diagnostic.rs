//! Diagnostics: messages of a pass to the user.

use passdock_abi::{OpId, OpPart, Severity, SymbolId};

/// A message to the user with locations in the IR, which the host prints and underlines.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn check_axes(f: &mut Function, cx: &PassContext) -> PassResult {
///     for op in f.ops_named("onnx.Concat") {
///         if matches!(f.attr(op, "axis"), Some(Attr::Int(axis)) if axis > 8) {
///             cx.emit(
///                 &Diagnostic::warning("the axis exceeds the rank of most models")
///                     .code("acme::axis")
///                     .at(Place::attr(op, "axis"))
///                     .label(Place::operand(op, 0), "has a rank")
///                     .with_note("axes are numbered from 0")
///                     .help("check the exporter"),
///             );
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// A short, stable code (`acme::bad-axis`), or empty.
    pub code: String,
    /// A suggestion for a fix, or empty.
    pub help: String,
    /// Additional messages.
    pub notes: Vec<String>,
    /// Locations, each with a short text. The first one is the primary location.
    pub labels: Vec<(Place, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic of any severity.
    pub fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            message: message.into(),
            code: String::new(),
            help: String::new(),
            notes: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Creates a diagnostic for a bug in the pass, which makes the pass fail.
    pub fn bug(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::BUG, message)
    }

    /// Creates an error, which makes the pass fail.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::ERROR, message)
    }

    /// Creates a warning.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::WARNING, message)
    }

    /// Creates a note.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::NOTE, message)
    }

    /// Sets the primary location: an op, or a part of one.
    pub fn at(mut self, place: impl Into<Place>) -> Diagnostic {
        self.labels.insert(0, (place.into(), String::new()));
        self
    }

    /// Adds a location with a short text. The first location is the primary one.
    pub fn label(mut self, place: impl Into<Place>, text: impl Into<String>) -> Diagnostic {
        self.labels.push((place.into(), text.into()));
        self
    }

    /// Sets the stable code.
    pub fn code(mut self, code: impl Into<String>) -> Diagnostic {
        self.code = code.into();
        self
    }

    /// Adds a note.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets the suggestion for a fix.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }
}

/// A location in the IR: an op, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) op: OpId,
    pub(crate) part: OpPart,
    pub(crate) index: u32,
    pub(crate) function: Option<SymbolId>,
    pub(crate) attr: String,
}

impl Place {
    /// Returns the location of a whole op.
    pub fn op(op: OpId) -> Place {
        Place::part(op, OpPart::OP, 0)
    }

    /// Returns the location of an op's name.
    pub fn name(op: OpId) -> Place {
        Place::part(op, OpPart::NAME, 0)
    }

    /// Returns the location of an operand.
    pub fn operand(op: OpId, index: usize) -> Place {
        Place::part(op, OpPart::OPERAND, index)
    }

    /// Returns the location of a result.
    pub fn result(op: OpId, index: usize) -> Place {
        Place::part(op, OpPart::RESULT, index)
    }

    /// Returns the location of an attribute.
    pub fn attr(op: OpId, name: impl Into<String>) -> Place {
        Place {
            attr: name.into(),
            ..Place::part(op, OpPart::ATTR, 0)
        }
    }

    fn part(op: OpId, part: OpPart, index: usize) -> Place {
        Place {
            op,
            part,
            index: index as u32,
            function: None,
            attr: String::new(),
        }
    }
}

impl From<OpId> for Place {
    fn from(op: OpId) -> Place {
        Place::op(op)
    }
}
