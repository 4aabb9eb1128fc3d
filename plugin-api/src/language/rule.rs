//! What a rule says: a pattern of ops, conditions, and what stands in their place.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// A part of a rule with its place in the text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spanned<T> {
    /// The part.
    pub value: T,
    /// The place, in bytes of the text.
    pub at: Range<usize>,
}

/// A rule: ops that are looked for, and what replaces them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rule {
    /// The name, which reports count it by.
    pub name: String,
    /// The comment above it, in a text of several rules.
    pub doc: String,
    /// The place of the name, in bytes of the text.
    pub at: Range<usize>,
    /// The ops of the pattern, operands before users; the last one is the root.
    pub nodes: Vec<Node>,
    /// The names of the values that the pattern binds, ops' results aside.
    pub values: Vec<String>,
    /// The names of the lists of values that the pattern binds.
    pub lists: Vec<String>,
    /// The names of the attributes that the pattern binds.
    pub attrs: Vec<String>,
    /// The conditions under which the pattern matches.
    pub conditions: Vec<Condition>,
    /// The versions of domains that the conditions ask for.
    pub opsets: Vec<Opset>,
    /// The replacement of the root; `None` if code makes it.
    pub after: Option<After>,
    /// Whether there may be more ops after than before.
    pub grows: bool,
    /// Whether a value that replaces the root has its type, whatever is known of them.
    pub keeps_type: bool,
}

impl Rule {
    /// Returns the ops of the pattern and of the replacement, in the order of the text, each with whether it belongs to
    /// the replacement.
    pub fn ops(&self) -> Vec<(&Node, bool)> {
        let created = self.after.iter().flat_map(|after| &after.nodes);
        let matched = self.nodes.iter().map(|node| (node, false));
        let mut ops: Vec<_> = matched.chain(created.map(|node| (node, true))).collect();
        ops.sort_by_key(|(node, _)| node.operators[0].at.start);
        ops
    }
}

/// The versions of a domain that a rule's conditions ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opset {
    /// The domain; empty for ONNX's own.
    pub domain: String,
    /// The first version.
    pub at_least: i64,
    /// The last version; `i64::MAX` if there is none.
    pub at_most: i64,
    /// The place of the last condition about it, in bytes of the text.
    pub at: Range<usize>,
}

/// An op of a pattern, or one to make.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The canonical names of the operators that it may be of: of an op to make, one.
    pub operators: Vec<Spanned<String>>,
    /// The names of the results, as many as the op has.
    pub results: Vec<String>,
    /// The operands.
    pub operands: Vec<Spanned<Operand>>,
    /// The op of the pattern whose attributes an op to make starts with: `{..%y}`.
    pub like: Option<usize>,
    /// The attributes that are written down.
    pub attrs: Vec<NodeAttr>,
}

/// An attribute of a [`Node`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeAttr {
    /// The attribute's name.
    pub name: Spanned<String>,
    /// The value that it has to have, given or as its default, or that it gets. A pattern binds one to a name, be it
    /// given, a default or left out.
    pub value: Spanned<AttrTerm>,
}

/// An operand of a [`Node`], or what replaces a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Any value; the same one wherever the name is used.
    Value(usize),
    /// Any value, or none.
    Optional(usize),
    /// All operands from here on.
    List(usize),
    /// Any value, without a name.
    Any,
    /// None.
    Absent,
    /// A result of an op of the pattern.
    Result {
        /// The op, by its place among the pattern's.
        node: usize,
        /// Which of its results.
        index: usize,
    },
    /// A result of an earlier op of the replacement.
    Created {
        /// The op, by its place among the replacement's.
        node: usize,
        /// Which of its results.
        index: usize,
    },
    /// A constant whose elements all are this number; to make: a scalar of the dtype of the operands next to it.
    Number(Number),
    /// A constant tensor of integers with these elements; to make: of int64, of rank 1.
    Ints(Vec<i64>),
}

