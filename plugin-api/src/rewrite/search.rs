//! Matching of a rule's pattern: a search from the root through operands, which backtracks over the order of
//! commutative operands and over alternatives.

use passdock_abi::{OpId, ValueId};

use super::condition;
use super::declared::Declared;
use super::matching::{is_literal, Match};
use super::number;
use super::operators::Operators;
use crate::data::{AttrValue, EditError};
use crate::ir::{Attr, Function};
use crate::language::{AttrTerm, Node, NodeAttr, Operand, Rule, Spanned};
use crate::pass::PassContext;

/// The maximum number of operands that one search compares. It limits the time of patterns with many alternatives.
const MAX_COMPARED: usize = 10_000;

/// Returns the ops that may be the root of a match of a rule that contains `op`, the last ones first: `op`, and if the
/// rule's last op is optional or has alternatives, the ops that are the only users of the result.
pub(super) fn roots_from(
    f: &Function,
    operators: &mut Operators,
    (index, rule): (usize, &Rule),
    op: OpId,
) -> impl Iterator<Item = OpId> {
    let mut users = Vec::new();
    if let Operand::Value(_) = rule.root {
        let mut last = op;
        while users.len() < rule.nodes.len() {
            let result = f.results(last).first();
            let result = result.filter(|result| f.use_count(**result) == 1);
            match result.and_then(|result| f.iter_uses(*result).next()) {
                Some(one) if operators.get(f, one.op).rules.contains(&index) => last = one.op,
                _ => break,
            }
            users.push(last);
        }
    }
    users.into_iter().rev().chain(Some(op))
}

/// Returns the first match with a root that contains `op` and for which the rule's conditions hold. The declared types
/// are put aside.
pub(super) fn find<'r>(
    f: &mut Function,
    cx: &PassContext,
    operators: &mut Operators,
    rule: (usize, &'r Rule),
    root: OpId,
    op: OpId,
) -> Result<Option<(Match<'r>, Declared)>, EditError> {
    let mut search = Search::new(f, rule, root);
    while let Some(matched) = search.next(f, cx, operators)? {
        if !matched.ops().contains(&op) {
            continue;
        }
        let declared = Declared::put_aside(f, cx, &matched)?;
        match condition::hold(f, &matched) {
            Ok(true) => return Ok(Some((matched, declared))),
            other => {
                declared.put_back(f)?;
                other?;
            }
        }
    }
    Ok(None)
}

/// A search for the matches of a rule with one op as the root.
struct Search<'r> {
    /// The states to continue with; the next one is last.
    choices: Vec<State<'r>>,
    /// The number of operands that were compared.
    compared: usize,
}

/// A part of a match, and the subgoals that remain.
#[derive(Clone)]
struct State<'r> {
    matched: Match<'r>,
    goals: Vec<Goal<'r>>,
}

/// A subgoal: an operand of the pattern with a value.
type Goal<'r> = (&'r Operand, ValueId);

