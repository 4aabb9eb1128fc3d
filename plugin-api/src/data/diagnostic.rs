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
///                     .at(OpSpan::attr(op, "axis"))
///                     .label(OpSpan::operand(op, 0), "has a rank")
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
    pub labels: Vec<(OpSpan, String)>,
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

    /// Sets the primary span: an op, or a part of one.
    pub fn at(mut self, span: impl Into<OpSpan>) -> Diagnostic {
        self.labels.insert(0, (span.into(), String::new()));
        self
    }

    /// Adds a span with a short text. The first span is the primary one.
    pub fn label(mut self, span: impl Into<OpSpan>, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span.into(), text.into()));
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

/// A span of the IR: an op, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpSpan {
    pub(crate) op: OpId,
    pub(crate) part: OpPart,
    pub(crate) index: u32,
    pub(crate) function: Option<SymbolId>,
    pub(crate) attr: String,
}

impl OpSpan {
    /// Returns the span of a whole op.
    pub fn op(op: OpId) -> OpSpan {
        OpSpan::part(op, OpPart::OP, 0)
    }

    /// Returns the span of an op's name.
    pub fn name(op: OpId) -> OpSpan {
        OpSpan::part(op, OpPart::NAME, 0)
    }

    /// Returns the span of an operand.
    pub fn operand(op: OpId, index: usize) -> OpSpan {
        OpSpan::part(op, OpPart::OPERAND, index)
    }

    /// Returns the span of a result.
    pub fn result(op: OpId, index: usize) -> OpSpan {
        OpSpan::part(op, OpPart::RESULT, index)
    }

    /// Returns the span of an attribute.
    pub fn attr(op: OpId, name: impl Into<String>) -> OpSpan {
        OpSpan {
            attr: name.into(),
            ..OpSpan::part(op, OpPart::ATTR, 0)
        }
    }

    fn part(op: OpId, part: OpPart, index: usize) -> OpSpan {
        OpSpan {
            op,
            part,
            index: index as u32,
            function: None,
            attr: String::new(),
        }
    }
}

impl From<OpId> for OpSpan {
    fn from(op: OpId) -> OpSpan {
        OpSpan::op(op)
    }
}
