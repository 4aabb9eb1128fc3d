//! What a rule says: a pattern of ops, conditions, and what stands in their place.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// A rule: ops that are looked for, and what replaces them.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name, which reports count it by.
    pub name: String,
    /// The ops of the pattern, operands before users; the last one is the root.
    pub nodes: Vec<Node>,
    /// The names of the values that the pattern binds, ops' results aside.
    pub values: Vec<String>,
    /// The names of the lists of values that the pattern binds.
    pub lists: Vec<String>,
    /// The names of the attributes that the pattern binds.
    pub attrs: Vec<String>,
    /// What has to be true beside.
    pub conditions: Vec<Condition>,
    /// The versions of domains that the conditions ask for.
    pub opsets: Vec<Opset>,
    /// What stands in the root's place; `None` if code says so.
    pub after: Option<After>,
    /// Whether there may be more ops after than before.
    pub grows: bool,
    /// Whether a value that stands in the root's place has its type, whatever is known of them.
    pub keeps_type: bool,
    /// The comment above it.
    pub doc: String,
    /// The place of its name in a text of several rules.
    pub at: Range<usize>,
    /// The operators that it names, in order.
    pub mentions: Vec<Mention>,
}

/// A place of a rule that names an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mention {
    /// The canonical name of the operator.
    pub operator: String,
    /// The place, in bytes of the text.
    pub at: Range<usize>,
    /// Whether the rule makes an op of it, instead of looking for one.
    pub is_made: bool,
    /// Whether it is another operator that the op before may be of: `onnx.Ceil|onnx.Floor(%x)`.
    pub is_alternative: bool,
    /// Its operands, as the rule writes them.
    pub operands: Vec<MentionedOperand>,
    /// Its attributes, as the rule writes them.
    pub attrs: Vec<MentionedAttr>,
    /// Whether it has the attributes of another op, too: `{..%y}`.
    pub has_more_attrs: bool,
}

/// A place of a rule that says what an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MentionedOperand {
    /// The place, in bytes of the text.
    pub at: Range<usize>,
    /// Whether there is an operand.
    pub presence: Presence,
}

/// Whether an op has an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Presence {
    /// It has.
    Given,
    /// It may be left out.
    Optional,
    /// It is left out.
    Absent,
    /// There may be any number from here on.
    List,
}

/// A place of a rule that says what an attribute is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MentionedAttr {
    /// The name of the attribute.
    pub name: String,
    /// The place of the name, in bytes of the text.
    pub at: Range<usize>,
    /// The place of the value.
    pub value: Range<usize>,
    /// The kinds of attributes that may have the value (`int`, `floats`, …); none if the text doesn't say.
    pub kinds: &'static [&'static str],
    /// The name that the value is bound to, without its `$`; empty if it is written down.
    pub bound: String,
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

/// An op of a pattern.
#[derive(Clone, Debug)]
pub struct Node {
    /// The canonical names of the operators that it may be of.
    pub operators: Vec<String>,
    /// The names of the results, as many as the op has to have.
    pub results: Vec<String>,
    /// What each operand has to be.
    pub operands: Vec<Operand>,
    /// The attributes that are mentioned, by name.
    pub attrs: Vec<(String, AttrPattern)>,
}

/// An operand of a pattern.
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
    /// A constant whose elements all are this number.
    Number(Number),
    /// A constant tensor of integers with these elements.
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

/// An attribute of a pattern.
#[derive(Clone, Debug)]
pub enum AttrPattern {
    /// Bound to a name, be it given, a default or left out.
    Bound(usize),
    /// Has to have this value, given or as its default.
    Is(Literal),
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

/// What stands in the root's place.
#[derive(Clone, Debug)]
pub struct After {
    /// The ops to make, in order.
    pub nodes: Vec<NewNode>,
    /// What replaces each result of the root.
    pub results: Vec<NewOperand>,
}

/// An op to make.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// The operator, domain included.
    pub operator: String,
    /// The number of results.
    pub results: usize,
    /// The operands.
    pub operands: Vec<NewOperand>,
    /// The op of the pattern whose attributes it starts with.
    pub like: Option<usize>,
    /// The attributes that are set.
    pub attrs: Vec<(String, AttrTerm)>,
}

/// An operand of an op to make.
#[derive(Clone, Debug, PartialEq)]
pub enum NewOperand {
    /// Something that the pattern bound.
    Bound(Operand),
    /// A result of an op made before.
    Made {
        /// The op, by its place among those that are made.
        node: usize,
        /// The result.
        index: usize,
    },
    /// A scalar of the dtype of the operands beside it.
    Number(f64),
    /// A tensor of int64 of rank 1.
    Ints(Vec<i64>),
    /// Left out.
    Absent,
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
    /// The words that could stand at this place, if it has one that nobody knows.
    pub known: Vec<String>,
}

impl RuleError {
    /// An error with a message about a place, in bytes of the text.
    pub fn new(at: Range<usize>, message: impl Into<String>) -> RuleError {
        RuleError {
            rule: String::new(),
            at,
            message: message.into(),
            help: String::new(),
            known: Vec::new(),
        }
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