impl<'r> Search<'r> {
    /// Creates a search. `index` is the index of the rule.
    fn new(f: &Function, (index, rule): (usize, &'r Rule), root: OpId) -> Search<'r> {
        let is_allowed = rule.opsets.iter().all(|required| {
            let version = f.opset(&required.domain);
            version.map_or(false, |version| {
                (required.at_least..=required.at_most).contains(&version)
            })
        });
        let result = f.results(root).first().filter(|_| is_allowed);
        let state = result.map(|result| State {
            matched: Match {
                rule,
                index,
                root,
                ops: Vec::new(),
                nodes: vec![OpId::NONE; rule.nodes.len()],
                values: vec![ValueId::NONE; rule.values.len()],
                bound: vec![false; rule.values.len()],
                lists: vec![Vec::new(); rule.lists.len()],
                attrs: vec![None; rule.attrs.len()],
            },
            goals: vec![(&rule.root, *result)],
        });
        Search {
            choices: state.into_iter().collect(),
            compared: 0,
        }
    }

    /// Returns the next match of the pattern. Conditions aren't tested.
    fn next(
        &mut self,
        f: &Function,
        cx: &PassContext,
        operators: &mut Operators,
    ) -> Result<Option<Match<'r>>, EditError> {
        while let Some(state) = self.choices.pop() {
            let step = Step {
                f,
                cx,
                operators,
                search: self,
                rule: state.matched.rule,
                state,
            };
            if let Some(mut matched) = step.run()? {
                let ops = matched.nodes.iter().copied();
                matched.ops = ops.filter(|op| *op != OpId::NONE).collect();
                return Ok(Some(matched));
            }
        }
        Ok(None)
    }
}

/// The search from one state to a match or a contradiction.
struct Step<'s, 'r> {
    f: &'s Function,
    cx: &'s PassContext,
    operators: &'s mut Operators,
    search: &'s mut Search<'r>,
    rule: &'r Rule,
    state: State<'r>,
}

impl<'r> Step<'_, 'r> {
    fn run(mut self) -> Result<Option<Match<'r>>, EditError> {
        while let Some((operand, value)) = self.state.goals.pop() {
            if !self.operand(operand, value)? {
                return Ok(None);
            }
        }
        Ok(Some(self.state.matched))
    }

    fn operand(&mut self, operand: &'r Operand, value: ValueId) -> Result<bool, EditError> {
        self.search.compared += 1;
        if self.search.compared > MAX_COMPARED {
            self.search.choices.clear();
            return Ok(false);
        }
        match operand {
            Operand::Absent => Ok(value.is_none()),
            Operand::Optional(at) => Ok(self.state.matched.bind(*at, value)),
            Operand::Value(at) => {
                let alternatives = &self.rule.values[*at].alternatives;
                let is_chosen = alternatives.is_empty() || self.state.matched.bound[*at];
                Ok((!alternatives.is_empty() || !value.is_none())
                    && self.state.matched.bind(*at, value)
                    && (is_chosen || self.choose(alternatives, value)))
            }
            _ if value.is_none() => Ok(false),
            Operand::Any | Operand::List(_) => Ok(true),
            // Only replacements have such operands.
            Operand::Created { .. } => Ok(false),
            Operand::Number(number) => number::is_everywhere(self.f, value, *number),
            Operand::Splat(at) => {
                let number = number::attr_of(self.f, value)?;
                Ok(number.map_or(false, |number| {
                    self.attr(&AttrTerm::Bound(*at), Some(number))
                }))
            }
            Operand::Elements(term) => {
                let ints = number::ints_of(self.f, value)?;
                Ok(ints.map_or(false, |ints| self.attr(term, Some(AttrValue::Ints(ints)))))
            }
            Operand::Result { node, index } => match self.f.defining_op(value) {
                Some(op) if self.f.index(value) == *index => self.node(*node, op),
                _ => Ok(false),
            },
        }
    }

    /// Continues with the first plausible alternative, and with the others when the search backtracks.
    fn choose(&mut self, alternatives: &'r [Spanned<Operand>], value: ValueId) -> bool {
        let alternatives = alternatives.iter().map(|one| &one.value);
        let plausible: Vec<&Operand> = alternatives
            .filter(|one| self.is_plausible(one, value))
            .collect();
        let (first, others) = match plausible.split_first() {
            Some(split) => split,
            None => return false,
        };
        for other in others.iter().rev() {
            let mut state = self.state.clone();
            state.goals.push((other, value));
            self.search.choices.push(state);
        }
        self.state.goals.push((first, value));
        true
    }

    fn node(&mut self, index: usize, op: OpId) -> Result<bool, EditError> {
        let bound_op = self.state.matched.nodes[index];
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
        if self.state.matched.nodes.contains(&op) || !self.attrs(pattern, op)? {
            return Ok(false);
        }
        self.state.matched.nodes[index] = op;
        let f = self.f;
        let operands = &pattern.operands;
        let fixed = match operands.last().map(|last| &last.value) {
            Some(Operand::List(at)) => {
                let from = operands.len() - 1;
                if f.operand_count(op) < from {
                    return Ok(false);
                }
                self.state.matched.lists[*at] = f.operands(op).skip(from).collect();
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
                    let mut other = self.state.clone();
                    other.goals.extend(in_order(b, a));
                    self.search.choices.push(other);
                    self.state.goals.extend(in_order(a, b));
                }
                (true, false) => self.state.goals.extend(in_order(a, b)),
                (false, true) => self.state.goals.extend(in_order(b, a)),
            }
            return Ok(true);
        }
        for at in (0..fixed).rev() {
            self.state.goals.push((&operands[at].value, value(at)));
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
            Operand::Number(_) | Operand::Splat(_) | Operand::Elements(_) => {
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
            Operand::Value(at) if self.state.matched.bound[*at] => {
                self.state.matched.values[*at] == value
            }
            Operand::Value(at) => {
                let alternatives = &self.rule.values[*at].alternatives;
                let mut alternatives = alternatives.iter().map(|one| &one.value);
                // Alternatives of alternatives aren't compared, so that the time is linear.
                alternatives.len() == 0
                    || alternatives.any(|one| {
                        matches!(one, Operand::Value(_)) || self.is_plausible(one, value)
                    })
            }
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
            if !self.attr(&expected.value, given) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an attribute, or elements of a constant, match a term of the pattern.
    fn attr(&mut self, term: &AttrTerm, given: Option<AttrValue>) -> bool {
        match (term, given) {
            (AttrTerm::Literal(literal), Some(given)) => is_literal(&given, literal),
            (AttrTerm::List(items), Some(AttrValue::Ints(ints))) => {
                items.len() == ints.len()
                    && (items.iter().zip(ints))
                        .all(|(item, int)| self.attr(item, Some(AttrValue::Int(int))))
            }
            // The value depends on the caller of the function.
            (AttrTerm::Bound(_), Some(AttrValue::Reference(..))) => false,
            (AttrTerm::Bound(at), given) => {
                let bound = &mut self.state.matched.attrs[*at];
                *bound.get_or_insert_with(|| given.clone()) == given
            }
            _ => false,
        }
    }
}

/// Whether an operator is one of those that a node of the pattern allows.
fn is_of(pattern: &Node, operator: &str) -> bool {
    let mut operators = pattern.operators.iter();
    operators.any(|one| one.value == operator)
}
