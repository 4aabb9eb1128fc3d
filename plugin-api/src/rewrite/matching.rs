//! Where a rule's pattern is found: a search from its root through operands, with a way back where operands may
//! change places.

use passdock_abi::{OpId, ValueId};

use super::number;
use super::operators::Operators;
use crate::data::{AttrValue, EditError};
use crate::ir::{Attr, Function};
use crate::language::{AttrTerm, Literal, Node, NodeAttr, Operand, Rule};
use crate::pass::PassContext;

/// A place at which a rule's pattern was found: what its names stand for.
#[derive(Clone, Debug)]
pub struct Match<'r> {
    pub(super) rule: &'r Rule,
    pub(super) index: usize,
    /// The op of each node.
    pub(super) ops: Vec<OpId>,
    pub(super) values: Vec<ValueId>,
    pub(super) lists: Vec<Vec<ValueId>>,
    /// Outside `None`: not bound yet; inside: the attribute is left out, and has no default.
    pub(super) attrs: Vec<Option<Option<AttrValue>>>,
}

impl Match<'_> {
    /// The name of the rule.
    pub fn rule(&self) -> &str {
        &self.rule.name
    }

    /// The index of the rule among all that are looked for, set after set: two may have one name.
    pub fn rule_index(&self) -> usize {
        self.index
    }

    /// The ops of the pattern, operands before users.
    pub fn ops(&self) -> &[OpId] {
        &self.ops
    }

    /// The last op of the pattern, the one that is replaced.
    pub fn root(&self) -> OpId {
        self.ops[self.ops.len() - 1]
    }

    /// The value that the pattern calls so; [`ValueId::NONE`] for an optional one that is left out.
    ///
    /// # Panics
    /// If the pattern has no such value.
    #[track_caller]
    pub fn value(&self, f: &Function, name: &str) -> ValueId {
        match self.find_value(f, name) {
            Some(value) => value,
            None => panic!("the rule `{}` has no value `%{}`", self.rule.name, name),
        }
    }

    /// As [`Match::value`]; `None` if there is none.
    pub fn find_value(&self, f: &Function, name: &str) -> Option<ValueId> {
        if let Some(at) = self.rule.values.iter().position(|value| value == name) {
            return Some(self.values[at]);
        }
        let (node, index) = self.result(name)?;
        Some(f.result(self.ops[node], index))
    }

    /// The values that `%name...` stands for.
    ///
    /// # Panics
    /// If the pattern has no such list.
    #[track_caller]
    pub fn values(&self, name: &str) -> &[ValueId] {
        match self.find_values(name) {
            Some(values) => values,
            None => panic!("the rule `{}` has no list `%{}...`", self.rule.name, name),
        }
    }

    /// As [`Match::values`]; `None` if there is none.
    pub fn find_values(&self, name: &str) -> Option<&[ValueId]> {
        let at = self.rule.lists.iter().position(|list| list == name)?;
        Some(&self.lists[at])
    }

    /// The op that makes the value of that name.
    ///
    /// # Panics
    /// If no op of the pattern has such a result.
    #[track_caller]
    pub fn op(&self, name: &str) -> OpId {
        match self.result(name) {
            Some((node, _)) => self.ops[node],
            None => panic!(
                "the rule `{}` has no op with a result `%{}`",
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

    /// The attribute that the pattern calls so: given, or its default; `None` if it is left out and has none.
    ///
    /// # Panics
    /// If the pattern binds no such attribute.
    #[track_caller]
    pub fn attr(&self, name: &str) -> Option<&AttrValue> {
        match self.find_attr(name) {
            Some(value) => value,
            None => panic!(
                "the rule `{}` binds no attribute `${}`",
                self.rule.name, name
            ),
        }
    }

    /// As [`Match::attr`]; the outer `None` if there is no such attribute.
    pub fn find_attr(&self, name: &str) -> Option<Option<&AttrValue>> {
        let at = self.rule.attrs.iter().position(|attr| attr == name)?;
        Some(self.attrs[at].as_ref().and_then(Option::as_ref))
    }

    /// The attribute that the pattern calls so, if it is integers.
    #[track_caller]
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attr(name) {
            Some(AttrValue::Ints(ints)) => Some(ints),
            _ => None,
        }
    }

    /// The attribute that the pattern calls so, if it is an integer.
    #[track_caller]
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attr(name) {
            Some(AttrValue::Int(int)) => Some(*int),
            _ => None,
        }
    }

    /// What an operand of the pattern stands for.
    pub(super) fn bound(&self, f: &Function, operand: &Operand) -> ValueId {
        match *operand {
            Operand::Value(at) | Operand::Optional(at) => self.values[at],
            Operand::Result { node, index } => f.result(self.ops[node], index),
            _ => ValueId::NONE,
        }
    }
}

/// Looks for the pattern of a rule, which has an index, with an op as its root.
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
        found: Match {
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
    let is_there = search.run(root)?;
    Ok(if is_there { Some(search.found) } else { None })
}

/// Something to match still: an operand of the pattern with a value.
type Goal<'r> = (&'r Operand, ValueId);

struct Search<'s, 'r> {
    f: &'s Function,
    cx: &'s PassContext,
    operators: &'s mut Operators,
    rule: &'r Rule,
    found: Match<'r>,
    /// Which values of the pattern stand for something.
    bound: Vec<bool>,
    goals: Vec<Goal<'r>>,
    /// States to go back to: with the operands of one op in the other order.
    choices: Vec<(Match<'r>, Vec<bool>, Vec<Goal<'r>>)>,
}

