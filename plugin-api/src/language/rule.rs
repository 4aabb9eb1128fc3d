//! [`Rule`]: a parsed rule, with its pattern, conditions and replacement.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// A part of a rule with its span in the text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spanned<T> {
    /// The part.
    pub value: T,
    /// The span, in bytes of the text.
    pub at: Range<usize>,
}

/// A parsed rule: a pattern of ops, and its replacement.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rule {
    /// The name, for reports and for disabling the rule.
    pub name: String,
    /// The comment above the rule, in a text of several rules.
    pub doc: String,
    /// The span of the name, in bytes of the text.
    pub at: Range<usize>,
    /// The ops of the pattern, operands before users.
    pub nodes: Vec<Node>,
    /// The root of the pattern: a result of its last op, or a value whose alternatives are results.
    pub root: Operand,
    /// The values that the pattern binds, except results of its ops. Alternatives precede the values that have them.
    pub values: Vec<PatternValue>,
    /// The names of the lists of values that the pattern binds.
    pub lists: Vec<String>,
    /// The names of the attributes that the pattern binds.
    pub attrs: Vec<String>,
    /// The conditions under which the pattern matches.
    pub conditions: Vec<Condition>,
    /// The versions of domains that the conditions require.
    pub opsets: Vec<Opset>,
    /// The replacement of the root; `None` if code creates it.
    pub after: Option<After>,
    /// Whether the replacement may have more ops than the pattern.
    pub grows: bool,
    /// Whether a value that replaces the root has the same type by definition, so that types aren't compared.
    pub keeps_type: bool,
}

impl Rule {
    /// Returns the ops of the pattern and of the replacement in the order of the text, each with whether it belongs to
    /// the replacement.
    pub fn ops(&self) -> Vec<(&Node, bool)> {
        let created = self.after.iter().flat_map(|after| &after.nodes);
        let matched = self.nodes.iter().map(|node| (node, false));
        let mut ops: Vec<_> = matched.chain(created.map(|node| (node, true))).collect();
        ops.sort_by_key(|(node, _)| node.operators[0].at.start);
        ops
    }

    /// Returns the ops of the pattern that may be its root, as indices. There are several if the root has alternatives.
    pub fn roots(&self) -> Vec<usize> {
        let is_root = self.reached(false);
        (0..self.nodes.len()).filter(|at| is_root[*at]).collect()
    }

    /// Returns whether each op of the pattern can be reached from the root: directly or by alternatives, and if
    /// `by_operands` also by operands.
    pub(crate) fn reached(&self, by_operands: bool) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        let mut seen = vec![false; self.values.len()];
        let mut next = vec![&self.root];
        while let Some(operand) = next.pop() {
            let (is_done, operands) = match operand {
                Operand::Result { node, .. } => (&mut reached[*node], &self.nodes[*node].operands),
                Operand::Value(at) => (&mut seen[*at], &self.values[*at].alternatives),
                _ => continue,
            };
            let is_value = matches!(operand, Operand::Value(_));
            if !std::mem::replace(is_done, true) && (is_value || by_operands) {
                next.extend(operands.iter().map(|operand| &operand.value));
            }
        }
        reached
    }
}

/// A value that a pattern binds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PatternValue {
    /// The name; empty for alternatives without a name.
    pub name: String,
    /// The operands one of which the value must match, in the order in which they are tried. If empty: any value.
    pub alternatives: Vec<Spanned<Operand>>,
}

/// The versions of a domain that a rule's conditions require.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opset {
    /// The domain; empty for ONNX's own.
    pub domain: String,
    /// The minimum version.
    pub at_least: i64,
    /// The maximum version; `i64::MAX`: no limit.
    pub at_most: i64,
    /// The span of the last condition on it, in bytes of the text.
    pub at: Range<usize>,
}

/// An op of a pattern or a replacement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The canonical names of the operators that match; one for a replacement.
    pub operators: Vec<Spanned<String>>,
    /// The names of the results, one for each result.
    pub results: Vec<String>,
    /// The operands.
    pub operands: Vec<Spanned<Operand>>,
    /// The op of the pattern whose attributes the new op copies: `{..%y}`.
    pub like: Option<usize>,
    /// The attributes in the text.
    pub attrs: Vec<NodeAttr>,
}

/// An attribute of a [`Node`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeAttr {
    /// The attribute's name.
    pub name: Spanned<String>,
    /// In a pattern, the literal that the attribute or its default must equal, or the name that it is bound to, even if
    /// it is omitted. In a replacement, the value to set.
    pub value: Spanned<AttrTerm>,
}

