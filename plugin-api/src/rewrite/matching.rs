//! [`Match`]: a match of a rule's pattern.

use passdock_abi::{OpId, ValueId};

use crate::data::AttrValue;
use crate::ir::Function;
use crate::language::{Literal, Operand, Rule};

/// A match of a rule's pattern: the values, ops and attributes that its names are bound to.
///
/// [`PassContext::find`] passes it to a closure, and a rule's code receives it.
#[derive(Clone, Debug)]
pub struct Match<'r> {
    pub(super) rule: &'r Rule,
    pub(super) index: usize,
    pub(super) root: OpId,
    /// The ops of the match, operands before users.
    pub(super) ops: Vec<OpId>,
    /// The op of each node of the pattern; [`OpId::NONE`] for a node of an alternative that isn't chosen.
    pub(super) nodes: Vec<OpId>,
    pub(super) values: Vec<ValueId>,
    /// Whether each value is bound. A value of an alternative that isn't chosen isn't.
    pub(super) bound: Vec<bool>,
    pub(super) lists: Vec<Vec<ValueId>>,
    /// The outer `None`: not bound. The inner one: the attribute is omitted and has no default.
    pub(super) attrs: Vec<Option<Option<AttrValue>>>,
}

impl Match<'_> {
    /// Returns the name of the rule.
    pub fn rule(&self) -> &str {
        &self.rule.name
    }

    /// Returns the index of the rule in all sets together: names may not be unique.
    pub fn rule_index(&self) -> usize {
        self.index
    }

    /// Returns the ops of the match, operands before users.
    pub fn ops(&self) -> &[OpId] {
        &self.ops
    }

    /// Returns the root: the last op of the pattern, which is replaced.
    pub fn root(&self) -> OpId {
        self.root
    }

    /// Returns the value that a name of the pattern is bound to; [`ValueId::NONE`] for an optional one that is omitted,
    /// and for one of an alternative that isn't chosen.
    ///
    /// # Panics
    /// If the pattern has no such value.
    #[track_caller]
    pub fn value(&self, f: &Function, name: &str) -> ValueId {
        match self.find_value(f, name) {
            Some(value) => value,
            None => panic!("rule `{}` has no value `%{}`", self.rule.name, name),
        }
    }

    /// Like [`Match::value`], but returns `None` if the pattern has no such value.
    pub fn find_value(&self, f: &Function, name: &str) -> Option<ValueId> {
        let mut values = self.rule.values.iter();
        if let Some(at) = values.position(|value| value.name == name) {
            return Some(self.values[at]);
        }
        let (node, index) = self.result(name)?;
        Some(self.bound(f, &Operand::Result { node, index }))
    }

    /// Returns the values that `%name...` is bound to.
    ///
    /// # Panics
    /// If the pattern has no such list.
    #[track_caller]
    pub fn values(&self, name: &str) -> &[ValueId] {
        match self.find_values(name) {
            Some(values) => values,
            None => panic!("rule `{}` has no list `%{}...`", self.rule.name, name),
        }
    }

    /// Like [`Match::values`], but returns `None` if the pattern has no such list.
    pub fn find_values(&self, name: &str) -> Option<&[ValueId]> {
        let at = self.rule.lists.iter().position(|list| list == name)?;
        Some(&self.lists[at])
    }

    /// Returns the op that defines the value with this name; [`OpId::NONE`] if it belongs to an alternative that isn't
    /// chosen.
    ///
    /// # Panics
    /// If no op of the pattern has such a result.
    #[track_caller]
    pub fn op(&self, name: &str) -> OpId {
        match self.result(name) {
            Some((node, _)) => self.nodes[node],
            None => panic!(
                "rule `{}` has no op with a result `%{}`",
                self.rule.name, name
            ),
        }
    }

    fn result(&self, name: &str) -> Option<(usize, usize)> {
        let mut nodes = self.rule.nodes.iter().enumerate();
        nodes.find_map(|(node, pattern)| {
            let index = pattern.results.iter().position(|result| result == name)?;
            Some((node, index))
        })
    }

    /// Returns the attribute that a name of the pattern is bound to, or its default; `None` if it is omitted and has
    /// none.
    ///
    /// # Panics
    /// If the pattern binds no such attribute.
    #[track_caller]
    pub fn attr(&self, name: &str) -> Option<&AttrValue> {
        match self.find_attr(name) {
            Some(value) => value,
            None => panic!("rule `{}` binds no attribute `${}`", self.rule.name, name),
        }
    }

    /// Like [`Match::attr`], but returns an outer `None` if the pattern binds no such attribute.
    pub fn find_attr(&self, name: &str) -> Option<Option<&AttrValue>> {
        let at = self.rule.attrs.iter().position(|attr| attr == name)?;
        Some(self.attrs[at].as_ref().and_then(Option::as_ref))
    }

    /// Returns a bound attribute that is a list of integers.
    #[track_caller]
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attr(name) {
            Some(AttrValue::Ints(ints)) => Some(ints),
            _ => None,
        }
    }

    /// Returns a bound attribute that is an integer.
    #[track_caller]
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attr(name) {
            Some(AttrValue::Int(int)) => Some(*int),
            _ => None,
        }
    }

    /// Returns the value of an operand of the pattern.
    pub(super) fn bound(&self, f: &Function, operand: &Operand) -> ValueId {
        match *operand {
            Operand::Value(at) | Operand::Optional(at) => self.values[at],
            Operand::Result { node, index } if self.nodes[node] != OpId::NONE => {
                f.result(self.nodes[node], index)
            }
            _ => ValueId::NONE,
        }
    }

    /// Whether a value of the pattern is bound. One of an alternative that isn't chosen isn't.
    pub(super) fn is_bound(&self, operand: &Operand) -> bool {
        match *operand {
            Operand::Value(at) | Operand::Optional(at) => self.bound[at],
            Operand::Result { node, .. } => self.nodes[node] != OpId::NONE,
            _ => true,
        }
    }

    /// Binds a value of the pattern, or compares it with the bound one.
    pub(super) fn bind(&mut self, at: usize, value: ValueId) -> bool {
        if !self.bound[at] {
            self.bound[at] = true;
            self.values[at] = value;
        }
        self.values[at] == value
    }
}

/// Whether an attribute equals a literal.
pub(super) fn is_literal(value: &AttrValue, literal: &Literal) -> bool {
    match (value, literal) {
        (AttrValue::Int(value), Literal::Int(expected)) => value == expected,
        (AttrValue::Float(value), Literal::Float(expected)) => *value == *expected as f32,
        (AttrValue::Float(value), Literal::Int(expected)) => *value == *expected as f32,
        (AttrValue::String(value), Literal::String(expected)) => value == expected.as_bytes(),
        (AttrValue::Ints(value), Literal::Ints(expected)) => value == expected,
        (AttrValue::Floats(value), Literal::Floats(expected)) => {
            let same = |(value, expected): (&f32, &f64)| *value == *expected as f32;
            value.len() == expected.len() && value.iter().zip(expected).all(same)
        }
        (AttrValue::Floats(value), Literal::Ints(expected)) => {
            let same = |(value, expected): (&f32, &i64)| *value == *expected as f32;
            value.len() == expected.len() && value.iter().zip(expected).all(same)
        }
        _ => false,
    }
}