/// A number of a pattern, or to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The number itself.
    pub value: f64,
    /// `~0.5`: as near as exporters come to it.
    pub about: bool,
}

/// A value that is written down.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// Text in quotes.
    Text(String),
    /// Integers in brackets.
    Ints(Vec<i64>),
    /// Numbers in brackets.
    Floats(Vec<f64>),
    /// A word: a dtype.
    Word(String),
}

impl Literal {
    /// Returns the number that it is.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Literal::Int(int) => Some(*int as f64),
            Literal::Float(float) => Some(*float),
            _ => None,
        }
    }
}

/// A condition, with its place in the text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Whether the test has to fail.
    pub negated: bool,
    /// What is tested.
    pub test: Test,
    /// The place, in bytes of the text.
    pub at: Range<usize>,
}

/// What a condition tests.
#[derive(Clone, Debug)]
pub enum Test {
    /// Both sides stand in this relation.
    Compare(Term, Relation, Term),
    /// The term is one of these.
    OneOf(Term, Vec<Literal>),
    /// The value is a constant.
    Constant(Operand),
    /// Both values have the same dtype and the same shape.
    SameType(Operand, Operand),
    /// Both values have the same shape.
    SameShape(Operand, Operand),
    /// Both values have the same dtype.
    SameDType(Operand, Operand),
    /// The value's dtype is one of floats.
    Float(Operand),
    /// The first value stretches to the shape of the second and leaves that as it is.
    StretchesTo(Operand, Operand),
    /// The attribute is a permutation that changes nothing.
    Identity(AttrTerm),
}

/// How both sides of a comparison stand to each other.
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

/// What a condition compares.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// What the text says.
    Literal(Literal),
    /// An attribute.
    Attr(AttrTerm),
    /// The version of a domain.
    Opset(String),
    /// The number of axes.
    Rank(Operand),
    /// The number of elements.
    Size(Operand),
    /// The number of uses.
    Uses(Operand),
    /// The element type.
    DType(Operand),
    /// The size of an axis; a negative one counts from the end.
    Dim(Operand, i64),
}

/// An attribute that is worked out.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrTerm {
    /// One that the pattern bound.
    Bound(usize),
    /// What the text says.
    Literal(Literal),
    /// The permutation that does the first, then the second.
    Compose(Box<AttrTerm>, Box<AttrTerm>),
}

/// The replacement of the root.
#[derive(Clone, Debug, Default)]
pub struct After {
    /// The ops to make, in order.
    pub nodes: Vec<Node>,
    /// The replacement of each result of the root.
    pub results: Vec<Operand>,
}

/// What is wrong with a rule's text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleError {
    /// The rule's name; empty if it isn't known yet.
    pub rule: String,
    /// The place, in bytes of the text.
    pub at: Range<usize>,
    /// The message: a sentence.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
    /// The words that could stand in the place of an unknown one.
    pub candidates: Vec<String>,
}

impl RuleError {
    /// An error with a message about a place, in bytes of the text.
    pub fn new(at: Range<usize>, message: impl Into<String>) -> RuleError {
        RuleError {
            rule: String::new(),
            at,
            message: message.into(),
            help: String::new(),
            candidates: Vec::new(),
        }
    }

    /// Sets what to do.
    pub fn help(mut self, help: impl Into<String>) -> RuleError {
        self.help = help.into();
        self
    }

    /// Sets the words that could stand in the place of an unknown one.
    pub fn candidates<N: Into<String>>(mut self, words: impl IntoIterator<Item = N>) -> RuleError {
        self.candidates = words.into_iter().map(Into::into).collect();
        self
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.rule.is_empty() {
            write!(f, "in the rule `{}`: ", self.rule)?;
        }
        f.write_str(&self.message)?;
        if !self.help.is_empty() {
            write!(f, " {}", self.help)?;
        }
        Ok(())
    }
}

impl Error for RuleError {}