/// An operand of a [`Node`], or the replacement of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Operand {
    /// A value: any, or one of the alternatives of [`PatternValue`]. The same one for each use.
    Value(usize),
    /// Any value, or an omitted operand.
    Optional(usize),
    /// All remaining operands.
    List(usize),
    /// Any value, without a name.
    #[default]
    Any,
    /// An omitted operand.
    Absent,
    /// A result of an op of the pattern.
    Result {
        /// The index of the op in the pattern.
        node: usize,
        /// The index of the result.
        index: usize,
    },
    /// A result of an earlier op of the replacement.
    Created {
        /// The index of the op in the replacement.
        node: usize,
        /// The index of the result.
        index: usize,
    },
    /// A constant whose elements all equal this number. In a replacement, a scalar with the dtype of the other
    /// operands.
    Number(Number),
    /// The same for a number that is an attribute: `$epsilon`.
    Splat(usize),
    /// A constant tensor of integers with these elements: `[0, -1]`, `[$axis]`; `[$axes...]` is the list `$axes`. In a
    /// replacement, of int64 and rank 1.
    Elements(AttrTerm),
}

/// A number of a pattern or a replacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The number itself.
    pub value: f64,
    /// `~0.5`: with a tolerance for rounding errors of exporters.
    pub about: bool,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer.
    Int(i64),
    /// A number with a decimal point.
    Float(f64),
    /// A string in quotes.
    String(String),
    /// Integers in brackets.
    Ints(Vec<i64>),
    /// Numbers in brackets.
    Floats(Vec<f64>),
    /// An identifier: a dtype.
    Ident(String),
}

impl Literal {
    /// Returns the value of a number.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Literal::Int(int) => Some(*int as f64),
            Literal::Float(float) => Some(*float),
            _ => None,
        }
    }
}

/// A condition, with its span in the text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Whether the condition is negated.
    pub negated: bool,
    /// The test.
    pub test: Test,
    /// The span, in bytes of the text.
    pub at: Range<usize>,
}

/// The test of a condition.
#[derive(Clone, Debug)]
pub enum Test {
    /// The relation holds between both terms.
    Compare(Term, Relation, Term),
    /// The term equals one of these.
    OneOf(Term, Vec<Literal>),
    /// The value is a constant.
    Constant(Operand),
    /// Both values have the same dtype and the same shape.
    SameType(Operand, Operand),
    /// Both values have the same shape.
    SameShape(Operand, Operand),
    /// Both values have the same dtype.
    SameDType(Operand, Operand),
    /// The value's dtype is a float type.
    Float(Operand),
    /// The first value broadcasts to the shape of the second without changing it.
    BroadcastsTo(Operand, Operand),
    /// The attribute is the identity permutation.
    Identity(AttrTerm),
}

/// The relation of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
}

/// A term of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A literal.
    Literal(Literal),
    /// An attribute.
    Attr(AttrTerm),
    /// The version of a domain.
    Opset(String),
    /// The rank.
    Rank(Operand),
    /// The number of elements.
    Size(Operand),
    /// The number of uses.
    Uses(Operand),
    /// The element type.
    DType(Operand),
    /// The size of an axis; a negative index counts from the end.
    Dim(Operand, i64),
    /// An axis of a value as a negative index, which counts from the end.
    Axis(AttrTerm, Operand),
}

/// An attribute, or a computation on attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrTerm {
    /// An attribute that the pattern binds.
    Bound(usize),
    /// A literal.
    Literal(Literal),
    /// A list of integers, with names: `[$axis]`.
    List(Vec<AttrTerm>),
    /// The permutation that applies the first, then the second.
    Compose(Box<AttrTerm>, Box<AttrTerm>),
}

/// The replacement of the root.
#[derive(Clone, Debug, Default)]
pub struct After {
    /// The new ops, in order.
    pub nodes: Vec<Node>,
    /// The replacement of each result of the root.
    pub results: Vec<Operand>,
}

/// The error for an invalid rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleError {
    /// The rule's name; empty if it isn't known yet.
    pub rule: String,
    /// The span, in bytes of the text.
    pub at: Range<usize>,
    /// The error message.
    pub message: String,
    /// A suggestion for a fix; may be empty.
    pub help: String,
    /// The valid identifiers instead of an unknown one.
    pub candidates: Vec<String>,
}

impl RuleError {
    /// Creates an error with a span, in bytes of the text.
    pub fn new(at: Range<usize>, message: impl Into<String>) -> RuleError {
        RuleError {
            rule: String::new(),
            at,
            message: message.into(),
            help: String::new(),
            candidates: Vec::new(),
        }
    }

    /// Returns the message with the rule's name and the suggestion.
    pub fn full_message(&self) -> String {
        let message = format!("invalid rule `{}`: {}", self.rule, self.message);
        match self.help.is_empty() {
            true => message,
            false => format!("{}; {}", message, self.help),
        }
    }

    /// Sets the suggestion for a fix.
    pub fn help(mut self, help: impl Into<String>) -> RuleError {
        self.help = help.into();
        self
    }

    /// Sets the valid identifiers instead of an unknown one.
    pub fn candidates<N: Into<String>>(mut self, words: impl IntoIterator<Item = N>) -> RuleError {
        self.candidates = words.into_iter().map(Into::into).collect();
        self
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.rule.is_empty() {
            write!(f, "in rule `{}`: ", self.rule)?;
        }
        f.write_str(&self.message)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

impl Error for RuleError {}
