//! Matching of a rule's pattern: a search from the root through operands, which backtracks over the order of
//! commutative operands.

use passdock_abi::{OpId, ValueId};

use super::number;
use super::operators::Operators;
use crate::data::{AttrValue, EditError};
use crate::ir::{Attr, Function};
use crate::language::{AttrTerm, Literal, Node, NodeAttr, Operand, Rule};
use crate::pass::PassContext;

/// A match of a rule's pattern: the values, ops and attributes that its names are bound to.
///
/// [`PassContext::find`] passes it to a closure, and a rule's code receives it.
#[derive(Clone, Debug)]
pub struct Match<'r> {
    pub(super) rule: &'r Rule,
    pub(super) index: usize,
    /// The op of each node of the pattern.
    pub(super) ops: Vec<OpId>,
    pub(super) values: Vec<ValueId>,
    pub(super) lists: Vec<Vec<ValueId>>,
    /// The outer `None`: not bound yet. The inner one: the attribute is omitted and has no default.
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
        self.ops[self.ops.len() - 1]
    }

    /// Returns the value that a name of the pattern is bound to; [`ValueId::NONE`] for an optional one that is omitted.
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
        if let Some(at) = self.rule.values.iter().position(|value| value == name) {
            return Some(self.values[at]);
        }
        let (node, index) = self.result(name)?;
        Some(f.result(self.ops[node], index))
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

    /// Returns the op that defines the value with this name.
    ///
    /// # Panics
    /// If no op of the pattern has such a result.
    #[track_caller]
    pub fn op(&self, name: &str) -> OpId {
        match self.result(name) {
            Some((node, _)) => self.ops[node],
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
            Operand::Result { node, index } => f.result(self.ops[node], index),
            _ => ValueId::NONE,
        }
    }
}

/// Matches the pattern of a rule with `root` as its root op. `index` is the index of the rule.
pub(super) fn find<'r>(
    f: &Function,
    cx: &PassContext,
    operators: &mut Operators,
    (index, rule): (usize, &'r Rule),
    root: OpId,
) -> Result<Option<Match<'r>>, EditError> {
    let mut search = Search {
        f,
        cx,
        operators,
        rule,
        matched: Match {
            rule,
            index,
            ops: vec![OpId::NONE; rule.nodes.len()],
            values: vec![ValueId::NONE; rule.values.len()],
            lists: vec![Vec::new(); rule.lists.len()],
            attrs: vec![None; rule.attrs.len()],
        },
        bound: vec![false; rule.values.len()],
        goals: Vec::new(),
        choices: Vec::new(),
    };
    let is_match = search.run(root)?;
    Ok(if is_match { Some(search.matched) } else { None })
}

/// A remaining subgoal: an operand of the pattern with a value.
type Goal<'r> = (&'r Operand, ValueId);

struct Search<'s, 'r> {
    f: &'s Function,
    cx: &'s PassContext,
    operators: &'s mut Operators,
    rule: &'r Rule,
    matched: Match<'r>,
    /// Whether each value of the pattern is bound.
    bound: Vec<bool>,
    goals: Vec<Goal<'r>>,
    /// States to backtrack to, with the operands of one op in the other order.
    choices: Vec<(Match<'r>, Vec<bool>, Vec<Goal<'r>>)>,
}