impl<'r> Search<'_, 'r> {
    fn run(&mut self, root: OpId) -> Result<bool, EditError> {
        let mut going = self.node(self.rule.nodes.len() - 1, root)?;
        loop {
            while going {
                match self.goals.pop() {
                    None => return Ok(true),
                    Some((operand, value)) => going = self.operand(operand, value)?,
                }
            }
            match self.choices.pop() {
                None => return Ok(false),
                Some((found, bound, goals)) => {
                    self.found = found;
                    self.bound = bound;
                    self.goals = goals;
                    going = true;
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
            // Only replacements have these.
            Operand::Created { .. } => Ok(false),
            Operand::Number(number) => number::is_everywhere(self.f, value, *number),
            Operand::Ints(ints) => match self.f.constant(value) {
                Some(_) => Ok(self
                    .f
                    .constant_ints(value)?
                    .map_or(false, |found| found == *ints)),
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
            self.found.values[at] = value;
            return true;
        }
        self.found.values[at] == value
    }

    fn node(&mut self, index: usize, op: OpId) -> Result<bool, EditError> {
        let known = self.found.ops[index];
        if known != OpId::NONE {
            return Ok(known == op);
        }
        let pattern = &self.rule.nodes[index];
        let operator = self.operators.of(self.f, op);
        let is_commutative = operator.is_commutative;
        if !is_of(pattern, &operator.name) || !self.has_results(pattern, op) {
            return Ok(false);
        }
        // One op stands for one op of the pattern.
        if self.found.ops.contains(&op) || !self.attrs(pattern, op)? {
            return Ok(false);
        }
        self.found.ops[index] = op;
        let f = self.f;
        let operands = &pattern.operands;
        let fixed = match operands.last().map(|last| &last.value) {
            Some(Operand::List(at)) => {
                let from = operands.len() - 1;
                if f.operand_count(op) < from {
                    return Ok(false);
                }
                self.found.lists[*at] = f.operands(op).skip(from).collect();
                from
            }
            _ => {
                // Operands left out at the end may be missing.
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
                        .push((self.found.clone(), self.bound.clone(), other));
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

    /// Whether an op has as many results as the pattern says; those that have no name beside others, and more,
    /// if nobody uses them.
    fn has_results(&self, pattern: &Node, op: OpId) -> bool {
        let results = self.f.results(op);
        let wanted = pattern.results.len();
        let is_named = |at: usize| wanted == 1 || !pattern.results[at].is_empty();
        results.len() >= wanted
            && results
                .iter()
                .enumerate()
                .all(|(at, result)| at < wanted && is_named(at) || self.f.use_count(*result) == 0)
    }

    /// Whether a value may be what the pattern says, as far as its op's name tells.
    fn is_plausible(&mut self, operand: &Operand, value: ValueId) -> bool {
        match operand {
            Operand::Number(_) | Operand::Ints(_) => {
                !value.is_none() && self.f.constant(value).is_some()
            }
            Operand::Result { node, .. } => {
                match value.option().and_then(|value| self.f.defining_op(value)) {
                    Some(op) => {
                        let name = &self.operators.of(self.f, op).name;
                        is_of(&self.rule.nodes[*node], name)
                    }
                    None => false,
                }
            }
            Operand::Value(at) => !self.bound[*at] || self.found.values[*at] == value,
            _ => true,
        }
    }

    fn attrs(&mut self, pattern: &Node, op: OpId) -> Result<bool, EditError> {
        for NodeAttr {
            name,
            value: wanted,
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
            let fits = match &wanted.value {
                AttrTerm::Literal(literal) => {
                    given.map_or(false, |given| is_literal(&given, literal))
                }
                // Only replacements have these.
                AttrTerm::Compose(..) => false,
                // What a caller of the function says isn't known.
                AttrTerm::Bound(_) if matches!(given, Some(AttrValue::Reference(..))) => false,
                AttrTerm::Bound(at) => match &self.found.attrs[*at] {
                    Some(known) => *known == given,
                    None => {
                        self.found.attrs[*at] = Some(given);
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

/// Whether an operator is one of those that an op of a pattern may be of.
fn is_of(pattern: &Node, operator: &str) -> bool {
    let mut operators = pattern.operators.iter();
    operators.any(|one| one.value == operator)
}

/// Whether an attribute has a value that is written down.
pub(super) fn is_literal(value: &AttrValue, literal: &Literal) -> bool {
    match (value, literal) {
        (AttrValue::Int(value), Literal::Int(wanted)) => value == wanted,
        (AttrValue::Float(value), Literal::Float(wanted)) => *value == *wanted as f32,
        (AttrValue::Float(value), Literal::Int(wanted)) => *value == *wanted as f32,
        (AttrValue::String(value), Literal::Text(wanted)) => value == wanted.as_bytes(),
        (AttrValue::Ints(value), Literal::Ints(wanted)) => value == wanted,
        (AttrValue::Floats(value), Literal::Floats(wanted)) => {
            let same = |(value, wanted): (&f32, &f64)| *value == *wanted as f32;
            value.len() == wanted.len() && value.iter().zip(wanted).all(same)
        }
        (AttrValue::Floats(value), Literal::Ints(wanted)) => {
            let same = |(value, wanted): (&f32, &i64)| *value == *wanted as f32;
            value.len() == wanted.len() && value.iter().zip(wanted).all(same)
        }
        _ => false,
    }
}
