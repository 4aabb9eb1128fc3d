//! What a pass says to the user.

use passdock_abi::{OpId, OpPart, Severity, SymbolId};

/// A diagnostic for the user: a sentence, and the places that it is about, which the user sees
/// underlined in the text of the IR.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn check_axes(f: &mut Function, cx: &PassContext) -> PassResult {
///     for op in f.ops_named("onnx.Concat") {
///         if matches!(f.attr(op, "axis"), Some(Attr::Int(axis)) if axis > 8) {
///             cx.emit(
///                 &Diagnostic::warning("This axis is higher than any rank that is seen in practice.")
///                     .code("acme::axis")
///                     .at(Place::attr(op, "axis"))
///                     .label(Place::operand(op, 0), "has a rank")
///                     .with_note("An axis counts from 0.")
///                     .help("Look at the exporter."),
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
    /// The message: a sentence.
    pub message: String,
    /// A short stable code (`acme::bad-axis`), or empty.
    pub code: String,
    /// Advice what to do, or empty.
    pub help: String,
    /// Notes: more sentences.
    pub notes: Vec<String>,
    /// Places, and a few words about each; the first is what it is about.
    pub labels: Vec<(Place, String)>,
}

impl Diagnostic {
    /// A diagnostic of any severity.
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

    /// A mistake of the pass itself; makes it count as failed.
    pub fn bug(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::BUG, message)
    }

    /// Makes the pass count as failed.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::ERROR, message)
    }

    /// A warning: something to look at.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::WARNING, message)
    }

    /// A note: something to know.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::NOTE, message)
    }

    /// Sets the place that it is about: an op, or a part of one.
    pub fn at(mut self, place: impl Into<Place>) -> Diagnostic {
        self.labels.insert(0, (place.into(), String::new()));
        self
    }

    /// Points at a place with a few words. The first place is what the diagnostic is about.
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

    /// Sets the advice what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }
}

/// A place in the IR: an op, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) op: OpId,
    pub(crate) part: OpPart,
    pub(crate) index: u32,
    pub(crate) function: Option<SymbolId>,
    pub(crate) attr: String,
}

impl Place {
    /// The place of a whole op.
    pub fn op(op: OpId) -> Place {
        Place::part(op, OpPart::OP, 0)
    }

    /// An op's name.
    pub fn name(op: OpId) -> Place {
        Place::part(op, OpPart::NAME, 0)
    }

    /// An operand where it is used.
    pub fn operand(op: OpId, index: usize) -> Place {
        Place::part(op, OpPart::OPERAND, index)
    }

    /// A result where it is made.
    pub fn result(op: OpId, index: usize) -> Place {
        Place::part(op, OpPart::RESULT, index)
    }

    /// The place of an attribute.
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