impl<'r> Search<'_, 'r> {
    fn run(&mut self, root: OpId) -> Result<bool, EditError> {
        let mut proceeds = self.node(self.rule.nodes.len() - 1, root)?;
        loop {
            while proceeds {
                match self.goals.pop() {
                    None => return Ok(true),
                    Some((operand, value)) => proceeds = self.operand(operand, value)?,
                }
            }
            match self.choices.pop() {
                None => return Ok(false),
                Some((matched, bound, goals)) => {
                    self.matched = matched;
                    self.bound = bound;
                    self.goals = goals;
                    proceeds = true;
                }
            }
        }
    }

    fn operand(&mut self, operand: &'r Operand, value: ValueId) -> Result<bool, EditError> {
        match operand {
            Operand::Absent => Ok(value.is_none()),
            Operand::Optional(at) => Ok(self.bind(*at, value)),
            _ if value.is_none() => Ok(false),
            Operand::Value(at) => Ok(self.bind(*at, value)),
            Operand::Any | Operand::List(_) => Ok(true),
            // Only replacements have such operands.
            Operand::Created { .. } => Ok(false),
            Operand::Number(number) => number::is_everywhere(self.f, value, *number),
            Operand::Ints(ints) => match self.f.constant(value) {
                Some(_) => Ok(self
                    .f
                    .constant_ints(value)?
                    .map_or(false, |given| given == *ints)),
                None => Ok(false),
            },
            Operand::Result { node, index } => match self.f.defining_op(value) {
                Some(op) if self.f.index(value) == *index => self.node(*node, op),
                _ => Ok(false),
            },
        }
    }

    fn bind(&mut self, at: usize, value: ValueId) -> bool {
        if !self.bound[at] {
            self.bound[at] = true;
            self.matched.values[at] = value;
            return true;
        }
        self.matched.values[at] == value
    }

    fn node(&mut self, index: usize, op: OpId) -> Result<bool, EditError> {
        let bound_op = self.matched.ops[index];
        if bound_op != OpId::NONE {
            return Ok(bound_op == op);
        }
        let pattern = &self.rule.nodes[index];
        let operator = self.operators.get(self.f, op);
        let is_commutative = operator.is_commutative;
        if !is_of(pattern, &operator.name) || !self.has_results(pattern, op) {
            return Ok(false);
        }
        // Different nodes of the pattern match different ops.
        if self.matched.ops.contains(&op) || !self.attrs(pattern, op)? {
            return Ok(false);
        }
        self.matched.ops[index] = op;
        let f = self.f;
        let operands = &pattern.operands;
        let fixed = match operands.last().map(|last| &last.value) {
            Some(Operand::List(at)) => {
                let from = operands.len() - 1;
                if f.operand_count(op) < from {
                    return Ok(false);
                }
                self.matched.lists[*at] = f.operands(op).skip(from).collect();
                from
            }
            _ => {
                // Omitted operands at the end may be missing.
                let mut more = f.operands(op).skip(operands.len());
                if more.any(|value| !value.is_none()) {
                    return Ok(false);
                }
                operands.len()
            }
        };
        let value = |at: usize| f.operand(op, at).unwrap_or(ValueId::NONE);
        if is_commutative && fixed == 2 && operands.len() == 2 {
            let (a, b) = (value(0), value(1));
            let (first, second) = (&operands[0].value, &operands[1].value);
            let straight = self.is_plausible(first, a) && self.is_plausible(second, b);
            let crossed = a != b && self.is_plausible(first, b) && self.is_plausible(second, a);
            let in_order = |a, b| [(second, b), (first, a)];
            match (straight, crossed) {
                (false, false) => return Ok(false),
                (true, true) => {
                    let mut other = self.goals.clone();
                    other.extend(in_order(b, a));
                    self.choices
                        .push((self.matched.clone(), self.bound.clone(), other));
                    self.goals.extend(in_order(a, b));
                }
                (true, false) => self.goals.extend(in_order(a, b)),
                (false, true) => self.goals.extend(in_order(b, a)),
            }
            return Ok(true);
        }
        for at in (0..fixed).rev() {
            self.goals.push((&operands[at].value, value(at)));
        }
        Ok(true)
    }

    /// Whether an op has the results of the pattern. Results without a name, and additional ones, must have no users.
    fn has_results(&self, pattern: &Node, op: OpId) -> bool {
        let results = self.f.results(op);
        let expected = pattern.results.len();
        let is_named = |at: usize| expected == 1 || !pattern.results[at].is_empty();
        results.len() >= expected
            && results
                .iter()
                .enumerate()
                .all(|(at, result)| at < expected && is_named(at) || self.f.use_count(*result) == 0)
    }

    /// Whether a value may match an operand. Compares only the names of ops.
    fn is_plausible(&mut self, operand: &Operand, value: ValueId) -> bool {
        match operand {
            Operand::Number(_) | Operand::Ints(_) => {
                !value.is_none() && self.f.constant(value).is_some()
            }
            Operand::Result { node, .. } => {
                match value.option().and_then(|value| self.f.defining_op(value)) {
                    Some(op) => {
                        let name = &self.operators.get(self.f, op).name;
                        is_of(&self.rule.nodes[*node], name)
                    }
                    None => false,
                }
            }
            Operand::Value(at) => !self.bound[*at] || self.matched.values[*at] == value,
            _ => true,
        }
    }

    fn attrs(&mut self, pattern: &Node, op: OpId) -> Result<bool, EditError> {
        for NodeAttr {
            name,
            value: expected,
        } in &pattern.attrs
        {
            let name = name.value.as_str();
            let given = match self.f.attr(op, name) {
                Some(Attr::Unset) => None,
                Some(given) => match given.to_value() {
                    Some(value) => Some(value),
                    None => return Ok(false),
                },
                None => self.cx.attr_default(self.f, op, name)?,
            };
            let fits = match &expected.value {
                AttrTerm::Literal(literal) => {
                    given.map_or(false, |given| is_literal(&given, literal))
                }
                // Only replacements have such terms.
                AttrTerm::Compose(..) => false,
                // The value depends on the caller of the function.
                AttrTerm::Bound(_) if matches!(given, Some(AttrValue::Reference(..))) => false,
                AttrTerm::Bound(at) => match &self.matched.attrs[*at] {
                    Some(bound) => *bound == given,
                    None => {
                        self.matched.attrs[*at] = Some(given);
                        true
                    }
                },
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether an operator is one of those that a node of the pattern allows.
fn is_of(pattern: &Node, operator: &str) -> bool {
    let mut operators = pattern.operators.iter();
    operators.any(|one| one.value == operator)
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
